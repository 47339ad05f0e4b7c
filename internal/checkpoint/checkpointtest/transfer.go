package checkpointtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// transferCases take threads out of one store and into another, of the same kind.
var transferCases = []testCase{
	{"a thread comes whole, to the byte", func(f *fixture) {
		f.rich("t")
		want := f.all("t")
		f.equal(len(want.Steps) > 45, true)
		other := f.another()
		f.clock.Advance(time.Hour)
		other.imported(f.exported("t"))
		f.same(other.all("t"), want)
	}},
	{"and by way of a third store still", func(f *fixture) {
		f.rich("t")
		second, third := f.another(), f.another()
		second.imported(f.exported("t"))
		third.imported(second.exported("t"))
		f.same(third.all("t"), f.all("t"))
	}},
	{"it is listed, counted, found and told of", func(f *fixture) {
		f.rich("t")
		b := f.exported("t")
		other := f.another()
		other.put(point("before", 1))
		other.imported(b)
		f.equal(other.list(checkpoint.Query{Sort: checkpoint.SortName}), []string{"before", "t"})
		f.equal(other.list(checkpoint.Query{Workflow: []string{"notes"}}), []string{"t"})
		counts, err := other.store.Counts(f.ctx)
		f.noErr(err)
		f.equal(counts, map[checkpoint.Status]int64{checkpoint.Stalled: 2})
		stats, err := other.store.Stats(f.ctx)
		f.noErr(err)
		f.equal([]int64{stats.Threads, stats.Checkpoints}, []int64{2, int64(len(f.all("t").Steps)) + 1})
		changes, err := other.store.Changes(f.ctx, 0, 10)
		f.noErr(err)
		f.equal([]string{changes.Threads[0].Thread, changes.Threads[1].Thread}, []string{"before", "t"})
		d, err := other.store.FindDecision(f.ctx, "t", "response 3")
		f.noErr(err)
		f.equal(d.N, int64(3))
	}},
	{"watchers are woken", func(f *fixture) {
		f.start("t")
		other := f.another()
		wake, err := other.store.Watch(f.ctx)
		f.noErr(err)
		other.imported(f.exported("t"))
		select {
		case <-wake:
		case <-time.After(10 * time.Second):
			f.Fatal("nobody was woken")
		}
	}},
	{"nobody holds its lease, its answers and results wait for whoever takes it", func(f *fixture) {
		f.rich("t")
		r := f.request("t")
		token := f.acquire(r).Token
		f.noErr(f.store.AddResult(f.ctx, "t", token, checkpoint.PendingResult{Step: 49, Path: "main@1/z@1", Data: raw(`{ "z": 1 }`)}))
		f.noErr(f.store.AddResult(f.ctx, "t", token, checkpoint.PendingResult{Step: 49, Path: "main@1/c@1", Data: raw(`3`)}))
		f.noErr(f.store.RequestCancel(f.ctx, "t", "bob"))
		f.noErr(f.store.Claim(f.ctx, "t", "ann", time.Hour))
		b := f.exported("t") // while it runs
		other := f.another()
		other.imported(b)
		info := other.thread("t")
		f.equal(info.Status, checkpoint.Stalled)
		f.equal(info.Claim, (*checkpoint.Claim)(nil))
		f.equal(*info.Lease, checkpoint.LeaseInfo{Answers: 2})
		f.equal(other.acquire(other.request("t")).Results, f.resultsOf("t"))
	}},
	{"it goes on", func(f *fixture) {
		f.rich("t")
		other := f.another()
		other.imported(f.exported("t"))
		for _, s := range []*fixture{f, other} {
			c := s.after("t")
			for i := range 45 {
				c = s.next(c, checkpoint.Op{Kind: checkpoint.OpAppend, Channel: "log", Value: raw(fmt.Sprintf("[ %d]", i))})
				c.ID = fmt.Sprint("further-", i)
				c.Decisions = []checkpoint.Decision{{ID: fmt.Sprint("further-", i), DecidedAt: f.clock.Now()}}
				s.commit(c)
			}
			s.pruned(checkpoint.PruneQuery{Threads: []string{"t"}, BeforeStep: 60})
			info := s.thread("t")
			f.noErr(checkpoint.VerifyChain("t", s.store.Decisions(f.ctx, "t"), checkpoint.Chain{Count: info.Decisions, Last: info.DecisionHash}))
		}
		f.sameState(other.latest("t").Channels, f.latest("t").Channels)
		f.equal(other.steps("t"), f.steps("t"))
	}},
	{"its own commit is known again", func(f *fixture) {
		c := f.start("t")
		other := f.another()
		other.imported(f.exported("t"))
		f.equal(other.commit(c), checkpoint.Version{Step: 0, Revision: 1})
		c.ID = "another"
		_, err := other.store.Commit(f.ctx, c)
		f.wantIs(err, checkpoint.ErrConflict)
	}},
	{"puts, gaps and a pruned beginning come as they are", func(f *fixture) {
		for _, step := range []int64{3, 4, 9, 9, 9} {
			c := full(f.clock.Now())
			c.Step = step
			f.put(c)
		}
		other := f.another()
		other.imported(f.exported("t"))
		f.same(other.all("t"), f.all("t"))
		f.equal(other.steps("t"), []int64{3, 4, 9})
		f.equal(other.thread("t").Version(), checkpoint.Version{Step: 9, Revision: 3})
	}},
	{"every state comes to the byte, whatever list or object it holds", func(f *fixture) {
		values := []string{"[]", "[ ]", "[1]", "[1,2]", "[1, 2]", "[1, 2,3]", " [1, 2,3] ", "[1, 2,3]", "[1, 2,3,]x"[:9], "[[1],[2]]", "[[1],[2],[]]",
			"{}", `{"a":1}`, `{"a":1,"b":[1]}`, "null", `"]"`, `["]"]`, `["]","["]`, "[1,2]", "1", "[ 1]", "[ 1,2 ]", "[ 1,2 ,3]"}
		for i, value := range values {
			c := point("t", int64(i))
			c.Channels = checkpoint.Channels{"v": raw(value), "name " + fmt.Sprint(i%3): raw(value), "same": raw("[1]")}
			f.put(c)
		}
		other := f.another()
		other.imported(f.exported("t"))
		for i := range values {
			want, err := f.store.Get(f.ctx, "t", int64(i))
			f.noErr(err)
			got, err := other.store.Get(f.ctx, "t", int64(i))
			f.noErr(err)
			f.sameState(got.Channels, want.Channels)
		}
	}},
	{"one that is there is refused, and stays", func(f *fixture) {
		f.rich("t")
		b := f.exported("t")
		want := f.all("t")
		f.conflicts(f.store.Import(f.ctx, b, checkpoint.ImportOptions{}), "exists")
		f.conflicts(f.store.Import(f.ctx, b, checkpoint.ImportOptions{Revive: true}), "exists")
		f.same(f.all("t"), want)
	}},
	{"one that was deleted is refused unless it is asked for", func(f *fixture) {
		f.rich("t")
		b := f.collected(f.exported("t"))
		want := f.all("t")
		f.clock.Advance(time.Minute)
		f.noErr(f.store.DeleteThread(f.ctx, "t"))
		f.conflicts(f.store.Import(f.ctx, b, checkpoint.ImportOptions{}), "deleted")
		f.absent("t")
		f.equal(len(f.tombstones()), 1)
		f.noErr(f.store.Import(f.ctx, b, checkpoint.ImportOptions{Revive: true}))
		f.same(f.all("t"), want)
		f.equal(len(f.tombstones()), 0)
		changes, err := f.store.Changes(f.ctx, 0, 10)
		f.noErr(err)
		f.equal([]int{len(changes.Threads), len(changes.Deleted)}, []int{1, 0})
		f.noErr(f.store.DeleteThread(f.ctx, "t"))
		f.equal(len(f.tombstones()), 1)
	}},
	{"no decision is lost by what comes back", func(f *fixture) {
		f.rich("t")
		b := f.collected(f.exported("t"))
		f.after("t", checkpoint.Decision{ID: "later", DecidedAt: f.clock.Now()})
		f.clock.Advance(time.Hour)
		f.noErr(f.store.DeleteThread(f.ctx, "t"))
		f.conflicts(f.store.Import(f.ctx, b, checkpoint.ImportOptions{Revive: true}), "decisions")
		f.absent("t")
		f.equal(f.tombstones()[0].Decisions, b.Thread.Decisions+1)
	}},
	{"a broken bundle is refused and leaves nothing", func(f *fixture) {
		f.rich("t")
		whole := f.collected(f.exported("t"))
		for _, c := range brokenBundles() {
			b := *whole
			c.spoil(f, &b)
			other := f.another()
			other.put(point("neighbour", 1))
			err := other.store.Import(f.ctx, &b, checkpoint.ImportOptions{})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				f.Errorf("%s: error %v, want one that says %q", c.name, err, c.want)
			}
			if c.is != nil && !errors.Is(err, c.is) {
				f.Errorf("%s: error %v is no %v", c.name, err, c.is)
			}
			other.absent("t")
			stats, err := other.store.Stats(f.ctx)
			f.noErr(err)
			f.equal([]int64{stats.Threads, stats.Checkpoints}, []int64{1, 1})
			other.imported(whole) // nothing of it stands in the way
			f.same(other.all("t"), f.all("t"))
		}
	}},
	{"nothing is seen before all is there", func(f *fixture) {
		f.rich("t")
		b := f.collected(f.exported("t"))
		other := f.another()
		steps := b.Steps
		looked := false
		b.Steps = func(yield func(*checkpoint.Checkpoint, error) bool) {
			for c, err := range steps {
				if c.Step == b.Thread.Step {
					looked = true
					other.absent("t")
				}
				if !yield(c, err) {
					return
				}
			}
		}
		other.imported(b)
		f.equal(looked, true)
		f.same(other.all("t"), f.all("t"))
	}},
	{"a cancelled import leaves nothing", func(f *fixture) {
		f.rich("t")
		b := f.collected(f.exported("t"))
		ctx, cancel := context.WithCancel(f.ctx)
		steps := b.Steps
		b.Steps = func(yield func(*checkpoint.Checkpoint, error) bool) {
			for c, err := range steps {
				if c.Step == 30 {
					cancel()
				}
				if !yield(c, err) {
					return
				}
			}
		}
		other := f.another()
		f.wantIs(other.store.Import(ctx, b, checkpoint.ImportOptions{}), context.Canceled)
		other.absent("t")
	}},
	{"of many that import one, one does", func(f *fixture) {
		f.rich("t")
		b := f.collected(f.exported("t"))
		other := f.another()
		var wg sync.WaitGroup
		var done atomic.Int32
		for range 8 {
			wg.Go(func() {
				switch err := other.store.Import(f.ctx, b, checkpoint.ImportOptions{}); {
				case err == nil:
					done.Add(1)
				case !errors.Is(err, checkpoint.ErrConflict):
					f.Error(err)
				}
			})
		}
		wg.Wait()
		f.equal(done.Load(), int32(1))
		f.same(other.all("t"), f.all("t"))
	}},
	{"an absent thread cannot be exported", func(f *fixture) {
		_, err := f.store.Export(f.ctx, "nobody")
		f.wantIs(err, checkpoint.ErrNotFound)
	}},
	{"an export stays at its moment", func(f *fixture) {
		f.rich("t")
		b := f.exported("t")
		want := f.collected(f.exported("t"))
		f.commit(f.next(f.after("t", checkpoint.Decision{ID: "later", DecidedAt: f.clock.Now()}), set("later", "1")))
		other := f.another()
		other.imported(b)
		third := f.another()
		third.imported(want)
		f.same(other.all("t"), third.all("t"))
	}},
	{"an export whose head has gone says so", func(f *fixture) {
		f.start("t")
		b := f.exported("t")
		c := f.latest("t")
		f.put(*c)
		other := f.another()
		f.wantIs(other.store.Import(f.ctx, b, checkpoint.ImportOptions{}), checkpoint.ErrConflict)
		other.absent("t")
	}},
	{"a tombstone is taken over once", func(f *fixture) {
		stone := checkpoint.Tombstone{Thread: "gone", DeletedAt: f.clock.Now().Add(-time.Hour), Decisions: 2, DecisionHash: strings.Repeat("ab", 32)}
		f.noErr(f.store.Bury(f.ctx, stone))
		f.noErr(f.store.Bury(f.ctx, stone))
		f.equal(f.tombstones(), []checkpoint.Tombstone{stone})
		changes, err := f.store.Changes(f.ctx, 0, 10)
		f.noErr(err)
		f.equal(changes.Deleted, []string{"gone"})
		other := stone
		other.Decisions = 3
		f.wantIs(f.store.Bury(f.ctx, other), checkpoint.ErrConflict)
		_, err = f.store.Commit(f.ctx, f.first("gone"))
		f.wantIs(err, checkpoint.ErrConflict)
		f.start("there")
		f.conflicts(f.store.Bury(f.ctx, checkpoint.Tombstone{Thread: "there", DeletedAt: f.clock.Now()}), "exists")
		if err := f.store.Bury(f.ctx, checkpoint.Tombstone{Thread: "x"}); err == nil {
			f.Error("a tombstone without a time was taken")
		}
	}},
}

