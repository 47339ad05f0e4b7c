package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// reference is the scheduler of one frame as the design tells it, without anything that makes it fast, durable or
// concurrent. It knows what programs do, since they are told by their path.
type reference struct {
	g       *Graph
	fails   func(path string) bool // what fragile programs do
	runs    map[string]*refRun
	counts  map[string]int
	waiting map[string][]string          // inputs of triggers for nodes that are busy
	arrived map[string]map[string]string // of joins: predecessor -> output
	trace   []string
	ended   checkpoint.Status
}

// refRun is one run: ready, asking or failed.
type refRun struct {
	n             int
	input, status string
	gate          bool // a join that failed: input holds its arrivals
}

// refDone is a run that ended, with the targets that it triggers.
type refDone struct {
	name, output string
	targets      []string
}

func newReference(g *Graph, fails func(string) bool) *reference {
	r := &reference{g: g, fails: fails, runs: map[string]*refRun{}, counts: map[string]int{}, waiting: map[string][]string{}, arrived: map[string]map[string]string{}}
	r.trigger(g.Start[0], "{}")
	r.run()
	return r
}

func (r *reference) node(name string) *Node {
	return r.g.Nodes[slices.IndexFunc(r.g.Nodes, func(n *Node) bool { return n.Name == name })]
}

// run makes super-steps until nothing is ready.
func (r *reference) run() {
	for r.ended == "" {
		var done []refDone
		any := false
		for _, n := range r.g.Nodes {
			run := r.runs[n.Name]
			if run == nil || run.status != "ready" {
				continue
			}
			any = true
			if n.Kind == "question" {
				run.status = "asking"
				continue
			}
			if x, ok := r.perform(n, run); ok {
				done = append(done, x)
			}
		}
		if !any {
			return
		}
		r.finish(done)
	}
}

// perform runs a program; false when it failed for good.
func (r *reference) perform(n *Node, run *refRun) (refDone, bool) {
	path := fmt.Sprintf("%s@%d", n.Name, run.n)
	if fragile(n) && r.fails(path) {
		return r.fail(n, run)
	}
	r.trace = append(r.trace, path+"<"+run.input)
	output := string(text(path).JSON())
	if to, routed := n.Routes["odd"]; routed && isOdd(path) {
		return refDone{n.Name, output, to}, true
	}
	return refDone{n.Name, output, n.Then}, true
}

func (r *reference) fail(n *Node, run *refRun) (refDone, bool) {
	if n.HasFailure {
		return refDone{n.Name, "null", n.Failure}, true
	}
	run.status = "failed"
	return refDone{}, false
}

// finish takes runs away that ended, gives their nodes what waited for them, and triggers their targets.
func (r *reference) finish(done []refDone) {
	for _, d := range done {
		delete(r.runs, d.name)
	}
	for _, d := range done {
		if list := r.waiting[d.name]; len(list) > 0 && r.runs[d.name] == nil {
			r.waiting[d.name] = list[1:]
			r.begin(d.name, list[0])
		}
	}
	together := map[string]map[string]string{}
	for _, d := range done {
		for _, to := range d.targets {
			switch r.node(to).Join {
			case JoinStep:
				if together[to] == nil {
					together[to] = map[string]string{}
				}
				together[to][d.name] = d.output
			case JoinAll, JoinArrived:
				r.arrive(to, d.name, d.output)
			default:
				r.trigger(to, d.output)
			}
		}
	}
	for _, n := range r.g.Nodes {
		if outputs := together[n.Name]; outputs != nil {
			r.trigger(n.Name, asObject(outputs))
		}
	}
	r.joins()
	if !r.busy() && len(r.arrived) == 0 {
		r.ended = checkpoint.Done
	}
}

func asObject(outputs map[string]string) string {
	var members []string
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		members = append(members, fmt.Sprintf("%q:%s", name, outputs[name]))
	}
	return "{" + strings.Join(members, ",") + "}"
}

func (r *reference) begin(name, input string) {
	r.counts[name]++
	r.runs[name] = &refRun{n: r.counts[name], input: input, status: "ready"}
}

func (r *reference) trigger(name, input string) {
	if r.runs[name] != nil || len(r.waiting[name]) > 0 {
		r.waiting[name] = append(r.waiting[name], input)
		return
	}
	r.begin(name, input)
}

func (r *reference) arrive(to, from, output string) {
	if r.arrived[to] == nil {
		r.arrived[to] = map[string]string{}
	}
	r.arrived[to][from] = output
}

func (r *reference) busy() bool {
	return len(r.runs) > 0 || slices.ContainsFunc(slices.Collect(maps.Values(r.waiting)), func(list []string) bool { return len(list) > 0 })
}

