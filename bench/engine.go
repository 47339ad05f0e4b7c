package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/memory"
	"github.com/hitl-tui/hitl-tui/internal/engine"
)

// many is how many nodes, items or branches one measured run has; the table shows the share of one.
const many = 1000

func engineRows() []row {
	loop := "a step of a loop, on the same"
	return []row{
		{name: "engine, no store", target: "<= 5 µs", ours: "a node of 1 KB, of a chain of 1000", peer: "1 KB to JSON and back", rounds: 20, calls: 3, share: many,
			setup: func(string) (*pair, error) { return against(nil, chainGraph(), nil, roundTrips) }},
		{name: "engine, memory", ours: "a step of 1 KB, of a loop of 1000", peer: "the same without a store", rounds: 10, calls: 1, share: many,
			setup: func(string) (*pair, error) { return loopAgainstNoStore(newMemory(), nil) }},
		{name: "engine, SQLite", ours: "a step of 1 KB, of a loop of 1000", peer: "the same without a store", rounds: 5, calls: 1, share: many,
			setup: func(dir string) (*pair, error) { return loopAgainstNoStore(openStore(dir)) }},
		{name: "map of 1000, no store", ours: "an item of one node, 8 at a time", peer: loop, rounds: 10, calls: 1, share: many,
			setup: func(string) (*pair, error) { return againstLoop(nil, mapGraph(), list()) }},
		{name: "map of 1000, memory", ours: "an item of one node, 8 at a time", peer: loop, rounds: 5, calls: 1, share: many,
			setup: func(string) (*pair, error) { return againstLoop(newMemory(), mapGraph(), list()) }},
		{name: "map of 1000, SQLite", target: "ratio < 1", ours: "an item of one node, 8 at a time", peer: loop, rounds: 5, calls: 1, share: many,
			setup: func(dir string) (*pair, error) { return onDisk(dir, mapGraph(), list()) }},
		{name: "fan-out of 1000, no store", ours: "a branch, 8 at a time", peer: loop, rounds: 10, calls: 1, share: many,
			setup: func(string) (*pair, error) { return againstLoop(nil, fanGraph(), nil) }},
		{name: "fan-out of 1000, SQLite", target: "ratio < 1", ours: "a branch, 8 at a time", peer: loop, rounds: 5, calls: 1, share: many,
			setup: func(dir string) (*pair, error) { return onDisk(dir, fanGraph(), nil) }},
	}
}

// node makes a node that calls run and goes on to then.
func node(name string, run engine.RunnerFunc, then ...string) *engine.Node {
	return &engine.Node{Name: name, Kind: "bench", Runner: run, Then: then, HasThen: true}
}

// writer gives and writes about 1 KB.
func writer() engine.RunnerFunc {
	payload := engine.RawValue(text(1 << 10))
	return func(context.Context, *engine.Call) (engine.Result, error) {
		return engine.Result{Output: payload, Updates: map[string]engine.Value{"text": payload}}, nil
	}
}

func nothing(context.Context, *engine.Call) (engine.Result, error) { return engine.Result{}, nil }

// loopGraph has one node that runs many times and each time writes the same key of 1 KB. One thread of it runs at a time.
func loopGraph() *engine.Graph {
	loop, left := node("loop", writer()), many
	loop.When = []engine.Branch{{Then: []string{"loop"}, If: func(engine.Scope, engine.Value) (bool, error) {
		if left--; left > 0 {
			return true, nil
		}
		left = many
		return false, nil
	}}}
	return &engine.Graph{Name: "loop", Start: []string{"loop"}, Nodes: []*engine.Node{loop}, StepLimit: many + 1}
}

// chainGraph has many nodes that each write the same key of 1 KB.
func chainGraph() *engine.Graph {
	g := &engine.Graph{Name: "chain", Start: []string{"n0"}, StepLimit: many + 1}
	run := writer()
	for i := range many {
		g.Nodes = append(g.Nodes, node(fmt.Sprintf("n%d", i), run))
		if i > 0 {
			g.Nodes[i-1].Then = []string{g.Nodes[i].Name}
		}
	}
	return g
}

