package checkpointtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// Tamper rewrites the decision rows of a thread behind the store's back: all of its rows become those given, as a forger
// would write them who knows how the store keeps and seals its rows, but cannot change the end of the chain in the
// thread's row. Rows are kept in the order of their N.
type Tamper func(t *testing.T, s checkpoint.Store, thread string, rows []*checkpoint.Decision)

// RunTampered has rows changed, removed, reordered and added, and wants each found and named, and nothing else hurt.
func RunTampered(t *testing.T, open Open, tamper Tamper) {
	for _, c := range append(tamperedFields(), tamperings()...) {
		t.Run(c.name, func(t *testing.T) {
			f := &fixture{T: t, ctx: t.Context(), clock: NewClock(), open: open}
			f.store = open(t, f.clock.Now)
			f.decided("t", 4)
			f.decided("neighbour", 2)
			var rows []*checkpoint.Decision
			for _, d := range f.decisions("t") {
				rows = append(rows, d.Clone())
			}
			tamper(t, f.store, "t", c.change(rows))
			f.noErr(f.chain("neighbour"))
			err := f.chain("t")
			if c.want == "" {
				f.noErr(err)
				return
			}
			if !errors.Is(err, checkpoint.ErrCorrupt) || !strings.Contains(err.Error(), "thread t,") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want an ErrCorrupt of thread t that names %s", err, c.want)
			}
		})
	}
}

type tampering struct {
	name   string
	change func([]*checkpoint.Decision) []*checkpoint.Decision
	want   string // "": nothing is wrong
}

// tamperedFields change each field of a row.
func tamperedFields() []tampering {
	var list []tampering
	for name, change := range map[string]func(*checkpoint.Decision){
		"response id": func(d *checkpoint.Decision) { d.ResponseID = "forged" },
		"version":     func(d *checkpoint.Decision) { d.Version.Step++ },
		"revision":    func(d *checkpoint.Decision) { d.Version.Revision++ },
		"interrupt":   func(d *checkpoint.Decision) { d.Interrupt = "forged" },
		"key":         func(d *checkpoint.Decision) { d.Key = "forged" },
		"address":     func(d *checkpoint.Decision) { d.Address = "forged" },
		"path":        func(d *checkpoint.Decision) { d.Path = "forged" },
		"action":      func(d *checkpoint.Decision) { d.Action = "reject" },
		"data":        func(d *checkpoint.Decision) { d.Data = raw(`{"forged":1}`) },
		"blank data":  func(d *checkpoint.Decision) { d.Data = append(raw(" "), d.Data...) },
		"no data":     func(d *checkpoint.Decision) { d.Data = nil },
		"comment":     func(d *checkpoint.Decision) { d.Comment = "" },
		"reviewer":    func(d *checkpoint.Decision) { d.Reviewer = "eve" },
		"time":        func(d *checkpoint.Decision) { d.DecidedAt = d.DecidedAt.Add(time.Microsecond) },
		"waited":      func(d *checkpoint.Decision) { d.WaitedSeconds += 0.5 },
		"shown":       func(d *checkpoint.Decision) { d.ShownHash = "" },
		"outcome":     func(d *checkpoint.Decision) { d.Outcome = checkpoint.Withdrawn },
		"withdraws":   func(d *checkpoint.Decision) { d.Withdraws = "t-0" },
		"hash":        func(d *checkpoint.Decision) { d.Hash = strings.Repeat("0", 64) },
	} {
		list = append(list, tampering{"changed " + name, func(rows []*checkpoint.Decision) []*checkpoint.Decision {
			change(rows[1])
			return rows
		}, "row 2 (t-1)"})
	}
	return list
}

func tamperings() []tampering {
	type rows = []*checkpoint.Decision
	rehash := func(l rows, from int) rows {
		chain := checkpoint.Chain{}
		if from > 0 {
			chain = checkpoint.Chain{Count: int64(from), Last: l[from-1].Hash}
		}
		for _, d := range l[from:] {
			chain.Append(d.Thread, d)
		}
		return l
	}
	return []tampering{
		{"written as they were", func(l rows) rows { return l }, ""},
		{"id changed", func(l rows) rows { l[1].ID = "forged"; return l }, "row 2 (forged)"},
		{"changed and hashed anew", func(l rows) rows {
			l[1].Reviewer = "eve"
			l[1].Hash = checkpoint.ChainHash(l[1])
			return l
		}, "row 3 (t-2)"},
		{"changed and all hashed anew", func(l rows) rows { l[1].Reviewer = "eve"; return rehash(l, 1) }, "row 4"},
		{"first removed", func(l rows) rows { return l[1:] }, "row 1 (t-1)"},
		{"one removed", func(l rows) rows { return slices.Delete(l, 1, 2) }, "row 2 (t-2)"},
		{"one removed and the rest renumbered", func(l rows) rows { return rehash(slices.Delete(l, 1, 2), 1) }, "row 4"},
		{"last removed", func(l rows) rows { return l[:3] }, "row 4"},
		{"all removed", func(rows) rows { return nil }, "row 1"},
		{"two exchanged", func(l rows) rows {
			l[1], l[2] = l[2], l[1]
			l[1].N, l[2].N = 2, 3
			return l
		}, "row 2 (t-2)"},
		{"one added", func(l rows) rows {
			d := l[3].Clone()
			d.ID, d.ResponseID = "forged", ""
			return rehash(append(l, d), 4)
		}, "row 5 (forged)"},
		{"one of another thread", func(l rows) rows {
			d := &checkpoint.Decision{ID: "forged"}
			chain := checkpoint.Chain{Count: 3, Last: l[2].Hash}
			chain.Append("neighbour", d)
			d.Thread = "t"
			return append(l[:3], d)
		}, "row 4 (forged)"},
	}
}

// decided makes a thread with n decisions.
func (f *fixture) decided(thread string, n int) {
	f.Helper()
	f.start(thread, func(c *checkpoint.Commit) {
		for i := range n {
			c.Decisions = append(c.Decisions, checkpoint.Decision{ID: fmt.Sprintf("%s-%d", thread, i), ResponseID: fmt.Sprint("r", i), Version: checkpoint.Version{Step: int64(i), Revision: 1},
				Interrupt: "q", Key: "ok", Address: "review", Path: "main@1/review@1", Action: "approve", Data: raw(`{ "a": 1 }`), Comment: "fine", Reviewer: "ann",
				DecidedAt: f.clock.Now().Add(time.Duration(i) * time.Minute), WaitedSeconds: 1.5, ShownHash: "h", Outcome: checkpoint.Applied})
			c.Checkpoint.Decisions = append(c.Checkpoint.Decisions, c.Decisions[i].ID)
		}
	})
}

// chain verifies the record of a thread.
func (f *fixture) chain(thread string) error {
	f.Helper()
	info := f.thread(thread)
	return checkpoint.VerifyChain(thread, f.store.Decisions(f.ctx, thread), checkpoint.Chain{Count: info.Decisions, Last: info.DecisionHash})
}
