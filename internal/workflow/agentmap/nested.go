package agentmap

import (
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/nearest"
)

// makeGraph makes a workflow node of a graph agent.
func makeGraph(t *translator, w *work, v *Value) {
	ref, child := t.child(w)
	if ref == nil {
		v.put("template", text(w.At, ""))
		return
	}
	v.put("workflow", ref)
	if len(w.inputs) > 0 {
		in := mapping(w.At)
		for _, x := range w.inputs {
			if child != nil && !t.childNames(child, x.param) {
				t.warn(x.at, "no cell of the graph %q names the field %q: it is not given", child.Name, x.param)
				continue
			}
			key := x.param
			if child != nil {
				key = Key(key)
			}
			in.put(key, text(x.at, x.key))
		}
		v.put("in", in)
	}
	out := mapping(w.At)
	for _, o := range w.outputs {
		out.put(o.key, text(o.at, t.childResult(w, o, child)))
	}
	out.put(flag, text(w.At, "true"))
	v.put("output", out)
	t.lead(v, "then", w.edges.next())
	t.caught(w, v, w.edges.failure)
}

// childResult is what of the child's result an output field gets: the field it names, else one of its own name, else all.
func (t *translator) childResult(w *work, o output, child *Graph) string {
	name := o.from
	switch {
	case name == "" && len(w.outputs) > 1:
		name = o.name
	case name == "" && child != nil && !t.childNames(child, o.name):
		return "output"
	case name == "":
		return "get(output, " + quoted(o.name) + ") ?? output"
	}
	if child != nil && !t.childNames(child, name) {
		t.fault(o.at, "no cell of the graph %q names the field %q%s", child.Name, name, nearest.Hint(name, child.fields()))
	}
	return "get(output, " + quoted(name) + ")"
}

// child is the reference to the graph that a node runs, and the graph where it is in this file.
func (t *translator) child(w *work) (*Value, *Graph) {
	c := w.cells[Context].trimmed()
	if w.context != nil {
		if x := w.context.get("workflow_field"); x != nil {
			t.fault(x.At, "workflow_field names a graph while it runs; which graphs run must be known before: name one with workflow, one node each, behind a branching or an orchestrator")
			return nil, nil
		}
		for _, key := range []string{"workflow", "graph"} {
			if x := w.context.get(key); x.isText() {
				return t.reference(x)
			}
		}
	}
	name := w.cells[Prompt].trimmed()
	if name.text == "" {
		t.fault(w.At, "the node %q names no graph to run: write {workflow=::GRAPH} or {workflow=FILE.csv::GRAPH} into its Context", w.Name)
		return nil, nil
	}
	// The older form has the graph in the prompt and the file, if it is another one, in the Context.
	file := ""
	if w.context != nil {
		if x := w.context.get("csv_path"); x.isText() {
			file = x.Text
		}
	} else if strings.HasSuffix(strings.ToLower(c.text), ".csv") {
		file = c.text
	}
	if file != "" {
		return text(name.at, file+"::"+name.text), nil
	}
	return t.inFile(text(name.at, name.text), name.text)
}

// reference reads ::GRAPH, FILE.csv::GRAPH, or the name of a workflow or of a graph of this file.
func (t *translator) reference(x *Value) (*Value, *Graph) {
	name, ok := strings.CutPrefix(x.Text, "::")
	switch {
	case ok:
		return t.inFile(x, strings.TrimSpace(name))
	case !strings.Contains(x.Text, "::") && t.file.Graph(x.Text) != nil:
		return t.inFile(x, x.Text)
	}
	return x, nil
}

func (t *translator) inFile(x *Value, name string) (*Value, *Graph) {
	child := t.file.Graph(name)
	if child == nil {
		t.fault(x.At, "the file has no graph %q%s", name, nearest.Hint(name, t.file.Names()))
		return nil, nil
	}
	return text(x.At, t.options.Child(name)), child
}

// fields are all fields that the rows of a graph name, as cells write them.
func (g *Graph) fields() []string {
	names := []string{flag}
	for _, n := range g.Nodes {
		inputs := n.cells[InputFields].trimmed()
		parts := inputs.split("|")
		if len(parts) == 1 && strings.Contains(inputs.text, ",") {
			parts = inputs.split(",")
		}
		graph := strings.TrimSuffix(plainType(n.Cell(AgentType)), "agent") == "graph"
		for _, part := range parts {
			name := part.text
			if i := strings.IndexByte(name, '='); i > 0 && graph {
				name = name[i+1:]
			} else if before, _, ok := strings.Cut(name, ":"); ok {
				name = before
			}
			names = append(names, strings.TrimSpace(name))
		}
		for _, part := range n.cells[OutputField].trimmed().split("|") {
			name, _, _ := strings.Cut(part.text, "=")
			names = append(names, strings.TrimSpace(name))
		}
	}
	return names
}

// childNames reports whether a cell of a child graph names a field.
func (t *translator) childNames(g *Graph, field string) bool {
	known := t.children[g]
	if known == nil {
		known = map[string]bool{}
		for _, name := range g.fields() {
			known[name] = true
		}
		t.children[g] = known
	}
	return known[field]
}
