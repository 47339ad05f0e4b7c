//go:build linux

package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// waiting makes a SQLite store in which some threads wait at their first question, with nothing left in its log.
func waiting(t *testing.T, threads ...string) *world {
	t.Helper()
	w := newWorld(t)
	w.ask(threads...)
	return w
}

// ask brings threads to their first question, which is at step 3.
func (w *world) ask(threads ...string) {
	w.t.Helper()
	file := w.copyOf("batch.yaml")
	for _, thread := range threads {
		w.must(0, "run", file, "-F", "log="+w.lines, "--thread", thread, "--json")
	}
}

// sorted joins lines in order.
func sorted(lines []string) string {
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// refused runs a command that must fail with exit code 5 and name what is wrong, and gives what it said.
func (w *world) refused(want string, args ...string) string {
	w.t.Helper()
	r := w.must(5, args...)
	if !strings.Contains(r.err, want) || strings.Contains(r.err, "goroutine") {
		w.t.Errorf("want an error that says %q: %s", want, r)
	}
	return r.err
}

// asNobody makes the world's commands run without root's power to write anywhere; it skips where that is impossible.
func (w *world) asNobody() {
	w.t.Helper()
	if os.Getuid() != 0 {
		return
	}
	setpriv, err := exec.LookPath("setpriv")
	if err != nil {
		skip(w.t, "setpriv is missing: root can write to whatever is read-only")
	}
	w.prefix = []string{setpriv, "--bounding-set=-all", "--inh-caps=-all", "--"}
}

// skip skips a test by name of what is missing, which with CI=true is a failure.
func skip(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatal(what + ", and CI skips nothing")
	}
	t.Skip(what)
}

// TestReadOnlyStoreIsReadAndNotWritten: the file or folder is protected, the session of the server is read-only, the server
// is a replica.
func TestReadOnlyStoreIsReadAndNotWritten(t *testing.T) {
	everyHarm(t, []string{"thread-1"}, func(t *testing.T, w *world, h harm) {
		before := h.contents(w)
		h.readOnly(w)
		w.refused("read-only", "resume", "thread-1", "approve")
		w.refused("read-only", "run", filepath.Join(w.dir, "batch.yaml"), "-F", "log="+w.lines)
		if r := w.must(0, "threads", "--read-only", "--json"); !strings.Contains(r.out, "thread-1") {
			t.Errorf("it cannot be read: %s", r)
		}
		if len(w.written()) != 2 {
			t.Errorf("programs ran although nothing could be written: %v", w.written())
		}
		if before != h.contents(w) {
			t.Error("the store has changed")
		}
	})
}

// TestProtectedFileInAnOpenFolder is read and not written either.
func TestProtectedFileInAnOpenFolder(t *testing.T) {
	t.Parallel()
	w := waiting(t, "thread-1")
	w.asNobody()
	if err := os.Chmod(w.store, 0o400); err != nil {
		t.Fatal(err)
	}
	before := w.bytes()
	w.refused("read-only", "resume", "thread-1", "approve")
	w.must(0, "threads", "--read-only", "--json")
	if !bytes.Equal(before, w.bytes()) {
		t.Error("the file has changed")
	}
}

// TestLockedStoreIsToldAfterATime: while another program holds the store, or its server hangs, a command gives up with a clear
// error and has done nothing; afterwards it works.
func TestLockedStoreIsToldAfterATime(t *testing.T) {
	everyHarm(t, []string{"thread-1"}, func(t *testing.T, w *world, h harm) {
		want := map[string][2]string{"redis": {"timeout", "store_unavailable"}}[w.kind]
		if want[0] == "" {
			want = [2]string{"locked", "store_locked"}
		}
		w.env = append(w.env, "HITL_TUI_BUSY_TIMEOUT=200ms")
		unlock := h.lock(w)
		w.refused(want[0], "resume", "thread-1", "approve")
		if e := w.run("resume", "thread-1", "approve", "--json").envelope(t); code(e) != want[1] {
			t.Errorf("the code is %q, want %s", code(e), want[1])
		}
		unlock()
		if rows := w.decisions("thread-1"); len(rows) != 0 {
			t.Errorf("decisions were written: %+v", rows)
		}
		w.must(0, "resume", "thread-1", "approve", "--json")
		w.sound()
	})
}

