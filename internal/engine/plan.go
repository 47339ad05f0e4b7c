package engine

import (
	"errors"
	"fmt"
	"slices"
)

// plan is what the scheduler derives from a Graph once: indexes for names, predecessors, reachability.
type plan struct {
	index map[string]int
	nodes []planned
	start []int
}

// planned is one node with its neighbours by index.
type planned struct {
	*Node
	join  Join
	preds []string // names, in file order; START for a start node's own trigger
	next  []int    // every node an edge of any kind leads to
}

// startName is the predecessor of the nodes in Graph.Start.
const startName = "START"

// plan derives the plan, or returns the one derived before.
func (g *Graph) plan() (*plan, error) { return g.planIn(nil) }

// planIn derives the plan of a graph that those in around contain.
func (g *Graph) planIn(around []*Graph) (*plan, error) {
	if p := g.derived.Load(); p != nil {
		return p, nil
	}
	if slices.Contains(around, g) {
		return nil, fmt.Errorf("workflow %s contains itself", g.Name)
	}
	p, err := derive(g, append(around, g))
	if err != nil {
		return nil, fmt.Errorf("workflow %s: %w", g.Name, err)
	}
	g.derived.Store(p)
	return p, nil
}

// Check refuses a graph that cannot be run: duplicate or missing names, edges to nodes that are not there, a node
// that does nothing or two things. The loader of workflow files finds the same, and more, with line and column.
func (g *Graph) Check() error {
	_, err := g.plan()
	return err
}

func derive(g *Graph, around []*Graph) (*plan, error) {
	p := &plan{index: make(map[string]int, len(g.Nodes)), nodes: make([]planned, len(g.Nodes))}
	var errs []error
	for i, n := range g.Nodes {
		if _, twice := p.index[n.Name]; twice {
			errs = append(errs, fmt.Errorf("two nodes are named %q", n.Name))
		}
		p.index[n.Name] = i
		p.nodes[i] = planned{Node: n, join: n.Join}
		if n.Join == "" {
			p.nodes[i].join = JoinEach
		}
		errs = append(errs, n.check(around))
	}
	if len(g.Start) == 0 {
		errs = append(errs, errors.New("no start node"))
	}
	for _, name := range g.Start {
		i, err := p.find("start", name)
		errs = append(errs, err)
		if err == nil {
			p.start = append(p.start, i)
			p.nodes[i].preds = append(p.nodes[i].preds, startName)
		}
	}
	for i, n := range g.Nodes {
		if name := n.twice(); name != "" {
			errs = append(errs, fmt.Errorf("node %q: one edge leads to %q twice", n.Name, name))
		}
		for _, name := range n.targets() {
			j, err := p.find(fmt.Sprintf("node %q", n.Name), name)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			if !slices.Contains(p.nodes[i].next, j) {
				p.nodes[i].next = append(p.nodes[i].next, j)
				p.nodes[j].preds = append(p.nodes[j].preds, n.Name)
			}
		}
	}
	for key, r := range g.Channels {
		if _, ok := reducers[r]; !ok && r != "" {
			errs = append(errs, fmt.Errorf("state key %q: unknown reducer %q", key, r))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *plan) find(from, name string) (int, error) {
	i, ok := p.index[name]
	if !ok {
		return 0, fmt.Errorf("%s leads to %q, which does not exist", from, name)
	}
	return i, nil
}

func (n *Node) check(around []*Graph) error {
	works := 0
	for _, has := range []bool{n.Runner != nil, n.Sub != nil, n.Map != nil} {
		if has {
			works++
		}
	}
	switch {
	case n.Name == "":
		return errors.New("a node has no name")
	case works != 1:
		return fmt.Errorf("node %q must have exactly one of a runner, a nested workflow and a map", n.Name)
	}
	if err := n.checkNested(around); err != nil {
		return fmt.Errorf("node %q: %w", n.Name, err)
	}
	switch n.Join {
	case "", JoinEach, JoinAll, JoinArrived, JoinStep:
		return nil
	}
	return fmt.Errorf("node %q: unknown join %q", n.Name, n.Join)
}

// checkNested refuses a nested graph that cannot be run.
func (n *Node) checkNested(around []*Graph) error {
	g := n.Nested()
	switch {
	case !n.nests():
		return nil
	case g == nil:
		return errors.New("has no graph to run in it")
	case n.Map != nil && n.Map.Items == nil:
		return errors.New("a map has no items")
	case n.RerunOnResume:
		return errors.New("a nested workflow or map is not run again: its frames go on")
	}
	_, err := g.planIn(around)
	return err
}

// nests reports whether the node's work is done in frames of its own.
func (n *Node) nests() bool { return n.Sub != nil || n.Map != nil }

// Nested is the graph that runs in frames of the node: of a nested workflow, or the body of a map. nil without.
func (n *Node) Nested() *Graph {
	switch {
	case n.Sub != nil:
		return n.Sub.Graph
	case n.Map != nil:
		return n.Map.Body
	}
	return nil
}

// targets are all nodes an edge of n leads to, in a fixed order.
func (n *Node) targets() []string {
	var all []string
	for _, e := range n.Edges() {
		all = append(all, e.To...)
	}
	return all
}

// twice is a node that one edge of n names more than once, "" without.
func (n *Node) twice() string {
	for _, e := range n.Edges() {
		for i, name := range e.To {
			if slices.Contains(e.To[:i], name) {
				return name
			}
		}
	}
	return ""
}

// reachable marks every node that can be reached from those in from, themselves included, without passing through
// the node avoid (below 0: none).
func (p *plan) reachable(from []int, avoid int) []bool {
	seen := make([]bool, len(p.nodes))
	stack := slices.Clone(from)
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if seen[i] {
			continue
		}
		seen[i] = true
		for _, j := range p.nodes[i].next {
			if j != avoid {
				stack = append(stack, j)
			}
		}
	}
	return seen
}
