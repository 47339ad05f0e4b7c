package local_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/servers"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/open"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/local"
	"github.com/hitl-tui/hitl-tui/internal/engine"
)

// whole nests, maps, loops, asks several people at once, and joins.
const whole = `workflow: whole
output: {inner: inner, list: list, word: word}
start: [nested, each, ask]
nodes:
  nested: {workflow: ./inner.yaml, output: inner, then: gather}
  each:
    map: "['a', 'b', 'c']"
    as: item
    do:
      decide: {human: approval, message: "Item {{.item}}", content: item}
    result: item
    output: list
    then: gather
  ask:
    questions:
      name: {human: approval, message: Name}
      sure: {human: approval, message: Sure}
    output: word
    then: gather
  gather: {join: all, set: {log: "concat(log ?? [], ['gathered'])"}, then: last}
  last: {human: approval, message: Last}
`

const nestedOne = `workflow: inner
output: {n: n, log: log}
nodes:
  begin: {set: {n: "0", log: "[]"}, then: count}
  count:
    set: {n: n + 1, log: "concat(log, ['<' + string(n) + '>'])"}
    when: [{if: n < 25, then: count}]
    then: confirm
  confirm: {human: approval, message: Confirm}
`

// backend is a kind of store.
type backend struct {
	name  string
	fresh func(t testing.TB) string // URL of an empty store, which is gone when t ends
}

// backends are all kinds of stores; a server that is not there skips its kind, unless CI is set.
func backends() []backend {
	return []backend{
		{"memory", func(testing.TB) string { return "memory:" }},
		{"file", func(t testing.TB) string { return "file:" + filepath.Join(t.TempDir(), "threads") }},
		{"sqlite", func(t testing.TB) string { return "sqlite:" + filepath.Join(t.TempDir(), "desk.db") }},
		{"redis", servers.RedisStore},
		{"postgres", servers.PostgresStore},
	}
}

// place is a desk over a store of its own.
type place struct {
	*desk.Desk
	t      *testing.T
	store  checkpoint.Store
	source *local.Source
	folder string
}

func placeOf(t *testing.T, b backend) *place {
	t.Helper()
	p := &place{t: t, folder: t.TempDir()}
	var err error
	if p.store, err = open.Open(t.Context(), b.fresh(t), open.Options{}); err != nil {
		t.Fatal(err)
	}
	source := local.New(p.store, engine.Options{})
	p.source = source
	source.OpenBackup = open.Backup
	if p.Desk, err = desk.New(source, desk.Options{Grace: -1, Reviewer: "ana"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := errors.Join(p.Desk.Close(ctx), source.Close(ctx), p.store.Close()); err != nil {
			t.Error(err)
		}
	})
	return p
}

