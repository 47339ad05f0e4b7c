package engine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// nest is what a run of a nested workflow or a map holds while it is at work: the frames below it. The workflow has
// one, a map one for each item that has begun and not ended. Frames that ended are gone; of a map's their results stay.
type nest struct {
	run     *run
	home    *home
	frames  []*frame // in order of their items
	ended   []*frame // of a map: those that have ended and are still among frames
	running int      // frames with a ready run
	failing int      // frames with a failed one
	stirred bool     // something happened in one of them

	items   []any // of a map
	inputs  []any // of each item, where the body is a workflow of its own
	results map[int]Value
	begun   int // items that have begun, the ended ones included

	before map[string]Value // what changed around the map since it began, as it was then
}

// defaultWaiting is how many items of a map may wait at a time where it does not say.
const defaultWaiting = 100

// prepare evaluates what the node's frames begin with, before any of them is there: the input of a nested workflow, the
// items of a map, and the inputs made of them where its body is a workflow of its own. It is the output of the run's one
// attempt, and so kept like every other.
func (n *Node) prepare(scope Scope) (Result, error) {
	entry := map[string]any{}
	var err error
	switch {
	case n.Map != nil:
		err = n.Map.prepare(scope, entry)
	case n.Sub.In != nil:
		var in map[string]Value
		in, err = n.Sub.In(scope)
		entry["input"] = object(in).Any()
	}
	return Result{Output: known(entry)}, Permanent(err)
}

func (spec *MapSpec) prepare(scope Scope, entry map[string]any) error {
	list, err := spec.Items(scope)
	if err != nil {
		return err
	}
	items, ok := list.Any().([]any)
	if !ok {
		return fmt.Errorf("a map needs a list, not %s", kindOf(list))
	}
	entry["items"] = items
	if spec.In == nil {
		return nil
	}
	inputs := make([]any, len(items))
	for i, item := range items {
		in, err := spec.In(itemScope{Scope: scope, as: spec.As, item: known(item), index: i})
		if err != nil {
			return fmt.Errorf("item %d: %w", i, err)
		}
		inputs[i] = object(in).Any()
	}
	entry["inputs"] = inputs
	return nil
}

// enter begins the frames of a run. It completes at once where there is nothing to do.
func (r *run) enter(v Value) (*completion, error) {
	t := r.frame.tree
	r.since = t.now()
	r.become(nested)
	r.open()
	r.touch()
	t.note(r, checkpoint.NodeRun{Status: statusWaiting, Attempts: 1, Started: r.since})
	n := r.nest
	if err := n.take(v); err != nil {
		return nil, err
	}
	if n.isMap() {
		n.write(checkpoint.OpSet, n.channel("entry"), v)
		return n.advance(), nil
	}
	return nil, n.begin(0, v.Any().(map[string]any)["input"])
}

// open gives a run its nest.
func (r *run) open() {
	r.nest = &nest{run: r, home: &home{}, results: map[int]Value{}}
	r.frame.nests++
}

// take reads the entry of a map.
func (n *nest) take(v Value) error {
	whole, ok := v.Any().(map[string]any)
	if !ok {
		return fmt.Errorf("%s begins with %s", n.run.path, kindOf(v))
	}
	n.items, _ = whole["items"].([]any)
	n.inputs, _ = whole["inputs"].([]any)
	return nil
}

func (n *nest) isMap() bool { return n.run.node.Map != nil }

// open reports whether the frames see what is around them: the body of a map does, a workflow of its own does not.
func (n *nest) open() bool { return n.isMap() && n.run.node.Map.In == nil }

func (n *nest) channel(kind string) string { return "@" + kind + ":" + n.run.path }

func (n *nest) write(kind checkpoint.OpKind, channel string, v Value) {
	n.run.frame.tree.journal.add(change{kind, channel, v, n.home})
}

// newFrame makes the frame of an item; 0 for that of a nested workflow.
func (n *nest) newFrame(item int) (*frame, error) {
	r := n.run
	path, address := r.path, r.frame.address+r.node.Name+"/"
	if n.isMap() {
		i := strconv.Itoa(item)
		path, address = r.path+"/["+i+"]", r.frame.address+r.node.Name+"/"+i+"/"
	}
	f, err := newFrame(r.frame.tree, r.node.Nested(), path, address)
	if err != nil {
		return nil, err
	}
	f.owner, f.item, f.depth, f.home = n, item, r.frame.depth+1, &home{}
	f.runValue = r.frame.runValue
	if !n.open() {
		f.runValue = f.tree.describe(f.graph)
		if most := f.graph.MaxConcurrency; most > 0 {
			f.slots = make(chan struct{}, most)
		}
	}
	return f, nil
}

// begin opens the frame of an item with its input and triggers its start nodes.
func (n *nest) begin(item int, input any) error {
	f, err := n.newFrame(item)
	if err != nil {
		return err
	}
	n.frames = append(n.frames, f)
	if f.tree.journal != nil {
		f.write(checkpoint.OpSet, f.channel("frame"), known(map[string]any{"item": item}))
	}
	if n.open() {
		f.begin(known(n.items[item]))
	} else {
		f.take(input)
	}
	f.tree.visit(f)
	return nil
}

// take sets the state a workflow of its own begins with, and triggers its start nodes.
func (f *frame) take(input any) {
	in, ok := input.(map[string]any)
	if !ok {
		in = map[string]any{}
	}
	for _, key := range sortedKeys(in) {
		f.set(key, known(in[key]))
	}
	f.begin(known(in))
}

