package cell

import (
	"strings"
	"testing"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"pgregory.net/rapid"
)

func TestFit(t *testing.T) {
	for _, tc := range []struct {
		in   string
		w    int
		want string
	}{
		{"abc", 5, "abc  "}, {"abcdef", 4, "abc…"}, {"abc", 0, ""}, {"abc", -1, ""}, {"", 2, "  "},
		{"世界", 3, "世…"}, {"世界", 2, "… "}, {"a\nb", 5, "a b  "}, {"a\tb", 8, "a    b  "},
	} {
		if got := Fit(tc.in, tc.w); got != tc.want {
			t.Errorf("Fit(%q, %d) = %q, want %q", tc.in, tc.w, got, tc.want)
		}
	}
}

func TestBetween(t *testing.T) {
	for _, tc := range []struct {
		left, right string
		w           int
		want        string
	}{
		{"left", "right", 12, "left   right"}, {"a long left side", "right", 12, "a lon… right"},
		{"left", "", 6, "left  "}, {"left", "right", 0, ""},
	} {
		if got := Between(tc.left, tc.right, tc.w); got != tc.want {
			t.Errorf("Between(%q, %q, %d) = %q, want %q", tc.left, tc.right, tc.w, got, tc.want)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, tc := range []struct {
		in   string
		w    int
		want string
	}{
		{"the quick brown fox", 10, "the quick|brown fox"}, {"", 5, ""}, {"abcdefgh", 3, "abc|def|gh"},
		{"ab cdefgh", 4, "ab|cdef|gh"}, {"世界世界", 5, "世界|世界"}, {"a  b", 2, "a |b"}, {"one two", 3, "one|two"},
		{" 世界", 3, "|世|界"}, {" 🇩🇪🇫🇷", 3, "|🇩🇪|🇫🇷"},
	} {
		if got := strings.Join(Wrap(tc.in, tc.w), "|"); got != tc.want {
			t.Errorf("Wrap(%q, %d) = %q, want %q", tc.in, tc.w, got, tc.want)
		}
	}
}

func TestWrapKeepsStyles(t *testing.T) {
	red := lipgloss.NewStyle().Foreground(lipgloss.Color("#ff0000"))
	rows := Wrap(red.Render("one two three"), 5)
	if len(rows) != 3 {
		t.Fatalf("rows %q", rows)
	}
	for _, r := range rows {
		if !strings.HasPrefix(r, "\x1b[38;2;255;0;0m") || !strings.HasSuffix(r, "m") || strings.HasSuffix(r, ";0m") {
			t.Errorf("row %q is not styled by itself", r)
		}
	}
}

func TestBoxesFitAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := sanitize.Text(tuitest.AnyText().Draw(t, "text"))
		w, h := rapid.IntRange(0, 90).Draw(t, "w"), rapid.IntRange(0, 20).Draw(t, "h")
		tuitest.CheckBox(t, Block(strings.Split(text, "\n"), w, h), w, h)
		line := sanitize.Line(text)
		if w > 0 {
			tuitest.CheckBox(t, Fit(line, w), w, 1)
			tuitest.CheckBox(t, Right(line, w), w, 1)
			tuitest.CheckBox(t, Between(line, line, w), w, 1)
		}
	})
}

func TestWrapLosesOnlySpaces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := sanitize.Line(tuitest.AnyText().Draw(t, "text"))
		w := rapid.IntRange(2, 60).Draw(t, "w")
		rows := Wrap(line, w)
		for _, r := range rows {
			if Width(r) > w {
				t.Fatalf("row %q has %d cells, more than %d", r, Width(r), w)
			}
		}
		strip := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if got := strip(strings.Join(rows, "")); got != strip(line) {
			t.Fatalf("wrapped to %q, from %q", got, line)
		}
	})
}

func TestOverlayKeepsTheScreensBox(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := sanitize.Text(tuitest.AnyText().Draw(t, "text"))
		w, h := rapid.IntRange(1, 60).Draw(t, "w"), rapid.IntRange(1, 15).Draw(t, "h")
		screen := Block(strings.Split(text, "\n"), w, h)
		box := Block([]string{"box", "世界"}, rapid.IntRange(1, 20).Draw(t, "bw"), rapid.IntRange(1, 5).Draw(t, "bh"))
		x, y := rapid.IntRange(0, 70).Draw(t, "x"), rapid.IntRange(-2, 20).Draw(t, "y")
		tuitest.CheckBox(t, Overlay(screen, box, x, y), w, h)
		tuitest.CheckBox(t, Centre(screen, box, w, h), w, h)
	})
}

func TestCentre(t *testing.T) {
	got := Centre("aaaaaa\nbbbbbb\ncccccc", "##", 6, 3)
	if want := "aaaaaa\nbb##bb\ncccccc"; ansi.Strip(got) != want {
		t.Errorf("got %q", got)
	}
}

func BenchmarkWrapOneMegabyteLine(b *testing.B) {
	line := strings.Repeat("word and word ", 75_000)
	for b.Loop() {
		Wrap(line, 80)
	}
}
