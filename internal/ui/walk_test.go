package ui

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
)

// Whatever keys are pressed in whatever order, before and after what they asked for has been read, and whatever becomes of the
// window meanwhile: the desk draws its whole box and does not end. Each walk is one seed.
func TestNoWalkBreaksTheDesk(t *testing.T) {
	keys := everyKey()
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				pick := rand.New(rand.NewPCG(seed, 0))
				size := tuitest.Sizes()[pick.IntN(len(tuitest.Sizes()))]
				t.Chdir(t.TempDir()) // what is exported is written there
				d := stocked(t)
				d.AddGraph("t-change-0005", notesGraph())
				l := start(t, d, size[0], size[1])
				var pressed []string
				defer func() {
					if r := recover(); r != nil {
						t.Fatalf("after %q at %v: %v", pressed, size, r)
					}
				}()
				l.Drawn = func(view string) {
					if err := tuitest.BoxError(view, size[0], size[1]); err != "" {
						t.Fatalf("after %q: %s", pressed, err)
					}
				}
				for range 120 {
					live := keys
					if pick.IntN(8) > 0 { // mostly what does something here
						live = liveKeys(l.Model.(*Model).stack()...)
					}
					k := live[pick.IntN(len(live))]
					pressed = append(pressed, k)
					l.Keys(k)
					if pick.IntN(10) == 0 {
						size = [2]int{40 + pick.IntN(160), 12 + pick.IntN(48)}
						pressed = append(pressed, fmt.Sprint(size))
						l.Send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
					}
					if pick.IntN(3) > 0 {
						l.Advance(time.Duration(pick.IntN(1000)) * time.Millisecond)
					}
				}
				l.Drawn = nil
			})
		})
	}
}

// everyKey is each key that does something somewhere, and some that are typed.
func everyKey() []string {
	keys := []string{"5", "é", "left", "right", "backspace"}
	for _, s := range command.Scopes() {
		keys = append(keys, liveKeys(s)...)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// liveKeys are the keys of some scopes, those of the first as often as those of all others, and those that are live nearly everywhere.
func liveKeys(scopes ...command.Scope) []string {
	keys, others := []string{"enter", "esc", "j", "k", "H"}, []string(nil)
	for _, c := range command.Table() {
		switch {
		case c.ID.Scope() == scopes[0]:
			keys = append(keys, c.Keys...)
		case slices.Contains(scopes, c.ID.Scope()):
			others = append(others, c.Keys...)
		}
	}
	for len(others) > 0 && len(keys) < len(others) {
		keys = append(keys, keys...)
	}
	return append(keys, others...)
}
