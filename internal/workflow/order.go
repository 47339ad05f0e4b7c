package workflow

import (
	"cmp"
	"slices"
)

// order ranks the nodes in the order of the flow: an edge leads to a higher rank unless it closes a loop. Within a
// loop the nodes nearer to the start come first, and of equally near ones those that the file tells first.
func (f *flow) order() []int {
	group, level := groups(f.onward), f.levels()
	nodes := make([]int, len(f.nodes))
	for i := range nodes {
		nodes[i] = i
	}
	slices.SortFunc(nodes, func(a, b int) int {
		return cmp.Or(cmp.Compare(group[b], group[a]), cmp.Compare(level[a], level[b]), cmp.Compare(a, b))
	})
	rank := make([]int, len(f.nodes))
	for at, i := range nodes {
		rank[i] = at
	}
	return rank
}

// levels are the distances from the start.
func (f *flow) levels() []int {
	level := make([]int, len(f.nodes))
	seen := make([]bool, len(f.nodes))
	queue := slices.Clone(f.start)
	for _, i := range queue {
		seen[i] = true
	}
	for len(queue) > 0 {
		i := queue[0]
		queue = queue[1:]
		for _, j := range f.onward[i] {
			if !seen[j] {
				seen[j], level[j] = true, level[i]+1
				queue = append(queue, j)
			}
		}
	}
	return level
}

// groups are the strongly connected components of a graph by Tarjan's algorithm: nodes of one loop have one number,
// and what comes later in the flow has a lower one.
func groups(next [][]int) []int {
	t := tarjan{next: next, group: make([]int, len(next)), number: make([]int, len(next)), low: make([]int, len(next))}
	for root := range next {
		if t.number[root] == 0 {
			t.from(root)
		}
	}
	return t.group
}

// tarjan keeps its own stacks: a chain of nodes may be as long as the file.
type tarjan struct {
	next               [][]int
	group, number, low []int // number 0: not seen; group 0: still open
	seen, groups       int
	stack, path, edge  []int
}

func (t *tarjan) enter(i int) {
	t.seen++
	t.number[i], t.low[i] = t.seen, t.seen
	t.stack, t.path, t.edge = append(t.stack, i), append(t.path, i), append(t.edge, 0)
}

func (t *tarjan) from(root int) {
	for t.enter(root); len(t.path) > 0; {
		top := len(t.path) - 1
		i, e := t.path[top], t.edge[top]
		if e == len(t.next[i]) {
			t.leave(i)
			continue
		}
		t.edge[top]++
		if j := t.next[i][e]; t.number[j] == 0 {
			t.enter(j)
		} else if t.group[j] == 0 {
			t.low[i] = min(t.low[i], t.number[j])
		}
	}
}

func (t *tarjan) leave(i int) {
	top := len(t.path) - 1
	t.path, t.edge = t.path[:top], t.edge[:top]
	if top > 0 {
		above := t.path[top-1]
		t.low[above] = min(t.low[above], t.low[i])
	}
	if t.low[i] != t.number[i] {
		return
	}
	t.groups++
	for {
		j := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		t.group[j] = t.groups
		if j == i {
			return
		}
	}
}