// contents is all that one thread has, but for what a store has a mind of its own about.
type contents struct {
	Thread    checkpoint.ThreadInfo
	Answers   []string
	Results   []checkpoint.PendingResult
	Steps     []*checkpoint.Checkpoint
	States    []map[string]string
	Decisions []*checkpoint.Decision
}

// all reads a thread by the ways in which it is read.
func (f *fixture) all(id string) contents {
	f.Helper()
	b := f.exported(id)
	c := contents{Thread: *f.thread(id), Results: b.Results, Decisions: f.decisions(id)}
	for _, a := range b.Answers {
		c.Answers = append(c.Answers, string(a))
	}
	c.Thread.Seq, c.Thread.Cursor, c.Thread.Claim = 0, "", nil
	for step, err := range f.store.History(f.ctx, id, true) {
		f.noErr(err)
		state := make(map[string]string)
		for name, value := range step.Channels {
			state[name] = string(value)
		}
		one, err := f.store.Get(f.ctx, id, step.Step)
		f.noErr(err)
		f.sameState(one.Channels, step.Channels)
		step.SizeBytes, step.Channels = 0, nil
		c.Steps, c.States = append(c.Steps, step), append(c.States, state)
	}
	info := &c.Thread
	f.noErr(checkpoint.VerifyChain(id, yields(c.Decisions), checkpoint.Chain{Count: info.Decisions, Last: info.DecisionHash}))
	return c
}

