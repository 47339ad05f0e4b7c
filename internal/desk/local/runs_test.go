package local_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/desk"
)

const nested = `workflow: nested
nodes:
  each:
    map: "['a', 'b']"
    do:
      part: {workflow: ./inner.yaml}
    then: again
  again: {human: approval, message: Again?, routes: {retry: each}, then: odd}
  odd:
    map: "[1]"
    do:
      broken: {fail: No.}
`

const inner = `workflow: inner
nodes:
  say: {set: {said: 1}}
`

// TestRunsAreNamedLikeQuestions: the same address leads to a question and to what ran beside it, at any depth; of a
// node around it the run is told where it is not the first.
func TestRunsAreNamedLikeQuestions(t *testing.T) {
	b := newBench(t)
	for name, text := range map[string]string{"nested.yaml": nested, "inner.yaml": inner} {
		if err := os.WriteFile(filepath.Join(b.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var heard []string
	b.source.Observe(func(e desk.Event) {
		if e.Run != "" && !slices.Contains(heard, e.Run) {
			heard = append(heard, e.Run)
		}
	})
	r := b.start("nested.yaml", nil)
	for _, action := range []string{"retry", "approve"} {
		var err error
		r, err = b.source.Answer(t.Context(), desk.AnswerRequest{Thread: r.Thread, Decisions: []desk.Decision{decision(r.Questions[0], action, "")}})
		if err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		"each@1", "each/0/part@1", "each/1/part@1", "each/0/part/say@1", "each/1/part/say@1", "again@1",
		"each@2", "each@2/0/part@1", "each@2/1/part@1", "each@2/0/part/say@1", "each@2/1/part/say@1", "again@2", "odd@1", "odd/0/broken@1",
	}
	var path, steps []string
	for _, s := range b.detail(r.Thread).Path {
		if !slices.Contains(path, s.Run) {
			path = append(path, s.Run)
		}
	}
	history, err := b.source.History(t.Context(), r.Thread)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range history {
		for _, run := range s.Nodes {
			if !slices.Contains(steps, run) {
				steps = append(steps, run)
			}
		}
	}
	slices.Sort(want)
	for what, got := range map[string][]string{"path": path, "history": steps, "events": heard} {
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s -want +got\n%s", what, diff)
		}
	}
	if r.ErrNode != "odd/0/broken" || b.detail(r.Thread).FailedNode != r.ErrNode {
		t.Errorf("failed at %q and %q", r.ErrNode, b.detail(r.Thread).FailedNode)
	}
}
