package cell_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
)

func TestASCII(t *testing.T) {
	for text, want := range map[string]string{
		"":                  "",
		"as it is\nand was": "as it is\nand was",
		"╭─ title ─╮\n│ a…  ›│\n╰──┼──╯": "+- title -+\n| a.  >|\n+--+--+",
		"\x1b[31m│\x1b[0mred\x1b[1m…":    "\x1b[31m|\x1b[0mred\x1b[1m.",
		"世界!":                            "????!",
		"café":                           "caf?",
		"cafe\u0301!":                    "caf?!",
		"1️⃣ one":                        "?? one",
		"👩‍👩‍👧‍👦x":                       "??x",
		"a\u00a0b “c” – d":               `a b "c" - d`,
		"▁▂▃▄▅▆▇█":                       "_.-=+*%#",
		"●●●  ✓ ok  ✗ no":                "***  v ok  x no",
	} {
		if got := cell.ASCII(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// TestASCIIKeepsEveryCell: whatever a screen holds, nothing else than ASCII is left, and what stands right of it in its column.
func TestASCIIKeepsEveryCell(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := tuitest.AnyText().Draw(t, "text")
		var lines []string
		for l := range strings.SplitSeq(text, "\n") {
			lines = append(lines, "\x1b[1m"+cell.Fit(ansi.Strip(l), 40)+"\x1b[0m|")
		}
		got := strings.Split(cell.ASCII(strings.Join(lines, "\n")), "\n")
		for i, l := range lines {
			if strings.ContainsFunc(got[i], func(r rune) bool { return r >= utf8.RuneSelf }) {
				t.Fatalf("%q has more than ASCII", got[i])
			}
			if a, b := ansi.StringWidth(got[i]), cell.Width(l); a != b {
				t.Fatalf("%q is %d wide, was %q of %d", got[i], a, l, b)
			}
		}
	})
}
