package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// DeleteThread implements checkpoint.Store.
func (s *Store) DeleteThread(ctx context.Context, thread string) error {
	return s.write(ctx, func(t *tx) error {
		t.lockName(thread) // before the row, as whoever creates it does
		var gone bool
		t.ask(func(scanner) error {
			gone = true
			return nil
		}, "SELECT 1 FROM tombstones WHERE thread = $1", thread)
		h, err := t.head(thread)
		switch {
		case err != nil:
			return err
		case h == nil && gone && t.again:
			return nil // deleted by the try whose answer was lost
		case h == nil:
			return checkpoint.ThreadNotFound(thread)
		case h.lease.Live(t.now):
			return &checkpoint.LeasedError{Thread: thread, Holder: h.lease.Holder, Until: h.lease.Until}
		}
		t.deleteThread(h)
		return nil
	})
}

// deleteThread deletes all of a thread, whose name is locked, and leaves its tombstone.
func (t *tx) deleteThread(h *head) {
	t.changed = true
	for _, table := range []string{"checkpoints", "results", "decisions", "threads"} {
		t.queue("DELETE FROM "+table+" WHERE thread = $1", h.thread)
	}
	t.insertTombstone(&checkpoint.Tombstone{Thread: h.thread, DeletedAt: t.now, Decisions: h.chain.Count, DecisionHash: h.chain.Last})
}

// storeTables are the tables of a store, in the order in which Compact works on them.
func storeTables() []string {
	return []string{"checkpoints", "results", "decisions", "threads", "phases", "tombstones", "definitions"}
}

func (t *tx) insertTombstone(b *checkpoint.Tombstone) {
	t.queue("INSERT INTO tombstones (thread, seq, deleted_at, decisions, decision_hash) VALUES ($1, next_seq(), $2, $3, $4)",
		b.Thread, b.DeletedAt.UnixMicro(), b.Decisions, b.DecisionHash)
}

// Stats implements checkpoint.Store. Bytes are those of all tables and indexes. What could be given back is the server's
// own estimate of what rows that are gone take up, which vacuuming keeps for rows to come.
func (s *Store) Stats(ctx context.Context) (checkpoint.Stats, error) {
	stats := checkpoint.Stats{Schema: schemaVersion}
	_, err := s.readRow(ctx, `SELECT (SELECT count(*) FROM checkpoints), (SELECT coalesce(sum(n), 0)::bigint FROM phases),
		coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint,
		coalesce(sum(pg_table_size(c.oid) * n_dead_tup / greatest(n_live_tup + n_dead_tup, 1)), 0)::bigint
		FROM pg_class AS c LEFT JOIN pg_stat_user_tables AS s ON s.relid = c.oid
		WHERE c.relkind = 'r' AND c.relnamespace = $1::regnamespace`, []any{pgx.Identifier{s.schema}.Sanitize()},
		&stats.Checkpoints, &stats.Threads, &stats.Bytes, &stats.FreeBytes)
	return stats, err
}

// Compact implements checkpoint.Store: it vacuums the tables one after the other, beside readers and writers, and thereby
// gives back to the file system what is free at the end of each, and to rows to come all else. Only VACUUM FULL, which
// locks everybody out, makes a table as small as its rows; that is left to whoever runs the server.
func (s *Store) Compact(ctx context.Context, progress func(done, total int64)) error {
	if s.o.ReadOnly {
		return s.write(ctx, nil)
	}
	tables := storeTables()
	for i, table := range tables {
		err := s.connected(ctx, func(conn *pgxpool.Conn) error {
			_, err := conn.Exec(ctx, "VACUUM (ANALYZE) "+pgx.Identifier{s.schema, table}.Sanitize())
			return err
		})
		if err != nil {
			return fmt.Errorf("vacuum %s: %w", table, err)
		}
		if progress != nil {
			progress(int64(i+1), int64(len(tables)))
		}
	}
	return nil
}
