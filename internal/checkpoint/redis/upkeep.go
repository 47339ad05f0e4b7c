package redis

import (
	"context"
	"fmt"
	"strconv"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// DeleteThread implements checkpoint.Store.
func (s *Store) DeleteThread(ctx context.Context, thread string) error {
	_, err := s.change(ctx, thread, func(_ context.Context, w *write) error {
		h := w.head
		if err := w.present(); err != nil {
			return err
		}
		if h.lease.Live(h.now) {
			return &checkpoint.LeasedError{Thread: thread, Holder: h.lease.Holder, Until: h.lease.Until}
		}
		w.delete()
		return nil
	})
	return err
}

// delete deletes all of the thread and leaves its tombstone. Redis frees what was large beside its other work.
func (w *write) delete() {
	h := w.head
	t := checkpoint.Tombstone{DeletedAt: h.now, Decisions: h.info.Decisions, DecisionHash: h.info.DecisionHash}
	for _, key := range w.s.keys.of(h.info.Thread) {
		w.do("UNLINK", key)
	}
	w.bury(&t)
}

// bury leaves a tombstone of a thread, and nothing else.
func (w *write) bury(t *checkpoint.Tombstone) {
	h := w.head
	w.do("HSET", w.s.keys.tombstones(), h.info.Thread, pack(tellTombstone(t, &w.id)))
	w.kind, w.freeing, h.present, h.stored = deletion, true, false, totals{}
}

// Stats implements checkpoint.Store. Bytes are those of records and states: what Redis needs for them is known only for
// the whole server. It gives memory back by itself.
func (s *Store) Stats(ctx context.Context) (checkpoint.Stats, error) {
	replies, err := s.moment(ctx, []any{"ZCARD", s.keys.byName()}, []any{"HMGET", s.keys.totals(), "steps", "bytes"})
	if err != nil {
		return checkpoint.Stats{}, err
	}
	sums := append(replies[1].([]any), nil, nil)
	steps, err := count(sums[0])
	if err != nil {
		return checkpoint.Stats{}, err
	}
	bytes, err := count(sums[1])
	return checkpoint.Stats{Threads: integer(replies[0]), Checkpoints: steps, Bytes: bytes, Schema: schemaVersion}, err
}

// Compact implements checkpoint.Store: Redis frees memory with the keys and rewrites its append-only file by itself.
func (s *Store) Compact(ctx context.Context, progress func(done, total int64)) error {
	if progress != nil {
		progress(0, 0)
	}
	return ctx.Err()
}

// count reads a sum that is kept as text, 0 where there is none yet.
func count(v any) (int64, error) {
	if v == nil {
		return 0, nil
	}
	n, err := strconv.ParseInt(text(v), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("the sums of the store: %w", err)
	}
	return n, nil
}
