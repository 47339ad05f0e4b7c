package path

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/desk"
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
		{Run: "triage/*/check@1 (2)", TookMS: 7},
		{Run: "triage/*/decide@1 (2)", Status: "WAITING"}, {Run: "triage/2/decide@1", Decision: "ana choose"},
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
		{[]string{"a@1", "m/0/x@1", "m/1/x@1", "b@1"}, 9, "a@1, m/*/x@1 (2), b@1"},
		{[]string{"m/0/x@1", "m/1/x@1", "m/2/x@1"}, 20, "m/*/x@1 (3)"},
		{[]string{"m/0/x@1", "m/1/x@1", "m/2/x@1"}, 7, "x@1 (3)"},
		{[]string{"triage/1/decide@1", "triage/1/part@1"}, 24, "triage/1/decide@1, triage/1/part@1"},
		{[]string{"triage/1/decide@1", "triage/1/part@1"}, 18, "decide@1, part@1"},
	} {
		if got := Line(test.runs, test.w); got != test.want {
			t.Errorf("%q in %d cells: %q, want %q", test.runs, test.w, got, test.want)
		}
	}
}

func TestShort(t *testing.T) {
	for w, want := range map[int]string{
		20: "triage/2/decide@1", 17: "triage/2/decide@1", 16: "…/2/decide@1", 12: "…/2/decide@1", 11: "…/decide@1", 10: "…/decide@1", 9: "decide@1",
		8: "decide@1", 5: "deci…", 1: "…", 0: "",
	} {
		if got := Short("triage/2/decide@1", w); got != want {
			t.Errorf("in %d cells %q, want %q", w, got, want)
		}
	}
}
