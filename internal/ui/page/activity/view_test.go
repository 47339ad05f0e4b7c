package activity

import (
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// TestTablesCutNoHeading: at every width the headings and the figures below them are whole, and a node keeps its name.
func TestTablesCutNoHeading(t *testing.T) {
	p := &Page{theme: theme.Must("", true)}
	groups := []desk.ActivityGroup{{Name: "release-notes / review", Decisions: 1234, Approved: 1234, Median: 59 * time.Minute}}
	for w := 30; w <= 100; w++ {
		for _, what := range []string{"workflow", "node", "reviewer"} {
			lines := p.table(desk.ActivityTable{What: what, Groups: groups}, w, 5)
			for _, l := range lines[1:] {
				if cell.Width(l) != w {
					t.Errorf("%d: %q is %d wide", w, ansi.Strip(l), cell.Width(l))
				}
			}
			head, row := ansi.Strip(lines[1]), ansi.Strip(lines[2])
			if !strings.Contains(head, "BY "+strings.ToUpper(what)+" ") || !strings.HasSuffix(head, " wait ") || strings.Contains(head, "…") {
				t.Errorf("%d: heading %q", w, head)
			}
			if !strings.Contains(row, " / review ") || !strings.HasSuffix(row, " 59m ") || !strings.Contains(row, " 1234 ") {
				t.Errorf("%d: row %q", w, row)
			}
		}
	}
}
