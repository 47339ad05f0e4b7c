package checkpointtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// modelCases run random sequences against a plain map and compare everything after each.
var modelCases = []testCase{
	{"puts, commits, prunes and rebuilds", func(f *fixture) {
		threads := 0
		rapid.Check(f.T, func(r *rapid.T) {
			threads++
			m := &model{t: r, f: f, thread: fmt.Sprintf("model-%d", threads), steps: make(map[int64]modelStep), head: -1}
			r.Repeat(map[string]func(*rapid.T){
				"commit": m.commit, "put": m.put, "prune": m.prune, "stale": m.stale, "": m.check,
			})
		})
	}},
}

// model is one thread as it should be.
type model struct {
	t      *rapid.T
	f      *fixture
	thread string
	steps  map[int64]modelStep
	head   int64
	lease  string
	n      int
}

type modelStep struct {
	revision int64
	state    checkpoint.Channels
}

func (m *model) fail(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

var jsonGen = rapid.SampledFrom([]string{`1`, `"x"`, `null`, `[]`, `[ 1 ,2 ]`, `{}`, `{ "a" : [1,{"b":"}\""}] }`, `{"a":1,"\u0061":2}`, `"\\"`, ` true `})

var opGen = rapid.Custom(func(t *rapid.T) checkpoint.Op {
	op := checkpoint.Op{Channel: rapid.SampledFrom([]string{"a", "b", "@frames"}).Draw(t, "channel")}
	switch rapid.IntRange(0, 3).Draw(t, "kind") {
	case 0:
		op.Kind, op.Value = checkpoint.OpSet, raw(jsonGen.Draw(t, "value"))
	case 1:
		op.Kind, op.Value = checkpoint.OpAppend, raw(rapid.SampledFrom([]string{`[]`, `[1]`, `[ "a" , [2] ]`, ` [{"k":"]"}]`}).Draw(t, "items"))
	case 2:
		op.Kind, op.Value = checkpoint.OpMerge, raw(rapid.SampledFrom([]string{`{}`, `{"a":1}`, `{ "b" : "x,y" , "a":{ "c": 2 } }`, `{"\u0062":0}`}).Draw(t, "keys"))
	default:
		op.Kind = checkpoint.OpDelete
	}
	return op
})

// commit adds a step after the head, perhaps with a gap.
func (m *model) commit(t *rapid.T) {
	m.n++
	c := checkpoint.Commit{ID: fmt.Sprintf("%s.%d", m.thread, m.n), Parent: m.head, Ops: rapid.SliceOfN(opGen, 0, 4).Draw(t, "ops"),
		Checkpoint: checkpoint.Checkpoint{Thread: m.thread, Step: m.head + rapid.Int64Range(1, 3).Draw(t, "gap"), TS: m.f.clock.Now()},
		Summary:    checkpoint.Summary{Phase: checkpoint.Stalled}, Release: true}
	if m.head < 0 {
		c.NewThread = &checkpoint.NewThread{}
	} else {
		c.Lease = fmt.Sprint("token", m.n)
		_, err := m.f.store.AcquireLease(m.f.ctx, checkpoint.LeaseRequest{Thread: m.thread, Token: c.Lease, TTL: time.Hour, Head: checkpoint.Version{Step: m.head}})
		m.fail(err)
	}
	_, err := m.f.store.Commit(m.f.ctx, c)
	m.fail(err)
	state, err := checkpoint.Apply(m.steps[m.head].state, c.Ops)
	m.fail(err)
	m.head = c.Checkpoint.Step
	m.steps[m.head] = modelStep{revision: 1, state: state}
}

// put writes any step.
func (m *model) put(t *rapid.T) {
	step := rapid.Int64Range(0, m.head+3).Draw(t, "step")
	state := checkpoint.Channels{"a": raw(jsonGen.Draw(t, "value"))}
	revision, err := m.f.store.Put(m.f.ctx, checkpoint.Checkpoint{Thread: m.thread, Step: step, TS: m.f.clock.Now(), Channels: state}, ptr(m.steps[step].revision))
	m.fail(err)
	m.steps[step] = modelStep{revision: m.steps[step].revision + 1, state: state}
	m.head = max(m.head, step)
	if revision != m.steps[step].revision {
		t.Fatalf("revision %d, want %d", revision, m.steps[step].revision)
	}
}

func (m *model) prune(t *rapid.T) {
	if m.head < 0 {
		t.Skip("no thread yet")
	}
	before := rapid.Int64Range(1, m.head+2).Draw(t, "before")
	result, err := m.f.store.Prune(m.f.ctx, checkpoint.PruneQuery{Threads: []string{m.thread}, BeforeStep: before})
	m.fail(err)
	count := len(m.steps)
	maps.DeleteFunc(m.steps, func(step int64, _ modelStep) bool { return step < before && step != m.head })
	if result.Steps != int64(count-len(m.steps)) {
		t.Fatalf("%d steps pruned, want %d", result.Steps, count-len(m.steps))
	}
}

// stale tries what must be refused.
func (m *model) stale(t *rapid.T) {
	if m.head < 0 {
		t.Skip("no thread yet")
	}
	step := rapid.Int64Range(0, m.head).Draw(t, "step")
	if _, err := m.f.store.Put(m.f.ctx, checkpoint.Checkpoint{Thread: m.thread, Step: step}, ptr(m.steps[step].revision+1)); err == nil {
		t.Fatal("a put with a wrong revision was taken")
	}
	if _, err := m.f.store.Commit(m.f.ctx, checkpoint.Commit{ID: "stale", Parent: m.head, Lease: "none", Summary: checkpoint.Summary{Phase: checkpoint.Stalled},
		Checkpoint: checkpoint.Checkpoint{Thread: m.thread, Step: m.head + 1}}); err == nil {
		t.Fatal("a commit without the lease was taken")
	}
}

func (m *model) check(t *rapid.T) {
	if m.head < 0 {
		return
	}
	want := slices.Sorted(maps.Keys(m.steps))
	var got []int64
	for c, err := range m.f.store.History(m.f.ctx, m.thread, true) {
		m.fail(err)
		got = append(got, c.Step)
		m.same(t, c)
	}
	if !slices.Equal(got, want) {
		t.Fatalf("steps %v, want %v", got, want)
	}
	c, err := m.f.store.Get(m.f.ctx, m.thread, rapid.SampledFrom(want).Draw(t, "step"))
	m.fail(err)
	m.same(t, c)
	head, err := m.f.store.Latest(m.f.ctx, m.thread)
	m.fail(err)
	if head.Step != m.head {
		t.Fatalf("head %d, want %d", head.Step, m.head)
	}
}

func (m *model) same(t *rapid.T, c *checkpoint.Checkpoint) {
	want := m.steps[c.Step]
	if c.Revision != want.revision {
		t.Fatalf("step %d has revision %d, want %d", c.Step, c.Revision, want.revision)
	}
	if !maps.EqualFunc(c.Channels, want.state, func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
		t.Fatalf("step %d is %q, want %q", c.Step, c.Channels, want.state)
	}
}
