package local

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/engine"
)

// Graph reads the workflow of a thread, of its own definition, with the way the thread took.
func (s *Source) Graph(ctx context.Context, thread string) (*desk.Graph, error) {
	info, err := s.info(ctx, thread)
	if err != nil {
		return nil, err
	}
	g, err := s.engine.Graph(ctx, thread)
	if err != nil {
		return nil, Coded(err)
	}
	said := map[string]word{}
	for d, err := range s.store.Decisions(ctx, thread) {
		if err != nil {
			return nil, stored(err)
		}
		said[d.ID] = word{d.Path, d.Action, d.Action + " (" + d.Reviewer + ")"}
	}
	w := newWay(g)
	for c, err := range s.store.History(ctx, thread, false) {
		if err != nil {
			return nil, stored(err)
		}
		w.step(c, said)
	}
	if err := s.asked(ctx, thread, w); err != nil {
		return nil, err
	}
	w.rest(info.Status)
	return w.graph, nil
}

// asked notes what is asked now: a fork has no step in which its node ran, nor has a thread whose steps were pruned.
func (s *Source) asked(ctx context.Context, thread string, w *way) error {
	head, err := s.store.Latest(ctx, thread)
	if err != nil {
		return stored(err)
	}
	questions, err := head.Questions()
	if err != nil {
		return stored(err)
	}
	for _, q := range questions {
		w.ran(strings.Split(q.Path, "/")[1:], "", checkpoint.NodeRun{Node: q.Node, Status: "WAITING"}, nil)
	}
	return nil
}

// word is a decision about a node run.
type word struct{ run, action, text string }

// way finds the way a thread took through a graph: steps tell what ran and what came next, not by which edge. Of a nested
// graph the ways of all its frames are one.
type way struct {
	graph  *desk.Graph
	node   map[string]int
	edges  map[string][]out // by node, in the order of its edges
	inner  map[string]*way  // by the node whose frames they are
	begun  map[string]bool  // node runs seen
	items  map[string]bool
	open   map[string]string // node runs that wait: run -> node
	undone []fork            // completions of which it is not known yet where they led
}

// out is one edge of a node: it may lead to several others.
type out struct {
	engine.Edge
	at []int // of the edges of the graph
}

// fork is a completion with several ways out.
type fork struct {
	frame string
	node  string
	words []word
}

func newWay(g *engine.Graph) *way {
	w := &way{
		graph: &desk.Graph{}, node: map[string]int{}, edges: map[string][]out{}, inner: map[string]*way{},
		begun: map[string]bool{}, items: map[string]bool{}, open: map[string]string{},
	}
	for i, n := range g.Nodes {
		x := desk.GraphNode{Name: n.Name, Kind: n.Kind, Start: slices.Contains(g.Start, n.Name)}
		if below := n.Nested(); below != nil {
			w.inner[n.Name] = newWay(below)
			x.Inner = w.inner[n.Name].graph
		}
		w.node[n.Name] = i
		w.graph.Nodes = append(w.graph.Nodes, x)
		for _, e := range n.Edges() {
			o := out{Edge: e}
			to := e.To
			if len(to) == 0 {
				to = []string{""}
			}
			for _, name := range to {
				o.at = append(o.at, len(w.graph.Edges))
				w.graph.Edges = append(w.graph.Edges, desk.GraphEdge{From: n.Name, To: name, Kind: desk.EdgeKind(e.Kind), Unit: unit(n, e), Label: e.Label})
			}
			w.edges[n.Name] = append(w.edges[n.Name], o)
		}
	}
	return w
}

// unit says what the route of a node is the number of, "" where it is a word.
func unit(n *engine.Node, e engine.Edge) string {
	if _, err := strconv.Atoi(e.Label); err != nil || e.Kind != engine.RouteEdge {
		return ""
	}
	switch n.Kind {
	case "exec", "shell":
		return "exit"
	case "http":
		return "HTTP"
	}
	return ""
}