func (f *fixture) same(got, want contents) {
	f.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		f.Fatalf("mismatch (-want +got):\n%s", diff)
	}
}

func (f *fixture) exported(id string) *checkpoint.Bundle {
	f.Helper()
	b, err := f.store.Export(f.ctx, id)
	f.noErr(err)
	return b
}

func (f *fixture) imported(b *checkpoint.Bundle) {
	f.Helper()
	f.noErr(f.store.Import(f.ctx, b, checkpoint.ImportOptions{}))
}

// collected is b with its sequences read, so that it outlives what it is of.
func (f *fixture) collected(b *checkpoint.Bundle) *checkpoint.Bundle {
	f.Helper()
	var steps []*checkpoint.Checkpoint
	for c, err := range b.Steps {
		f.noErr(err)
		steps = append(steps, c.Clone())
	}
	var rows []*checkpoint.Decision
	for d, err := range b.Decisions {
		f.noErr(err)
		rows = append(rows, d)
	}
	whole := *b
	whole.Steps, whole.Decisions = yields(steps), yields(rows)
	return &whole
}

func yields[T any](list []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, v := range list {
			if !yield(v, nil) {
				return
			}
		}
	}
}

// another is a second, empty store.
func (f *fixture) another() *fixture {
	g := *f
	g.store = f.open(f.T, f.clock.Now)
	return &g
}