// mapGraph maps one node over the state key list.
func mapGraph() *engine.Graph {
	one, _ := engine.ValueOf(1)
	body := &engine.Graph{Name: "item", Start: []string{"n"}, Nodes: []*engine.Node{node("n", func(context.Context, *engine.Call) (engine.Result, error) {
		return engine.Result{Output: one, Updates: map[string]engine.Value{"x": one}}, nil
	})}}
	each := &engine.Node{Name: "each", Kind: "bench", HasThen: true, Map: &engine.MapSpec{
		Body: body, Items: func(s engine.Scope) (engine.Value, error) { v, _ := s.Lookup("list"); return v, nil },
	}}
	return &engine.Graph{Name: "map", Start: []string{"each"}, Nodes: []*engine.Node{each}, StepLimit: 1 << 30}
}

func list() map[string]json.RawMessage { return listOf(many) }

func listOf(n int) map[string]json.RawMessage {
	return map[string]json.RawMessage{"list": json.RawMessage("[" + strings.Repeat("0,", n-1) + "0]")}
}

// fanGraph has one node that leads to many at once.
func fanGraph() *engine.Graph {
	first := node("first", nothing)
	g := &engine.Graph{Name: "fan", Start: []string{"first"}, Nodes: []*engine.Node{first}}
	for i := range many {
		first.Then = append(first.Then, fmt.Sprintf("n%d", i))
		g.Nodes = append(g.Nodes, node(first.Then[i], nothing))
	}
	return g
}

// newMemory is a store in memory.
func newMemory() checkpoint.Store { return memory.New(memory.Options{}) }

// request starts a thread of a graph.
func request(g *engine.Graph, input map[string]json.RawMessage) engine.StartRequest {
	files := []checkpoint.File{{Path: g.Name, Text: g.Name}}
	return engine.StartRequest{
		Graph: g, Input: input, Workdir: "/", By: "bench",
		Definition: checkpoint.Definition{Fingerprint: checkpoint.Fingerprint(files), Workflow: g.Name, Files: files},
	}
}

// runs gives a function that runs a graph to its end, as a new thread each time.
func runs(store checkpoint.Store, g *engine.Graph, input map[string]json.RawMessage) func() error {
	e, r := engine.New(store, engine.Options{}), request(g, input)
	return func() error {
		out, err := e.Start(context.Background(), r)
		if err == nil && out.Status != checkpoint.Done {
			err = fmt.Errorf("%s ended %s: %+v", g.Name, out.Status, out.Error)
		}
		return err
	}
}

// against pairs runs of a graph with a peer. A nil store is none.
func against(store checkpoint.Store, g *engine.Graph, input map[string]json.RawMessage, peer func() error) (*pair, error) {
	p := &pair{ours: runs(store, g, input), peer: peer, close: func() error { return nil }}
	if store != nil {
		p.close = store.Close
	}
	return p, nil
}

func againstLoop(store checkpoint.Store, g *engine.Graph, input map[string]json.RawMessage) (*pair, error) {
	return against(store, g, input, runs(store, loopGraph(), nil))
}

func onDisk(dir string, g *engine.Graph, input map[string]json.RawMessage) (*pair, error) {
	store, err := openStore(dir)
	if err != nil {
		return nil, err
	}
	return againstLoop(store, g, input)
}

func loopAgainstNoStore(store checkpoint.Store, err error) (*pair, error) {
	if err != nil {
		return nil, err
	}
	return against(store, loopGraph(), nil, runs(nil, loopGraph(), nil))
}

// roundTrips encodes and decodes the state of a chain as often as it has nodes: what an engine does at the least that
// keeps its state as text.
func roundTrips() error {
	state := map[string]string{"text": strings.Repeat("x", 1<<10)}
	for range many {
		raw, err := json.Marshal(state)
		if err := errors.Join(err, json.Unmarshal(raw, &state)); err != nil {
			return err
		}
	}
	return nil
}