// joins fires what can fire; at rest, the first that takes what comes goes ahead, else the first that needs all fails.
func (r *reference) joins() {
	for again := true; again; {
		again = false
		for _, n := range r.g.Nodes {
			if r.arrived[n.Name] != nil && r.complete(n) {
				r.fire(n.Name)
				again = true
			}
		}
	}
	if r.busy() {
		return
	}
	var all *Node
	for _, n := range r.g.Nodes {
		switch {
		case r.arrived[n.Name] == nil:
		case n.Join == JoinArrived:
			r.fire(n.Name)
			return
		case all == nil:
			all = n
		}
	}
	if all == nil {
		return
	}
	input := asObject(r.arrived[all.Name])
	delete(r.arrived, all.Name)
	r.begin(all.Name, input)
	run := r.runs[all.Name]
	run.gate = true
	if d, mended := r.fail(all, run); mended {
		r.finish([]refDone{d})
	}
}

func (r *reference) fire(name string) {
	outputs := r.arrived[name]
	delete(r.arrived, name)
	r.trigger(name, asObject(outputs))
}

// complete reports whether everything a join waits for has come, or with arrived cannot come any more.
func (r *reference) complete(join *Node) bool {
	for _, n := range r.g.Nodes {
		if !slices.Contains(n.targets(), join.Name) {
			continue
		}
		if _, came := r.arrived[join.Name][n.Name]; came {
			continue
		}
		if join.Join == JoinAll || r.canCome(n.Name, join.Name) {
			return false
		}
	}
	return true
}

// canCome reports whether a node may still run, because of something at work that leads to it other than through join.
func (r *reference) canCome(name, join string) bool {
	for _, n := range r.g.Nodes {
		at := r.runs[n.Name] != nil || len(r.waiting[n.Name]) > 0 || n.Name != join && r.arrived[n.Name] != nil
		if at && r.leads(n.Name, name, join, map[string]bool{}) {
			return true
		}
	}
	return false
}

func (r *reference) leads(from, to, not string, seen map[string]bool) bool {
	if from == to {
		return true
	}
	if seen[from] {
		return false
	}
	seen[from] = true
	return slices.ContainsFunc(r.node(from).targets(), func(next string) bool { return next != not && r.leads(next, to, not, seen) })
}

// answer applies an answer to the node that asks.
func (r *reference) answer(name string, action actions.Action) {
	n, run := r.node(name), r.runs[name]
	to, routed := n.Routes[string(action)]
	value := map[actions.Action]string{"approve": "true", "respond": `"text"`, "reject": "false"}[action]
	if value == "" {
		value = "null"
	}
	switch {
	case action == actions.Retry && !routed:
		delete(r.runs, name)
		r.begin(name, run.input)
	case action == actions.Retry:
		r.goBack(name, to)
	case routed:
		r.finish([]refDone{{name, value, to}})
	case action == actions.Reject || action == actions.Cancel:
		if n.HasFailure {
			r.finish([]refDone{{name, "null", n.Failure}})
			break
		}
		r.ended = checkpoint.Rejected
		if action == actions.Cancel {
			r.ended = checkpoint.Cancelled
		}
		clear(r.runs)
		clear(r.waiting)
		clear(r.arrived)
	default:
		r.finish([]refDone{{name, value, n.Then}})
	}
	r.run()
}

// goBack cancels what a producer will bring again, and runs that with the feedback.
func (r *reference) goBack(asker string, to []string) {
	for _, n := range r.g.Nodes {
		again := n.Name == asker || slices.ContainsFunc(to, func(from string) bool { return r.leads(from, n.Name, "", map[string]bool{}) })
		if !again {
			continue
		}
		delete(r.runs, n.Name)
		delete(r.waiting, n.Name)
		for join, outputs := range r.arrived {
			if delete(outputs, n.Name); len(outputs) == 0 {
				delete(r.arrived, join)
			}
		}
	}
	for _, name := range to {
		r.begin(name, "feedback")
	}
	r.joins()
}

// carryOn tries what failed again.
func (r *reference) carryOn() {
	for _, n := range r.g.Nodes {
		run := r.runs[n.Name]
		switch {
		case run == nil || run.status != "failed":
		case run.gate:
			delete(r.runs, n.Name)
			r.counts[n.Name]--
			for from, output := range RawValue([]byte(run.input)).Any().(map[string]any) {
				r.arrive(n.Name, from, string(known(output).JSON()))
			}
		default:
			run.status = "ready"
		}
	}
	r.joins()
	r.run()
}

// with lists the nodes whose runs have a status, in graph order.
func (r *reference) with(status string) []string {
	var names []string
	for _, n := range r.g.Nodes {
		if run := r.runs[n.Name]; run != nil && run.status == status {
			names = append(names, n.Name)
		}
	}
	return names
}

