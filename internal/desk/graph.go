package desk

import (
	"context"
	"slices"
)

// Graph is the workflow a thread runs, as its own definition says, with the way the thread took through it.
type Graph struct {
	Nodes []GraphNode // in file order
	Edges []GraphEdge // in the order of the nodes they leave
}

// GraphNode is one node. Of a nested workflow or map, what ran in it counts as its own.
type GraphNode struct {
	Name    string
	Kind    string // as the file names it: exec, human, map ...
	Start   bool
	State   NodeState // as of the latest run
	Runs    int       // that began
	Items   int       // of a map: items that began
	Waiting int       // node runs in it that wait
	Inner   *Graph    // of a nested workflow or map: what ran in it, all items together
}

// NodeState is how a node stands.
type NodeState string

// The states of nodes. A node in no state was not reached.
const (
	NodeDone      NodeState = "done"
	NodeWaiting   NodeState = "waiting"   // for an answer or a time
	NodeNext      NodeState = "next"      // runs, or would when the thread is carried on
	NodeFailed    NodeState = "failed"    // and nothing caught it
	NodeCancelled NodeState = "cancelled" // ended without completing
)

// GraphEdge leads from one node to one other.
type GraphEdge struct {
	From, To string // To is "" for END
	Kind     EdgeKind
	Unit     string   // of a label that is a bare number, for people: "exit", "HTTP"
	Label    string   // the route, action, exit code or HTTP status; the condition as it is written
	Taken    int      // how many times
	Said     []string // the decisions that took it, each once, the latest last: "retry (ana)"
}

// EdgeKind says when an edge is taken.
type EdgeKind string

// The kinds of edges.
const (
	EdgeRoute   EdgeKind = "route"   // by an answer's action, or the route a program names
	EdgeWhen    EdgeKind = "when"    // if a condition holds
	EdgeThen    EdgeKind = "then"    // otherwise
	EdgeFailure EdgeKind = "failure" // when the node failed, or was rejected or cancelled
	EdgeEnded   EdgeKind = "ended"   // in no file: a decision ended the thread here
	EdgeAgain   EdgeKind = "again"   // in no file: a decision had the node ask anew
)

// Took notes that the edge was taken once more.
func (e *GraphEdge) Took() { e.Taken++ }

// By notes a decision that took it.
func (e *GraphEdge) By(said string) {
	e.Said = append(slices.DeleteFunc(e.Said, func(x string) bool { return x == said }), said)
}

// Text is what is written at an edge: the latest decision that took it, else its label.
func (e GraphEdge) Text() string {
	switch {
	case len(e.Said) > 0:
		return e.Said[len(e.Said)-1]
	case e.Kind == EdgeFailure && e.Taken > 0:
		return "failed"
	case e.Kind == EdgeFailure:
		return "on failure"
	case e.Unit != "":
		return e.Unit + " " + e.Label
	}
	return e.Label
}

// Grapher tells the graph of a thread.
type Grapher interface {
	Graph(ctx context.Context, thread string) (*Graph, error)
}

// Graph reads the workflow of a thread with the way the thread took.
func (d *Desk) Graph(ctx context.Context, thread string) (*Graph, error) {
	g, ok := d.source.(Grapher)
	if !ok {
		return nil, unsupported("tell the graph of a thread")
	}
	id, err := d.resolve(ctx, thread)
	if err != nil {
		return nil, err
	}
	return g.Graph(ctx, id)
}
