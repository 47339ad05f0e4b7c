package ui

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/tuitest/svg"
)

// pictures are those of the README: what they show, how large, and the keys that lead there.
func pictures() map[string]struct {
	title string
	w, h  int
	keys  []string
	light bool
} {
	type picture = struct {
		title string
		w, h  int
		keys  []string
		light bool
	}
	return map[string]picture{
		"inbox":     {"hitl-tui: what waits, and the question", 120, 34, []string{"a"}, false},
		"editor":    {"hitl-tui: edit, then approve", 120, 30, []string{"j", "enter", "e", "down", "down", "end", "!"}, false},
		"diff":      {"hitl-tui: a change, side by side", 120, 30, []string{"j", "j", "enter", "d", "d"}, false},
		"history":   {"hitl-tui: how a thread came here", 120, 30, []string{"j", "H", "k", "d"}, false},
		"activity":  {"hitl-tui: who decided what", 120, 30, []string{"6"}, true},
		"retention": {"hitl-tui: what would go, and what stays", 120, 30, []string{"7", "j"}, false},
	}
}

// The committed pictures show the desk as it is: `make pictures` draws them anew.
func TestPicturesAreFresh(t *testing.T) {
	for name, p := range pictures() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				later := time.Until(time.Date(2026, 3, 12, 14, 32, 0, 0, time.UTC))
				now := func() time.Time { return time.Now().Add(later) }
				m := New(t.Context(), office(t, now), Options{StateDir: t.TempDir(), Now: now})
				m.setTheme(m.themeFile, !p.light)
				program := tuitest.Run(t, m, p.w, p.h)
				defer func() {
					if _, err := program.Stop(); err != nil {
						t.Error(err)
					}
				}()
				program.Advance(time.Second)
				for _, k := range p.keys {
					program.Keys(k)
					program.Advance(settle)
				}
				tokens := m.themeFile.Tokens
				got := program.Picture(svg.Options{Title: p.title, Text: ansi.HexColor(tokens.Text.Of(m.dark)), Background: ansi.HexColor(tokens.Background.Of(m.dark)),
					Bar: ansi.HexColor(tokens.Surface.Of(m.dark)), Muted: ansi.HexColor(tokens.Muted.Of(m.dark))})
				file := filepath.Join("..", "..", "docs", "pictures", name+".svg")
				if tuitest.Update() {
					if err := os.WriteFile(file, got, 0o644); err != nil {
						t.Fatal(err)
					}
					return
				}
				want, err := os.ReadFile(file)
				if err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s is not what the desk looks like (%v): run `make pictures` and look at it", file, err)
				}
			})
		})
	}
}

// The README shows each picture, with words for those who do not see it.
func TestReadmeShowsThePictures(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	for name := range pictures() {
		before, _, ok := strings.Cut(string(readme), "](docs/pictures/"+name+".svg)")
		if alt := before[strings.LastIndex(before, "![")+2:]; !ok || len(strings.Fields(alt)) < 5 {
			t.Errorf("README.md shows no ![words about it](docs/pictures/%s.svg)", name)
		}
	}
}
