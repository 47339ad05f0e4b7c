package sqlite

import (
	"bytes"
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
		now := s.now()
		if err := h.lease.Acquire(&r, h.version, now); err != nil {
			return err
		}
		if err := t.link(h, r.Decisions); err != nil {
			return err
		}
		lease = &checkpoint.Lease{Token: h.lease.Token, Until: h.lease.Until, Head: h.version,
			Answers: checkpoint.CloneAll(h.lease.Answers)}
		if h.results {
			if lease.Results, err = pending(context.Background(), t, r.Thread); err != nil {
				return err
			}
		}
		return t.saveLease(h, now, true)
	})
	if err != nil {
		return nil, err
	}
	return lease, nil
}

// pending reads the results of the coming step, in the order in which they came.
func pending(ctx context.Context, q querier, thread string) ([]checkpoint.PendingResult, error) {
	rows, err := q.query(ctx, "SELECT step, path, data FROM results WHERE thread = ? ORDER BY id", thread)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []checkpoint.PendingResult
	for rows.Next() {
		var r checkpoint.PendingResult
		var data []byte
		if err := rows.Scan(&r.Step, &r.Path, &data); err != nil {
			return nil, err
		}
		r.Data = bytes.Clone(data)
		list = append(list, r)
	}
	return list, rows.Err()
}

// Heartbeat implements checkpoint.Store.
func (s *Store) Heartbeat(ctx context.Context, thread, token string, ttl time.Duration) (checkpoint.Heartbeat, error) {
	var beat checkpoint.Heartbeat
	err := s.write(ctx, func(t *tx) error {
		now := s.now()
		h, err := t.held(thread, token, now)
		if err != nil {
			return err
		}
		beat = h.lease.Renew(ttl, now)
		return t.exec("UPDATE threads SET lease_until = ? WHERE id = ?", beat.Until.UnixMicro(), h.id)
	})
	return beat, err
}

// ReleaseLease implements checkpoint.Store.
func (s *Store) ReleaseLease(ctx context.Context, r checkpoint.Release) error {
	return s.write(ctx, func(t *tx) error {
		now := s.now()
		h, err := t.held(r.Thread, r.Token, now)
		if err != nil {
			return err
		}
		if err := t.link(h, r.Decisions); err != nil {
			return err
		}
		h.lease.GiveBack(r.Withdraw)
		if r.Withdraw && h.results {
			if err := t.exec("DELETE FROM results WHERE thread = ?", r.Thread); err != nil {
				return err
			}
		}
		return t.saveLease(h, now, true)
	})
}

// RequestCancel implements checkpoint.Store.
func (s *Store) RequestCancel(ctx context.Context, thread, by string) error {
	return s.write(ctx, func(t *tx) error {
		h, err := t.present(thread)
		if err != nil {
			return err
		}
		now := s.now()
		if !h.lease.Live(now) {
			return checkpoint.NothingRuns(thread)
		}
		h.lease.Cancel, h.lease.CancelledBy = true, by
		return t.saveLease(h, now, true)
	})
}

// AddResult implements checkpoint.Store.
func (s *Store) AddResult(ctx context.Context, thread, token string, r checkpoint.PendingResult) error {
	return s.write(ctx, func(t *tx) error {
		h, err := t.held(thread, token, s.now())
		if err != nil {
			return err
		}
		if err := t.insertResult(thread, &r); err != nil {
			return err
		}
		return t.exec("UPDATE threads SET results = 1 WHERE id = ?", h.id)
	})
}

func (t *tx) insertResult(thread string, r *checkpoint.PendingResult) error {
	return t.exec(`INSERT INTO results (thread, path, step, data) VALUES (?, ?, ?, ?)
		ON CONFLICT (thread, path) DO UPDATE SET step = excluded.step, data = excluded.data`, thread, r.Path, r.Step, append([]byte{}, r.Data...))
}

// Claim implements checkpoint.Store.
func (s *Store) Claim(ctx context.Context, thread, reviewer string, ttl time.Duration) error {
	return s.write(ctx, func(t *tx) error {
		h, err := t.present(thread)
		if err != nil {
			return err
		}
		seq, err := t.next()
		if err != nil {
			return err
		}
		now := s.now()
		return t.exec("UPDATE threads SET seq = ?, stepping = 0, updated = ?, claim_by = ?, claim_until = ? WHERE id = ?",
			seq, now.UnixMicro(), reviewer, now.Add(ttl).UnixMicro(), h.id)
	})
}

// ReleaseClaim implements checkpoint.Store.
func (s *Store) ReleaseClaim(ctx context.Context, thread, reviewer string) error {
	return s.write(ctx, func(t *tx) error {
		h, err := t.present(thread)
		if err != nil {
			return err
		}
		seq, err := t.next()
		if err != nil {
			return err
		}
		return t.exec(`UPDATE threads SET seq = ?, stepping = 0, updated = ?, claim_by = '', claim_until = 0
			WHERE id = ? AND claim_by = ? AND claim_by <> ''`, seq, s.now().UnixMicro(), h.id, reviewer)
	})
}
