package ui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/desktest"
)

func TestActivityIsLookedThrough(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		d.AddDecisions(desk.DecisionRow{ID: "x", N: 99, Thread: "t-notes-7f3k", Workflow: "release-notes", Title: "=cmd()", Action: "approve", Reviewer: "ana",
			Comment: "=1+1", DecidedAt: d.Now().Add(-5 * 24 * 3600e9), Waited: 1e9})
		p.Keys("6")
		p.Advance(settle)
		p.Expect("ACTIVITY", "the last 24h", "median wait", "decisions an hour", "approved", "58%", "SHARES", "by rules")
		p.Keys("v")
		p.Advance(settle)
		p.Expect("the last 7d", "60%")
		p.Keys("enter")
		p.Advance(settle)
		p.Expect("release-notes 7f3k", "state at step 5")
		p.Keys("esc")
		p.Advance(settle)
		p.Expect("ACTIVITY")
		p.Keys("a", "u")
		if n := len(d.Outbox()); n != 0 {
			t.Errorf("%d decisions were taken on the activity page", n)
		}
	})
}

// What a spreadsheet would compute is written as text.
func TestActivityAsCSV(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		t.Chdir(t.TempDir())
		d.AddDecisions(desk.DecisionRow{ID: "x", N: 99, Thread: "t-notes-7f3k", Action: "reject", Reviewer: "ana", Comment: "=1+1", DecidedAt: d.Now()})
		p.Keys("6")
		p.Advance(settle)
		p.Keys("w")
		p.Advance(settle)
		p.Expect("wrote hitl-activity-")
		files, err := filepath.Glob("hitl-activity-*.csv")
		if err != nil || len(files) != 1 {
			t.Fatalf("%v, %v", files, err)
		}
		data, err := os.ReadFile(files[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"decided_at,workflow,address,thread_id,action", "t-notes-7f3k,reject,ana,0,0,,'=1+1"} {
			if !strings.Contains(string(data), want) {
				t.Errorf("no %q in %s", want, data)
			}
		}
	})
}
