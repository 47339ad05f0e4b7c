package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

const (
	lookAgain = 250 * time.Millisecond // between two looks at a thread that somebody else runs
	maxMoves  = 100                    // times the head may move under an answer; each is somebody else's progress
)

// again reports whether a resume that failed is to be tried once more. It is for the very questions that the first attempt
// was for: what is asked next under the same name, or alone, is another matter. It may change err.
func (t *try) again(ctx context.Context, err *error) bool {
	switch {
	case t.moved != nil && errors.Is(*err, ErrUnknownQuestion):
		*err = t.moved // which took the question away
		return false
	case errors.Is(*err, checkpoint.ErrLeased):
		return t.waits(ctx, err)
	}
	var conflict *checkpoint.ConflictError
	if t.p == nil || len(t.p.answers) == 0 || t.request.IfVersion != nil || t.moves == maxMoves || !errors.As(*err, &conflict) || t.p.taken {
		return false
	}
	t.moved, t.moves = *err, t.moves+1
	t.request.Answers = slices.Clone(t.p.request.Answers)
	for i, id := range t.p.wanted {
		if id != "" {
			t.request.Answers[i].Interrupt = id
		}
	}
	return true
}

// waits waits a while for the runner of the thread, and reports whether there is time for that.
func (t *try) waits(ctx context.Context, err *error) bool {
	left := t.until.Sub(t.engine.o.Now())
	if t.request.Wait <= 0 || left <= 0 {
		return false
	}
	if unnamed := t.pin(ctx); unnamed != nil {
		*err = fmt.Errorf("%w; %w", *err, unnamed)
		return false
	}
	if cause := t.engine.o.Sleep(ctx, min(left, lookAgain)); cause != nil {
		*err = cause
		return false
	}
	return true
}

// pin fixes the questions that the answers are for, before the thread goes on to others. An answer that says nothing and
// names nothing is to carry the thread on.
func (t *try) pin(ctx context.Context) error {
	r := t.request
	if len(r.Answers) == 1 && r.Answers[0].isBare() {
		t.request.Answers, t.request.CarryOn = nil, true
		return nil
	}
	h, err := t.engine.read(ctx, r.Thread)
	if err != nil {
		return err
	}
	p := &prepared{head: h, session: t.engine.session(h)}
	t.request.Answers = slices.Clone(r.Answers)
	for i, a := range r.Answers {
		action, _ := actions.Parse(a.Action)
		q, _, _ := p.find(ctx, r, a.Interrupt, action)
		switch {
		case q != nil:
			t.request.Answers[i].Interrupt = q.ID
		case a.Interrupt == "" && action != actions.Stop:
			return fmt.Errorf("%w: to wait for it, name the question that is to be answered", ErrWhichQuestion)
		}
	}
	return nil
}
