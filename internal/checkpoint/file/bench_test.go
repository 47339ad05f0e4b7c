package file

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// BenchmarkCommit is a 1 KB commit: as a person waits for it, and the processor's part, without waiting for the disk.
func BenchmarkCommit(b *testing.B) {
	for name, d := range map[string]disk{"synced": osDisk{}, "processor": unsynced{}} {
		b.Run(name, func(b *testing.B) {
			s, err := openOn(b.Context(), d, filepath.Join(b.TempDir(), "store"), Options{})
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
		})
	}
}

// BenchmarkListing is a page of the inbox, the counts, and the first look of a process, at 10,000 threads.
func BenchmarkListing(b *testing.B) {
	folder := filepath.Join(b.TempDir(), "store")
	s := openUnsynced(b, folder, Options{})
	for i := range 10_000 {
		c := checkpoint.Checkpoint{Thread: fmt.Sprintf("0192f0c1-%012d", i), Workflow: "bench",
			Interrupts: []checkpoint.Interrupt{{Node: "review", Asked: time.Unix(int64(i*7919%10_000), 0)}}}
		if _, err := s.Put(b.Context(), c, nil); err != nil {
			b.Fatal(err)
		}
	}
	page := func(b *testing.B, s *Store) {
		q := checkpoint.Query{Status: []checkpoint.Status{checkpoint.Interrupted}}
		if page, err := s.Threads(b.Context(), q); err != nil || len(page.Threads) != 50 {
			b.Fatal(err)
		}
	}
	page(b, s) // every thread is read once
	b.Run("page", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			page(b, s)
		}
	})
	b.Run("counts", func(b *testing.B) {
		for b.Loop() {
			if counts, err := s.Counts(b.Context()); err != nil || counts[checkpoint.Interrupted] != 10_000 {
				b.Fatal(err)
			}
		}
	})
	b.Run("change", func(b *testing.B) {
		for b.Loop() {
			if err := s.Claim(b.Context(), "0192f0c1-000000000000", "ann", time.Minute); err != nil {
				b.Fatal(err)
			}
			page(b, s)
		}
	})
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			page(b, openUnsynced(b, folder, Options{}))
		}
	})
	b.Run("stats", func(b *testing.B) {
		for b.Loop() {
			if stats, err := s.Stats(b.Context()); err != nil || stats.Threads != 10_000 {
				b.Fatal(err)
			}
		}
	})
}
