package checkpointtest

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/inspect"
)

var decisionCases = []testCase{
	{"rows come back as written, in order, chained", func(f *fixture) {
		d := checkpoint.Decision{ID: "d1", ResponseID: "r1", Version: checkpoint.Version{Step: 0, Revision: 1}, Interrupt: "q1", Key: "ok", Address: "review",
			Path: "main@1/review@1", Action: "approve", Data: raw("{ \"a\": 1.0 }"), Comment: "fine", Reviewer: "ann", DecidedAt: f.clock.Now().Add(123456789 * time.Nanosecond),
			WaitedSeconds: math.Pi, ShownHash: "h", Outcome: checkpoint.Applied}
		f.start("t")
		r := f.request("t")
		r.Decisions = []checkpoint.Decision{d, {ID: "d2", Outcome: checkpoint.Applied}}
		token := f.acquire(r).Token
		f.noErr(f.store.ReleaseLease(f.ctx, checkpoint.Release{Thread: "t", Token: token, Withdraw: true,
			Decisions: []checkpoint.Decision{{ID: "d3", Outcome: checkpoint.Withdrawn, Withdraws: "d1"}}}))
		rows := f.decisions("t")
		f.equal(len(rows), 3)
		got := *rows[0]
		f.equal(got.Hash, checkpoint.ChainHash(&got))
		got.PrevHash, got.Hash = "", ""
		d.Thread, d.N, d.DecidedAt = "t", 1, checkpoint.Micro(d.DecidedAt)
		f.equal(got, d)
		info := f.thread("t")
		f.noErr(checkpoint.VerifyChain("t", f.store.Decisions(f.ctx, "t"), checkpoint.Chain{Count: info.Decisions, Last: info.DecisionHash}))
	}},
	{"they are found by response id within their thread", func(f *fixture) {
		for _, id := range []string{"t", "u"} {
			f.start(id, func(c *checkpoint.Commit) {
				c.Decisions = []checkpoint.Decision{{ID: id + "1", ResponseID: "r"}, {ID: id + "2"}}
			})
		}
		d, err := f.store.FindDecision(f.ctx, "u", "r")
		f.noErr(err)
		f.equal(d.ID, "u1")
		for _, response := range []string{"x", ""} {
			_, err = f.store.FindDecision(f.ctx, "u", response)
			f.wantIs(err, checkpoint.ErrNotFound)
		}
	}},
	{"a long chain holds", func(f *fixture) {
		f.start("t", func(c *checkpoint.Commit) {
			for i := range 250 {
				c.Decisions = append(c.Decisions, checkpoint.Decision{ID: fmt.Sprint(i)})
			}
		})
		info := f.thread("t")
		f.equal(info.Decisions, int64(250))
		f.noErr(checkpoint.VerifyChain("t", f.store.Decisions(f.ctx, "t"), checkpoint.Chain{Count: info.Decisions, Last: info.DecisionHash}))
	}},
}

// grown makes a thread with steps 0 to last, a minute apart, at rest.
func (f *fixture) grown(thread string, last int) checkpoint.Commit {
	f.Helper()
	c := f.first(thread)
	c.Decisions = []checkpoint.Decision{{ID: thread + "-d", Outcome: checkpoint.Applied}}
	c.NewLease.TTL = 24 * time.Hour
	c.Ops = append(c.Ops, set("text", `"`+strings.Repeat("x", 3000)+`"`))
	f.commit(c)
	for i := range last {
		f.clock.Advance(time.Minute)
		c = f.next(c, checkpoint.Op{Kind: checkpoint.OpAppend, Channel: "log", Value: raw(fmt.Sprintf("[%d]", i))})
		c.Release = i == last-1
		c.Summary = interrupted()
		f.commit(c)
	}
	return c
}

// pruned runs q first dry, which must change nothing and tell what the real run then tells.
func (f *fixture) pruned(q checkpoint.PruneQuery) *checkpoint.PruneResult {
	f.Helper()
	before, err := f.store.Stats(f.ctx)
	f.noErr(err)
	q.DryRun = true
	dry, err := f.store.Prune(f.ctx, q)
	f.noErr(err)
	after, err := f.store.Stats(f.ctx)
	f.noErr(err)
	f.equal(after.Checkpoints, before.Checkpoints)
	q.DryRun = false
	result, err := f.store.Prune(f.ctx, q)
	f.noErr(err)
	f.equal(result, dry)
	after, err = f.store.Stats(f.ctx)
	f.noErr(err)
	f.equal(after.Checkpoints, before.Checkpoints-result.Steps)
	var steps, bytes int64
	for i, p := range result.Per {
		steps, bytes = steps+p.Steps, bytes+p.Bytes
		if i > 0 && p.Bytes > result.Per[i-1].Bytes {
			f.Fatal("the parts are not ordered by bytes")
		}
	}
	f.equal([]int64{steps, bytes}, []int64{result.Steps, result.Bytes})
	return result
}

