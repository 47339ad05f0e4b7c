package diffview

import (
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/pager"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

func drawnLines(src pager.Source) []string {
	lines := make([]string, src.Len())
	for i := range lines {
		lines[i] = ansi.Strip(src.Line(i))
	}
	return lines
}

// TestSidesShowBothTexts: every line of each text is on its own side, whole and in order, and no row is too wide.
func TestSidesShowBothTexts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.StringMatching(`[a-z]{1,8}( [a-z]{1,60}){0,2}`)
		old, cur := rapid.SliceOfN(line, 0, 8).Draw(t, "old"), rapid.SliceOfN(line, 0, 8).Draw(t, "new")
		w := rapid.IntRange(LeastForSides, 160).Draw(t, "w")
		d := Compare(strings.Join(old, "\n"), strings.Join(cur, "\n"), -1)
		var left, right strings.Builder
		for _, row := range drawnLines(Sides(theme.Must("", true), d, w)) {
			if cell.Width(row) > w {
				t.Fatalf("%q is wider than %d", row, w)
			}
			l, r, ok := strings.Cut(row, " │ ")
			if !ok {
				t.Fatalf("no sides in %q", row)
			}
			left.WriteString(squeezed(l))
			right.WriteString(squeezed(r))
		}
		if got, want := left.String(), squeezed(strings.Join(old, "")); got != want {
			t.Fatalf("left is %q, want %q", got, want)
		}
		if got, want := right.String(), squeezed(strings.Join(cur, "")); got != want {
			t.Fatalf("right is %q, want %q", got, want)
		}
	})
}

// squeezed is a text without marks and the space at which it may be wrapped.
func squeezed(s string) string { return strings.NewReplacer(" ", "", "+", "", "-", "").Replace(s) }

func TestSidesNeedRoom(t *testing.T) {
	th, d := theme.Must("", true), Compare("a\nb", "a\nc", 3)
	if got, want := drawnLines(Sides(th, d, LeastForSides-1)), drawnLines(Source(th, d)); !slices.Equal(got, want) {
		t.Errorf("on a narrow screen %q, want %q", got, want)
	}
}
