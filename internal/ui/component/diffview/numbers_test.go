package diffview

import (
	"slices"
	"strings"
	"testing"

	"github.com/aymanbagabas/go-udiff"
	"pgregory.net/rapid"

	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/pager"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// numbered checks that every line of a diff is the line of that number in the texts.
func numbered(t *rapid.T, d Diff, old, cur []string) {
	for _, l := range d.Lines {
		if l.Kind == Hunk {
			if l.Old != 0 || l.New != 0 {
				t.Fatalf("a heading has a number: %+v", l)
			}
			continue
		}
		if (l.Old == 0) != (l.Kind == Added) || (l.New == 0) != (l.Kind == Removed) {
			t.Fatalf("%c has the numbers %d and %d", l.Kind, l.Old, l.New)
		}
		if l.Old > 0 && old[l.Old-1] != l.Text || l.New > 0 && cur[l.New-1] != l.Text {
			t.Fatalf("%+v is another line of %q or %q", l, old, cur)
		}
	}
}

// deceptive lines look like parts of a diff.
var deceptive = rapid.SampledFrom([]string{"a", "b", "- a", "-- a", "++ b", "@ 1", "+", "-", "", "diff a", "index b", "++", "--"})

func TestLinesHaveTheirNumbers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, cur := rapid.SliceOfN(deceptive, 0, 12).Draw(t, "old"), rapid.SliceOfN(deceptive, 0, 12).Draw(t, "new")
		numbered(t, Compare(joined(old), joined(cur), rapid.IntRange(-1, 3).Draw(t, "context")), old, cur)
	})
}

// TestUnifiedDiffsAreReadByTheirCounts: lines that look like names of files or headings of hunks are what they are.
func TestUnifiedDiffsAreReadByTheirCounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old, cur := rapid.SliceOfN(deceptive, 0, 12).Draw(t, "old"), rapid.SliceOfN(deceptive, 0, 12).Draw(t, "new")
		before, after := joined(old), joined(cur)
		u, err := udiff.ToUnified("a.txt\t2026-01-02 03:04:05", "b.txt\t2026-01-02 03:04:06", before, udiff.Lines(before, after), 2)
		if err != nil {
			t.Fatal(err)
		}
		d := ParseUnified(u)
		numbered(t, d, old, cur)
		names := 0
		for _, l := range d.Lines {
			if l.Kind == Hunk && !strings.HasPrefix(l.Text, "@@") {
				names++
			}
		}
		if u != "" && names != 2 {
			t.Fatalf("%d names of files in %q: %+v", names, u, d.Lines)
		}
		added, removed := 0, 0
		for i, l := range strings.Split(u, "\n") {
			switch {
			case i < 2:
			case strings.HasPrefix(l, "+"):
				added++
			case strings.HasPrefix(l, "-"):
				removed++
			}
		}
		if d.Added != added || d.Removed != removed {
			t.Fatalf("+%d -%d, want +%d -%d of %q", d.Added, d.Removed, added, removed, u)
		}
	})
}

func joined(lines []string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, "\n") + "\n"
}

func texts(d Diff) []string {
	var out []string
	for _, l := range d.Lines {
		out = append(out, string(l.Kind)+l.Text)
	}
	return out
}

func TestNamesOfFilesStandWithoutTimes(t *testing.T) {
	const raw = "--- a/old name.sh\t2026-11-30 08:00:00.000000000 +0000\r\n+++ b/new\tMon Nov 30 08:00:00 2026\n@@ -1 +1 @@\n-a\tb\n+a\tc\n"
	want := []string{"@--- a/old name.sh", "@+++ b/new", "@@@ -1 +1 @@", "-a  b", "+a  c"}
	if got := texts(ParseUnified(raw)); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestWrongCounts: models write hunks whose counts are wrong. The next file begins where its names stand.
func TestWrongCounts(t *testing.T) {
	const raw = "--- a\n+++ b\n@@ -1,9 +1,9 @@\n-x\n+y\n--- c\n+++ d\n@@ -5 +5 @@\n-x\n+y\n+z\n"
	want := []string{"@--- a", "@+++ b", "@@@ -1,9 +1,9 @@", "-x", "+y", "@--- c", "@+++ d", "@@@ -5 +5 @@", "-x", "+y", "+z"}
	d := ParseUnified(raw)
	if got := texts(d); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if last := d.Lines[len(d.Lines)-1]; last.New != 6 {
		t.Errorf("the last line has number %d, want 6", last.New)
	}
}

// TestNumbersNeedRoom: the numbers stand at the first row of a line that is wrapped, and nowhere on a narrow screen.
func TestNumbersNeedRoom(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("word ", 12))
	d := Compare("a\nb\n", "a\n"+long+"\n", 3)
	for w, want := range map[int][]string{
		49: {"  a", "- b", "+ word word word word word word word word word", "word word word"},
		54: {"1 1   a", "2   - b", "  2 + word word word word word word word word word", "      word word word"},
	} {
		if got := drawnLines(Source(theme.Must("", true), d), w); !slices.Equal(got, want) {
			t.Errorf("at %d:\n%s\nwant\n%s", w, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	for w, numbers := range map[int]bool{74: false, 78: true} {
		if got := drawnLines(Sides(theme.Must("", true), d, w), w); strings.HasPrefix(got[0], "1 ") != numbers {
			t.Errorf("side by side at %d, numbers %v:\n%s", w, numbers, strings.Join(got, "\n"))
		}
	}
}

// TestSearchPassesOverNumbers: what is looked for is in the text; numbers beside it are not.
func TestSearchPassesOverNumbers(t *testing.T) {
	th, d := theme.Must("", true), Compare("a\nb\n", "a\nc 1\n", 3)
	for name, src := range map[string]pager.Source{"unified": Source(th, d), "sides": Sides(th, d, 120)} {
		p := pager.New(th)
		p.SetSize(120, 10)
		p.SetSource(pager.Join(src, pager.Lines{"end"}))
		if n := p.Search("1"); n != 1 {
			t.Errorf("%s: found in %d lines, want 1", name, n)
		}
		plain := p.View()
		p.Search("")
		if strings.Count(plain, "\x1b[") == strings.Count(p.View(), "\x1b[") {
			t.Errorf("%s: what is found is not marked", name)
		}
		for _, row := range drawnLines(src, 120) {
			if cell.Width(row) > 120 {
				t.Errorf("%s: %q is too wide", name, row)
			}
		}
	}
}
