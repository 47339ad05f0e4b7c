package agentmap

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/nearest"
)

// Rules is the word that a workflow file has under its key rules where AgentMap's hold.
const Rules = "agentmap"

// flag is the state field in which AgentMap keeps whether the last agent succeeded. Every node sets it.
const flag = "last_action_success"

// errorsField is the state field in which AgentMap keeps what went wrong.
const errorsField = "errors"

// Options say what a graph is translated for.
type Options struct {
	// Child is the reference to another graph of the same file.
	Child func(graph string) string
	// Model picks the model of a node from what the file calls it, most particular first. nil: the first.
	Model func(names []string) string
	// Kept is the text of a prompt that a cell names, as prompt:NAME, file:PATH or yaml:PATH#KEY. nil: the cell is the text.
	Kept func(ref string) (string, error)
}

// Translation is a graph as a workflow file.
type Translation struct {
	Root     *Value
	Faults   []Fault
	Warnings []Fault
}

// Translate says a graph of the file in the terms of a workflow file. Where it has faults the tree is not whole.
func (f *File) Translate(g *Graph, o Options) Translation {
	t := &translator{
		file: f, graph: g, options: o,
		names: map[string]string{}, fields: map[string]*field{}, keys: map[string]*field{}, preds: map[string]int{}, kinds: agents(),
		children: map[*Graph]map[string]bool{},
	}
	t.name()
	t.readNodes()
	t.countPredecessors()
	nodes := mapping(g.Nodes[0].At)
	for _, n := range t.nodes {
		nodes.Entries = append(nodes.Entries, Entry{text(n.At, n.name), t.node(n)})
	}
	return Translation{t.root(nodes), t.faults, t.warnings}
}

// translator translates one graph.
type translator struct {
	file    *File
	graph   *Graph
	options Options
	nodes   []*work
	names   map[string]string // name of a node in the file -> in the workflow
	kinds   map[string]agent

	children map[*Graph]map[string]bool // the fields that their rows name

	fields  map[string]*field // by name
	keys    map[string]*field // by state key
	order   []*field          // in the order in which the rows name them
	appends []string          // state keys to which is added
	preds   map[string]int    // node -> ways that lead to it
	picks   int               // nodes among which orchestrators pick, all together

	faults   faults
	warnings faults
}

// field is a field of the state.
type field struct {
	name, key     string
	at            Place
	read, written bool
}

// work is a node being translated.
type work struct {
	*Node
	name    string // in the workflow
	agent   *agent // nil: its type is not known
	typed   string // its type as the file writes it
	context *Value // nil: none
	prompt  string
	inputs  []input
	outputs []output
	edges   edges

	candidates []*work // of an orchestrator
	fallback   *work   // of an orchestrator, nil for none
}

// input is one field that a node is given.
type input struct {
	param string // what the agent calls it
	key   string // state key
	at    Place
}

// output is one field that a node writes.
type output struct {
	name string
	key  string
	from string // field of a child graph; "" for the result
	at   Place
}

func (t *translator) fault(at Place, format string, args ...any) { t.faults.add(at, format, args...) }

func (t *translator) warn(at Place, format string, args ...any) { t.warnings.add(at, format, args...) }

// name gives every node its name in the workflow.
func (t *translator) name() {
	taken := map[string]bool{}
	last := map[string]int{} // number given to nodes whose names become one
	for _, n := range t.graph.Nodes {
		name := nodeName(n.Name)
		for base := name; taken[name]; {
			last[base]++
			name = nodeName(fmt.Sprintf("%.50s_%d", base, last[base]+1))
		}
		if taken[name] = true; name != n.Name {
			t.warn(n.At, "the node %q is called %q here", n.Name, name)
		}
		t.names[n.Name] = name
	}
}

func (t *translator) readNodes() {
	for _, n := range t.graph.Nodes {
		w := &work{Node: n, name: t.names[n.Name], typed: n.Cell(AgentType)}
		w.agent = t.agentOf(w)
		w.prompt = t.prompt(w)
		w.context = t.context(n)
		w.inputs = t.inputs(w)
		w.outputs = t.outputs(w)
		w.edges = t.edges(n)
		t.nodes = append(t.nodes, w)
		for _, c := range []Column{ToolSource, AvailableTools} {
			if cell := n.cells[c].trimmed(); cell.text != "" {
				t.fault(cell.at, "%s: tools are Python programs, which are not loaded here; an exec node of a YAML workflow runs them", c)
			}
		}
	}
}

