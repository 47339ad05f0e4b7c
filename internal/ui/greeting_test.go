package ui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/desktest"
	"github.com/hitl-tui/hitl-tui/internal/ui/keymap"
)

// greet shows a desk to somebody whose state is in dir.
func greet(t *testing.T, d *desktest.Desk, dir string, o Options, w, h int) *tuitest.Loop {
	t.Helper()
	o.Greet, o.StateDir = true, dir
	l := tuitest.NewLoop(New(t.Context(), d, o), w, h)
	t.Cleanup(func() { time.Sleep(10 * time.Minute) })
	l.Advance(time.Second)
	return l
}

func said(l *tuitest.Loop) string { return l.Model.(*Model).statusLine(200) }

// The keys to know are told until the first decision or Esc, and then never again.
func TestGreeting(t *testing.T) {
	for name, keys := range map[string][]string{"esc": {"esc"}, "a decision": {"j", "a"}, "a written one": {"j", "r", "x", "ctrl+s"}, "a bulk": {"G", "space", "A", "a", "y"}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, dir := world(t), filepath.Join(t.TempDir(), "state")
				const want = "Enter read · a approve · u take back · ? keys · : commands · Esc hides this"
				if text := ansi.Strip(said(greet(t, d, dir, Options{}, 200, 30))); !strings.Contains(text, want) {
					t.Fatalf("a new user is told %q", text)
				}
				l := greet(t, d, dir, Options{}, 200, 30)
				if !strings.Contains(said(l), "a approve") {
					t.Fatalf("the second start says %q, though nothing was decided", said(l))
				}
				for _, k := range keys {
					l.Keys(k)
					l.View()
					l.Advance(settle)
				}
				l.Advance(30 * time.Second)
				if text := said(l); strings.Contains(text, "approve") {
					t.Errorf("after %s it still says %q", name, text)
				}
				if text := said(greet(t, d, dir, Options{}, 200, 30)); strings.Contains(text, "approve") {
					t.Errorf("the next start says %q", text)
				}
			})
		})
	}
}

// How the greeting looks, for whom it is.
func TestGreetingIsForWhoIsThere(t *testing.T) {
	own := keymap.Overrides{"review": {"approve": {"ctrl+a"}, "open": {"f5"}}, "global": {"help": {"f1"}, "palette": {}}}
	for name, c := range map[string]struct {
		o     Options
		empty bool
	}{"": {}, "_read_only": {o: Options{ReadOnly: true}}, "_empty": {empty: true}, "_own_keys": {o: Options{Keys: own}}} {
		for _, size := range tuitest.Sizes() {
			file := fmt.Sprintf("greeting%s_%dx%d", name, size[0], size[1])
			t.Run(file, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					d := world(t)
					if c.empty {
						d = desktest.New(t)
					}
					l := greet(t, d, t.TempDir(), c.o, size[0], size[1])
					tuitest.CheckBox(t, l.View(), size[0], size[1])
					lines := strings.Split(tuitest.Layout(l.View()), "\n")
					tuitest.Golden(t, file, strings.Join(lines[len(lines)-3:], "\n"))
				})
			})
		}
	}
}

// A folder that cannot be written is told among the messages, and is in nobody's way.
func TestGreetingThatCannotBeKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "state")
		l := greet(t, world(t), dir, Options{}, 80, 24)
		if err := os.WriteFile(dir, nil, 0o600); err != nil { // a file where the folder goes
			t.Fatal(err)
		}
		l.Keys("esc")
		l.Keys("!")
		if view := ansi.Strip(l.View()); !strings.Contains(view, "told again at the next start") {
			t.Errorf("nothing is said of it:\n%s", view)
		}
	})
}

// Who gives no folder, or does not ask for it, is not greeted.
func TestGreetingIsAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		if text := said(start(t, world(t), 80, 24)); strings.Contains(text, "approve") {
			t.Errorf("greeted with %q", text)
		}
		if text := said(greet(t, world(t), "", Options{}, 80, 24)); strings.Contains(text, "approve") {
			t.Errorf("without a folder: %q", text)
		}
	})
}
