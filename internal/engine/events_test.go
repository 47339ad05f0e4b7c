package engine

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// listener writes events down.
type listener struct {
	mu     sync.Mutex
	events []Event
}

func (l *listener) Observe(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
}

// take gives what was heard so far, as lines, and forgets it.
func (l *listener) take(t testing.TB) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lines []string
	for _, e := range l.events {
		checkEvent(t, e)
		lines = append(lines, eventLine(e))
	}
	l.events = nil
	return lines
}

// eventLine is an event in words: its type, its run, and what tells it from others of its kind.
func eventLine(e Event) string {
	words := []string{fmt.Sprint(e.Step), string(e.Type)}
	if e.Path != "" {
		words = append(words, strings.TrimPrefix(e.Path, rootPath+"/"))
	}
	if e.Attempt > 1 {
		words = append(words, fmt.Sprintf("attempt %d", e.Attempt))
	}
	if e.Status != statusRunning {
		words = append(words, e.Status)
	}
	words = append(words, e.Route, e.Source, e.Origin, e.Action, e.Reason, e.By)
	if e.Address != "" {
		words = append(words, "at "+e.Address)
	}
	if e.Round > 1 {
		words = append(words, fmt.Sprintf("round %d", e.Round))
	}
	if e.Retried {
		words = append(words, "retried")
	}
	if e.Inherited {
		words = append(words, "inherited")
	}
	if e.Withdrawn {
		words = append(words, "withdrawn")
	}
	if e.Type == NodeOutput || e.Type == FailedEv {
		words = append(words, "("+e.Text+")")
	}
	return strings.Join(slices.DeleteFunc(words, func(s string) bool { return s == "" }), " ")
}

// checkEvent holds an event to the table: it has the fields its type has, and a run's are those of its path.
func checkEvent(t testing.TB, e Event) {
	t.Helper()
	raw, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(raw, &fields); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(EventTypes(), func(x EventInfo) bool { return x.Type == e.Type })
	if i < 0 {
		t.Fatalf("%s is not in the table", e.Type)
	}
	allowed := slices.Concat(EventTypes()[i].Fields, []string{"seq", "type", "at", "thread_id", "step"})
	if EventTypes()[i].OfRun {
		allowed = append(allowed, "node", "path", "frame", "run")
	}
	for name := range fields {
		if !slices.Contains(allowed, name) {
			t.Errorf("%s has %s, which the table does not say", e.Type, name)
		}
	}
	if want := fmt.Sprintf("%s/%s@%d", e.Frame, e.Node, e.Run); e.Path != "" && e.Path != want {
		t.Errorf("%s: path %s of frame, node and run %s", e.Type, e.Path, want)
	}
	if e.At.IsZero() || e.At.Location() != time.UTC {
		t.Errorf("%s: at %s", e.Type, e.At)
	}
}

// watched is a world whose engine's events are written down.
type watched struct {
	*world
	heard *listener
	e     *Engine
}

func watch(w *world) *watched {
	x := &watched{world: w, heard: &listener{}}
	x.e = w.engine(func(o *Options) { o.Observer = x.heard })
	return x
}

// told compares what was heard since the last look, and that events were numbered without a gap.
func (w *watched) told(want ...string) {
	w.Helper()
	if err := w.e.Heard(); err != nil {
		w.Fatal(err)
	}
	for i := 1; i < len(w.heard.events); i++ {
		if w.heard.events[i].Seq != w.heard.events[i-1].Seq+1 {
			w.Errorf("event %d follows %d", w.heard.events[i].Seq, w.heard.events[i-1].Seq)
		}
	}
	if diff := cmp.Diff(want, w.heard.take(w)); diff != "" {
		w.Error(diff)
	}
}

// forget waits for what happened so far, and is not told of it.
func (w *watched) forget() {
	w.Helper()
	if err := w.e.Heard(); err != nil {
		w.Fatal(err)
	}
	w.heard.take(w)
}

func (w *watched) begin(g *Graph, input map[string]any) *Outcome {
	w.Helper()
	out, err := w.e.Start(context.Background(), w.request(g, input))
	if err != nil {
		w.Fatal(err)
	}
	return out
}

func (w *watched) resume(thread string, answers ...Answer) *Outcome {
	w.Helper()
	out, err := w.e.Resume(context.Background(), ResumeRequest{Thread: thread, Answers: answers, By: "ana"})
	if err != nil {
		w.Fatal(err)
	}
	return out
}

