package workflow

import (
	"time"

	"github.com/hitl-tui/hitl-tui/internal/workflow/node"
)

// The kinds that the code must tell apart by name.
const (
	execKind      = "exec"
	shellKind     = "shell"
	httpKind      = "http"
	llmKind       = "llm"
	templateKind  = "template"
	setKind       = "set"
	humanKind     = "human"
	questionsKind = "questions"
	mapKind       = "map"
	workflowKind  = "workflow"
	waitKind      = "wait"
	agentKind     = "agent"
	failKind      = "fail"
)

// kind is one kind of node: the key that names it and what that key's value is, and the keys of its own.
type kind struct {
	name   string
	doc    string
	value  func(*nodeDef) place
	own    []key[nodeDef]
	output bool // it has an output
	routes routing
	hint   func(name string) string
}

// routing says what the route of a node is.
type routing int

const (
	noRoute     routing = iota
	actionRoute         // the action of an answer
	exitRoute           // the exit code of a program, or what a json program says
	statusRoute         // the status of an HTTP answer
)

// kinds are the kinds of node, in the order in which messages list them.
func kinds() []*kind {
	return []*kind{
		{name: execKind, doc: "program and arguments, without a shell; output: what it prints",
			value: func(n *nodeDef) place { return &n.args }, own: append(programKeys(), execKeys()...), output: true, routes: exitRoute},
		{name: shellKind, doc: "script for /bin/sh -c, not a template: values come by env; output: what it prints",
			value: func(n *nodeDef) place { return &n.script }, own: programKeys(), output: true, routes: exitRoute},
		{name: httpKind, doc: "URL, a template; output: the body of the answer",
			value: func(n *nodeDef) place { return &n.url }, own: httpKeys(), output: true, routes: statusRoute},
		{name: llmKind, doc: "name of a model of the configuration, or default; output: its text, with schema an object",
			value: func(n *nodeDef) place { return &n.model }, own: llmKeys(), output: true},
		{name: templateKind, doc: "template; output: the text",
			value: func(n *nodeDef) place { return &n.text }, output: true},
		{name: setKind, doc: "key: expression, top to bottom; each line sees those above",
			value: func(n *nodeDef) place { return &n.set }},
		{name: humanKind, doc: "kind of question; output: the answer's value",
			value: func(n *nodeDef) place { return &n.question.kind }, own: questionNodeKeys(), output: true, routes: actionRoute},
		{name: questionsKind, doc: "name: question, asked side by side; output: name: value",
			value: func(n *nodeDef) place { return &n.questions }, output: true, routes: actionRoute},
		{name: mapKind, doc: "expression, a list: its items go through do, or through a workflow; output: the results in order",
			value: func(n *nodeDef) place { return &n.items }, own: mapKeys(), output: true},
		{name: workflowKind, doc: "a workflow file, relative to this one, or the name of a workflow in the configured folders; output: the output of that workflow",
			value: func(n *nodeDef) place { return &n.child }, own: []key[nodeDef]{inKey()}, output: true},
		{name: waitKind, doc: "a duration, or {until: expression}",
			value: func(n *nodeDef) place { return &n.wait }},
		{name: agentKind, doc: "an agent of AgentMap: branching, summary, orchestrator, or a reader or writer of CSV, JSON or text files; output: {result, success}",
			value: func(n *nodeDef) place { return &n.agent }, own: agentKeys(), output: true},
		{name: failKind, doc: "template: the node fails with this message",
			value: func(n *nodeDef) place { return &n.text }},
	}
}

// format1 is the table of kinds, made once; nothing changes it.
var format1 = func() map[string]*kind {
	m := map[string]*kind{}
	for _, k := range kinds() {
		m[k.name] = k
	}
	return m
}()

func kindOf(name string) *kind { return format1[name] }

func kindNames() []string {
	var list []string
	for _, k := range kinds() {
		list = append(list, k.name)
	}
	return list
}

