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
