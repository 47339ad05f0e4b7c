package ui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// screens are the screens and dialogs, and the keys that lead there.
func screens() map[string][]string {
	return map[string][]string{
		"inbox":    {"j"},
		"question": {"j", "enter"},
		"tree":     {"j", "j", "j", "j", "j", "enter", "j"},
		"editor":   {"j", "enter", "e"},
		"chooser":  {"j", "j", "j", "j", "enter", "c"},
		"actions":  {"j", "enter", "enter"},
		"unsent":   {"a", "a"},
		"history":  {"j", "H"},
		"diff":     {"j", "H", "k", "d"},
		"graph":    {"j", "H", "v"},
		"failed":   {"3"},
		"finished": {"4"},
		"activity": {"6"},
		"keep":     {"7"},
		"help":     {"?"},
		"thread":   {"2", "enter"},
		"error":    {"3", "enter"},
		"outputs":  {"4", "enter"},
		"new":      {"+"},
		"input":    {"+", "1"},
		"outbox":   {"a", "a", "U"},
		"marked":   {"G", "space", "k", "k", "space"},
		"bulk":     {"G", "space", "k", "k", "space", "A"},
		"bulk_ask": {"G", "space", "k", "k", "space", "A", "a"},
		"bulk_why": {"G", "space", "k", "k", "space", "A", "r"},
		"palette":  {":"},
		"found":    {":", "h", "i", "s", "t"},
		"views":    {"v"},
		"messages": {"!"},
		"filter":   {"f", "s"},
		"copy":     {"y"},
		"skip":     {"G", "enter", "S"},
		"reject":   {"j", "enter", "r"},
		"claimed":  {"j", "j", "enter", "s"},
		"form":     {"j", "j", "enter", "s", "y"},
		"quit":     {"a", "a", "q"},
		"empty":    {"f", "z", "z", "enter"},
	}
}

// The layout of every main screen at three sizes, without colours: nothing of it depends on them.
func TestScreens(t *testing.T) {
	for name, keys := range screens() {
		for _, size := range tuitest.Sizes() {
			file := fmt.Sprintf("%s_%dx%d", name, size[0], size[1])
			t.Run(file, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l := scene{stocked, keys}.show(t, size[0], size[1], true)
					tuitest.CheckBox(t, l.View(), size[0], size[1])
					tuitest.Golden(t, file, tuitest.Layout(l.View()))
				})
			})
		}
	}
}

// The terminal's own answer decides between light and dark, until the reviewer chooses.
func TestBackgroundDecidesTheTheme(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := start(t, world(t), 80, 24)
		m := l.Model.(*Model)
		l.Send(tea.BackgroundColorMsg{Color: ansi.HexColor("#ffffff")})
		if m.dark {
			t.Fatal("dark on a white terminal")
		}
		m.run("global.light_dark")
		l.Send(tea.BackgroundColorMsg{Color: ansi.HexColor("#ffffff")})
		if !m.dark {
			t.Error("the reviewer's choice is lost")
		}
		before := m.themeFile.Name
		drain(m, m.run("global.theme"))
		if m.themeFile.Name == before {
			t.Error("the palette's theme command changes nothing")
		}
	})
}

// A user's own theme is read again when the window gets the focus, and one with a mistake leaves the one that holds.
func TestOwnThemeIsReadAgain(t *testing.T) {
	dir := t.TempDir()
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, "mine.yaml"), []byte("name: mine\ninherits: default\ntokens:\n  text: "+text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(`{dark: "#aaaaaa"}`)
	m := New(t.Context(), world(t), Options{Theme: "mine", Themes: theme.Shelf{Dir: dir}})
	focus := func() string {
		read, _ := m.terminal(tea.FocusMsg{})
		m.Update(read())
		return string(m.themeFile.Tokens.Text.Dark)
	}
	if got := focus(); got != "#aaaaaa" {
		t.Errorf("as it is: %s", got)
	}
	write(`{dark: "#bbbbbb"}`)
	if got := focus(); got != "#bbbbbb" {
		t.Errorf("after saving: %s", got)
	}
	write(`{dark: pink}`)
	if got := focus(); got != "#bbbbbb" {
		t.Errorf("with a mistake: %s", got)
	}
}

// Words in the footer are whole at every width.
func TestFooterCutsNoWord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := start(t, world(t), 80, 24)
		l.Keys("j")
		for w := 40; w <= 200; w++ {
			l.Send(tea.WindowSizeMsg{Width: w, Height: 24})
			lines := strings.Split(ansi.Strip(l.View()), "\n")
			for _, line := range lines[len(lines)-2:] {
				if strings.Contains(line, "…") {
					t.Fatalf("at %d: %q", w, line)
				}
			}
		}
	})
}
