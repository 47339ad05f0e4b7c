package dialog_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"github.com/hitl-tui/hitl-tui/internal/ui/dialog"
)

// Of more items than keys and lines each can be reached and seen; where an answer acts, Enter and arrows pick none.
func TestPickReachesEveryItem(t *testing.T) {
	var items []dialog.Item
	for i := range 20 {
		it := dialog.Item{ID: fmt.Sprint("view ", i), Label: fmt.Sprint("View ", i)}
		if i < 9 {
			it.Key = fmt.Sprint(i + 1)
		}
		items = append(items, it)
	}
	for i, it := range items {
		p := dialog.NewPick(kit(), "Views", items...)
		p.SetSize(40, 12)
		for range i {
			press(p, "down")
		}
		if view := ansi.Strip(p.View()); !strings.Contains(view, it.Label) || !strings.Contains(view, "Enter take") || strings.Count(view, "\n") != 11 {
			t.Fatalf("%s is not shown on twelve lines:\n%s", it.Label, view)
		}
		if got := press(p, "enter"); got != (dialog.Picked{ID: it.ID}) {
			t.Errorf("Enter on %s gives %v", it.ID, got)
		}
	}
	if got := press(dialog.NewPick(kit(), "Views", items...), "3"); got != (dialog.Picked{ID: "view 2"}) {
		t.Errorf("3 gives %v", got)
	}
	if got := press(dialog.NewAsk(kit(), "Quit?", "", items...), "down", "enter"); got != (dialog.Stay{}) {
		t.Errorf("Enter answers a question with %v", got)
	}
}