// elsewhere is how a Prompt cell names a text that is kept in a file.
var elsewhere = regexp.MustCompile(`^(prompt:\S+|file:\S.*|yaml:\S.*#\S+)$`)

// prompt is the text that a node's Prompt cell holds or names.
func (t *translator) prompt(w *work) string {
	c := w.cells[Prompt].trimmed()
	if t.options.Kept == nil || w.agent != nil && w.agent.path || !elsewhere.MatchString(c.text) {
		return c.text
	}
	kept, err := t.options.Kept(c.text)
	if err != nil {
		t.fault(c.at, "the prompt %q is kept elsewhere: %v", c.text, err)
	}
	return kept
}

// stateKey is the key of a field that a cell names.
func (t *translator) stateKey(c cell, written bool) string {
	x := t.fields[c.text]
	if x == nil {
		x = &field{name: c.text, key: Key(c.text), at: c.at}
		if other := t.keys[x.key]; other != nil {
			t.fault(c.at, "the fields %q and %q are both called %q here: rename one", other.name, x.name, x.key)
		}
		t.fields[x.name], t.keys[x.key] = x, x
		t.order = append(t.order, x)
	}
	x.read, x.written = x.read || !written, x.written || written
	return x.key
}

// inputs reads an Input_Fields cell: names with | between them, or of a single one with commas; a:b gives a as b, and for a
// sub-graph b=a the same.
func (t *translator) inputs(w *work) []input {
	var list []input
	seen := map[string]bool{}
	c := w.cells[InputFields].trimmed()
	parts := c.split("|")
	if len(parts) == 1 && strings.Contains(c.text, ",") {
		parts = c.split(",")
	}
	for _, part := range parts {
		if strings.HasPrefix(part.text, "func:") {
			t.fault(part.at, "%q calls Python, which is not run here: name fields", part.text)
			continue
		}
		x := t.input(w, part)
		if seen[x.param] {
			t.fault(part.at, "the field %q is given twice", x.param)
			continue
		}
		seen[x.param] = true
		list = append(list, x)
	}
	return list
}

func (t *translator) input(w *work, part cell) input {
	from, param := part, part.text
	if i := strings.IndexByte(part.text, '='); i > 0 && w.agent.isGraph() {
		param = strings.TrimSpace(part.text[:i])
		from = part.part(i+1, part.text[i+1:]).trimmed()
	} else if i := strings.IndexByte(part.text, ':'); i > 0 {
		param = strings.TrimSpace(part.text[i+1:])
		from = part.part(0, part.text[:i]).trimmed()
	} else if strings.ContainsRune(part.text, '=') {
		t.fault(part.at, "%q: child=parent is for sub-graphs; field:name gives a field under another name", part.text)
	}
	if param == "" || from.text == "" {
		t.fault(part.at, "%q names only one side: a field and the name under which it is given", part.text)
		return input{param: part.text, key: "_", at: part.at}
	}
	return input{param: param, key: t.stateKey(from, false), at: part.at}
}

// find is the input that the agent calls so.
func find(list []input, param string) *input {
	if i := slices.IndexFunc(list, func(x input) bool { return x.param == param }); i >= 0 {
		return &list[i]
	}
	return nil
}

// outputs reads an Output_Field cell.
func (t *translator) outputs(w *work) []output {
	var list []output
	seen := map[string]bool{}
	for _, part := range w.cells[OutputField].trimmed().split("|") {
		x := output{name: part.text, at: part.at}
		if i := strings.IndexByte(part.text, '='); i >= 0 {
			if !w.agent.isGraph() {
				t.fault(part.at, "%q: parent=child is for sub-graphs; give the one field in which the result is to be", part.text)
				continue
			}
			x.from = strings.TrimSpace(part.text[i+1:])
			part = part.part(0, part.text[:i]).trimmed()
			x.name = part.text
			if x.name == "" || x.from == "" {
				t.fault(x.at, "parent=child names only one side: the field here, and the field of the sub-graph")
				continue
			}
		}
		if seen[x.name] {
			t.fault(part.at, "the field %q is written twice", x.name)
			continue
		}
		seen[x.name] = true
		x.key = t.stateKey(part, true)
		list = append(list, x)
	}
	return list
}

