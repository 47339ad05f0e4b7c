package workflow

import "github.com/hitl-tui/hitl-tui/internal/workflow/node"

// The kinds that the code must tell apart by name.
const (
	execKind      = "exec"
	shellKind     = "shell"
	templateKind  = "template"
	setKind       = "set"
	humanKind     = "human"
	questionsKind = "questions"
	mapKind       = "map"
	workflowKind  = "workflow"
	waitKind      = "wait"
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
	later  bool // a kind of the format that this version does not run yet
	hint   func(name string) string
}

// routing says what the route of a node is.
type routing int

const (
	noRoute     routing = iota
	actionRoute         // the action of an answer
	exitRoute           // the exit code of a program, or what a json program says
)

// kinds are the kinds of node, in the order in which messages list them.
func kinds() []*kind {
	return []*kind{
		{name: execKind, doc: "program and arguments, without a shell; output: what it prints",
			value: func(n *nodeDef) place { return &n.args }, own: append(programKeys(), execKeys()...), output: true, routes: exitRoute},
		{name: shellKind, doc: "script for /bin/sh -c, not a template: values come by env; output: what it prints",
			value: func(n *nodeDef) place { return &n.script }, own: programKeys(), output: true, routes: exitRoute},
		{name: "http", later: true},
		{name: "llm", later: true},
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
		{"routes", false, "ROUTE: target, by action of the answer, exit code, or what a json program says", func(n *nodeDef) place { return &n.routes }},
		{"when", false, "list of {if: expression, then: target}; the first that holds is taken", func(n *nodeDef) place { return &n.when }},
		{"failure", false, "where to go when the node failed, was rejected or cancelled", func(n *nodeDef) place { return &n.failure }},
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
		{"timeout", false, "time for one attempt", func(n *nodeDef) place { return &n.timeout }},
		{"retry_policy", false, "attempts in all, or {max_attempts, initial_delay, backoff, max_delay, jitter} (one attempt)", func(n *nodeDef) place { return &n.retry }},
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
		{"max_waiting", false, "items that may wait for people at a time (100)", func(n *nodeDef) place { return &n.maxWaiting }},
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
