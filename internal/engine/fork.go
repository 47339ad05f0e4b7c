package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// Fork starts a new thread whose step 0 is a full copy of an earlier checkpoint; the old thread is untouched. Its
// questions are its own, with new ids, and its clocks start anew. It runs nothing: Resume carries it on.
func (e *Engine) Fork(ctx context.Context, thread string, step int64, as, by string) (*Outcome, error) {
	if e.store == nil {
		return nil, fmt.Errorf("%w: there is no history to fork from", ErrNoStore)
	}
	c, err := e.store.Get(ctx, thread, step)
	if err != nil {
		return nil, fmt.Errorf("thread %s, step %d: %w", thread, step, err)
	}
	info, err := e.store.Thread(ctx, thread)
	if err != nil {
		return nil, fmt.Errorf("thread %s: %w", thread, err)
	}
	g, err := e.graphOf(ctx, c.Fingerprint)
	if err != nil {
		return nil, fmt.Errorf("thread %s: %w", thread, err)
	}
	if as == "" {
		as = e.o.NewID()
	}
	if err := actions.CheckThreadID(as); err != nil {
		return nil, err
	}
	c.Thread = as
	t, err := load(c, g, &e.o)
	if err != nil {
		return nil, err
	}
	t.restartClocks(c.TS)
	s := &session{engine: e, tree: t, workflow: c.Workflow, fingerprint: c.Fingerprint, workdir: info.Workdir, source: checkpoint.SourceFork}
	s.head.Step, s.lease = -1, e.o.NewID()
	commit := s.compose(ctx, true)
	commit.Ops = copyOf(c.Channels, commit.Ops)
	commit.Checkpoint.Origin = &checkpoint.Origin{Thread: thread, Step: step}
	commit.NewLease = &checkpoint.LeaseRequest{Thread: as, Token: s.lease, Holder: e.o.Holder, TTL: e.o.LeaseTTL}
	commit.NewThread = &checkpoint.NewThread{Workdir: info.Workdir, StartedBy: by}
	version, err := e.commit(ctx, commit)
	if err != nil {
		return nil, fmt.Errorf("forking thread %s at step %d: %w", thread, step, err)
	}
	s.began(checkpoint.SourceFork, commit.Checkpoint.Origin)
	for _, a := range t.asks {
		t.tellAsked(a)
	}
	s.send()
	s.committed(version, true)
	out := s.outcome()
	s.rested(out)
	return out, nil
}

// copyOf sets every channel as it was, and then what the fork changed.
func copyOf(channels checkpoint.Channels, changed []checkpoint.Op) []checkpoint.Op {
	ops := make([]checkpoint.Op, 0, len(channels)+len(changed))
	for _, name := range sortedKeys(channels) {
		ops = append(ops, checkpoint.Op{Kind: checkpoint.OpSet, Channel: name, Value: channels[name]})
	}
	return append(ops, changed...)
}

// restartClocks gives every question a new id, and every timeout and timer the time it had left when it began.
func (t *tree) restartClocks(then time.Time) {
	now := t.now()
	t.stands = nil
	for _, a := range t.asks {
		a.restartClock(now)
		a.ID, a.Asked = t.newID(), now
		a.touch()
	}
	for r := range t.runs {
		if r.wake.IsZero() {
			continue
		}
		began := r.since
		if began.IsZero() {
			began = then
		}
		r.wake, r.since = now.Add(r.wake.Sub(began)), now
		r.touch()
	}
}

// restartClock gives a question the whole of its time again. A deadline that its asker named is the outside world's and
// stands; one that is past answers nothing in the fork, whose question then waits for a person.
func (a *ask) restartClock(now time.Time) {
	if a.Due == nil {
		return
	}
	q, _ := a.question()
	var timeout time.Duration
	if q.Deadline == nil || a.Due.Before(*q.Deadline) {
		timeout = a.Due.Sub(a.Asked)
	}
	a.Due = q.Due(now, timeout)
	a.Overdue = q.Deadline != nil && !q.Deadline.After(now)
}
