package sqlite

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// TestARowReadsAsItWasWritten: whatever texts a workflow brings, line ends, NULs and separators among them, a listing
// hands them out byte for byte.
func TestARowReadsAsItWasWritten(t *testing.T) {
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "desk.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		n++
		text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "\n", " ", "1 2\n3", "a\x00b", "\x1f", "a\x1fb", "é\u202e李", "12 0 "}))
		when := time.UnixMicro(rapid.Int64Range(0, 1<<50).Draw(t, "when")).UTC()
		want := checkpoint.Summary{
			Phase: checkpoint.Interrupted, Title: text.Draw(t, "title"), Node: text.Draw(t, "node"), Questions: 2, Answered: 1,
			Assignee: text.Draw(t, "assignee"), Group: text.Draw(t, "group"), Error: text.Draw(t, "error"), Priority: "high",
		}
		if rapid.Bool().Draw(t, "waits") {
			want.WaitingSince = &when
		}
		if rapid.Bool().Draw(t, "due") {
			want.Due = &when
		}
		thread := fmt.Sprintf("thread-%06d", n)
		workdir := text.Draw(t, "workdir")
		_, err := s.Commit(context.Background(), checkpoint.Commit{
			ID: thread, Parent: -1, Release: true, Summary: want, NewThread: &checkpoint.NewThread{Workdir: workdir, StartedBy: "ana"},
			Checkpoint: checkpoint.Checkpoint{Thread: thread, TS: when, Source: checkpoint.SourceInput, Workflow: "w", Fingerprint: "f"},
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Thread(context.Background(), thread)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got.Summary); diff != "" || got.Thread != thread || got.Workdir != workdir || got.StartedBy != "ana" || got.Fingerprint != "f" {
			t.Fatalf("%+v (-want +got):\n%s", got, diff)
		}
	})
}

func TestARowThatIsNoneIsAnError(t *testing.T) {
	numbers := strings.Repeat("9\x1f", numbersOfThread)
	for _, packed := range []string{"", "\x1f", "1\x1f2", "a\x1fb", numbers, numbers + "too\x1ffew", strings.Repeat("9\x1f", textsOfThread) + numbers + "short"} {
		var p packedThread
		if err := p.read(packed); err == nil {
			t.Errorf("%q is read as %+v", packed, p)
		}
		if err := p.readMeasured(packed); err == nil {
			t.Errorf("%q, with lengths, is read as %+v", packed, p)
		}
	}
}
