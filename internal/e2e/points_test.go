//go:build linux

package e2e

import (
	"strings"
	"syscall"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// TestKilledAtNamedPoints kills a resume at each point of the engine that matters and says what must be true right
// after it, before anybody has carried the thread on.
func TestKilledAtNamedPoints(t *testing.T) {
	t.Parallel()
	points := []struct {
		at      string
		step    int64    // of the head after the kill; the question is at step 3
		ran     []string // programs that wrote their line before the kill
		pending bool     // the answer is accepted and not applied
	}{
		{"lease_taken", 3, nil, true},
		{"before_commit:1", 3, []string{"work@1"}, true},
		{"after_commit:1", 4, []string{"work@1"}, false},
		{"before_commit:3", 5, []string{"work@1", "work@2"}, false},
		{"after_commit:6", 9, []string{"work@1", "work@2", "work@3"}, false},
		// slow@1 begins beside quick@1; whether it has written its line by then is up to the machine.
		{"result_stored:1", 9, []string{"work@1", "work@2", "work@3", "quick@1"}, false},
		{"after_commit:8", 11, []string{"work@1", "work@2", "work@3", "quick@1", "slow@1"}, false},
	}
	for _, p := range points {
		t.Run(p.at, func(t *testing.T) {
			everyStore(t, func(t *testing.T, w *world) {
				w.must(0, "run", w.copyOf("batch.yaml"), "-F", "log="+w.lines, "-F", "pace=0.2", "--thread", "thread-1", "--json")
				killed := w.start([]string{"HITL_TUI_CRASH_AT=" + p.at}, "resume", "thread-1", "approve", "--json").wait()
				if killed.signal != syscall.SIGKILL {
					t.Fatalf("it was not killed: %s", killed)
				}
				w.whole()
				info := w.thread("thread-1")
				if info.Step != p.step {
					t.Errorf("the head is step %d, want %d", info.Step, p.step)
				}
				if pending := info.Lease != nil && info.Lease.Answers > 0; pending != p.pending {
					t.Errorf("an accepted answer waits: %t, want %t", pending, p.pending)
				}
				lines := w.written()
				for _, run := range p.ran {
					if lines["thread-1 "+run] != 1 {
						t.Errorf("%s ran %d times before the kill, want once", run, lines["thread-1 "+run])
					}
				}
				carriedOn(t, w, "thread-1")
				w.sound()
			})
		})
	}
}

// carriedOn brings a killed thread to its second question once its lease has run out, and checks that the answer
// to the first is not asked for again, was applied once, and that what had finished did not run again.
func carriedOn(t *testing.T, w *world, thread string) {
	t.Helper()
	w.await("the lease runs out", func() bool {
		info := w.thread(thread)
		return info.Lease == nil || !info.Lease.Live
	})
	finished := finishedRuns(w, thread)
	before := w.written()
	if info := w.thread(thread); info.Status == checkpoint.Stalled {
		if e := w.must(0, "resume", thread, "--json").envelope(t); status(e) != "interrupted" || e.Interrupts[0].Address != "sign" {
			t.Fatalf("carried on to %s, %+v", status(e), e.Interrupts)
		}
	}
	unchanged(t, w, thread, finished, before)
	if rows := w.decisions(thread); len(rows) != 1 || rows[0].Action != "approve" || rows[0].Outcome != "applied" {
		t.Errorf("the record is %+v, want the one approve", rows)
	}
	if e := w.must(0, "resume", thread, "choose", "-d", `"hold"`, "--json").envelope(t); status(e) != "done" {
		t.Errorf("the thread ended %s", status(e))
	}
	for _, run := range []string{"left@1", "right@1", "work@1", "work@2", "work@3", "quick@1", "slow@1", "ship@1"} {
		if w.written()[thread+" "+run] == 0 {
			t.Errorf("%s never ran", run)
		}
	}
}

// unchanged demands that no run that had finished wrote a further line.
func unchanged(t *testing.T, w *world, thread string, finished []string, before map[string]int) {
	t.Helper()
	after := w.written()
	for _, run := range finished {
		if after[thread+" "+run] != before[thread+" "+run] {
			t.Errorf("thread %s: %s had finished and ran again", thread, run)
		}
	}
}

// shortPath is the last segment of a node run's path: main@1/work@2 is work@2.
func shortPath(path string) string { return path[strings.LastIndexByte(path, '/')+1:] }
