package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// arrive notes that a predecessor of a join has come. A predecessor that comes twice before the join fires counts
// once, with its latest output.
func (f *frame) arrive(i int, from string, output Value) {
	if f.arrivals[i] == nil {
		f.arrivals[i] = map[string]Value{}
		f.joining = append(f.joining, i)
		slices.Sort(f.joining)
	}
	f.arrivals[i][from] = output
	f.write(checkpoint.OpMerge, f.arrivalsChannel(i), object(map[string]Value{from: output}))
	f.tree.visit(f)
}

func (f *frame) arrivalsChannel(i int) string {
	return f.channel("arrivals") + ":" + f.plan.nodes[i].Name
}

func (f *frame) clearArrivals(i int) {
	f.arrivals[i] = nil
	f.joining = slices.DeleteFunc(f.joining, func(j int) bool { return j == i })
	f.write(checkpoint.OpDelete, f.arrivalsChannel(i), Value{})
}

// dropArrival forgets that a predecessor has come.
func (f *frame) dropArrival(i int, from string) {
	if _, ok := f.arrivals[i][from]; !ok {
		return
	}
	rest := f.arrivals[i]
	delete(rest, from)
	f.clearArrivals(i)
	for _, name := range sortedKeys(rest) {
		f.arrive(i, name, rest[name])
	}
}

// settle fires the joins that can fire. In a frame at rest, a join that waits for all and has some fails, so that
// nothing passes a gate unseen.
func (f *frame) settle() {
	for {
		fired := false
		for _, i := range slices.Clone(f.joining) {
			if f.complete(i) {
				f.fire(i)
				fired = true
			}
		}
		if fired || len(f.joining) == 0 || f.busy() {
			return
		}
		// At rest. Joins that only wait for each other: the first in the graph goes ahead.
		if i := slices.IndexFunc(f.joining, func(i int) bool { return f.plan.nodes[i].join == JoinArrived }); i >= 0 {
			f.fire(f.joining[i])
			return
		}
		f.failJoin(f.joining[0])
	}
}

// complete reports whether a join has all it waits for.
func (f *frame) complete(i int) bool {
	missing := f.missing(i)
	if len(missing) == 0 {
		return true
	}
	if f.plan.nodes[i].join != JoinArrived {
		return false
	}
	reach := f.plan.reachable(f.active(i), i)
	return !slices.ContainsFunc(missing, func(name string) bool {
		p, ok := f.plan.index[name]
		return ok && reach[p]
	})
}

// missing names the predecessors that have not come.
func (f *frame) missing(i int) []string {
	var names []string
	for _, p := range f.plan.nodes[i].preds {
		if _, ok := f.arrivals[i][p]; !ok {
			names = append(names, p)
		}
	}
	return names
}

// active lists the nodes from which something can still come: those with a run or a buffered trigger, and the joins
// other than i that have arrivals.
func (f *frame) active(i int) []int {
	var nodes []int
	for j := range f.plan.nodes {
		if f.runs[j] != nil || len(f.buffers[j]) > 0 || (j != i && f.arrivals[j] != nil) {
			nodes = append(nodes, j)
		}
	}
	return nodes
}

func (f *frame) fire(i int) {
	input := object(f.arrivals[i])
	f.clearArrivals(i)
	f.enqueue(i, trigger{input, f.tree.epoch})
}

// failJoin fails a join some of whose predecessors will never come.
func (f *frame) failJoin(i int) {
	missing, came := f.missing(i), sortedKeys(f.arrivals[i])
	input := object(f.arrivals[i])
	f.clearArrivals(i)
	r := f.dispatch(i, trigger{input, f.tree.epoch})
	r.unqueue()
	r.barrier = true
	c := &completion{run: r, started: f.tree.now()}
	c.fail(c.started, fmt.Errorf("waits for all its predecessors: %s came, %s never did; where not all need come, it says join: arrived", strings.Join(came, ", "), strings.Join(missing, ", ")))
	f.absorb([]*completion{c})
}

// reopen takes a failed join's arrivals back, so that it is judged again.
func (f *frame) reopen(r *run) {
	arrived, _ := r.input.Any().(map[string]any)
	f.remove(r)
	f.counts[r.index]--
	f.tree.journal.counted(f, r.index)
	for _, from := range sortedKeys(arrived) {
		f.arrive(r.index, from, known(arrived[from]))
	}
}
