package postgres_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/postgres"
)

// race lets processes in a role begin at once, and counts how often each line was said.
func race(t *testing.T, role, url string) map[string]int {
	t.Helper()
	said := make(map[string]int)
	var processes []process
	var begins []func()
	for i := range 4 {
		p, begin := child(t, role, url, fmt.Sprint(role, i))
		if !p.out.Scan() || p.out.Text() != "ready" {
			t.Fatalf("%s %d says %q", role, i, p.out.Text())
		}
		processes, begins = append(processes, p), append(begins, begin)
	}
	for _, begin := range begins {
		begin()
	}
	for _, p := range processes {
		for p.out.Scan() {
			said[p.out.Text()]++
		}
		if err := p.Wait(); err != nil {
			t.Errorf("%s: %v", role, err)
		}
	}
	return said
}

func oneWinnerEach(t *testing.T, wins map[string]int) {
	t.Helper()
	if len(wins) != raced {
		t.Errorf("%d of %d were won", len(wins), raced)
	}
	for thread, n := range wins {
		if n != 1 {
			t.Errorf("%s was won by %d", thread, n)
		}
	}
}

// TestRaceForLeases lets processes take the same leases.
func TestRaceForLeases(t *testing.T) {
	t.Parallel()
	url := fresh(t)
	s := open(t, url, postgres.Options{})
	for i := range raced {
		put(t, s, fmt.Sprintf("t%02d", i))
	}
	oneWinnerEach(t, race(t, "racer", url))
}

// TestRaceToCreate lets processes begin the same threads, of which none is there: there is no row to lock.
func TestRaceToCreate(t *testing.T) {
	t.Parallel()
	url := fresh(t)
	s := open(t, url, postgres.Options{})
	oneWinnerEach(t, race(t, "creator", url))
	counts, err := s.Counts(t.Context())
	if err != nil || counts[checkpoint.Stalled]+counts[checkpoint.Done] != raced {
		t.Errorf("counts %v (%v), want %d threads", counts, err, raced)
	}
}

// TestCreationByManyProcesses lets processes create one schema at the same time.
func TestCreationByManyProcesses(t *testing.T) {
	t.Parallel()
	url := fresh(t)
	var waits []func() error
	for i := range 4 {
		p, begin := child(t, "opener", url, fmt.Sprint("p", i))
		begin()
		waits = append(waits, p.Wait)
	}
	for _, wait := range waits {
		if err := wait(); err != nil {
			t.Error(err)
		}
	}
	stats, err := open(t, url, postgres.Options{}).Stats(t.Context())
	if err != nil || stats.Threads != 4 {
		t.Errorf("%d threads (%v), want 4", stats.Threads, err)
	}
}

// TestKill kills a writing process at random and finds everything it was promised, whole, and no lock left.
func TestKill(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	url := fresh(t)
	s := open(t, url, postgres.Options{})
	for round := range 4 {
		acknowledged := make(map[string]int64)
		p, begin := child(t, "writer", url, fmt.Sprint("round", round))
		begin()
		for lives := 10 + random.IntN(200); lives > 0 && p.out.Scan(); lives-- {
			note(acknowledged, p.out.Text())
		}
		if err := p.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for p.out.Scan() { // what it said before it died
			note(acknowledged, p.out.Text())
		}
		_ = p.Wait()
		if len(acknowledged) == 0 {
			t.Fatal("nothing was written")
		}
		for thread, last := range acknowledged {
			kept(t, s, thread, last)
		}
	}
}

func note(acknowledged map[string]int64, line string) {
	var thread string
	var step int64
	if _, err := fmt.Sscan(line, &thread, &step); err == nil {
		acknowledged[thread] = step
	}
}

// kept checks that a thread has each step up to the last that was acknowledged at least, and can be written.
func kept(t *testing.T, s *postgres.Store, thread string, last int64) {
	t.Helper()
	n := int64(-1)
	for c, err := range s.History(t.Context(), thread, true) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		log := string(c.Channels["log"])
		if c.Step != n || !strings.HasSuffix(log, fmt.Sprintf("%d]", n)) || strings.Count(log, ",") != int(n) {
			t.Fatalf("thread %s: step %d with state %s where %d belongs", thread, c.Step, log, n)
		}
	}
	if n < last {
		t.Errorf("thread %s has steps up to %d, %d was acknowledged", thread, n, last)
	}
	if _, err := s.Heartbeat(t.Context(), thread, thread, time.Hour); err != nil {
		t.Errorf("thread %s after its writer died: %v", thread, err)
	}
	if info, err := s.Thread(t.Context(), thread); err != nil || info.Step < n {
		t.Errorf("thread %s: row %+v, last step %d (%v)", thread, info, n, err)
	}
}

// TestStoppedRunner stops a process that holds a lease until the lease is out: what it then tries is refused.
func TestStoppedRunner(t *testing.T) {
	t.Parallel()
	url := fresh(t)
	s := open(t, url, postgres.Options{})
	if _, err := s.Commit(t.Context(), first("t")); err != nil {
		t.Fatal(err)
	}
	p, begin := child(t, "sleeper", url, "t")
	if !p.out.Scan() || p.out.Text() != "ready" {
		t.Fatalf("the sleeper says %q", p.out.Text())
	}
	if err := p.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	begin()
	request := checkpoint.LeaseRequest{Thread: "t", Token: "other", TTL: time.Hour}
	for {
		info, err := s.Thread(t.Context(), "t")
		if err != nil {
			t.Fatal(err)
		}
		if info.Lease == nil || !info.Lease.Live {
			break
		}
	}
	if _, err := s.AcquireLease(t.Context(), request); err != nil {
		t.Fatal(err)
	}
	if err := p.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if !p.out.Scan() || p.out.Text() != "refused" {
		t.Errorf("the sleeper says %q", p.out.Text())
	}
	if err := p.Wait(); err != nil {
		t.Error(err)
	}
}

func put(t *testing.T, s *postgres.Store, thread string) {
	t.Helper()
	if _, err := s.Put(t.Context(), checkpoint.Checkpoint{Thread: thread, Channels: checkpoint.Channels{"a": []byte("1")}}, nil); err != nil {
		t.Fatal(err)
	}
}
