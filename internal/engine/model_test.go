package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/memory"
)

// errKilled is what a store says to a process that is dead.
var errKilled = errors.New("killed")

// mortal is the store as one process sees it: at its n-th write the process dies, before or after the write happened,
// and nothing it does from then on reaches the store.
type mortal struct {
	checkpoint.Store
	mu    sync.Mutex
	n     int // writes left; below 0: immortal
	after bool
	dead  bool
	log   *ledger
}

// ledger keeps what was ever written, beside the store.
type ledger struct {
	mu    sync.Mutex
	steps map[string]checkpoint.Channels // thread/step -> state, by applying the operations
	rows  map[string]bool                // ids of decisions accepted
	gone  map[string]bool                // ids of decisions withdrawn
}

// write runs one write of the process.
func (m *mortal) write(do func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.dead {
		return errKilled
	}
	m.n--
	if m.n != 0 {
		return do()
	}
	m.dead = true
	if m.after {
		_ = do()
	}
	return errKilled
}

func (m *mortal) Commit(ctx context.Context, c checkpoint.Commit) (v checkpoint.Version, err error) {
	err = m.write(func() error {
		if v, err = m.Store.Commit(ctx, c); err != nil {
			return err
		}
		m.log.mu.Lock()
		defer m.log.mu.Unlock()
		parent := m.log.steps[fmt.Sprintf("%s/%d", c.Checkpoint.Thread, c.Parent)]
		state, err := checkpoint.Apply(parent, c.Ops)
		m.log.steps[fmt.Sprintf("%s/%d", c.Checkpoint.Thread, c.Checkpoint.Step)] = state
		return err
	})
	return v, err
}

func (m *mortal) AcquireLease(ctx context.Context, r checkpoint.LeaseRequest) (l *checkpoint.Lease, err error) {
	err = m.write(func() error {
		if l, err = m.Store.AcquireLease(ctx, r); err != nil {
			return err
		}
		m.log.mu.Lock()
		defer m.log.mu.Unlock()
		for _, d := range r.Decisions {
			m.log.rows[d.ID] = true
		}
		return nil
	})
	return l, err
}

func (m *mortal) ReleaseLease(ctx context.Context, r checkpoint.Release) error {
	return m.write(func() error {
		if err := m.Store.ReleaseLease(ctx, r); err != nil {
			return err
		}
		m.log.mu.Lock()
		defer m.log.mu.Unlock()
		for _, d := range r.Decisions {
			m.log.gone[d.Withdraws] = true
		}
		return nil
	})
}

func (m *mortal) AddResult(ctx context.Context, thread, token string, r checkpoint.PendingResult) error {
	return m.write(func() error { return m.Store.AddResult(ctx, thread, token, r) })
}

// machine is the state of one model check.
type machine struct {
	*rapid.T
	w      *world
	log    *ledger
	graph  *Graph
	thread string
	broken bool // programs fail

	mu        sync.Mutex
	cancelAt  int // program calls until the run is cancelled; 0: never
	cancel    context.CancelCauseFunc
	cause     error
	completed map[string]bool // runs that a committed step completed
}

// program appends the path of its run to the trace, unless it is told to fail or to be cancelled. Being called for a
// run that a committed step had completed is what must never happen.
func (m *machine) program(fragile bool) RunnerFunc {
	return func(ctx context.Context, c *Call) (Result, error) {
		m.mu.Lock()
		defer m.mu.Unlock()
		if m.completed[c.Path] {
			m.Errorf("%s was completed and runs again", c.Path)
		}
		if m.cancelAt > 0 {
			if m.cancelAt--; m.cancelAt == 0 {
				m.cancel(m.cause)
			}
		}
		if ctx.Err() != nil {
			return Result{}, ctx.Err()
		}
		if fragile && m.broken {
			return Result{}, errors.New("boom")
		}
		return Result{Output: text(c.Path), Updates: map[string]Value{"trace": text(c.Path)}}, nil
	}
}