func (f *fixture) conflicts(err error, word string) {
	f.Helper()
	f.wantIs(err, checkpoint.ErrConflict)
	if !strings.Contains(err.Error(), word) {
		f.Errorf("error %v does not say %q", err, word)
	}
}

// absent wants nothing of a thread to be seen.
func (f *fixture) absent(id string) {
	f.Helper()
	_, err := f.store.Thread(f.ctx, id)
	f.wantIs(err, checkpoint.ErrNotFound)
	_, err = f.store.Latest(f.ctx, id)
	f.wantIs(err, checkpoint.ErrNotFound)
	_, err = f.store.Get(f.ctx, id, 3)
	f.wantIs(err, checkpoint.ErrNotFound)
	for _, err := range f.store.History(f.ctx, id, false) {
		f.wantIs(err, checkpoint.ErrNotFound)
	}
	for _, err := range f.store.Decisions(f.ctx, id) {
		f.wantIs(err, checkpoint.ErrNotFound)
	}
	if slices.Contains(f.list(checkpoint.Query{}), id) {
		f.Errorf("%s is listed", id)
	}
}

func (f *fixture) tombstones() []checkpoint.Tombstone {
	f.Helper()
	list, err := f.store.Tombstones(f.ctx)
	f.noErr(err)
	return list
}

