package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/memory"
)

// script tells programs how their attempts went, by thread and path: for each round, how many there were and whether
// the last one failed.
type script struct {
	rounds map[string][]checkpoint.NodeRun
}

// next is how the present attempt ends.
func (s *script) next(c *Call) error {
	key := c.Thread + " " + c.Path
	rounds := s.rounds[key]
	if len(rounds) == 0 {
		return nil
	}
	round := rounds[0]
	if c.Attempt < round.Attempts {
		return errBoom
	}
	s.rounds[key] = rounds[1:]
	if round.Error == errBoom.Error() {
		return errBoom
	}
	return nil
}

// replay makes every thread once more, without crashes, cancels, and whatever else came between: each step from the one
// before, by the decisions that it holds. What comes out must be what is on record.
func (m *machine) replay() {
	c := newClock()
	w := &world{TB: m.w.TB, store: memory.New(memory.Options{Now: c.now}), clock: c, shelf: m.w.shelf, o: m.w.o}
	w.o.Now, w.o.Sleep = c.now, c.sleep
	m.script = &script{rounds: map[string][]checkpoint.NodeRun{}}
	for _, thread := range m.threads {
		for i := range m.log.of(thread).steps {
			m.replayStep(w, thread, i)
		}
	}
}

// replayStep makes one step and compares it.
func (m *machine) replayStep(w *world, thread string, i int) {
	steps := m.log.of(thread).steps
	want := &steps[i]
	for _, r := range want.Runs {
		if r.Status == statusCompleted || r.Status == statusFailed {
			key := thread + " " + r.Path
			m.script.rounds[key] = append(m.script.rounds[key], r)
		}
	}
	w.clock.advance(want.TS.Sub(w.clock.now()))
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	e := New(&tap{Store: w.store, on: func(call string, do func() error) error {
		if call == "Commit" {
			defer cancel(errShutdown) // one step only
		}
		return do()
	}}, w.o)
	if err := m.redo(ctx, w, e, thread, i); err != nil {
		m.Fatalf("replaying step %d of %s (%s): %v", i, thread, want.Source, err)
	}
	head, err := w.store.Latest(context.Background(), thread)
	if err != nil {
		m.Fatalf("%v", err)
	}
	info, err := w.store.Thread(context.Background(), thread)
	if err != nil {
		m.Fatalf("%v", err)
	}
	got := entry{*head, info.Summary, head.Channels}
	limited := want.Error != nil && strings.HasPrefix(want.Error.Message, "the step limit")
	if with, without := essence(want, limited), essence(&got, limited); !reflect.DeepEqual(with, without) {
		m.Fatalf("step %d of %s is made otherwise without the accidents (-with +without):\n%s", i, thread, cmp.Diff(with, without))
	}
}

// redo makes the call that makes a step.
func (m *machine) redo(ctx context.Context, w *world, e *Engine, thread string, i int) error {
	a := m.log.of(thread)
	step := &a.steps[i]
	var rows []*checkpoint.Decision
	for _, id := range step.Decisions {
		rows = append(rows, a.rows[id])
	}
	var err error
	switch step.Source {
	case checkpoint.SourceInput:
		start := w.request(m.graph, nil)
		start.Thread = thread
		_, err = e.Start(ctx, start)
	case checkpoint.SourceFork:
		_, err = e.Fork(ctx, step.Origin.Thread, step.Origin.Step, thread, "ben")
	case checkpoint.SourceEdit:
		var updates map[string]json.RawMessage
		if err := json.Unmarshal(rows[0].Data, &updates); err != nil {
			return err
		}
		_, err = e.Edit(ctx, EditRequest{Thread: thread, Frame: rows[0].Path, Updates: updates, By: rows[0].Reviewer})
	case checkpoint.SourceUpgrade:
		d, e2 := m.w.store.Definition(ctx, step.Fingerprint)
		if e2 != nil {
			return e2
		}
		_, err = e.Resume(ctx, ResumeRequest{Thread: thread, Upgrade: d, By: rows[0].Reviewer})
	case checkpoint.SourceAnswer:
		var answers []Answer
		for _, d := range rows {
			answers = append(answers, Answer{Interrupt: d.Address, Action: d.Action, Data: d.Data, Reviewer: d.Reviewer, DecidedAt: d.DecidedAt})
		}
		_, err = e.Resume(ctx, ResumeRequest{Thread: thread, Answers: answers})
	default:
		if marks(&a.steps[i-1], step) {
			_, err = e.sweepThread(ctx, thread, w.clock.now())
		} else {
			_, err = e.Resume(ctx, ResumeRequest{Thread: thread})
		}
	}
	if ctx.Err() != nil {
		return nil // it came to its commit
	}
	return err
}

// marks reports whether a step does nothing but call questions overdue.
func marks(before, step *entry) bool {
	overdue := func(s *entry) (n int) {
		for _, q := range s.questions() {
			if q.Overdue {
				n++
			}
		}
		return n
	}
	return len(step.Runs) == 0 && overdue(step) > overdue(before)
}

// essence is what of a step must be the same however it came to be: all but ids and times, and why it stopped at its step
// limit.
func essence(s *entry, limited bool) map[string]any {
	var runs, asked []string
	for _, r := range s.Runs {
		runs = append(runs, fmt.Sprintf("%s %s %s attempts %d %s", r.Path, r.Status, r.Route, r.Attempts, r.Error))
	}
	for _, q := range s.questions() {
		asked = append(asked, fmt.Sprintf("%s %s %s round %d overdue %t %s", q.Address, q.Key, q.Path, q.Round, q.Overdue, q.Payload))
	}
	channels := map[string]string{}
	for name, raw := range s.state {
		switch kind, _, _ := strings.Cut(name, ":"); kind {
		case "@ask", "@thread", "@epoch", "@run", "@buffer", "@errors", "@answers", "@links", "@before":
			channels[name] = "there" // times and ids are in it
		default:
			channels[name] = string(raw)
		}
	}
	failure := ""
	if s.Error != nil && !limited {
		failure = s.Error.Path + ": " + s.Error.Message
	}
	return map[string]any{
		"source": s.Source, "ended": s.Ended, "next": strings.Join(s.Next, " "), "runs": runs, "asked": asked, "channels": channels,
		"failure": failure, "outputs": string(s.Outputs), "decisions": len(s.Decisions), "questions": s.summary.Questions,
		"answered": s.summary.Answered, "phase": s.summary.Phase, "title": s.summary.Title,
	}
}
