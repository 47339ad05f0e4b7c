package workflow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/workflow/agentmap"
	"github.com/hitl-tui/hitl-tui/internal/workflow/node"
)

// format is the number of the format this program reads and writes.
const format = 1

// strictRules is the word for the rules of a workflow file that says nothing else.
const strictRules = "strict"

// topLevel is how messages call the outermost mapping.
const topLevel = "the top level"

// file is a workflow file as it is written: every text in its place, nothing resolved yet.
type file struct {
	format         formatT
	rules          wordT
	name           nameT
	description    wordT
	input          inputT
	state          reducersT
	output         exprMap
	start          targets
	maxConcurrency intT
	stepLimit      intT
	workdir        textT
	env            textMap
	nodes          nodesT
}

func newFile() *file {
	return &file{rules: wordT{what: "rules", words: []string{strictRules, agentmap.Rules}}, maxConcurrency: intT{0, 1, 10_000}, stepLimit: intT{0, 1, 10_000_000}}
}

// fileKeys are the keys of the top level.
func fileKeys() []key[file] {
	return []key[file]{
		{"workflow", true, "name: letters, digits, . _ and -, up to 64", func(f *file) place { return &f.name }},
		{"format", false, "number of the format (1)", func(f *file) place { return &f.format }},
		{"rules", false, "agentmap, as of a converted AgentMap file: a node may be called Start or Save it, a node that is never reached and a loop that nothing ends are warnings, a node runs once for the branches that reach it in one step, and input that no key takes is left out (strict)", func(f *file) place { return &f.rules }},
		{"description", false, "a text for people", func(f *file) place { return &f.description }},
		{"input", false, "JSON Schema of the input object; each property is a state key (takes no input)", func(f *file) place { return &f.input }},
		{"state", false, "key: reducer, one of replace, append, add, merge, union, last (replace)", func(f *file) place { return &f.state }},
		{"output", false, "name: expression, the result of a finished run (all state keys)", func(f *file) place { return &f.output }},
		{"start", false, "node or list of nodes (first node)", func(f *file) place { return &f.start }},
		{"max_concurrency", false, "node runs at a time (8)", func(f *file) place { return &f.maxConcurrency }},
		{"step_limit", false, "super-steps a call (1000)", func(f *file) place { return &f.stepLimit }},
		{"workdir", false, "template: folder of every program of the file (where the thread was started)", func(f *file) place { return &f.workdir }},
		{"env", false, "NAME: template, for every program of the file", func(f *file) place { return &f.env }},
		{"nodes", true, "name: node", func(f *file) place { return &f.nodes }},
	}
}

// readFile reads the model of a file. nil when there is none.
func readFile(src *source, root *value) *file {
	r := &reader{source: src}
	if root.shape != mappingShape {
		r.fault(root.at, "a workflow file is a mapping that begins with workflow: NAME, not %v", root)
		return nil
	}
	f := newFile()
	if v := root.get("format"); v != nil {
		if f.format.take(r, "format", v); f.format.newer {
			return nil // what else it says may mean something else there
		}
	}
	v := root.get("rules")
	r.lenient = v != nil && v.text == agentmap.Rules
	readKeys(r, fileKeys(), f, root, topLevel, nil)
	return f
}

// formatT is a place for the number of the format.
type formatT struct{ newer bool }

func (p *formatT) take(r *reader, name string, v *value) {
	if p.newer {
		return
	}
	n := intT{0, 1, 1 << 30}
	before := len(r.faults)
	if n.take(r, name, v); len(r.faults) > before && v.shape == emptyShape {
		r.faults = r.faults[:before] // readKeys reports it
	}
	if n.n > format {
		p.newer = true
		r.fault(v.at, "this file is of format %d, and this hitl-tui reads formats up to %d: a newer one is needed", n.n, format)
	}
}

func (p *formatT) schema() schema { return schema{"const": format} }

// nodesT is a place for the nodes.
type nodesT struct {
	list []*nodeDef
	at   position
}

