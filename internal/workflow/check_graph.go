package workflow

import (
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// flow is the file as a graph of node numbers in file order.
type flow struct {
	nodes  []*nodeDef
	next   [][]int // every edge
	onward [][]int // every edge but the ways of a retry
	plain  [][]int // edges taken without a route, a condition or a question
	start  []int
	index  map[string]int
}

func (b *builder) flow() *flow {
	nodes := b.file.nodes.list
	f := &flow{nodes: nodes, index: make(map[string]int, len(nodes))}
	f.next, f.onward, f.plain = make([][]int, len(nodes)), make([][]int, len(nodes)), make([][]int, len(nodes))
	for i, n := range nodes {
		f.index[n.name] = i
	}
	for i, n := range nodes {
		for _, t := range n.targets() {
			f.next[i] = append(f.next[i], f.numbers(t)...)
			if !n.goesBack(t) {
				f.onward[i] = append(f.onward[i], f.numbers(t)...)
			}
		}
		if len(n.routes.list) == 0 && len(n.when.list) == 0 && !n.mayAsk() {
			f.plain[i] = f.numbers(&n.then)
		}
	}
	f.start = []int{0}
	if b.file.start.given {
		f.start = f.numbers(&b.file.start)
	}
	return f
}

func (f *flow) numbers(t *targets) []int {
	var list []int
	for _, x := range t.list {
		list = append(list, f.index[x.name])
	}
	return list
}

// checkGraph reports nodes that are never reached, loops that nothing ends, and branches that meet unsaid.
func (b *builder) checkGraph() {
	f := b.flow()
	seen := f.reach(f.start)
	report := b.fault
	if b.lenient {
		report = b.warn
	}
	for i, n := range f.nodes {
		if !seen[i] {
			report(n.at, "node %q is never reached", n.name)
		}
	}
	for _, loop := range f.loops() {
		var path []string
		for _, i := range append(loop, loop[0]) {
			path = append(path, f.nodes[i].name)
		}
		report(f.nodes[loop[0]].at, "nothing ends this loop: %s", strings.Join(path, " -> "))
	}
	if !b.lenient {
		b.checkJoins(f)
	}
}

// reach marks every node that can be reached.
func (f *flow) reach(from []int) []bool {
	seen := make([]bool, len(f.nodes))
	queue := slices.Clone(from)
	for _, i := range from {
		seen[i] = true
	}
	for len(queue) > 0 {
		i := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, j := range f.next[i] {
			if !seen[j] {
				seen[j] = true
				queue = append(queue, j)
			}
		}
	}
	return seen
}

// loops are cycles of plain edges: of each set of nodes that lead to one another the shortest through its first node
// in file order.
func (f *flow) loops() [][]int {
	group := groups(f.plain)
	told := map[int]bool{}
	var found [][]int
	for i := range f.nodes {
		if told[group[i]] {
			continue
		}
		told[group[i]] = true
		if loop := f.cycle(i, group); loop != nil {
			found = append(found, loop)
		}
	}
	return found
}

// cycle is the shortest way from a node back to it within its group, nil when there is none.
func (f *flow) cycle(first int, group []int) []int {
	before := map[int]int{}
	queue := []int{first}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		for _, j := range f.plain[i] {
			if _, seen := before[j]; seen || group[j] != group[first] {
				continue
			}
			before[j] = i
			if j == first {
				loop := []int{first}
				for at := before[first]; at != first; at = before[at] {
					loop = append(loop, at)
				}
				slices.Reverse(loop[1:])
				return loop
			}
			queue = append(queue, j)
		}
	}
	return nil
}

// goesBack reports whether t is the way of a retry. It cancels what waits or comes after its target, so it meets no
// other branch there.
func (n *nodeDef) goesBack(t *targets) bool {
	return n.mayAsk() && t.path == "routes."+string(actions.Retry)
}