// draw makes a random graph: a DAG of programs, questions, nested workflows and maps, with all kinds of joins, failure
// routes, and retries that lead back. The names of its nodes begin with prefix, one letter a level.
func (m *machine) draw(prefix string, depth int) *Graph {
	n := rapid.IntRange(2, 7).Draw(m.T, "nodes")
	if depth < maxDepth {
		n = rapid.IntRange(1, 3).Draw(m.T, "nodes")
	}
	g := &Graph{Name: "random", Start: []string{prefix + "0"}, Channels: map[string]Reducer{"trace": Append}, MaxConcurrency: rapid.SampledFrom([]int{1, 4}).Draw(m.T, "concurrency")}
	name := func(i int) string { return fmt.Sprintf("%s%d", prefix, i) }
	for i := range n {
		node := &Node{Name: name(i), HasThen: true, Join: rapid.SampledFrom([]Join{JoinEach, JoinAll, JoinArrived, JoinStep}).Draw(m.T, "join")}
		if i == 0 {
			node.Join = JoinEach
		}
		kinds := 3
		if depth > 0 {
			kinds = 5
		}
		switch rapid.IntRange(0, kinds).Draw(m.T, "kind") {
		case 4:
			node.Kind, node.Sub = "workflow", &SubGraph{Graph: m.draw(prefix+"s", depth-1)}
		case 5:
			node.Kind, node.Map = "map", m.drawMap(prefix, depth)
			node.Output = m.inOrder
		case 0:
			node.Runner = several("a", "b")
		case 1:
			node.Runner = asks(plainQuestion)
		default:
			node.Kind = "program"
			node.Runner = m.program(rapid.Bool().Draw(m.T, "fragile"))
		}
		if i > 0 && rapid.Bool().Draw(m.T, "retries") {
			node.Routes = map[string][]string{"retry": {name(rapid.IntRange(0, i-1).Draw(m.T, "back"))}}
		}
		g.Nodes = append(g.Nodes, node)
	}
	for i := 1; i < n; i++ { // every node is reached
		from := g.Nodes[rapid.IntRange(0, i-1).Draw(m.T, "from")]
		from.Then = append(from.Then, name(i))
	}
	for range rapid.IntRange(0, 4).Draw(m.T, "more edges") {
		if n < 2 {
			break
		}
		i := rapid.IntRange(0, n-2).Draw(m.T, "edge from")
		j := rapid.IntRange(i+1, n-1).Draw(m.T, "edge to")
		if from := g.Nodes[i]; !slices.Contains(from.Then, name(j)) {
			from.Then = append(from.Then, name(j))
		}
	}
	if n > 2 && rapid.Bool().Draw(m.T, "failure") {
		g.Nodes[0].Failure, g.Nodes[0].HasFailure = []string{name(n - 1)}, true
	}
	return g
}

// maxDepth is how deep frames nest below the root.
const maxDepth = 2

// drawMap makes a map over a few items, over a body or over a workflow of its own; each item gives its index.
func (m *machine) drawMap(prefix string, depth int) *MapSpec {
	var items []any
	for i := range rapid.IntRange(0, 4).Draw(m.T, "items") {
		items = append(items, i)
	}
	spec := &MapSpec{
		Items:       func(Scope) (Value, error) { return known(append([]any{}, items...)), nil },
		Body:        m.draw(prefix+"m", depth-1),
		Result:      func(s Scope) (Value, error) { v, _ := s.Lookup("item"); return v, nil },
		MaxParallel: rapid.IntRange(0, 2).Draw(m.T, "parallel"),
		MaxWaiting:  rapid.IntRange(0, 2).Draw(m.T, "waiting"),
	}
	if rapid.Bool().Draw(m.T, "own workflow") {
		spec.In = func(s Scope) (map[string]Value, error) {
			v, _ := s.Lookup("item")
			return map[string]Value{"given": v}, nil
		}
	}
	return spec
}

