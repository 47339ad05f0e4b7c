package file

import (
	"context"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// AcquireLease implements checkpoint.Store.
func (s *Store) AcquireLease(ctx context.Context, r checkpoint.LeaseRequest) (*checkpoint.Lease, error) {
	var got *checkpoint.Lease
	err := s.write(ctx, r.Thread, func(t *session) error {
		if err := t.present(); err != nil {
			return err
		}
		h := t.next()
		if err := h.lease.Acquire(&r, h.info.Version(), t.now); err != nil {
			return err
		}
		results, err := s.pending(h)
		if err != nil {
			return err
		}
		if err := t.link(h, r.Decisions); err != nil {
			return err
		}
		got = &checkpoint.Lease{Token: h.lease.Token, Until: h.lease.Until, Head: h.info.Version(),
			Answers: checkpoint.CloneAll(h.lease.Answers), Results: results}
		return t.save(h, loud)
	})
	if err != nil {
		return nil, err
	}
	return got, nil
}

// Heartbeat implements checkpoint.Store.
func (s *Store) Heartbeat(ctx context.Context, thread, token string, ttl time.Duration) (checkpoint.Heartbeat, error) {
	var beat checkpoint.Heartbeat
	err := s.write(ctx, thread, func(t *session) error {
		if err := t.held(token); err != nil {
			return err
		}
		h := t.next()
		beat = h.lease.Renew(ttl, t.now)
		return t.save(h, quiet)
	})
	return beat, err
}

// ReleaseLease implements checkpoint.Store.
func (s *Store) ReleaseLease(ctx context.Context, r checkpoint.Release) error {
	return s.write(ctx, r.Thread, func(t *session) error {
		if err := t.held(r.Token); err != nil {
			return err
		}
		h := t.next()
		if err := t.link(h, r.Decisions); err != nil {
			return err
		}
		h.lease.GiveBack(r.Withdraw)
		had := h.results
		if r.Withdraw {
			h.results++
		}
		if err := t.save(h, loud); err != nil {
			return err
		}
		if r.Withdraw {
			t.dropResults(had)
		}
		return nil
	})
}

// RequestCancel implements checkpoint.Store.
func (s *Store) RequestCancel(ctx context.Context, thread, by string) error {
	return s.write(ctx, thread, func(t *session) error {
		if err := t.present(); err != nil {
			return err
		}
		h := t.next()
		if !h.lease.Live(t.now) {
			return checkpoint.NothingRuns(thread)
		}
		h.lease.Cancel, h.lease.CancelledBy = true, by
		return t.save(h, loud)
	})
}

// Claim implements checkpoint.Store.
func (s *Store) Claim(ctx context.Context, thread, reviewer string, ttl time.Duration) error {
	return s.write(ctx, thread, func(t *session) error {
		if err := t.present(); err != nil {
			return err
		}
		h := t.next()
		h.claim = checkpoint.Claim{Reviewer: reviewer, Until: checkpoint.Micro(t.now.Add(ttl))}
		return t.save(h, loud)
	})
}

// ReleaseClaim implements checkpoint.Store.
func (s *Store) ReleaseClaim(ctx context.Context, thread, reviewer string) error {
	return s.write(ctx, thread, func(t *session) error {
		if err := t.present(); err != nil {
			return err
		}
		h := t.next()
		if h.claim.Reviewer != reviewer || reviewer == "" {
			return nil
		}
		h.claim = checkpoint.Claim{}
		return t.save(h, loud)
	})
}
