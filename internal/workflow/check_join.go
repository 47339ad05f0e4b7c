package workflow

import (
	"container/heap"
	mathbits "math/bits"
)

// checkJoins reports every node without join at which branches of one fan-out meet.
//
// For each fan-out the nodes behind it are walked once in the order of the flow (edges that lead back are looked at
// and not followed), each with the set of branches from which it is reached. Two ways into a node meet there when
// neither comes from all the branches of the other. The walk ends where all branches have come together, so that a
// long chain of fan-outs costs no more than its length.
func (b *builder) checkJoins(f *flow) {
	w := &joinWalk{flow: f, order: f.order(), told: make([]bool, len(f.nodes))}
	w.meet = func(at, one, other int, after string) {
		n := f.nodes[at]
		if w.told[at] || n.join.text != "" || n.doubtful {
			return
		}
		w.told[at] = true
		one, other = min(one, other), max(one, other)
		b.fault(n.at, "node %q is reached from both %q and %q, which run side by side after %q: say join: all (once, when both are done), arrived (once, with those that come) or each (once for each)",
			n.name, w.name(one, after), w.name(other, after), after)
	}
	if len(f.start) > 1 {
		w.walk("START", f.start)
	}
	for _, n := range f.nodes {
		for _, t := range n.targets() {
			if len(t.list) > 1 {
				w.walk(n.name, f.numbers(t))
			}
		}
	}
	if w.steps >= maxWalk {
		b.fault(b.file.nodes.at, "these branches cross too often to be checked: make several workflows of this one")
	}
}

// maxWalk bounds the walks over a graph whose branches never come together again.
const maxWalk = 1_000_000

// joinWalk is the walk behind one fan-out after another.
type joinWalk struct {
	*flow
	order []int
	told  []bool
	meet  func(at, one, other int, after string)

	queue   []int // nodes to go on from, by order
	arrived map[int]arrival
	back    int // nodes reached only by edges that lead back
	steps   int // nodes walked over, behind all fan-outs
}

// arrival is how a node was reached: over which node first, and from which branches.
type arrival struct {
	via      int // -1: from the fan-out itself
	branches bits
}

func (w *joinWalk) name(i int, after string) string {
	if i < 0 {
		return after
	}
	return w.nodes[i].name
}

func (w *joinWalk) walk(after string, branches []int) {
	w.queue, w.arrived, w.back = w.queue[:0], map[int]arrival{}, 0
	for i, b := range branches {
		w.arrive(-1, b, bits{}.with(i), after, true)
	}
	for len(w.queue) > 0 && w.steps < maxWalk {
		w.steps++
		i := heap.Pop(w).(int)
		from := w.arrived[i].branches
		if len(w.queue) == 0 && (w.back == 0 || from.count() == len(branches)) {
			return // no other branch can come in anywhere
		}
		for _, t := range w.nodes[i].targets() {
			if w.nodes[i].goesBack(t) {
				continue
			}
			for _, j := range w.numbers(t) {
				w.arrive(i, j, from, after, w.order[j] > w.order[i])
			}
		}
	}
}

func (w *joinWalk) arrive(via, at int, from bits, after string, onward bool) {
	a, seen := w.arrived[at]
	if !seen {
		w.arrived[at] = arrival{via, from}
		if onward {
			heap.Push(w, at)
		} else {
			w.back++
		}
		return
	}
	if a.via != via && !a.branches.within(from) && !from.within(a.branches) {
		w.meet(at, a.via, via, after)
	}
	a.branches = a.branches.or(from)
	w.arrived[at] = a
}

// Len implements heap.Interface.
func (w *joinWalk) Len() int { return len(w.queue) }

// Less implements heap.Interface.
func (w *joinWalk) Less(i, j int) bool { return w.order[w.queue[i]] < w.order[w.queue[j]] }

// Swap implements heap.Interface.
func (w *joinWalk) Swap(i, j int) { w.queue[i], w.queue[j] = w.queue[j], w.queue[i] }

// Push implements heap.Interface.
func (w *joinWalk) Push(x any) { w.queue = append(w.queue, x.(int)) }

// Pop implements heap.Interface.
func (w *joinWalk) Pop() any {
	last := w.queue[len(w.queue)-1]
	w.queue = w.queue[:len(w.queue)-1]
	return last
}

// bits is a set of small numbers that is never changed.
type bits []uint64

func (s bits) with(i int) bits {
	out := make(bits, max(len(s), i/64+1))
	copy(out, s)
	out[i/64] |= 1 << (i % 64)
	return out
}

func (s bits) within(t bits) bool {
	for i, x := range s {
		if i >= len(t) && x != 0 || i < len(t) && x&^t[i] != 0 {
			return false
		}
	}
	return true
}

func (s bits) count() int {
	n := 0
	for _, x := range s {
		n += mathbits.OnesCount64(x)
	}
	return n
}

func (s bits) or(t bits) bits {
	if t.within(s) {
		return s
	}
	out := make(bits, max(len(s), len(t)))
	copy(out, s)
	for i, x := range t {
		out[i] |= x
	}
	return out
}