// talks emits one chunk.
func talks(_ context.Context, c *Call) (Result, error) {
	c.Emit([]byte("half way"))
	return Result{}, nil
}

func TestEventsOfALineAndOfAJoin(t *testing.T) {
	eachStore(t, func(t *testing.T, plain *world) {
		w := watch(plain)
		w.begin(graph(node("a", talks, "b"), node("b", passes)), nil)
		w.told("0 thread_started input", "0 step_committed input",
			"1 step_started", "1 node_started a@1", "1 node_output a@1 (half way)", "1 node_finished a@1 COMPLETED", "1 step_committed step",
			"2 step_started", "2 node_started b@1", "2 node_finished b@1 COMPLETED", "2 step_committed step", "2 thread_rested done")

		join := node("join", passes)
		join.Join = JoinAll
		g := graph(node("fan", passes, "a", "b"), node("a", passes, "join"), node("b", passes, "join"), join)
		g.MaxConcurrency = 1
		w.begin(g, nil)
		w.told("0 thread_started input", "0 step_committed input",
			"1 step_started", "1 node_started fan@1", "1 node_finished fan@1 COMPLETED", "1 step_committed step",
			"2 step_started", "2 node_started a@1", "2 node_started b@1", "2 node_finished a@1 COMPLETED", "2 node_finished b@1 COMPLETED", "2 step_committed step",
			"3 step_started", "3 node_started join@1", "3 node_finished join@1 COMPLETED", "3 step_committed step", "3 thread_rested done")
	})
}

func TestEventsWithoutAStoreHaveNoCommits(t *testing.T) {
	heard := &listener{}
	e := New(nil, Options{Observer: heard})
	if _, err := e.Start(t.Context(), StartRequest{Graph: graph(node("a", passes, "b"), node("b", passes))}); err != nil {
		t.Fatal(err)
	}
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := []string{"0 thread_started input", "1 step_started", "1 node_started a@1", "1 node_finished a@1 COMPLETED",
		"2 step_started", "2 node_started b@1", "2 node_finished b@1 COMPLETED", "2 thread_rested done"}
	if diff := cmp.Diff(want, heard.take(t)); diff != "" {
		t.Error(diff)
	}
}

