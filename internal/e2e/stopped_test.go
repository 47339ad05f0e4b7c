//go:build linux

package e2e

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// TestStoppedRunnerWritesNoMore stops a process that runs a thread until its lease has run out, lets somebody else have the
// thread or nobody, and has the process go on. Nothing it did under the lost lease is anywhere: where another runner was, it tells
// what that one came to; where nobody was, it carries the thread on like anybody, under a lease that it takes anew.
func TestStoppedRunnerWritesNoMore(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]stopped{
		"left":       {func(*world) {}, 0, "step 3.1 done, 1 decisions"},
		"taken over": {func(w *world) { w.must(0, "resume", "thread-1", "--json") }, 0, "step 3.1 done, 1 decisions"},
		"deleted":    {func(w *world) { w.must(0, "delete", "thread-1", "--yes") }, 4, "no thread"},
	} {
		t.Run(name, func(t *testing.T) {
			everyStore(t, func(t *testing.T, w *world) { stoppedRunner(t, w, c) })
		})
	}
}

// stopped is what happens while a runner is stopped, how it ends, and what is then there.
type stopped struct {
	meanwhile func(w *world)
	exit      int
	left      string
}

func stoppedRunner(t *testing.T, w *world, c stopped) {
	hold := w.file("hold", "")
	file := w.file("hold.yaml", `workflow: hold
input: {properties: {log: {type: string}, hold: {type: string}}, required: [log, hold]}
env: {LOG: "{{.log}}", HOLD: "{{.hold}}"}
nodes:
  ask: {human: approval, message: Begin?, then: long}
  long: {shell: 'echo began >> "$LOG"; while [ -e "$HOLD" ]; do sleep 0.05; done', then: last}
  last: {shell: 'echo last >> "$LOG"'}
`)
	w.must(0, "run", file, "-F", "log="+w.lines, "-F", "hold="+hold, "--thread", "thread-1", "--json")
	p := w.start(nil, "resume", "thread-1", "approve", "--json")
	w.await("the program runs", func() bool { return w.written()["began"] == 1 })
	p.signal(syscall.SIGSTOP)
	w.await("the lease runs out", func() bool { l := w.thread("thread-1").Lease; return l == nil || !l.Live })
	if err := os.Remove(hold); err != nil {
		t.Fatal(err)
	}
	c.meanwhile(w)
	p.signal(syscall.SIGCONT)
	if r := p.wait(); r.exit != c.exit {
		t.Errorf("a runner that slept past its lease, want exit code %d: %s", c.exit, r)
	}
	if left := w.picture(); left != c.left {
		t.Errorf("the store has %s, want %s", left, c.left)
	}
	if lines, want := w.written(), map[bool]int{true: 1}[c.exit == 0]; lines["last"] != want {
		t.Errorf("programs ran: %v; the last of them %d times, want %d", lines, lines["last"], want)
	}
	w.sound()
}

// picture is what there is of thread-1, every step of it once.
func (w *world) picture() string {
	w.t.Helper()
	info := w.thread("thread-1")
	if info == nil {
		return "no thread"
	}
	w.read(func(ctx context.Context, s checkpoint.Store) {
		for c, err := range s.History(ctx, "thread-1", false) {
			if err != nil || c.Revision != 1 {
				w.t.Errorf("a step was written over: %+v (%v)", c, err)
			}
		}
	})
	return fmt.Sprintf("step %d.%d %s, %d decisions", info.Step, info.Revision, info.Status, info.Decisions)
}
