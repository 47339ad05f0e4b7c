package checkpointtest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// waiting makes a change of a first commit: it waits since some time, and is due at some time, 0 for never.
func waiting(since, due time.Duration) func(*checkpoint.Commit) {
	return func(c *checkpoint.Commit) {
		base := c.Checkpoint.TS
		if since != 0 {
			c.Summary.WaitingSince = ptr(base.Add(since))
		}
		if due != 0 {
			c.Summary.Due = ptr(base.Add(due))
		}
	}
}

func phase(s checkpoint.Status) func(*checkpoint.Commit) {
	return func(c *checkpoint.Commit) { c.Summary.Phase = s }
}

func (f *fixture) list(q checkpoint.Query) []string {
	f.Helper()
	page, err := f.store.Threads(f.ctx, q)
	f.noErr(err)
	return ids(page)
}

// walk reads all pages of q, calling between after each.
func (f *fixture) walk(q checkpoint.Query, between func(page int)) []string {
	f.Helper()
	var all []string
	for n := 0; ; n++ {
		page, err := f.store.Threads(f.ctx, q)
		f.noErr(err)
		if len(page.Threads) > q.Size() {
			f.Fatalf("a page of %d rows, %d were asked for", len(page.Threads), q.Size())
		}
		all = append(all, ids(page)...)
		if page.Next == "" {
			return all
		}
		f.equal(page.Next, page.Threads[len(page.Threads)-1].Cursor)
		q.After = page.Next
		if between != nil {
			between(n)
		}
	}
}

