package agentmap

import (
	"fmt"
	"slices"
	"strings"
)

// agent is one type of agent: what it does, and how it is said in the terms of a workflow file.
type agent struct {
	name  string
	doc   string // of one that is not supported: why
	make  func(t *translator, w *work, v *Value)
	graph bool // it runs a sub-graph, whose fields it maps with =
	picks bool // it picks the next node itself
	path  bool // its prompt names what it works on
}

func (a *agent) isGraph() bool { return a != nil && a.graph }

// Agent describes a type of agent, for documentation.
type Agent struct{ Name, Doc string }

// Agents describes the types of agents that run here.
func Agents() []Agent {
	var all []Agent
	for _, a := range agentList() {
		if a.make != nil {
			all = append(all, Agent{a.name, a.doc})
		}
	}
	return all
}

// AgentTypes are the names of the types of agents that run here.
func AgentTypes() []string {
	var names []string
	for _, a := range Agents() {
		names = append(names, a.Name)
	}
	return names
}

// agents are the types by their names without _.
func agents() map[string]agent {
	all := map[string]agent{}
	for _, a := range agentList() {
		all[plainType(a.name)] = a
	}
	return all
}

func agentList() []agent {
	list := []agent{
		{name: "default", doc: "a text that says it ran, with its prompt", make: makeDefault},
		{name: "echo", doc: "the prompt with its `{fields}` filled in; of a prompt without any the input itself, of several inputs an object", make: makeEcho},
		{name: "input", doc: "asks its prompt, a question of kind text", make: makeInput},
		{name: "branching", doc: "succeeds or fails by its first input: `success_field`, `success_values`, `failure_values`, `default_result`, `fallback_fields`", make: makeRun},
		{name: "success", doc: "succeeds, with a text that says so", make: makeSuccess},
		{name: "failure", doc: "fails, with a text that says so", make: makeFailure},
		{name: "suspend", doc: "waits for an outside system", make: makeSuspend},
		{name: "human", doc: "asks a person: `interaction_type` is approval, choice, text_input, edit or conversation", make: makeHuman},
		{name: "graph", doc: "runs another graph: `{workflow=::GRAPH}`, `{workflow=FILE.csv::GRAPH}`", make: makeGraph, graph: true, path: true},
		{name: "summary", doc: "its inputs in one text: `format`, `separator`, `include_keys`; with `llm` a model's summary", make: makeSummary},
		{name: "orchestrator", doc: "leads to the node whose name or prompt fits its input best: `nodes`, `node_type`, `default_target`", make: makeOrchestrator, picks: true},
		{name: "csv_reader", doc: "rows of a CSV file: `id_field`; inputs `document_id`, `query`, `format`", make: makeRun, path: true},
		{name: "csv_writer", doc: "writes rows to a CSV file: `mode` (append), `id_field`; the input `data`, or all inputs as one row", make: makeRun, path: true},
		{name: "json_reader", doc: "a JSON file or a part of it; inputs `document_id`, `path`, `query`", make: makeRun, path: true},
		{name: "json_writer", doc: "writes to a JSON file: `mode`; inputs `data`, `document_id`, `path`", make: makeRun, path: true},
		{name: "file_reader", doc: "the text of a file", make: makeRun, path: true},
		{name: "file_writer", doc: "writes a text to a file: `mode`; the input `data`", make: makeRun, path: true},
		{name: "aggregator", doc: "as summary; AgentMap's examples use it, AgentMap has none", make: makeSummary},
		{name: "output", doc: "as echo; AgentMap's examples use it, AgentMap has none", make: makeEcho},
		{name: "tool_agent", doc: "runs Python tools, which are not loaded here; an exec node of a YAML workflow runs programs"},
		{name: "vector_reader", doc: "searches by meaning, which is not done here; an exec or http node of a YAML workflow can ask a service"},
		{name: "vector_writer", doc: "keeps texts to be searched by meaning, which is not done here; an exec or http node of a YAML workflow can call a service"},
	}
	for _, name := range llmTypes() {
		list = append(list, agent{name: name, doc: "asks a language model of the configuration", make: makeLLM})
	}
	return list
}

// writes are the lines of an output: what each field gets of an expression for the result. A result of several fields is
// taken apart where it is an object; of any other the first field gets all.
func (t *translator) writes(w *work, result string) *Value {
	v := mapping(w.At)
	for i, o := range w.outputs {
		expression := result
		if len(w.outputs) > 1 {
			whole := "nil"
			if i == 0 {
				whole = result
			}
			expression = fmt.Sprintf(`type(%s) == "map" ? get(%s, %s) : %s`, result, result, quoted(o.name), whole)
		}
		v.put(o.key, text(o.at, expression))
	}
	return v
}

// writeText makes the node a template with a text.
func (t *translator) writeText(w *work, v *Value, source, succeeded string) {
	at := w.At
	if c := w.cells[Prompt].trimmed(); c.text != "" {
		at = c.at
	}
	v.put("template", text(at, source))
	out := mapping(w.At)
	for i, o := range w.outputs {
		if i == 0 {
			out.put(o.key, text(o.at, "output"))
		} else {
			out.put(o.key, text(o.at, "nil"))
		}
	}
	out.put(flag, text(w.At, succeeded))
	v.put("output", out)
}

