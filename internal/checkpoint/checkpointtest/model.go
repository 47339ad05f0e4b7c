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
				"commit": m.commit, "put": m.put, "prune": m.prune, "stale": m.stale, "claim": m.claim, "beat": m.beat, "": m.check,
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
	lease  string // token, while a run goes on after its commit
	shown  checkpoint.Summary
	claims string // who claimed it last
	chain  checkpoint.Chain
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

var summaryGen = rapid.Custom(func(t *rapid.T) checkpoint.Summary {
	texts := rapid.SampledFrom([]string{"", "a", "b"})
	return checkpoint.Summary{Phase: rapid.SampledFrom([]checkpoint.Status{checkpoint.Stalled, checkpoint.Interrupted, checkpoint.Done}).Draw(t, "phase"),
		Node: texts.Draw(t, "node"), Title: texts.Draw(t, "title"), Error: texts.Draw(t, "error"), Questions: rapid.IntRange(0, 2).Draw(t, "questions")}
})

// commit adds a step after the head, perhaps with a gap.
func (m *model) commit(t *rapid.T) {
	m.n++
	c := checkpoint.Commit{ID: fmt.Sprintf("%s.%d", m.thread, m.n), Parent: m.head, Ops: rapid.SliceOfN(opGen, 0, 4).Draw(t, "ops"),
		Checkpoint: checkpoint.Checkpoint{Thread: m.thread, Step: m.head + rapid.Int64Range(1, 3).Draw(t, "gap"), TS: m.f.clock.Now()},
		Summary:    summaryGen.Draw(t, "summary"), Release: rapid.Bool().Draw(t, "release")}
	request := checkpoint.LeaseRequest{Thread: m.thread, Token: fmt.Sprint("token", m.n), TTL: time.Hour, Head: checkpoint.Version{Step: m.head}}
	switch {
	case m.lease != "":
		c.Lease = m.lease
	case m.head < 0:
		c.Lease, c.NewLease, c.NewThread = request.Token, &request, &checkpoint.NewThread{}
	default:
		c.Lease = request.Token
		_, err := m.f.store.AcquireLease(m.f.ctx, request)
		m.fail(err)
	}
	for range rapid.IntRange(0, 2).Draw(t, "decisions") {
		d := checkpoint.Decision{ID: fmt.Sprint(m.chain.Count), Thread: m.thread, Action: "approve", DecidedAt: m.f.clock.Now(), Outcome: checkpoint.Applied}
		c.Decisions = append(c.Decisions, d)
		m.chain.Append(m.thread, &d)
	}
	_, err := m.f.store.Commit(m.f.ctx, c)
	m.fail(err)
	m.lease, m.shown = c.Lease, c.Summary
	if c.Release {
		m.lease = ""
	}
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
	if step >= m.head {
		m.head, m.shown = step, checkpoint.Summary{Phase: checkpoint.Done}
	}
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
	if m.lease != "" {
		before = 0
	}
	maps.DeleteFunc(m.steps, func(step int64, _ modelStep) bool { return step < before && step != m.head })
	if result.Steps != int64(count-len(m.steps)) {
		t.Fatalf("%d steps pruned, want %d", result.Steps, count-len(m.steps))
	}
}

// claim and beat change the row beside the steps.
func (m *model) claim(t *rapid.T) {
	if m.head < 0 {
		t.Skip("no thread yet")
	}
	m.claims = rapid.SampledFrom([]string{"ann", "bob"}).Draw(t, "reviewer")
	m.fail(m.f.store.Claim(m.f.ctx, m.thread, m.claims, time.Hour))
}

func (m *model) beat(t *rapid.T) {
	if m.lease == "" {
		t.Skip("nothing runs")
	}
	_, err := m.f.store.Heartbeat(m.f.ctx, m.thread, m.lease, time.Duration(rapid.Int64Range(1, 100).Draw(t, "minutes"))*time.Minute)
	m.fail(err)
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
	m.row(t)
}

func (m *model) row(t *rapid.T) {
	row, err := m.f.store.Thread(m.f.ctx, m.thread)
	m.fail(err)
	claimed := ""
	if row.Claim != nil {
		claimed = row.Claim.Reviewer
	}
	if row.Step != m.head || row.Revision != m.steps[m.head].revision || row.Summary != m.shown || claimed != m.claims {
		t.Fatalf("row %+v, want step %d, %+v, claimed by %q", row, m.head, m.shown, m.claims)
	}
	if row.Decisions != m.chain.Count || row.DecisionHash != m.chain.Last {
		t.Fatalf("row of %d decisions up to %q, want %+v", row.Decisions, row.DecisionHash, m.chain)
	}
	changes, err := m.f.store.Changes(m.f.ctx, row.Seq-1, 1)
	m.fail(err)
	if len(changes.Threads) != 1 || changes.Threads[0].Thread != m.thread {
		t.Fatalf("its last change is found as %+v", changes)
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
