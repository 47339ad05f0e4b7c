package pager_test

import (
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/pager"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// TestHighlight marks whole characters, whatever styles a line has, and leaves the others theirs.
func TestHighlight(t *testing.T) {
	th := theme.Must("", true)
	mark := func(text string) string { return th.Match.Render(text) }
	const red, bold, off = "\x1b[31m", "\x1b[1m", "\x1b[m"
	for _, x := range []struct{ line, query, want string }{
		{"a tea", "", "a tea"},
		{"a tea", "ink", "a tea"},
		{"tea, Tea", "tea", mark("tea") + ", " + mark("Tea")},
		{"tea, Tea", "Tea", "tea, " + mark("Tea")},
		{red + "a tea bag" + off, "tea", red + "a " + off + mark("tea") + red + " bag" + off},
		{red + bold + "tea" + off + " tea", "tea", red + bold + off + mark("tea") + red + bold + off + " " + mark("tea")},
		{red + "t" + off + "ea", "tea", red + off + mark("t") + red + off + mark("ea")},
		{"\x1b[0;31mtea", "tea", "\x1b[0;31m" + off + mark("tea") + "\x1b[0;31m"},
		{"cafe\u0301 e", "e", "caf" + mark("e\u0301") + " " + mark("e")},
		{"cafe\u0301", "\u0301", "caf" + mark("e\u0301")},
		{"世界 界", "界", "世" + mark("界") + " " + mark("界")},
		{"👩\u200d👩 x", "\u200d", mark("👩\u200d👩") + " x"},
		{"aaa", "a", mark("a") + mark("a") + mark("a")},
	} {
		if got := pager.Highlight(th, x.line, x.query, false); got != x.want {
			t.Errorf("%q in %q\nis   %q\nwant %q", x.query, x.line, got, x.want)
		}
	}
	if got := pager.Highlight(th, "tea", "tea", true); got != th.CurrentMatch.Render("tea") {
		t.Errorf("the current match is %q", got)
	}
}

// TestHighlightOfALongLine: a text of one line may be a megabyte, and what is looked for a letter that is everywhere in it.
// With work for each match that grows with the line this would take hours.
func TestHighlightOfALongLine(t *testing.T) {
	th := theme.Must("", true)
	plain := strings.Repeat("lorem ipsum dolor sit amet ", 40_000)
	style := lipgloss.NewStyle().Foreground(lipgloss.Red)
	for _, line := range []string{plain, style.Render(plain), strings.Repeat(style.Render("lorem")+" ipsum ", 20_000), strings.Repeat("größe ", 40_000)} {
		got := pager.Highlight(th, line, "e", false)
		if ansi.Strip(got) != ansi.Strip(line) || strings.Count(got, th.Match.Render("e")) != strings.Count(line, "e") {
			t.Errorf("a line of %d bytes: wrong", len(line))
		}
	}
}