// TestTruncatedLogLosesItsEndOnly cuts the write-ahead log that a killed process left: the store opens, is whole, and
// the thread goes on from an earlier step.
func TestTruncatedLogLosesItsEndOnly(t *testing.T) {
	t.Parallel()
	w := waiting(t, "thread-1", "thread-2")
	killed := w.start([]string{"HITL_TUI_CRASH_AT=after_commit:4"}, "resume", "thread-1", "approve").wait()
	if killed.signal != syscall.SIGKILL {
		t.Fatalf("it was not killed: %s", killed)
	}
	wal := w.store + "-wal"
	info, err := os.Stat(wal)
	if err != nil || info.Size() < 8192 {
		t.Fatalf("the killed process left no log: %v, %v", info, err)
	}
	if err := os.Truncate(wal, info.Size()/2); err != nil {
		t.Fatal(err)
	}
	w.sound()
	head := w.thread("thread-1")
	if head.Step < 3 || head.Step >= 7 {
		t.Errorf("the head is step %d; half the log held steps 4 to 7", head.Step)
	}
	w.await("the lease runs out", func() bool { return w.show("thread-1").Status != "running" })
	args := []string{"resume", "thread-1", "--json"}
	if w.show("thread-1").Status == "interrupted" {
		args = []string{"resume", "thread-1", "approve", "--json"}
	}
	if e := w.must(0, args...).envelope(t); e.Interrupts[0].Address != "sign" {
		t.Errorf("carried on to %+v", e.Interrupts)
	}
	w.must(0, "resume", "thread-2", "approve", "--json")
	w.sound()
}

// TestDamagedCheckpointHarmsItsThreadOnly overwrites the state of one thread's head: that thread is refused by name and
// step, the others are read and answered.
func TestDamagedCheckpointHarmsItsThreadOnly(t *testing.T) {
	everyHarm(t, []string{"thread-1", "thread-2"}, damagedCheckpoint)
}

func damagedCheckpoint(t *testing.T, w *world, h harm) {
	h.damage(w)
	for _, args := range [][]string{{"show", "thread-1"}, {"resume", "thread-1", "approve"}} {
		said := w.refused("thread-1", args...)
		if !strings.Contains(said, "step 3") {
			t.Errorf("%v does not name the step: %s", args, said)
		}
	}
	if e := w.run("resume", "thread-1", "approve", "--json").envelope(t); code(e) != "store_corrupt" {
		t.Errorf("the code is %q, want store_corrupt", code(e))
	}
	if r := w.must(0, "threads", "--json"); !strings.Contains(r.out, "thread-1") || !strings.Contains(r.out, "thread-2") {
		t.Errorf("the list is not whole: %s", r)
	}
	if e := w.must(0, "resume", "thread-2", "approve", "--json").envelope(t); e.Interrupts[0].Address != "sign" {
		t.Errorf("the other thread came to %+v", e.Interrupts)
	}
	if n := w.written()["thread-1 work@1"]; n != 0 {
		t.Error("a program of the damaged thread ran")
	}
	w.must(0, "delete", "thread-1", "--yes")
	w.sound()
}

// TestChangedDecisionIsFound changes a row of the record behind the program's back.
func TestChangedDecisionIsFound(t *testing.T) {
	everyHarm(t, []string{"thread-1"}, func(t *testing.T, w *world, h harm) {
		w.must(0, "resume", "thread-1", "approve")
		w.must(0, "audit", "--verify")
		h.tamper(w)
		if r := w.must(1, "audit", "--verify"); !strings.Contains(r.out, "thread-1") {
			t.Errorf("the thread is not named: %s", r)
		}
	})
}