var listCases = []testCase{
	{"an empty store", func(f *fixture) {
		f.equal(f.list(checkpoint.Query{}), []string(nil))
		counts, err := f.store.Counts(f.ctx)
		f.noErr(err)
		f.equal(len(counts), 0)
		changes, err := f.store.Changes(f.ctx, 0, 10)
		f.noErr(err)
		f.equal(changes, checkpoint.Changes{})
	}},
	{"the inbox has the earliest deadline first, then who waits longest", func(f *fixture) {
		f.start("none")
		f.start("long", waiting(-time.Hour, 0))
		f.start("short", waiting(-time.Minute, 0))
		f.start("later", waiting(-3*time.Hour, 2*time.Hour))
		f.start("soon", waiting(-time.Minute, time.Hour))
		f.start("same", waiting(-time.Hour, time.Hour))
		want := []string{"same", "soon", "later", "long", "short", "none"}
		f.equal(f.list(checkpoint.Query{}), want)
		slices.Reverse(want)
		f.equal(f.list(checkpoint.Query{Reverse: true}), want)
		f.equal(f.list(checkpoint.Query{Sort: checkpoint.SortWaiting}), []string{"later", "long", "same", "short", "soon", "none"})
	}},
	{"changed last first, and by name", func(f *fixture) {
		for _, id := range []string{"b", "a", "c"} {
			f.start(id, func(c *checkpoint.Commit) { c.Checkpoint.Workflow = "w" + id[:1] })
		}
		f.noErr(f.store.Claim(f.ctx, "b", "ann", time.Minute))
		f.equal(f.list(checkpoint.Query{Sort: checkpoint.SortUpdated}), []string{"b", "c", "a"})
		f.equal(f.list(checkpoint.Query{Sort: checkpoint.SortUpdated, Reverse: true}), []string{"a", "c", "b"})
		f.equal(f.list(checkpoint.Query{Sort: checkpoint.SortName}), []string{"a", "b", "c"})
	}},
	{"pages meet every row once, over ties, in every order", func(f *fixture) {
		var want []string
		for i := range 23 {
			id := fmt.Sprintf("t%02d", i)
			f.start(id, waiting(time.Duration(i/5)*time.Second, time.Duration(i/10)*time.Second), func(c *checkpoint.Commit) {
				c.Summary.Phase = checkpoint.Phases()[i%8]
				c.Checkpoint.Workflow = fmt.Sprint(i / 7)
			})
			want = append(want, id)
		}
		for _, sort := range []checkpoint.Sort{"", checkpoint.SortDue, checkpoint.SortWaiting, checkpoint.SortUpdated, checkpoint.SortName} {
			for _, reverse := range []bool{false, true} {
				for _, size := range []int{1, 4, 22, 23, 24} {
					q := checkpoint.Query{Sort: sort, Reverse: reverse, Limit: size}
					got := f.walk(q, nil)
					f.equal(slices.Sorted(slices.Values(got)), want)
				}
			}
		}
	}},
	{"pages lose and repeat nothing while rows change", func(f *fixture) {
		for i := range 20 {
			f.start(fmt.Sprintf("t%02d", i), waiting(time.Duration(i/3+1)*time.Second, 0))
		}
		got := f.walk(checkpoint.Query{Limit: 3}, func(page int) {
			f.start(fmt.Sprintf("t%02d.new", page), waiting(-time.Hour, 0))
			f.noErr(f.store.Claim(f.ctx, "t01", "ann", time.Minute))
			if page == 1 {
				f.noErr(f.store.DeleteThread(f.ctx, "t05"))
			}
		})
		want := make([]string, 20)
		for i := range want {
			want[i] = fmt.Sprintf("t%02d", i)
		}
		f.equal(got, want)
	}},
	{"a cursor of another listing is refused", func(f *fixture) {
		f.start("a")
		f.start("b")
		page, err := f.store.Threads(f.ctx, checkpoint.Query{Limit: 1})
		f.noErr(err)
		for name, q := range map[string]checkpoint.Query{
			"another order": {After: page.Next, Sort: checkpoint.SortName}, "reversed": {After: page.Next, Reverse: true},
			"garbage": {After: "garbage!"}, "unknown order": {Sort: "size"}, "unknown status": {Status: []checkpoint.Status{"lost"}},
		} {
			if _, err := f.store.Threads(f.ctx, q); err == nil {
				f.Errorf("%s: accepted", name)
			}
		}
	}},
	{"statuses are as of now, in lists and in counts", func(f *fixture) {
		for _, s := range checkpoint.Phases() {
			f.start(string(s), phase(s))
		}
		f.start("live")
		f.acquire(f.request("live"))
		f.start("dead")
		r := f.request("dead")
		r.Answers = []rawMessage{raw("1")}
		f.noErr(f.store.ReleaseLease(f.ctx, checkpoint.Release{Thread: "dead", Token: f.acquire(r).Token}))
		want := map[checkpoint.Status][]string{checkpoint.Running: {"live"}, checkpoint.Stalled: {"dead", "stalled"}}
		for _, s := range checkpoint.Phases() {
			if s != checkpoint.Stalled {
				want[s] = []string{string(s)}
			}
		}
		check := func() {
			f.Helper()
			counts, err := f.store.Counts(f.ctx)
			f.noErr(err)
			for status, threads := range want {
				for _, sort := range []checkpoint.Sort{checkpoint.SortDue, checkpoint.SortName, checkpoint.SortUpdated, checkpoint.SortWaiting} {
					got := f.list(checkpoint.Query{Status: []checkpoint.Status{status}, Sort: sort})
					slices.Sort(got)
					f.equal(got, threads)
				}
				f.equal(counts[status], int64(len(threads)))
				delete(counts, status)
			}
			f.equal(len(counts), 0)
		}
		check()
		f.equal(f.list(checkpoint.Query{Status: []checkpoint.Status{checkpoint.Running, checkpoint.Stalled, checkpoint.Done, checkpoint.Done}, Limit: 2}), []string{"dead", "done"})
		f.clock.Advance(ttl)
		delete(want, checkpoint.Running)
		want[checkpoint.Interrupted] = []string{"interrupted", "live"}
		check()
	}},
	{"filters", func(f *fixture) {
		f.start("a", waiting(-time.Hour, time.Hour), func(c *checkpoint.Commit) {
			c.Checkpoint.Workflow, c.Summary.Node, c.Summary.Title = "notes", "review", "Größe 100% of_it"
			c.Summary.Assignee, c.Summary.Group, c.Summary.Priority = "ann", "ops", "high"
		})
		f.start("b", waiting(-time.Minute, 0), func(c *checkpoint.Commit) {
			c.Checkpoint.Workflow, c.Summary.Node, c.Summary.Error = "claims", "decide", "disk Full"
		})
		f.clock.Advance(time.Second)
		f.start("c", phase(checkpoint.Done), func(c *checkpoint.Commit) { c.Checkpoint.Workflow, c.Summary.Node = "notes", "" })
		f.noErr(f.store.Claim(f.ctx, "b", "bob", time.Minute))
		now := f.clock.Now()
		for name, c := range map[string]struct {
			q    checkpoint.Query
			want string
		}{
			"workflow":           {checkpoint.Query{Workflow: []string{"notes"}}, "a c"},
			"workflows":          {checkpoint.Query{Workflow: []string{"notes", "claims"}}, "a b c"},
			"node":               {checkpoint.Query{Node: []string{"decide", "x"}}, "b"},
			"assignee":           {checkpoint.Query{Assignee: []string{"ann"}}, "a"},
			"group":              {checkpoint.Query{Group: []string{"ops"}}, "a"},
			"priority":           {checkpoint.Query{Priority: []string{"high"}}, "a"},
			"priority unset":     {checkpoint.Query{Priority: []string{"normal"}}, "b c"},
			"priority empty":     {checkpoint.Query{Priority: []string{""}}, "b c"},
			"claimed by":         {checkpoint.Query{Reviewer: "bob"}, "b"},
			"claimed by other":   {checkpoint.Query{Reviewer: "ann"}, ""},
			"claimed":            {checkpoint.Query{Reviewer: "any"}, "b"},
			"unclaimed":          {checkpoint.Query{Reviewer: "none"}, "a c"},
			"text in title":      {checkpoint.Query{Text: "100% OF_"}, "a"},
			"text beyond ASCII":  {checkpoint.Query{Text: "GRÖSSE"}, ""},
			"case beyond ASCII":  {checkpoint.Query{Text: "GRÖ"}, "a"},
			"text in error":      {checkpoint.Query{Text: "full"}, "b"},
			"text in id":         {checkpoint.Query{Text: "C", Workflow: []string{"notes"}}, "c"},
			"failing":            {checkpoint.Query{Failing: true}, "b"},
			"failing, of others": {checkpoint.Query{Failing: true, Workflow: []string{"notes"}}, ""},
			"no wildcard":        {checkpoint.Query{Text: "100_ of"}, ""},
			"SQL":                {checkpoint.Query{Text: "' OR 1=1 --", Workflow: []string{"' OR 1=1 --"}}, ""},
			"older":              {checkpoint.Query{OlderThan: now.Add(-30 * time.Minute)}, "a"},
			"newer":              {checkpoint.Query{NewerThan: now.Add(-30 * time.Minute)}, "b c"},
			"older, not waiting": {checkpoint.Query{OlderThan: now}, "a b"},
			"due":                {checkpoint.Query{DueBefore: now.Add(2 * time.Hour)}, "a"},
			"not due":            {checkpoint.Query{DueBefore: now}, ""},
			"all joined":         {checkpoint.Query{Workflow: []string{"notes"}, Status: []checkpoint.Status{checkpoint.Interrupted, checkpoint.Done}, Text: "n"}, "a c"},
		} {
			for _, sort := range []checkpoint.Sort{checkpoint.SortDue, checkpoint.SortName} {
				c.q.Sort = sort
				for _, limit := range []int{0, 1} {
					c.q.Limit = limit
					got := f.walk(c.q, nil)
					slices.Sort(got)
					if strings.Join(got, " ") != c.want {
						f.Errorf("%s by %s, limit %d: %v, want %q", name, sort, limit, got, c.want)
					}
				}
			}
		}
		f.clock.Advance(time.Minute)
		f.equal(f.list(checkpoint.Query{Reviewer: "any"}), []string(nil))
	}},
	{"a row tells what the commit said", func(f *fixture) {
		c := f.first("t")
		c.Checkpoint.Origin = &checkpoint.Origin{Thread: "old", Step: 7}
		c.Summary = checkpoint.Summary{Phase: checkpoint.Interrupted, Title: "T", Node: "n", Questions: 2, Answered: 1, WaitingSince: ptr(f.clock.Now()),
			Due: ptr(f.clock.Now().Add(time.Hour)), Assignee: "ann", Group: "ops", Priority: "urgent", Error: "e"}
		f.commit(c)
		page, err := f.store.Threads(f.ctx, checkpoint.Query{})
		f.noErr(err)
		got := page.Threads[0]
		f.equal(got.Summary, c.Summary)
		f.equal(got.Origin, c.Checkpoint.Origin)
		f.equal([]any{got.Workflow, got.Fingerprint, got.Created, got.Updated}, []any{"notes", "fp", f.clock.Now(), f.clock.Now()})
		got.Cursor = ""
		f.equal(f.thread("t"), &got)
	}},
	{"an upgrade changes fingerprint and workflow of the row", func(f *fixture) {
		c := f.under(f.start("t"))
		n := f.next(c)
		n.Checkpoint.Workflow, n.Checkpoint.Fingerprint = "new", "fp2"
		f.commit(n)
		info := f.thread("t")
		f.equal([]string{info.Workflow, info.Fingerprint, info.Workdir}, []string{"new", "fp2", "/srv/notes"})
	}},
	{"a thread is found by the end of its id", func(f *fixture) {
		for _, id := range []string{"0192-aaaa-12345678", "0192-bbbb-92345678", "5678", "x%_y"} {
			f.start(id)
		}
		for short, want := range map[string]string{"5678": "5678", "12345678": "0192-aaaa-12345678", "0192-bbbb-92345678": "0192-bbbb-92345678"} {
			got, err := f.store.Resolve(f.ctx, short)
			f.noErr(err)
			f.equal(got, want)
		}
		for _, short := range []string{"678", "", "nope", "%_yx", "____"} {
			_, err := f.store.Resolve(f.ctx, short)
			f.wantIs(err, checkpoint.ErrNotFound)
		}
		_, err := f.store.Resolve(f.ctx, "345678")
		var ambiguous *checkpoint.AmbiguousError
		if !errors.As(err, &ambiguous) {
			f.Fatalf("error %v, want an AmbiguousError", err)
		}
		f.equal(ambiguous.Candidates, []string{"0192-aaaa-12345678", "0192-bbbb-92345678"})
	}},
	{"changes come in order, each row once, deletions too", func(f *fixture) {
		f.start("a")
		f.start("b")
		f.start("c")
		f.noErr(f.store.Claim(f.ctx, "a", "ann", time.Minute))
		f.noErr(f.store.DeleteThread(f.ctx, "b"))
		var rows, gone []string
		var seq int64
		for {
			c, err := f.store.Changes(f.ctx, seq, 1)
			f.noErr(err)
			for _, t := range c.Threads {
				rows = append(rows, t.Thread)
			}
			gone = append(gone, c.Deleted...)
			seq = c.Seq
			if !c.More {
				break
			}
		}
		f.equal(rows, []string{"c", "a"})
		f.equal(gone, []string{"b"})
		c, err := f.store.Changes(f.ctx, seq, 10)
		f.noErr(err)
		f.equal(c, checkpoint.Changes{Seq: seq})
		f.acquire(f.request("c"))
		c, err = f.store.Changes(f.ctx, seq, 10)
		f.noErr(err)
		f.equal([]any{len(c.Threads), c.Threads[0].Status}, []any{1, checkpoint.Running})
	}},
}

