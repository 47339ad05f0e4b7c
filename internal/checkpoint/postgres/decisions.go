package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// decisionColumns are written by insertDecision and read by scanDecision, in this order.
const decisionColumns = "thread, n, decision, response, step, revision, interrupt, key, address, path, action, data, comment, " +
	"reviewer, decided_at, waited, shown_hash, outcome, withdraws, prev_hash, hash"

func (t *tx) insertDecision(d *checkpoint.Decision) {
	t.queue("INSERT INTO decisions ("+decisionColumns+") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)",
		d.Thread, d.N, d.ID, d.ResponseID, d.Version.Step, d.Version.Revision, d.Interrupt, d.Key, d.Address, d.Path, d.Action,
		[]byte(d.Data), d.Comment, d.Reviewer, checkpoint.ToMicros(d.DecidedAt), d.WaitedSeconds, d.ShownHash, string(d.Outcome),
		d.Withdraws, d.PrevHash, d.Hash)
}

func scanDecision(rows scanner, p **checkpoint.Decision) error {
	d := new(checkpoint.Decision)
	var at int64
	err := rows.Scan(&d.Thread, &d.N, &d.ID, &d.ResponseID, &d.Version.Step, &d.Version.Revision, &d.Interrupt, &d.Key, &d.Address,
		&d.Path, &d.Action, (*[]byte)(&d.Data), &d.Comment, &d.Reviewer, &at, &d.WaitedSeconds, &d.ShownHash, (*string)(&d.Outcome),
		&d.Withdraws, &d.PrevHash, &d.Hash)
	d.DecidedAt = checkpoint.FromMicros(at)
	*p = d
	return err
}

func (s *Store) decisions(ctx context.Context, where string, args ...any) ([]*checkpoint.Decision, error) {
	return readAll(ctx, s, scanDecision, "SELECT "+decisionColumns+" FROM decisions WHERE "+where, args...)
}

// FindDecision implements checkpoint.Store.
func (s *Store) FindDecision(ctx context.Context, thread, responseID string) (*checkpoint.Decision, error) {
	var found []*checkpoint.Decision
	var err error
	if responseID != "" {
		found, err = s.decisions(ctx, "thread = $1 AND response = $2 AND response <> ''", thread, responseID)
	}
	if err == nil && len(found) == 0 {
		err = checkpoint.ResponseNotFound(thread, responseID)
	}
	if err != nil {
		return nil, err
	}
	return found[0], nil
}

// decisionsPage is how many decisions are read at once.
const decisionsPage = 100

// Decisions implements checkpoint.Store.
func (s *Store) Decisions(ctx context.Context, thread string) iter.Seq2[*checkpoint.Decision, error] {
	return func(yield func(*checkpoint.Decision, error) bool) {
		var one int
		found, err := s.readRow(ctx, "SELECT 1 FROM threads WHERE thread = $1", []any{thread}, &one)
		if err == nil && !found {
			err = checkpoint.ThreadNotFound(thread)
		}
		if err != nil {
			yield(nil, err)
			return
		}
		for after := int64(math.MinInt64); ; {
			page, err := s.decisions(ctx, "thread = $1 AND n > $2 ORDER BY n LIMIT $3", thread, after, decisionsPage)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, d := range page {
				if !yield(d, nil) {
					return
				}
				after = d.N
			}
			if len(page) < decisionsPage {
				return
			}
		}
	}
}

// Tombstones implements checkpoint.Store.
func (s *Store) Tombstones(ctx context.Context) ([]checkpoint.Tombstone, error) {
	list, err := readAll(ctx, s, func(rows scanner, b *checkpoint.Tombstone) error {
		var at int64
		err := rows.Scan(&b.Thread, &at, &b.Decisions, &b.DecisionHash)
		b.DeletedAt = checkpoint.FromMicros(at)
		return err
	}, "SELECT thread, deleted_at, decisions, decision_hash FROM tombstones ORDER BY seq")
	return list, err
}

// PutDefinition implements checkpoint.Store. What is stored under a fingerprint stays.
func (s *Store) PutDefinition(ctx context.Context, d checkpoint.Definition) error {
	var one int
	known, err := s.readRow(ctx, "SELECT 1 FROM definitions WHERE fingerprint = $1", []any{d.Fingerprint}, &one)
	if err != nil || known {
		return err
	}
	files, err := json.Marshal(d.Files)
	if err != nil {
		return fmt.Errorf("definition %s: %w", d.Fingerprint, err)
	}
	return s.write(ctx, func(t *tx) error {
		t.queue(`INSERT INTO definitions (fingerprint, workflow, graph, source, files) VALUES ($1, $2, $3, $4, $5)
			ON CONFLICT (fingerprint) DO NOTHING`, d.Fingerprint, d.Workflow, d.Graph, d.Source, files)
		return nil
	})
}

// Definition implements checkpoint.Store.
func (s *Store) Definition(ctx context.Context, fingerprint string) (*checkpoint.Definition, error) {
	d := checkpoint.Definition{Fingerprint: fingerprint}
	var files []byte
	found, err := s.readRow(ctx, "SELECT workflow, graph, source, files FROM definitions WHERE fingerprint = $1", []any{fingerprint},
		&d.Workflow, &d.Graph, &d.Source, &files)
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, fmt.Errorf("definition %s: %w", fingerprint, checkpoint.ErrNotFound)
	}
	if err := json.Unmarshal(files, &d.Files); err != nil {
		return nil, &checkpoint.CorruptError{Where: "definitions.files of " + fingerprint, Err: err}
	}
	return d.Verified(fingerprint)
}
