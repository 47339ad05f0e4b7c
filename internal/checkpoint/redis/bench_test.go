package redis_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/servers"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/redis"
)

// BenchmarkCommit is a 1 KB commit to the server of the tests, as durable as that is.
func BenchmarkCommit(b *testing.B) {
	s := open(b, servers.RedisStore(b), redis.Options{})
	b.Run("one thread", func(b *testing.B) {
		b.ReportAllocs()
		commitWhile(b, s, servers.RedisPrefix(), b.Loop)
	})
	b.Run("64 threads", func(b *testing.B) {
		b.SetParallelism(64)
		b.ReportAllocs()
		b.RunParallel(func(p *testing.PB) { commitWhile(b, s, servers.RedisPrefix(), p.Next) })
	})
}

func commitWhile(b *testing.B, s *redis.Store, thread string, goOn func() bool) {
	c := checkpointtest.First(thread)
	value := []byte(`"` + strings.Repeat("x", 1022) + `"`)
	for goOn() {
		c.Ops = []checkpoint.Op{{Kind: checkpoint.OpSet, Channel: "state", Value: value}}
		if _, err := s.Commit(b.Context(), c); err != nil {
			b.Error(err)
			return
		}
		c = checkpointtest.Next(c)
	}
}

// BenchmarkInbox is a page of the inbox.
func BenchmarkInbox(b *testing.B) {
	s := open(b, servers.RedisStore(b), redis.Options{})
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
