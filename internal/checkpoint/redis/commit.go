package redis

import (
	"context"
	"errors"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/codec"
)

// Commit implements checkpoint.Store.
func (s *Store) Commit(ctx context.Context, c checkpoint.Commit) (checkpoint.Version, error) {
	if err := c.Validate(); err != nil {
		return checkpoint.Version{}, err
	}
	c.Show()
	record, err := encodeRecord(&c.Checkpoint)
	if err != nil {
		return checkpoint.Version{}, err
	}
	n := newStep{c: &c.Checkpoint, record: record, step: step{step: c.Checkpoint.Step, revision: 1, ts: checkpoint.ToMicros(c.Checkpoint.TS), commit: c.ID}}
	ops := codec.EncodeOps(c.Ops)
	_, err = s.change(ctx, c.Checkpoint.Thread, func(ctx context.Context, w *write) error {
		return w.commit(ctx, &c, &n, ops)
	})
	if err != nil {
		return checkpoint.Version{}, err
	}
	return checkpoint.Version{Step: n.step.step, Revision: n.step.revision}, nil
}

// newStep is a step that is to be written.
type newStep struct {
	step
	c      *checkpoint.Checkpoint
	record []byte
	state  []byte
}

func (n *newStep) keep(c checkpoint.Channels) {
	n.keyframe, n.state = true, codec.EncodeKeyframe(c)
}

func (w *write) commit(ctx context.Context, c *checkpoint.Commit, n *newStep, ops []byte) error {
	h := w.head
	if refused := h.admit(c); refused != nil {
		return w.repeated(ctx, c, n, refused)
	}
	w.leased = h.present
	if err := c.Settle(&h.lease, h.now); err != nil {
		return err
	}
	if err := w.frame(ctx, c, n, ops); err != nil {
		return err
	}
	if err := w.link(ctx, c.AllDecisions()); err != nil {
		return err
	}
	if !h.present {
		h.info.Created, h.info.Workdir, h.info.StartedBy = h.now, c.NewThread.Workdir, c.NewThread.StartedBy
	}
	w.put(nil, n)
	w.lead(n, c.Summary)
	w.save(true)
	return nil
}

// admit checks what a commit is conditional on.
func (h *head) admit(c *checkpoint.Commit) error {
	if !h.present {
		return c.AdmitNew(h.deleted)
	}
	return c.AdmitNext(h.info.Version(), &h.lease, h.now)
}

// repeated turns the refusal of a commit that is stored already into success.
func (w *write) repeated(ctx context.Context, c *checkpoint.Commit, n *newStep, refused error) error {
	stored, err := w.step(ctx, n.step.step)
	if err != nil {
		return err
	}
	if stored == nil || stored.commit != c.ID {
		return refused
	}
	n.revision, w.done = stored.revision, true
	return nil
}

// frame decides how the state of the step after the head is stored, and accounts for it.
func (w *write) frame(ctx context.Context, c *checkpoint.Commit, n *newStep, ops []byte) error {
	h := w.head
	if h.present && !h.frames.Due() {
		n.keyframe, n.state = false, ops
		h.frames.Step(len(ops))
		return nil
	}
	var state checkpoint.Channels
	if h.present {
		before, err := w.s.Get(ctx, h.info.Thread, h.info.Step)
		if errors.Is(err, checkpoint.ErrNotFound) {
			err = headMissing(h.info.Thread, h.info.Step)
		}
		if err != nil {
			return err
		}
		state = before.Channels
	}
	state, err := checkpoint.Apply(state, c.Ops)
	if err != nil {
		return err
	}
	n.keep(state)
	h.frames.Keyframe(n.step.step, len(n.state))
	return nil
}

// lead makes a step the head.
func (w *write) lead(n *newStep, s checkpoint.Summary) {
	t := &w.head.info
	t.Step, t.Revision, t.Summary = n.step.step, n.revision, s.Stored()
	t.Workflow, t.Fingerprint = n.c.Workflow, n.c.Fingerprint
	if n.c.Origin != nil {
		origin := *n.c.Origin
		t.Origin = &origin
	}
	w.dropResults()
}

func (w *write) dropResults() {
	if w.head.results > 0 {
		w.do("UNLINK", w.s.keys.results(w.head.info.Thread))
		w.head.results = 0
	}
}