var retentionCases = []testCase{
	{"before a step", func(f *fixture) {
		f.grown("t", 5)
		want := f.latest("t")
		got := f.pruned(checkpoint.PruneQuery{Threads: []string{"t"}, BeforeStep: 3})
		f.equal([]int64{got.Steps, got.Threads, got.Heads, got.Deleted}, []int64{3, 1, 1, 0})
		f.equal(f.steps("t"), []int64{3, 4, 5})
		want.SizeBytes = 0
		head := f.latest("t")
		head.SizeBytes = 0
		f.equal(head, want)
	}},
	{"older than a time", func(f *fixture) {
		begin := f.clock.Now()
		f.grown("t", 5)
		got := f.pruned(checkpoint.PruneQuery{Threads: []string{"t"}, OlderThan: begin.Add(2 * time.Minute)})
		f.equal(got.Steps, int64(2))
		f.equal([]time.Time{got.Oldest, got.Newest}, []time.Time{begin, begin.Add(time.Minute)})
		f.equal(f.steps("t"), []int64{2, 3, 4, 5})
	}},
	{"times are compared as times", func(f *fixture) {
		begin := f.clock.Now()
		f.grown("t", 3)
		zone := time.FixedZone("", 5*3600)
		f.equal(f.pruned(checkpoint.PruneQuery{Threads: []string{"t"}, OlderThan: begin.Add(time.Minute).In(zone)}).Steps, int64(1))
	}},
	{"two bounds mean both", func(f *fixture) {
		begin := f.clock.Now()
		f.grown("t", 5)
		got := f.pruned(checkpoint.PruneQuery{Threads: []string{"t"}, BeforeStep: 4, OlderThan: begin.Add(2 * time.Minute)})
		f.equal(got.Steps, int64(2))
	}},
	{"no bound or no threads is an error and deletes nothing", func(f *fixture) {
		f.grown("t", 3)
		for _, q := range []checkpoint.PruneQuery{{All: true}, {Threads: []string{"t"}}, {BeforeStep: 3}, {OlderThan: f.clock.Now()}} {
			if _, err := f.store.Prune(f.ctx, q); err == nil {
				f.Errorf("%+v: accepted", q)
			}
		}
		_, err := f.store.Prune(f.ctx, checkpoint.PruneQuery{Threads: []string{"t", "nobody"}, BeforeStep: 2})
		f.wantIs(err, checkpoint.ErrNotFound)
		f.equal(len(f.steps("t")), 4)
	}},
	{"the head stays, whatever the bounds", func(f *fixture) {
		f.grown("t", 4)
		f.pruned(checkpoint.PruneQuery{All: true, BeforeStep: 1 << 40, OlderThan: f.clock.Now().Add(time.Hour)})
		f.equal(f.steps("t"), []int64{4})
		f.equal(string(f.latest("t").Channels["log"]), "[0,1,2,3]")
		f.equal(f.pruned(checkpoint.PruneQuery{All: true, BeforeStep: 1 << 40}).Steps, int64(0))
	}},
	{"a pruned thread goes on", func(f *fixture) {
		c := f.under(f.grown("t", 30))
		f.clock.Advance(ttl)
		f.pruned(checkpoint.PruneQuery{All: true, BeforeStep: 29})
		c.Lease = f.acquire(f.request("t")).Token
		for i := range 45 {
			c = f.next(c, checkpoint.Op{Kind: checkpoint.OpAppend, Channel: "log", Value: raw(fmt.Sprintf("[%d]", 30+i))})
			f.commit(c)
		}
		var want []string
		for i := range 75 {
			want = append(want, fmt.Sprint(i))
		}
		f.equal(string(f.latest("t").Channels["log"]), "["+strings.Join(want, ",")+"]")
	}},
	{"a leased thread is skipped and told", func(f *fixture) {
		f.grown("a", 3)
		f.grown("b", 3)
		f.acquire(f.request("b"))
		got := f.pruned(checkpoint.PruneQuery{All: true, BeforeStep: 3})
		f.equal(got.Skipped, []string{"b"})
		f.equal(len(f.steps("b")), 4)
		f.equal(len(f.steps("a")), 1)
	}},
	{"threads are chosen by workflow and status", func(f *fixture) {
		for _, id := range []string{"a", "b"} {
			f.grown(id, 2)
		}
		f.put(checkpoint.Checkpoint{Thread: "c", Step: 1, Workflow: "other", Next: []string{"x"}})
		f.put(checkpoint.Checkpoint{Thread: "c", Step: 2, Workflow: "other", Ended: checkpoint.Done})
		f.equal(f.pruned(checkpoint.PruneQuery{All: true, Status: []checkpoint.Status{checkpoint.Done}, BeforeStep: 9}).Steps, int64(1))
		f.equal(f.pruned(checkpoint.PruneQuery{Threads: []string{"a", "b"}, Workflow: []string{"other"}, BeforeStep: 9}).Steps, int64(0))
		f.equal(f.pruned(checkpoint.PruneQuery{All: true, Workflow: []string{"notes"}, BeforeStep: 9}).Steps, int64(4))
	}},
	{"decisions stay when steps go", func(f *fixture) {
		f.grown("t", 5)
		f.pruned(checkpoint.PruneQuery{All: true, BeforeStep: 5})
		f.equal(len(f.decisions("t")), 1)
	}},
	{"ended threads go whole and leave a tombstone", func(f *fixture) {
		f.grown("waits", 3)
		c := f.grown("ends", 3)
		c.Lease = f.acquire(f.request("ends")).Token
		c = f.next(c)
		c.Checkpoint.Ended, c.Summary.Phase, c.Release = checkpoint.Done, checkpoint.Done, true
		f.commit(c)
		chain := f.thread("ends")
		f.equal(f.pruned(checkpoint.PruneQuery{All: true, FinishedBefore: f.clock.Now()}).Deleted, int64(0))
		f.clock.Advance(time.Second)
		got := f.pruned(checkpoint.PruneQuery{All: true, FinishedBefore: f.clock.Now()})
		f.equal([]int64{got.Deleted, got.Threads, got.Steps, got.Heads}, []int64{1, 1, 5, 0})
		_, err := f.store.Thread(f.ctx, "ends")
		f.wantIs(err, checkpoint.ErrNotFound)
		f.equal(len(f.steps("waits")), 4)
		stones, err := f.store.Tombstones(f.ctx)
		f.noErr(err)
		f.equal(stones, []checkpoint.Tombstone{{Thread: "ends", DeletedAt: f.clock.Now(), Decisions: 1, DecisionHash: chain.DecisionHash}})
	}},
	{"finished before with a step bound takes steps of ended threads", func(f *fixture) {
		f.grown("waits", 3)
		for _, n := range []int64{1, 2, 3} {
			c := point("ends", n)
			if n == 3 {
				c.Ended = checkpoint.Done
			}
			f.put(c)
		}
		f.clock.Advance(time.Second)
		got := f.pruned(checkpoint.PruneQuery{All: true, FinishedBefore: f.clock.Now(), BeforeStep: 3})
		f.equal([]int64{got.Steps, got.Deleted}, []int64{2, 0})
		f.equal(f.steps("ends"), []int64{3})
	}},
	{"many threads and a long one", func(f *fixture) {
		for i := range 30 {
			f.grown(fmt.Sprintf("t%02d", i), 2)
		}
		f.grown("long", 600)
		var last, total int64
		got := f.pruned(checkpoint.PruneQuery{All: true, BeforeStep: 599, Progress: func(d, t int64) { last, total = d, t }})
		f.equal([]int64{got.Steps, got.Threads, got.Heads}, []int64{30*2 + 599, 31, 31})
		f.equal(last, total)
		f.equal(f.steps("long"), []int64{599, 600})
		f.equal(len(f.latest("long").Channels["log"]), len("[]")+10+90*2+500*3+599)
	}},
	{"a deleted thread is gone but for its tombstone", func(f *fixture) {
		f.grown("t", 3)
		f.grown("other", 1)
		info := f.thread("t")
		f.acquire(f.request("t"))
		f.wantIs(f.store.DeleteThread(f.ctx, "t"), checkpoint.ErrLeased)
		f.clock.Advance(ttl)
		f.noErr(f.store.DeleteThread(f.ctx, "t"))
		f.wantIs(f.store.DeleteThread(f.ctx, "t"), checkpoint.ErrNotFound)
		_, err := f.store.Latest(f.ctx, "t")
		f.wantIs(err, checkpoint.ErrNotFound)
		_, err = f.store.Get(f.ctx, "t", 1)
		f.wantIs(err, checkpoint.ErrNotFound)
		for _, err := range f.store.Decisions(f.ctx, "t") {
			f.wantIs(err, checkpoint.ErrNotFound)
		}
		for _, err := range f.store.History(f.ctx, "t", true) {
			f.wantIs(err, checkpoint.ErrNotFound)
		}
		stones, err := f.store.Tombstones(f.ctx)
		f.noErr(err)
		f.equal(len(stones), 1)
		f.equal([]any{stones[0].Thread, stones[0].Decisions, stones[0].DecisionHash}, []any{"t", int64(1), info.DecisionHash})
		f.equal(f.list(checkpoint.Query{}), []string{"other"})
		stats, err := f.store.Stats(f.ctx)
		f.noErr(err)
		f.equal([]int64{stats.Threads, stats.Checkpoints}, []int64{1, 2})
	}},
	{"an inspection finds a pruned store whole", func(f *fixture) {
		f.grown("t", 30)
		f.grown("u", 3)
		f.pruned(checkpoint.PruneQuery{Threads: []string{"t"}, BeforeStep: 12})
		r, err := inspect.Run(f.ctx, f.store, inspect.Options{States: true})
		f.noErr(err)
		f.equal([]int64{r.Threads, r.Steps, r.Decisions}, []int64{2, 19 + 4, 2})
		for _, fault := range r.Faults { // the suite keeps no definitions
			if !strings.Contains(fault.Text, "its definition fp is missing") {
				f.Errorf("%+v", fault)
			}
		}
		f.equal(len(r.Faults), 2)
	}},
}
