package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/sqlite"
)

// chain is a graph of n nodes that each write one key of about 1 KB.
func chain(n int) *Graph {
	g := &Graph{Name: "chain", Start: []string{"n0"}, StepLimit: n + 1}
	payload := text(strings.Repeat("x", 1000))
	runner := RunnerFunc(func(ctx context.Context, c *Call) (Result, error) {
		return Result{Output: payload, Updates: map[string]Value{"text": payload}}, nil
	})
	for i := range n {
		node := &Node{Name: fmt.Sprintf("n%d", i), Kind: "test", Runner: runner, HasThen: true}
		if i < n-1 {
			node.Then = []string{fmt.Sprintf("n%d", i+1)}
		}
		g.Nodes = append(g.Nodes, node)
	}
	return g
}

func BenchmarkStepNoStore(b *testing.B) {
	const nodes = 1000
	e, g := New(nil, Options{}), chain(nodes)
	input := map[string]json.RawMessage{"text": json.RawMessage(`"` + strings.Repeat("y", 1000) + `"`)}
	b.ReportAllocs()
	for b.Loop() {
		out, err := e.Start(context.Background(), StartRequest{Graph: g, Input: input})
		if err != nil || out.Status != "done" || out.Steps != nodes {
			b.Fatal(err, out)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*nodes), "ns/node")
}

// perNode runs a graph without a store and reports the time for each of the node runs it makes.
func perNode(b *testing.B, g *Graph, runs int, input map[string]json.RawMessage) {
	e := New(nil, Options{})
	b.ReportAllocs()
	for b.Loop() {
		out, err := e.Start(context.Background(), StartRequest{Graph: g, Input: input})
		if err != nil || out.Status != "done" {
			b.Fatal(err, out)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*runs), "ns/node")
}

// numbers1000 is an input: a list of 1,000 items.
func numbers1000() map[string]json.RawMessage {
	return map[string]json.RawMessage{"list": js(make([]int, 1000))}
}

// BenchmarkMapNoStore: a map over 1,000 items of one node each, all at once and eight at a time.
func BenchmarkMapNoStore(b *testing.B) {
	for _, parallel := range []int{8, 1000} {
		b.Run(fmt.Sprintf("parallel=%d", parallel), func(b *testing.B) {
			n := each("each", "list", graph(node("n", writes("x", 1))))
			n.Map.MaxParallel = parallel
			perNode(b, graph(n), 1000, numbers1000())
		})
	}
}

// BenchmarkDepthNoStore: a node in a workflow in a workflow, 50 deep.
func BenchmarkDepthNoStore(b *testing.B) {
	g := graph(node("n", writes("x", 1)))
	for range 50 {
		g = graph(inside("sub", g, nil))
	}
	perNode(b, g, 51, nil)
}

// BenchmarkFanOutNoStore: 1,000 nodes side by side.
func BenchmarkFanOutNoStore(b *testing.B) {
	first := node("first", passes)
	g := graph(first)
	for i := range 1000 {
		first.Then = append(first.Then, fmt.Sprintf("n%d", i))
		g.Nodes = append(g.Nodes, node(fmt.Sprintf("n%d", i), passes))
	}
	perNode(b, g, 1001, nil)
}

// forgetful is a store that takes commits and keeps nothing of them: what is left is what the engine does.
type forgetful struct{ checkpoint.Store }

func (forgetful) Commit(_ context.Context, c checkpoint.Commit) (checkpoint.Version, error) {
	return checkpoint.Version{Step: c.Checkpoint.Step, Revision: 1}, nil
}

func (forgetful) PutDefinition(context.Context, checkpoint.Definition) error { return nil }

func (forgetful) AddResult(context.Context, string, string, checkpoint.PendingResult) error {
	return nil
}

// BenchmarkStepBesideFrames: what the engine does for a step, a commit included, beside a map whose items have ended or
// wait for people. It must not grow with what has ended; with what waits it grows by what a checkpoint lists of open
// questions.
func BenchmarkStepBesideFrames(b *testing.B) {
	for _, kind := range []string{"finished", "parked"} {
		for _, items := range []int{10, 100, 1000} {
			b.Run(fmt.Sprintf("%s=%d", kind, items), func(b *testing.B) { besideFrames(b, kind, items) })
		}
	}
}

func besideFrames(b *testing.B, kind string, items int) {
	const begin, steps = 10, 2000
	body := graph(node("ask", func(ctx context.Context, c *Call) (Result, error) {
		if index, _ := c.Scope.Lookup("index"); kind == "finished" && index.Any() != 0 {
			return Result{}, nil
		}
		return asks(plainQuestion)(ctx, c)
	}))
	n := each("each", "list", body)
	n.Map.MaxParallel, n.Map.MaxWaiting = items, items
	loop, left := node("loop", passes), 0
	var began time.Time
	var took time.Duration
	loop.When = []Branch{{Then: []string{"loop"}, If: func(Scope, Value) (bool, error) {
		if left--; left == steps {
			began = time.Now()
		}
		return left > 0, nil
	}}}
	g := graph(node("first", passes, "each", "loop"), n, loop)
	g.StepLimit = 1 << 30
	e := New(forgetful{}, Options{LeaseTTL: time.Hour})
	input := map[string]json.RawMessage{"list": js(make([]int, items))}
	for b.Loop() {
		left = steps + begin
		out, err := e.Start(context.Background(), StartRequest{Graph: g, Input: input})
		took += time.Since(began)
		if err != nil || out.Status != checkpoint.Interrupted || out.Steps < steps {
			b.Fatal(err, out)
		}
	}
	b.ReportMetric(float64(took.Nanoseconds())/float64(b.N*steps), "ns/step")
}

// BenchmarkMapStored: a map over 1,000 items of one node each, eight at a time, on SQLite.
func BenchmarkMapStored(b *testing.B) {
	c := newClock()
	store, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "desk.db"), sqlite.Options{Synchronous: "NORMAL", Now: c.now})
	if err != nil {
		b.Fatal(err)
	}
	w := newWorldOn(b, store, c)
	n := each("each", "list", graph(node("n", writes("x", 1))))
	g := graph(n)
	for b.Loop() {
		if out := w.start(g, map[string]any{"list": make([]int, 1000)}); out.Status != checkpoint.Done {
			b.Fatal(out)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*1000), "ns/item")
}