func TestEventsOfAnswers(t *testing.T) {
	eachStore(t, func(t *testing.T, plain *world) {
		w := watch(plain)
		asked := w.begin(graph(node("ask", asks(plainQuestion), "work"), node("work", passes)), nil)
		asking := []string{"0 thread_started input", "0 step_committed input", "1 step_started", "1 node_started ask@1", "1 interrupted ask@1 at ask",
			"1 node_finished ask@1 WAITING", "1 step_committed step", "1 thread_rested interrupted"}
		w.told(asking...)
		if err := w.e.Check(t.Context(), ResumeRequest{Thread: asked.Thread, Answers: []Answer{say("approve")}, By: "ana"}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.e.Resume(t.Context(), ResumeRequest{Thread: asked.Thread, Answers: []Answer{to("nobody", "approve")}}); !errors.Is(err, ErrUnknownQuestion) {
			t.Error(err)
		}
		w.told()
		w.resume(asked.Thread, say("approve"))
		w.told("2 answered ask@1 approve ana at ask", "2 node_finished ask@1 COMPLETED approve",
			"2 step_started", "2 node_started work@1", "2 node_finished work@1 COMPLETED", "2 step_committed answer", "2 thread_rested done")

		again := w.begin(graph(node("ask", asks(plainQuestion))), nil)
		w.told(asking...)
		w.resume(again.Thread, say("retry", "warmer"))
		w.told("2 answered ask@1 retry ana at ask", "2 cancelled ask@1 superseded", "2 step_started", "2 node_started ask@2",
			"2 interrupted ask@2 at ask round 2", "2 node_finished ask@2 WAITING", "2 step_committed answer", "2 thread_rested interrupted")
		w.resume(again.Thread, say("reject"))
		w.told("3 answered ask@2 reject ana at ask", "3 cancelled ask@2 answer", "3 step_committed answer", "3 thread_rested rejected")
	})
}

func TestEventsOfPartialAnswersAndWithdrawnQuestions(t *testing.T) {
	both := func(context.Context, *Call) (Result, error) {
		return Result{Interrupts: []Ask{{Key: "x", Payload: js(plainQuestion)}, {Key: "y", Payload: js(plainQuestion)}}}, nil
	}
	eachStore(t, func(t *testing.T, plain *world) {
		w := watch(plain)
		asked := w.begin(graph(node("ask", both)), nil)
		w.forget()
		w.resume(asked.Thread, to("x", "approve"))
		w.told("2 answered ask@1 approve ana at ask.x", "2 step_committed answer", "2 thread_rested interrupted")
		w.resume(asked.Thread, to("y", "approve"))
		w.told("3 answered ask@1 approve ana at ask.y", "3 node_finished ask@1 COMPLETED approve", "3 step_committed answer", "3 thread_rested done")

		rerun := node("ask", func(ctx context.Context, c *Call) (Result, error) {
			if len(c.Resume) > 0 {
				return Result{Closed: []string{"y"}, Interrupts: []Ask{{Key: "z", Payload: js(plainQuestion)}}}, nil
			}
			return both(ctx, c)
		})
		rerun.RerunOnResume = true
		asked = w.begin(graph(rerun), nil)
		w.forget()
		w.resume(asked.Thread, to("x", "approve"))
		w.told("2 answered ask@1 approve ana at ask.x", "2 step_started", "2 node_started ask@1", "2 cancelled ask@1 withdrawn at ask.y",
			"2 interrupted ask@1 at ask.z", "2 node_finished ask@1 WAITING", "2 step_committed answer", "2 thread_rested interrupted")
	})
}

func TestEventsOfFrames(t *testing.T) {
	eachStore(t, func(t *testing.T, plain *world) {
		w := watch(plain)
		asked := w.begin(graph(inside("sub", graph(node("ask", asks(plainQuestion))), nil)), nil)
		w.told("0 thread_started input", "0 step_committed input", "1 step_started", "1 node_started sub@1", "1 step_committed step",
			"2 step_started", "2 node_started sub@1/ask@1", "2 interrupted sub@1/ask@1 at sub/ask", "2 node_finished sub@1/ask@1 WAITING",
			"2 step_committed step", "2 thread_rested interrupted")
		w.resume(asked.Thread, say("approve"))
		w.told("3 answered sub@1/ask@1 approve ana at sub/ask", "3 node_finished sub@1/ask@1 COMPLETED approve", "3 node_finished sub@1 COMPLETED",
			"3 step_committed answer", "3 thread_rested done")

		asked = w.begin(graph(inside("sub", graph(node("fan", passes, "a", "b"), node("a", asks(plainQuestion)), node("b", asks(plainQuestion))), nil)), nil)
		w.forget()
		w.resume(asked.Thread, to("sub/b", "reject"))
		w.told("4 answered sub@1/b@1 reject ana at sub/b", "4 cancelled sub@1/b@1 answer", "4 cancelled sub@1/a@1 ended", "4 cancelled sub@1 answer",
			"4 step_committed answer", "4 thread_rested rejected")

		n := each("each", "list", graph(node("n", talks)))
		n.Map.MaxParallel = 1
		w.begin(graph(n), map[string]any{"list": []int{7, 8}})
		w.told("0 thread_started input", "0 step_committed input", "1 step_started", "1 node_started each@1", "1 step_committed step",
			"2 step_started", "2 node_started each@1/[0]/n@1", "2 node_output each@1/[0]/n@1 (half way)", "2 node_finished each@1/[0]/n@1 COMPLETED", "2 step_committed step",
			"3 step_started", "3 node_started each@1/[1]/n@1", "3 node_output each@1/[1]/n@1 (half way)", "3 node_finished each@1/[1]/n@1 COMPLETED",
			"3 node_finished each@1 COMPLETED", "3 step_committed step", "3 thread_rested done")
	})
}

func TestEventsOfFailures(t *testing.T) {
	eachStore(t, func(t *testing.T, plain *world) {
		w := watch(plain)
		left := 1
		lucky := node("n", stops(&left, passes))
		lucky.Retry = RetryPolicy{MaxAttempts: 2, InitialDelay: time.Second}
		w.begin(graph(lucky), nil)
		w.told("0 thread_started input", "0 step_committed input", "1 step_started", "1 node_started n@1", "1 failed n@1 retried (no luck)",
			"1 node_started n@1 attempt 2", "1 node_finished n@1 attempt 2 COMPLETED", "1 step_committed step", "1 thread_rested done")

		left = 3
		out := w.begin(graph(lucky), nil)
		w.told("0 thread_started input", "0 step_committed input", "1 step_started", "1 node_started n@1", "1 failed n@1 retried (no luck)",
			"1 node_started n@1 attempt 2", "1 failed n@1 attempt 2 (no luck)", "1 node_finished n@1 attempt 2 FAILED", "1 step_committed step", "1 thread_rested failed")
		w.resume(out.Thread)
		w.told("2 step_started", "2 node_started n@1", "2 failed n@1 retried (no luck)",
			"2 node_started n@1 attempt 2", "2 node_finished n@1 attempt 2 COMPLETED", "2 step_committed step", "2 thread_rested done")

		join := node("join", passes)
		join.Join = JoinAll
		a, b := node("a", passes, "join"), node("b", passes)
		b.When = []Branch{{If: func(Scope, Value) (bool, error) { return false, nil }, Then: []string{"join"}}}
		g := graph(node("fan", passes, "a", "b"), a, b, join)
		g.MaxConcurrency = 1
		w.begin(g, nil)
		w.e.Heard()
		w.heard.events = slices.DeleteFunc(w.heard.events, func(e Event) bool { return e.Step < 2 })
		w.told("2 step_started", "2 node_started a@1", "2 node_started b@1", "2 node_finished a@1 COMPLETED", "2 node_finished b@1 COMPLETED",
			"2 failed join@1 (waits for all its predecessors: a came, b never did; where not all need come, it says join: arrived)", "2 node_finished join@1 FAILED", "2 step_committed step", "2 thread_rested failed")
	})
}

func TestEventsOfTimersAndSweep(t *testing.T) {
	eachStore(t, func(t *testing.T, plain *world) {
		w := watch(plain)
		timer := node("wait", func(_ context.Context, c *Call) (Result, error) {
			return Result{WakeAt: c.Now().Add(time.Hour)}, nil
		})
		w.begin(graph(timer), nil)
		w.told("0 thread_started input", "0 step_committed input", "1 step_started", "1 node_started wait@1", "1 node_finished wait@1 WAITING at wait",
			"1 step_committed step", "1 thread_rested sleeping")
		w.clock.advance(2 * time.Hour)
		w.sweep()
		w.told("2 answered wait@1 continue deadline at wait", "2 node_finished wait@1 COMPLETED", "2 step_committed answer", "2 thread_rested done")

		w.begin(graph(node("ask", timed(time.Hour, actions.Approve, nil))), nil)
		w.forget()
		w.clock.advance(2 * time.Hour)
		w.sweep()
		w.told("2 answered ask@1 approve deadline at ask", "2 node_finished ask@1 COMPLETED approve", "2 step_committed answer", "2 thread_rested done")

		w.begin(graph(node("ask", timed(time.Hour, "", nil))), nil)
		w.forget()
		w.clock.advance(2 * time.Hour)
		w.sweep()
		w.told("2 step_committed step", "2 thread_rested interrupted")
		w.sweep()
		w.told()
	})
}

func (w *watched) sweep() {
	w.Helper()
	if _, err := w.e.Sweep(context.Background(), false, nil); err != nil {
		w.Fatal(err)
	}
}

func TestEventsOfForkEditAndUpgrade(t *testing.T) {
	eachStore(t, func(t *testing.T, plain *world) {
		w := watch(plain)
		g := graph(node("ask", asks(plainQuestion)))
		asked := w.begin(g, nil)
		w.forget()
		fork, err := w.e.Fork(t.Context(), asked.Thread, 1, "copy", "ana")
		if err != nil {
			t.Fatal(err)
		}
		w.told("0 thread_started fork "+asked.Thread+"@1", "0 interrupted ask@1 at ask", "0 step_committed fork", "0 thread_rested interrupted")
		if _, err := w.e.Edit(t.Context(), EditRequest{Thread: fork.Thread, Updates: map[string]json.RawMessage{"x": js(1)}, By: "ana"}); err != nil {
			t.Fatal(err)
		}
		w.told("1 step_committed edit ana", "1 thread_rested interrupted")
		d := w.shelf.put(graph(node("ask", asks(plainQuestion))))
		if _, err := w.e.Resume(t.Context(), ResumeRequest{Thread: fork.Thread, Upgrade: &d}); err != nil {
			t.Fatal(err)
		}
		w.told("2 step_committed upgrade", "2 thread_rested interrupted")
	})
}

// refusing is a store that refuses commits once it is told to.
type refusing struct {
	checkpoint.Store
	now bool
}

func (s *refusing) Commit(ctx context.Context, c checkpoint.Commit) (checkpoint.Version, error) {
	if s.now {
		return checkpoint.Version{}, errors.New("disk full")
	}
	return s.Store.Commit(ctx, c)
}

func TestACallThatFailsIsToldAsFailed(t *testing.T) {
	plain := newWorld(t)
	store := &refusing{Store: plain.store}
	plain.store = store
	w := watch(plain)
	asked := w.begin(graph(node("ask", asks(plainQuestion), "work"), node("work", passes)), nil)
	w.forget()
	store.now = true
	if _, err := w.e.Resume(t.Context(), ResumeRequest{Thread: asked.Thread, Answers: []Answer{say("approve")}, By: "ana"}); err == nil {
		t.Fatal("no error")
	}
	w.told("2 answered ask@1 approve ana at ask", "2 node_finished ask@1 COMPLETED approve", "2 step_started", "2 node_started work@1", "2 node_finished work@1 COMPLETED",
		"1 failed (committing step 2 of thread "+asked.Thread+": disk full)")
}

func TestEventsAsJSON(t *testing.T) {
	due := time.Date(2026, 1, 2, 4, 4, 5, 0, time.UTC)
	e := Event{
		Seq: 7, Type: InterruptedEv, At: due.Add(-time.Hour), Thread: "t-1", Step: 3, Node: "decide", Path: "main@1/each@1/[3]/decide@1",
		Frame: "main@1/each@1/[3]", Run: 1, Interrupt: "i-1", Address: "each/3/decide", Round: 2, Due: &due, Text: "Pay?",
	}
	checkEvent(t, e)
	want := `{"seq":7,"type":"interrupted","at":"2026-01-02T03:04:05Z","thread_id":"t-1","step":3,"node":"decide","path":"main@1/each@1/[3]/decide@1",` +
		`"frame":"main@1/each@1/[3]","run":1,"interrupt_id":"i-1","address":"each/3/decide","round":2,"due":"2026-01-02T04:04:05Z","text":"Pay?"}`
	if got := string(js(e)); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

var update = flag.Bool("update", false, "rewrite what is generated from the code")

// TestFreshEventDocs: docs/events.md says what the table says.
func TestFreshEventDocs(t *testing.T) {
	var b strings.Builder
	b.WriteString(eventDocsHead)
	for _, x := range EventTypes() {
		fields := slices.Clone(x.Fields)
		if x.OfRun {
			fields = append([]string{"node, path, frame, run"}, fields...)
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", x.Type, x.When, strings.Join(fields, ", "))
	}
	path := filepath.Join("..", "..", "docs", "events.md")
	if *update {
		if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b.String(), string(got)); diff != "" {
		t.Errorf("run make generate: %s", diff)
	}
}

const eventDocsHead = `# Events

<!-- Generated from internal/engine/events.go by make generate. -->

What the engine tells its observer while it runs threads, and the JSON of it: one object an event, only with the fields that are set. Every
event has ` + "`seq`, `type`, `at`, `thread_id` and `step`" + `; ` + "`lost`" + ` is of no one thread. ` + "`seq`" + ` counts the events of the process, without a gap but for what
` + "`lost`" + ` stands for. Times are RFC 3339 in UTC, durations end in ` + "`_ms`" + `. Within a major version types and fields are only added.

What happens within a step carries that step's number and is provisional until ` + "`step_committed`" + `: after a crash or a failed commit the step is
run again. The events of one call end with ` + "`thread_rested`" + `, or with a ` + "`failed`" + ` that has no path. A question is open from its ` + "`interrupted`" + ` until it
is answered, withdrawn (` + "`cancelled`" + ` with its id), or its run completes, fails or is cancelled. Reasons of ` + "`cancelled`" + `: answer, superseded, ended,
withdrawn, person, shutdown, store.

No step waits for an observer. Events are delivered in their order, one at a time; calls return without waiting for that, and what prints a
result after the events of its run waits for them first, unless the observer does not come back for five seconds. At most 4 MiB of events wait.

| type | comes when | has |
|---|---|---|
`
