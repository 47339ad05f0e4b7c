package engine

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// sketch draws random graphs: DAGs of programs, agents, questions, timers, nested workflows and maps, with every kind of
// join, reducers, routes, conditions, retries, failure routes, and answers that lead back.
type sketch struct {
	*rapid.T
	m     *machine
	lines []string // what was drawn, for a person to read
}

// maxDepth is how deep frames nest below the root.
const maxDepth = 2

// channels are the keys that programs write; "replace" makes two writers of one step a conflict.
func modelChannels() map[string]Reducer {
	return map[string]Reducer{"trace": Append, "sum": Add, "bag": Union, "late": Last, "whole": Merge, "only": Replace, "talk": Append}
}

// graph makes a graph. The names of its nodes begin with prefix, one letter a level.
func (d *sketch) graph(prefix string, depth int) *Graph {
	n := rapid.IntRange(2, 7).Draw(d.T, "nodes")
	if depth < maxDepth {
		n = rapid.IntRange(1, 3).Draw(d.T, "nodes")
	}
	g := &Graph{
		Name: "random", Start: []string{prefix + "0"}, Channels: modelChannels(),
		MaxConcurrency: rapid.SampledFrom([]int{1, 4}).Draw(d.T, "concurrency"), StepLimit: rapid.SampledFrom([]int{0, 0, 0, 3}).Draw(d.T, "step limit"),
	}
	for i := range n {
		g.Nodes = append(g.Nodes, &Node{Name: fmt.Sprint(prefix, i), HasThen: true})
	}
	d.edges(g)
	for i, node := range g.Nodes {
		d.work(node, prefix, depth)
		d.ways(g, i)
		d.lines = append(d.lines, describeNode(node))
	}
	return g
}

// edges draws default edges, all forward, by which every node is reached.
func (d *sketch) edges(g *Graph) {
	n := len(g.Nodes)
	for i := 1; i < n; i++ {
		from := g.Nodes[rapid.IntRange(0, i-1).Draw(d.T, "from")]
		from.Then = append(from.Then, g.Nodes[i].Name)
		g.Nodes[i].Join = rapid.SampledFrom([]Join{JoinEach, JoinAll, JoinArrived, JoinStep}).Draw(d.T, "join")
	}
	if n < 2 {
		return
	}
	for range rapid.IntRange(0, 4).Draw(d.T, "more edges") {
		i := rapid.IntRange(0, n-2).Draw(d.T, "edge from")
		to := g.Nodes[rapid.IntRange(i+1, n-1).Draw(d.T, "edge to")].Name
		if from := g.Nodes[i]; !slices.Contains(from.Then, to) {
			from.Then = append(from.Then, to)
		}
	}
}

// ways draws where a node leads beside its default edge: forward, but for the answers that ask for another round.
func (d *sketch) ways(g *Graph, i int) {
	node := g.Nodes[i]
	forward := func(what string) []string {
		to := rapid.IntRange(i+1, len(g.Nodes)).Draw(d.T, what)
		if to == len(g.Nodes) {
			return nil // END
		}
		return []string{g.Nodes[to].Name}
	}
	node.Routes = map[string][]string{}
	if i > 0 && rapid.Bool().Draw(d.T, "retries") {
		node.Routes["retry"] = []string{g.Nodes[rapid.IntRange(0, i-1).Draw(d.T, "back")].Name}
	}
	for _, route := range []string{"odd", "approve", "reject", "skip", "cancel", "reply"} {
		if rapid.IntRange(0, 5).Draw(d.T, "route") == 0 {
			node.Routes[route] = forward(route)
		}
	}
	if rapid.IntRange(0, 3).Draw(d.T, "condition") == 0 {
		node.When = []Branch{{If: traceIsOdd, Then: forward("when")}}
	}
	if rapid.IntRange(0, 2).Draw(d.T, "failure") == 0 {
		node.Failure, node.HasFailure = forward("failure to"), true
	}
}

// traceIsOdd decides by the state.
func traceIsOdd(s Scope, _ Value) (bool, error) {
	v, _ := s.Lookup("trace")
	list, _ := v.Any().([]any)
	return len(list)%2 == 1, nil
}

// work draws what a node does.
func (d *sketch) work(node *Node, prefix string, depth int) {
	kinds := []string{"program", "program", "question", "questions", "agent", "timer", "deadline"}
	if depth > 0 {
		kinds = append(kinds, "workflow", "map")
	}
	node.Kind = rapid.SampledFrom(kinds).Draw(d.T, "kind")
	switch node.Kind {
	case "program":
		d.program(node)
	case "question":
		node.Runner = asks(d.question())
		node.Output = keeps("late")
	case "questions":
		node.Runner = several([]string{"a", "b", "c"}[:rapid.IntRange(1, 3).Draw(d.T, "questions")]...)
	case "agent":
		node.Runner, node.RerunOnResume = d.m.agent(rapid.Bool().Draw(d.T, "asks again")), true
		node.Output = keeps("late")
	case "timer":
		node.Runner = RunnerFunc(sleeps)
	case "deadline":
		q := d.question()
		q.TimeoutMS, q.DefaultAction = time.Hour.Milliseconds(), rapid.SampledFrom([]actions.Action{"", "approve", "reject", "retry"}).Draw(d.T, "default")
		node.Runner = asks(q)
	case "workflow":
		node.Sub = &SubGraph{Graph: d.graph(prefix+"s", depth-1)}
	case "map":
		node.Map = d.mapping(prefix, depth)
		node.Output = d.m.inOrder
	}
	if node.Map == nil && rapid.IntRange(0, 7).Draw(d.T, "needs a note") == 0 {
		node.Output = needsNote
	}
}

