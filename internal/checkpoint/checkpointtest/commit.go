package checkpointtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

var commitCases = []testCase{
	{"the first commit makes row, state and lease at once", func(f *fixture) {
		c := f.first("t")
		f.equal(f.commit(c), checkpoint.Version{Step: 0, Revision: 1})
		info := f.thread("t")
		f.equal([]any{info.Status, info.Workdir, info.StartedBy, info.Workflow, info.Lease.Holder, info.Lease.Live},
			[]any{checkpoint.Running, "/srv/notes", "ann", "notes", "host:1", true})
		f.equal(string(f.latest("t").Channels["topic"]), `"x"`)
	}},
	{"a further commit builds on the state", func(f *fixture) {
		c := f.first("t")
		f.commit(c)
		c = f.next(c, set("a", "1"), checkpoint.Op{Kind: checkpoint.OpAppend, Channel: "log", Value: raw(`["x"]`)})
		f.commit(c)
		c = f.next(c, checkpoint.Op{Kind: checkpoint.OpAppend, Channel: "log", Value: raw(`["y", "z"]`)},
			checkpoint.Op{Kind: checkpoint.OpMerge, Channel: "m", Value: raw(`{"k": 1}`)}, checkpoint.Op{Kind: checkpoint.OpDelete, Channel: "a"})
		f.commit(c)
		f.equal(f.latest("t").Channels, checkpoint.Channels{"topic": raw(`"x"`), "log": raw(`["x","y", "z"]`), "m": raw(`{"k":1}`)})
	}},
	{"its own id again is success and changes nothing", func(f *fixture) {
		c := f.first("t")
		f.commit(c)
		f.equal(f.commit(c), checkpoint.Version{Step: 0, Revision: 1})
		c = f.next(c, set("a", "1"))
		c.Release = true
		f.commit(c)
		before := f.thread("t")
		f.equal(f.commit(c), checkpoint.Version{Step: 1, Revision: 1})
		f.equal(f.thread("t").Seq, before.Seq)
		f.equal(f.steps("t"), []int64{0, 1})
	}},
	{"a parent that is not the head conflicts", func(f *fixture) {
		c := f.first("t")
		f.commit(c)
		second := f.next(c)
		f.commit(second)
		stale := f.next(c)
		_, err := f.store.Commit(f.ctx, stale)
		f.wantIs(err, checkpoint.ErrConflict)
		ahead := f.next(f.next(second))
		_, err = f.store.Commit(f.ctx, ahead)
		f.wantIs(err, checkpoint.ErrConflict)
		f.equal(f.steps("t"), []int64{0, 1})
	}},
	{"a wrong or released lease conflicts", func(f *fixture) {
		c := f.first("t")
		f.commit(c)
		n := f.next(c)
		n.Lease = "another"
		_, err := f.store.Commit(f.ctx, n)
		f.wantIs(err, checkpoint.ErrConflict)
		n = f.next(c)
		n.Release = true
		f.commit(n)
		_, err = f.store.Commit(f.ctx, f.next(n))
		f.wantIs(err, checkpoint.ErrConflict)
	}},
	{"a runner that slept past its lease cannot write", func(f *fixture) {
		c := f.first("t")
		f.commit(c)
		f.clock.Advance(ttl)
		_, err := f.store.Commit(f.ctx, f.next(c))
		f.wantIs(err, checkpoint.ErrConflict)
	}},
	{"absent thread", func(f *fixture) {
		c := f.first("t")
		_, err := f.store.Commit(f.ctx, f.next(c))
		f.wantIs(err, checkpoint.ErrConflict)
		_, err = f.store.Thread(f.ctx, "t")
		f.wantIs(err, checkpoint.ErrNotFound)
	}},
	{"a second first commit conflicts", func(f *fixture) {
		f.start("t")
		_, err := f.store.Commit(f.ctx, f.first("t"))
		f.wantIs(err, checkpoint.ErrConflict)
	}},
	{"a deleted thread does not come back", func(f *fixture) {
		c := f.first("t")
		f.commit(c)
		f.clock.Advance(ttl)
		f.noErr(f.store.DeleteThread(f.ctx, "t"))
		_, err := f.store.Commit(f.ctx, f.next(c))
		f.wantIs(err, checkpoint.ErrConflict)
		_, err = f.store.Commit(f.ctx, c)
		f.wantIs(err, checkpoint.ErrConflict)
		_, err = f.store.Put(f.ctx, point("t", 1), nil)
		f.wantIs(err, checkpoint.ErrConflict)
	}},
	{"nothing of a refused commit is applied", func(f *fixture) {
		c := f.start("t", func(c *checkpoint.Commit) { c.Decisions = []checkpoint.Decision{{ID: "d1", ResponseID: "r1"}} })
		c = f.under(c)
		f.noErr(f.store.AddResult(f.ctx, "t", c.Lease, checkpoint.PendingResult{Step: 1, Path: "a", Data: raw("1")}))
		n := f.next(c, set("a", "1"))
		n.Decisions = []checkpoint.Decision{{ID: "d2"}, {ID: "d3", ResponseID: "r1"}}
		_, err := f.store.Commit(f.ctx, n)
		f.wantIs(err, checkpoint.ErrConflict)
		f.equal(f.steps("t"), []int64{0})
		f.equal(len(f.decisions("t")), 1)
		f.equal(f.thread("t").Decisions, int64(1))
		f.clock.Advance(ttl)
		f.equal(len(f.acquire(f.request("t")).Results), 1)
	}},
	{"answers are applied, the last n kept", func(f *fixture) {
		c := f.start("t")
		r := f.request("t")
		r.Answers = []rawMessage{raw("1"), raw("2"), raw("3")}
		c.Lease, c.Release = f.acquire(r).Token, false
		n := f.next(c)
		n.KeepAnswers, n.Release = 2, true
		f.commit(n)
		info := f.thread("t")
		f.equal(info.Status, checkpoint.Stalled)
		f.equal(info.Lease.Live, false)
		f.equal(info.Lease.Answers, 2)
		f.equal(texts(f.acquire(f.request("t")).Answers), []string{"2", "3"})
	}},
	{"pending results go with the commit", func(f *fixture) {
		c := f.under(f.start("t"))
		for _, path := range []string{"a", "b", "a"} {
			f.noErr(f.store.AddResult(f.ctx, "t", c.Lease, checkpoint.PendingResult{Step: 1, Path: path, Data: raw(`"` + path + `"`)}))
		}
		f.wantIs(f.store.AddResult(f.ctx, "t", "another", checkpoint.PendingResult{Step: 1, Path: "c"}), checkpoint.ErrConflict)
		f.clock.Advance(ttl)
		lease := f.acquire(f.request("t"))
		f.equal(len(lease.Results), 2)
		c.Lease = lease.Token
		n := f.next(c)
		n.Release = true
		f.commit(n)
		f.equal(len(f.acquire(f.request("t")).Results), 0)
	}},
	{"pending results are one for a run, the last, and their thread's alone", func(f *fixture) {
		one, other := f.under(f.start("t")), f.under(f.start("u"))
		result := func(c checkpoint.Commit, path, data string) {
			f.Helper()
			f.noErr(f.store.AddResult(f.ctx, c.Checkpoint.Thread, c.Lease, checkpoint.PendingResult{Step: 1, Path: path, Data: raw(data)}))
		}
		result(one, "main@1/a@1", `{ "failures": 1 }`)
		result(one, "main@1/b@1", "null")
		result(other, "main@1/a@1", "2")
		result(one, "main@1/a@1", `{"output":  "<b>"}`)
		f.clock.Advance(ttl)
		got := map[string]string{}
		for _, r := range f.acquire(f.request("t")).Results {
			f.equal(r.Step, int64(1))
			got[r.Path] = string(r.Data)
		}
		f.equal(got, map[string]string{"main@1/a@1": `{"output":  "<b>"}`, "main@1/b@1": "null"})
		f.equal(len(f.acquire(f.request("u")).Results), 1)
	}},
	{"malformed commits are refused", func(f *fixture) {
		for name, spoil := range map[string]func(*checkpoint.Commit){
			"no id":         func(c *checkpoint.Commit) { c.ID = "" },
			"no thread":     func(c *checkpoint.Commit) { c.Checkpoint.Thread = "" },
			"no phase":      func(c *checkpoint.Commit) { c.Summary.Phase = "" },
			"phase running": func(c *checkpoint.Commit) { c.Summary.Phase = checkpoint.Running },
			"no new thread": func(c *checkpoint.Commit) { c.NewThread = nil },
			"append no list": func(c *checkpoint.Commit) {
				c.Ops = []checkpoint.Op{{Kind: checkpoint.OpAppend, Channel: "a", Value: raw("1")}}
			},
			"merge no object": func(c *checkpoint.Commit) {
				c.Ops = []checkpoint.Op{{Kind: checkpoint.OpMerge, Channel: "a", Value: raw("[1]")}}
			},
			"set nothing":      func(c *checkpoint.Commit) { c.Ops = []checkpoint.Op{{Kind: checkpoint.OpSet, Channel: "a"}} },
			"unknown kind":     func(c *checkpoint.Commit) { c.Ops = []checkpoint.Op{{Kind: 'x', Channel: "a"}} },
			"too many answers": func(c *checkpoint.Commit) { c.KeepAnswers = 1 },
		} {
			c := f.first("t")
			spoil(&c)
			if _, err := f.store.Commit(f.ctx, c); err == nil {
				f.Errorf("%s: accepted", name)
			}
		}
		_, err := f.store.Thread(f.ctx, "t")
		f.wantIs(err, checkpoint.ErrNotFound)
	}},
	{"any of many steps is rebuilt to the byte", func(f *fixture) {
		c := f.first("t")
		c.Ops = []checkpoint.Op{set("text", `"`+strings.Repeat("x", 40000)+`"`), set("log", "[ ]")}
		state, err := checkpoint.Apply(nil, c.Ops)
		f.noErr(err)
		f.commit(c)
		want := []checkpoint.Channels{state}
		for i := range 250 {
			c = f.next(c, checkpoint.Op{Kind: checkpoint.OpAppend, Channel: "log", Value: raw(fmt.Sprintf(`[ {"i": %d} ]`, i))},
				checkpoint.Op{Kind: checkpoint.OpMerge, Channel: "m", Value: raw(fmt.Sprintf(`{"k%d" : %d}`, i%7, i))})
			f.commit(c)
			state, err = checkpoint.Apply(state, c.Ops)
			f.noErr(err)
			want = append(want, state)
		}
		for step, err := range f.store.History(f.ctx, "t", true) {
			f.noErr(err)
			f.sameState(step.Channels, want[step.Step])
		}
		for _, n := range []int64{0, 1, 19, 20, 21, 99, 100, 101, 249, 250} {
			got, err := f.store.Get(f.ctx, "t", n)
			f.noErr(err)
			f.sameState(got.Channels, want[n])
		}
	}},
}

// sameState compares states to the byte, large ones quickly.
func (f *fixture) sameState(got, want checkpoint.Channels) {
	f.Helper()
	if !maps.EqualFunc(got, want, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
		f.Fatalf("state mismatch (-want +got):\n%s", cmp.Diff(texts(values(want)), texts(values(got))))
	}
}

func values(c checkpoint.Channels) []json.RawMessage {
	var list []json.RawMessage
	for _, name := range slices.Sorted(maps.Keys(c)) {
		list = append(list, raw(name), c[name])
	}
	return list
}
