package pager_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/pager"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
	"pgregory.net/rapid"
)

func numbered(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}

func TestPosition(t *testing.T) {
	p := pager.New(theme.Must("", true))
	p.SetText(numbered(48))
	p.SetSize(20, 14)
	for _, tc := range []struct {
		do   func()
		want string
	}{
		{func() {}, "lines 1-14/48  29%"}, {func() { p.Scroll(1) }, "lines 2-15/48  31%"},
		{func() { p.Page(1) }, "lines 15-28/48  58%"}, {p.Bottom, "lines 35-48/48  100%"},
		{func() { p.Scroll(9) }, "lines 35-48/48  100%"}, {p.Top, "lines 1-14/48  29%"},
		{func() { p.Scroll(-3) }, "lines 1-14/48  29%"}, {func() { p.ScrollTo(40) }, "lines 35-48/48  100%"},
		{func() { p.SetSize(20, 60) }, "lines 1-48/48  100%"},
	} {
		tc.do()
		if got := p.Position(); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}

func TestLongLinesWrapOrCut(t *testing.T) {
	p := pager.New(theme.Must("", true))
	p.SetText("one two three four\nend")
	p.SetSize(10, 4)
	if got := shown(p); got != "one two|three four|end|" {
		t.Errorf("wrapped: %q", got)
	}
	p.Scroll(1)
	if !p.AtBottom() {
		t.Error("not at the bottom")
	}
	p.SetWrap(false)
	if got := shown(p); got != "one two t…|end||" {
		t.Errorf("cut: %q", got)
	}
	p.ScrollX(8)
	if got := shown(p); got != "three four|||" {
		t.Errorf("moved: %q", got)
	}
}

func shown(p *pager.Pager) string {
	lines := strings.Split(ansi.Strip(p.View()), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "|")
}

func TestSearch(t *testing.T) {
	p := pager.New(theme.Must("", true))
	p.SetText(numbered(100) + "Needle here\n" + numbered(50) + "needle again")
	p.SetSize(20, 10)
	if n := p.Search("needle"); n != 2 {
		t.Fatalf("%d matches, want 2", n)
	}
	if !strings.Contains(shown(p), "Needle here") || p.SearchState() != `"needle" 1/2` {
		t.Errorf("first: %s %s", p.SearchState(), shown(p))
	}
	p.Next(1)
	if !strings.Contains(shown(p), "needle again") {
		t.Errorf("second: %s", shown(p))
	}
	p.Next(1)
	if p.SearchState() != `"needle" 1/2` {
		t.Errorf("round the end: %s", p.SearchState())
	}
	if n := p.Search("Needle"); n != 1 {
		t.Errorf("with a capital: %d matches, want 1", n)
	}
	if n := p.Search("absent"); n != 0 || p.SearchState() != `"absent" not found` {
		t.Errorf("absent: %d %s", n, p.SearchState())
	}
	p.Search("")
	if p.SearchState() != "" {
		t.Errorf("ended: %q", p.SearchState())
	}
}

func TestMatchesAreMarkedAtTheirPlace(t *testing.T) {
	th := theme.Must("", true)
	p := pager.New(th)
	p.SetText("世界 needle end")
	p.SetSize(30, 1)
	p.Search("needle")
	if view := p.View(); !strings.Contains(view, th.CurrentMatch.Render("needle")) {
		t.Errorf("not marked: %q", view)
	}
}

func TestScrollingShowsEveryRowOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := tuitest.AnyText().Draw(t, "text")
		w, h := rapid.IntRange(4, 40).Draw(t, "w"), rapid.IntRange(1, 8).Draw(t, "h")
		all := pager.New(theme.Must("", true))
		all.SetText(text)
		all.SetSize(w, 400)
		want := strings.Split(all.View(), "\n")
		p := pager.New(theme.Must("", true))
		p.SetText(text)
		p.SetSize(w, h)
		for top := 0; ; top++ {
			got := strings.Split(p.View(), "\n")
			for i := range got {
				if got[i] != want[top+i] {
					t.Fatalf("row %d is %q, want %q", top+i, got[i], want[top+i])
				}
			}
			if p.AtBottom() {
				break
			}
			before := p.View()
			p.Scroll(1)
			if top > 380 || p.View() == before && p.Position() == "" {
				t.Fatal("scrolling does not end")
			}
		}
	})
}

func benchmark(b *testing.B, text string) {
	p := pager.New(theme.Must("", true))
	p.SetText(text)
	p.SetSize(200, 60)
	for b.Loop() {
		p.Scroll(1)
		_ = p.View()
		_ = p.Position()
		if p.AtBottom() {
			p.Top()
		}
	}
}

func BenchmarkKey100kLines(b *testing.B) { benchmark(b, numbered(100_000)) }

func BenchmarkKeyOneLineOf1MB(b *testing.B) { benchmark(b, strings.Repeat("word and ", 120_000)) }

func BenchmarkSearch1MB(b *testing.B) {
	p := pager.New(theme.Must("", true))
	p.SetText(numbered(100_000))
	p.SetSize(200, 60)
	for b.Loop() {
		p.Search("99999")
	}
}

// A narrower drawing of the same thing may have fewer lines with a match than before.
func TestSearchSurvivesFewerMatches(t *testing.T) {
	p := pager.New(theme.Must("", true))
	p.SetSize(20, 4)
	p.SetText("a\nb\na")
	p.Search("a")
	p.Next(1)
	p.Replace(pager.Text("a"))
	if got := p.View(); !strings.Contains(got, "a") || p.SearchState() != `"a" 1/1` {
		t.Errorf("%q %s", got, p.SearchState())
	}
}
