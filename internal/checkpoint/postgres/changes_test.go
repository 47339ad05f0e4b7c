package postgres_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/servers"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/postgres"
)

// follower reads changes as a watcher does, from the number it has seen on.
type follower struct {
	s    *postgres.Store
	seq  int64
	seen map[string]int // how often each thread
}

func (f *follower) follow(ctx context.Context) error {
	for {
		c, err := f.s.Changes(ctx, f.seq, 7)
		if err != nil {
			return err
		}
		last := f.seq
		for _, t := range c.Threads {
			if t.Seq <= last {
				return fmt.Errorf("thread %s has number %d after %d", t.Thread, t.Seq, last)
			}
			last = t.Seq
			f.seen[t.Thread]++
		}
		for _, id := range c.Deleted {
			f.seen[id]++
		}
		f.seq = c.Seq
		if !c.More {
			return nil
		}
	}
}

// TestAChangeThatCommitsLate has a transaction take its number first and commit last: nobody may read past it.
func TestAChangeThatCommitsLate(t *testing.T) {
	t.Parallel()
	url := servers.PostgresStore(t)
	s := open(t, url, postgres.Options{})
	put(t, s, "late")
	put(t, s, "early")
	f := follower{s: s, seen: make(map[string]int)}
	if err := f.follow(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := f.seq
	tx, err := beside(t, url).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "UPDATE threads SET seq = next_seq() WHERE thread = 'late'"); err != nil {
		t.Fatal(err)
	}
	if err := s.Claim(t.Context(), "early", "ann", time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := f.follow(t.Context()); err != nil || f.seq != before {
		t.Errorf("number %d (%v), want %d while a lower one is under way", f.seq, err, before)
	}
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := f.follow(t.Context()); err != nil || f.seen["late"] != 2 || f.seen["early"] != 2 {
		t.Errorf("seen %v (%v), want both twice", f.seen, err)
	}
	tx, err = beside(t, url).Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT next_seq()"); err != nil {
		t.Fatal(err)
	}
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	put(t, s, "after")
	if err := f.follow(t.Context()); err != nil || f.seen["after"] != 1 {
		t.Errorf("seen %v (%v): a number that was given up is in the way", f.seen, err)
	}
}

