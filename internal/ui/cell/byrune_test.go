package cell_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
)

// What stands right of a character stays in its column, on a terminal that counts code points too.
func TestByRuneKeepsColumns(t *testing.T) {
	for name, text := range map[string]string{
		"joined": "👩‍👩‍👧‍👦 family", "heart": "❤️ heart", "flags": "🇩🇪🇫🇷", "skin": "👍🏽 ok", "keycap": "1️⃣ one", "combining": "e\u0301\u0301 a", "cjk": "世界",
		"hindi": "क्षत्रिय", "hebrew": "שלום", "jamo": "한글",
	} {
		line := "\x1b[1m" + cell.Fit(text, 20) + "\x1b[m│ right"
		got := cell.ByRune(line)
		left, _, ok := strings.Cut(got, "│")
		if !ok || ansi.StringWidthWc(left) != 20 {
			t.Errorf("%s: %d cells: %q", name, ansi.StringWidthWc(left), left)
		}
	}
	if got := cell.ByRune("a שלום b"); got != "a שלום b" {
		t.Errorf("letters changed: %q", got)
	}
}

// Nothing that was safe becomes unsafe, and a line never gets shorter than it was measured.
func TestByRuneIsSafe(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := cell.Fit(sanitize.Line(tuitest.AnyText().Draw(t, "text")), rapid.IntRange(1, 60).Draw(t, "width"))
		got := cell.ByRune(line)
		if bad := tuitest.UnsafeIn(got); bad != "" {
			t.Fatalf("%s in %q", bad, got)
		}
		if ansi.StringWidthWc(got) < cell.Width(line) {
			t.Fatalf("%d cells of %d: %q", ansi.StringWidthWc(got), cell.Width(line), got)
		}
	})
}