func (p *place) must(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// fill runs a thread until it waits for many people, has some of them decide, and forks it, whose fork is decided on too.
func (p *place) fill() {
	p.t.Helper()
	for name, text := range map[string]string{"whole.yaml": whole, "inner.yaml": nestedOne} {
		p.must(os.WriteFile(filepath.Join(p.folder, name), []byte(text), 0o600))
	}
	_, err := p.Start(p.t.Context(), desk.StartRequest{File: filepath.Join(p.folder, "whole.yaml"), Thread: "first", Workdir: p.folder}, false)
	p.must(err)
	p.approve("first", "each/1/decide")
	p.approve("first", "ask.sure")
	head, err := p.store.Latest(p.t.Context(), "first")
	p.must(err)
	_, err = p.ForkOnly(p.t.Context(), desk.ForkRequest{Thread: "first", Step: head.Step - 1, As: "fork"})
	p.must(err)
	p.approve("fork", "nested/confirm")
	_, err = p.Start(p.t.Context(), desk.StartRequest{File: filepath.Join(p.folder, "whole.yaml"), Thread: "deleted", Workdir: p.folder}, false)
	p.must(err)
	p.approve("deleted", "each/0/decide")
	p.must(p.Delete(p.t.Context(), "deleted"))
}

func (p *place) approve(thread, address string) {
	p.t.Helper()
	_, err := p.source.Answer(p.t.Context(), desk.AnswerRequest{Thread: thread, Reviewer: "bo",
		Decisions: []desk.Decision{{Question: address, Action: "approve", DecidedAt: time.Now()}}})
	p.must(err)
}

// finish approves whatever is open until the thread is done, and gives how often.
func (p *place) finish(thread string) (outputs string, times int) {
	p.t.Helper()
	for {
		d, err := p.Open(p.t.Context(), thread)
		p.must(err)
		if len(d.Questions) == 0 {
			head, err := p.store.Latest(p.t.Context(), thread)
			p.must(err)
			if head.Ended != checkpoint.Done {
				p.t.Fatalf("thread %s rests as %q", thread, head.Ended)
			}
			return string(head.Outputs), times
		}
		p.approve(thread, d.Questions[0].ID)
		times++
	}
}

// exported is a thread as its file.
func (p *place) exported(thread string) []byte {
	p.t.Helper()
	var b bytes.Buffer
	e, err := p.Export(p.t.Context(), thread, &b, nil)
	p.must(err)
	if e.Warning != "" {
		p.t.Error(e.Warning)
	}
	return b.Bytes()
}

// same wants a thread in another place to be the same at every step, to the byte.
func (p *place) same(other *place, thread string) {
	p.t.Helper()
	n := 0
	for want, err := range p.store.History(p.t.Context(), thread, true) {
		p.must(err)
		got, err := other.store.Get(p.t.Context(), thread, want.Step)
		p.must(err)
		if !maps.EqualFunc(want.Channels, got.Channels, func(a, b json.RawMessage) bool { return bytes.Equal(a, b) }) {
			p.t.Errorf("thread %s, step %d has another state", thread, want.Step)
		}
		n++
	}
	if n < 2 {
		p.t.Errorf("thread %s has %d steps", thread, n)
	}
	if a, b := p.exported(thread), other.exported(thread); !bytes.Equal(a, b) {
		p.t.Errorf("thread %s is another:\n%s\n%s", thread, a, b)
	}
	verified, err := other.Verify(p.t.Context(), "", nil)
	p.must(err)
	if len(verified.Broken) > 0 {
		p.t.Errorf("%v", verified.Broken)
	}
}

// TestMoving moves threads between every two kinds of stores, as files and by a backup, and runs them on to their end.
func TestMoving(t *testing.T) {
	for _, from := range backends() {
		t.Run("from "+from.name, func(t *testing.T) {
			p := placeOf(t, from)
			p.fill()
			backup := filepath.Join(t.TempDir(), "copy.db")
			b, err := p.Backup(t.Context(), backup, nil)
			p.must(err)
			if b.Threads != 2 {
				t.Errorf("the backup has %d threads", b.Threads)
			}
			files := map[string][]byte{"first": p.exported("first"), "fork": p.exported("fork")}
			for _, to := range backends() {
				t.Run("to "+to.name+" as files", func(t *testing.T) {
					q := placeOf(t, to)
					for thread, file := range files {
						_, err := q.Import(t.Context(), bytes.NewReader(file), false)
						q.must(err)
						p.same(q, thread)
					}
					q.runsOn()
				})
				t.Run("to "+to.name+" by a backup", func(t *testing.T) {
					q := placeOf(t, to)
					r, err := q.Restore(t.Context(), backup, false, nil)
					q.must(err)
					if r.Threads != 2 || r.Tombstones != 1 || len(r.Damaged) > 0 {
						t.Errorf("restored %+v", r)
					}
					p.same(q, "first")
					p.same(q, "fork")
					here, err := p.store.Tombstones(t.Context())
					q.must(err)
					there, err := q.store.Tombstones(t.Context())
					q.must(err)
					if !slices.Equal(here, there) {
						t.Errorf("tombstones %+v, want %+v", there, here)
					}
					if r, err = q.Restore(t.Context(), backup, true, nil); err != nil || r.Same != 2 || r.Threads != 0 {
						t.Errorf("once more: %+v, %v", r, err)
					}
					q.runsOn()
				})
			}
		})
	}
}

// runsOn answers what is open in both threads.
func (p *place) runsOn() {
	p.t.Helper()
	for thread, want := range map[string]int{"first": 5, "fork": 5} {
		outputs, times := p.finish(thread)
		var o struct {
			Inner struct{ N int }
			List  []string
		}
		if err := json.Unmarshal([]byte(outputs), &o); err != nil || o.Inner.N != 25 || !slices.Equal(o.List, []string{"a", "b", "c"}) {
			p.t.Errorf("thread %s ends with %s (%v)", thread, outputs, err)
		}
		if times != want {
			p.t.Errorf("thread %s asked %d times, want %d", thread, times, want)
		}
	}
}

// TestVerifyNamesAll changes a row of one thread and a tombstone, and wants both told and the rest looked at.
func TestVerifyNamesAll(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "threads")
	p := placeOf(t, backend{"file", func(testing.TB) string { return "file:" + folder }})
	p.fill()
	v, err := p.Verify(t.Context(), "", nil)
	p.must(err)
	if len(v.Broken) > 0 || v.Threads != 2 || v.Tombstones != 1 {
		t.Fatalf("%+v", v)
	}
	hurt := func(file string, old, with string) {
		t.Helper()
		b, err := os.ReadFile(filepath.Join(folder, file))
		p.must(err)
		if !bytes.Contains(b, []byte(old)) {
			t.Fatalf("%s has no %s:\n%s", file, old, b)
		}
		p.must(os.WriteFile(filepath.Join(folder, file), bytes.Replace(b, []byte(old), []byte(with), 1), 0o600))
	}
	hurt("threads/first/decisions.jsonl", `"reviewer":"bo"`, `"reviewer":"xx"`)
	hurt("tombstones/deleted.json", `"decisions": 1`, `"decisions": 2`)
	v, err = p.Verify(t.Context(), "", nil)
	p.must(err)
	if len(v.Broken) != 2 || v.Threads != 2 || !strings.Contains(v.Broken[0], "thread first") || !strings.Contains(v.Broken[1], "thread deleted") {
		t.Errorf("%+v", v)
	}
}