// inOrder looks at the results of a map.
func (m *machine) inOrder(_ Scope, output Value) (map[string]Value, error) {
	for i, v := range output.Any().([]any) {
		if v != i {
			m.Errorf("a map gave %s", output.JSON())
		}
	}
	return nil, nil
}

// process is an engine that may die.
func (m *machine) process(mayDie bool) *Engine {
	store := &mortal{Store: m.w.store, n: -1, log: m.log}
	if mayDie && rapid.Bool().Draw(m.T, "dies") {
		store.n, store.after = rapid.IntRange(1, 6).Draw(m.T, "at write"), rapid.Bool().Draw(m.T, "after it")
	}
	return New(store, m.w.o)
}

// act runs one call, which may be cancelled or killed on the way, and checks what is left.
func (m *machine) act(call func(ctx context.Context, e *Engine) (*Outcome, error)) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	m.mu.Lock()
	m.cancel, m.cancelAt, m.cause = cancel, 0, nil
	if rapid.IntRange(0, 3).Draw(m.T, "cancels") == 0 {
		m.cancelAt = rapid.IntRange(1, 4).Draw(m.T, "at call")
		m.cause = rapid.SampledFrom([]error{ErrCancelledByPerson, errors.New("terminated")}).Draw(m.T, "cause")
	}
	m.broken = rapid.Bool().Draw(m.T, "broken")
	m.mu.Unlock()
	out, err := call(ctx, m.process(true))
	if err != nil && !errors.Is(err, errKilled) && !expected(err) {
		m.Fatalf("%v", err)
	}
	m.w.clock.advance(time.Minute) // whatever lease a dead process held has run out
	if out != nil && err == nil && !out.AlreadyApplied && out.Status != checkpoint.Stalled {
		stored, err := m.w.Open(context.Background(), out.Thread)
		if err != nil {
			m.Fatalf("%v", err)
		}
		stored.Steps, stored.WasCancelled, stored.Withdrawn = out.Steps, out.WasCancelled, out.Withdrawn
		if diff := cmp.Diff(out, stored); diff != "" {
			m.Fatalf("what was returned is not what is stored (-returned +stored):\n%s", diff)
		}
	}
	m.check()
	m.checkFrames()
}

// expected are the refusals that a random answer may meet.
func expected(err error) bool {
	for _, x := range []error{ErrNotWaiting, ErrUnknownQuestion, ErrAlreadyAnswered, checkpoint.ErrConflict, checkpoint.ErrNotFound, context.Canceled, ErrCancelledByPerson} {
		if errors.Is(err, x) {
			return true
		}
	}
	return strings.Contains(err.Error(), "terminated")
}

