package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/memory"
)

// machine is the state of one model check.
type machine struct {
	*rapid.T
	w       *world
	log     *ledger
	graph   *Graph
	threads []string // the first, and forks of it
	pruned  map[string]int64
	story   []string // the graph and what was done, for a person to read
	asked   asked
	broken  bool    // fragile programs fail
	script  *script // of a replay; nil: none

	mu        sync.Mutex
	cancelAt  int // program calls until the run is cancelled; 0: never
	cancel    context.CancelCauseFunc
	cause     error
	completed map[string]bool // thread and path of runs that a committed step completed
}

// TestModel: random graphs under random answers, edits, upgrades, forks, prunes, sweeps, cancels, shutdowns and crashes.
// No decision is lost or applied twice, no finished run runs again, no step is overwritten, every step is rebuilt byte for
// byte, results list every open question, forks leave the old thread alone; and in the end a replay of what was decided,
// without any of the accidents, makes the same steps. -rapid.checks=N tries more.
func TestModel(t *testing.T) {
	rounds(t, 4, func(t *testing.T, rt *rapid.T) {
		m := newMachine(t, rt)
		d := &sketch{T: rt, m: m}
		m.graph = d.graph("n", maxDepth)
		m.story = d.lines
		start := m.w.request(m.graph, nil)
		start.Thread = "t"
		m.threads = []string{"t"}
		m.act("start", "t", func(ctx context.Context, e *Engine) (*Outcome, error) { return e.Start(ctx, start) })
		for range rapid.IntRange(1, 14).Draw(rt, "acts") {
			m.step()
		}
		m.replay()
	})
}

// rounds checks a property so many times as often as rapid does: 100 times, or as the flag says.
func rounds(t *testing.T, n int, property func(t *testing.T, rt *rapid.T)) {
	for i := range n {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) { property(t, rt) })
		})
	}
}

func newMachine(t *testing.T, rt *rapid.T) *machine {
	c := newClock()
	return &machine{
		T: rt, w: newWorldOn(t, memory.New(memory.Options{Now: c.now}), c),
		pruned: map[string]int64{}, asked: asked{}, completed: map[string]bool{}, log: &ledger{threads: map[string]*account{}},
	}
}

// tell adds to the story.
func (m *machine) tell(format string, args ...any) {
	m.story = append(m.story, fmt.Sprintf(format, args...))
}

// Fatalf ends the check with the story of what led to it.
func (m *machine) Fatalf(format string, args ...any) {
	m.Helper()
	m.T.Fatalf("%s\n\n%s", fmt.Sprintf(format, args...), strings.Join(m.story, "\n"))
}

// wrong notes what a program saw; it must not end the check from its goroutine.
func (m *machine) wrong(format string, args ...any) {
	m.tell("WRONG: "+format, args...)
	m.Errorf("%s", strings.Join(m.story, "\n"))
}

// called is what every program does first.
func (m *machine) called(ctx context.Context, c *Call, fragile bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.script != nil {
		return m.script.next(c)
	}
	if m.completed[c.Thread+" "+c.Path] {
		m.wrong("%s of %s was completed and runs again", c.Path, c.Thread)
	}
	if n := m.log.attempted(c.Thread, c.Path); c.Attempt <= n {
		m.wrong("attempt %d of %s of %s, of which %d are on record (%d: it finished)", c.Attempt, c.Path, c.Thread, n, finished)
	}
	if m.cancelAt > 0 {
		if m.cancelAt--; m.cancelAt == 0 {
			m.cancel(m.cause)
		}
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if fragile && m.broken {
		return errBoom
	}
	return nil
}

var errBoom = errors.New("boom")

// process is an engine that may die.
func (m *machine) process() *Engine {
	store := &mortal{Store: m.w.store, n: -1, log: m.log}
	if rapid.IntRange(0, 2).Draw(m.T, "dies") == 0 {
		store.n, store.after = rapid.IntRange(1, 6).Draw(m.T, "at write"), rapid.Bool().Draw(m.T, "after it")
	}
	o := m.w.o
	o.LeaseTTL = modelLease
	var e *Engine
	o.CrashPoint = func(point string) {
		if point == "before_commit" {
			m.noteAsked(e)
		}
	}
	e = New(store, o)
	return e
}

// modelLease is longer than all pauses between attempts of one call take together: the model's clock jumps over them, and no
// heartbeat can come between.
const modelLease = 5 * time.Minute

// act runs one call, which may be cancelled or killed on the way, and checks what is left.
func (m *machine) act(what, thread string, call func(ctx context.Context, e *Engine) (*Outcome, error)) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	m.mu.Lock()
	m.cancel, m.cancelAt, m.cause = cancel, 0, nil
	if rapid.IntRange(0, 3).Draw(m.T, "cancels") == 0 {
		m.cancelAt = rapid.IntRange(1, 4).Draw(m.T, "at call")
		m.cause = rapid.SampledFrom([]error{ErrCancelledByPerson, errShutdown}).Draw(m.T, "cause")
	}
	m.broken = rapid.Bool().Draw(m.T, "broken")
	m.mu.Unlock()
	before, kept := m.whole(), m.unapplied(thread)
	out, err := call(ctx, m.process())
	switch {
	case err != nil:
		m.tell("%s: %v", what, err)
	case out != nil:
		m.tell("%s: %s at %d, open %v", what, out.Status, out.Version.Step, addressesOf(out))
	}
	if err != nil && !errors.Is(err, errKilled) && !expected(err) {
		m.Fatalf("%v", err)
	}
	if err != nil && refused(err) && ctx.Err() == nil && !kept { // what a dead process accepted is carried on first
		if now := m.whole(); !reflect.DeepEqual(before[thread], now[thread]) {
			m.Fatalf("refused with %v, and yet something was written:\n%s", err, cmp.Diff(before[thread], now[thread]))
		}
	}
	if rapid.IntRange(0, 4).Draw(m.T, "at once") > 0 {
		m.w.clock.advance(modelLease + time.Second) // whatever lease a dead process held has run out
	}
	m.matches(out, err)
	m.untouched(before, thread)
	for _, id := range m.threads {
		m.check(id)
		m.checkFrames(id)
	}
}

