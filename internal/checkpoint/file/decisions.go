package file

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/verbatim"
)

// decisionLine is a line of decisions.jsonl, without the data, which is JSON from outside.
type decisionLine struct {
	N             int64              `json:"n"`
	ID            text               `json:"id"`
	ResponseID    text               `json:"response_id,omitempty"`
	Thread        text               `json:"thread"`
	Step          int64              `json:"step"`
	Revision      int64              `json:"revision"`
	Interrupt     text               `json:"interrupt,omitempty"`
	Key           text               `json:"key,omitempty"`
	Address       text               `json:"address,omitempty"`
	Path          text               `json:"path,omitempty"`
	Action        text               `json:"action,omitempty"`
	Comment       text               `json:"comment,omitempty"`
	Reviewer      text               `json:"reviewer,omitempty"`
	DecidedAt     time.Time          `json:"decided_at"`
	WaitedSeconds float64            `json:"waited_seconds"`
	ShownHash     text               `json:"shown_hash,omitempty"`
	Outcome       checkpoint.Outcome `json:"outcome,omitempty"`
	Withdraws     text               `json:"withdraws,omitempty"`
	PrevHash      string             `json:"prev_hash,omitempty"`
	Hash          string             `json:"hash"`
}

func encodeDecision(d *checkpoint.Decision) ([]byte, error) {
	o, err := verbatim.LineOf(decisionLine{N: d.N, ID: text(d.ID), ResponseID: text(d.ResponseID), Thread: text(d.Thread), Step: d.Version.Step,
		Revision: d.Version.Revision, Interrupt: text(d.Interrupt), Key: text(d.Key), Address: text(d.Address), Path: text(d.Path),
		Action: text(d.Action), Comment: text(d.Comment), Reviewer: text(d.Reviewer), DecidedAt: d.DecidedAt,
		WaitedSeconds: d.WaitedSeconds, ShownHash: text(d.ShownHash), Outcome: d.Outcome, Withdraws: text(d.Withdraws),
		PrevHash: d.PrevHash, Hash: d.Hash})
	if err != nil {
		return nil, fmt.Errorf("decision %s of thread %s: %w", d.ID, d.Thread, err)
	}
	if len(d.Data) > 0 {
		o.JSON("data", d.Data)
	}
	return o.Seal(), nil
}

func decodeDecision(b []byte) (*checkpoint.Decision, error) {
	var l struct {
		decisionLine
		Data foreign `json:"data"`
	}
	if err := verbatim.Open(b, verbatim.LineSeal, &l); err != nil {
		return nil, err
	}
	return &checkpoint.Decision{N: l.N, ID: string(l.ID), ResponseID: string(l.ResponseID), Thread: string(l.Thread),
		Version: checkpoint.Version{Step: l.Step, Revision: l.Revision}, Interrupt: string(l.Interrupt), Key: string(l.Key),
		Address: string(l.Address), Path: string(l.Path), Action: string(l.Action), Data: []byte(l.Data), Comment: string(l.Comment),
		Reviewer: string(l.Reviewer), DecidedAt: checkpoint.Micro(l.DecidedAt), WaitedSeconds: l.WaitedSeconds,
		ShownHash: string(l.ShownHash), Outcome: l.Outcome, Withdraws: string(l.Withdraws), PrevHash: l.PrevHash, Hash: l.Hash}, nil
}

// decisionBytes reads the lines that count.
func (s *Store) decisionBytes(h *head) ([]byte, error) {
	if h.rows == 0 {
		return nil, nil
	}
	file := s.decisionsFile(h.info.Thread)
	b, _, err := s.disk.ReadAt(file, 0, int(h.rows))
	if errors.Is(err, fs.ErrNotExist) {
		err = errMissing
	}
	if err == nil && int64(len(b)) < h.rows {
		err = verbatim.ErrCut
	}
	if err != nil {
		return nil, s.hurt(h.info.Thread, h.info.Step, file, err)
	}
	return b, nil
}

