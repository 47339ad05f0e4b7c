package footer_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/footer"
	"github.com/hitl-tui/hitl-tui/internal/ui/keymap"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// TestActionsKeepTheirKeys: whatever the targets, the keys of all actions and the way to the rest are drawn.
func TestActionsKeepTheirKeys(t *testing.T) {
	th, km := theme.Must("", true), keymap.Default()
	more := footer.Of(command.ActionsMenu)
	for name, leads := range map[string]string{
		"none": "", "near": "publish", "deep": "END of go/go/each/0/inner/0/deep (done)", "wide": strings.Repeat("発", 50), "several": "a/b/c or d/e/f, g",
	} {
		for _, n := range []int{1, 3, 7, 15} {
			var items []footer.Item
			for _, info := range actions.Table()[:n] {
				items = append(items, footer.Item{ID: command.ForAction(info.Action), Leads: leads})
			}
			for w := 60; w <= 200; w += 7 {
				line := ansi.Strip(footer.Actions(th, km, items, more, w))
				if got := ansi.StringWidth(line); got != w {
					t.Errorf("%s, %d actions, %d columns: %d cells: %q", name, n, w, got, line)
				}
				if !strings.HasSuffix(strings.TrimRight(line, " "), "Enter more") {
					t.Errorf("%s, %d actions, %d columns: without the way to the rest: %q", name, n, w, line)
				}
				for _, it := range items {
					if !strings.Contains(line, " "+km.Key(it.ID)+" ") {
						t.Errorf("%s, %d actions, %d columns: without key %s: %q", name, n, w, km.Key(it.ID), line)
					}
				}
			}
		}
	}
}

// TestActionsGiveWayInOrder: first deep targets, then targets, then labels, the last action first.
func TestActionsGiveWayInOrder(t *testing.T) {
	th, km := theme.Must("", true), keymap.Default()
	items := []footer.Item{
		{ID: command.ForAction(actions.Approve), Leads: "go/each/0/publish"}, {ID: command.ForAction(actions.Reject), Leads: "END of go/each/0 (rejected)"},
		{ID: command.ForAction(actions.Retry), Leads: "asks again"},
	}
	for w, want := range map[int]string{
		86: "a approve>go/each/0/publish  r reject>END of go/each/0 (rejected)  t retry>asks again",
		79: "a approve>go/each/0/publish  r reject>END of 0 (rejected)  t retry>asks again",
		70: "a approve>publish  r reject>END of 0 (rejected)  t retry>asks again",
		59: "a approve>publish  r reject>END of 0 (rejected)  t retry",
		40: "a approve>publish  r reject  t retry",
		30: "a approve  r reject  t retry",
		23: "a approve  r reject  t",
		16: "a approve  r  t",
		8:  "a  r  t",
		5:  "a  r",
	} {
		if got := strings.TrimSpace(ansi.Strip(footer.Actions(th, km, items, nil, w))); got != want {
			t.Errorf("%d columns: %q, want %q", w, got, want)
		}
	}
}

// TestFitsIsWhatIsDrawn: one line is enough exactly where all items are drawn on one.
func TestFitsIsWhatIsDrawn(t *testing.T) {
	th, km := theme.Must("", true), keymap.Default()
	items, last := footer.Of(command.DecisionOf, command.NextPeriod, command.WriteCSV, command.Close), footer.Of(command.Help, command.OpenPalette)
	fitted := false
	for w := 1; w <= 120; w++ {
		line := ansi.Strip(footer.Lines(th, km, items, last, w, 1)[0])
		all := strings.Contains(line, km.Command(command.Close).Footer) && strings.Contains(line, km.Command(command.OpenPalette).Footer)
		if got := footer.Fits(th, km, items, last, w); got != all {
			t.Errorf("at %d fits is %v: %q", w, got, line)
		}
		fitted = fitted || all
	}
	if !fitted {
		t.Error("nothing fits on any line")
	}
}
