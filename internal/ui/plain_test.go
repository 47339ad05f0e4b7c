package ui

import (
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/desktest"
	"github.com/hitl-tui/hitl-tui/internal/ui/keymap"
)

// What is selected, focused or marked is told by a character and not by a colour alone: a key that changes it changes
// the screen of a terminal without colours, in every place where it does something.
func TestStateIsNeverByColourAlone(t *testing.T) {
	for name, c := range map[string]struct{ at, change string }{
		"row": {"inbox", "j"}, "row of failed": {"failed", "tab"}, "focus of the question": {"inbox", "enter"}, "mark": {"inbox", "space"},
		"range": {"inbox", "space V"}, "value in a tree": {"tree", "j"}, "step": {"history", "k"}, "end of a diff": {"history", "space"},
		"workflow": {"keep", "j"}, "marked workflow": {"keep", "space"}, "decision": {"activity", "j"}, "option": {"chooser", "j"},
		"action": {"actions", "j"}, "command": {"palette", "down"}, "entry": {"unsent", "U"}, "entry below": {"outbox", "j"},
		"button": {"reject", "tab"}, "field": {"input", "tab"}, "choice of a field": {"input", "tab tab space"}, "yes": {"skip", "right"},
		"tab": {"inbox", ">"}, "decided row": {"inbox", "k a"}, "claim": {"inbox", "C"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, size := range tuitest.Sizes() {
					if name == "entry below" && size[0] == 40 {
						continue // one entry alone: deciding takes two keys there
					}
					l := scene{stocked, screens()[c.at]}.show(t, size[0], size[1], true)
					before := ansi.Strip(l.View())
					for _, k := range strings.Fields(c.change) {
						l.Keys(k)
						l.View()
						l.Advance(settle)
					}
					if ansi.Strip(l.View()) == before {
						t.Errorf("%dx%d: %s changes nothing that is seen without colours:\n%s", size[0], size[1], c.change, before)
					}
				}
			})
		})
	}
}

// What is dangerous, late, claimed, drafted, marked or decided is said at its row.
func TestMarksAreCharacters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := start(t, stocked(t), 160, 50)
		for _, k := range []string{"j", "j", "j", "j", "t", "x", "esc", "G", "space", "g", "a"} {
			l.Keys(k)
			l.View()
			l.Advance(settle)
		}
		view := ansi.Strip(l.View())
		for what, line := range map[string]string{
			"decided": `v Delete backups\?`, "selected": `> +Publish these notes\?`, "claimed": `@ Pay invoice 88-1`, "drafted": `~ Which headline\?|~draft`,
			"marked": `\* *Approve claim 17`, "failed tab": `3 Failed 1!`, "unsent": `approved: Delete backups\?, sends in`,
		} {
			if !regexp.MustCompile(line).MatchString(view) {
				t.Errorf("%s is not told by %s:\n%s", what, line, view)
			}
		}
	})
}

// A hint names the key that the reviewer has, wherever one is given.
func TestHintsNameTheReviewersKeys(t *testing.T) {
	own := keymap.Overrides{}
	letter := rune('A')
	for _, id := range []command.ID{command.NewThread, command.ReadAgain, command.OpenHistory, command.CarryOn, command.Filter, command.WatchThread,
		command.CancelRun, command.DisplayMode, command.Claim, command.ActionsMenu, command.Bounds, command.Back, command.TabWaiting, command.TabRetention} {
		scope := string(id.Scope())
		if own[scope] == nil {
			own[scope] = map[string][]string{}
		}
		own[scope][id.Name()] = []string{"ctrl+alt+" + strings.ToLower(string(letter))}
		letter++
	}
	for name, c := range map[string]struct {
		desk func(testing.TB) *desktest.Desk
		keys []string
		want []command.ID
	}{
		"empty":      {func(t testing.TB) *desktest.Desk { return desktest.New(t) }, nil, []command.ID{command.NewThread, command.TabWaiting, command.TabRetention}},
		"question":   {world, []string{"j"}, []command.ID{command.DisplayMode, command.Claim, command.ActionsMenu}},
		"failed":     {world, []string{"3"}, []command.ID{command.CarryOn, command.OpenHistory}},
		"running":    {world, []string{"2"}, []command.ID{command.WatchThread, command.CancelRun}},
		"no match":   {world, []string{"ctrl+alt+e", "z", "z", "enter"}, []command.ID{command.Filter}},
		"bad filter": {world, []string{"ctrl+alt+e", "b", "a", "d", ":", "enter"}, []command.ID{command.Filter}},
		"retention":  {func(t testing.TB) *desktest.Desk { return desktest.New(t) }, []string{"ctrl+alt+n"}, []command.ID{command.Bounds}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := New(t.Context(), c.desk(t), Options{StateDir: t.TempDir(), Keys: own})
				l := tuitest.NewLoop(m, 160, 50)
				t.Cleanup(func() { time.Sleep(10 * time.Minute) })
				l.Advance(settle)
				for _, k := range c.keys {
					l.Keys(k)
					l.View()
					l.Advance(settle)
				}
				// The footer is from the table anyway: what is above it counts.
				lines := strings.Split(ansi.Strip(l.View()), "\n")
				body := strings.Join(lines[:len(lines)-2], "\n")
				for _, id := range c.want {
					if key := m.keys.Key(id); !strings.Contains(body, key) {
						t.Errorf("%s is not hinted at with %s:\n%s", id, key, body)
					}
				}
			})
		})
	}
}
