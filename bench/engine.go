package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/sqlite"
	"github.com/hitl-tui/hitl-tui/internal/engine"
)

// nodesOfAChain is how many nodes one measured run has; the table shows the share of one.
const nodesOfAChain = 1000

func engineRows() []row {
	return []row{
		{name: "engine, no store", target: "< 10 µs a node", ours: "a node of 1 KB, of a chain of 1000", rounds: 20, calls: 3, share: nodesOfAChain,
			setup: func(string) (*pair, error) { return chainOf(nil, nil) }},
		{name: "engine, durable", target: "", ours: "a node of 1 KB, of a chain of 1000", peer: "the same without a store", rounds: 5, calls: 1, share: nodesOfAChain,
			setup: chainAgainstNoStore},
	}
}

// chain is a graph whose nodes each write one key of about 1 KB.
func chain() (*engine.Graph, error) {
	payload, err := engine.ValueOf(strings.Repeat("x", 1000))
	if err != nil {
		return nil, err
	}
	run := engine.RunnerFunc(func(context.Context, *engine.Call) (engine.Result, error) {
		return engine.Result{Output: payload, Updates: map[string]engine.Value{"text": payload}}, nil
	})
	g := &engine.Graph{Name: "chain", Start: []string{"n0"}, StepLimit: nodesOfAChain + 1}
	for i := range nodesOfAChain {
		node := &engine.Node{Name: fmt.Sprintf("n%d", i), Kind: "bench", Runner: run, HasThen: true}
		if i < nodesOfAChain-1 {
			node.Then = []string{fmt.Sprintf("n%d", i+1)}
		}
		g.Nodes = append(g.Nodes, node)
	}
	return g, nil
}

// runChain gives a function that runs a whole chain as a new thread.
func runChain(store checkpoint.Store) (func() error, error) {
	g, err := chain()
	if err != nil {
		return nil, err
	}
	e := engine.New(store, engine.Options{})
	files := []checkpoint.File{{Path: "chain", Text: "chain"}}
	definition := checkpoint.Definition{Fingerprint: checkpoint.Fingerprint(files), Workflow: "chain", Files: files}
	return func() error {
		out, err := e.Start(context.Background(), engine.StartRequest{
			Graph: g, Definition: definition, Input: map[string]json.RawMessage{"text": json.RawMessage(`""`)}, Workdir: "/", By: "bench",
		})
		if err == nil && out.Status != checkpoint.Done {
			err = fmt.Errorf("the chain ended %s: %+v", out.Status, out.Error)
		}
		return err
	}, nil
}

func chainOf(store checkpoint.Store, close func() error) (*pair, error) {
	run, err := runChain(store)
	if err != nil {
		return nil, err
	}
	if close == nil {
		close = func() error { return nil }
	}
	return &pair{ours: run, close: close}, nil
}

func chainAgainstNoStore(dir string) (*pair, error) {
	store, err := sqlite.Open(context.Background(), filepath.Join(dir, "chain.db"), sqlite.Options{})
	if err != nil {
		return nil, err
	}
	p, err := chainOf(store, store.Close)
	if err != nil {
		return nil, err
	}
	p.peer, err = runChain(nil)
	return p, err
}