// failures are the paths of the runs that failed.
func (r *reference) failures() (paths []string) {
	for _, name := range r.with("failed") {
		paths = append(paths, fmt.Sprintf("%s@%d", name, r.runs[name].n))
	}
	return paths
}

func fragile(n *Node) bool { return n.Kind == "fragile" }

// simply is a program for the reference: it tells its path and its input.
func simply(fails func(path string) bool) RunnerFunc {
	return func(_ context.Context, c *Call) (Result, error) {
		path := strings.TrimPrefix(c.Path, rootPath+"/")
		if fails(path) {
			return Result{}, errBoom
		}
		res := Result{Output: text(path)}
		if isOdd(path) {
			res.Route = "odd"
		}
		input := string(c.Input.JSON())
		if object, ok := c.Input.Any().(map[string]any); ok && object["action"] == "retry" {
			input = "feedback"
		}
		res.Updates = map[string]Value{"trace": text(path + "<" + input)}
		return res, nil
	}
}

// TestReference holds the engine, which loads the thread anew for every answer, against the reference: random graphs of
// one frame with all joins, routes, failure routes and answers that lead back.
func TestReference(t *testing.T) {
	rounds(t, 10, func(t *testing.T, rt *rapid.T) {
		w := newWorld(t)
		m := &machine{T: rt, w: w}
		d := &sketch{T: rt, m: m}
		m.broken = true
		fails := func(path string) bool { return m.broken && isOdd(path) }
		g := d.flat(fails)
		m.story = d.lines
		out := w.start(g, nil)
		ref := newReference(g, fails)
		m.agree(out, ref)
		for range rapid.IntRange(1, 10).Draw(rt, "acts") {
			open := ref.with("asking")
			switch {
			case ref.ended != "":
				return
			case len(ref.with("failed")) > 0 && (len(open) == 0 || rapid.IntRange(0, 3).Draw(rt, "carry on") == 0):
				m.broken = rapid.Bool().Draw(rt, "broken")
				m.tell("carry on, broken %t", m.broken)
				ref.carryOn()
				out = w.answer(out.Thread)
			default:
				name := rapid.SampledFrom(open).Draw(rt, "question")
				action := rapid.SampledFrom([]actions.Action{"approve", "approve", "respond", "skip", "retry", "reject", "cancel"}).Draw(rt, "action")
				m.tell("%s %s", name, action)
				a := to(name, action)
				a.Data = dataFor(action, nil)
				ref.answer(name, action)
				out = w.answer(out.Thread, a)
			}
			m.agree(out, ref)
		}
	})
}

// flat draws a graph of programs and questions.
func (d *sketch) flat(fails func(string) bool) *Graph {
	g := &Graph{Name: "random", Start: []string{"n0"}, Channels: map[string]Reducer{"trace": Append}}
	for i := range rapid.IntRange(2, 8).Draw(d.T, "nodes") {
		g.Nodes = append(g.Nodes, &Node{Name: fmt.Sprint("n", i), HasThen: true})
	}
	d.edges(g)
	for i, n := range g.Nodes {
		n.Kind = rapid.SampledFrom([]string{"program", "fragile", "question"}).Draw(d.T, "kind")
		switch n.Kind {
		case "program":
			n.Runner = simply(func(string) bool { return false })
		case "fragile":
			n.Runner = simply(fails)
		case "question":
			n.Runner = asks(plainQuestion)
		}
		d.ways(g, i)
		n.When = nil
		d.lines = append(d.lines, describeNode(n))
	}
	return g
}

// agree demands that engine and reference are at the same place by the same way.
func (m *machine) agree(out *Outcome, ref *reference) {
	h, err := m.w.read(context.Background(), out.Thread)
	if err != nil {
		m.Fatalf("%v", err)
	}
	var failures []string
	for r := range h.tree.runs {
		if r.status == failed {
			failures = append(failures, strings.TrimPrefix(r.path, rootPath+"/"))
		}
	}
	got := []any{h.tree.ended, slices.Sorted(slices.Values(addressesOf(out))), failures, m.w.state(out.Thread)["trace"]}
	trace := ""
	if len(ref.trace) > 0 {
		trace = string(js(ref.trace))
	}
	want := []any{ref.ended, slices.Sorted(slices.Values(ref.with("asking"))), ref.failures(), strings.ReplaceAll(trace, `\u003c`, "<")}
	if diff := cmp.Diff(want, got); diff != "" {
		m.Fatalf("the engine does otherwise (-reference +engine):\n%s", diff)
	}
	m.tell("%s, asking %v, failed %v", out.Status, want[1], failures)
}
