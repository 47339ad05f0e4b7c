package local_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	goredis "github.com/redis/go-redis/v9"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
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
	fresh func(t *testing.T) string // URL of an empty store, which is gone when t ends
}

var freshStores atomic.Int64

// backends are all kinds of stores; a server that is not there skips its kind, unless CI is set.
func backends() []backend {
	missing := func(t *testing.T, what, variable string, err error) {
		if os.Getenv("CI") == "true" {
			t.Fatalf("no %s at %s, and CI wants one: %v", what, variable, err)
		}
		t.Skipf("no %s at %s: %v", what, variable, err)
	}
	name := func() string {
		return fmt.Sprintf("test_moving_%d_%d", os.Getpid(), freshStores.Add(1))
	}
	return []backend{
		{"memory", func(*testing.T) string { return "memory:" }},
		{"file", func(t *testing.T) string { return "file:" + filepath.Join(t.TempDir(), "threads") }},
		{"sqlite", func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "desk.db") }},
		{"redis", func(t *testing.T) string {
			url := cmp.Or(os.Getenv("HITL_TEST_REDIS"), "redis://127.0.0.1:6379/0")
			o, err := goredis.ParseURL(url)
			if err != nil {
				t.Fatal(err)
			}
			c := goredis.NewClient(o)
			if err := c.Ping(t.Context()).Err(); err != nil {
				c.Close()
				missing(t, "Redis server", "HITL_TEST_REDIS", err)
			}
			prefix := name() + ":"
			t.Cleanup(func() {
				defer c.Close()
				for keys := c.Scan(context.Background(), 0, prefix+"*", 1000).Iterator(); keys.Next(context.Background()); {
					c.Unlink(context.Background(), keys.Val())
				}
			})
			return url + "?prefix=" + prefix
		}},
		{"postgres", func(t *testing.T) string {
			url := cmp.Or(os.Getenv("HITL_TEST_POSTGRES"), "postgres://postgres@127.0.0.1:5432/postgres?sslmode=disable&connect_timeout=5")
			conn, err := pgx.Connect(t.Context(), url)
			if err != nil {
				missing(t, "PostgreSQL server", "HITL_TEST_POSTGRES", err)
			}
			schema := name()
			t.Cleanup(func() {
				defer conn.Close(context.Background())
				if _, err := conn.Exec(context.Background(), "DROP SCHEMA IF EXISTS "+schema+" CASCADE"); err != nil {
					t.Error(err)
				}
			})
			return url + "&search_path=" + schema
		}},
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
	source.OpenBackup = func(ctx context.Context, file string) (checkpoint.Store, error) {
		return open.Open(ctx, "sqlite:"+file, open.Options{ReadOnly: true})
	}
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
	verified, err := other.Verify(p.t.Context(), "")
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
