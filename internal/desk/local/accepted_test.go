package local_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/local"
	"github.com/hitl-tui/hitl-tui/internal/engine"
)

// TestAnAcceptedAnswerClosesItsQuestion: what a runner accepted before it died is shown as decided, not as open, also
// after an edit moved the head on.
func TestAnAcceptedAnswerClosesItsQuestion(t *testing.T) {
	b := newBench(t)
	r := b.start("note.yaml", nil)
	dies := local.New(b.store, engine.Options{LeaseTTL: time.Nanosecond, CrashPoint: func(at string) {
		if at == "lease_taken" {
			runtime.Goexit()
		}
	}})
	died := make(chan struct{})
	go func() {
		defer close(died)
		_, err := dies.Answer(t.Context(), desk.AnswerRequest{Thread: r.Thread, Decisions: []desk.Decision{decision(r.Questions[0], "approve", "")}})
		t.Errorf("it lives: %v", err)
	}()
	<-died
	for _, edited := range []bool{false, true} {
		if edited {
			if _, err := b.source.Patch(t.Context(), desk.Change{Thread: r.Thread, Updates: map[string]json.RawMessage{"draft": json.RawMessage(`"new"`)}}, "ben"); err != nil {
				t.Fatal(err)
			}
		}
		d := b.detail(r.Thread)
		if len(d.Questions) != 0 || len(d.Accepted) != 1 || d.Accepted[0].Action != "approve" || d.Status != "stalled" {
			t.Errorf("edited %v: %s, open %+v, accepted %+v", edited, d.Status, d.Questions, d.Accepted)
		}
	}
}

// TestUpgradeReadsTheThreadsOwnFile: two threads may keep one definition that came from two files.
func TestUpgradeReadsTheThreadsOwnFile(t *testing.T) {
	b := newBench(t)
	there := filepath.Join(b.dir, "copy", "note.yaml")
	if err := errors.Join(os.Mkdir(filepath.Dir(there), 0o700), os.WriteFile(there, []byte(note), 0o600)); err != nil {
		t.Fatal(err)
	}
	b.start("note.yaml", nil)
	r := b.start("copy/note.yaml", nil)
	changed := strings.Replace(note, "output: {text: text,", "output: {text: \"'upgraded'\",", 1)
	if err := errors.Join(os.Remove(filepath.Join(b.dir, "note.yaml")), os.WriteFile(there, []byte(changed), 0o600)); err != nil {
		t.Fatal(err)
	}
	result, err := b.desk.AnswerWith(t.Context(), desk.AnswerRequest{
		Thread: r.Thread, Upgrade: true, Decisions: []desk.Decision{decision(r.Questions[0], "approve", "")},
	}, false)
	if err != nil || !strings.Contains(string(result.Outputs), "upgraded") {
		t.Errorf("%v, %+v", err, result)
	}
}
