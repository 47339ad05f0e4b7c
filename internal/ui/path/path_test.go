package path

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
)

func TestLatest(t *testing.T) {
	got := Latest([]desk.PathStep{
		{Run: "draft@1", Status: "COMPLETED", TookMS: 5}, {Run: "review@1", Status: "WAITING"},
		{Run: "review@1", Status: "COMPLETED", Decision: "ana retry"}, {Run: "draft@2", Status: "COMPLETED"}, {Node: "old"}, {Node: "old"},
	})
	want := []desk.PathStep{
		{Run: "draft@1", Status: "COMPLETED", TookMS: 5}, {Run: "review@1", Status: "COMPLETED", Decision: "ana retry"},
		{Run: "draft@2", Status: "COMPLETED"}, {Node: "old"}, {Node: "old"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestFold(t *testing.T) {
	got := Fold([]desk.PathStep{
		{Run: "read@1"}, {Run: "triage@1", Status: "WAITING"},
		{Run: "triage/0/check@1", TookMS: 3}, {Run: "triage/1/check@1", TookMS: 7},
		{Run: "triage/1/decide@1", Status: "WAITING"}, {Run: "triage/2/decide@1", Decision: "ana choose"}, {Run: "triage/4/decide@1", Status: "WAITING"},
		{Run: "triage/2/part@1"}, {Run: "triage@2/0/check@1"}, {Run: "each/0/in/1/a@1"}, {Run: "each/3/in/10/a@1"}, {Node: "old"}, {Node: "old"},
	})
	want := []desk.PathStep{
		{Run: "read@1"}, {Run: "triage@1", Status: "WAITING"},
		{Run: "triage/0-1/check@1 (2)", TookMS: 7},
		{Run: "triage/1,4/decide@1 (2)", Status: "WAITING"}, {Run: "triage/2/decide@1", Decision: "ana choose"},
		{Run: "triage/2/part@1"}, {Run: "triage@2/0/check@1"}, {Run: "each/*/in/*/a@1 (2)"}, {Node: "old"}, {Node: "old"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestLine(t *testing.T) {
	for _, test := range []struct {
		runs []string
		w    int
		want string
	}{
		{nil, 20, ""},
		{[]string{"a@1", "m/0/x@1", "m/1/x@1", "b@1"}, 25, "a@1, m/0-1/x@1 (2), b@1"},
		{[]string{"a@1", "m/0/x@1", "m/1/x@1", "b@1"}, 22, "a@1, m/0-1/x@1 (2) +1"},
		{[]string{"a@1", "m/0/x@1", "m/1/x@1", "b@1"}, 9, "a@1 +2"},
		{[]string{"m/0/x@1", "m/1/x@1", "m/2/x@1"}, 20, "m/0-2/x@1 (3)"},
		{[]string{"m/0/x@1", "m/1/x@1", "m/2/x@1"}, 11, "m/0-2/x (3)"},
		{[]string{"triage/1/decide@1", "triage/1/part@1"}, 24, "triage/1/decide@1 +1"},
		{[]string{"triage/1/decide@1", "triage/1/part@1"}, 15, "…/1/decide +1"},
		{[]string{"review@1", "collect@2"}, 8, "revi… +1"},
		{[]string{"review@1", "collect@2"}, 9, "review +1"},
	} {
		if got := Line(test.runs, test.w); got != test.want {
			t.Errorf("%q in %d cells: %q, want %q", test.runs, test.w, got, test.want)
		}
	}
}

func TestShort(t *testing.T) {
	for w, want := range map[int]string{
		20: "triage/2/decide@1", 17: "triage/2/decide@1", 16: "triage/2/decide", 14: "…/2/decide", 10: "…/2/decide", 9: "2/decide",
		8: "2/decide", 7: "2/deci…", 5: "2/de…", 4: "2/d…", 3: "de…", 1: "…", 0: "",
	} {
		if got := Short("triage/2/decide@1", w); got != want {
			t.Errorf("in %d cells %q, want %q", w, got, want)
		}
	}
}

// However little room there is, a name fits in it.
func TestNamesFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run := rapid.StringMatching(`([a-z]{1,9}/)?([0-9]{1,3}/)?[a-z日本]{1,9}@[12]`)
		runs, w := rapid.SliceOfN(run, 1, 5).Draw(t, "runs"), rapid.IntRange(0, 40).Draw(t, "w")
		for _, got := range []string{Short(runs[0], w), Line(runs, w)} {
			if cell.Width(got) > w {
				t.Fatalf("%q does not fit in %d cells", got, w)
			}
		}
	})
}
