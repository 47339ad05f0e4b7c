package ui

import (
	"testing"
	"testing/synctest"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/desktest"
)

func TestRulesAreShownAndSwitched(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		palette := func(words string) {
			p.Keys(":")
			p.Type(words)
			p.Keys("enter")
			p.Advance(settle)
		}
		palette("rules on")
		p.Expect("there are no rules in the configuration")
		d.AddRule(desk.RuleState{Name: "small", When: "content.amount < 50", Action: "approve", Answered: 3, TakenBack: 1, Failed: 1, LastError: "content.amount is null"})
		palette("rules")
		p.Expect("Rules: on", "small  approve", "3 answered, 1 back", "content.amount < 50", "! content.amount is null")
		p.Keys("esc")
		palette("rules on")
		p.Expect("the rules are off")
		palette("rules on")
		p.Expect("Let the rules answer?")
		if _, on := d.Rules(); on {
			t.Fatal("switched on without a yes")
		}
		p.Keys("y")
		p.Advance(settle)
		if _, on := d.Rules(); !on {
			t.Error("y did not switch them on")
		}
	})
}

// A rule's answer is told as the rule's, and taken back after every one of a person's.
func TestAnswerOfARuleIsTold(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("a")
		p.Advance(settle)
		_, err := d.Respond(t.Context(), desk.Decision{Thread: "t-claim-0100", Question: "q-claim0", Action: "approve", Title: "Approve claim 17", Reviewer: "rule:small"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		p.Advance(settle)
		p.Expect("rule small", "approved: Delete backups?, sends in")
		p.Keys("u")
		p.Advance(settle)
		p.Expect("taken back: approve of Delete backups?")
		p.Keys("u")
		p.Advance(settle)
		p.Expect("taken back: approve by rule small of Approve claim 17")
	})
}

func TestSavedViews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := start(t, world(t), 80, 24)
		m := l.Model.(*Model)
		m.opts.Views = []View{{Name: "broken", Filter: "status:failed", Tab: desk.Failed, Sort: "updated"}, {Name: "all"}}
		for _, k := range []string{"v", "1"} {
			l.Keys(k)
			l.Advance(settle)
		}
		if m.currentTab() != desk.Failed || m.inbox.Filter() != "status:failed" {
			t.Errorf("tab %s, filter %q", m.currentTab(), m.inbox.Filter())
		}
		for _, k := range []string{"v", "2"} {
			l.Keys(k)
			l.Advance(settle)
		}
		if m.inbox.Filter() != "" || m.currentTab() != desk.Failed {
			t.Errorf("tab %s, filter %q", m.currentTab(), m.inbox.Filter())
		}
	})
}
