package redis

import (
	"context"
	"fmt"
	"strings"

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

// ChangeRow rewrites a thread's row, with its places in the orders.
func (s *Store) ChangeRow(ctx context.Context, thread string, change func(*checkpoint.ThreadInfo)) error {
	_, err := s.change(ctx, thread, func(_ context.Context, w *write) error {
		change(&w.head.info)
		w.save(true)
		return nil
	})
	return err
}

// RemoveRow removes the hash of a thread and leaves all else.
func (s *Store) RemoveRow(ctx context.Context, thread string) error {
	return s.client.Del(ctx, s.keys.thread(thread)).Err()
}

// RemoveStep removes a step.
func (s *Store) RemoveStep(ctx context.Context, thread string, n int64) error {
	at := fmt.Sprint(n)
	_, err := s.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.ZRemRangeByScore(ctx, s.keys.steps(thread), at, at)
		p.HDel(ctx, s.keys.records(thread), at)
		p.HDel(ctx, s.keys.states(thread), at)
		return nil
	})
	return err
}

// ChangeRecord replaces a text in the record of a step by one as long.
func (s *Store) ChangeRecord(ctx context.Context, thread string, n int64, old, new string) error {
	record, err := s.client.HGet(ctx, s.keys.records(thread), fmt.Sprint(n)).Result()
	if err != nil {
		return err
	}
	changed := strings.Replace(record, old, new, 1)
	if changed == record || len(old) != len(new) {
		return fmt.Errorf("%q is not in %q", old, record)
	}
	return s.client.HSet(ctx, s.keys.records(thread), fmt.Sprint(n), changed).Err()
}

// ChangeStone puts another tombstone in place of a thread's, or none.
func (s *Store) ChangeStone(ctx context.Context, thread string, b *checkpoint.Tombstone) error {
	if b != nil {
		return s.client.HSet(ctx, s.keys.tombstones(), thread, pack(tellTombstone(b, new(string)))).Err()
	}
	_, err := s.client.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.HDel(ctx, s.keys.tombstones(), thread)
		p.ZRem(ctx, s.keys.gone(), thread)
		return nil
	})
	return err
}

// Forget removes a thread from one of the sorted sets, or puts into it what is not there.
func (s *Store) Forget(ctx context.Context, thread, set string) error {
	h, err := s.head(ctx, thread)
	if err != nil {
		return err
	}
	for key, place := range s.places(h) {
		if strings.HasSuffix(key, set) {
			return s.client.ZRem(ctx, key, place.member).Err()
		}
	}
	return fmt.Errorf("%s has no place in %s", thread, set)
}
