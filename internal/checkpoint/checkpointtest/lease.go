package checkpointtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

type rawMessage = json.RawMessage

func texts(list []json.RawMessage) []string {
	var out []string
	for _, raw := range list {
		out = append(out, string(raw))
	}
	return out
}

var leaseCases = []testCase{
	{"one holder at a time", func(f *fixture) {
		f.start("t")
		f.acquire(f.request("t"))
		r := f.request("t")
		_, err := f.store.AcquireLease(f.ctx, r)
		var leased *checkpoint.LeasedError
		if !errors.As(err, &leased) || leased.Holder != "host:2" || !leased.Until.Equal(f.clock.Now().Add(ttl)) {
			f.Fatalf("error %v, want a LeasedError that names holder and end", err)
		}
		f.equal(f.thread("t").Status, checkpoint.Running)
	}},
	{"taking it leaves the version", func(f *fixture) {
		f.start("t")
		before := f.thread("t").Version()
		lease := f.acquire(f.request("t"))
		f.equal(lease.Head, before)
		f.equal(f.thread("t").Version(), before)
	}},
	{"unknown thread", func(f *fixture) {
		_, err := f.store.AcquireLease(f.ctx, checkpoint.LeaseRequest{Thread: "t", Token: "x", TTL: ttl})
		f.wantIs(err, checkpoint.ErrNotFound)
	}},
	{"the head must be the one seen", func(f *fixture) {
		f.start("t")
		for _, head := range []checkpoint.Version{{Step: 1}, {Step: 0, Revision: 2}} {
			r := f.request("t")
			r.Head = head
			_, err := f.store.AcquireLease(f.ctx, r)
			f.wantIs(err, checkpoint.ErrConflict)
		}
		r := f.request("t")
		r.Head = checkpoint.Version{Step: 0}
		f.acquire(r)
	}},
	{"the accepted answers must be those seen", func(f *fixture) {
		f.start("t")
		r := f.request("t")
		r.Answers = []rawMessage{raw(`{"a": 1}`)}
		f.acquire(r)
		f.clock.Advance(ttl)
		stale := f.request("t")
		stale.Seen, stale.Answers = 0, []rawMessage{raw("2")}
		_, err := f.store.AcquireLease(f.ctx, stale)
		f.wantIs(err, checkpoint.ErrConflict)
		f.equal(f.thread("t").Lease.Answers, 1)
	}},
	{"who takes over inherits answers, to the byte and in order", func(f *fixture) {
		f.start("t")
		r := f.request("t")
		r.Answers = []rawMessage{raw(`{ "a":1 }`), raw("null")}
		f.acquire(r)
		f.clock.Advance(ttl)
		f.equal(f.thread("t").Status, checkpoint.Stalled)
		r = f.request("t")
		r.Answers = []rawMessage{raw("3")}
		f.equal(texts(f.acquire(r).Answers), []string{`{ "a":1 }`, "null", "3"})
	}},
	{"it runs out at its time and not before", func(f *fixture) {
		c := f.under(f.start("t"))
		f.clock.Advance(ttl - time.Microsecond)
		_, err := f.store.AcquireLease(f.ctx, f.request("t"))
		f.wantIs(err, checkpoint.ErrLeased)
		f.clock.Advance(time.Microsecond)
		f.equal(f.thread("t").Status, checkpoint.Interrupted)
		f.acquire(f.request("t"))
		_, err = f.store.Heartbeat(f.ctx, "t", c.Lease, ttl)
		f.wantIs(err, checkpoint.ErrConflict)
		_, err = f.store.Commit(f.ctx, f.next(c))
		f.wantIs(err, checkpoint.ErrConflict)
		f.wantIs(f.store.ReleaseLease(f.ctx, checkpoint.Release{Thread: "t", Token: c.Lease}), checkpoint.ErrConflict)
	}},
	{"a heartbeat prolongs it", func(f *fixture) {
		c := f.under(f.start("t"))
		f.clock.Advance(10 * time.Second)
		beat, err := f.store.Heartbeat(f.ctx, "t", c.Lease, ttl)
		f.noErr(err)
		f.equal(beat.Until, f.clock.Now().Add(ttl))
		f.clock.Advance(10 * time.Second)
		f.commit(f.next(c))
	}},
	{"a heartbeat brings the wish to cancel", func(f *fixture) {
		f.start("t")
		f.wantIs(f.store.RequestCancel(f.ctx, "t", "ann"), checkpoint.ErrNotFound)
		c := f.acquire(f.request("t"))
		beat, err := f.store.Heartbeat(f.ctx, "t", c.Token, ttl)
		f.noErr(err)
		f.equal(beat.CancelRequested, false)
		f.noErr(f.store.RequestCancel(f.ctx, "t", "ann"))
		beat, err = f.store.Heartbeat(f.ctx, "t", c.Token, ttl)
		f.noErr(err)
		f.equal([]any{beat.CancelRequested, beat.CancelledBy}, []any{true, "ann"})
		f.equal(f.thread("t").Lease.CancelledBy, "ann")
		f.noErr(f.store.ReleaseLease(f.ctx, checkpoint.Release{Thread: "t", Token: c.Token}))
		beat, err = f.store.Heartbeat(f.ctx, "t", f.acquire(f.request("t")).Token, ttl)
		f.noErr(err)
		f.equal(beat.CancelRequested, false)
	}},
	{"given back, it is free and the answers stay", func(f *fixture) {
		f.start("t")
		r := f.request("t")
		r.Answers = []rawMessage{raw("1")}
		f.noErr(f.store.ReleaseLease(f.ctx, checkpoint.Release{Thread: "t", Token: f.acquire(r).Token}))
		info := f.thread("t")
		f.equal([]any{info.Status, info.Lease.Answers, info.Lease.Live}, []any{checkpoint.Stalled, 1, false})
		f.equal(texts(f.acquire(f.request("t")).Answers), []string{"1"})
	}},
	{"withdrawn, its own answers go and those inherited stay", func(f *fixture) {
		f.start("t")
		r := f.request("t")
		r.Answers = []rawMessage{raw("1")}
		f.acquire(r)
		f.clock.Advance(ttl)
		r = f.request("t")
		r.Answers, r.Decisions = []rawMessage{raw("2"), raw("3")}, []checkpoint.Decision{{ID: "d1", Outcome: checkpoint.Applied}}
		token := f.acquire(r).Token
		f.noErr(f.store.AddResult(f.ctx, "t", token, checkpoint.PendingResult{Step: 1, Path: "a", Data: raw("1")}))
		f.noErr(f.store.ReleaseLease(f.ctx, checkpoint.Release{Thread: "t", Token: token, Withdraw: true,
			Decisions: []checkpoint.Decision{{ID: "d2", Outcome: checkpoint.Withdrawn, Withdraws: "d1"}}}))
		f.equal(len(f.decisions("t")), 2)
		lease := f.acquire(f.request("t"))
		f.equal(texts(lease.Answers), []string{"1"})
		f.equal(len(lease.Results), 0)
	}},
	{"withdrawn without others, the thread is as it was", func(f *fixture) {
		f.start("t")
		r := f.request("t")
		r.Answers = []rawMessage{raw("1")}
		f.noErr(f.store.ReleaseLease(f.ctx, checkpoint.Release{Thread: "t", Token: f.acquire(r).Token, Withdraw: true}))
		info := f.thread("t")
		f.equal(info.Status, checkpoint.Interrupted)
		f.equal(info.Lease, (*checkpoint.LeaseInfo)(nil))
	}},
	{"a repeated response is refused", func(f *fixture) {
		f.start("t")
		r := f.request("t")
		r.Decisions = []checkpoint.Decision{{ID: "d1", ResponseID: "r1"}}
		f.noErr(f.store.ReleaseLease(f.ctx, checkpoint.Release{Thread: "t", Token: f.acquire(r).Token}))
		r = f.request("t")
		r.Decisions = []checkpoint.Decision{{ID: "d2"}, {ID: "d3", ResponseID: "r1"}}
		_, err := f.store.AcquireLease(f.ctx, r)
		f.wantIs(err, checkpoint.ErrConflict)
		f.equal(len(f.decisions("t")), 1)
		f.equal(f.thread("t").Status, checkpoint.Interrupted)
	}},
	{"a claim is shown until it ends and binds nobody", func(f *fixture) {
		f.start("t")
		f.noErr(f.store.Claim(f.ctx, "t", "ann", time.Minute))
		f.equal(f.thread("t").Claim, &checkpoint.Claim{Reviewer: "ann", Until: f.clock.Now().Add(time.Minute)})
		f.noErr(f.store.ReleaseClaim(f.ctx, "t", "bob"))
		f.equal(f.thread("t").Claim.Reviewer, "ann")
		f.noErr(f.store.Claim(f.ctx, "t", "bob", time.Minute))
		f.equal(f.thread("t").Claim.Reviewer, "bob")
		f.acquire(f.request("t"))
		f.clock.Advance(time.Minute)
		f.equal(f.thread("t").Claim, (*checkpoint.Claim)(nil))
		f.noErr(f.store.Claim(f.ctx, "t", "bob", time.Minute))
		f.noErr(f.store.ReleaseClaim(f.ctx, "t", "bob"))
		f.equal(f.thread("t").Claim, (*checkpoint.Claim)(nil))
		f.wantIs(f.store.Claim(f.ctx, "nobody", "bob", time.Minute), checkpoint.ErrNotFound)
	}},
}

