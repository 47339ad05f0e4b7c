package postgres

import (
	"context"
	"fmt"
	"iter"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint/sqlite"
)

// Backup implements checkpoint.Store: the file becomes a SQLite store with all that is here, as of one moment, which this
// program opens like any other. It needs no pg_dump and no server to be read; the whole database is better kept by
// pg_dump, which copies this schema too.
func (s *Store) Backup(ctx context.Context, file string) error {
	err := s.once(ctx, func(conn *pgxpool.Conn) error {
		tx, err := conn.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
		if err != nil {
			return err
		}
		defer tx.Rollback(context.WithoutCancel(ctx))
		// The copy may take longer than a server lets a query run.
		if _, err := tx.Exec(ctx, "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0"); err != nil {
			return err
		}
		return sqlite.Fill(ctx, file, func(ctx context.Context, table string, columns []string) iter.Seq2[[]any, error] {
			return rowsOf(ctx, tx, table, columns)
		})
	})
	if err != nil {
		return fmt.Errorf("backup to %s: %w", file, s.classify(ctx, err))
	}
	return nil
}

// rowsOf reads a table; results come in the order in which they were stored.
func rowsOf(ctx context.Context, tx pgx.Tx, table string, columns []string) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		text := "SELECT " + strings.Join(columns, ", ") + " FROM " + table
		if table == "results" {
			text += " ORDER BY id"
		}
		rows, err := tx.Query(ctx, text)
		if err != nil {
			yield(nil, err)
			return
		}
		defer rows.Close()
		for rows.Next() {
			values, err := scanner{rows}.Values()
			if !yield(values, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, err)
		}
	}
}