// step adds what one checkpoint tells.
func (w *way) step(c *checkpoint.Checkpoint, said map[string]word) {
	words := map[string][]word{}
	for _, id := range c.Decisions {
		if x, ok := said[id]; ok {
			words[x.run] = append(words[x.run], x)
		}
	}
	for _, r := range c.Runs {
		w.ran(strings.Split(r.Path, "/")[1:], "", r, words[r.Path])
	}
	for i := range w.graph.Nodes {
		if w.graph.Nodes[i].State == desk.NodeNext {
			w.graph.Nodes[i].State = ""
		}
	}
	for _, address := range c.Next {
		w.next(strings.Split(address, "/"), "")
	}
}

// ran notes a node run, whose segments lead from this graph down to it.
func (w *way) ran(segments []string, frame string, r checkpoint.NodeRun, words []word) {
	if len(segments) == 0 {
		return
	}
	name, number, _ := strings.Cut(segments[0], "@")
	i, known := w.node[name]
	if !known {
		return // of a definition before an upgrade
	}
	n := &w.graph.Nodes[i]
	run := frame + "/" + segments[0]
	if !w.begun[run] {
		w.begun[run] = true
		nth, _ := strconv.Atoi(number) // of earlier ones no step may be left
		n.Runs = max(n.Runs+1, nth)
		w.settle(frame, name)
	}
	if len(segments) > 1 {
		w.below(n, run, segments[1:], r, words)
		return
	}
	switch r.Status {
	case "COMPLETED":
		n.State = desk.NodeDone
		if !w.refused(n, words) {
			w.left(frame, name, r.Route, words)
		}
	case "WAITING":
		n.State = desk.NodeWaiting
	case "FAILED":
		n.State = desk.NodeFailed
		w.caught(n, words)
	default:
		n.State = desk.NodeCancelled
		w.replaced(n, words)
	}
	w.waits(run, name, r.Status == "WAITING")
}

// below notes a run inside of the node n.
func (w *way) below(n *desk.GraphNode, run string, segments []string, r checkpoint.NodeRun, words []word) {
	if n.State == "" || n.State == desk.NodeNext || n.State == desk.NodeDone {
		n.State = desk.NodeNext
	}
	frame := run
	if strings.HasPrefix(segments[0], "[") {
		frame = run + "/" + segments[0]
		segments = segments[1:]
		if !w.items[frame] {
			w.items[frame] = true
			n.Items++
		}
	}
	inner := w.inner[n.Name]
	if inner == nil {
		return
	}
	inner.ran(segments, frame, r, words)
	n.Waiting = len(inner.open)
	switch {
	case n.Waiting > 0:
		n.State = desk.NodeWaiting
	case n.State == desk.NodeWaiting:
		n.State = desk.NodeNext
	}
	w.waits(run, n.Name, n.Waiting > 0)
}

func (w *way) waits(run, node string, on bool) {
	if on {
		w.open[run] = node
	} else {
		delete(w.open, run)
	}
}

// left finds the edge by which a completed run left.
func (w *way) left(frame, name, route string, words []word) {
	ways := 0
	for _, o := range w.edges[name] {
		switch {
		case o.Kind == engine.RouteEdge && route != "" && o.Label == route:
			w.take(o, words)
			return
		case o.Kind == engine.WhenEdge, o.Kind == engine.ThenEdge:
			ways++
		}
	}
	for _, o := range w.edges[name] {
		if o.Kind == engine.ThenEdge && ways == 1 {
			w.take(o, words)
			return
		}
	}
	if ways > 0 {
		w.undone = append(w.undone, fork{frame, name, words})
	}
}

// caught takes the failure route of a node, where it has one.
func (w *way) caught(n *desk.GraphNode, words []word) bool {
	for _, o := range w.edges[n.Name] {
		if o.Kind == engine.FailureEdge {
			w.take(o, words)
			n.State = desk.NodeDone
			return true
		}
	}
	return false
}

