package redis_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/redis"
)

const raced = 40

// beRacer waits for the start, then takes every lease, begins every thread and puts every step it can, telling which.
func beRacer(s *redis.Store, name string) error {
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin)
	ctx, none := context.Background(), int64(0)
	for i := range raced {
		won := func(what string, err error) error {
			switch {
			case err == nil:
				fmt.Printf("%s %02d\n", what, i)
			case !errors.Is(err, checkpoint.ErrLeased) && !errors.Is(err, checkpoint.ErrConflict):
				return err
			}
			return nil
		}
		thread := fmt.Sprintf("t%02d", i)
		_, err := s.AcquireLease(ctx, checkpoint.LeaseRequest{Thread: thread, Token: name, Holder: name, TTL: time.Hour,
			Decisions: []checkpoint.Decision{{ID: name, ResponseID: "r"}}})
		begun := first("new-" + thread)
		begun.ID, begun.Lease, begun.NewLease.Token = name, name, name
		_, errCommit := s.Commit(ctx, begun)
		_, errPut := s.Put(ctx, checkpoint.Checkpoint{Thread: "put-" + thread, Step: 3}, &none)
		if err := errors.Join(won("lease", err), won("commit", errCommit), won("put", errPut)); err != nil {
			return err
		}
	}
	return nil
}

// beOpener has opened a store, perhaps founded it together with others, and writes to it.
func beOpener(s *redis.Store, name string) error {
	_, err := s.Put(context.Background(), checkpoint.Checkpoint{Thread: name, Step: 1}, nil)
	return err
}

// TestRaceOfProcesses lets processes race for the same leases, the same new threads and the same steps.
func TestRaceOfProcesses(t *testing.T) {
	url := freshURL(t)
	s := open(t, url, redis.Options{})
	for i := range raced {
		if _, err := s.Put(t.Context(), checkpoint.Checkpoint{Thread: fmt.Sprintf("t%02d", i)}, nil); err != nil {
			t.Fatal(err)
		}
	}
	wins := make(map[string]int)
	var starts []io.Closer
	var waits []func()
	for i := range 4 {
		cmd, out, start := child(t, "racer", url, fmt.Sprint("racer", i))
		if !out.Scan() || out.Text() != "ready" {
			t.Fatalf("racer %d says %q", i, out.Text())
		}
		starts = append(starts, start)
		waits = append(waits, func() {
			for out.Scan() {
				wins[out.Text()]++
			}
			if err := cmd.Wait(); err != nil {
				t.Errorf("racer: %v", err)
			}
		})
	}
	for _, start := range starts {
		start.Close()
	}
	for _, wait := range waits {
		wait()
	}
	if len(wins) != 3*raced {
		t.Errorf("%d of %d were won", len(wins), 3*raced)
	}
	for what, n := range wins {
		if n != 1 {
			t.Errorf("%s was won by %d", what, n)
		}
	}
	for i := range raced {
		if info, err := s.Thread(t.Context(), fmt.Sprintf("t%02d", i)); err != nil || info.Decisions != 1 {
			t.Errorf("%v (%v), want the decision of the winner", info, err)
		}
	}
}

// TestFoundingByManyProcesses lets processes found one store at the same time.
func TestFoundingByManyProcesses(t *testing.T) {
	url := freshURL(t)
	var waits []func() error
	for i := range 4 {
		cmd, _, _ := child(t, "opener", url, fmt.Sprint("p", i))
		waits = append(waits, cmd.Wait)
	}
	for _, wait := range waits {
		if err := wait(); err != nil {
			t.Error(err)
		}
	}
	stats, err := open(t, url, redis.Options{}).Stats(t.Context())
	if err != nil || stats.Threads != 4 {
		t.Errorf("%d threads (%v), want 4", stats.Threads, err)
	}
}

// beSleeper takes a lease, is stopped until it has run out and then tries to go on under it.
func beSleeper(s *redis.Store, thread string) error {
	ctx := context.Background()
	lease, err := s.AcquireLease(ctx, checkpoint.LeaseRequest{Thread: thread, Token: "sleeper", TTL: 200 * time.Millisecond})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	io.Copy(io.Discard, os.Stdin)
	c := next(first(thread))
	c.Lease = lease.Token
	for name, err := range map[string]error{
		"commit": second(s.Commit(ctx, c)), "heartbeat": second(s.Heartbeat(ctx, thread, lease.Token, time.Hour)),
		"result": s.AddResult(ctx, thread, lease.Token, checkpoint.PendingResult{Step: 1, Path: "a"}),
	} {
		if !errors.Is(err, checkpoint.ErrConflict) {
			return fmt.Errorf("%s of a runner that slept past its lease: %v", name, err)
		}
	}
	fmt.Println("refused")
	return nil
}

