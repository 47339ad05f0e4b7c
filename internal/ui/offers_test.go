package ui

import (
	"strings"
	"testing"
	"testing/synctest"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/desktest"
)

func TestFilterIsCompleted(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("f")
		p.Expect("Tab [status:]", "node:")
		p.Keys("down")
		p.Expect("Tab [node:]")
		p.Type("st")
		p.Expect("Tab [status:]")
		p.Keys("tab")
		p.Expect("filter: status:", "Tab [failed]  waiting")
		p.Keys("up", "tab")
		p.Expect("filter: status:waiting")
		p.Type(" ol")
		p.Keys("tab", "enter")
		if got := p.Screen(); !strings.Contains(got, "filter: status:waiting olde") {
			t.Errorf("the filter is not in force as completed:\n%s", got)
		}
		wantOutbox(t, d)
	})
}

// TestReadOnlyShowsNothingThatChanges looks at footer, help and palette of every page.
func TestReadOnlyShowsNothingThatChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := tuitest.Run(t, New(t.Context(), world(t), Options{ReadOnly: true}), 200, 60)
		defer p.Stop()
		p.Advance(settle)
		for _, page := range [][]string{{"1"}, {"3"}, {"4"}, {"7"}, {"1", "H"}} {
			p.Keys(page...)
			p.Advance(settle)
			for _, look := range []string{"", "?", ":"} {
				if look != "" {
					p.Keys(look)
				}
				for _, word := range []string{"approve>", "X  stop", "C claim", "+ new", "D delete", "o carr", "F fork", "P prune", "Fork", "New thread", "Claim", "+ starts"} {
					if strings.Contains(p.Screen(), word) {
						t.Errorf("%v %s shows %q:\n%s", page, look, word, p.Screen())
					}
				}
				if look != "" {
					p.Keys("esc")
				}
			}
		}
	})
}

func TestPaletteSaysWhyACommandCannotRun(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		for text, want := range map[string]string{
			"take back": "no answer is unsent", "act on": "nothing is marked", "next question": "the thread asks no other question",
			"next match": "nothing is searched for", "choose": "not allowed here",
		} {
			p.Keys(":")
			p.Type(text)
			p.Expect("- " + want)
			p.Keys("enter")
			p.Expect("! ", want)
			p.Keys("esc")
		}
	})
}

// TestFailureOfAnAnsweredRunIsToldOnceAndRings: the outbox and the run both know of it.
func TestFailureOfAnAnsweredRunIsToldOnceAndRings(t *testing.T) {
	d := world(t)
	m := New(t.Context(), d, Options{Bell: true})
	m.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	e := desk.Entry{ID: "e1", Decision: desk.Decision{Thread: "t-notes-7f3k", Title: "Publish these notes?", Action: "approve"}, State: desk.Sent,
		Result: &desk.Result{Status: "failed", ErrNode: "tag", ErrMessage: "exit status 128"}}
	outboxRead{e}.apply(m)
	m.Update(tea.BlurMsg{})
	failed := desk.Event{Kind: desk.RunFailed, Thread: "t-notes-7f3k", Node: "tag", Text: "exit status 128", At: d.Now()}
	if text := failure(m.titleOf(failed.Thread), failed); text != "Publish these notes?: tag failed: exit status 128" {
		t.Errorf("told as %q", text)
	}
	m.complain(failure(m.titleOf(failed.Thread), failed), failed.Thread)
	if m.unseen != 1 {
		t.Errorf("one failure counts %d", m.unseen)
	}
	if m.ring("") == nil {
		t.Error("no bell while the window has not the focus")
	}
	m.Update(tea.FocusMsg{})
	if m.ring("") != nil {
		t.Error("a bell while the reviewer looks at it")
	}
}

func TestReadOnlyHidesByTheTable(t *testing.T) {
	for _, c := range command.Table() {
		if c.Effect == command.Asks && c.Scope() != command.Editor && !c.Changes() {
			t.Errorf("%s asks before it does something and is shown in read-only mode", c.ID)
		}
	}
}
