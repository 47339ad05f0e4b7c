package wire

import "github.com/hitl-tui/hitl-tui/internal/desk"

// Graph is `show --graph --json` and GET /v1/threads/{id}/graph: the workflow a thread runs, with the way it took.
type Graph struct {
	Nodes []GraphNode `json:"nodes"`
	Edges []GraphEdge `json:"edges"`
}

// GraphNode is one node.
type GraphNode struct {
	Name    string  `json:"name"`
	Kind    string  `json:"kind"`
	Start   bool    `json:"start"`
	State   *string `json:"state"` // done, waiting, next, failed, cancelled; null: not reached
	Runs    int     `json:"runs"`
	Items   int     `json:"items"`   // of a map: that began
	Waiting int     `json:"waiting"` // node runs in a nested workflow or map that wait
	Inner   *Graph  `json:"inner"`   // of a nested workflow or map
}

// GraphEdge leads from one node to one other.
type GraphEdge struct {
	From  string   `json:"from"`
	To    *string  `json:"to"`   // null: END
	Kind  string   `json:"kind"` // route, when, then, failure; ended, again: by a decision, in no file
	Label *string  `json:"label"`
	Taken int      `json:"taken"`
	Said  []string `json:"said"` // the decisions that took it
}

// FromGraph keeps the order.
func FromGraph(g *desk.Graph) *Graph {
	if g == nil {
		return nil
	}
	x := &Graph{Nodes: []GraphNode{}, Edges: []GraphEdge{}}
	for _, n := range g.Nodes {
		x.Nodes = append(x.Nodes, GraphNode{n.Name, n.Kind, n.Start, text(string(n.State)), n.Runs, n.Items, n.Waiting, FromGraph(n.Inner)})
	}
	for _, e := range g.Edges {
		x.Edges = append(x.Edges, GraphEdge{e.From, text(e.To), string(e.Kind), text(e.Label), e.Taken, list(e.Said)})
	}
	return x
}