// check holds what must be true after whatever happened.
func (m *machine) check() {
	ctx := context.Background()
	applied, seen := map[string]int{}, map[string]bool{}
	var trace []string
	m.mu.Lock()
	defer m.mu.Unlock()
	info, err := m.w.store.Thread(ctx, m.thread)
	if errors.Is(err, checkpoint.ErrNotFound) {
		return // it died before it was there
	}
	if err != nil {
		m.Fatalf("%v", err)
	}
	step := int64(0)
	for c, err := range m.w.store.History(ctx, m.thread, true) {
		if err != nil {
			m.Fatalf("%v", err)
		}
		if c.Step != step || c.Revision != 1 {
			m.Fatalf("step %d.%d where %d.1 was expected", c.Step, c.Revision, step)
		}
		step++
		if diff := cmp.Diff(m.log.steps[fmt.Sprintf("%s/%d", m.thread, c.Step)], c.Channels); diff != "" {
			m.Fatalf("step %d is not what was written (-written +read):\n%s", c.Step, diff)
		}
		if c.Ended != "" && (len(c.Interrupts) > 0 || len(c.Next) > 0) {
			m.Fatalf("step %d is %s, and yet %d questions are open and %v is next", c.Step, c.Ended, len(c.Interrupts), c.Next)
		}
		for _, id := range c.Decisions {
			applied[id]++
		}
		for _, r := range c.Runs {
			if r.Status != statusCompleted {
				continue
			}
			if seen[r.Path] {
				m.Fatalf("%s was completed twice", r.Path)
			}
			seen[r.Path] = true
			if m.isProgram(r.Node) { // of the root
				trace = append(trace, r.Path)
			}
			m.completed[r.Path] = true
		}
		var got []string
		if raw := c.Channels["trace"]; raw != nil {
			if err := json.Unmarshal(raw, &got); err != nil {
				m.Fatalf("%v", err)
			}
		}
		if diff := cmp.Diff(trace, got); diff != "" {
			m.Fatalf("step %d: the state does not hold each completed run once, in order (-runs +state):\n%s", c.Step, diff)
		}
	}
	unapplied := 0
	for id := range m.log.rows {
		switch {
		case applied[id] > 1:
			m.Fatalf("decision %s was applied %d times", id, applied[id])
		case applied[id] == 1 && m.log.gone[id]:
			m.Fatalf("decision %s was withdrawn and applied", id)
		case applied[id] == 0 && !m.log.gone[id]:
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
}

// checkFrames looks at the frames of the head: they count their runs rightly, and no map has more at work than it may.
func (m *machine) checkFrames() {
	h, err := m.w.read(context.Background(), m.thread)
	if errors.Is(err, checkpoint.ErrNotFound) {
		return
	}
	if err != nil {
		m.Fatalf("%v", err)
	}
	m.checkFrame(h.tree.root)
}

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

func (m *machine) isProgram(name string) bool {
	for _, n := range m.graph.Nodes {
		if n.Name == name {
			return n.Kind == "program"
		}
	}
	return false
}

// TestModel: random graphs under random answers, cancels, crashes, shutdowns and forks. No decision is lost or applied
// twice, no finished node run runs again, no step is overwritten, every step is rebuilt exactly.
func TestModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := newClock()
		w := newWorldOn(t, memory.New(memory.Options{Now: c.now}), c)
		m := &machine{T: rt, w: w, thread: "t", completed: map[string]bool{},
			log: &ledger{steps: map[string]checkpoint.Channels{}, rows: map[string]bool{}, gone: map[string]bool{}}}
		m.graph = m.draw("n", maxDepth)
		start := w.request(m.graph, nil)
		start.Thread = m.thread
		m.act(func(ctx context.Context, e *Engine) (*Outcome, error) { return e.Start(ctx, start) })
		for range rapid.IntRange(1, 12).Draw(rt, "acts") {
			open, err := w.Open(context.Background(), m.thread)
			if errors.Is(err, checkpoint.ErrNotFound) || (err == nil && open.Status.Ended()) {
				return
			}
			if err != nil {
				rt.Fatalf("%v", err)
			}
			m.act(func(ctx context.Context, e *Engine) (*Outcome, error) {
				return e.Resume(ctx, ResumeRequest{Thread: m.thread, Answers: m.answers(open), By: "ana"})
			})
		}
	})
}

// answers draws none, one or several answers to what is open.
func (m *machine) answers(open *Outcome) []Answer {
	var list []Answer
	for _, q := range open.Questions {
		if len(list) > 0 && !rapid.Bool().Draw(m.T, "one more") {
			break
		}
		if rapid.IntRange(0, 4).Draw(m.T, "skip") == 0 {
			continue
		}
		action := rapid.SampledFrom([]actions.Action{"approve", "approve", "approve", "respond", "retry", "skip", "reject", "cancel"}).Draw(m.T, "action")
		list = append(list, to(q.ID, action, "text"))
		if action == "approve" || action == "skip" {
			list[len(list)-1].Data = nil
		}
	}
	return list
}
