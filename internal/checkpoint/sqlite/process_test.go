package sqlite_test

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/sqlite"
)

func isLeased(err error) bool { return errors.Is(err, checkpoint.ErrLeased) }

// TestKill kills a writing process at random and finds everything it was promised.
func TestKill(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	path := filepath.Join(t.TempDir(), "store.db")
	for round := range 6 {
		acknowledged := make(map[string]int64)
		name := fmt.Sprint("round", round)
		cmd, out := child(t, "writer", path, name)
		watchdog := time.AfterFunc(time.Minute, func() { cmd.Process.Kill() })
		for lives := 20 + random.IntN(300); lives > 0 && out.Scan(); lives-- {
			note(t, acknowledged, out.Text())
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for out.Scan() { // what it said before it died
			note(t, acknowledged, out.Text())
		}
		cmd.Wait()
		watchdog.Stop()
		if len(acknowledged) != writers {
			t.Fatalf("%d threads were written, want %d", len(acknowledged), writers)
		}
		verify(t, path, acknowledged)
	}
}

func note(t *testing.T, acknowledged map[string]int64, line string) {
	t.Helper()
	var thread string
	var step int64
	if _, err := fmt.Sscan(line, &thread, &step); err == nil && strings.Contains(line, " ") {
		acknowledged[thread] = step
	}
}

func verify(t *testing.T, path string, acknowledged map[string]int64) {
	t.Helper()
	s, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for thread, last := range acknowledged {
		n := int64(-1)
		for c, err := range s.History(t.Context(), thread, true) {
			if err != nil {
				t.Fatal(err)
			}
			n++
			if c.Step != n {
				t.Fatalf("thread %s: step %d where %d belongs", thread, c.Step, n)
			}
			if log := string(c.Channels["log"]); !strings.HasSuffix(log, fmt.Sprintf("%d]", n)) || strings.Count(log, ",") != int(n) {
				t.Fatalf("thread %s, step %d: state %s", thread, n, log)
			}
		}
		if n < last {
			t.Errorf("thread %s has %d steps, %d were acknowledged", thread, n, last)
		}
		info, err := s.Thread(t.Context(), thread)
		if err != nil || info.Step != n {
			t.Errorf("thread %s: head %v, last step %d (%v)", thread, info, n, err)
		}
	}
	integrity(t, path)
}

func integrity(t *testing.T, path string) {
	t.Helper()
	var result string
	if err := rawDB(t, path).QueryRow("PRAGMA integrity_check").Scan(&result); err != nil || result != "ok" {
		t.Fatalf("integrity_check: %s (%v)", result, err)
	}
}

// rawDB opens the file beside the store.
func rawDB(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

const raced = 40

// TestRaceOfProcesses lets processes take the same leases.
func TestRaceOfProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := open(t, path, sqlite.Options{})
	for i := range raced {
		if _, err := s.Put(t.Context(), checkpoint.Checkpoint{Thread: fmt.Sprintf("t%02d", i)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	wins := make(map[string]int)
	var waits []func()
	for i := range 4 {
		cmd, out := child(t, "racer", path, fmt.Sprint("racer", i))
		if !out.Scan() || out.Text() != "ready" {
			t.Fatalf("racer %d says %q", i, out.Text())
		}
		waits = append(waits, func() {
			for out.Scan() {
				wins[out.Text()]++
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("racer: %v", err)
			}
		})
	}
	if err := os.WriteFile(path+".go", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, wait := range waits {
		wait()
	}
	if len(wins) != raced {
		t.Errorf("%d of %d leases were taken", len(wins), raced)
	}
	for thread, n := range wins {
		if n != 1 {
			t.Errorf("%s was taken by %d", thread, n)
		}
	}
}

// TestCreationByManyProcesses lets processes create one store at the same time.
func TestCreationByManyProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "er", "store.db")
	var waits []func() error
	for i := range 4 {
		cmd, _ := child(t, "opener", path, fmt.Sprint("p", i))
		waits = append(waits, cmd.Wait)
	}
	for _, wait := range waits {
		if err := wait(); err != nil {
			t.Error(err)
		}
	}
	s := open(t, path, sqlite.Options{})
	stats, err := s.Stats(t.Context())
	if err != nil || stats.Threads != 4 {
		t.Errorf("%d threads (%v), want 4", stats.Threads, err)
	}
	integrity(t, path)
}

// TestWatchOfAnotherProcess sees what another process wrote.
func TestWatchOfAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	s := open(t, path, sqlite.Options{WatchEvery: 5 * time.Millisecond})
	wake, err := s.Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cmd, _ := child(t, "opener", path, "other")
	deadline := time.After(30 * time.Second)
	for {
		c, err := s.Changes(t.Context(), 0, 10)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Threads) == 1 && c.Threads[0].Thread == "other" {
			break
		}
		select {
		case <-wake:
		case <-deadline:
			t.Fatal("nobody was woken")
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
}
