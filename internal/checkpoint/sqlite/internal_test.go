package sqlite

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/listing"
)

func openInternal(t *testing.T) *Store {
	t.Helper()
	s, err := Open(t.Context(), filepath.Join(t.TempDir(), "store.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func big(thread string) checkpoint.Checkpoint {
	return checkpoint.Checkpoint{Thread: thread, Channels: checkpoint.Channels{"a": []byte(`"` + strings.Repeat("x", 200_000) + `"`)}}
}

// limit lets the file of the store have no more than some pages beyond those it has.
func limit(t *testing.T, s *Store, more int) {
	t.Helper()
	var pages int
	row := func(text string) error {
		return s.writer.exclude(func() error {
			_, err := (&tx{w: s.writer}).row(text, nil, &pages)
			return err
		})
	}
	if err := row("PRAGMA page_count"); err != nil {
		t.Fatal(err)
	}
	if err := row(fmt.Sprintf("PRAGMA max_page_count = %d", pages+more)); err != nil {
		t.Fatal(err)
	}
}

// TestFull fills the space there is: who does not fit is told so, who fits is written, in one transaction or several.
func TestFull(t *testing.T) {
	s := openInternal(t)
	limit(t, s, 20)
	if _, err := s.Put(t.Context(), big("large"), nil); !errors.Is(err, checkpoint.ErrFull) {
		t.Fatalf("error %v, want ErrFull", err)
	}
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			c := checkpoint.Checkpoint{Thread: fmt.Sprint("small", i)}
			if i%2 == 0 {
				c = big(fmt.Sprint("large", i))
			}
			_, err := s.Put(t.Context(), c, nil)
			if large := i%2 == 0; large != errors.Is(err, checkpoint.ErrFull) || !large && err != nil {
				t.Errorf("%s: %v", c.Thread, err)
			}
		})
	}
	wg.Wait()
	counts, err := s.Counts(t.Context())
	if err != nil || counts[checkpoint.Done] != 4 {
		t.Errorf("%v (%v), want 4 threads", counts, err)
	}
}

// TestGroup holds the writer until many wait, then sees them written together and those that conflict refused alone.
func TestGroup(t *testing.T) {
	s := openInternal(t)
	one := int64(1)
	var wg sync.WaitGroup
	err := s.writer.exclude(func() error {
		for i := range 100 {
			wg.Go(func() {
				var condition *int64
				if i%10 == 0 {
					condition = &one
				}
				_, err := s.Put(t.Context(), checkpoint.Checkpoint{Thread: fmt.Sprint(i)}, condition)
				if (condition != nil) != errors.Is(err, checkpoint.ErrConflict) || condition == nil && err != nil {
					t.Errorf("%d: %v", i, err)
				}
			})
		}
		for waiting := 0; waiting < 100; {
			s.writer.mu.Lock()
			waiting = len(s.writer.queue)
			s.writer.mu.Unlock()
		}
		return nil
	})
	wg.Wait()
	if err != nil {
		t.Fatal(err)
	}
	counts, err := s.Counts(t.Context())
	if err != nil || counts[checkpoint.Done] != 90 {
		t.Errorf("%v (%v), want 90 threads", counts, err)
	}
}

// TestLogStaysShort writes many times what the log may hold, in large and in small pieces.
func TestLogStaysShort(t *testing.T) {
	for name, c := range map[string]struct {
		n  int
		of func(string) checkpoint.Checkpoint
	}{
		"large": {100, big},
		"small": {1500, func(id string) checkpoint.Checkpoint { return checkpoint.Checkpoint{Thread: id} }},
	} {
		t.Run(name, func(t *testing.T) {
			s := openInternal(t)
			for i := range c.n {
				if _, err := s.Put(t.Context(), c.of(fmt.Sprint(i)), nil); err != nil {
					t.Fatal(err)
				}
			}
			s.wal.workers.Wait()
			if size := fileSize(s.walPath()); size > 2*walTarget {
				t.Errorf("the log has %d bytes", size)
			}
		})
	}
}

// TestInboxUsesItsIndex asks SQLite how it would find the pages that the desk shows all the time.
func TestInboxUsesItsIndex(t *testing.T) {
	s := openInternal(t)
	for name, c := range map[string]struct {
		q    checkpoint.Query
		want string
	}{
		"inbox":   {checkpoint.Query{Status: []checkpoint.Status{checkpoint.Interrupted}}, "threads_by_phase (phase=?)"},
		"waiting": {checkpoint.Query{Status: []checkpoint.Status{checkpoint.Interrupted}, Sort: checkpoint.SortWaiting}, "threads_by_waiting"},
		"running": {checkpoint.Query{Status: []checkpoint.Status{checkpoint.Running}}, "threads_leased (lease_until>?)"},
		"updated": {checkpoint.Query{Sort: checkpoint.SortUpdated}, "threads_by_seq"},
		"name":    {checkpoint.Query{Sort: checkpoint.SortName}, "threads_by_name"},
		"next page": {checkpoint.Query{Status: []checkpoint.Status{checkpoint.Interrupted},
			After: (&checkpoint.Query{}).CursorOf(&checkpoint.ThreadInfo{Thread: "t"})}, "threads_by_phase (phase=? AND (due,waiting,thread)>(?,?,?))"},
	} {
		text, args, err := listing.Text(dialect(), &c.q, s.now().UnixMicro())
		if err != nil {
			t.Fatal(err)
		}
		rows, err := s.readers.query(t.Context(), "EXPLAIN QUERY PLAN "+text, args...)
		if err != nil {
			t.Fatal(err)
		}
		var plan []string
		for rows.Next() {
			var id, parent, unused int
			var detail string
			if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
				t.Fatal(err)
			}
			plan = append(plan, detail)
		}
		rows.Close()
		all := strings.Join(plan, "; ")
		if !strings.Contains(all, c.want) || name != "running" && name != "updated" && strings.Contains(all, "TEMP B-TREE") {
			t.Errorf("%s: %s", name, all)
		}
	}
}

// TestOpenedByManyAtOnce opens stores that are not there yet from many sides: whoever comes while another makes the file
// finds a store.
func TestOpenedByManyAtOnce(t *testing.T) {
	const stores, openers = 12, 8
	for range stores {
		path := filepath.Join(t.TempDir(), "store.db")
		var wg sync.WaitGroup
		for range openers {
			wg.Go(func() {
				s, err := Open(t.Context(), path, Options{})
				if err != nil {
					t.Error(err)
					return
				}
				if err := s.Close(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
	}
}
