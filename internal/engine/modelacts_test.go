package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// expected are the refusals that a random call may meet.
func expected(err error) bool {
	for _, x := range []error{checkpoint.ErrLeased, context.Canceled, ErrCancelledByPerson, errShutdown, checkpoint.ErrNotFound} {
		if errors.Is(err, x) {
			return true
		}
	}
	return refused(err)
}

// refused reports whether a call was refused, so that it must have changed nothing.
func refused(err error) bool {
	for _, x := range []error{checkpoint.ErrConflict, ErrNotWaiting, ErrUnknownQuestion, ErrAlreadyAnswered, ErrWhichQuestion, ErrInvalidEdit} {
		if errors.Is(err, x) {
			return true
		}
	}
	var data *actions.DataError
	var not *actions.NotAllowedError
	return errors.As(err, &data) || errors.As(err, &not)
}

// step does something to one of the threads.
func (m *machine) step() {
	thread := rapid.SampledFrom(m.threads).Draw(m.T, "thread")
	open, err := m.w.Open(context.Background(), thread)
	if errors.Is(err, checkpoint.ErrNotFound) {
		return
	}
	if err != nil {
		m.Fatalf("%v", err)
	}
	acts := map[string]func(string, *Outcome){
		"answer": m.answer, "carry on": m.carryOn, "sweep": m.sweep, "edit": m.edit, "upgrade": m.upgrade, "fork": m.fork, "prune": m.prune,
		"delete": m.remove,
	}
	names := append(sortedKeys(acts), "answer", "answer", "answer", "answer", "answer")
	acts[rapid.SampledFrom(names).Draw(m.T, "act")](thread, open)
}

// answer gives none, one or several answers to what is open, in one call; some twice, under one response id.
func (m *machine) answer(thread string, open *Outcome) {
	list := m.answers(open)
	what := "answer"
	for _, a := range list {
		what += fmt.Sprintf(" %s %s %s", thread, a.Interrupt, a.Action)
	}
	request := ResumeRequest{Thread: thread, Answers: list, By: "ana"}
	for range rapid.IntRange(1, 2).Draw(m.T, "times") {
		m.act(what, thread, func(ctx context.Context, e *Engine) (*Outcome, error) { return e.Resume(ctx, request) })
	}
}

func (m *machine) answers(open *Outcome) []Answer {
	var list []Answer
	for _, q := range open.Questions {
		if rapid.IntRange(0, 2).Draw(m.T, "leave") == 0 {
			continue
		}
		// What lets a thread go on is drawn as often as all else.
		action := rapid.SampledFrom(append(actions.All(), "approve", "approve", "approve", "approve", "respond", "skip", "retry")).Draw(m.T, "action")
		a := to(q.Address, action)
		a.Data = dataFor(action, q.Question.Content)
		a.ResponseID = fmt.Sprintf("%s-%s-%d", q.ID, action, len(m.log.of(open.Thread).rows))
		list = append(list, a)
	}
	return list
}

// dataFor is what an action needs.
func dataFor(action actions.Action, content json.RawMessage) json.RawMessage {
	switch action {
	case actions.Choose:
		return js("x")
	case actions.Submit:
		return js(map[string]any{"field": 1})
	case actions.Edit, actions.Save:
		if len(content) == 0 || string(content) == "null" {
			return js("new")
		}
		return content
	case actions.Respond, actions.TextInput, actions.Reply, actions.Retry, actions.Reject, actions.End:
		return js("text")
	}
	return nil
}

func (m *machine) carryOn(thread string, _ *Outcome) {
	m.act("carry on "+thread, thread, func(ctx context.Context, e *Engine) (*Outcome, error) {
		return e.Resume(ctx, ResumeRequest{Thread: thread})
	})
}

// sweep lets time pass and applies what is due, of whatever thread.
func (m *machine) sweep(string, *Outcome) {
	m.w.clock.advance(time.Duration(rapid.IntRange(0, 90).Draw(m.T, "minutes")) * time.Minute)
	carryOn := rapid.Bool().Draw(m.T, "carry on")
	m.act("sweep", everyThread, func(ctx context.Context, e *Engine) (*Outcome, error) {
		all, err := e.Sweep(ctx, carryOn, nil)
		for _, out := range all {
			m.matches(&out, nil)
		}
		return nil, err
	})
}

// edit changes a key of some frame. Accepted answers keep the values they had when they were given, so that beside them
// an edit is no step that can be made anew.
func (m *machine) edit(thread string, _ *Outcome) {
	if m.unapplied(thread) {
		return
	}
	h, err := m.w.read(context.Background(), thread)
	if err != nil {
		m.Fatalf("%v", err)
	}
	frames := []string{""}
	h.tree.root.frames(func(f *frame) { frames = append(frames, f.path) })
	r := EditRequest{Thread: thread, Frame: rapid.SampledFrom(frames).Draw(m.T, "frame"), By: "ben"}
	r.Updates = map[string]json.RawMessage{rapid.SampledFrom([]string{"note", "only", "sum"}).Draw(m.T, "key"): js(len(h.tree.root.state))}
	m.act("edit "+thread+" "+r.Frame, thread, func(ctx context.Context, e *Engine) (*Outcome, error) { return e.Edit(ctx, r) })
}

