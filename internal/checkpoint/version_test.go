package checkpoint_test

import (
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

func TestParseVersion(t *testing.T) {
	for text, want := range map[string]checkpoint.Version{"5.1": {Step: 5, Revision: 1}, "5": {Step: 5}, "0.12": {Revision: 12}, "0": {}} {
		got, err := checkpoint.ParseVersion(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%q: %+v (%v), want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", ".", "5.", ".1", "5.0", "-1", "+1", "5.-1", "5.1.1", " 5", "5.1 ", "0x5", "99999999999999999999", "five"} {
		if v, err := checkpoint.ParseVersion(text); err == nil {
			t.Errorf("%q was read as %v", text, v)
		}
	}
}

func TestVersionMatches(t *testing.T) {
	head := checkpoint.Version{Step: 5, Revision: 2}
	for v, want := range map[checkpoint.Version]bool{head: true, {Step: 5}: true, {Step: 5, Revision: 1}: false, {Step: 4, Revision: 2}: false, {Step: 4}: false} {
		if v.Matches(head) != want {
			t.Errorf("%v matches %v: %v", v, head, !want)
		}
	}
}

func TestFingerprint(t *testing.T) {
	seen := make(map[string]int)
	for i, files := range [][]checkpoint.File{
		nil, {{}}, {{Path: "a"}}, {{Text: "a"}}, {{Path: "a", Text: "b"}}, {{Path: "ab"}}, {{Path: "a"}, {Text: "b"}},
		{{Path: "a", Text: "b"}, {Path: "c"}}, {{Path: "c"}, {Path: "a", Text: "b"}},
	} {
		f := checkpoint.Fingerprint(files)
		if other, ok := seen[f]; ok || len(f) != 64 {
			t.Errorf("lists %d and %d share the fingerprint %s", other, i, f)
		}
		seen[f] = i
	}
}