// root is the whole tree.
func (t *translator) root(nodes *Value) *Value {
	at := t.graph.Nodes[0].cells[GraphName].trimmed().at
	root := mapping(at)
	root.put("workflow", text(at, WorkflowName(t.graph.Name)))
	root.put("rules", text(at, Rules))
	root.put("input", t.inputSchema(at))
	state, result, renamed := mapping(at), mapping(at), false
	t.stateKey(cell{text: flag, at: at}, true)
	for _, f := range t.order {
		reducer := "last"
		if slices.Contains(t.appends, f.key) {
			reducer = "append"
		}
		state.put(f.key, text(f.at, reducer))
		result.put(f.name, text(f.at, f.key))
		renamed = renamed || f.name != f.key
	}
	root.put("state", state)
	if renamed {
		root.put("output", result)
	}
	root.put("nodes", nodes)
	return root
}

// inputSchema takes every field that a cell names, those first that only the input can fill. A file that reads the flag
// does not take it.
func (t *translator) inputSchema(at Place) *Value {
	properties := mapping(at)
	for _, wanted := range []func(*field) bool{
		func(f *field) bool { return f.read && !f.written },
		func(f *field) bool { return f.read && f.written },
		func(f *field) bool { return !f.read },
	} {
		for _, f := range t.order {
			if f.name == flag || !wanted(f) {
				continue
			}
			property := mapping(f.at)
			if f.name != f.key {
				property.put("title", text(f.at, f.name))
			}
			properties.put(f.key, property)
		}
	}
	schema := mapping(at)
	schema.put("properties", properties)
	return schema
}

// node is a node in the terms of a workflow file.
func (t *translator) node(w *work) *Value {
	v := mapping(w.At)
	if d := w.cells[Description].trimmed(); d.text != "" {
		v.put("description", text(d.at, d.text))
	}
	if w.agent == nil {
		v.put("template", text(w.At, "")) // so that what else is wrong with the row is told
		return v
	}
	w.agent.make(t, w, v)
	if t.preds[w.Name] > 1 {
		v.put("join", text(w.At, "step"))
	}
	return v
}

// agentOf is what a node's type means. Types match in any case, and with or without the ending Agent.
func (t *translator) agentOf(w *work) *agent {
	typed := w.typed
	if typed == "" {
		typed = "default"
	}
	plain := plainType(typed)
	for _, name := range []string{plain, strings.TrimSuffix(plain, "agent")} {
		if a, ok := t.kinds[name]; ok && name != "" {
			if a.make == nil {
				t.fault(w.cells[AgentType].trimmed().at, "the agent type %q %s", typed, a.doc)
				return nil
			}
			return &a
		}
	}
	known := AgentTypes()
	hint := nearest.Hint(strings.ToLower(typed), known)
	if hint == "" {
		hint = "; known are " + strings.Join(known, ", ")
	}
	t.fault(w.cells[AgentType].trimmed().at, "unknown agent type %q%s", typed, hint)
	return nil
}

func plainType(typed string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(typed))
}

// countPredecessors counts the ways that lead to each node, of which there may be several in one step.
func (t *translator) countPredecessors() {
	t.preds[t.graph.Nodes[0].Name]++
	for _, w := range t.nodes {
		for _, name := range t.leadsTo(w) {
			t.preds[name]++
		}
	}
}

// leadsTo are the nodes to which a node can lead, each once.
func (t *translator) leadsTo(w *work) []string {
	var names []string
	seen := map[string]bool{}
	if w.agent != nil && w.agent.picks {
		w.candidates = t.candidates(w)
		for _, c := range w.candidates {
			names = append(names, c.Name)
			seen[c.Name] = true
		}
		if w.fallback = t.fallback(w); w.fallback != nil && !seen[w.fallback.Name] {
			names = append(names, w.fallback.Name)
			seen[w.fallback.Name] = true
		}
	}
	for _, list := range [][]target{w.edges.edge, w.edges.success, w.edges.failure} {
		for _, x := range list {
			if !seen[x.name] {
				seen[x.name] = true
				names = append(names, x.name)
			}
		}
	}
	return names
}
