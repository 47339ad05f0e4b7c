package checkpointtest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/inspect"
)

// Damage changes a store behind its back, as somebody does who edits its files or tables by hand and knows how it keeps
// and seals them. What a backend cannot be done to is nil.
type Damage struct {
	Rows Tamper
	// RemoveRow removes the row of a thread and leaves all else.
	RemoveRow func(t *testing.T, s checkpoint.Store, thread string)
	Lost      string // what is said of that, unless there is a row to be missed
	// Row rewrites phase, title, questions, due and waiting times, workflow, and the end of the chain in a thread's row.
	Row func(t *testing.T, s checkpoint.Store, thread string, change func(*checkpoint.ThreadInfo))
	// RemoveStep removes one step.
	RemoveStep func(t *testing.T, s checkpoint.Store, thread string, step int64)
	// Record replaces a text in the record of a step, and mends no checksum.
	Record func(t *testing.T, s checkpoint.Store, thread string, step int64, old, new string)
	// Stone puts another tombstone in place of a thread's, or none.
	Stone func(t *testing.T, s checkpoint.Store, thread string, b *checkpoint.Tombstone)
}

// RunDamaged hurts a store in each way, and wants it found and named by whoever looks for it, and nothing said of what is
// whole.
func RunDamaged(t *testing.T, open Open, d Damage) {
	for _, c := range damages(&d) {
		if c.hurt == nil {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			f := &fixture{T: t, ctx: t.Context(), clock: NewClock(), open: open}
			f.store = open(t, f.clock.Now)
			f.stood("t", 4)
			f.stood("neighbour", 2)
			f.stood("gone", 2)
			f.noErr(f.store.DeleteThread(f.ctx, "gone"))
			f.wantFaults(nil, "", "")
			kept := f.audit(nil).Ends
			c.hurt(f)
			f.wantFaults(nil, c.inspected, c.audited)
			if c.expected != "" {
				f.wantFaults(kept, c.inspected, c.expected)
			}
			f.equal(f.latest("neighbour").Step, int64(2))
			f.equal(f.steps("neighbour"), []int64{0, 1, 2})
		})
	}
}

// damage is one way to hurt thread t, and what is to be said of it; "" for nothing.
type damage struct {
	name      string
	hurt      func(f *fixture)
	inspected string // by an inspection
	audited   string // by an audit
	expected  string // by an audit that knows how the records ended before
}

// anything is for what an audit may find or not: it looks at what was decided.
const anything = "*"

func damages(d *Damage) []damage {
	var list []damage
	if d.RemoveRow != nil {
		lost := "thread t: its row is missing, though there are steps (3), decisions (4), pending results (1) of it"
		if d.Lost != "" {
			lost = d.Lost
		}
		list = append(list, damage{"the row removed", func(f *fixture) { d.RemoveRow(f.T, f.store, "t") }, lost, lost, lost})
	}
	if d.RemoveStep != nil {
		list = append(list,
			damage{"all steps removed", func(f *fixture) {
				for step := range int64(3) {
					d.RemoveStep(f.T, f.store, "t", step)
				}
			}, "step 2", anything, ""},
			damage{"a middle step removed", func(f *fixture) { d.RemoveStep(f.T, f.store, "t", 1) }, "missing", "", ""},
			damage{"the last step removed", func(f *fixture) { d.RemoveStep(f.T, f.store, "t", 2) }, "step 2", anything, ""})
	}
	if d.Record != nil {
		list = append(list,
			damage{"a question changed", func(f *fixture) { d.Record(f.T, f.store, "t", 2, "Delete the branch?", "Keep the branch?  ") }, "thread t, step 2", "thread t, step 2", ""},
			damage{"what was decided changed", func(f *fixture) { d.Record(f.T, f.store, "t", 0, "t-3", "t-9") }, "thread t, step 0", "thread t, step 0", ""})
	}
	return append(append(list, rowDamages(d)...), recordDamages(d)...)
}

// rowDamages change what the row of a thread shows.
func rowDamages(d *Damage) []damage {
	var list []damage
	if d.Row == nil {
		return nil
	}
	for _, c := range []struct {
		name   string
		change func(*checkpoint.ThreadInfo)
		want   string
	}{
		{"phase", func(t *checkpoint.ThreadInfo) { t.Phase = checkpoint.Done }, `phase is "done" there, and "interrupted" in its last step 2`},
		{"title", func(t *checkpoint.ThreadInfo) { t.Title = "Harmless" }, `title is "Harmless" there, and "Approve?" in its last step 2`},
		{"questions", func(t *checkpoint.ThreadInfo) { t.Questions = 7 }, "questions is 7 there, and 1 in its last step 2"},
		{"due", func(t *checkpoint.ThreadInfo) { t.Due = nil }, "due is none there, and 2026-03-01T10:00:00Z in its last step 2"},
		{"waiting", func(t *checkpoint.ThreadInfo) { t.WaitingSince = ptr(t.WaitingSince.Add(-time.Hour)) }, "waiting since is 2026-03-01T08:00:00Z there, and 2026-03-01T09:00:00Z"},
		{"workflow", func(t *checkpoint.ThreadInfo) { t.Workflow = "other" }, `workflow is "other" there, and "notes" in its last step 2`},
		{"step", func(t *checkpoint.ThreadInfo) { t.Step = 1 }, "thread t"},
		{"step too far", func(t *checkpoint.ThreadInfo) { t.Step = 7 }, "step 7"},
	} {
		list = append(list, damage{"the row changed: " + c.name, func(f *fixture) { d.Row(f.T, f.store, "t", c.change) }, c.want, anything, ""})
	}
	return list
}