// TestNoChangeIsSkipped has many writers create threads, each once, and delete some, while others follow the changes
// without rest: each thread is seen though nothing of it changes again.
func TestNoChangeIsSkipped(t *testing.T) {
	t.Parallel()
	const writers, each = 8, 40
	url := servers.PostgresStore(t)
	a, b := open(t, url, postgres.Options{}), open(t, url, postgres.Options{})
	ctx, stop := context.WithCancel(t.Context())
	var writing, following sync.WaitGroup
	followers := []*follower{{s: a, seen: make(map[string]int)}, {s: b, seen: make(map[string]int)}}
	for _, f := range followers {
		following.Go(func() {
			for ctx.Err() == nil {
				if err := f.follow(context.WithoutCancel(ctx)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for w := range writers {
		s := []*postgres.Store{a, b}[w%2]
		writing.Go(func() {
			for i := range each {
				thread := fmt.Sprintf("w%d-%02d", w, i)
				if _, err := s.Commit(t.Context(), resting(thread)); err != nil {
					t.Error(err)
					return
				}
				if i%10 == 9 {
					if err := s.DeleteThread(t.Context(), thread); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	writing.Wait()
	stop()
	following.Wait()
	for _, f := range followers {
		if err := f.follow(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(f.seen) != writers*each {
			t.Errorf("%d threads were seen, want %d", len(f.seen), writers*each)
		}
	}
}

// TestNumbersWrapAround announces numbers of more than 31 bits, of which only the lowest are in the announcement.
func TestNumbersWrapAround(t *testing.T) {
	t.Parallel()
	url := servers.PostgresStore(t)
	s := open(t, url, postgres.Options{})
	for _, at := range []int64{1<<31 - 3, 1<<31 - 1, 1 << 31, 1<<40 - 1} {
		servers.SQL(t, url, fmt.Sprintf("SELECT setval('changes', %d)", at))
		tx, err := beside(t, url).Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var taken int64
		if err := tx.QueryRow(t.Context(), "SELECT next_seq()").Scan(&taken); err != nil || taken != at+1 {
			t.Fatalf("number %d (%v), want %d", taken, err, at+1)
		}
		for range 5 {
			put(t, s, "t")
		}
		var settled int64
		conn := beside(t, url)
		if err := conn.QueryRow(t.Context(), "SELECT settled_seq()").Scan(&settled); err != nil || settled != at {
			t.Errorf("settled up to %d (%v), want %d", settled, err, at)
		}
		if err := tx.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := conn.QueryRow(t.Context(), "SELECT settled_seq()").Scan(&settled); err != nil || settled != at+6 {
			t.Errorf("settled up to %d (%v), want %d", settled, err, at+6)
		}
	}
}

// TestCountsHold lets writers move threads between phases beside each other.
func TestCountsHold(t *testing.T) {
	t.Parallel()
	s := open(t, servers.PostgresStore(t), postgres.Options{})
	phases := checkpoint.Phases()
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			c := resting(fmt.Sprint("t", w))
			for i := range 20 {
				c.Summary.Phase = phases[(w+i)%len(phases)]
				if _, err := s.Commit(t.Context(), c); err != nil {
					t.Error(err)
					return
				}
				c = checkpointtest.Next(c)
				c.Lease = c.ID
				request := checkpoint.LeaseRequest{Thread: c.Checkpoint.Thread, Token: c.ID, TTL: time.Hour, Head: checkpoint.Version{Step: c.Parent}}
				if _, err := s.AcquireLease(t.Context(), request); err != nil {
					t.Error(err)
					return
				}
			}
			if w%4 == 0 {
				if err := s.ReleaseLease(t.Context(), checkpoint.Release{Thread: c.Checkpoint.Thread, Token: c.Lease}); err != nil {
					t.Error(err)
				}
				if err := s.DeleteThread(t.Context(), c.Checkpoint.Thread); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	counts, err := s.Counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var live, total int64
	for status, n := range counts {
		total += n
		if status == checkpoint.Running {
			live = n
		}
		page, err := s.Threads(t.Context(), checkpoint.Query{Status: []checkpoint.Status{status}})
		if err != nil || int64(len(page.Threads)) != n {
			t.Errorf("%s: %d are counted, %d listed (%v)", status, n, len(page.Threads), err)
		}
	}
	if total != 6 || live == 0 {
		t.Errorf("counts %v, want 6 threads, some of which run", counts)
	}
}

// TestADeletedThreadStaysAway has some create a thread and others delete it, all the time.
func TestADeletedThreadStaysAway(t *testing.T) {
	t.Parallel()
	url := servers.PostgresStore(t)
	a, b := open(t, url, postgres.Options{}), open(t, url, postgres.Options{})
	for i := range 30 {
		thread := fmt.Sprint("t", i)
		var wg sync.WaitGroup
		for n := range 8 {
			s := []*postgres.Store{a, b}[n%2]
			wg.Go(func() {
				switch n % 4 {
				case 0:
					_, _ = s.Put(t.Context(), checkpoint.Checkpoint{Thread: thread}, nil)
				case 1:
					_, _ = s.Commit(t.Context(), resting(thread))
				case 2:
					_ = s.DeleteThread(t.Context(), thread)
				default:
					_, _ = s.Prune(t.Context(), checkpoint.PruneQuery{All: true, FinishedBefore: time.Now().Add(time.Hour)})
				}
			})
		}
		wg.Wait()
		stones, err := a.Tombstones(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		page, err := a.Threads(t.Context(), checkpoint.Query{Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		there := make(map[string]bool)
		for _, info := range page.Threads {
			there[info.Thread] = true
		}
		for _, stone := range stones {
			if there[stone.Thread] {
				t.Fatalf("%s has a tombstone and is there", stone.Thread)
			}
		}
	}
}
