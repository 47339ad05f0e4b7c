package ui

import (
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/hitl-tui/hitl-tui/internal/tuitest"
)

// TestASCIIScreens: no screen draws anything else than ASCII where the terminal shows no more, and each has the layout that
// it has elsewhere.
func TestASCIIScreens(t *testing.T) {
	for name, s := range scenes() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := s.show(t, 80, 24, true)
				m := l.Model.(*Model)
				for _, size := range tuitest.Sizes() {
					m.opts.ASCII = false
					l.Send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
					whole := strings.Split(l.View(), "\n")
					m.opts.ASCII = true
					got := l.View()
					if i := strings.IndexFunc(got, func(r rune) bool { return r >= utf8.RuneSelf }); i >= 0 {
						t.Fatalf("draws %q", got[i:min(i+20, len(got))])
					}
					tuitest.CheckBox(t, got, size[0], size[1])
					for i, line := range strings.Split(got, "\n") {
						if ansi.StringWidth(line) != ansi.StringWidth(whole[i]) {
							t.Errorf("line %d is %q, elsewhere %q", i, ansi.Strip(line), ansi.Strip(whole[i]))
						}
					}
				}
			})
		})
	}
}

func TestASCIILayout(t *testing.T) {
	for _, name := range []string{"question", "help", "activity", "graph", "content_table"} {
		synctest.Test(t, func(t *testing.T) {
			l := scenes()[name].show(t, 80, 24, true)
			l.Model.(*Model).opts.ASCII = true
			tuitest.Golden(t, "ascii_"+name+"_80x24", tuitest.Layout(l.View()))
		})
	}
}
