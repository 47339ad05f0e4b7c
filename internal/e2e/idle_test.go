//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint/sqlite"
	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/workflow"
)

// child is the one process a process has started.
func child(t *testing.T, parent string) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", parent, "task", parent, "children"))
	if err != nil {
		skip(t, "/proc does not tell the children of a process")
	}
	all := strings.Fields(string(text))
	if len(all) != 1 {
		t.Fatalf("process %s has the children %q, want one", parent, all)
	}
	pid, err := strconv.Atoi(all[0])
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// ticks is the processor time of a process in hundredths of a second.
func ticks(t *testing.T, pid int) int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), ") ") // the name may hold spaces
	fields := strings.Fields(rest)
	user, err := strconv.Atoi(fields[11])
	if err != nil {
		t.Fatal(err)
	}
	system, err := strconv.Atoi(fields[12])
	if err != nil {
		t.Fatal(err)
	}
	return user + system
}

// TestDeskAtRestUsesNoCPU: with a hundred threads waiting and nothing to do the desk neither draws nor computes.
func TestDeskAtRestUsesNoCPU(t *testing.T) {
	t.Parallel()
	w := deskWorld(t, 1)
	w.fill(100)
	x := w.desk(80, 24)
	x.Await("One line", patience)
	x.Await("100", patience)
	pid := child(t, x.PID())
	// It is at rest once its processor time has stood still for a second.
	last, since := ticks(t, pid), time.Now()
	w.await("the desk comes to rest", func() bool {
		if now := ticks(t, pid); now != last {
			last, since = now, time.Now()
		}
		return time.Since(since) > time.Second
	})
	const watch, most = 5 * time.Second, 4
	began := ticks(t, pid)
	end := time.NewTimer(watch)
	<-end.C
	if used := ticks(t, pid) - began; used > most {
		t.Errorf("the desk at rest used %d hundredths of a second in %s, want at most %d", used, watch, most)
	}
	leave(x)
	clean(t, x, 0)
}

// fill forks the waiting thread-0 until there are so many threads.
func (w *world) fill(threads int) {
	w.t.Helper()
	store, err := sqlite.Open(w.t.Context(), w.store, sqlite.Options{Synchronous: "NORMAL"})
	if err != nil {
		w.t.Fatal(err)
	}
	defer store.Close()
	e := engine.New(store, engine.Options{Graphs: &workflow.Graphs{}})
	for i := 1; i < threads; i++ {
		if _, err := e.Fork(w.t.Context(), "thread-0", 2, fmt.Sprintf("thread-%d", i), "tester"); err != nil {
			w.t.Fatal(err)
		}
	}
}