var watchCases = []testCase{
	{"a watcher wakes after each kind of change, and can then see it", func(f *fixture) {
		ctx, cancel := context.WithCancel(f.ctx)
		defer cancel()
		wake, err := f.store.Watch(ctx)
		f.noErr(err)
		var seq int64
		changed := func(what string, change func()) {
			f.Helper()
			change()
			deadline := time.After(10 * time.Second)
			for {
				c, err := f.store.Changes(f.ctx, seq, 100)
				f.noErr(err)
				if c.Seq > seq {
					seq = c.Seq
					return
				}
				select {
				case <-wake:
				case <-deadline:
					f.Fatalf("%s: nobody was woken", what)
				}
			}
		}
		changed("commit", func() { f.start("t") })
		changed("lease", func() { f.acquire(f.request("t")) })
		changed("claim", func() { f.noErr(f.store.Claim(f.ctx, "t", "ann", time.Minute)) })
		changed("put", func() { f.put(point("u", 1)) })
		changed("delete", func() { f.noErr(f.store.DeleteThread(f.ctx, "u")) })
	}},
	{"wake-ups are sent to all and coalesced", func(f *fixture) {
		ctx, cancel := context.WithCancel(f.ctx)
		var all []<-chan struct{}
		for range 3 {
			wake, err := f.store.Watch(ctx)
			f.noErr(err)
			all = append(all, wake)
		}
		for i := range 20 {
			f.start(fmt.Sprint(i))
		}
		for _, wake := range all {
			if _, ok := <-wake; !ok {
				f.Fatal("closed while ctx lasts")
			}
		}
		cancel()
		for _, wake := range all {
			for range wake {
			}
		}
	}},
	{"a context that has ended is refused", func(f *fixture) {
		ctx, cancel := context.WithCancel(f.ctx)
		cancel()
		_, err := f.store.Watch(ctx)
		f.wantIs(err, context.Canceled)
		_, err = f.store.Commit(ctx, f.first("t"))
		f.wantIs(err, context.Canceled)
	}},
}
