package server_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
)

// TestGraph: who may only read is told the workflow of a thread, where it stands and which decision took it there.
func TestGraph(t *testing.T) {
	w := newWorld(t, setting{})
	w.start("notes", "t-0001", `{"topic":"tea"}`)
	w.resume("t-0001", `{"action":"retry","reviewer":"ana"}`).want(t, 200, "")
	a := w.call(reader, "GET", "/v1/threads/t-0001/graph", "")
	a.want(t, 200, "")
	var g wire.Graph
	if err := json.Unmarshal([]byte(a.body), &g); err != nil {
		t.Fatal(err)
	}
	if len(g.Nodes) != 2 || g.Nodes[0].Name != "draft" || !g.Nodes[0].Start || g.Nodes[0].Runs != 2 || *g.Nodes[1].State != "waiting" {
		t.Errorf("nodes %s", a.body)
	}
	back := slices.IndexFunc(g.Edges, func(e wire.GraphEdge) bool { return e.Kind == "route" && e.To != nil && *e.To == "draft" })
	if back < 0 || g.Edges[back].Taken != 1 || !slices.Equal(g.Edges[back].Said, []string{"retry (ana)"}) {
		t.Errorf("edges %s", a.body)
	}
	end := slices.ContainsFunc(g.Edges, func(e wire.GraphEdge) bool { return e.From == "review" && e.To == nil && e.Taken == 0 })
	if !end {
		t.Errorf("no way to the end: %s", a.body)
	}
	w.call(reader, "GET", "/v1/threads/0001/graph", "").want(t, 404, "not_found")
	w.call("wrong", "GET", "/v1/threads/t-0001/graph", "").want(t, 401, "unauthorised")
}
