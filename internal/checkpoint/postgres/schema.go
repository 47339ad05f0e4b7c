package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

//go:embed migrations/*.sql
var migrations embed.FS

const (
	// schemaVersion is the newest schema this program knows, the number of its last migration.
	schemaVersion = 1
	// versionTable is where goose keeps which migrations were run, and the mark that makes a schema ours.
	versionTable = "hitl_tui_schema"
)

var (
	errStandby  = errors.New("the server is a standby; a store needs the primary, also to read (target_session_attrs=read-write)")
	errNoSchema = errors.New("search_path is empty in the URL, and no schema of the role's own search_path exists; create it, or name one in the URL")
)

// prepare brings the schema to the version this program knows, unless it has it already. Of several processes that start
// at once one does so, while the others wait for its lock.
func (s *Store) prepare(ctx context.Context) error {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	version, err := s.identify(ctx, conn.Conn())
	if err != nil || version == schemaVersion {
		return err
	}
	if version == 0 && (s.o.ReadOnly || s.o.Existing) {
		return &checkpoint.AbsentError{Store: s.url}
	}
	if s.o.ReadOnly {
		return fmt.Errorf("%w: its schema is %d, this program needs %d", checkpoint.ErrOlderSchema, version, schemaVersion)
	}
	lock, err := conn.Begin(ctx)
	if err != nil {
		return err
	}
	defer lock.Rollback(context.WithoutCancel(ctx))
	// A lock that ends with the transaction is also one behind pgbouncer, which hands sessions around.
	if _, err := lock.Exec(ctx, "SELECT pg_advisory_xact_lock(hashtext('hitl-tui schema'), hashtext($1))", s.schema); err != nil {
		return err
	}
	if version, err = s.identify(ctx, conn.Conn()); err != nil || version == schemaVersion {
		return err
	}
	if err := s.migrate(ctx); err != nil {
		return fmt.Errorf("bring the schema %s from %d to %d: %w", s.schema, version, schemaVersion, err)
	}
	return nil
}

// identify tells the version of the schema, 0 where there is nothing of ours yet.
func (s *Store) identify(ctx context.Context, conn *pgx.Conn) (version int64, err error) {
	var standby bool
	var ours, others string
	err = conn.QueryRow(ctx, `SELECT pg_is_in_recovery(), coalesce(nullif($1, ''), current_schema(), '')`, s.schema).Scan(&standby, &s.schema)
	if err != nil {
		return 0, err
	}
	switch {
	case standby:
		return 0, errStandby
	case s.schema == "":
		return 0, errNoSchema
	}
	err = conn.QueryRow(ctx, `SELECT coalesce(max(relname) FILTER (WHERE relname = $2), ''), coalesce(max(relname) FILTER (WHERE relname <> $2), '')
		FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace
		WHERE nspname = $1 AND relkind IN ('r', 'p', 'v') AND relname IN ($2, 'threads', 'checkpoints', 'phases', 'results', 'decisions', 'tombstones', 'definitions')`,
		s.schema, versionTable).Scan(&ours, &others)
	switch {
	case err != nil:
		return 0, err
	case ours == "" && others != "":
		return 0, fmt.Errorf("%w: the schema %s has a table %s of another program; name another schema with search_path", checkpoint.ErrForeign, s.schema, others)
	case ours == "":
		return 0, nil
	}
	err = conn.QueryRow(ctx, "SELECT coalesce(max(version_id), 0) FROM "+pgx.Identifier{s.schema, versionTable}.Sanitize()+" WHERE is_applied").Scan(&version)
	if err == nil && version > schemaVersion {
		err = fmt.Errorf("%w: its schema is %d, this program knows %d; use the newer program", checkpoint.ErrNewerSchema, version, schemaVersion)
	}
	return version, err
}

func (s *Store) migrate(ctx context.Context) error {
	config := s.config.ConnConfig.Copy()
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // each statement is run once
	db := stdlib.OpenDB(*config)
	defer db.Close()
	if _, err := db.ExecContext(ctx, "CREATE SCHEMA IF NOT EXISTS "+pgx.Identifier{s.schema}.Sanitize()); err != nil {
		return err
	}
	scripts, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	provider, err := goose.NewProvider(goose.DialectPostgres, db, scripts, goose.WithDisableGlobalRegistry(true), goose.WithTableName(versionTable))
	if err != nil {
		return err
	}
	_, err = provider.Up(ctx)
	return err
}
