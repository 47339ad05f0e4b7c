package memory

import (
	"context"
	"slices"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// Prune implements checkpoint.Store.
func (s *Store) Prune(ctx context.Context, q checkpoint.PruneQuery) (*checkpoint.PruneResult, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	for _, id := range q.Threads {
		if s.threads[id] == nil {
			return nil, checkpoint.ThreadNotFound(id)
		}
	}
	result := new(checkpoint.PruneResult)
	now := s.time()
	for id, t := range s.threads {
		info := s.view(t, now)
		switch {
		case !q.Selects(&info):
		case t.lease.Live(now):
			result.Skipped = append(result.Skipped, id)
		default:
			s.pruneThread(t, &q, result)
		}
	}
	result.Sort()
	if q.Progress != nil {
		q.Progress(result.Steps, result.Steps)
	}
	return result, nil
}

func (s *Store) pruneThread(t *thread, q *checkpoint.PruneQuery, result *checkpoint.PruneResult) {
	part := checkpoint.PruneThread{Thread: t.info.Thread, Workflow: t.info.Workflow, Whole: q.Whole()}
	var oldest, newest time.Time
	takes := func(c *step) bool {
		return part.Whole || c.Step != t.info.Step && q.Takes(c.Step, c.TS)
	}
	for _, c := range t.steps {
		if !takes(c) {
			continue
		}
		part.Steps++
		part.Bytes += c.SizeBytes
		if part.Steps == 1 || c.TS.Before(oldest) {
			oldest = c.TS
		}
		if c.TS.After(newest) {
			newest = c.TS
		}
	}
	result.Add(part, oldest, newest)
	switch {
	case q.DryRun:
	case part.Whole:
		s.remove(t)
	default:
		t.steps = slices.DeleteFunc(t.steps, takes)
	}
}

// DeleteThread implements checkpoint.Store.
func (s *Store) DeleteThread(ctx context.Context, id string) error {
	t, err := s.enter(ctx, id)
	if err != nil {
		return err
	}
	defer s.mu.Unlock()
	if t.lease.Live(s.time()) {
		return &checkpoint.LeasedError{Thread: id, Holder: t.lease.Holder, Until: t.lease.Until}
	}
	s.remove(t)
	return nil
}

func (s *Store) remove(t *thread) {
	s.seq++
	s.tombstones = append(s.tombstones, tombstone{seq: s.seq, Tombstone: checkpoint.Tombstone{Thread: t.info.Thread,
		DeletedAt: s.time(), Decisions: t.chain.Count, DecisionHash: t.chain.Last}})
	delete(s.threads, t.info.Thread)
	s.hub.Wake()
}

// Stats implements checkpoint.Store.
func (s *Store) Stats(ctx context.Context) (checkpoint.Stats, error) {
	if err := s.lock(ctx); err != nil {
		return checkpoint.Stats{}, err
	}
	defer s.mu.Unlock()
	stats := checkpoint.Stats{Threads: int64(len(s.threads))}
	for _, t := range s.threads {
		stats.Checkpoints += int64(len(t.steps))
		for _, c := range t.steps {
			stats.Bytes += c.SizeBytes
		}
	}
	return stats, nil
}

// Compact implements checkpoint.Store: there is nothing to give back.
func (s *Store) Compact(ctx context.Context, _ func(done, total int64)) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	s.mu.Unlock()
	return nil
}
