package redis

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// Rewrite puts other decision rows in place of a thread's.
func (s *Store) Rewrite(ctx context.Context, thread string, rows []*checkpoint.Decision) error {
	_, err := s.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.Del(ctx, s.keys.decisions(thread))
		for _, d := range rows {
			p.RPush(ctx, s.keys.decisions(thread), pack(tellDecision(d)))
		}
		return nil
	})
	return err
}
