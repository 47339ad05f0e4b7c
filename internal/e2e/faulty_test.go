//go:build linux

package e2e

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
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

// TestTruncatedLogLosesItsEndOnly cuts the log that a killed process, or a killed server, left: the store opens, is whole, and
// the thread goes on from an earlier step.
func TestTruncatedLogLosesItsEndOnly(t *testing.T) {
	t.Parallel()
	for kind, cut := range map[string]func(w *world){
		"sqlite": func(w *world) { w.truncate(w.store+"-wal", func(size int64) int64 { return size / 2 }) },
		"redis": func(w *world) { // what is left ends in the middle of a write
			w.server.Kill()
			logs, err := filepath.Glob(filepath.Join(w.server.Folder, "appendonlydir", "*.incr.aof"))
			if err != nil || len(logs) != 1 {
				t.Fatalf("the server's log: %v, %v", logs, err)
			}
			w.truncate(logs[0], func(size int64) int64 { return size - 40 })
			w.server.Start()
		},
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := kinds()[kind](t)
			w.ask("thread-1", "thread-2")
			truncatedLog(t, w, cut)
		})
	}
}

// truncate cuts a file.
func (w *world) truncate(file string, to func(size int64) int64) {
	w.t.Helper()
	info, err := os.Stat(file)
	if err != nil || info.Size() < 8192 {
		w.t.Fatalf("nothing to cut: %v, %v", info, err)
	}
	if err := os.Truncate(file, to(info.Size())); err != nil {
		w.t.Fatal(err)
	}
}

func truncatedLog(t *testing.T, w *world, cut func(w *world)) {
	killed := w.start([]string{"HITL_TUI_CRASH_AT=after_commit:4"}, "resume", "thread-1", "approve").wait()
	if killed.signal != syscall.SIGKILL {
		t.Fatalf("it was not killed: %s", killed)
	}
	cut(w)
	w.sound()
	head := w.thread("thread-1")
	if head.Step < 3 || head.Step >= 7 {
		t.Errorf("the head is step %d; what is left of the log ends between steps 4 and 7", head.Step)
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

// TestFlippedBytesHarmTheirThreadOnly flips a byte in each file of one thread in turn: the program names the thread and the file,
// or does not need it, and the other thread is whole.
func TestFlippedBytesHarmTheirThreadOnly(t *testing.T) {
	t.Parallel()
	w := kinds()["file"](t)
	w.ask("thread-1", "thread-2")
	w.must(0, "resume", "thread-1", "approve", "--json")
	hurt := 0
	err := filepath.WalkDir(w.threadFile(""), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		flip := func() { w.edit(path, func(b []byte) { b[len(b)/2] ^= 1 }) }
		flip()
		defer flip()
		for _, args := range [][]string{{"show", "thread-1"}, {"history", "thread-1"}, {"audit", "--verify"}} {
			r := w.run(args...)
			if r.exit != 0 {
				hurt++
			}
			if r.exit != 0 && r.exit != 5 && r.exit != 1 || r.exit != 0 && !strings.Contains(r.out+r.err, "thread-1") || strings.Contains(r.err, "goroutine") {
				t.Errorf("%s: %s", path, r)
			}
		}
		w.must(0, "show", "thread-2")
		return nil
	})
	if err != nil || hurt < 5 {
		t.Errorf("%d commands were told of a flipped byte (%v)", hurt, err)
	}
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
