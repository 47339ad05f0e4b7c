package engine_test

import (
	"context"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/engine"
)

// Expressions on edges and in outputs get the time from their scope, so that it is the injected one.
func TestScopeHasTheEnginesClock(t *testing.T) {
	at := time.Date(2026, 11, 29, 18, 0, 0, 0, time.UTC)
	var onEdge, inOutput, inNode time.Time
	read := func(s engine.Scope) time.Time { return s.(interface{ Now() time.Time }).Now() }
	g := &engine.Graph{
		Name: "clock", Start: []string{"a"},
		Nodes: []*engine.Node{{
			Name: "a", Kind: "set",
			Runner: engine.RunnerFunc(func(_ context.Context, c *engine.Call) (engine.Result, error) {
				inNode = read(c.Scope)
				return engine.Result{}, nil
			}),
			When:    []engine.Branch{{If: func(s engine.Scope, _ engine.Value) (bool, error) { onEdge = read(s); return true, nil }}},
			HasThen: true,
		}},
		Output: func(s engine.Scope) (engine.Value, error) { inOutput = read(s); return engine.Value{}, nil },
	}
	e := engine.New(nil, engine.Options{Now: func() time.Time { return at }})
	if _, err := e.Start(context.Background(), engine.StartRequest{Graph: g}); err != nil {
		t.Fatal(err)
	}
	for place, got := range map[string]time.Time{"node": inNode, "edge": onEdge, "output": inOutput} {
		if !got.Equal(at) {
			t.Errorf("%s: got %v, want %v", place, got, at)
		}
	}
}
