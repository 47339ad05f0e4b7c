//go:build linux

package e2e

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
)

// longRun is a workflow whose program writes its process id and that of a child, and then takes long.
const longRun = `workflow: long
input: {properties: {log: {type: string}, hold: {type: string}}, required: [log, hold]}
env: {LOG: "{{.log}}", HOLD: "{{.hold}}"}
nodes:
  ask: {human: approval, message: Begin?, then: long}
  long:
    shell: |
      [ -e "$HOLD" ] || { echo done >> "$LOG"; exit 0; }
      sleep 600 &
      echo "$$ $!" >> "$LOG"
      wait
  `

// interrupted starts the long program by an answer, sends a signal to hitl-tui while it runs, and gives the result, the
// processes the program consisted of, and the thread as it was before.
func interrupted(t *testing.T, w *world, s syscall.Signal) (result, []int, wire.Show) {
	t.Helper()
	hold := w.file("hold", "")
	w.must(0, "run", w.file("long.yaml", longRun), "-F", "log="+w.lines, "-F", "hold="+hold, "--thread", "thread-1", "--json")
	before := w.show("thread-1")
	p := w.start(nil, "resume", "thread-1", "approve", "-d", `"go"`, "--json")
	var pids []int
	w.await("the program runs", func() bool {
		pids = nil
		for line := range w.written() {
			for _, word := range strings.Fields(line) {
				if pid, err := strconv.Atoi(word); err == nil {
					pids = append(pids, pid)
				}
			}
		}
		return len(pids) == 2
	})
	p.signal(s)
	return p.wait(), pids, before
}

func (w *world) show(thread string) wire.Show {
	w.t.Helper()
	var s wire.Show
	r := w.must(0, "show", thread, "--json")
	if err := json.Unmarshal([]byte(r.out), &s); err != nil {
		w.t.Fatalf("%v: %s", err, r)
	}
	return s
}

// allEnded demands that no process of a program is left.
func allEnded(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		if alive(pid) {
			t.Errorf("process %d of the program is still there", pid)
		}
	}
}

// alive reports whether a process runs; one that has ended and that nobody waited for does not.
func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && !strings.Contains(string(stat), ") Z ")
}

// TestCtrlCPutsTheQuestionBack: the program's whole group ends, the thread is exactly as before, and the record says
// that the answer was withdrawn.
func TestCtrlCPutsTheQuestionBack(t *testing.T) { everyStore(t, ctrlCPutsTheQuestionBack) }

func ctrlCPutsTheQuestionBack(t *testing.T, w *world) {
	r, pids, before := interrupted(t, w, syscall.SIGINT)
	if r.exit != 130 {
		t.Errorf("want exit code 130: %s", r)
	}
	if e := r.envelope(t); code(e) != "cancelled" || e.Success {
		t.Errorf("want the code cancelled: %+v", e)
	}
	allEnded(t, pids)
	after := w.show("thread-1")
	if after.Step != before.Step || after.Revision != before.Revision || after.Status != "interrupted" ||
		len(after.Interrupts) != 1 || after.Interrupts[0].ID != before.Interrupts[0].ID {
		t.Errorf("the thread is not as before: %+v, was %+v", after, before)
	}
	var outcomes []string
	for _, d := range w.decisions("thread-1") {
		outcomes = append(outcomes, d.Outcome)
	}
	if strings.Join(outcomes, " ") != "applied withdrawn" {
		t.Errorf("the record says %v, want applied and withdrawn", outcomes)
	}
	os.Remove(w.dir + "/hold")
	if e := w.must(0, "resume", "thread-1", "approve", "--json").envelope(t); status(e) != "done" {
		t.Errorf("the question that came back led to %s", status(e))
	}
	w.sound()
}

// TestSIGKILLEndsTheProgram: a process that is killed takes its programs with it, to the last of their children, so that
// none goes on beside the run of whoever takes over.
func TestSIGKILLEndsTheProgram(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, pids, _ := interrupted(t, w, syscall.SIGKILL)
	w.await("the program's processes end", func() bool {
		for _, pid := range pids {
			if alive(pid) {
				return false
			}
		}
		return true
	})
}

// TestSIGTERMKeepsTheAnswer: the program's group ends, the thread stalls with its answer, and carrying on does not ask
// again.
func TestSIGTERMKeepsTheAnswer(t *testing.T) {
	t.Parallel()
	for signal, exit := range map[syscall.Signal]int{syscall.SIGTERM: 143, syscall.SIGHUP: 129} {
		t.Run(signal.String(), func(t *testing.T) {
			everyStore(t, func(t *testing.T, w *world) {
				r, pids, before := interrupted(t, w, signal)
				if r.exit != exit {
					t.Errorf("want exit code %d: %s", exit, r)
				}
				allEnded(t, pids)
				after := w.show("thread-1")
				if after.Status != "stalled" || after.Step != before.Step {
					t.Errorf("the thread is %s at step %d, want stalled at %d", after.Status, after.Step, before.Step)
				}
				os.Remove(w.dir + "/hold")
				if e := w.must(0, "resume", "thread-1", "--json").envelope(t); status(e) != "done" {
					t.Errorf("carried on to %s", status(e))
				}
				if rows := w.decisions("thread-1"); len(rows) != 1 || rows[0].Outcome != "applied" || *rows[0].Comment != "go" {
					t.Errorf("the record is %+v", rows)
				}
				w.sound()
			})
		})
	}
}