// TestFlippedPagesAreNoPanic flips bytes all over the file: whatever is hit, the program says so or works, and never
// ends as a bug.
func TestFlippedPagesAreNoPanic(t *testing.T) {
	t.Parallel()
	w := waiting(t, "thread-1")
	whole := w.bytes()
	for _, page := range []int{1, 2, 5, 9, 14, 20} {
		at := (page-1)*4096 + 120
		if at+64 > len(whole) {
			break
		}
		broken := bytes.Clone(whole)
		for i := range 64 {
			broken[at+i] ^= 0xa5
		}
		if err := os.WriteFile(w.store, broken, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"threads"}, {"show", "thread-1"}, {"audit", "--verify"}} {
			if r := w.run(args...); r.exit != 0 && r.exit != 5 && r.exit != 1 && r.exit != 3 || strings.Contains(r.err, "goroutine") {
				t.Errorf("page %d: %s", page, r)
			}
		}
	}
}

// TestNewerStoreIsLeftAlone: a store of a later version is refused, and not a byte of it changes.
func TestNewerStoreIsLeftAlone(t *testing.T) {
	everyHarm(t, []string{"thread-1"}, func(t *testing.T, w *world, h harm) {
		h.newer(w)
		newer := h.contents(w)
		run := []string{"run", filepath.Join(w.dir, "batch.yaml"), "-F", "log=" + w.lines}
		for _, args := range [][]string{
			{"threads"}, {"threads", "--read-only"}, {"resume", "thread-1", "approve"}, {"prune", "--all", "--before-step", "2", "--yes"}, run,
		} {
			w.refused("99", args...)
		}
		if e := w.run(append(run, "--json")...).envelope(t); code(e) != "store_newer" {
			t.Errorf("the code is %q, want store_newer", code(e))
		}
		if newer != h.contents(w) {
			t.Error("the store has changed")
		}
		for _, beside := range []string{"-wal", "-shm", "-journal"} {
			if _, err := os.Stat(w.store + beside); w.kind == "sqlite" && err == nil {
				t.Errorf("%s was made", beside)
			}
		}
	})
}

// TestFullDisk puts the store on a small disk and answers until it is full: the command says so with exit code 5, what
// was acknowledged before is there, and with room again the thread goes on.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	disk := filepath.Dir(w.store)
	if err := os.MkdirAll(disk, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=1m,mode=0700"); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v", err) // a right that is missing, no tool: so also with CI=true
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	file := w.file("grow.yaml", `workflow: grow
input: {properties: {log: {type: string}}, required: [log]}
env: {LOG: "{{.log}}"}
nodes:
  make: {shell: 'head -c 60000 /dev/urandom | base64 -w0; echo "$HITL_THREAD" >> "$LOG"', output: blob, then: ask}
  ask: {human: approval, message: More?, actions: [continue, stop], then: make}
`)
	w.must(0, "run", file, "-F", "log="+w.lines, "--thread", "thread-1", "--json")
	var last int64
	full := result{}
	for range 40 {
		r := w.run("resume", "thread-1", "continue", "--json")
		if r.exit != 0 {
			full = r
			break
		}
		last = *r.envelope(t).Step
	}
	if full.exit != 5 || !strings.Contains(full.out, "full") || !strings.Contains(full.out, "store_unavailable") {
		t.Errorf("want exit code 5 and an error that says full: %s", full)
	}
	w.sound()
	if info := w.thread("thread-1"); info.Step < last {
		t.Errorf("step %d was acknowledged, the head is %d", last, info.Step)
	}
	if err := syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_REMOUNT, "size=8m,mode=0700"); err != nil {
		t.Fatal(err)
	}
	w.await("the lease runs out", func() bool { return w.thread("thread-1").Status != checkpoint.Running })
	if e := w.must(0, "resume", "thread-1", "--json").envelope(t); status(e) != "interrupted" {
		t.Errorf("with room again it came to %s", status(e))
	}
	w.sound()
}

// TestKilledProcessLeavesAReadableStore reads a store, whose writer was killed a moment ago, in read-only mode.
func TestKilledProcessLeavesAReadableStore(t *testing.T) {
	t.Parallel()
	w := waiting(t, "thread-1")
	began := time.Now()
	w.start([]string{"HITL_TUI_CRASH_AT=after_commit:2"}, "resume", "thread-1", "approve").wait()
	if r := w.must(0, "show", "thread-1", "--read-only", "--json"); !strings.Contains(r.out, `"step":5`) {
		t.Errorf("the last commit before the kill is not seen %s later: %s", time.Since(began), r)
	}
}