// unapplied reports whether a dead process left accepted answers.
func (m *machine) unapplied(thread string) bool {
	info, err := m.w.store.Thread(context.Background(), thread)
	return err == nil && info.Lease != nil && info.Lease.Answers > 0
}

// matches holds what a call returned against what is stored.
func (m *machine) matches(out *Outcome, err error) {
	if out == nil || err != nil || out.AlreadyApplied || out.Status == checkpoint.Stalled {
		return
	}
	stored, err := m.w.Open(context.Background(), out.Thread)
	if err != nil {
		m.Fatalf("%v", err)
	}
	stored.Steps, stored.WasCancelled, stored.Withdrawn = out.Steps, out.WasCancelled, out.Withdrawn
	if !reflect.DeepEqual(out, stored) { // which cmp, being kinder, then explains
		if diff := cmp.Diff(out, stored); diff != "" {
			m.Fatalf("what was returned is not what is stored (-returned +stored):\n%s", diff)
		}
	}
}

// whole is all that the store holds of each thread.
func (m *machine) whole() map[string][]*checkpoint.Checkpoint {
	all := map[string][]*checkpoint.Checkpoint{}
	for _, thread := range m.threads {
		for c, err := range m.w.store.History(context.Background(), thread, true) {
			if errors.Is(err, checkpoint.ErrNotFound) {
				break
			}
			if err != nil {
				m.Fatalf("%v", err)
			}
			all[thread] = append(all[thread], c)
		}
	}
	return all
}

// everyThread is what a sweep is about.
const everyThread = "*"

// untouched demands that a call changed no other thread than its own, and no step that was there.
func (m *machine) untouched(before map[string][]*checkpoint.Checkpoint, but string) {
	for thread, now := range m.whole() {
		was := before[thread]
		if thread == but || but == everyThread {
			now = now[:min(len(was), len(now))]
		}
		if len(was) > 0 && !reflect.DeepEqual(was, now) {
			m.Fatalf("the steps of %s have changed:\n%s", thread, cmp.Diff(was, now))
		}
	}
}

// check holds what must be true of a thread after whatever happened.
func (m *machine) check(thread string) {
	ctx := context.Background()
	m.mu.Lock()
	defer m.mu.Unlock()
	info, err := m.w.store.Thread(ctx, thread)
	if errors.Is(err, checkpoint.ErrNotFound) {
		return // it died before it was there
	}
	if err != nil {
		m.Fatalf("%v", err)
	}
	account := m.log.of(thread)
	applied := map[string]int{}
	for _, s := range account.steps {
		for _, id := range s.Decisions {
			applied[id]++
		}
	}
	m.forgetAsked(thread, info.Step)
	step := m.pruned[thread]
	for c, err := range m.w.store.History(ctx, thread, true) {
		if err != nil {
			m.Fatalf("%v", err)
		}
		m.checkStep(account, c, step)
		step++
	}
	if step != int64(len(account.steps)) {
		m.Fatalf("%d steps are left of %d", step, len(account.steps))
	}
	m.checkRuns(thread, account)
	m.checkDecisions(account, applied, info)
}