// called is how messages call a node of the kind.
func (k *kind) called() string {
	if k.name == llmKind {
		return "an llm node"
	}
	return "a " + k.name + " node"
}

// timeout is the time for one attempt where the file does not say; 0 is without end.
func (k *kind) timeout() time.Duration {
	switch k.name {
	case httpKind:
		return 30 * time.Second
	case llmKind:
		return 2 * time.Minute
	}
	return 0
}

// table is every key that a node of the kind may have.
func (k *kind) table() []key[nodeDef] {
	t := []key[nodeDef]{{k.name, true, k.doc, k.value}}
	t = append(t, k.own...)
	if k.output {
		t = append(t, outputKey())
	}
	return append(t, commonKeys()...)
}

func outputKey() key[nodeDef] {
	return key[nodeDef]{"output", false, "state key for the whole output, or {KEY: expression} with the output as `output`", func(n *nodeDef) place { return &n.output }}
}

// commonKeys are the keys of every node.
func commonKeys() []key[nodeDef] {
	return []key[nodeDef]{
		{"description", false, "a text for people", func(n *nodeDef) place { return &n.description }},
		{"then", false, "what comes next: a node, END, or a list of nodes that run side by side (the branch ends)", func(n *nodeDef) place { return &n.then }},
		{"routes", false, "ROUTE: target, by action of the answer, exit code, HTTP status, or what a json program says", func(n *nodeDef) place { return &n.routes }},
		{"when", false, "list of {if: expression, then: target}; the first that holds is taken", func(n *nodeDef) place { return &n.when }},
		{"failure", false, "where to go when the node failed, was rejected or cancelled", func(n *nodeDef) place { return &n.failure }},
		{"failed", false, "{KEY: expression}, written when that way is taken; `output` is then what errors.NODE says", func(n *nodeDef) place { return &n.failed }},
		{"join", false, "when a node with several predecessors runs: all, arrived, each or step", func(n *nodeDef) place { return &n.join }},
	}
}

// programKeys are the keys of exec and shell.
func programKeys() []key[nodeDef] {
	return []key[nodeDef]{
		{"stdin", false, "expression: a text as it is, anything else as JSON (empty)", func(n *nodeDef) place { return &n.stdin }},
		{"env", false, "NAME: template", func(n *nodeDef) place { return &n.env }},
		{"inherit_env", false, "names of variables the program inherits (all but HITL_TUI_*)", func(n *nodeDef) place { return &n.inheritEnv }},
		{"workdir", false, "template: folder it runs in (where the thread was started)", func(n *nodeDef) place { return &n.workdir }},
		{"accept", false, "exit codes beside 0 that are no failure", func(n *nodeDef) place { return &n.accept }},
		{"parse", false, "what its output is made into: text, raw, lines, json or csv (text)", func(n *nodeDef) place { return &n.parse }},
		{"output_limit", false, "most it may print (16MiB)", func(n *nodeDef) place { return &n.outputLimit }},
		timeoutKey("none"),
		retryKey(),
	}
}

func timeoutKey(otherwise string) key[nodeDef] {
	return key[nodeDef]{"timeout", false, "time for one attempt (" + otherwise + ")", func(n *nodeDef) place { return &n.timeout }}
}

func retryKey() key[nodeDef] {
	return key[nodeDef]{"retry_policy", false, "attempts in all, or {max_attempts, initial_delay, backoff, max_delay, jitter} (one attempt)",
		func(n *nodeDef) place { return &n.retry }}
}