// upgrade puts the thread on a definition that says the same in other words, perhaps with answers.
func (m *machine) upgrade(thread string, open *Outcome) {
	next := m.w.shelf.put(m.graph.again())
	r := ResumeRequest{Thread: thread, Upgrade: &next, By: "ben"}
	if rapid.Bool().Draw(m.T, "with answers") {
		r.Answers = m.answers(open)
	}
	m.act("upgrade "+thread, thread, func(ctx context.Context, e *Engine) (*Outcome, error) {
		out, err := e.Resume(ctx, r)
		if err != nil && refused(err) {
			return nil, fmt.Errorf("after the upgrade: %w", errShutdown) // which is a step of its own
		}
		return out, err
	})
}

// again is another graph that says the same.
func (g *Graph) again() *Graph {
	return &Graph{
		Name: g.Name, Start: g.Start, Nodes: g.Nodes, Channels: g.Channels, Output: g.Output, MaxConcurrency: g.MaxConcurrency, StepLimit: g.StepLimit,
	}
}

// fork starts a thread from some step of another, as a copy of it with questions of its own.
func (m *machine) fork(thread string, open *Outcome) {
	if len(m.threads) > 3 {
		return
	}
	step := rapid.Int64Range(m.pruned[thread], open.Version.Step).Draw(m.T, "step")
	as := fmt.Sprintf("f%d", len(m.threads))
	m.threads = append(m.threads, as)
	m.act(fmt.Sprintf("fork %s at %d as %s", thread, step, as), as, func(ctx context.Context, e *Engine) (*Outcome, error) {
		return e.Fork(ctx, thread, step, as, "ben")
	})
	a := m.log.of(as)
	if len(a.steps) == 0 {
		return // it died before it was there
	}
	from, to := m.log.of(thread).steps[step], a.steps[0]
	if diff := cmp.Diff(from.state.State(), to.state.State()); diff != "" {
		m.Fatalf("the fork has another state (-old +new):\n%s", diff)
	}
	were, are := from.questions(), to.questions()
	if len(were) != len(are) || to.Origin == nil || *to.Origin != (checkpoint.Origin{Thread: thread, Step: step}) {
		m.Fatalf("the fork of %+v is %+v", from.Checkpoint, to.Checkpoint)
	}
	for i, q := range are {
		old := were[i]
		if q.ID == old.ID || q.Address != old.Address || (q.Due == nil) != (old.Due == nil) || q.Due != nil && q.Due.Sub(q.Asked) != old.Due.Sub(old.Asked) {
			m.Fatalf("question %+v became %+v", old, q)
		}
	}
	for _, r := range m.log.of(thread).steps[:step+1] {
		for _, x := range r.Runs {
			if x.Status == statusCompleted {
				m.completed[as+" "+x.Path] = true
			}
		}
	}
}

// prune deletes early steps beside whatever is left.
func (m *machine) prune(thread string, open *Outcome) {
	before := rapid.Int64Range(1, open.Version.Step+2).Draw(m.T, "before step")
	got, err := m.w.store.Prune(context.Background(), checkpoint.PruneQuery{Threads: []string{thread}, BeforeStep: before})
	if err != nil {
		m.Fatalf("%v", err)
	}
	m.tell("prune %s before %d: %d steps", thread, before, got.Steps)
	if len(got.Skipped) == 0 {
		m.pruned[thread] = max(m.pruned[thread], min(before, open.Version.Step))
	}
	m.check(thread)
}

// remove deletes a fork whole, which nothing brings back, and leaves the others alone. One that runs is left.
func (m *machine) remove(thread string, _ *Outcome) {
	if thread == m.threads[0] {
		return
	}
	before := m.whole()
	err := m.w.store.DeleteThread(context.Background(), thread)
	m.tell("delete %s: %v", thread, err)
	if errors.Is(err, checkpoint.ErrLeased) {
		return
	}
	if err != nil {
		m.Fatalf("%v", err)
	}
	m.untouched(before, thread)
	for _, call := range []func(context.Context, *Engine) (*Outcome, error){
		func(ctx context.Context, e *Engine) (*Outcome, error) {
			return e.Resume(ctx, ResumeRequest{Thread: thread})
		},
		func(ctx context.Context, e *Engine) (*Outcome, error) {
			return e.Fork(ctx, thread, 0, thread+"-again", "ben")
		},
		func(ctx context.Context, e *Engine) (*Outcome, error) { return e.Open(ctx, thread) },
	} {
		if out, err := call(context.Background(), m.w.Engine); !errors.Is(err, checkpoint.ErrNotFound) {
			m.Fatalf("a deleted thread is there: %v, %+v", err, out)
		}
	}
}