// checkStep holds a step as it is read against what was written.
func (m *machine) checkStep(a *account, c *checkpoint.Checkpoint, step int64) {
	if c.Step != step || c.Revision != 1 {
		m.Fatalf("step %d.%d where %d.1 was expected", c.Step, c.Revision, step)
	}
	if !reflect.DeepEqual(a.steps[step].state, c.Channels) {
		m.Fatalf("step %d is not what was written (-written +read):\n%s", c.Step, cmp.Diff(a.steps[step].state, c.Channels))
	}
	if c.Ended != "" && !c.Done() {
		m.Fatalf("step %d is %s, and yet %d questions are open and %v is next", c.Step, c.Ended, c.Asks(), c.Next)
	}
	m.checkQuestions(a, c)
}

// checkRuns demands that each run is completed once, and that the state holds each in order.
func (m *machine) checkRuns(thread string, a *account) {
	seen := map[string]bool{}
	var trace []string
	for i, s := range a.steps {
		var got []string
		if raw := s.state["trace"]; raw != nil {
			if err := json.Unmarshal(raw, &got); err != nil {
				m.Fatalf("%v", err)
			}
		}
		if i == 0 {
			trace = slices.Clone(got) // of a fork: what the other thread had
			continue
		}
		for _, r := range s.Runs {
			if r.Status != statusCompleted {
				continue
			}
			if seen[r.Path] {
				m.Fatalf("%s was completed twice", r.Path)
			}
			seen[r.Path] = true
			m.completed[thread+" "+r.Path] = true
			if m.isProgram(r.Node) {
				trace = append(trace, r.Path)
			}
		}
		if !slices.Equal(trace, got) {
			m.Fatalf("step %d: the state does not hold each completed run once, in order (-runs +state):\n%s", s.Step, cmp.Diff(trace, got))
		}
	}
}

// isProgram reports whether a node of the root is a program.
func (m *machine) isProgram(name string) bool {
	return slices.ContainsFunc(m.graph.Nodes, func(n *Node) bool { return n.Name == name && n.Kind == "program" })
}

// checkDecisions demands that each was applied once, or withdrawn, or is kept by the lease.
func (m *machine) checkDecisions(a *account, applied map[string]int, info *checkpoint.ThreadInfo) {
	unapplied := 0
	for id, d := range a.rows {
		switch {
		case applied[id] > 1:
			m.Fatalf("%s of %s was applied %d times", d.Action, d.Address, applied[id])
		case applied[id] == 1 && a.gone[id]:
			m.Fatalf("%s of %s was withdrawn and applied", d.Action, d.Address)
		case applied[id] == 0 && !a.gone[id]:
			unapplied++
		}
	}
	kept := 0
	if info.Lease != nil {
		kept = info.Lease.Answers
	}
	if unapplied != kept {
		m.Fatalf("%d decisions are neither applied nor withdrawn, and the lease keeps %d", unapplied, kept)
	}
	end := checkpoint.Chain{Count: info.Decisions, Last: info.DecisionHash}
	if err := checkpoint.VerifyChain(info.Thread, m.w.store.Decisions(context.Background(), info.Thread), end); err != nil {
		m.Fatalf("%v", err)
	}
}

// checkFrames looks at the frames of the head: they count their runs rightly, every question belongs to a run that waits,
// and no map has more at work than it may.
func (m *machine) checkFrames(thread string) {
	h, err := m.w.read(context.Background(), thread)
	if errors.Is(err, checkpoint.ErrNotFound) {
		return
	}
	if err != nil {
		m.Fatalf("%v", err)
	}
	asked := 0
	for r := range h.tree.runs {
		asked += len(r.asks)
		if r.status == waiting && len(r.asks) == 0 && r.wake.IsZero() {
			m.Fatalf("%s waits for nothing", r.path)
		}
	}
	if asked != h.checkpoint.Asks() || info(h).Questions != asked {
		m.Fatalf("%d questions are asked, %d stored and %d listed", asked, h.checkpoint.Asks(), info(h).Questions)
	}
	m.checkFrame(h.tree.root)
}

func info(h *head) *checkpoint.ThreadInfo { return h.info }

func (m *machine) checkFrame(f *frame) {
	counts := map[runStatus]int{}
	f.walk(func(r *run) bool {
		counts[r.status]++
		if r.frame != f || r.nest == nil {
			return true
		}
		running, waits := 0, 0
		for _, k := range r.nest.frames {
			m.checkFrame(k)
			if k.ready > 0 {
				running++
			} else {
				waits++
			}
		}
		if !r.nest.isMap() {
			return true
		}
		// Items that run may all come to wait, and answers may have all run again.
		if parallel, most := r.nest.limits(); running+waits >= most+parallel {
			m.Fatalf("%s: %d run and %d wait, where %d and %d may", r.path, running, waits, parallel, most)
		}
		return true
	})
	if f.ready != counts[ready] || f.failed != counts[failed] {
		m.Fatalf("%s counts %d ready and %d failed runs; there are %v", f.path, f.ready, f.failed, counts)
	}
}
