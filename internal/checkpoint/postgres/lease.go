package postgres

import (
	"context"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// AcquireLease implements checkpoint.Store.
func (s *Store) AcquireLease(ctx context.Context, r checkpoint.LeaseRequest) (*checkpoint.Lease, error) {
	var lease *checkpoint.Lease
	err := s.write(ctx, func(t *tx) error {
		h, err := t.present(r.Thread)
		if err != nil {
			return err
		}
		// A token is new at each request: a try whose answer was lost has taken the lease under it.
		taken := t.again && r.Token != "" && h.lease.Token == r.Token && h.lease.Live(t.now)
		if !taken {
			if err := h.lease.Acquire(&r, h.version, t.now); err != nil {
				return err
			}
			if err := t.link(h, r.Decisions); err != nil {
				return err
			}
			t.saveLease(h, true)
		}
		lease = &checkpoint.Lease{Token: h.lease.Token, Until: h.lease.Until, Head: h.version,
			Answers: checkpoint.CloneAll(h.lease.Answers)}
		if h.results {
			t.ask(func(rows scanner) error {
				var result checkpoint.PendingResult
				err := scanResult(rows, &result)
				lease.Results = append(lease.Results, result)
				return err
			}, selectResults, r.Thread)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return lease, nil
}

const selectResults = "SELECT step, path, data FROM results WHERE thread = $1 ORDER BY id"

func scanResult(rows scanner, r *checkpoint.PendingResult) error {
	return rows.Scan(&r.Step, &r.Path, (*[]byte)(&r.Data))
}

// Heartbeat implements checkpoint.Store.
func (s *Store) Heartbeat(ctx context.Context, thread, token string, ttl time.Duration) (checkpoint.Heartbeat, error) {
	var beat checkpoint.Heartbeat
	err := s.write(ctx, func(t *tx) error {
		h, err := t.held(thread, token)
		if err != nil {
			return err
		}
		beat = h.lease.Renew(ttl, t.now)
		t.queue("UPDATE threads SET lease_until = $2 WHERE thread = $1", thread, beat.Until.UnixMicro())
		return nil
	})
	return beat, err
}

// ReleaseLease implements checkpoint.Store.
func (s *Store) ReleaseLease(ctx context.Context, r checkpoint.Release) error {
	return s.write(ctx, func(t *tx) error {
		h, deleted, err := t.headOrName(r.Thread)
		switch {
		case err != nil:
			return err
		case h == nil:
			return checkpoint.AbsentConflict(r.Thread, 0, deleted)
		case t.again && r.Token != "" && h.released == r.Token:
			return nil // given back by the try whose answer was lost
		}
		if err := h.lease.Held(r.Thread, r.Token, t.now); err != nil {
			return err
		}
		if err := t.link(h, r.Decisions); err != nil {
			return err
		}
		h.giveBack(r.Withdraw)
		if r.Withdraw && h.results {
			t.queue("DELETE FROM results WHERE thread = $1", r.Thread)
		}
		t.saveLease(h, true)
		return nil
	})
}

// RequestCancel implements checkpoint.Store.
func (s *Store) RequestCancel(ctx context.Context, thread, by string) error {
	return s.write(ctx, func(t *tx) error {
		h, err := t.present(thread)
		if err != nil {
			return err
		}
		if !h.lease.Live(t.now) {
			return checkpoint.NothingRuns(thread)
		}
		h.lease.Cancel, h.lease.CancelledBy = true, by
		t.saveLease(h, true)
		return nil
	})
}

// AddResult implements checkpoint.Store.
func (s *Store) AddResult(ctx context.Context, thread, token string, r checkpoint.PendingResult) error {
	return s.write(ctx, func(t *tx) error {
		if _, err := t.held(thread, token); err != nil {
			return err
		}
		t.insertResult(thread, &r)
		t.queue("UPDATE threads SET results = true WHERE thread = $1 AND NOT results", thread)
		return nil
	})
}

func (t *tx) insertResult(thread string, r *checkpoint.PendingResult) {
	t.queue(`INSERT INTO results (thread, path, step, data) VALUES ($1, $2, $3, $4)
		ON CONFLICT (thread, path) DO UPDATE SET step = excluded.step, data = excluded.data`, thread, r.Path, r.Step, append([]byte{}, r.Data...))
}

// Claim implements checkpoint.Store.
func (s *Store) Claim(ctx context.Context, thread, reviewer string, ttl time.Duration) error {
	return s.write(ctx, func(t *tx) error {
		if _, err := t.present(thread); err != nil {
			return err
		}
		t.changed = true
		t.queue("UPDATE threads SET seq = next_seq(), updated = $2, claim_by = $3, claim_until = $4 WHERE thread = $1",
			thread, t.now.UnixMicro(), reviewer, t.now.Add(ttl).UnixMicro())
		return nil
	})
}

// ReleaseClaim implements checkpoint.Store.
func (s *Store) ReleaseClaim(ctx context.Context, thread, reviewer string) error {
	return s.write(ctx, func(t *tx) error {
		if _, err := t.present(thread); err != nil {
			return err
		}
		t.changed = true
		t.queue(`UPDATE threads SET seq = next_seq(), updated = $2, claim_by = '', claim_until = 0
			WHERE thread = $1 AND claim_by = $3 AND claim_by <> ''`, thread, t.now.UnixMicro(), reviewer)
		return nil
	})
}
