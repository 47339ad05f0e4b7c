package checkpointtest

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// putCases are the seeds' checkpointer: AgentFlow's test_checkpoint_contract and what LangGraph's suite adds.
var putCases = []testCase{
	{"revision starts at 1 and counts writes", func(f *fixture) {
		for want := int64(1); want <= 3; want++ {
			got, err := f.store.Put(f.ctx, point("t", 1), nil)
			f.noErr(err)
			f.equal(got, want)
		}
		f.equal(f.latest("t").Revision, int64(3))
	}},
	{"a condition of absence holds once", func(f *fixture) {
		_, err := f.store.Put(f.ctx, point("t", 1), ptr(int64(0)))
		f.noErr(err)
		late := point("t", 1)
		late.Channels = checkpoint.Channels{"who": raw(`"late"`)}
		_, err = f.store.Put(f.ctx, late, ptr(int64(0)))
		var conflict *checkpoint.ConflictError
		if !errors.As(err, &conflict) {
			f.Fatalf("error %v, want a ConflictError", err)
		}
		f.equal([]int64{conflict.Step, conflict.Expected, conflict.Actual}, []int64{1, 0, 1})
		f.equal(string(f.latest("t").Channels["who"]), "")
	}},
	{"a condition on an absent step fails", func(f *fixture) {
		_, err := f.store.Put(f.ctx, point("t", 1), ptr(int64(2)))
		f.wantIs(err, checkpoint.ErrConflict)
		_, err = f.store.Latest(f.ctx, "t")
		f.wantIs(err, checkpoint.ErrNotFound)
	}},
	{"a matching revision is overwritten, another is not", func(f *fixture) {
		f.put(point("t", 1))
		revision, err := f.store.Put(f.ctx, point("t", 1), ptr(int64(1)))
		f.noErr(err)
		f.equal(revision, int64(2))
		late := point("t", 1)
		late.Channels = checkpoint.Channels{"who": raw(`"late"`)}
		_, err = f.store.Put(f.ctx, late, ptr(int64(1)))
		var conflict *checkpoint.ConflictError
		if !errors.As(err, &conflict) {
			f.Fatalf("error %v, want a ConflictError", err)
		}
		f.equal([]any{conflict.Thread, conflict.Step, conflict.Expected, conflict.Actual}, []any{"t", int64(1), int64(1), int64(2)})
		f.equal(f.latest("t").Channels, point("t", 1).Channels)
	}},
	{"an overwritten step is there once", func(f *fixture) {
		for range 3 {
			f.put(point("t", 2))
			f.put(point("t", 1))
		}
		f.equal(f.steps("t"), []int64{1, 2})
		f.equal(f.list(checkpoint.Query{}), []string{"t"})
		stats, err := f.store.Stats(f.ctx)
		f.noErr(err)
		f.equal([]int64{stats.Threads, stats.Checkpoints}, []int64{1, 2})
	}},
	{"every kind of value comes back, one that looks like a secret too", func(f *fixture) {
		values := checkpoint.Channels{
			"null": raw("null"), "true": raw("true"), "false": raw("false"), "zero": raw("0"), "minus": raw("-0.0"), "large": raw("9007199254740993"),
			"exponent": raw("1e-400"), "empty text": raw(`""`), "text": raw(`"\u2028 \ud83d\ude00 ☃ \u0000"`), "empty list": raw("[]"), "empty object": raw("{}"),
			"deep": raw(strings.Repeat("[", 200) + strings.Repeat("]", 200)), "password": raw(`"hunter2"`), "名": raw(`{"ключ":[{}]}`),
		}
		c := point("t", 1)
		c.Channels = values
		f.put(c)
		f.sameState(f.latest("t").Channels, values)
	}},
	{"channels come and go from step to step", func(f *fixture) {
		states := []checkpoint.Channels{{"a": raw("1")}, {"a": raw("1"), "b": raw("2")}, {"b": raw("3")}, {}}
		for i, channels := range states {
			c := point("t", int64(i))
			c.Channels = channels
			f.put(c)
		}
		for i, want := range states {
			got, err := f.store.Get(f.ctx, "t", int64(i))
			f.noErr(err)
			f.sameState(got.Channels, want)
		}
	}},
	{"everything comes back as it was", func(f *fixture) {
		c := full(f.clock.Now())
		f.put(c)
		got := f.latest("t")
		got.SizeBytes = 0
		c.Revision = 1
		if diff := cmp.Diff(&c, got); diff != "" {
			f.Fatalf("(-put +got):\n%s", diff)
		}
		if string(got.InterruptPayload()) != string(c.Interrupts[0].Payload) {
			f.Fatalf("the payload changed: %s", got.InterruptPayload())
		}
	}},
	{"values are not shared with the caller", func(f *fixture) {
		c := full(f.clock.Now())
		f.put(c)
		c.Channels["n"][0] = 'X'
		c.Interrupts[0].Payload[0] = 'X'
		c.Next[0] = "X"
		got := f.latest("t")
		got.Channels["n"][0] = 'Y'
		got.Next[0] = "Y"
		again := f.latest("t")
		f.equal(string(again.Channels["n"]), "1")
		f.equal(again.Next[0], "a")
		f.equal(string(again.Interrupts[0].Payload[:1]), "{")
	}},
	{"latest is the highest step, whatever the order of writing", func(f *fixture) {
		for _, step := range []int64{3, 1, 2, 12, 10} {
			f.put(point("t", step))
		}
		f.equal(f.latest("t").Step, int64(12))
		f.equal(f.thread("t").Step, int64(12))
		f.equal(f.steps("t"), []int64{1, 2, 3, 10, 12})
		c, err := f.store.Get(f.ctx, "t", 2)
		f.noErr(err)
		f.equal(string(c.Channels["n"]), "2")
	}},
	{"threads are apart", func(f *fixture) {
		f.put(point("a", 1))
		f.put(point("ab", 2))
		f.equal(f.steps("a"), []int64{1})
		f.equal(f.latest("ab").Step, int64(2))
	}},
	{"what is absent is not found", func(f *fixture) {
		f.put(point("t", 1))
		_, err := f.store.Get(f.ctx, "t", 7)
		f.wantIs(err, checkpoint.ErrNotFound)
		_, err = f.store.Latest(f.ctx, "nobody")
		f.wantIs(err, checkpoint.ErrNotFound)
		_, err = f.store.Thread(f.ctx, "nobody")
		f.wantIs(err, checkpoint.ErrNotFound)
		_, err = f.store.Definition(f.ctx, "nothing")
		f.wantIs(err, checkpoint.ErrNotFound)
		for _, err := range f.store.History(f.ctx, "nobody", true) {
			f.wantIs(err, checkpoint.ErrNotFound)
		}
	}},
	{"the row tells status, questions and times from the checkpoint", func(f *fixture) {
		f.put(full(f.clock.Now()))
		info := f.thread("t")
		f.equal(info.Status, checkpoint.Interrupted)
		f.equal(info.Node, "review")
		f.equal(info.Questions, 1)
		f.equal(*info.Due, f.clock.Now().Add(time.Hour))
		end := point("t", 9)
		end.Ended = checkpoint.Done
		f.put(end)
		f.equal(f.thread("t").Status, checkpoint.Done)
	}},
	{"rewriting a step in the middle leaves the later ones", func(f *fixture) {
		c := f.start("t")
		c = f.under(c)
		for range 4 {
			c = f.next(c, checkpoint.Op{Kind: checkpoint.OpAppend, Channel: "list", Value: raw(`[1]`)})
			f.commit(c)
		}
		f.put(point("t", 2))
		f.equal(string(f.latest("t").Channels["list"]), "[1,1,1,1]")
		got, err := f.store.Get(f.ctx, "t", 3)
		f.noErr(err)
		f.equal(string(got.Channels["list"]), "[1,1,1]")
	}},
	{"definitions are kept and the first stays", func(f *fixture) {
		d := checkpoint.Definition{Workflow: "notes", Source: "/srv/notes.yaml", Files: []checkpoint.File{{Path: "notes.yaml", Text: "a: <b>\n"}}}
		d.Fingerprint = checkpoint.Fingerprint(d.Files)
		f.noErr(f.store.PutDefinition(f.ctx, d))
		f.noErr(f.store.PutDefinition(f.ctx, d))
		got, err := f.store.Definition(f.ctx, d.Fingerprint)
		f.noErr(err)
		f.equal(got, &d)
	}},
	{"a definition that is not what its fingerprint says is corrupt", func(f *fixture) {
		files := []checkpoint.File{{Path: "notes.yaml", Text: "a: 1\n"}, {Path: "b", Text: ""}}
		for name, changed := range map[string][]checkpoint.File{
			"text": {{Path: "notes.yaml", Text: "a: 2\n"}, {Path: "b", Text: ""}}, "path": {{Path: "note.yaml", Text: "a: 1\n"}, {Path: "b", Text: ""}},
			"one fewer": files[:1], "none": {},
		} {
			d := checkpoint.Definition{Workflow: name, Fingerprint: checkpoint.Fingerprint(append(files, checkpoint.File{Path: name})), Files: changed}
			f.noErr(f.store.PutDefinition(f.ctx, d))
			got, err := f.store.Definition(f.ctx, d.Fingerprint)
			f.wantIs(err, checkpoint.ErrCorrupt)
			if got != nil || !strings.Contains(err.Error(), d.Fingerprint) {
				f.Fatalf("%s: %v (%v), want none and an error that names %s", name, got, err, d.Fingerprint)
			}
		}
	}},
}

