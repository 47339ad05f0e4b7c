package local_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/desk"
)

const several = `workflow: several
nodes:
  each: {map: "['x', 'y']", do: {ask: {questions: {first: {human: approval, message: "A?"}, second: {human: approval, message: "B?"}}}}}
`

// TestUnknownQuestionSuggestsTheNearest: slashes, dots and brackets are mistaken for one another, and letters too.
func TestUnknownQuestionSuggestsTheNearest(t *testing.T) {
	b := newBench(t)
	if err := os.WriteFile(filepath.Join(b.dir, "several.yaml"), []byte(several), 0o600); err != nil {
		t.Fatal(err)
	}
	r := b.start("several.yaml", nil)
	for asked, want := range map[string]string{
		"each/0/ask/first": `did you mean "each/0/ask.first"?`, "each.1.ask.second": `did you mean "each/1/ask.second"?`,
		"each/[1]/ask.second": `did you mean "each/1/ask.second"?`, "each/0/ask.frist": `did you mean "each/0/ask.first"?`,
		"something": "`hitl-tui show` lists the open questions",
	} {
		for _, check := range []bool{true, false} {
			_, err := b.desk.Answer(t.Context(), []desk.Decision{{Thread: r.Thread, Question: asked, Action: "approve"}}, check)
			if desk.Code(err) != desk.CodeNotFound || !strings.HasSuffix(desk.Explain(err), want) {
				t.Errorf("%s: %s %q, want %q", asked, desk.Code(err), desk.Explain(err), want)
			}
		}
	}
}

// TestNewThreadsHavePlainIDs, whoever starts them; a thread that has another id already is gone on with.
func TestNewThreadsHavePlainIDs(t *testing.T) {
	b := newBench(t)
	file := filepath.Join(b.dir, "slow.yaml")
	for _, background := range []bool{true, false} {
		if _, err := b.desk.Start(t.Context(), desk.StartRequest{File: file, Workdir: b.dir, Thread: "a b/.."}, background); desk.Code(err) != desk.CodeUsage {
			t.Errorf("in the background %t: %v", background, err)
		}
	}
	old := "../a b"
	if _, err := b.source.Start(t.Context(), desk.StartRequest{File: file, Workdir: b.dir, Thread: old}, "ana", func(string, string) {}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.desk.ForkOnly(t.Context(), desk.ForkRequest{Thread: old, As: "x/y"}); desk.Code(err) != desk.CodeUsage {
		t.Errorf("fork: %v", err)
	}
	if _, err := b.desk.ForkOnly(t.Context(), desk.ForkRequest{Thread: old, As: "fine"}); err != nil {
		t.Errorf("fork: %v", err)
	}
	r, err := b.desk.Answer(t.Context(), []desk.Decision{{Thread: old, Action: "reject"}}, false)
	if err != nil || r.Status != "rejected" {
		t.Errorf("%v, %v", r, err)
	}
}