func (p *nodesT) take(r *reader, name string, v *value) {
	p.at = v.at
	for _, e := range r.pairs(name, "name: node", v) {
		n := newNode(e.key.text, e.key.at)
		r.nodeName(e.key)
		if e.value.shape != mappingShape {
			r.fault(e.value.at, "node %q must be a mapping such as {exec: [...]}, not %v", n.name, e.value)
			n.broken, n.vague = true, true
			r.unclear++
		} else {
			unclear, doubts := r.unclear, r.doubts
			r.readNode(n, e.value)
			n.vague = r.unclear > unclear
			n.doubtful = n.vague || r.doubts > doubts
		}
		p.list = append(p.list, n)
	}
	if v.shape == mappingShape && len(v.entries) == 0 {
		r.fault(v.at, "%s holds no node", name)
	}
}

func (p *nodesT) schema() schema {
	return schema{"type": "object", "propertyNames": ref("identifier"), "additionalProperties": ref("node"), "minProperties": 1}
}

// nodeDef is a node as it is written. Which fields are used depends on its kind.
type nodeDef struct {
	name   string
	at     position
	kind   *kind // nil when it has none
	broken bool  // it has no kind that can be built
	vague  bool  // a key of it could not be read: what is missing is not to be held against it

	doubtful bool // it is vague, or a word of it is unknown: what does not go with that word is not to be held against it

	description wordT
	then        targets
	routes      routesT
	when        whenT
	failure     targets
	failed      outputT
	join        wordT
	output      outputT
	timeout     durationT
	retry       retryT

	args        textList
	script      wordT
	stdin       exprT
	env         textMap
	inheritEnv  wordList
	workdir     textT
	accept      intList
	parse       wordT
	protocol    wordT
	in          exprMap
	outputLimit sizeT

	url      textT // of http
	method   wordT
	query    textMap
	headers  textMap
	json     exprT
	body     textT
	statuses intList

	model       wordT // of llm
	system      textT
	prompt      textT
	messages    exprT
	answer      schemaT
	temperature floatT
	maxTokens   intT

	agent   wordT // of agent
	said    wordT // its prompt
	context jsonT

	items       exprT // of map
	do          nodesT
	child       childT // of map and workflow
	as          itemT
	result      exprT
	maxParallel intT
	maxWaiting  intT

	text      textT // of template and fail
	set       setT
	question  *question // of human
	questions questionsT
	wait      waitT
}

func newNode(name string, at position) *nodeDef {
	return &nodeDef{name: name, at: at,
		join:     wordT{what: "join", words: joinNames()},
		retry:    newRetry(),
		accept:   intList{min: 1, max: 255},
		parse:    wordT{what: "parse", words: parseNames()},
		protocol: wordT{what: "protocol", words: []string{"json"}},
		question: newQuestion("", at),
		agent:    wordT{what: "agent", words: node.Agents()},

		method:      wordT{what: "method", words: methods},
		statuses:    intList{min: 200, max: 599},
		temperature: floatT{unset, 0, 2},
		maxTokens:   intT{0, 1, 10_000_000},

		maxParallel: intT{0, 1, 10_000}, maxWaiting: intT{0, 1, 1_000_000},
	}
}

// methods are those of HTTP that a node may send.
var methods = []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}

// unset is what a temperature that is not given is: no model has it.
const unset = -1

// owner is how messages call the node.
func (n *nodeDef) owner() string {
	if n.kind == nil {
		return fmt.Sprintf("node %q", n.name)
	}
	return fmt.Sprintf("node %q (%s)", n.name, n.kind.name)
}

// asks are the questions of a human or questions node.
func (n *nodeDef) asks() []*question {
	switch n.kind.name {
	case humanKind:
		return []*question{n.question}
	case questionsKind:
		return n.questions.list
	}
	return nil
}

// mayAsk reports whether the node may wait for a person.
func (n *nodeDef) mayAsk() bool {
	return n.kind != nil && (len(n.asks()) > 0 || n.protocol.text == "json" || n.child.asks ||
		slices.ContainsFunc(n.do.list, (*nodeDef).mayAsk))
}

// meaning is one of the words that a key takes, and what it means.
type meaning struct{ name, doc string }