// rowsOf takes the lines of decisions.jsonl apart. A line that is hurt is yielded as its error, and ends it.
func (s *Store) rowsOf(h *head, b []byte) iter.Seq2[*checkpoint.Decision, error] {
	return func(yield func(*checkpoint.Decision, error) bool) {
		n := 0
		for l := range bytes.Lines(b) {
			n++
			d, err := decodeDecision(l)
			if err != nil {
				yield(nil, s.hurt(h.info.Thread, h.info.Step, s.decisionsFile(h.info.Thread), fmt.Errorf("line %d: %w", n, err)))
				return
			}
			if !yield(d, nil) {
				return
			}
		}
	}
}

// find looks for a response id in the lines that count, of which it reads those alone that can hold it.
func (s *Store) find(h *head, responseID string) (*checkpoint.Decision, error) {
	if responseID == "" {
		return nil, nil
	}
	b, err := s.decisionBytes(h)
	if err != nil {
		return nil, err
	}
	id, err := verbatim.Marshal(text(responseID), "")
	if err != nil {
		return nil, err
	}
	for l := range bytes.Lines(b) {
		err := verbatim.Intact(l, verbatim.LineSeal)
		if err == nil && !bytes.Contains(l, id) {
			continue
		}
		var d *checkpoint.Decision
		if err == nil {
			d, err = decodeDecision(l)
		}
		if err != nil {
			return nil, s.hurt(h.info.Thread, h.info.Step, s.decisionsFile(h.info.Thread), err)
		}
		if d.ResponseID == responseID {
			return d, nil
		}
	}
	return nil, nil
}

// link appends decisions to the chain of h. They count once h is saved.
func (t *session) link(h *head, ds []checkpoint.Decision) error {
	if len(ds) == 0 {
		return nil
	}
	var b []byte
	seen := make(map[string]bool)
	for i := range ds {
		d := ds[i]
		known, err := t.s.find(h, d.ResponseID)
		if err != nil {
			return err
		}
		if known != nil || seen[d.ResponseID] {
			return checkpoint.DuplicateResponse(t.thread, d.ResponseID)
		}
		seen[d.ResponseID] = d.ResponseID != ""
		h.chain.Append(t.thread, &d)
		l, err := encodeDecision(&d)
		if err != nil {
			return err
		}
		b = append(b, l...)
	}
	if t.head == nil {
		if err := t.s.disk.Mkdir(t.s.folder(t.thread)); err != nil {
			return err
		}
	}
	if err := t.s.disk.Append(t.s.decisionsFile(t.thread), h.rows, b, true); err != nil {
		return err
	}
	if h.rows == 0 && t.head != nil { // with its first line the file gets its name
		if err := t.s.disk.Sync(t.s.folder(t.thread)); err != nil {
			return err
		}
	}
	h.rows += int64(len(b))
	return nil
}

// FindDecision implements checkpoint.Store.
func (s *Store) FindDecision(ctx context.Context, thread, responseID string) (*checkpoint.Decision, error) {
	var d *checkpoint.Decision
	err := s.settled(ctx, thread, func(h *head) (err error) {
		if d, err = s.find(h, responseID); err == nil && d == nil {
			err = checkpoint.ResponseNotFound(thread, responseID)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Decisions implements checkpoint.Store.
func (s *Store) Decisions(ctx context.Context, thread string) iter.Seq2[*checkpoint.Decision, error] {
	return func(yield func(*checkpoint.Decision, error) bool) {
		var h *head
		var b []byte
		err := s.settled(ctx, thread, func(now *head) (err error) {
			h = now
			b, err = s.decisionBytes(h)
			return err
		})
		if err != nil {
			yield(nil, err)
			return
		}
		for d, err := range s.rowsOf(h, b) {
			if !yield(d, err) {
				return
			}
		}
	}
}
