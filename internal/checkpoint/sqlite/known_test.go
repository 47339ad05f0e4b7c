package sqlite

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// walFrame is a page and its header in the log.
const walFrame = 4096 + 24

// steps commits n steps of 1 KB to a thread that goes on running.
func steps(t *testing.T, s *Store, thread string, n int) {
	t.Helper()
	c := checkpoint.Commit{ID: thread, Checkpoint: checkpoint.Checkpoint{Thread: thread, Workflow: "bench", TS: time.Now()}, Parent: -1,
		Lease: "token", NewLease: &checkpoint.LeaseRequest{Thread: thread, Token: "token", TTL: time.Hour}, NewThread: &checkpoint.NewThread{},
		Ops:     []checkpoint.Op{{Kind: checkpoint.OpSet, Channel: "state", Value: []byte(`"` + strings.Repeat("x", 1022) + `"`)}},
		Summary: checkpoint.Summary{Phase: checkpoint.Stalled, Node: "a"}}
	for i := range n {
		if i > 0 {
			c.NewLease, c.NewThread = nil, nil
			c.ID, c.Parent = fmt.Sprint(thread, i), c.Checkpoint.Step
			c.Checkpoint.Step++
		}
		if _, err := s.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPagesOfAStep counts what a disk is given to write: a step of a thread that runs on touches the thread's row, the
// step's row and its entry by number, and at every third step of 1 KB the pages by which the file grows.
func TestPagesOfAStep(t *testing.T) {
	const n = 150
	s := openInternal(t)
	steps(t, s, "first", 10)
	before := fileSize(s.walPath())
	steps(t, s, "t", n)
	if pages := float64(fileSize(s.walPath())-before) / walFrame / n; pages > 4.1 {
		t.Errorf("%.2f pages a step, 4.05 are needed", pages)
	}
}

// TestKnownInGroup writes for one thread several times in one transaction, of which some fail after they took what the
// writer knows of the thread.
func TestKnownInGroup(t *testing.T) {
	s := openInternal(t)
	steps(t, s, "t", 1)
	commit := func(parent int64) func() error {
		return func() error {
			_, err := s.Commit(t.Context(), checkpoint.Commit{ID: fmt.Sprint("after", parent), Lease: "token", Parent: parent,
				Checkpoint: checkpoint.Checkpoint{Thread: "t", Step: parent + 1}, Summary: checkpoint.Summary{Phase: checkpoint.Stalled}})
			return err
		}
	}
	claim := func() error { return s.Claim(t.Context(), "t", "ann", time.Hour) }
	beat := func() error {
		_, err := s.Heartbeat(t.Context(), "t", "another's", time.Hour)
		return err
	}
	put := func() error {
		_, err := s.Put(t.Context(), checkpoint.Checkpoint{Thread: "t", Step: 9}, nil)
		return err
	}
	conflicts := 0
	queue := []func() error{commit(0), commit(0), beat, commit(1), claim, commit(7), commit(2), beat, claim, commit(3), put}
	var wg sync.WaitGroup
	errs := make([]error, len(queue))
	if err := s.writer.exclude(func() error {
		for i, write := range queue {
			wg.Go(func() { errs[i] = write() })
			for waiting := 0; waiting <= i; {
				s.writer.mu.Lock()
				waiting = len(s.writer.queue)
				s.writer.mu.Unlock()
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	for i, err := range errs {
		if errors.Is(err, checkpoint.ErrConflict) {
			conflicts++
		} else if err != nil {
			t.Errorf("write %d: %v", i, err)
		}
	}
	// The second commit(0) finds its own id.
	if conflicts != 3 {
		t.Errorf("%d conflicts, want those of two heartbeats and of step 8: %v", conflicts, errs)
	}
	if err := commit(9)(); err != nil {
		t.Error(err)
	}
	row, err := s.Thread(t.Context(), "t")
	if err != nil || row.Step != 10 || row.Claim == nil {
		t.Errorf("row %+v (%v), want step 10 and a claim", row, err)
	}
}
