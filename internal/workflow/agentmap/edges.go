package agentmap

import (
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/nearest"
)

// target is a node to which an edge leads, by its name in the file.
type target struct {
	name string
	at   Place
}

// edges are the three edge columns of a row.
type edges struct{ edge, success, failure []target }

// next is where the node leads when it completed and succeeded.
func (e edges) next() []target {
	if len(e.edge) > 0 {
		return e.edge
	}
	return e.success
}

// edges reads the edge columns of a row.
func (t *translator) edges(n *Node) edges {
	e := edges{t.targets(n, Edge), t.targets(n, SuccessNext), t.targets(n, FailureNext)}
	same := slices.EqualFunc(e.edge, e.success, func(a, b target) bool { return a.name == b.name })
	if len(e.edge) > 0 && len(e.success) > 0 && !same {
		t.fault(e.success[0].at, "the node %q has an Edge and another Success_Next: AgentMap takes the Edge and forgets the other; keep one of them", n.Name)
	}
	if len(e.edge) > 0 && len(e.failure) > 0 {
		t.warn(e.failure[0].at, "the node %q has an Edge and a Failure_Next: it is taken on failure here, where AgentMap takes the Edge", n.Name)
	}
	return e
}

// targets reads one edge cell: A|B|C run side by side.
func (t *translator) targets(n *Node, column Column) []target {
	c := n.cells[column].trimmed()
	if c.text == "" {
		return nil
	}
	parts := c.split("|")
	if len(parts) == 0 {
		t.warn(c.at, "%s: %q names no node, so that the branch ends here", column, c.text)
	}
	var list []target
	seen := map[string]bool{}
	for _, part := range parts {
		name := oneLine(part.text)
		switch {
		case strings.HasPrefix(name, "func:"):
			t.fault(part.at, "%s: %q calls Python, which is not run here: a branching node with Success_Next and Failure_Next decides by a field", column, name)
		case t.names[name] == "":
			t.fault(part.at, "%s names the node %q, which is not in the graph %q%s", column, name, t.graph.Name, t.nodeHint(name))
		case !seen[name]:
			seen[name] = true
			list = append(list, target{name, part.at})
		}
	}
	return list
}

// maxHints bounds how often nearest names are looked for.
const maxHints = 200

// nodeHint says which node of the graph may be meant.
func (t *translator) nodeHint(name string) string {
	if len(t.faults) > maxHints {
		return ""
	}
	var known []string
	for _, n := range t.graph.Nodes {
		if strings.EqualFold(n.Name, name) {
			return "; did you mean " + quoted(n.Name) + "? Names of nodes match by case"
		}
		known = append(known, n.Name)
	}
	if hint := nearest.Hint(name, known); hint != "" {
		return hint
	}
	if strings.EqualFold(name, "end") {
		return ": to end a branch, leave the cell empty"
	}
	return ""
}

// lead writes where an edge leads; nothing for a branch that ends.
func (t *translator) lead(v *Value, key string, targets []target) {
	switch len(targets) {
	case 0:
	default:
		v.put(key, t.destination(targets))
	}
}

// destination is one node, END for none, or a list.
func (t *translator) destination(targets []target) *Value {
	if len(targets) == 0 {
		return text(Place{}, "END")
	}
	items := make([]*Value, len(targets))
	for i, x := range targets {
		items[i] = text(x.at, t.names[x.name])
	}
	if len(items) == 1 {
		return items[0]
	}
	return list(targets[0].at, items...)
}

// onward writes the edges of an agent whose result does not say whether it succeeded: it completes, or it fails.
func (t *translator) onward(w *work, v *Value) {
	t.lead(v, "then", w.edges.next())
	t.caught(w, v, w.edges.failure)
}

// caught writes where a failed run leads, and what the state is then told.
func (t *translator) caught(w *work, v *Value, targets []target, more ...Entry) {
	if len(targets) == 0 {
		return
	}
	v.put("failure", t.destination(targets))
	told := mapping(w.At)
	told.Entries = append(told.Entries, more...)
	told.put(flag, bare(w.At, "false"))
	if x := t.fields[errorsField]; x != nil {
		told.put(x.key, text(w.At, "[output.message]"))
	}
	v.put("failed", told)
}

// decided writes the edges of an agent whose result says whether it succeeded.
func (t *translator) decided(w *work, v *Value) {
	e := w.edges
	switch {
	case len(e.edge) > 0 && len(e.failure) == 0:
		v.put("then", t.destination(e.edge))
		return
	case len(e.next()) == 0 && len(e.failure) == 0:
		return
	case len(e.failure) == 0:
		t.warn(e.success[0].at, "the node %q has no Failure_Next: where it fails, its branch ends", w.Name)
	case len(e.next()) == 0:
		t.warn(e.failure[0].at, "the node %q has no Success_Next: where it succeeds, its branch ends", w.Name)
	}
	t.when(v, w.At, "output.success", e.next())
	then := t.destination(e.failure)
	v.put("then", then)
}

// when writes a single condition.
func (t *translator) when(v *Value, at Place, condition string, targets []target) {
	branch := mapping(at)
	branch.put("if", text(at, condition))
	branch.put("then", t.destination(targets))
	v.put("when", list(at, branch))
}
