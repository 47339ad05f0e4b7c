package ui

import (
	"strings"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/desktest"
)

// What ended offers no key that does nothing, and is nobody's any more.
func TestEndedThreadOffersOnlyWhatDoesSomething(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		d.Add(desk.Detail{Thread: desk.Thread{ID: "t-done-0099", Workflow: "article", Status: "done", Title: "Autumn issue", Updated: d.Now(),
			Claimed: "bob", ClaimedUntil: d.Now().Add(time.Hour)}})
		p.Keys("4")
		p.Advance(settle)
		if strings.Contains(p.Screen(), "bob") || strings.Contains(p.Screen(), "@") {
			t.Errorf("a claim of what ended:\n%s", p.Screen())
		}
		p.Keys("enter")
		p.Advance(settle)
		p.Expect("H history")
		for _, dead := range []string{"x cancel", "o carry on"} {
			if strings.Contains(p.Screen(), dead) {
				t.Errorf("%q is offered:\n%s", dead, p.Screen())
			}
		}
	})
}
