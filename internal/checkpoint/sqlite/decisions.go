package sqlite

import (
	"context"
	"iter"
	"math"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// decisionColumns are written by insertDecision and read by decisions, in this order.
const decisionColumns = "thread, n, decision, response, step, revision, interrupt, key, address, path, action, data, comment, " +
	"reviewer, decided_at, waited, shown_hash, outcome, withdraws, prev_hash, hash"

func (t *tx) insertDecision(d *checkpoint.Decision) error {
	return t.exec("INSERT INTO decisions ("+decisionColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		d.Thread, d.N, d.ID, d.ResponseID, d.Version.Step, d.Version.Revision, d.Interrupt, d.Key, d.Address, d.Path, d.Action,
		[]byte(d.Data), d.Comment, d.Reviewer, checkpoint.ToMicros(d.DecidedAt), d.WaitedSeconds, d.ShownHash, string(d.Outcome),
		d.Withdraws, d.PrevHash, d.Hash)
}

func (s *Store) decisions(ctx context.Context, where string, args ...any) ([]*checkpoint.Decision, error) {
	rows, err := s.readers.query(ctx, "SELECT "+decisionColumns+" FROM decisions WHERE "+where, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []*checkpoint.Decision
	for rows.Next() {
		var d checkpoint.Decision
		var at int64
		if err := rows.Scan(&d.Thread, &d.N, &d.ID, &d.ResponseID, &d.Version.Step, &d.Version.Revision, &d.Interrupt, &d.Key,
			&d.Address, &d.Path, &d.Action, (*[]byte)(&d.Data), &d.Comment, &d.Reviewer, &at, &d.WaitedSeconds, &d.ShownHash,
			(*string)(&d.Outcome), &d.Withdraws, &d.PrevHash, &d.Hash); err != nil {
			return nil, err
		}
		d.DecidedAt = checkpoint.FromMicros(at)
		list = append(list, &d)
	}
	return list, rows.Err()
}

// Tombstones implements checkpoint.Store.
func (s *Store) Tombstones(ctx context.Context) ([]checkpoint.Tombstone, error) {
	rows, err := s.readers.query(ctx, "SELECT thread, deleted_at, decisions, decision_hash FROM tombstones ORDER BY seq")
	if err != nil {
		return nil, classify(err)
	}
	defer rows.Close()
	var list []checkpoint.Tombstone
	for rows.Next() {
		var b checkpoint.Tombstone
		var at int64
		if err := rows.Scan(&b.Thread, &at, &b.Decisions, &b.DecisionHash); err != nil {
			return nil, classify(err)
		}
		b.DeletedAt = checkpoint.FromMicros(at)
		list = append(list, b)
	}
	return list, classify(rows.Err())
}

// FindDecision implements checkpoint.Store.
func (s *Store) FindDecision(ctx context.Context, thread, responseID string) (*checkpoint.Decision, error) {
	var found []*checkpoint.Decision
	var err error
	if responseID != "" {
		found, err = s.decisions(ctx, "thread = ? AND response = ? AND response <> ''", thread, responseID)
	}
	if err == nil && len(found) == 0 {
		err = checkpoint.ResponseNotFound(thread, responseID)
	}
	if err != nil {
		return nil, classify(err)
	}
	return found[0], nil
}

// Decisions implements checkpoint.Store.
func (s *Store) Decisions(ctx context.Context, thread string) iter.Seq2[*checkpoint.Decision, error] {
	return func(yield func(*checkpoint.Decision, error) bool) {
		var id int64
		found, err := rowOf(ctx, s.readers, "SELECT id FROM threads WHERE thread = ?", []any{thread}, &id)
		if err == nil && !found {
			err = checkpoint.ThreadNotFound(thread)
		}
		if err != nil {
			yield(nil, classify(err))
			return
		}
		after := int64(math.MinInt64)
		for {
			page, err := s.decisions(ctx, "thread = ? AND n > ? ORDER BY n LIMIT 100", thread, after)
			if err != nil {
				yield(nil, classify(err))
				return
			}
			for _, d := range page {
				if !yield(d, nil) {
					return
				}
				after = d.N
			}
			if len(page) < 100 {
				return
			}
		}
	}
}
