//go:build unix

package procs

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
)

// Run runs the suite against stores that fresh names: each is not there yet, and is gone once t has ended.
func Run(t *testing.T, fresh func(t testing.TB) (url string)) {
	for name, test := range map[string]func(t *testing.T, url string){
		"founding by many": founding, "one winner": oneWinner, "deletion": deletion, "sleepers": sleepers, "watching another": watching, "kill": kill,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, fresh(t))
		})
	}
}

// crowd is how many processes want the same thing.
const crowd = 4

// founding lets processes make one store at the same time.
func founding(t *testing.T, url string) {
	together(t, crowd, "opener", url)
	stats, err := openStore(t, url).Stats(t.Context())
	if err != nil || stats.Threads != crowd {
		t.Errorf("%d threads (%v), want %d", stats.Threads, err, crowd)
	}
}

// beOpener has opened a store, perhaps made it together with others, and writes to it.
func beOpener(ctx context.Context, s checkpoint.Store, name string) error {
	ready()
	_, err := s.Put(ctx, checkpoint.Checkpoint{Thread: name, Step: 1}, nil)
	return err
}

// raced is how many leases, new threads and steps there are to win.
const raced = 24

func numbered(i int) string { return fmt.Sprintf("t%02d", i) }

// oneWinner lets processes, each with several goroutines, race for the same leases, the same new threads and the same steps. Where
// a thread is to begin there is no row yet that could be locked.
func oneWinner(t *testing.T, url string) {
	s := openStore(t, url)
	for i := range raced {
		c := checkpointtest.First(numbered(i))
		c.Release = true
		if _, err := s.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
	wins := together(t, crowd, "racer", url)
	if len(wins) != 3*raced {
		t.Errorf("%d of %d were won", len(wins), 3*raced)
	}
	for what, n := range wins {
		if n != 1 {
			t.Errorf("%s was won by %d", what, n)
		}
	}
	for i := range raced {
		if info, err := s.Thread(t.Context(), numbered(i)); err != nil || info.Decisions != 1 || info.Lease == nil || info.Lease.Answers != 1 {
			t.Errorf("%+v (%v), want the answer and the decision of the winner alone", info, err)
		}
	}
}

// beRacer takes every lease, begins every thread and puts every step it can, and says which.
func beRacer(ctx context.Context, s checkpoint.Store, name string) error {
	const goroutines = 2
	ready()
	var wg sync.WaitGroup
	errs := make([]error, goroutines)
	for g := range goroutines {
		wg.Go(func() { errs[g] = race(ctx, s, fmt.Sprint(name, ".", g)) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func race(ctx context.Context, s checkpoint.Store, name string) error {
	none := int64(0)
	for i := range raced {
		thread := numbered(i)
		won := func(what string, err error) error {
			switch {
			case err == nil:
				fmt.Println(what, thread)
			case !errors.Is(err, checkpoint.ErrLeased) && !errors.Is(err, checkpoint.ErrConflict):
				return fmt.Errorf("%s %s: %w", what, thread, err)
			}
			return nil
		}
		_, err := s.AcquireLease(ctx, checkpoint.LeaseRequest{Thread: thread, Token: name, Holder: name, TTL: time.Hour,
			Answers: raws(`"` + name + `"`), Decisions: []checkpoint.Decision{{ID: name + thread, ResponseID: name}}})
		begun := checkpointtest.First("new-" + thread)
		begun.ID, begun.Lease, begun.NewLease.Token = name+thread, name, name
		_, errCommit := s.Commit(ctx, begun)
		_, errPut := s.Put(ctx, checkpoint.Checkpoint{Thread: "put-" + thread, Step: 3}, &none)
		if err := errors.Join(won("lease", err), won("commit", errCommit), won("put", errPut)); err != nil {
			return err
		}
	}
	return nil
}

// deletion lets processes delete threads while others, and they themselves, resume, prune and claim them and try to begin them again.
// Each is deleted once, and stays away.
func deletion(t *testing.T, url string) {
	s := openStore(t, url)
	want := make(map[string]int)
	for i := range raced {
		checkpointtest.Chain(t, s, numbered(i), 4)
		want["deleted "+numbered(i)] = 1
	}
	said := together(t, crowd, "rebel", url)
	for what, n := range said {
		if want[what] != n {
			t.Errorf("%q was said %d times, want %d", what, n, want[what])
		}
	}
	if len(said) != len(want) {
		t.Errorf("%d threads were deleted, want %d", len(said), len(want))
	}
	page, err := s.Threads(t.Context(), checkpoint.Query{})
	if err != nil || len(page.Threads) != 0 {
		t.Errorf("threads came back: %+v (%v)", page.Threads, err)
	}
	stones, err := s.Tombstones(t.Context())
	if err != nil || len(stones) != raced {
		t.Errorf("%d tombstones (%v), want %d", len(stones), err, raced)
	}
	if stats, err := s.Stats(t.Context()); err != nil || stats.Threads != 0 || stats.Checkpoints != 0 {
		t.Errorf("%+v (%v): something is left", stats, err)
	}
}

// beRebel does to each thread all that processes do to one another's, until it is gone.
func beRebel(ctx context.Context, s checkpoint.Store, name string) error {
	ready()
	const goroutines = 4
	var wg sync.WaitGroup
	errs := make([]error, goroutines)
	for g := range goroutines {
		wg.Go(func() {
			for i := range raced {
				errs[g] = errors.Join(errs[g], rebel(ctx, s, numbered(i), fmt.Sprint(name, ".", g), g == 0))
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

func rebel(ctx context.Context, s checkpoint.Store, thread, name string, deletes bool) error {
	for {
		var gone bool
		// One that is not there, or no longer, or in other hands, is what a rebel has to expect.
		tried := func(what string, err error) error {
			gone = gone || errors.Is(err, checkpoint.ErrNotFound)
			if err == nil || gone || errors.Is(err, checkpoint.ErrConflict) || errors.Is(err, checkpoint.ErrLeased) {
				return nil
			}
			return fmt.Errorf("%s %s: %w", what, thread, err)
		}
		err := errors.Join(tried("resume", resume(ctx, s, thread, name)), tried("claim", s.Claim(ctx, thread, name, time.Hour)))
		if _, e := s.Prune(ctx, checkpoint.PruneQuery{Threads: []string{thread}, BeforeStep: 3}); e != nil {
			err = errors.Join(err, tried("prune", e))
		}
		begun := checkpointtest.First(thread)
		begun.ID = name
		if _, e := s.Commit(ctx, begun); e == nil {
			return fmt.Errorf("%s began again", thread)
		} else {
			err = errors.Join(err, tried("begin", e))
		}
		if deletes {
			e := s.DeleteThread(ctx, thread)
			if e == nil {
				fmt.Println("deleted", thread)
			}
			err = errors.Join(err, tried("delete", e))
		}
		if gone || err != nil {
			return err
		}
	}
}

// resume takes a thread, commits a step and gives it back.
func resume(ctx context.Context, s checkpoint.Store, thread, token string) error {
	info, err := s.Thread(ctx, thread)
	if err != nil {
		return err
	}
	lease, err := s.AcquireLease(ctx, checkpoint.LeaseRequest{Thread: thread, Token: token, TTL: time.Hour, Head: info.Version()})
	if err != nil {
		return err
	}
	c := checkpointtest.First(thread)
	c.Checkpoint.Step = lease.Head.Step
	c = checkpointtest.Next(c)
	c.ID, c.Lease, c.Release = fmt.Sprint(token, c.Checkpoint.Step), token, true
	if _, err = s.Commit(ctx, c); err != nil {
		return fmt.Errorf("under a lease: %v", err) // who holds it meets no conflict and no deletion
	}
	return nil
}

// sleepers stops processes until their leases have run out: what they then try is refused, whether nobody, another runner or
// somebody who deleted the thread was there in the meantime.
func sleepers(t *testing.T, url string) {
	s := openStore(t, url)
	for thread, meanwhile := range map[string]func() error{
		"left": func() error { return nil },
		"taken over": func() error {
			_, err := s.AcquireLease(t.Context(), checkpoint.LeaseRequest{Thread: "taken over", Token: "other", TTL: time.Hour})
			return err
		},
		"deleted": func() error { return s.DeleteThread(t.Context(), "deleted") },
	} {
		checkpointtest.Chain(t, s, thread, 1)
		p := start(t, "sleeper", url, thread)
		p.expect("ready")
		if err := p.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		awaitEnd(t, s, thread)
		if err := meanwhile(); err != nil {
			t.Fatal(err)
		}
		p.begin()
		if err := p.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		p.expect("refused")
		p.end()
		c, err := s.Latest(t.Context(), thread)
		if thread == "deleted" && !errors.Is(err, checkpoint.ErrNotFound) || thread != "deleted" && (err != nil || c.Step != 0) {
			t.Errorf("%s: %v (%v)", thread, c, err)
		}
	}
}

// awaitEnd waits until the lease of a thread has run out.
func awaitEnd(t *testing.T, s checkpoint.Store, thread string) {
	t.Helper()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	for {
		info, err := s.Thread(t.Context(), thread)
		if err != nil {
			t.Fatal(err)
		}
		if info.Lease == nil || !info.Lease.Live {
			return
		}
		<-again.C
	}
}

// beSleeper takes a lease, is stopped until it has run out and then tries all that a lease lets one do.
func beSleeper(ctx context.Context, s checkpoint.Store, thread string) error {
	lease, err := s.AcquireLease(ctx, checkpoint.LeaseRequest{Thread: thread, Token: "sleeper", TTL: 200 * time.Millisecond})
	if err != nil {
		return err
	}
	ready()
	c := checkpointtest.Next(checkpointtest.First(thread))
	c.Lease, c.Decisions = lease.Token, []checkpoint.Decision{{ID: "late"}}
	_, errCommit := s.Commit(ctx, c)
	_, errBeat := s.Heartbeat(ctx, thread, lease.Token, time.Hour)
	for name, err := range map[string]error{
		"commit": errCommit, "heartbeat": errBeat,
		"result":  s.AddResult(ctx, thread, lease.Token, checkpoint.PendingResult{Step: 1, Path: "a"}),
		"release": s.ReleaseLease(ctx, checkpoint.Release{Thread: thread, Token: lease.Token, Withdraw: true}),
	} {
		if !errors.Is(err, checkpoint.ErrConflict) {
			return fmt.Errorf("%s of a runner that slept past its lease: %v", name, err)
		}
	}
	fmt.Println("refused")
	return nil
}

// watching is woken by what another process does, and finds what it was: a thread that came, and one that went.
func watching(t *testing.T, url string) {
	s := openStore(t, url)
	wake, err := s.Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var seen checkpoint.Changes
	next := func(what string, found func() bool) {
		t.Helper()
		late := time.NewTimer(time.Minute)
		defer late.Stop()
		for {
			c, err := s.Changes(t.Context(), seen.Seq, 10)
			if err != nil {
				t.Fatal(err)
			}
			if seen = c; found() {
				return
			}
			if c.More { // one wake-up stands for many changes
				continue
			}
			select {
			case <-wake:
			case <-late.C:
				t.Fatalf("nobody was woken: %s", what)
			}
		}
	}
	came := start(t, "opener", url, "other")
	came.begin()
	next("a thread came", func() bool { return len(seen.Threads) == 1 && seen.Threads[0].Thread == "other" })
	came.end()
	for i := range raced {
		checkpointtest.Chain(t, s, numbered(i), 4)
	}
	went := start(t, "rebel", url, "rebel")
	went.begin()
	gone := make(map[string]bool)
	next("threads went", func() bool {
		for _, thread := range seen.Deleted {
			gone[thread] = true
		}
		return len(gone) == raced
	})
	for went.out.Scan() {
	}
	went.end()
}