// TestSleepers stops processes until their leases have run out: what they then try is refused, whether or not somebody has
// taken the thread over.
func TestSleepers(t *testing.T) {
	url := freshURL(t)
	s := open(t, url, redis.Options{})
	for _, thread := range []string{"left", "taken over"} {
		chain(t, s, thread, 1)
		cmd, out, start := child(t, "sleeper", url, thread)
		if !out.Scan() || out.Text() != "ready" {
			t.Fatalf("the sleeper says %q", out.Text())
		}
		if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		for status := checkpoint.Running; status == checkpoint.Running; {
			info, err := s.Thread(t.Context(), thread)
			if err != nil {
				t.Fatal(err)
			}
			status = info.Status
		}
		if thread != "left" {
			if _, err := s.AcquireLease(t.Context(), checkpoint.LeaseRequest{Thread: thread, Token: "other", TTL: time.Hour}); err != nil {
				t.Fatal(err)
			}
		}
		start.Close()
		if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		if !out.Scan() || out.Text() != "refused" {
			t.Errorf("%s: the sleeper says %q", thread, out.Text())
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		if c, err := s.Latest(t.Context(), thread); err != nil || c.Step != 0 {
			t.Errorf("%s: %v (%v)", thread, c, err)
		}
	}
}

const writers = 4

// TestKill kills a server that syncs each write, at random, while many threads commit, and finds everything it promised.
func TestKill(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	srv := startServer(t, "--appendonly", "yes", "--appendfsync", "always")
	for round := range 4 {
		told := make(chan string, 1024)
		s := open(t, srv.url(), redis.Options{BusyTimeout: time.Nanosecond})
		var wg sync.WaitGroup
		for i := range writers {
			wg.Go(func() { writeForever(s, fmt.Sprintf("r%d-%d", round, i), told) })
		}
		acknowledged := make(map[string]int64)
		lives := 20 + random.IntN(400)
		go func() { wg.Wait(); close(told) }()
		for line := range told {
			var thread string
			var step int64
			fmt.Sscan(line, &thread, &step)
			acknowledged[thread] = step
			if lives--; lives == 0 {
				srv.cmd.Process.Kill()
			}
		}
		srv.cmd.Wait()
		srv.start()
		verify(t, open(t, srv.url(), redis.Options{}), acknowledged)
	}
}

// writeForever commits until an error and tells each time that it was told so.
func writeForever(s *redis.Store, thread string, told chan<- string) {
	for c := first(thread); ; c = next(c) {
		if _, err := s.Commit(context.Background(), c); err != nil {
			return
		}
		told <- fmt.Sprint(thread, " ", c.Checkpoint.Step)
	}
}

func verify(t *testing.T, s *redis.Store, acknowledged map[string]int64) {
	t.Helper()
	if len(acknowledged) == 0 {
		t.Fatal("nothing was written")
	}
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
		if info, err := s.Thread(t.Context(), thread); err != nil || info.Step != n {
			t.Errorf("thread %s: head %v, last step %d (%v)", thread, info, n, err)
		}
	}
}

// TestRestart restarts the server in the middle of a call, which waits for it.
func TestRestart(t *testing.T) {
	srv := startServer(t, "--appendonly", "yes", "--appendfsync", "always")
	s := open(t, srv.url(), redis.Options{BusyTimeout: time.Minute})
	c := first("t")
	commit(t, s, c)
	wake, err := s.Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	srv.kill()
	done := make(chan error)
	go func() {
		_, err := s.Commit(t.Context(), next(c))
		done <- err
	}()
	srv.start()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if got, err := s.Latest(t.Context(), "t"); err != nil || string(got.Channels["log"]) != "[0,1]" {
		t.Errorf("%v (%v)", got, err)
	}
	seen := seqOf(t, s)
	commit(t, open(t, srv.url(), redis.Options{}), first("u"))
	waitFor(t, s, wake, seen)
}

func seqOf(t *testing.T, s *redis.Store) int64 {
	t.Helper()
	c, err := s.Changes(t.Context(), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	return c.Seq
}

// waitFor follows wake-ups until there is a change after seen.
func waitFor(t *testing.T, s *redis.Store, wake <-chan struct{}, seen int64) {
	t.Helper()
	deadline := time.After(30 * time.Second)
	for seqOf(t, s) <= seen {
		select {
		case <-wake:
		case <-deadline:
			t.Fatal("nobody was woken")
		}
	}
}