// httpKeys are the keys of http alone.
func httpKeys() []key[nodeDef] {
	return []key[nodeDef]{
		{"method", false, "GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS (GET)", func(n *nodeDef) place { return &n.method }},
		{"query", false, "name: template, escaped and added to the URL", func(n *nodeDef) place { return &n.query }},
		{"headers", false, "name: template; env \"NAME\" is allowed in it", func(n *nodeDef) place { return &n.headers }},
		{"json", false, "expression: the body, as JSON", func(n *nodeDef) place { return &n.json }},
		{"body", false, "template: the body, as text", func(n *nodeDef) place { return &n.body }},
		{"accept", false, "statuses beside 2xx that are no failure", func(n *nodeDef) place { return &n.statuses }},
		{"parse", false, "what the body is made into: text, raw, lines, json or csv (json if the content type says so, else text)", func(n *nodeDef) place { return &n.parse }},
		{"output_limit", false, "most the body may be (16MiB)", func(n *nodeDef) place { return &n.outputLimit }},
		timeoutKey("30s"),
		retryKey(),
	}
}

// llmKeys are the keys of llm alone.
func llmKeys() []key[nodeDef] {
	return []key[nodeDef]{
		{"system", false, "template: who the model is to be", func(n *nodeDef) place { return &n.system }},
		{"prompt", false, "template: what it is asked", func(n *nodeDef) place { return &n.prompt }},
		{"messages", false, "instead of prompt: expression, a conversation as a list of {role, text}", func(n *nodeDef) place { return &n.messages }},
		{"schema", false, "JSON Schema of the object it is to answer with, or an expression that makes one", func(n *nodeDef) place { return &n.answer }},
		{"temperature", false, "how freely it chooses its words (that of the server)", func(n *nodeDef) place { return &n.temperature }},
		{"max_tokens", false, "most it may answer; a longer answer is a failure (that of the model)", func(n *nodeDef) place { return &n.maxTokens }},
		timeoutKey("2m"),
		retryKey(),
	}
}

// agentKeys are the keys of agent alone.
func agentKeys() []key[nodeDef] {
	return []key[nodeDef]{
		{"in", false, "name: expression, what the agent is given, in order", func(n *nodeDef) place { return &n.in }},
		{"prompt", false, "a text, not a template: the file of a reader or writer", func(n *nodeDef) place { return &n.said }},
		{"context", false, "plain JSON: the settings of the agent", func(n *nodeDef) place { return &n.context }},
	}
}

// execKeys are the keys of exec alone.
func execKeys() []key[nodeDef] {
	return []key[nodeDef]{
		{"protocol", false, "json: it reads one object and prints one, and may ask questions", func(n *nodeDef) place { return &n.protocol }},
		{"in", false, "name: expression, the input of a json program (output of the node before)", func(n *nodeDef) place { return &n.in }},
	}
}

func inKey() key[nodeDef] {
	return key[nodeDef]{"in", false, "name: expression, the input of the workflow (keys of the same name)", func(n *nodeDef) place { return &n.in }}
}

// mapKeys are the keys of map alone.
func mapKeys() []key[nodeDef] {
	return []key[nodeDef]{
		{"do", false, "nodes that run for each item, with keys of their own", func(n *nodeDef) place { return &n.do }},
		{workflowKind, false, "instead of do: a workflow, by file or name, that runs for each item", func(n *nodeDef) place { return &n.child }},
		inKey(),
		{"as", false, "what the item is called (item)", func(n *nodeDef) place { return &n.as }},
		{"result", false, "expression, what an item gives once it has ended (the keys it wrote, or the output of its workflow)", func(n *nodeDef) place { return &n.result }},
		{"max_parallel", false, "items that run at a time (max_concurrency)", func(n *nodeDef) place { return &n.maxParallel }},
		{"max_waiting", false, "no further item begins while so many wait for people; those at work may still come to wait (100)", func(n *nodeDef) place { return &n.maxWaiting }},
	}
}

// questionNodeKeys are the keys of a question in the node that asks it alone.
func questionNodeKeys() []key[nodeDef] {
	var list []key[nodeDef]
	for _, k := range questionKeys() {
		list = append(list, key[nodeDef]{k.name, k.required, k.doc, func(n *nodeDef) place { return k.of(n.question) }})
	}
	return list
}

func parseNames() []string {
	return texts([]node.Parse{node.ParseText, node.ParseRaw, node.ParseLines, node.ParseJSON, node.ParseCSV})
}
