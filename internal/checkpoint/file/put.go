package file

import (
	"context"
	"slices"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// Put implements checkpoint.Store.
func (s *Store) Put(ctx context.Context, c checkpoint.Checkpoint, ifRevision *int64) (int64, error) {
	if err := c.Validate(); err != nil {
		return 0, err
	}
	c.Shown = nil
	var revision int64
	err := s.write(ctx, c.Thread, func(t *session) (err error) {
		revision, err = t.put(&c, ifRevision)
		return err
	})
	return revision, err
}

func (t *session) put(c *checkpoint.Checkpoint, ifRevision *int64) (int64, error) {
	revision, err := t.revision(c.Step)
	if err != nil {
		return 0, err
	}
	if err := c.AdmitRevision(ifRevision, revision); err != nil {
		return 0, err
	}
	h := t.successor(c, nil)
	p := &step{Checkpoint: *c, write: h.writes + 1, keyframe: true}
	p.Revision = revision + 1
	if c.Step > h.info.Step {
		size, err := t.writeStep(p)
		if err != nil {
			return 0, err
		}
		had := h.results
		h.lead(p, checkpoint.SummaryOf(c))
		h.account(p, size)
		if err := t.save(h, loud); err != nil {
			return 0, err
		}
		t.dropResults(had)
		return p.Revision, nil
	}
	return p.Revision, t.putOver(h, p)
}

// revision is that of a step, 0 when it is not there. A thread that was deleted takes none.
func (t *session) revision(n int64) (int64, error) {
	if t.head == nil {
		deleted, err := t.deleted()
		if err == nil && deleted {
			err = checkpoint.AbsentConflict(t.thread, n, true)
		}
		return 0, err
	}
	found, err := t.s.has(t.head, n)
	if err != nil || !found {
		return 0, err
	}
	p, err := t.s.readStep(t.head, n)
	if err != nil {
		return 0, err
	}
	return p.Revision, nil
}

// putOver puts p at or below the head: its file is staged, and takes its place once the head says so.
func (t *session) putOver(h *head, p *step) error {
	numbers, _, err := t.s.numbers(t.head)
	if err != nil {
		return err
	}
	if at, _ := slices.BinarySearch(numbers, p.Step+1); at < len(numbers) {
		if err := t.detach(numbers[at]); err != nil {
			return err
		}
	}
	b, size, err := p.encode()
	if err != nil {
		return err
	}
	if err := t.s.disk.Write(t.s.stepFile(t.thread, p.Step)+staged, b); err != nil {
		return err
	}
	if err := t.s.disk.Sync(t.s.steps(t.thread)); err != nil {
		return err
	}
	had := h.results
	if p.Step == h.info.Step {
		h.lead(p, checkpoint.SummaryOf(&p.Checkpoint))
		h.account(p, size)
	}
	h.redo.Install = []int64{p.Step}
	if err := t.save(h, loud); err != nil {
		return err
	}
	if h.results != had {
		t.dropResults(had)
	}
	return t.finish()
}

// detach makes a step a keyframe, so that those before it can go or be replaced. That is no change of what it says.
func (t *session) detach(n int64) error {
	p, err := t.s.whole(t.head, n)
	if err != nil || p.keyframe {
		return err
	}
	p.keyframe, p.parent, p.ops = true, link{}, nil
	b, _, err := p.encode()
	if err != nil {
		return err
	}
	if err := replace(t.s.disk, t.s.stepFile(t.thread, n), b); err != nil {
		return err
	}
	return t.s.disk.Sync(t.s.steps(t.thread))
}
