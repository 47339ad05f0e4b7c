package checkpointtest

import (
	"fmt"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// First is the commit that begins a thread, under a lease that lasts and whose token is the thread's id. The channel log is
// the list of the steps.
func First(thread string) checkpoint.Commit {
	return checkpoint.Commit{ID: thread + "-0", Checkpoint: checkpoint.Checkpoint{Thread: thread, TS: time.Now()}, Parent: -1, Lease: thread,
		NewThread: &checkpoint.NewThread{}, NewLease: &checkpoint.LeaseRequest{Thread: thread, Token: thread, TTL: time.Hour},
		Ops: []checkpoint.Op{{Kind: checkpoint.OpSet, Channel: "log", Value: []byte("[0]")}}, Summary: checkpoint.Summary{Phase: checkpoint.Stalled}}
}

// Next is the commit that follows c under the same lease.
func Next(c checkpoint.Commit) checkpoint.Commit {
	step := c.Checkpoint.Step + 1
	c.NewThread, c.NewLease, c.Decisions = nil, nil, nil
	c.Parent, c.Checkpoint.Step, c.ID = c.Checkpoint.Step, step, fmt.Sprint(c.Checkpoint.Thread, "-", step)
	c.Ops = []checkpoint.Op{{Kind: checkpoint.OpAppend, Channel: "log", Value: fmt.Appendf(nil, "[%d]", step)}}
	return c
}

// Chain commits n steps to a new thread, the first with three decisions whose ids end in a, b and c, and lets it rest. The
// second decision has a response id that is no text.
func Chain(t testing.TB, s checkpoint.Store, thread string, n int) {
	t.Helper()
	c := First(thread)
	c.Decisions = []checkpoint.Decision{{ID: thread + "a"}, {ID: thread + "b", ResponseID: "r\x00\xff"}, {ID: thread + "c"}}
	for i := range n {
		c.Release = i == n-1
		if _, err := s.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		c = Next(c)
	}
}