func makeDefault(t *translator, w *work, v *Value) {
	said := "[" + w.Name + "] DefaultAgent executed"
	if w.prompt != "" {
		said += " with prompt: '" + w.prompt + "'"
	}
	t.writeText(w, v, escaped(said, false), "true")
	t.onward(w, v)
}

// inputText is what tells a text agent's inputs: k=v, with a comma between them.
func inputText(inputs []input, values bool) string {
	parts := make([]string, len(inputs))
	for i, x := range inputs {
		parts[i] = escaped(x.param, false)
		if values {
			parts[i] += "=" + printedField(x.key, "")
		}
	}
	return strings.Join(parts, ", ")
}

func makeSuccess(t *translator, w *work, v *Value) {
	said := escaped("SUCCESS: "+w.Name+" executed", false)
	if len(w.inputs) > 0 {
		said += " with inputs: " + inputText(w.inputs, true)
	}
	if w.prompt != "" {
		said += escaped(" with prompt: '"+w.prompt+"'", false)
	}
	t.writeText(w, v, said, "true")
	t.onward(w, v)
}

func makeFailure(t *translator, w *work, v *Value) {
	said := escaped("FAILURE: "+w.Name+" executed (will set last_action_success=False)", false)
	if len(w.inputs) > 0 {
		said += " with inputs: " + inputText(w.inputs, false)
	}
	if w.prompt != "" {
		said += escaped(" with prompt: '"+w.prompt+"'", false)
	}
	t.writeText(w, v, said+" (Will force FAILURE branch)", "false")
	next := w.edges.failure
	if len(next) == 0 {
		next = w.edges.edge
	}
	if len(next) == 0 && len(w.edges.success) > 0 {
		t.warn(w.edges.success[0].at, "the node %q always fails and has no Failure_Next: its branch ends", w.Name)
	}
	t.lead(v, "then", next)
}

// makeEcho gives the filled prompt, else the one input, else all as an object.
func makeEcho(t *translator, w *work, v *Value) {
	if source, filled := t.template(w.prompt, w.inputs); filled || strings.Contains(w.prompt, "{") {
		t.writeText(w, v, source, "true")
		t.onward(w, v)
		return
	}
	set := mapping(w.At)
	switch len(w.inputs) {
	case 0:
		set = t.echoed(w, `"No input provided to echo"`)
	case 1:
		set = t.echoed(w, w.inputs[0].key)
	default:
		for i, o := range w.outputs {
			set.put(o.key, text(o.at, echoedPart(w, i)))
		}
	}
	set.put(flag, bare(w.At, "true"))
	v.put("set", set)
	t.onward(w, v)
}

// echoed gives a result that may be anything.
func (t *translator) echoed(w *work, result string) *Value {
	v := mapping(w.At)
	if len(w.outputs) == 0 || len(w.outputs) == 1 {
		for _, o := range w.outputs {
			v.put(o.key, text(o.at, result))
		}
		return v
	}
	// Each line of a set sees those above: the last first, so that a field which is read and written is read first.
	parts := t.writes(w, result)
	slices.Reverse(parts.Entries)
	v.Entries = parts.Entries
	return v
}

// echoedPart is what one of the output fields gets of all inputs.
func echoedPart(w *work, i int) string {
	if len(w.outputs) == 1 {
		parts := make([]string, len(w.inputs))
		for j, x := range w.inputs {
			parts[j] = quoted(x.param) + ": " + x.key
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	if x := find(w.inputs, w.outputs[i].name); x != nil {
		return x.key
	}
	return "nil"
}

// makeRun makes a node of the kind agent: one of AgentMap's agents as it is, with its inputs and settings.
func makeRun(t *translator, w *work, v *Value) {
	t.run(w, v, w.agent.name, w.context)
	out := t.writes(w, "output.result")
	out.put(flag, text(w.At, "output.success"))
	v.put("output", out)
	t.decided(w, v)
}

// run writes the node's kind, inputs and settings.
func (t *translator) run(w *work, v *Value, name string, context *Value) {
	v.put("agent", text(w.At, name))
	if w.prompt != "" {
		v.put("prompt", text(w.cells[Prompt].trimmed().at, w.prompt))
	}
	if len(w.inputs) > 0 {
		in := mapping(w.At)
		for _, x := range w.inputs {
			in.put(x.param, text(x.at, x.key))
		}
		v.put("in", in)
	}
	if context != nil && len(context.Entries) > 0 {
		v.put("context", context)
	}
}

func makeSummary(t *translator, w *work, v *Value) {
	if w.context != nil && w.context.get("llm").isText() {
		makeLLM(t, w, v)
		return
	}
	t.run(w, v, "summary", w.context)
	out := t.writes(w, "output.result")
	out.put(flag, text(w.At, "output.success"))
	v.put("output", out)
	t.onward(w, v)
}
