package postgres

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/listing"
)

// Plan is how the server would find a page of q.
func (s *Store) Plan(ctx context.Context, q checkpoint.Query) ([]string, error) {
	text, args, err := listing.Text(dialect(), &q, s.nowArg())
	if err != nil {
		return nil, err
	}
	rows, err := s.pool.Query(ctx, "EXPLAIN (COSTS OFF) "+text, args...)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// Rewrite puts other decision rows in place of a thread's.
func (s *Store) Rewrite(ctx context.Context, thread string, rows []*checkpoint.Decision) error {
	return s.write(ctx, func(t *tx) error {
		t.queue("DELETE FROM decisions WHERE thread = $1", thread)
		for _, d := range rows {
			t.insertDecision(d)
		}
		return nil
	})
}

// Edit changes tables behind the store's back; something must change.
func (s *Store) Edit(ctx context.Context, text string, args ...any) error {
	tag, err := s.pool.Exec(ctx, text, escapeAll(args)...)
	if err == nil && tag.RowsAffected() == 0 && !tag.Select() && (tag.Update() || tag.Delete() || tag.Insert()) {
		err = pgx.ErrNoRows
	}
	return err
}

// WantsTLS tests whether an error of the server asks for TLS.
func WantsTLS(err error) bool { return wantsTLS(err) }
