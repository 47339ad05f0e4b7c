package postgres_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/servers"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/postgres"
)

// BenchmarkCommit is a 1 KB commit to one thread: durable, and without waiting for the server's disk.
func BenchmarkCommit(b *testing.B) {
	for _, sync := range []string{"on", "off"} {
		b.Run("synchronous_commit="+sync, func(b *testing.B) {
			s := open(b, servers.With(b, servers.PostgresStore(b), "synchronous_commit", sync), postgres.Options{})
			c := benched(b, s, "t")
			b.ReportAllocs()
			for b.Loop() {
				commitNext(b, s, c)
			}
		})
	}
}

// BenchmarkCommitsBesideEachOther is the same by 16 writers, each to a thread of its own, which share the disk's writes.
func BenchmarkCommitsBesideEachOther(b *testing.B) {
	s := open(b, servers.With(b, servers.PostgresStore(b), "pool_max_conns", "16"), postgres.Options{})
	var n atomic.Int64
	b.SetParallelism(8) // for each of two processors
	b.RunParallel(func(pb *testing.PB) {
		c := benched(b, s, fmt.Sprint("t", n.Add(1)))
		for pb.Next() {
			commitNext(b, s, c)
		}
	})
}

// BenchmarkInbox is a page of the inbox.
func BenchmarkInbox(b *testing.B) {
	s := open(b, servers.With(b, servers.PostgresStore(b), "synchronous_commit", "off"), postgres.Options{})
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

func benched(b *testing.B, s *postgres.Store, thread string) *checkpoint.Commit {
	b.Helper()
	c := resting(thread)
	c.Checkpoint.TS = time.Now()
	c.Lease, c.Release = "token", false
	c.NewLease = &checkpoint.LeaseRequest{Thread: thread, Token: "token", TTL: time.Hour}
	c.Ops = []checkpoint.Op{{Kind: checkpoint.OpSet, Channel: "state", Value: []byte(`"` + strings.Repeat("x", 1022) + `"`)}}
	if _, err := s.Commit(b.Context(), c); err != nil {
		b.Fatal(err)
	}
	c.NewLease, c.NewThread = nil, nil
	return &c
}

func commitNext(b *testing.B, s *postgres.Store, c *checkpoint.Commit) {
	c.Parent = c.Checkpoint.Step
	c.Checkpoint.Step++
	c.ID = fmt.Sprint(c.Checkpoint.Thread, c.Checkpoint.Step)
	if _, err := s.Commit(b.Context(), *c); err != nil {
		b.Error(err)
	}
}
