package file

import (
	"context"
	"errors"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// Commit implements checkpoint.Store.
func (s *Store) Commit(ctx context.Context, c checkpoint.Commit) (checkpoint.Version, error) {
	var version checkpoint.Version
	if err := c.Validate(); err != nil {
		return version, err
	}
	c.Show()
	err := s.write(ctx, c.Checkpoint.Thread, func(t *session) (err error) {
		version, err = t.commit(&c)
		return err
	})
	return version, err
}

func (t *session) commit(c *checkpoint.Commit) (checkpoint.Version, error) {
	if refused := t.admit(c); refused != nil {
		return t.repeated(c, refused)
	}
	h := t.successor(&c.Checkpoint, c.NewThread)
	if err := c.Settle(&h.lease, t.now); err != nil {
		return checkpoint.Version{}, err
	}
	p := &step{Checkpoint: c.Checkpoint, commit: c.ID, write: h.writes + 1}
	p.Revision = 1
	if err := t.frame(h, c, p); err != nil {
		return checkpoint.Version{}, err
	}
	// The decisions first: they can be refused.
	if err := t.link(h, c.AllDecisions()); err != nil {
		return checkpoint.Version{}, err
	}
	size, err := t.writeStep(p)
	if err != nil {
		return checkpoint.Version{}, err
	}
	h.account(p, size)
	had := h.results
	h.lead(p, c.Summary)
	if err := t.save(h, loud); err != nil {
		return checkpoint.Version{}, err
	}
	t.dropResults(had)
	return h.info.Version(), nil
}

// admit checks what a commit is conditional on.
func (t *session) admit(c *checkpoint.Commit) error {
	if t.head != nil {
		return c.AdmitNext(t.head.info.Version(), &t.head.lease, t.now)
	}
	deleted, err := t.deleted()
	if err != nil {
		return err
	}
	return c.AdmitNew(deleted)
}

// repeated turns the refusal of a commit that is stored already into success.
func (t *session) repeated(c *checkpoint.Commit, refused error) (checkpoint.Version, error) {
	if t.head == nil || !errors.Is(refused, checkpoint.ErrConflict) {
		return checkpoint.Version{}, refused
	}
	found, err := t.s.has(t.head, c.Checkpoint.Step)
	if err != nil || !found {
		return checkpoint.Version{}, errors.Join(err, refused)
	}
	p, err := t.s.readStep(t.head, c.Checkpoint.Step)
	if err != nil {
		return checkpoint.Version{}, errors.Join(err, refused)
	}
	if p.commit != c.ID {
		return checkpoint.Version{}, refused
	}
	return p.Version(), t.settle()
}

// successor is the head to change into that of a thread whose next step is c.
func (t *session) successor(c *checkpoint.Checkpoint, n *checkpoint.NewThread) *head {
	if t.head != nil {
		return t.next()
	}
	h := &head{info: checkpoint.ThreadInfo{Thread: c.Thread, Step: -1, Created: t.now}}
	if n != nil {
		h.info.Workdir, h.info.StartedBy = n.Workdir, n.StartedBy
	}
	return h
}

// lead makes p the step that h leads to.
func (h *head) lead(p *step, s checkpoint.Summary) {
	c := &p.Checkpoint
	h.info.Step, h.info.Revision, h.write = c.Step, c.Revision, p.write
	h.info.Workflow, h.info.Fingerprint = c.Workflow, c.Fingerprint
	if c.Origin != nil {
		h.info.Origin = new(*c.Origin)
	}
	h.info.Summary = s.Stored()
	h.results++
}

// account notes how the state of the step that h leads to next is stored.
func (h *head) account(p *step, size int) {
	if p.keyframe {
		h.frames.Keyframe(p.Step, size)
		return
	}
	h.frames.Step(size)
}

// frame decides how the state of p, the step after h, is stored.
func (t *session) frame(h *head, c *checkpoint.Commit, p *step) error {
	if t.head == nil {
		state, err := checkpoint.Apply(nil, c.Ops)
		p.keyframe, p.Channels = true, state
		return err
	}
	if !h.frames.Due() {
		p.parent, p.ops = link{h.info.Step, h.write}, c.Ops
		return nil
	}
	parent, err := t.s.whole(t.head, h.info.Step)
	if err != nil {
		return err
	}
	p.keyframe = true
	p.Channels, err = checkpoint.Apply(parent.Channels, c.Ops)
	return err
}