func point(thread string, step int64) checkpoint.Checkpoint {
	n, _ := json.Marshal(step)
	return checkpoint.Checkpoint{Thread: thread, Step: step, Next: []string{"a"}, Channels: checkpoint.Channels{"n": n},
		TS: time.Date(2026, 2, 1, 0, 0, int(step), 0, time.UTC)}
}

// full has every field filled in, its JSON written in ways that encoding/json would not keep.
func full(now time.Time) checkpoint.Checkpoint {
	due := now.Add(time.Hour)
	return checkpoint.Checkpoint{
		Thread: "t", Step: 4, TS: now, Source: checkpoint.SourceStep, Workflow: "notes", Fingerprint: "fp", Next: []string{"a", "b"},
		Interrupts: []checkpoint.Interrupt{{ID: "q1", Key: "ok", Address: "review", Node: "review", Path: "main@1/review@2",
			Payload: raw("{ \"ask\":\t\"<b>&\\u00e9\" }"), ContentKey: "draft", Asked: now, Due: &due, Overdue: true, Round: 2,
			Previous: &checkpoint.Previous{ID: "q0", Feedback: "shorter", By: "ann", Content: raw("[ 1.0, 2e3 ]")}}},
		Runs:      []checkpoint.NodeRun{{Path: "main@1/a@1", Node: "a", Status: "COMPLETED", Route: "ok", Attempts: 2, Started: now, TookMS: 5, Error: "e"}},
		Decisions: []string{"d1"},
		Error:     &checkpoint.Failure{Path: "main@1/x@1", Node: "x", Message: "no\nway", Attempts: 3, At: now},
		Origin:    &checkpoint.Origin{Thread: "old", Step: 3},
		Outputs:   raw("{\"b\": 1,  \"a\": 2}"),
		Channels:  checkpoint.Channels{"n": raw("1"), "@frames": raw("{ }"), "text": raw(`"<é\u00e9>"`)},
	}
}

func (f *fixture) put(c checkpoint.Checkpoint) {
	f.Helper()
	_, err := f.store.Put(f.ctx, c, nil)
	f.noErr(err)
}

// under takes the lease of c's thread and gives a commit to go on from.
func (f *fixture) under(c checkpoint.Commit) checkpoint.Commit {
	f.Helper()
	c.Lease = f.acquire(f.request(c.Checkpoint.Thread)).Token
	c.Release = false
	return c
}
