package inbox

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/hitl-tui/hitl-tui/internal/desk"
)

func page(next string, ids ...string) desk.Page {
	p := desk.Page{Next: next}
	for _, id := range ids {
		p.Threads = append(p.Threads, desk.Thread{ID: id})
	}
	return p
}

func (r *rows) String() string {
	var names []string
	for _, x := range r.list {
		name := x.ID
		if x.gone {
			name = "(" + name + ")"
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}

func TestReplaceKeepsWhatIsGoneInItsPlace(t *testing.T) {
	cases := []struct {
		name          string
		before, after desk.Page
		keep          string
		want          string
		newly         []string
	}{
		{"nothing changed", page("", "a", "b", "c"), page("", "a", "b", "c"), "b", "a b c", nil},
		{"one gone stays", page("", "a", "b", "c"), page("", "a", "c"), "c", "a (b) c", []string{"b"}},
		{"the first gone", page("", "a", "b"), page("", "b"), "b", "(a) b", []string{"a"}},
		{"all gone", page("", "a", "b"), page(""), "a", "(a) (b)", []string{"a", "b"}},
		{"a new one", page("", "a", "b"), page("", "n", "a", "m", "b"), "b", "n a m b", nil},
		{"pushed past the end of a cut reading", page("x", "a", "b", "c"), page("y", "n", "a", "b"), "a", "n a b", nil},
		{"but not the selected one", page("x", "a", "b", "c"), page("y", "n", "a", "b"), "c", "n a b c", nil},
		{"cut, and one gone in the middle", page("x", "a", "b", "c"), page("y", "a", "c"), "a", "a (b) c", []string{"b"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var r rows
			r.add(c.before)
			newly := r.replace(c.after, c.keep)
			if r.String() != c.want || !slices.Equal(newly, c.newly) {
				t.Errorf("%s, newly gone %v; want %s, %v", r.String(), newly, c.want, c.newly)
			}
		})
	}
}

func TestGoneTwiceIsToldOnce(t *testing.T) {
	var r rows
	r.add(page("", "a", "b"))
	if got := r.replace(page("", "b"), ""); len(got) != 1 {
		t.Fatalf("newly gone %v", got)
	}
	if got := r.replace(page("", "b"), ""); len(got) != 0 {
		t.Fatalf("told again: %v", got)
	}
	r.replace(page("", "a", "b"), "")
	if r.String() != "a b" {
		t.Fatalf("one that asks again is open again: %s", r.String())
	}
}

// Whatever readings come, the rows are each there once, the fresh ones in their order, and the index is right.
func TestReplaceInvariants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r rows
		for range rapid.IntRange(1, 8).Draw(t, "readings") {
			ids := rapid.SliceOfNDistinct(rapid.IntRange(0, 12), 0, 8, rapid.ID[int]).Draw(t, "ids")
			var names []string
			for _, id := range ids {
				names = append(names, fmt.Sprint(id))
			}
			r.replace(page(rapid.SampledFrom([]string{"", "next"}).Draw(t, "next"), names...), "3")
			var fresh []string
			seen := map[string]bool{}
			for i, x := range r.list {
				if seen[x.ID] {
					t.Fatalf("%s is listed twice: %s", x.ID, r.String())
				}
				seen[x.ID] = true
				if r.at(x.ID) != i {
					t.Fatalf("index of %s is %d, not %d", x.ID, r.at(x.ID), i)
				}
				if slices.Contains(names, x.ID) {
					fresh = append(fresh, x.ID)
				}
			}
			if !slices.Equal(fresh, names) {
				t.Fatalf("fresh rows %v, want %v", fresh, names)
			}
		}
	})
}

func TestAfter(t *testing.T) {
	var r rows
	r.add(page("", "a", "b", "c", "d"))
	open := func(x *row) bool { return x.ID == "a" || x.ID == "d" }
	if got := r.after(1, open); got != 3 {
		t.Errorf("after b: %d, want d", got)
	}
	if got := r.after(3, open); got != 0 {
		t.Errorf("after the last: %d, want a before it", got)
	}
	if got := r.after(0, func(*row) bool { return false }); got != -1 {
		t.Errorf("none open: %d", got)
	}
}

func TestRoundBefore(t *testing.T) {
	for want, q := range map[string]desk.Question{
		`ana asked: "shorter"`:                               {Feedback: "shorter"},
		"ana answered before: approve":                       {FormerAction: "approve", FormerValue: []byte("true")},
		`ana answered before: choose "marketing": "cheaper"`: {FormerAction: "choose", FormerValue: []byte(`"marketing"`), Feedback: "cheaper"},
	} {
		if got := roundBefore(q, "ana", "asked"); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