// recordDamages change records of decisions so that they hold in themselves.
func recordDamages(d *Damage) []damage {
	shorten := func(f *fixture, keep int) {
		rows := f.decisions("t")[:keep]
		d.Rows(f.T, f.store, "t", rows)
		d.Row(f.T, f.store, "t", func(t *checkpoint.ThreadInfo) {
			if t.Decisions, t.DecisionHash = int64(keep), ""; keep > 0 {
				t.DecisionHash = rows[keep-1].Hash
			}
		})
	}
	var list []damage
	if d.Row != nil {
		list = append(list,
			damage{"all decisions removed with their count", func(f *fixture) { shorten(f, 0) }, "decision t-0, which is missing", "decision t-0, which is missing", "were expected to begin with 4"},
			damage{"the last decision removed with its count", func(f *fixture) { shorten(f, 3) }, "decision t-3, which is missing", "decision t-3, which is missing", "were expected to begin with 4"},
			damage{"a record written anew", func(f *fixture) {
				var rows []*checkpoint.Decision
				var chain checkpoint.Chain
				for _, d := range f.decisions("t") {
					d = d.Clone()
					d.Reviewer = "eve"
					chain.Append("t", d)
					rows = append(rows, d)
				}
				d.Rows(f.T, f.store, "t", rows)
				d.Row(f.T, f.store, "t", func(t *checkpoint.ThreadInfo) { t.DecisionHash = chain.Last })
			}, "", "", "decisions of thread t: they were expected to begin with 4"})
	}
	if d.Stone != nil {
		list = append(list,
			damage{"a tombstone removed", func(f *fixture) { d.Stone(f.T, f.store, "gone", nil) }, "", "", "decisions of thread gone: they were expected to begin with 2"},
			damage{"a tombstone written anew", func(f *fixture) {
				b := f.tombstones()[0]
				b.Decisions, b.DecisionHash = 1, strings.Repeat("0", 64)
				d.Stone(f.T, f.store, "gone", &b)
			}, "", "", "its tombstone counts 1 that end in 000000000000"},
			damage{"a tombstone without a hash", func(f *fixture) {
				b := f.tombstones()[0]
				b.DecisionHash = ""
				d.Stone(f.T, f.store, "gone", &b)
			}, "tombstone of thread gone", "tombstone of thread gone", ""})
	}
	return list
}

// stood makes a thread of three steps with decisions, which waits for an answer, and of whose coming step a result is there.
func (f *fixture) stood(thread string, decisions int) {
	f.Helper()
	f.decided(thread, decisions)
	c := f.under(f.first(thread))
	for _, release := range []bool{false, true} {
		c = f.next(c, set("n", fmt.Sprint(c.Checkpoint.Step)))
		c.Checkpoint.Decisions, c.Checkpoint.Fingerprint = nil, ""
		c.Checkpoint.Interrupts = []checkpoint.Interrupt{{ID: "q", Key: "ok", Node: "review", Payload: raw(`{"message":"Delete the branch?"}`), Asked: f.clock.Now()}}
		c.Summary, c.Release = interrupted(), release
		c.Summary.Due, c.Summary.WaitingSince = ptr(f.clock.Now().Add(time.Hour)), ptr(f.clock.Now())
		f.commit(c)
	}
	r := f.request(thread)
	f.acquire(r)
	f.noErr(f.store.AddResult(f.ctx, thread, r.Token, checkpoint.PendingResult{Step: 3, Path: "main@1/a@1", Data: raw("1")}))
	f.noErr(f.store.ReleaseLease(f.ctx, checkpoint.Release{Thread: thread, Token: r.Token}))
}

func (f *fixture) audit(expect []checkpoint.RecordEnd) *inspect.Audited {
	f.Helper()
	a, err := inspect.Audit(f.ctx, f.store, inspect.AuditOptions{Expect: expect})
	f.noErr(err)
	return a
}

// wantFaults demands what an inspection and an audit say, each of one thread alone.
func (f *fixture) wantFaults(expect []checkpoint.RecordEnd, inspected, audited string) {
	f.Helper()
	r, err := inspect.Run(f.ctx, f.store, inspect.Options{States: true})
	f.noErr(err)
	f.wantFault("inspection", r.Faults, inspected)
	f.wantFault("audit", f.audit(expect).Faults, audited)
}

func (f *fixture) wantFault(who string, faults []checkpoint.Fault, want string) {
	f.Helper()
	said := slices.ContainsFunc(faults, func(x checkpoint.Fault) bool { return strings.Contains(x.Text, want) })
	if want != anything && ((want == "") != (len(faults) == 0) || want != "" && !said) {
		f.Errorf("the %s says %+v, want %q", who, faults, want)
	}
	for _, x := range faults {
		if x.Thread == "neighbour" || strings.Contains(x.Text, "neighbour") {
			f.Errorf("the %s says of another thread: %s", who, x.Text)
		}
	}
}
