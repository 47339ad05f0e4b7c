// Package checkpointtest is the contract of checkpoint.Store as tests that every backend must pass whole. The cases come
// from AgentFlow's checkpointer tests, from LangGraph's conformance suite, and from what users of both report.
package checkpointtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// Open makes an empty store whose time is now, and has it closed when t ends.
type Open func(t *testing.T, now func() time.Time) checkpoint.Store

// Run runs the whole suite against stores that open makes.
// Definition is one whose files hold texts, under its fingerprint.
func Definition(texts ...string) checkpoint.Definition {
	d := checkpoint.Definition{Workflow: "notes", Graph: "main", Source: "/srv/notes.yaml"}
	for i, text := range texts {
		d.Files = append(d.Files, checkpoint.File{Path: fmt.Sprintf("%d.yaml", i), Text: text})
	}
	d.Fingerprint = checkpoint.Fingerprint(d.Files)
	return d
}

func Run(t *testing.T, open Open) {
	for group, cases := range groups() {
		t.Run(group, func(t *testing.T) {
			for _, c := range cases {
				t.Run(c.name, func(t *testing.T) {
					clock := NewClock()
					f := &fixture{T: t, ctx: t.Context(), clock: clock, open: open}
					f.store = open(t, clock.Now)
					c.run(f)
				})
			}
		})
	}
}

// groups are all cases.
func groups() map[string][]testCase {
	return map[string][]testCase{
		"Put": putCases, "Commit": commitCases, "Lease": leaseCases, "List": listCases, "Watch": watchCases,
		"Decisions": decisionCases, "Retention": retentionCases, "Race": raceCases, "Model": modelCases, "Transfer": transferCases,
		"Questions": questionCases,
	}
}

type testCase struct {
	name string
	run  func(f *fixture)
}

// Clock is a clock that a test moves.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock starts at an arbitrary fixed time.
func NewClock() *Clock { return &Clock{now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)} }

// Now is the clock's time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// fixture is one case's store with shorthands that fail the test.
type fixture struct {
	*testing.T
	ctx   context.Context
	clock *Clock
	open  Open
	store checkpoint.Store
	ids   int
}

const ttl = 15 * time.Second

func raw(s string) json.RawMessage { return json.RawMessage(s) }

func set(channel, value string) checkpoint.Op {
	return checkpoint.Op{Kind: checkpoint.OpSet, Channel: channel, Value: raw(value)}
}

func (f *fixture) id(prefix string) string {
	f.ids++
	return fmt.Sprintf("%s-%04d", prefix, f.ids)
}

func (f *fixture) noErr(err error) {
	f.Helper()
	if err != nil {
		f.Fatal(err)
	}
}

func (f *fixture) wantIs(err, target error) {
	f.Helper()
	if !errors.Is(err, target) {
		f.Fatalf("error %v, want %v", err, target)
	}
}

func (f *fixture) equal(got, want any) {
	f.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		f.Fatalf("mismatch (-want +got):\n%s", diff)
	}
}

// interrupted is a summary of a thread that waits for a person.
func interrupted() checkpoint.Summary {
	return checkpoint.Summary{Phase: checkpoint.Interrupted, Title: "Approve?", Node: "review", Questions: 1}
}

// first is the commit that begins a thread and holds its lease.
func (f *fixture) first(thread string) checkpoint.Commit {
	token := f.id("token")
	return checkpoint.Commit{
		ID:         f.id("commit"),
		Checkpoint: checkpoint.Checkpoint{Thread: thread, TS: f.clock.Now(), Source: checkpoint.SourceInput, Workflow: "notes", Fingerprint: "fp", Next: []string{"draft"}},
		Parent:     -1,
		Lease:      token,
		NewLease:   &checkpoint.LeaseRequest{Thread: thread, Token: token, Holder: "host:1", TTL: ttl},
		NewThread:  &checkpoint.NewThread{Workdir: "/srv/notes", StartedBy: "ann"},
		Ops:        []checkpoint.Op{set("topic", `"x"`)},
		Summary:    checkpoint.Summary{Phase: checkpoint.Stalled, Node: "draft"},
	}
}

// next is the commit that follows c under the same lease.
func (f *fixture) next(c checkpoint.Commit, ops ...checkpoint.Op) checkpoint.Commit {
	n := c
	n.ID = f.id("commit")
	n.Parent = c.Checkpoint.Step
	n.NewLease, n.NewThread, n.Decisions = nil, nil, nil
	n.Checkpoint.Step++
	n.Checkpoint.Source = checkpoint.SourceStep
	n.Checkpoint.TS = f.clock.Now()
	n.Ops = ops
	return n
}

func (f *fixture) commit(c checkpoint.Commit) checkpoint.Version {
	f.Helper()
	v, err := f.store.Commit(f.ctx, c)
	f.noErr(err)
	return v
}

// start commits a first step and gives the lease back.
func (f *fixture) start(thread string, change ...func(*checkpoint.Commit)) checkpoint.Commit {
	f.Helper()
	c := f.first(thread)
	c.Release, c.Summary = true, interrupted()
	for _, fn := range change {
		fn(&c)
	}
	f.commit(c)
	return c
}

// request asks for the lease of a thread as its row is now.
func (f *fixture) request(thread string) checkpoint.LeaseRequest {
	f.Helper()
	info := f.thread(thread)
	r := checkpoint.LeaseRequest{Thread: thread, Token: f.id("token"), Holder: "host:2", TTL: ttl, Head: info.Version()}
	if info.Lease != nil {
		r.Seen = info.Lease.Answers
	}
	return r
}

func (f *fixture) acquire(r checkpoint.LeaseRequest) *checkpoint.Lease {
	f.Helper()
	lease, err := f.store.AcquireLease(f.ctx, r)
	f.noErr(err)
	return lease
}

func (f *fixture) thread(id string) *checkpoint.ThreadInfo {
	f.Helper()
	info, err := f.store.Thread(f.ctx, id)
	f.noErr(err)
	return info
}

func (f *fixture) latest(id string) *checkpoint.Checkpoint {
	f.Helper()
	c, err := f.store.Latest(f.ctx, id)
	f.noErr(err)
	return c
}

func (f *fixture) steps(id string) []int64 {
	f.Helper()
	var steps []int64
	for c, err := range f.store.History(f.ctx, id, false) {
		f.noErr(err)
		if c.Channels != nil {
			f.Fatalf("step %d carries a state nobody asked for", c.Step)
		}
		steps = append(steps, c.Step)
	}
	return steps
}

func (f *fixture) decisions(id string) []*checkpoint.Decision {
	f.Helper()
	var list []*checkpoint.Decision
	for d, err := range f.store.Decisions(f.ctx, id) {
		f.noErr(err)
		list = append(list, d)
	}
	return list
}

func ids(page checkpoint.Page) []string {
	var list []string
	for _, t := range page.Threads {
		list = append(list, t.Thread)
	}
	return list
}

func ptr[T any](v T) *T { return &v }
