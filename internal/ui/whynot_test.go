package ui

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
)

// On every screen, a command that cannot run says why, the same by its key and by the palette, and does nothing else.
func TestWhatCannotRunSaysWhyEverywhere(t *testing.T) {
	refused := map[string]bool{}
	for name, s := range scenes() {
		synctest.Test(t, func(t *testing.T) {
			l := s.show(t, 120, 40, true)
			m := l.Model.(*Model)
			for _, c := range command.Table() {
				why := m.whyNot(c.ID)
				if why == "" || !slices.Contains(m.stack(), c.Scope()) || c.Action != "" {
					continue
				}
				refused[why] = true
				drain(m, m.run(c.ID))
				if m.status.text != why {
					t.Errorf("%s: %s says %q, and the palette %q", name, c.ID, m.status.text, why)
				}
				tuitest.CheckBox(t, l.View(), 120, 40)
			}
		})
	}
	if len(refused) < 5 {
		t.Errorf("only %v are refused anywhere: the test looks at nothing", refused)
	}
}
