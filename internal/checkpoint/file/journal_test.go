package file

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// follower asks a store for changes, as one who watches does.
type follower struct {
	t   *testing.T
	s   *Store
	seq int64
}

// changed gives the threads that changed or went since it was asked last.
func (f *follower) changed() []string {
	f.t.Helper()
	var threads []string
	for {
		c, err := f.s.Changes(f.t.Context(), f.seq, 2)
		if err != nil {
			f.t.Fatal(err)
		}
		for _, info := range c.Threads {
			threads = append(threads, info.Thread)
		}
		for _, thread := range c.Deleted {
			threads = append(threads, "-"+thread)
		}
		if f.seq = c.Seq; !c.More {
			slices.Sort(threads)
			return threads
		}
	}
}

func (f *follower) want(threads ...string) {
	f.t.Helper()
	if got := f.changed(); !slices.Equal(got, threads) {
		f.t.Fatalf("changed: %v, want %v", got, threads)
	}
}

// claim changes a thread.
func claimIt(t *testing.T, s *Store, thread string) {
	t.Helper()
	if err := s.Claim(t.Context(), thread, "ann", time.Hour); err != nil {
		t.Fatal(err)
	}
}

// TestJournalIsHurt loses and damages the journal in every way while two processes use the store: who follows the changes
// misses none, and every list is right.
func TestJournalIsHurt(t *testing.T) {
	cut := func(n int) func(b []byte) []byte { return func(b []byte) []byte { return b[:len(b)-n] } }
	flip := func(at int) func(b []byte) []byte {
		return func(b []byte) []byte { b[(len(b)+at)%len(b)] ^= 1; return b }
	}
	for name, hurt := range map[string]func(b []byte) []byte{
		"lost": nil, "empty": func([]byte) []byte { return nil }, "no end of line": cut(1), "half a line": cut(20), "a line short": cut(60),
		"zeros at the end": func(b []byte) []byte { return append(b, make([]byte, 100)...) },
		"the first line":   flip(5), "a line in the middle": flip(150), "the last line": flip(-30), "only ends of lines": func([]byte) []byte { return []byte("\n\n\n") },
	} {
		t.Run(name, func(t *testing.T) {
			s, folder := newStore(t)
			file := filepath.Join(folder, "journal.jsonl")
			for _, thread := range []string{"a", "b", "c", "d", "e"} {
				put(t, s, thread)
			}
			f := &follower{t: t, s: openUnsynced(t, folder, Options{})}
			f.want("a", "b", "c", "d", "e")
			claimIt(t, s, "c")
			b, err := os.ReadFile(file)
			if err == nil {
				err = os.Remove(file)
			}
			if err == nil && hurt != nil {
				err = os.WriteFile(file, hurt(b), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
			claimIt(t, s, "b")
			if err := s.DeleteThread(t.Context(), "d"); err != nil {
				t.Fatal(err)
			}
			got := f.changed()
			for _, thread := range []string{"b", "-d"} {
				if !slices.Contains(got, thread) {
					t.Errorf("changed: %v without %s", got, thread)
				}
			}
			for who, at := range map[string]*Store{"writer": s, "follower": f.s, "newcomer": openUnsynced(t, folder, Options{}),
				"reader": openUnsynced(t, folder, Options{ReadOnly: true})} {
				page, err := at.Threads(t.Context(), checkpoint.Query{Sort: checkpoint.SortName})
				if err != nil || len(page.Threads) != 4 {
					t.Fatalf("%s: %d threads (%v)", who, len(page.Threads), err)
				}
				for _, info := range page.Threads {
					if claimed := info.Thread == "b" || info.Thread == "c"; claimed != (info.Claim != nil) || info.Seq == 0 {
						t.Errorf("%s: %s has the claim %v and the number %d", who, info.Thread, info.Claim, info.Seq)
					}
				}
			}
			f.changed()
			claimIt(t, s, "e")
			f.want("e")
		})
	}
}

// TestJournalStaysShort changes a few threads many times: the journal is written anew, and who follows notices nothing.
func TestJournalStaysShort(t *testing.T) {
	s, folder := newStore(t)
	f := &follower{t: t, s: openUnsynced(t, folder, Options{})}
	threads := []string{"a" + strings.Repeat("x", 100), "b", "c"}
	for _, thread := range threads {
		put(t, s, thread)
	}
	f.want(threads...)
	largest := int64(0)
	for i := range 3 * journalMost / 1000 {
		lines := slices.Repeat([]line{{Thread: text(threads[0])}}, 6)
		release, err := s.take(t.Context(), &s.shared, false)
		if err != nil {
			t.Fatal(err)
		}
		err = s.journal.append(lines...)
		release()
		if err != nil {
			t.Fatal(err)
		}
		if i%500 == 0 {
			claimIt(t, s, threads[1])
			f.want(threads[:2]...)
		}
		_, size, err := s.journal.look()
		if err != nil {
			t.Fatal(err)
		}
		largest = max(largest, size)
	}
	_, size, err := s.journal.look()
	if err != nil || size >= largest || largest > journalMost+10_000 {
		t.Errorf("the journal has %d bytes and had up to %d (%v)", size, largest, err)
	}
	f.changed()
	claimIt(t, s, threads[2])
	f.want("c")
}

// TestHeartbeatIsQuiet renews a lease: lists know, and nobody is told of a change.
func TestHeartbeatIsQuiet(t *testing.T) {
	s, folder := newStore(t)
	chainOf(t, s, "t", 1)
	f := &follower{t: t, s: openUnsynced(t, folder, Options{})}
	f.want("t")
	if _, err := s.Heartbeat(t.Context(), "t", "t", 100*time.Hour); err != nil {
		t.Fatal(err)
	}
	f.want()
	page, err := f.s.Threads(t.Context(), checkpoint.Query{})
	if err != nil || len(page.Threads) != 1 || page.Threads[0].Lease == nil || time.Until(page.Threads[0].Lease.Until) < 99*time.Hour {
		t.Errorf("%+v (%v)", page.Threads, err)
	}
}

// TestWatchOfAnotherStore is woken by what another store, as another process, writes.
func TestWatchOfAnotherStore(t *testing.T) {
	s, folder := newStore(t)
	o := openUnsynced(t, folder, Options{WatchEvery: time.Millisecond})
	wake, err := o.Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i := range 3 {
		put(t, s, fmt.Sprint(i))
		select {
		case <-wake:
		case <-time.After(time.Minute):
			t.Fatal("nobody was woken")
		}
	}
}