// refused takes the way of a node that was rejected or cancelled, which no route of its own catches: the failure route, else
// the thread ends here. False when it was neither.
func (w *way) refused(n *desk.GraphNode, words []word) bool {
	for _, x := range words {
		if x.action != string(actions.Reject) && x.action != string(actions.Cancel) || w.routed(n, x.action) != nil {
			continue
		}
		if !w.caught(n, words) {
			n.State = desk.NodeCancelled
			w.unwritten(n.Name, "", desk.EdgeEnded, x)
		}
		return true
	}
	return false
}

// replaced takes the way of a run that was ended for another to take its place, by a retry.
func (w *way) replaced(n *desk.GraphNode, words []word) {
	for _, x := range words {
		if o := w.routed(n, x.action); o != nil {
			n.State = desk.NodeDone
			w.take(*o, []word{x})
			return
		}
		if x.action == string(actions.Retry) || x.action == string(actions.Reply) {
			n.State = desk.NodeNext
			w.unwritten(n.Name, n.Name, desk.EdgeAgain, x)
			return
		}
	}
	w.refused(n, words)
}

// routed is the edge of an action, nil without.
func (w *way) routed(n *desk.GraphNode, action string) *out {
	for i, o := range w.edges[n.Name] {
		if o.Kind == engine.RouteEdge && o.Label == action {
			return &w.edges[n.Name][i]
		}
	}
	return nil
}

// unwritten takes an edge that is in no file.
func (w *way) unwritten(from, to string, kind desk.EdgeKind, x word) {
	is := func(e desk.GraphEdge) bool { return e.From == from && e.To == to && e.Kind == kind }
	at := slices.IndexFunc(w.graph.Edges, is)
	if at < 0 {
		at = len(w.graph.Edges)
		w.graph.Edges = append(w.graph.Edges, desk.GraphEdge{From: from, To: to, Kind: kind})
	}
	w.graph.Edges[at].Took()
	w.graph.Edges[at].By(x.text)
}

// settle finds the completions that led to a node of a frame.
func (w *way) settle(frame, to string) {
	w.undone = slices.DeleteFunc(w.undone, func(f fork) bool {
		if f.frame != frame {
			return false
		}
		for _, o := range w.edges[f.node] {
			if (o.Kind == engine.WhenEdge || o.Kind == engine.ThenEdge) && slices.Contains(o.To, to) {
				w.take(o, f.words)
				return true
			}
		}
		return false
	})
}

func (w *way) take(o out, words []word) {
	for _, at := range o.at {
		e := &w.graph.Edges[at]
		e.Took()
		for _, x := range words {
			e.By(x.text)
		}
	}
}

// next notes what the thread would run now.
func (w *way) next(address []string, frame string) {
	i, known := w.node[address[0]]
	if !known {
		return
	}
	if len(address) == 1 {
		w.settle(frame, address[0])
	}
	if n := &w.graph.Nodes[i]; n.State != desk.NodeFailed && n.State != desk.NodeWaiting {
		n.State = desk.NodeNext
	}
}

// rest notes how the thread stands after its last step.
func (w *way) rest(status checkpoint.Status) {
	ended := slices.Contains([]checkpoint.Status{checkpoint.Done, checkpoint.Rejected, checkpoint.Stopped, checkpoint.Cancelled}, status)
	for _, f := range w.undone {
		for _, o := range w.edges[f.node] {
			if len(o.To) == 0 && (o.Kind == engine.WhenEdge || o.Kind == engine.ThenEdge) {
				w.take(o, f.words)
				break
			}
		}
	}
	w.undone = nil
	for i := range w.graph.Nodes {
		n := &w.graph.Nodes[i]
		if ended && (n.State == desk.NodeWaiting || n.State == desk.NodeNext) {
			n.State, n.Waiting = desk.NodeCancelled, 0
		}
		if inner := w.inner[n.Name]; inner != nil {
			inner.rest(status)
		}
	}
}