// question allows everything, about a text, a list of messages or nothing.
func (d *sketch) question() actions.Question {
	q := plainQuestion
	q.Options = []actions.OptionItem{{Value: js("x")}, {Value: js("y")}}
	q.ContentKey = rapid.SampledFrom([]string{"", "only", "talk"}).Draw(d.T, "content")
	return q
}

// program writes its path, and one key more by its reducer. It may fail.
func (d *sketch) program(node *Node) {
	key := rapid.SampledFrom([]string{"", "sum", "bag", "late", "whole", "only"}).Draw(d.T, "writes")
	node.Runner = d.m.program(key, rapid.Bool().Draw(d.T, "fragile"))
	node.Retry = RetryPolicy{MaxAttempts: rapid.IntRange(0, 3).Draw(d.T, "attempts"), InitialDelay: time.Second}
}

// needsNote is an output expression that fails until somebody has edited the state.
func needsNote(s Scope, v Value) (map[string]Value, error) {
	if note, _ := s.Lookup("note"); note.IsNull() {
		return nil, errors.New("no note")
	}
	return map[string]Value{"late": v}, nil
}

// isOdd is a coin that falls the same way for the same text.
func isOdd(s string) bool {
	h := fnv.New32a()
	h.Write([]byte(s))
	return h.Sum32()>>3%2 == 1
}

// mapping makes a map over a few items, over a body or over a workflow of its own; each item gives itself.
func (d *sketch) mapping(prefix string, depth int) *MapSpec {
	var items []any
	for i := range rapid.IntRange(0, 4).Draw(d.T, "items") {
		items = append(items, i)
	}
	spec := &MapSpec{
		Items:       func(Scope) (Value, error) { return known(append([]any{}, items...)), nil },
		Body:        d.graph(prefix+"m", depth-1),
		Result:      func(s Scope) (Value, error) { v, _ := s.Lookup("item"); return v, nil },
		MaxParallel: rapid.IntRange(0, 2).Draw(d.T, "parallel"),
		MaxWaiting:  rapid.IntRange(0, 2).Draw(d.T, "waiting"),
	}
	if rapid.Bool().Draw(d.T, "own workflow") {
		spec.In = func(s Scope) (map[string]Value, error) {
			v, _ := s.Lookup("item")
			return map[string]Value{"given": v}, nil
		}
	}
	return spec
}

// describeNode is a node as a person reads it.
func describeNode(n *Node) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", n.Name, n.Kind)
	if n.Join != "" && n.Join != JoinEach {
		fmt.Fprintf(&b, " join %s", n.Join)
	}
	fmt.Fprintf(&b, " then %v", n.Then)
	for _, route := range sortedKeys(n.Routes) {
		fmt.Fprintf(&b, " %s->%v", route, n.Routes[route])
	}
	for _, w := range n.When {
		fmt.Fprintf(&b, " when odd->%v", w.Then)
	}
	if n.HasFailure {
		fmt.Fprintf(&b, " failure->%v", n.Failure)
	}
	if n.Retry.MaxAttempts > 1 {
		fmt.Fprintf(&b, " attempts %d", n.Retry.MaxAttempts)
	}
	if n.Map != nil {
		fmt.Fprintf(&b, " parallel %d waiting %d own %t", n.Map.MaxParallel, n.Map.MaxWaiting, n.Map.In != nil)
	}
	return b.String()
}

// program appends the path of its run to the trace, unless it is told to fail or to be cancelled. Being called for a run
// that a committed step had completed is what must never happen.
func (m *machine) program(key string, fragile bool) RunnerFunc {
	return func(ctx context.Context, c *Call) (Result, error) {
		if err := m.called(ctx, c, fragile); err != nil {
			return Result{}, err
		}
		res := Result{Output: text(c.Path), Updates: map[string]Value{"trace": text(c.Path)}}
		if isOdd(c.Path) {
			res.Route = "odd"
		}
		switch key {
		case "sum":
			res.Updates[key] = known(1)
		case "whole":
			res.Updates[key] = object(map[string]Value{c.Node: text(c.Path)})
		case "":
		default:
			res.Updates[key] = text(c.Path)
		}
		return res, nil
	}
}

// agent asks two questions and runs again with each answer; it has heard enough when it has heard both, or no.
func (m *machine) agent(asksAgain bool) RunnerFunc {
	return func(ctx context.Context, c *Call) (Result, error) {
		if err := m.called(ctx, c, false); err != nil {
			return Result{}, err
		}
		res := Result{Output: text(strings.Join(sortedKeys(c.Resume), "+"))}
		for _, key := range sortedKeys(c.Resume) {
			if c.Resume[key].Action == actions.Reject {
				res.Closed = c.PriorInterrupts
				return res, nil
			}
		}
		if len(c.Resume) == 0 || asksAgain {
			for _, ask := range keyed("a", "b") {
				if _, given := c.Resume[ask.Key]; !given {
					res.Interrupts = append(res.Interrupts, ask)
				}
			}
		}
		return res, nil
	}
}

// inOrder looks at the results of a map.
func (m *machine) inOrder(_ Scope, output Value) (map[string]Value, error) {
	for i, v := range output.Any().([]any) {
		if v != i {
			m.Errorf("a map gave %s", output.JSON())
		}
	}
	return nil, nil
}