// raceCases are to be run with the race detector.
var raceCases = []testCase{
	{"of many who take a lease one wins", func(f *fixture) {
		const threads, racers = 5, 8
		var wins [threads]atomic.Int32
		var wg sync.WaitGroup
		for i := range threads {
			id := fmt.Sprintf("t%d", i)
			f.start(id)
			head := f.thread(id).Version()
			for n := range racers {
				wg.Go(func() {
					_, err := f.store.AcquireLease(f.ctx, checkpoint.LeaseRequest{Thread: id, Token: fmt.Sprint(n), Holder: "h", TTL: ttl, Head: head})
					switch {
					case err == nil:
						wins[i].Add(1)
					case !errors.Is(err, checkpoint.ErrLeased):
						f.Errorf("loser: %v", err)
					}
				})
			}
		}
		wg.Wait()
		for i := range wins {
			f.equal(wins[i].Load(), int32(1))
		}
	}},
	{"of many who put one revision one wins", func(f *fixture) {
		var wins atomic.Int32
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				if _, err := f.store.Put(f.ctx, point("t", 1), ptr(int64(0))); err == nil {
					wins.Add(1)
				} else if !errors.Is(err, checkpoint.ErrConflict) {
					f.Errorf("loser: %v", err)
				}
			})
		}
		wg.Wait()
		f.equal(wins.Load(), int32(1))
	}},
	{"commits beside each other do not hurt each other", func(f *fixture) {
		var wg sync.WaitGroup
		for i := range 8 {
			c := f.first(fmt.Sprintf("t%d", i))
			wg.Go(func() {
				for n := range 20 {
					if _, err := f.store.Commit(f.ctx, c); err != nil {
						f.Errorf("thread %d, step %d: %v", i, n, err)
					}
					stale := c
					stale.ID = "stale"
					if _, err := f.store.Commit(f.ctx, stale); !errors.Is(err, checkpoint.ErrConflict) {
						f.Errorf("stale commit: %v", err)
					}
					id := fmt.Sprintf("c%d.%d", i, n)
					parent := c.Checkpoint.Step
					c.NewLease, c.NewThread = nil, nil
					c.ID, c.Parent, c.Checkpoint.Step = id, parent, parent+1
				}
			})
		}
		wg.Wait()
		for i := range 8 {
			f.equal(len(f.steps(fmt.Sprintf("t%d", i))), 20)
		}
	}},
}
