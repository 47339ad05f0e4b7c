package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/memory"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is a time that moves when it is told to.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// sleep passes at once, and the time with it.
func (c *clock) sleep(ctx context.Context, d time.Duration) error {
	c.advance(d)
	return ctx.Err()
}

// shelf holds graphs by fingerprint.
type shelf struct {
	mu     sync.Mutex
	graphs map[string]*Graph
}

func (s *shelf) Graph(_ context.Context, d checkpoint.Definition) (*Graph, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.graphs[d.Fingerprint]; g != nil {
		return g, nil
	}
	return nil, fmt.Errorf("no graph for %s", d.Fingerprint)
}

// put registers a graph and returns its definition.
func (s *shelf) put(g *Graph) checkpoint.Definition {
	files := []checkpoint.File{{Path: g.Name + ".yaml", Text: fmt.Sprintf("%p", g)}}
	d := checkpoint.Definition{Fingerprint: checkpoint.Fingerprint(files), Workflow: g.Name, Files: files}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.graphs[d.Fingerprint] = g
	return d
}

// world is a store, a clock and a shelf that outlive engines, as a machine outlives processes.
type world struct {
	testing.TB
	store checkpoint.Store
	clock *clock
	shelf *shelf
	o     Options
	*Engine
}

func newWorld(t testing.TB) *world {
	c := newClock()
	return newWorldOn(t, memory.New(memory.Options{Now: c.now}), c)
}

func newWorldOn(t testing.TB, store checkpoint.Store, c *clock) *world {
	w := &world{TB: t, store: store, clock: c, shelf: &shelf{graphs: map[string]*Graph{}}}
	w.o = Options{Graphs: w.shelf, Holder: "test:1", Now: c.now, Sleep: c.sleep, Rand: func() float64 { return 0.5 }}
	w.Engine = New(w.store, w.o)
	t.Cleanup(func() { w.store.Close() })
	return w
}

// eachStore runs a test over memory and over a SQLite file.
func eachStore(t *testing.T, test func(t *testing.T, w *world)) {
	t.Run("memory", func(t *testing.T) { test(t, newWorld(t)) })
	t.Run("sqlite", func(t *testing.T) {
		c := newClock()
		store, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "desk.db"), sqlite.Options{Synchronous: "NORMAL", Now: c.now})
		if err != nil {
			t.Fatal(err)
		}
		test(t, newWorldOn(t, store, c))
	})
}

// engine makes another engine over the same store, as another process would be.
func (w *world) engine(change func(*Options)) *Engine {
	o := w.o
	if change != nil {
		change(&o)
	}
	return New(w.store, o)
}

func (w *world) start(g *Graph, input map[string]any) *Outcome {
	w.Helper()
	out, err := w.Start(context.Background(), w.request(g, input))
	if err != nil {
		w.Fatalf("start: %v", err)
	}
	return out
}

func (w *world) request(g *Graph, input map[string]any) StartRequest {
	w.Helper()
	in := map[string]json.RawMessage{}
	for key, v := range input {
		in[key] = js(v)
	}
	return StartRequest{Definition: w.shelf.put(g), Graph: g, Input: in, Workdir: "/work", By: "ana"}
}

// answer resumes with answers that must be accepted.
func (w *world) answer(thread string, answers ...Answer) *Outcome {
	w.Helper()
	out, err := w.Resume(context.Background(), ResumeRequest{Thread: thread, Answers: answers, By: "ana"})
	if err != nil {
		w.Fatalf("resume: %v", err)
	}
	return out
}

// say is an answer to the only open question.
func say(action actions.Action, data ...any) Answer {
	a := Answer{Action: string(action)}
	if len(data) > 0 {
		a.Data = js(data[0])
	}
	return a
}

// to is an answer to a named question.
func to(name string, action actions.Action, data ...any) Answer {
	a := say(action, data...)
	a.Interrupt = name
	return a
}

func js(v any) json.RawMessage {
	if raw, ok := v.(json.RawMessage); ok {
		return raw
	}
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// state is the state at the head, as JSON by key.
func (w *world) state(thread string) map[string]string {
	w.Helper()
	c, err := w.store.Latest(context.Background(), thread)
	if err != nil {
		w.Fatal(err)
	}
	all := map[string]string{}
	for key, v := range c.Channels.State() {
		all[key] = string(v)
	}
	return all
}

// history is one line a step: its source and what its runs did.
func (w *world) history(thread string) []string {
	w.Helper()
	var lines []string
	for c, err := range w.store.History(context.Background(), thread, false) {
		if err != nil {
			w.Fatal(err)
		}
		line := fmt.Sprintf("%d %s", c.Step, c.Source)
		for _, r := range c.Runs {
			line += fmt.Sprintf(" %s:%s", strings.TrimPrefix(r.Path, rootPath+"/"), strings.ToLower(r.Status))
		}
		lines = append(lines, line)
	}
	return lines
}

// ran tells how often each node's program was really called, in order.
type ran struct {
	mu    sync.Mutex
	calls []string
	on    func() // called at each; nil: nothing
}

func (r *ran) note(c *Call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, strings.TrimPrefix(c.Path, rootPath+"/"))
	if r.on != nil {
		r.on()
	}
}

func (r *ran) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.calls)
}

// node builds a node with a default edge to each of then.
func node(name string, run RunnerFunc, then ...string) *Node {
	return &Node{Name: name, Kind: "test", Runner: run, Then: then, HasThen: true}
}

// graph builds a graph that starts at its first node.
func graph(nodes ...*Node) *Graph {
	return &Graph{Name: "test", Start: []string{nodes[0].Name}, Nodes: nodes, Channels: map[string]Reducer{}}
}

// writes is a program that writes one key and gives the value as output.
func writes(key string, v any) RunnerFunc {
	return func(context.Context, *Call) (Result, error) {
		value, err := ValueOf(v)
		return Result{Output: value, Updates: map[string]Value{key: value}}, err
	}
}

// passes is a program that does nothing.
func passes(context.Context, *Call) (Result, error) { return Result{}, nil }

// noted wraps a program so that its calls are counted.
func noted(r *ran, run RunnerFunc) RunnerFunc {
	return func(ctx context.Context, c *Call) (Result, error) {
		r.note(c)
		return run(ctx, c)
	}
}

// asks is a program that asks one unnamed question.
func asks(q actions.Question) RunnerFunc {
	return func(context.Context, *Call) (Result, error) {
		return Result{Interrupts: []Ask{{Payload: js(q), ContentKey: q.ContentKey}}}, nil
	}
}

// keeps stores a node's whole output under a key.
func keeps(key string) func(Scope, Value) (map[string]Value, error) {
	return func(_ Scope, v Value) (map[string]Value, error) { return map[string]Value{key: v}, nil }
}

func addressesOf(out *Outcome) []string {
	var names []string
	for _, q := range out.Questions {
		names = append(names, q.Address)
	}
	return names
}
