package graph

import (
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
)

// end is how END is called in a drawing.
const end = "END"

// node is a node to draw.
type node struct {
	desk.GraphNode
	name    string // safe
	end     bool
	unknown bool // an edge leads to it, and it is not there
	next    []int
	into    int // edges from above
}

// edge is all that leads from one node to another.
type edge struct {
	from, to int
	taken    bool
	text     string
	fails    bool // it is only taken when something goes wrong
}

// plan is a graph with its nodes in the order in which they are drawn.
type plan struct {
	nodes []node
	edges []edge
	order []int  // of nodes, from top to bottom
	at    []int  // where each stands in the order
	came  []bool // an edge that was taken leads to it
}

func newPlan(g *desk.Graph) *plan {
	p := &plan{}
	index := map[string]int{}
	for _, n := range g.Nodes {
		if _, twice := index[n.Name]; !twice && n.Name != "" {
			index[n.Name] = len(p.nodes)
			p.nodes = append(p.nodes, node{GraphNode: n, name: sanitize.Line(n.Name)})
		}
	}
	leave := map[string]int{}
	for _, e := range g.Edges {
		leave[e.From]++
	}
	merged := map[[2]int][]desk.GraphEdge{}
	var pairs [][2]int
	for _, e := range g.Edges {
		from, known := index[e.From]
		if !known || e.To == "" && leave[e.From] == 1 && e.Text() == "" {
			continue // a node behind which nothing comes says so by itself
		}
		to, known := index[e.To]
		if !known {
			to = len(p.nodes)
			index[e.To] = to
			p.nodes = append(p.nodes, newEnd(e))
		}
		pair := [2]int{from, to}
		if merged[pair] == nil {
			pairs = append(pairs, pair)
		}
		merged[pair] = append(merged[pair], e)
	}
	for _, pair := range pairs {
		p.nodes[pair[0]].next = append(p.nodes[pair[0]].next, len(p.edges))
		p.edges = append(p.edges, merge(pair[0], pair[1], merged[pair]))
	}
	p.sort()
	return p
}

// newEnd is what an edge leads to where no node is.
func newEnd(e desk.GraphEdge) node {
	if e.To == "" {
		return node{name: end, end: true}
	}
	return node{GraphNode: desk.GraphNode{Name: e.To}, name: sanitize.Line(e.To), unknown: true}
}

// merge makes one edge of all between two nodes. What is written at it are the decisions that took it, else all its labels.
func merge(from, to int, all []desk.GraphEdge) edge {
	x := edge{from: from, to: to, fails: true}
	for _, e := range all {
		x.taken = x.taken || e.Taken > 0
		x.fails = x.fails && e.Kind == desk.EdgeFailure
	}
	var texts []string
	for _, e := range all {
		if text := sanitize.Line(e.Text()); text != "" && (e.Taken > 0 || !x.taken) && !slices.Contains(texts, text) {
			texts = append(texts, text)
		}
	}
	x.text = strings.Join(texts, ", ")
	return x
}

// sort puts the nodes in an order in which edges lead down unless they close a loop: what comes first of several stands
// right below. END is last.
func (p *plan) sort() {
	state := make([]bool, len(p.nodes))
	var roots, others []int
	hasBefore := make([]bool, len(p.nodes))
	for _, e := range p.edges {
		hasBefore[e.to] = hasBefore[e.to] || e.from != e.to
	}
	for i, n := range p.nodes {
		switch {
		case n.Start:
			roots = append(roots, i)
		case !hasBefore[i]:
			others = append(others, i)
		}
	}
	others = append(others, rangeOf(len(p.nodes))...)
	p.order = append(p.reach(roots, state), p.reach(others, state)...)
	p.order = slices.DeleteFunc(p.order, func(i int) bool { return p.nodes[i].end })
	for i, n := range p.nodes {
		if n.end {
			p.order = append(p.order, i)
		}
	}
	p.at, p.came = make([]int, len(p.nodes)), make([]bool, len(p.nodes))
	for at, i := range p.order {
		p.at[i] = at
	}
	for _, e := range p.edges {
		p.came[e.to] = p.came[e.to] || e.taken
		if p.at[e.to] > p.at[e.from] {
			p.nodes[e.to].into++
		}
	}
}

// reach lists the nodes that are reached from the roots and were not seen before, those of an edge after the one it leaves
// unless it closes a loop. It keeps its own stack: a chain may be as long as the file.
func (p *plan) reach(roots []int, seen []bool) []int {
	type place struct{ node, left int }
	var post []int
	for _, root := range slices.Backward(roots) {
		if seen[root] {
			continue
		}
		seen[root] = true
		stack := []place{{root, len(p.nodes[root].next)}}
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.left == 0 {
				post = append(post, top.node)
				stack = stack[:len(stack)-1]
				continue
			}
			top.left--
			if to := p.edges[p.nodes[top.node].next[top.left]].to; !seen[to] {
				seen[to] = true
				stack = append(stack, place{to, len(p.nodes[to].next)})
			}
		}
	}
	slices.Reverse(post)
	return post
}

func rangeOf(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}