// drop removes the frames, with all that runs or waits in them.
func (n *nest) drop() {
	t := n.run.frame.tree
	for _, f := range n.frames {
		f.drop()
	}
	n.frames = nil
	t.journal.drop(n.home)
	n.run.nest = nil
	n.run.frame.nests--
}

// drop removes the frame.
func (f *frame) drop() {
	for _, r := range f.runs {
		if r != nil {
			f.tree.cancelled(r, ReasonEnded)
			f.remove(r)
		}
	}
	f.tree.journal.drop(f.home)
}

// advance takes in what happened below: frames that ended, room for further items, the end. It gives the completion
// of the run, nil while its frames are at work.
func (n *nest) advance() *completion {
	n.stirred = false
	r := n.run
	if !n.isMap() {
		f := n.frames[0]
		switch f.ended {
		case "":
			return n.failed()
		case checkpoint.Done:
			r.output = f.out
			n.drop()
			return r.settle()
		}
		n.drop()
		return r.refuse(f.ended, f.why)
	}
	n.collect()
	if len(n.results) == len(n.items) {
		r.output = n.list()
		n.drop()
		return r.settle()
	}
	if c := n.failed(); c != nil {
		return c
	}
	return n.beginMore()
}

// collect keeps the results of the items that ended and removes their frames.
func (n *nest) collect() {
	slices.SortFunc(n.ended, byItem)
	var ended jsonObject
	for _, f := range n.ended {
		i, found := slices.BinarySearchFunc(n.frames, f, byItem)
		if !found {
			continue // it was looked at twice
		}
		n.results[f.item] = f.out
		if f.tree.journal != nil {
			ended.key(strconv.Itoa(f.item)).raw(f.out.JSON())
		}
		n.frames = slices.Delete(n.frames, i, i+1)
		f.drop()
	}
	clear(n.ended)
	n.ended = n.ended[:0]
	if len(ended.buf) > 0 {
		n.write(checkpoint.OpMerge, n.channel("results"), RawValue(ended.end()))
	}
}

func byItem(a, b *frame) int { return a.item - b.item }

// count keeps how many frames have a ready, or a failed, run.
func (n *nest) count(s runStatus, has bool) {
	of, by := &n.running, -1
	if s == failed {
		of = &n.failing
	}
	if has {
		by = 1
	}
	*of += by
}

// list is the results in the order of the items.
func (n *nest) list() Value {
	list := make([]any, len(n.items))
	for i := range list {
		list[i] = n.results[i].Any()
	}
	return known(list)
}

// beginMore begins further items of a map while slots are free, not too many wait, and none has failed.
func (n *nest) beginMore() *completion {
	if n.failing > 0 {
		return nil
	}
	running := n.running
	waits := len(n.frames) - running
	parallel, most := n.limits()
	for ; n.hasMore() && running < parallel && waits < most; running++ {
		var input any
		if n.inputs != nil {
			input = n.inputs[n.begun]
		}
		if err := n.begin(n.begun, input); err != nil {
			return n.fail(err)
		}
		n.begun++
	}
	return nil
}

// hasMore reports whether items of a map are left to begin.
func (n *nest) hasMore() bool { return n.isMap() && n.begun < len(n.items) }

// limits are how many items may run, and how many may wait, at a time.
func (n *nest) limits() (parallel, waiting int) {
	spec := n.run.node.Map
	parallel, waiting = spec.MaxParallel, spec.MaxWaiting
	if parallel <= 0 {
		parallel = n.run.frame.concurrency()
	}
	if waiting <= 0 {
		waiting = defaultWaiting
	}
	return parallel, waiting
}

// concurrency is the number of node runs at a time that the workflow of the frame wants.
func (f *frame) concurrency() int {
	for f.owner != nil && f.owner.open() && f.graph.MaxConcurrency <= 0 {
		f = f.owner.run.frame
	}
	if f.graph.MaxConcurrency <= 0 {
		return defaultConcurrency
	}
	return f.graph.MaxConcurrency
}

// failed is the failure of the run, once a run below has failed, nothing below can go on by itself, and a failure route
// further up takes it. Where there is none, the failed run stays: it holds back its own branch, and carrying on tries
// it, and only it, again.
func (n *nest) failed() *completion {
	if n.running > 0 || n.failing == 0 || !n.caught() {
		return nil
	}
	at := slices.IndexFunc(n.frames, func(f *frame) bool { return f.failed > 0 })
	var first *run
	n.frames[at].walk(func(r *run) bool {
		if r.status == failed {
			first = r
		}
		return first == nil
	})
	return n.fail(fmt.Errorf("%s: %s", strings.TrimPrefix(first.path, n.run.path+"/"), first.failure.Message))
}

// fail fails the run, and everything below ends.
func (n *nest) fail(err error) *completion {
	r := n.run
	for _, f := range n.frames {
		f.tree.unlink(f)
	}
	n.drop()
	c := &completion{run: r, started: r.since}
	c.fail(r.frame.tree.now(), err)
	return c
}

// caught reports whether a failure that leaves the run has a route to take, here or further up.
func (n *nest) caught() bool {
	return n.run.node.HasFailure || n.run.frame.owner != nil && n.run.frame.owner.caught()
}
