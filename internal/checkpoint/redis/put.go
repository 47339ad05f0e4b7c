package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/codec"
)

// Put implements checkpoint.Store.
func (s *Store) Put(ctx context.Context, c checkpoint.Checkpoint, ifRevision *int64) (int64, error) {
	if err := c.Validate(); err != nil {
		return 0, err
	}
	c.Shown = nil
	record, err := encodeRecord(&c)
	if err != nil {
		return 0, err
	}
	n := newStep{c: &c, record: record, step: step{step: c.Step, ts: checkpoint.ToMicros(c.TS)}}
	n.keep(c.Channels)
	_, err = s.change(ctx, c.Thread, func(ctx context.Context, w *write) error { return w.upsert(ctx, &n, ifRevision) })
	if err != nil {
		return 0, err
	}
	return n.revision, nil
}

func (w *write) upsert(ctx context.Context, n *newStep, ifRevision *int64) error {
	h := w.head
	if !h.present {
		if h.deleted {
			return checkpoint.AbsentConflict(n.c.Thread, n.c.Step, true)
		}
		h.info.Created = h.now
	}
	old, err := w.step(ctx, n.step.step)
	if err != nil {
		return err
	}
	id := codec.PutID(w.id)
	if old != nil && old.commit == id {
		w.done = true
		return nil
	}
	n.revision, n.commit = 1, id
	if old != nil {
		n.revision = old.revision + 1
	}
	if err := n.c.AdmitRevision(ifRevision, n.revision-1); err != nil {
		return err
	}
	if err := w.detachAfter(ctx, n.step.step); err != nil {
		return err
	}
	w.put(old, n)
	if n.step.step >= h.info.Step {
		h.frames.Keyframe(n.step.step, len(n.state))
		w.lead(n, checkpoint.SummaryOf(n.c))
	}
	w.save(true)
	return nil
}

// steps reads what is told of the steps of a thread after one, in order.
func (w *write) steps(ctx context.Context, after, limit int64) ([]step, error) {
	return w.s.steps(ctx, w.head.info.Thread, fmt.Sprint("(", after), "+inf", limit)
}

// step reads what is told of one step, nil where it is not there.
func (w *write) step(ctx context.Context, n int64) (*step, error) {
	at := strconv.FormatInt(n, 10)
	found, err := w.s.steps(ctx, w.head.info.Thread, at, at, 1)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// detachAfter makes the step that follows after a keyframe, so that steps up to after can be replaced.
func (w *write) detachAfter(ctx context.Context, after int64) error {
	next, err := w.steps(ctx, after, 1)
	if err != nil || len(next) == 0 {
		return err
	}
	return w.detach(ctx, &next[0])
}

// detach makes a step a keyframe.
func (w *write) detach(ctx context.Context, at *step) error {
	if at.keyframe {
		return nil
	}
	c, err := w.s.Get(ctx, w.head.info.Thread, at.step)
	if errors.Is(err, checkpoint.ErrNotFound) {
		return errStale
	}
	if err != nil {
		return err
	}
	frame, now := codec.EncodeKeyframe(c.Channels), *at
	now.keyframe, now.stateSize = true, int64(len(frame))
	now.size += now.stateSize - at.stateSize
	w.replace(at, &now)
	w.do("HSET", w.s.keys.states(w.head.info.Thread), strconv.FormatInt(at.step, 10), frame)
	return w.rebase(ctx, &now)
}

// rebase accounts for a new keyframe that the head may now build on.
func (w *write) rebase(ctx context.Context, at *step) error {
	f := &w.head.frames
	if f.Base >= at.step {
		return nil
	}
	f.Keyframe(at.step, int(at.stateSize))
	const pageSize = 250 // more than ever lie between two keyframes
	since, err := w.steps(ctx, at.step, pageSize)
	for i := range since {
		f.Step(int(since[i].stateSize))
	}
	return err
}