func wordsOf(list []meaning) []string {
	names := make([]string, len(list))
	for i, w := range list {
		names[i] = w.name
	}
	return names
}

func joins() []meaning {
	return []meaning{
		{string(engine.JoinAll), "once, when every predecessor has arrived; if one can no longer arrive it fails and names it, so that nothing passes a gate unseen"},
		{string(engine.JoinArrived), "once, when each predecessor has arrived or can no longer arrive"},
		{string(engine.JoinEach), "once for each arrival; so does a node without join, where it cannot be reached by branches that run side by side"},
		{string(engine.JoinStep), "once for all arrivals of one super-step"},
	}
}

func reducers() []meaning {
	return []meaning{
		{string(engine.Replace), "the new value takes the place of the old; two nodes that write it in one super-step are a failure"},
		{string(engine.Append), "a list is added item by item, anything else as one item"},
		{string(engine.Add), "numbers are added"},
		{string(engine.Merge), "objects: keys are added, and written over"},
		{string(engine.Union), "a list without what is there already"},
		{string(engine.Last), "as replace, but of two nodes in one super-step the later in the file wins"},
	}
}

func joinNames() []string { return wordsOf(joins()) }

func reducerNames() []string { return wordsOf(reducers()) }

// readNode finds the node's kind and reads its keys by the kind's table.
func (r *reader) readNode(n *nodeDef, v *value) {
	var found []string
	for _, e := range v.entries {
		if k := kindOf(e.key.text); k != nil {
			found = append(found, k.name)
			n.kind = k
		}
	}
	if n.kind != nil && v.get(mapKind) != nil && v.get(workflowKind) != nil {
		found = slices.DeleteFunc(found, func(name string) bool { return name == workflowKind })
		n.kind = kindOf(mapKind) // whose body the workflow is
	}
	switch {
	case len(found) > 1:
		r.fault(n.at, "node %q has %d kinds (%s): one node does one thing", n.name, len(found), strings.Join(found, ", "))
		n.broken = true
	case len(found) == 0:
		r.noKind(n, v)
		n.broken = true
	}
	if n.broken { // where it leads is worth knowing all the same, so that the nodes behind it are not called unreachable
		r.readKnown(n, v)
		return
	}
	hint := routesHint
	if n.kind.hint != nil {
		hint = n.kind.hint
	}
	if n.kind.name != humanKind {
		readKeys(r, n.kind.table(), n, v, n.owner(), hint)
		return
	}
	if q := v.get(humanKind); q.shape == scalarShape {
		n.question.kind.text = q.text // for messages about other keys; its place checks the word
	}
	owner := n.question.owner(n.name)
	n.question.kind.text = ""
	readKeys(r, n.kind.table(), n, v, owner, hint)
}

// readKnown reads the keys that every node has, and output, and leaves the others alone.
func (r *reader) readKnown(n *nodeDef, v *value) {
	table := append(commonKeys(), outputKey())
	for _, e := range v.entries {
		for _, k := range table {
			if k.name == e.key.text {
				r.take(k.of(n), e.key, e.value)
			}
		}
	}
}

// noKind reports a node without a kind: as a typo where a key is near one.
func (r *reader) noKind(n *nodeDef, v *value) {
	all := kindNames()
	known := map[string]bool{}
	for _, k := range append(names(commonKeys()), outputKey().name) {
		known[k] = true
	}
	for _, e := range v.entries {
		if known[e.key.text] {
			continue
		}
		near := r.didYouMean(e.key.text, all)
		if ours := otherNames[e.key.text]; near == "" && slices.Contains(all, ours) {
			near = fmt.Sprintf("; here that is %q", ours)
		}
		if near != "" {
			r.fault(e.key.at, "unknown key %q in node %q%s", e.key.text, n.name, near)
			return
		}
	}
	r.fault(n.at, "node %q has no kind: give it one of %s", n.name, strings.Join(all, ", "))
}

// routesHint knows a key of other tools.
func routesHint(name string) string {
	if name == "on" {
		return `edges by action are written under "routes"`
	}
	return ""
}
