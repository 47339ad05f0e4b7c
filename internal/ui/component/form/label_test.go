package form

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
)

// TestLabelsKeepTheNumberOfTheirItem: however deep a field is and however narrow the screen, the label fits, and says
// which item the field belongs to.
func TestLabelsKeepTheNumberOfTheirItem(t *testing.T) {
	title := rapid.SampledFrom([]string{"Order", "lines", "amount [EUR]", "the date on which it was delivered", "名前と住所", "a"})
	rapid.Check(t, func(t *rapid.T) {
		var name strings.Builder
		for i := range rapid.IntRange(1, 8).Draw(t, "depth") {
			if i > 0 {
				name.WriteString(" › ")
			}
			name.WriteString(title.Draw(t, "title"))
			if rapid.Bool().Draw(t, "list") {
				fmt.Fprintf(&name, "[%d]", rapid.IntRange(1, 4000).Draw(t, "item"))
			}
		}
		w := rapid.IntRange(8, 60).Draw(t, "w")
		got := label(name.String(), w)
		if cell.Width(got) > w {
			t.Fatalf("%q is wider than %d", got, w)
		}
		if all := itemNumber.FindAllString(name.String(), -1); len(all) > 0 && !strings.Contains(got, all[len(all)-1]) {
			t.Fatalf("%q at %d is %q, which does not say the item", name.String(), w, got)
		}
	})
}

func TestLabels(t *testing.T) {
	for _, tc := range []struct {
		name string
		w    int
		want string
	}{
		{"Order › lines[2] › amount", 40, "Order › lines[2] › amount"},
		{"Order › lines[2] › amount", 20, "…› lines[2] › amount"},
		{"Order › Customer › name of the street", 24, "… › name of the street"},
		{"lines of the order of a customer[12]", 16, "… a customer[12]"},
		{"lines[12] › the day of the delivery", 16, "…[12] › the day…"},
	} {
		if got := label(tc.name, tc.w); got != tc.want {
			t.Errorf("%q at %d is %q, want %q", tc.name, tc.w, got, tc.want)
		}
	}
}
