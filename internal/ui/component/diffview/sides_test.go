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

// drawnLines is a source in rows of w cells, without styles.
func drawnLines(src pager.Source, w int) []string {
	var lines []string
	plain := func(s string) string { return s }
	for i := range src.Len() {
		rows := []string{src.Line(i)}
		if l, ok := src.(pager.Layout); ok {
			rows = l.Rows(i, w, true, plain)
		}
		for _, r := range rows {
			lines = append(lines, ansi.Strip(r))
		}
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
		for _, row := range drawnLines(Sides(theme.Must("", true), d, w), w) {
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

// squeezed is a text of letters without numbers, marks and the space at which it may be wrapped.
func squeezed(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" +-0123456789", r) {
			return -1
		}
		return r
	}, s)
}

func TestSidesNeedRoom(t *testing.T) {
	th, d := theme.Must("", true), Compare("a\nb", "a\nc", 3)
	const narrow = LeastForSides - 1
	if got, want := drawnLines(Sides(th, d, narrow), narrow), drawnLines(Source(th, d), narrow); !slices.Equal(got, want) {
		t.Errorf("on a narrow screen %q, want %q", got, want)
	}
}
