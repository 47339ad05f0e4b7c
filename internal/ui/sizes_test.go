package ui

import (
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/hitl-tui/hitl-tui/internal/tuitest"
)

// Every screen at every width from 40 to 200 columns, and at many heights from 12 to 60: it fills its box, the last line of keys
// has whole words, rules run through, and lines that part columns stand one above the other.
func TestEverySize(t *testing.T) {
	var sizes [][2]int
	for w := 40; w <= 200; w++ {
		sizes = append(sizes, [2]int{w, []int{12, 17, 24, 33}[w%4]})
	}
	for h := 12; h <= 60; h += 6 {
		sizes = append(sizes, [2]int{40, h}, [2]int{80, h}, [2]int{139, h}, [2]int{200, h})
	}
	for name, s := range scenes() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := s.show(t, 80, 24, true)
				for _, size := range sizes {
					l.Model.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
					view := l.View()
					if e := tuitest.BoxError(view, size[0], size[1]); e != "" {
						t.Fatalf("%dx%d: %s", size[0], size[1], e)
					}
					if why := untidy(strings.Split(ansi.Strip(view), "\n")); why != "" {
						t.Fatalf("%dx%d: %s:\n%s", size[0], size[1], why, ansi.Strip(view))
					}
				}
			})
		})
	}
}

// What is untidy is found.
func TestUntidy(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"tidy":   {[]string{"a │ b", "──────", "c │ d", "e │ f", "a approve"}, ""},
		"word":   {[]string{"a", "a approve  b bac…"}, "cut"},
		"rules":  {[]string{"───", "───", "a"}, "two rules"},
		"column": {[]string{"日本 │ b", "c      d", "e    │ f", ""}, "broken"},
	} {
		if got := untidy(c.lines); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

var (
	brokenWord = regexp.MustCompile(`…`)
	twoRules   = regexp.MustCompile(`^[─ ]*$`)
)

// untidy says what is ugly about a screen.
func untidy(lines []string) string {
	if last := lines[len(lines)-1]; brokenWord.MatchString(last) && !strings.HasPrefix(last, "╰") && !strings.HasPrefix(last, "│") {
		return "a word is cut in the keys: " + last
	}
	before := ""
	for _, l := range lines {
		if strings.Contains(l, "──") && l == before && twoRules.MatchString(l) {
			return "two rules in a row"
		}
		before = l
	}
	return crooked(lines)
}

// crooked finds a line that parts columns and has a gap: above and below is the same line, and in between it is missing.
func crooked(lines []string) string {
	at := make([]map[int]rune, len(lines))
	for y, l := range lines {
		at[y] = map[int]rune{}
		x := 0
		for _, r := range l {
			at[y][x] = r
			x += max(ansi.StringWidth(string(r)), 0)
		}
	}
	for y := 1; y < len(lines)-1; y++ {
		for x, r := range at[y-1] {
			if r == '│' && at[y+1][x] == '│' && !strings.ContainsRune("│─┼├┤┬┴╭╮╰╯", at[y][x]) {
				return "a column's line is broken in line " + lines[y]
			}
		}
	}
	return ""
}
