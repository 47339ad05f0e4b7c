package redis

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// present makes sure that the thread is there.
func (w *write) present() error {
	if !w.head.present {
		return checkpoint.ThreadNotFound(w.head.info.Thread)
	}
	return nil
}

// held makes sure that token holds the thread's lease, on which the write then depends. A thread that is gone has lost it.
func (w *write) held(token string) error {
	h := w.head
	if !h.present {
		return checkpoint.AbsentConflict(h.info.Thread, 0, h.deleted)
	}
	w.leased = true
	return h.lease.Held(h.info.Thread, token, h.now)
}

// AcquireLease implements checkpoint.Store.
func (s *Store) AcquireLease(ctx context.Context, r checkpoint.LeaseRequest) (*checkpoint.Lease, error) {
	var results []checkpoint.PendingResult
	h, err := s.change(ctx, r.Thread, func(ctx context.Context, w *write) (err error) {
		if err := w.present(); err != nil {
			return err
		}
		if results, err = w.results(ctx); err != nil {
			return err
		}
		h := w.head
		if w.again && h.lease.Held(r.Thread, r.Token, h.now) == nil {
			w.done = true
			return nil
		}
		if err := h.lease.Acquire(&r, h.info.Version(), h.now); err != nil {
			return err
		}
		if err := w.link(ctx, r.Decisions); err != nil {
			return err
		}
		w.save(true)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &checkpoint.Lease{Token: h.lease.Token, Until: h.lease.Until, Head: h.info.Version(),
		Answers: checkpoint.CloneAll(h.lease.Answers), Results: results}, nil
}

// result is a pending result with its place in the order of writing.
type result struct {
	checkpoint.PendingResult
	n int64
}

func (r *result) tell(p *packer) {
	p.number(&r.n)
	p.number(&r.Step)
	p.raw(&r.Data)
}

// results reads the pending results of the thread.
func (w *write) results(ctx context.Context) ([]checkpoint.PendingResult, error) {
	if w.head.results == 0 {
		return nil, nil
	}
	var stored map[string]string
	err := w.s.patiently(ctx, func() (err error) {
		stored, err = w.s.client.HGetAll(ctx, w.s.keys.results(w.head.info.Thread)).Result()
		return err
	})
	if err != nil {
		return nil, err
	}
	var list []result
	for path, row := range stored {
		r := result{PendingResult: checkpoint.PendingResult{Path: path}}
		if err := unpack(row, r.tell); err != nil {
			return nil, &checkpoint.CorruptError{Thread: w.head.info.Thread, Step: w.head.info.Step + 1, Where: "result of " + path, Err: err}
		}
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b result) int { return cmp.Compare(a.n, b.n) })
	var results []checkpoint.PendingResult
	for _, r := range list {
		results = append(results, r.PendingResult)
	}
	return results, nil
}

// AddResult implements checkpoint.Store.
func (s *Store) AddResult(ctx context.Context, thread, token string, r checkpoint.PendingResult) error {
	_, err := s.change(ctx, thread, func(_ context.Context, w *write) error {
		if err := w.held(token); err != nil {
			return err
		}
		w.head.results++
		row := result{PendingResult: r, n: w.head.results}
		w.do("HSET", s.keys.results(thread), r.Path, pack(row.tell))
		w.save(false)
		return nil
	})
	return err
}

// Heartbeat implements checkpoint.Store.
func (s *Store) Heartbeat(ctx context.Context, thread, token string, ttl time.Duration) (checkpoint.Heartbeat, error) {
	h, err := s.change(ctx, thread, func(_ context.Context, w *write) error {
		if err := w.held(token); err != nil {
			return err
		}
		w.head.lease.Renew(ttl, w.head.now)
		w.save(false)
		return nil
	})
	if err != nil {
		return checkpoint.Heartbeat{}, err
	}
	return checkpoint.Heartbeat{Until: h.lease.Until, CancelRequested: h.lease.Cancel, CancelledBy: h.lease.CancelledBy}, nil
}

// ReleaseLease implements checkpoint.Store.
func (s *Store) ReleaseLease(ctx context.Context, r checkpoint.Release) error {
	var until time.Time // of the lease, when an earlier try may have given it back
	_, err := s.change(ctx, r.Thread, func(ctx context.Context, w *write) error {
		h := w.head
		if err := w.held(r.Token); err != nil {
			// Before it ends nobody else can have taken it.
			if w.done = h.now.Before(until); w.done {
				return nil
			}
			return err
		}
		until = h.lease.Until
		if err := w.link(ctx, r.Decisions); err != nil {
			return err
		}
		h.lease.GiveBack(r.Withdraw)
		if r.Withdraw {
			w.dropResults()
		}
		w.save(true)
		return nil
	})
	return err
}

// RequestCancel implements checkpoint.Store.
func (s *Store) RequestCancel(ctx context.Context, thread, by string) error {
	_, err := s.change(ctx, thread, func(_ context.Context, w *write) error {
		if err := w.present(); err != nil {
			return err
		}
		l := &w.head.lease
		if !l.Live(w.head.now) {
			return checkpoint.NothingRuns(thread)
		}
		w.leased, l.Cancel, l.CancelledBy = true, true, by
		w.save(true)
		return nil
	})
	return err
}

// Claim implements checkpoint.Store.
func (s *Store) Claim(ctx context.Context, thread, reviewer string, ttl time.Duration) error {
	_, err := s.change(ctx, thread, func(_ context.Context, w *write) error {
		if err := w.present(); err != nil {
			return err
		}
		w.head.claim = checkpoint.Claim{Reviewer: reviewer, Until: checkpoint.Micro(w.head.now.Add(ttl))}
		w.save(true)
		return nil
	})
	return err
}

// ReleaseClaim implements checkpoint.Store.
func (s *Store) ReleaseClaim(ctx context.Context, thread, reviewer string) error {
	_, err := s.change(ctx, thread, func(_ context.Context, w *write) error {
		if err := w.present(); err != nil {
			return err
		}
		if w.done = reviewer == "" || w.head.claim.Reviewer != reviewer; w.done {
			return nil
		}
		w.head.claim = checkpoint.Claim{}
		w.save(true)
		return nil
	})
	return err
}
