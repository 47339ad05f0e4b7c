package list_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/list"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
	"pgregory.net/rapid"
)

func key(s string) string { return s }

func row(s string, _ int, _ list.State) []string {
	return []string{sanitize.Line(s), "  " + sanitize.Line(s)}
}

func named(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf("row %d", i)
	}
	return out
}

func TestWindowAlwaysHoldsTheSelection(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := list.New(theme.Must("", true), key, row)
		items := named(rapid.IntRange(0, 40).Draw(t, "n"))
		l.SetItems(items)
		w, h := 30, 10
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				l.Move(rapid.IntRange(-50, 50).Draw(t, "move"))
			case 1:
				l.Page(rapid.SampledFrom([]int{-1, 1}).Draw(t, "page"))
			case 2:
				l.HalfPage(1)
			case 3:
				l.First()
			case 4:
				l.Last()
			case 5:
				w, h = rapid.IntRange(0, 60).Draw(t, "w"), rapid.IntRange(0, 15).Draw(t, "h")
				l.SetSize(w, h)
			case 6:
				l.SetRowHeight(rapid.IntRange(1, 2).Draw(t, "row height"))
			case 7:
				l.ToggleMark()
			case 8:
				l.MarkRange()
			case 9:
				items = rapid.SliceOfNDistinct(rapid.SampledFrom(named(40)), 0, 30, rapid.ID).Draw(t, "items")
				l.SetItems(items)
			}
			l.SetSize(w, h)
			view := l.View()
			tuitest.CheckBox(t, view, w, h)
			it, ok := l.Selected()
			if ok != (len(items) > 0) {
				t.Fatalf("selected %v of %d items", ok, len(items))
			}
			if ok && h >= 1 && w >= 12 && !strings.Contains(ansi.Strip(view), ">") {
				t.Fatalf("selection %q is not on screen:\n%s", it, view)
			}
		}
	})
}

func TestSelectionAndMarksFollowTheirRows(t *testing.T) {
	l := list.New(theme.Must("", true), key, row)
	l.SetSize(20, 5)
	l.SetItems([]string{"a", "b", "c", "d"})
	l.Select(1)
	l.ToggleMark() // marks b, moves to c
	l.SetItems([]string{"new", "d", "c", "b", "a"})
	if it, _ := l.Selected(); it != "c" {
		t.Errorf("selected %q, want c", it)
	}
	if got := l.Marked(); !slices.Equal(got, []string{"b"}) {
		t.Errorf("marked %q, want b", got)
	}
	l.SetItems([]string{"new", "d", "a"})
	if it, _ := l.Selected(); it != "a" {
		t.Errorf("selected %q; where its row is gone the selection stays at its place", it)
	}
	if got := l.Marked(); len(got) != 0 {
		t.Errorf("marked %q, which are gone", got)
	}
}

func TestRange(t *testing.T) {
	l := list.New(theme.Must("", true), key, row)
	l.SetSize(20, 5)
	l.SetItems([]string{"a", "b", "c", "d", "e"})
	l.Select(3)
	l.ToggleMark()
	l.First()
	l.Move(1)
	l.MarkRange()
	if got := l.Marked(); !slices.Equal(got, []string{"b", "c", "d"}) {
		t.Errorf("marked %q", got)
	}
	l.UnmarkAll()
	if got := l.Marked(); len(got) != 0 {
		t.Errorf("marked %q", got)
	}
}

func TestDrawing(t *testing.T) {
	for _, size := range tuitest.Sizes() {
		l := list.New(theme.Must("", true), key, row)
		l.SetSize(size[0], size[1])
		l.SetRowHeight(2)
		l.SetItems([]string{"Publish these notes?", "世界 " + strings.Repeat("long ", 60), "Rename service", "\x1b[31mred\u202e"})
		l.ToggleMark()
		tuitest.Golden(t, fmt.Sprintf("list-%dx%d", size[0], size[1]), tuitest.Layout(l.View()))
	}
}

func TestEmptyListSaysWhatToDo(t *testing.T) {
	l := list.New(theme.Must("", true), key, row)
	l.SetSize(20, 4)
	l.SetEmpty("Nothing waits. + starts a workflow.")
	tuitest.CheckBox(t, l.View(), 20, 4)
	if got := strings.Join(strings.Fields(ansi.Strip(l.View())), " "); got != "Nothing waits. + starts a workflow." {
		t.Errorf("shows %q", got)
	}
	if _, ok := l.Selected(); ok {
		t.Error("an empty list has a selection")
	}
}

func TestSelectionIsSeenWithoutColour(t *testing.T) {
	l := list.New(theme.Must("", true), key, row)
	l.SetSize(20, 3)
	l.SetItems([]string{"a", "b", "c"})
	l.ToggleMark()
	lines := strings.Split(ansi.Strip(l.View()), "\n")
	for i, want := range []string{" *a", "> b", "  c"} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d is %q, want %q", i, lines[i], want)
		}
	}
}

func BenchmarkKey100k(b *testing.B) {
	l := list.New(theme.Must("", true), key, row)
	l.SetSize(200, 60)
	l.SetItems(named(100_000))
	for b.Loop() {
		l.Move(1)
		_ = l.View()
	}
}
