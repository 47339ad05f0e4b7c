package guard

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

type press struct {
	at     int // ms
	key    string
	repeat bool
	other  bool   // another key, which decides nothing
	moved  string // the screen changed by itself
}

// play returns the presses (by position) whose decisions stand in the end, and the ones taken back.
func play(presses []press) (stand, back []int) {
	var g Guard
	start := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	ticket := map[Ticket]int{}
	for i, p := range presses {
		now := start.Add(time.Duration(p.at) * time.Millisecond)
		if p.moved != "" {
			g.Unsettle(now, p.moved)
			continue
		}
		if p.other {
			g.Other()
			continue
		}
		v := g.Press(now, p.key, p.repeat)
		for _, t := range v.TakeBack {
			j := ticket[t]
			back = append(back, j)
			stand = slices.DeleteFunc(stand, func(k int) bool { return k == j })
		}
		if v.OK {
			ticket[g.Last()] = i
			stand = append(stand, i)
		}
	}
	return stand, back
}

func TestGuard(t *testing.T) {
	cases := []struct {
		name        string
		presses     []press
		stand, back []int
	}{
		{"one press decides", []press{{at: 0, key: "a"}}, []int{0}, nil},
		{"a bounce within 80 ms is dropped and the first stands",
			[]press{{at: 0, key: "a"}, {at: 79, key: "a"}}, []int{0}, nil},
		{"80 ms apart are two presses", []press{{at: 0, key: "a"}, {at: 80, key: "a"}}, []int{0, 1}, nil},
		{"a press the terminal calls a repeat is dropped",
			[]press{{at: 0, key: "a"}, {at: 5000, key: "a", repeat: true}}, []int{0}, nil},
		{"a held key: what it decided beyond the first is taken back",
			[]press{{at: 0, key: "a"}, {at: 500, key: "a"}, {at: 533, key: "a"}, {at: 566, key: "a"}}, []int{0}, []int{1}},
		{"two slow presses and a bounce keep both",
			[]press{{at: 0, key: "a"}, {at: 2000, key: "a"}, {at: 2050, key: "a"}}, []int{0, 1}, nil},
		{"another decision key at once is no hold", []press{{at: 0, key: "a"}, {at: 20, key: "o"}}, []int{0, 1}, nil},
		{"a key between ends the hold", []press{{at: 0, key: "a"}, {at: 10, other: true}, {at: 20, key: "a"}}, []int{0, 2}, nil},
		{"nothing within 300 ms of a change by itself",
			[]press{{at: 0, moved: "the selection moved"}, {at: 299, key: "a"}}, nil, nil},
		{"after 300 ms it decides", []press{{at: 0, moved: "the window got its focus"}, {at: 300, key: "a"}}, []int{1}, nil},
		{"a held key does not slip through when the 300 ms end",
			[]press{{at: 0, key: "a"}, {at: 1, moved: "the selection moved"}, {at: 250, key: "a"}, {at: 280, key: "a"},
				{at: 310, key: "a"}, {at: 340, key: "a"}}, []int{0}, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			stand, back := play(c.presses)
			if !slices.Equal(stand, c.stand) || !slices.Equal(back, c.back) {
				t.Errorf("stand %v, taken back %v; want %v, %v", stand, back, c.stand, c.back)
			}
		})
	}
}

// However a keyboard repeats, a key held down decides exactly once.
func TestHeldKeyDecidesOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		delay := rapid.IntRange(150, 1000).Draw(t, "delay")
		every := rapid.IntRange(10, 79).Draw(t, "every")
		n := rapid.IntRange(2, 60).Draw(t, "repeats")
		presses := []press{{at: 0, key: "a"}}
		for i := range n {
			presses = append(presses, press{at: delay + i*every, key: "a"})
		}
		if stand, _ := play(presses); !slices.Equal(stand, []int{0}) {
			t.Fatalf("decisions that stand: %v", stand)
		}
	})
}
