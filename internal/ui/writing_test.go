package ui

import (
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/desktest"
)

// TestPaneClaimsWhileItIsNeeded: the claim of a pane ends with it, unless something typed stays, and with its answer.
func TestPaneClaimsWhileItIsNeeded(t *testing.T) {
	const notes = "t-notes-7f3k"
	for name, tc := range map[string]struct {
		do   func(p *tuitest.Program)
		want string
	}{
		"open":               {func(p *tuitest.Program) { p.Keys("r") }, "ana"},
		"left":               {func(p *tuitest.Program) { p.Keys("r", "esc") }, ""},
		"left with ctrl+c":   {func(p *tuitest.Program) { p.Keys("r", "ctrl+c") }, ""},
		"a draft stays":      {func(p *tuitest.Program) { p.Keys("r"); p.Type("hm"); p.Keys("esc") }, "ana"},
		"an old draft stays": {func(p *tuitest.Program) { p.Keys("r"); p.Type("hm"); p.Keys("esc", "e", "esc") }, "ana"},
		"discarded":          {func(p *tuitest.Program) { p.Keys("r"); p.Type("hm"); p.Keys("ctrl+x", "y") }, ""},
		"sent":               {func(p *tuitest.Program) { p.Keys("r"); p.Type("hm"); p.Keys("ctrl+s"); p.Advance(6 * time.Second) }, ""},
		"not sent yet":       {func(p *tuitest.Program) { p.Keys("r"); p.Type("hm"); p.Keys("ctrl+s"); p.Advance(2 * time.Second) }, "ana"},
		"taken back":         {func(p *tuitest.Program) { p.Keys("r"); p.Type("hm"); p.Keys("ctrl+s"); p.Advance(settle); p.Keys("u") }, "ana"},
		"C before":           {func(p *tuitest.Program) { p.Keys("C", "r", "esc") }, "ana"},
		"C before, sent":     {func(p *tuitest.Program) { p.Keys("C", "r"); p.Type("hm"); p.Keys("ctrl+s"); p.Advance(6 * time.Second) }, "ana"},
	} {
		t.Run(name, func(t *testing.T) {
			flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
				p.Keys("j")
				p.Advance(settle)
				tc.do(p)
				p.Advance(settle)
				if got := d.Claimed(notes); got != tc.want {
					t.Errorf("claimed by %q, want %q:\n%s", got, tc.want, p.Screen())
				}
			})
		})
	}
}

// TestPaneLeavesTheClaimOfAnother: deciding what somebody else has claimed takes nothing away from them.
func TestPaneLeavesTheClaimOfAnother(t *testing.T) {
	for _, last := range []string{"esc", "ctrl+s"} {
		flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
			p.Keys("j", "j", "s", "y")
			p.Expect("SUBMIT", "amount")
			p.Type("12")
			p.Keys(last)
			p.Advance(6 * time.Second)
			if got := d.Claimed("t-pay-0004"); got != "bob" {
				t.Errorf("after %s it is claimed by %q:\n%s", last, got, p.Screen())
			}
		})
	}
}

// TestClaimThatComesLate: a pane closed before its claim was made gives it up as soon as it is.
func TestClaimThatComesLate(t *testing.T) {
	d := world(t)
	m := New(t.Context(), d, Options{StateDir: t.TempDir()})
	p := &pane{}
	p.question.Thread, p.question.ID = "t-notes-7f3k", "q-notes"
	claim := m.beginWriting(p)
	if cmd := m.endWriting(p); cmd != nil {
		t.Fatal("a claim is given up before it is made")
	}
	cmd := claim().(writing).apply(m)
	if cmd == nil {
		t.Fatal("the claim stays")
	}
	cmd()
	if got := d.Claimed("t-notes-7f3k"); got != "" {
		t.Errorf("claimed by %q", got)
	}
}
