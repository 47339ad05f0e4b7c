package sqlite_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/sqlite"
)

// BenchmarkCommit is the processor's part of a 1 KB commit, without waiting for the disk.
func BenchmarkCommit(b *testing.B) {
	s, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "store.db"), sqlite.Options{Synchronous: "NORMAL"})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	c := checkpoint.Commit{ID: "first", Checkpoint: checkpoint.Checkpoint{Thread: "t", Workflow: "bench", TS: time.Now()}, Parent: -1,
		Lease: "token", NewLease: &checkpoint.LeaseRequest{Thread: "t", Token: "token", TTL: time.Hour}, NewThread: &checkpoint.NewThread{},
		Ops:     []checkpoint.Op{{Kind: checkpoint.OpSet, Channel: "state", Value: []byte(`"` + strings.Repeat("x", 1022) + `"`)}},
		Summary: checkpoint.Summary{Phase: checkpoint.Stalled, Node: "a"}}
	if _, err := s.Commit(b.Context(), c); err != nil {
		b.Fatal(err)
	}
	c.NewLease, c.NewThread = nil, nil
	b.ReportAllocs()
	for b.Loop() {
		c.ID, c.Parent = fmt.Sprint(c.Checkpoint.Step), c.Checkpoint.Step
		c.Checkpoint.Step++
		if _, err := s.Commit(b.Context(), c); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkInbox is a page of the inbox.
func BenchmarkInbox(b *testing.B) {
	s, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "store.db"), sqlite.Options{Synchronous: "NORMAL"})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	for i := range 1000 {
		c := checkpoint.Checkpoint{Thread: fmt.Sprintf("0192f0c1-%012d", i), Workflow: "bench",
			Interrupts: []checkpoint.Interrupt{{Node: "review", Asked: time.Unix(int64(i), 0)}}}
		if _, err := s.Put(b.Context(), c, nil); err != nil {
			b.Fatal(err)
		}
	}
	q := checkpoint.Query{Status: []checkpoint.Status{checkpoint.Interrupted}}
	b.ReportAllocs()
	for b.Loop() {
		if page, err := s.Threads(b.Context(), q); err != nil || len(page.Threads) != 50 {
			b.Fatal(err)
		}
	}
}
