package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"github.com/pressly/goose/v3"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

//go:embed migrations/*.sql
var migrations embed.FS

// schema brings the file to the schema this program knows, unless it has it already.
func (s *Store) schema(ctx context.Context) error {
	for attempt := 0; ; attempt++ {
		schema, err := s.identify(ctx)
		if err != nil || schema == schemaVersion {
			return err
		}
		if s.o.ReadOnly && schema == 0 {
			return fmt.Errorf("there is no store in the file yet, and read-only creates none: %w", checkpoint.ErrNotFound)
		}
		if s.o.ReadOnly {
			return fmt.Errorf("%w: its schema is %d, this program needs %d", checkpoint.ErrOlderSchema, schema, schemaVersion)
		}
		if err = s.migrate(ctx, schema == 0); err == nil {
			continue
		}
		if attempt == 20 {
			return fmt.Errorf("bring the schema from %d to %d: %w", schema, schemaVersion, err)
		}
		// Another process may be doing the same; what it did is seen at the next look.
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(25 * time.Millisecond):
		}
	}
}

// identify reads what tells whose file it is as of one moment, since another process may be making it. Only of a file
// without any mark are the tables counted: in a damaged one the list of them may be what cannot be read.
func (s *Store) identify(ctx context.Context) (schema int64, err error) {
	tx, err := s.aux.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	var app, objects int64
	if err := tx.QueryRowContext(ctx, "PRAGMA application_id").Scan(&app); err != nil {
		return 0, err
	}
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&schema); err != nil {
		return 0, err
	}
	if app == 0 && schema == 0 {
		if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&objects); err != nil {
			return 0, err
		}
	}
	return schema, checkIdentity(app, schema, objects == 0)
}

func (s *Store) migrate(ctx context.Context, fresh bool) error {
	if fresh {
		if err := s.found(ctx); err != nil {
			return err
		}
	}
	return migrateUp(ctx, s.aux)
}

// migrateUp runs all migrations that db has not seen.
func migrateUp(ctx context.Context, db *sql.DB) error {
	scripts, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectSQLite3, db, scripts, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}

// found sets what can only be set while a file is empty, and the mark that makes it ours.
func (s *Store) found(ctx context.Context) error {
	conn, err := s.aux.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	for _, pragma := range []string{"page_size = 4096", "auto_vacuum = INCREMENTAL",
		fmt.Sprintf("application_id = %d", applicationID), "journal_mode = WAL"} {
		if _, err := conn.ExecContext(ctx, "PRAGMA "+pragma); err != nil {
			return err
		}
	}
	return nil
}
