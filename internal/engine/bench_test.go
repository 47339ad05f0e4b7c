package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
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