func (f *fixture) resultsOf(id string) []checkpoint.PendingResult {
	f.Helper()
	return f.exported(id).Results
}

// after takes the lease of a thread at rest and gives a commit to go on from.
func (f *fixture) after(id string, ds ...checkpoint.Decision) checkpoint.Commit {
	f.Helper()
	r := f.request(id)
	r.Decisions = ds
	c := f.first(id)
	c.Lease, c.Checkpoint.Step = f.acquire(r).Token, r.Head.Step
	return c
}

// rich makes a thread that has everything a thread can have: many steps with keyframes between, lists that grow, gaps,
// every field of a record, decisions, and two answers that nobody has applied, with results of the coming step.
func (f *fixture) rich(id string) {
	f.Helper()
	c := f.first(id)
	c.NewLease.TTL = 48 * time.Hour
	c.Checkpoint.Origin = &checkpoint.Origin{Thread: "elsewhere", Step: 2}
	c.Ops = append(c.Ops, set("@frames", `{ "main@1" : {"a":[1,2]} }`), set("text", `"`+strings.Repeat("<é>", 300)+`"`))
	f.commit(c)
	for i := range 48 {
		f.clock.Advance(time.Minute)
		c = f.next(c, checkpoint.Op{Kind: checkpoint.OpAppend, Channel: "log", Value: raw(fmt.Sprintf(`[{"n" : %d}]`, i))},
			checkpoint.Op{Kind: checkpoint.OpMerge, Channel: "seen", Value: raw(fmt.Sprintf(`{"k%d": 1.0}`, i%5))})
		switch i {
		case 10:
			c.Ops = append(c.Ops, checkpoint.Op{Kind: checkpoint.OpDelete, Channel: "text"})
		case 20:
			c.Checkpoint.Step++
		case 30:
			c.Ops = append(c.Ops, set("@answers", "[ ]"))
		}
		record := full(f.clock.Now())
		record.Thread, record.Step, record.Channels = id, c.Checkpoint.Step, nil
		record.Origin = nil
		c.Checkpoint = record
		c.Decisions = nil
		if i%7 == 0 {
			c.Decisions = []checkpoint.Decision{{ID: fmt.Sprint("decision ", i), ResponseID: fmt.Sprint("response ", 1+i/7), Version: checkpoint.Version{Step: int64(i), Revision: 1},
				Interrupt: "q", Key: "ok", Address: "review", Path: "main@1/review@1", Action: "approve", Data: raw(`{ "a": 1.0, "b":"<é>" }`), Comment: "fine & good",
				Reviewer: "ann", DecidedAt: f.clock.Now().Add(123456 * time.Nanosecond), WaitedSeconds: 0.1 + float64(i), ShownHash: "h", Outcome: checkpoint.Applied}}
		}
		c.Summary = interrupted()
		c.Summary.Answered, c.Summary.Assignee, c.Summary.Group, c.Summary.Priority = 1, "ann", "legal", "high"
		c.Summary.Due, c.Summary.WaitingSince = ptr(f.clock.Now().Add(time.Hour)), ptr(f.clock.Now())
		c.Release = i == 47
		f.commit(c)
	}
	r := f.request(id)
	r.Answers = []json.RawMessage{raw(`{ "answer": "<1>" }`), raw("[2 ]")}
	r.Decisions = []checkpoint.Decision{{ID: "accepted", Reviewer: "bob", Action: "reject", DecidedAt: f.clock.Now(), Outcome: checkpoint.Applied}}
	token := f.acquire(r).Token
	for _, path := range []string{"main@1/b@1", "main@1/a@1"} {
		f.noErr(f.store.AddResult(f.ctx, id, token, checkpoint.PendingResult{Step: c.Checkpoint.Step + 1, Path: path, Data: raw(`{ "of": "` + path + `"}`)}))
		f.clock.Advance(time.Second)
	}
	f.noErr(f.store.ReleaseLease(f.ctx, checkpoint.Release{Thread: id, Token: token}))
	f.clock.Advance(time.Minute)
}
