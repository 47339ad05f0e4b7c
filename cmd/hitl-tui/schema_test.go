package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
	"github.com/hitl-tui/hitl-tui/internal/workflow"
)

// printed is what one command prints with --json.
type printed struct {
	command string // with the option that makes it print this
	of      any    // a value of the type whose JSON it is
	lines   bool   // a document a line
	args    string // a command line that prints it; they are run in the order of the table
	exit    int
}

// allPrinted is the table of what is printed with --json: the schemas, the page and the test are made of it.
func allPrinted() []printed {
	return []printed{
		{command: "run", of: wire.Envelope{}, args: "run full.yaml --thread full"},
		{command: "threads", of: []wire.Thread{}, args: "threads"},
		{command: "questions", of: []wire.Question{}, args: "questions"},
		{command: "show", of: wire.Show{}, args: "show full"},
		{command: "show --graph", of: wire.Graph{}, args: "show full --graph"},
		{command: "claim", of: []wire.Thread{}, args: "claim full"},
		{command: "release", of: []wire.Thread{}, args: "release full"},
		{command: "rules", of: []wire.RuleTrial{}, args: "rules -c rules.yaml"},
		{command: "resume --check", of: wire.Accepted{}, args: "resume full approve --interrupt ask --check"},
		{command: "patch", of: wire.Envelope{}, args: `patch full -d {"topic":"ink"}`},
		{command: "resume", of: wire.Envelope{}, args: `resume full approve --interrupt ask -d "Fine"`},
		{command: "fork", of: wire.Envelope{}, args: "fork full --step 1 --thread again"},
		{command: "wait", of: []wire.Envelope{}, args: "wait full --for waiting --timeout 1m"},
		{command: "history", of: []wire.Step{}, args: "history full"},
		{command: "diff", of: []wire.KeyDiff{}, args: "diff full 0"},
		{command: "events", of: wire.Event{}, lines: true, args: "events"},
		{command: "audit", of: []wire.Decision{}, args: "audit full"},
		{command: "audit --verify", of: wire.Verified{}, args: "audit --verify"},
		{command: "cancel", of: wire.Asked{}, args: "cancel still"},
		{command: "sweep", of: []wire.Envelope{}, args: "sweep --carry-on"},
		{command: "backup", of: wire.BackedUp{}, args: "backup copy.db"},
		{command: "restore", of: wire.Restored{}, args: "restore copy.db --store file:elsewhere"},
		{command: "import", of: wire.Imported{}, args: "import out.json --store file:other"},
		{command: "prune", of: wire.Pruned{}, args: "prune full --before-step 2 --yes"},
		{command: "compact", of: wire.Compacted{}, args: "compact"},
		{command: "delete", of: wire.Deleted{}, args: "delete again --yes"},
		{command: "doctor", of: wire.Doctor{}, args: "doctor"},
		{command: "validate", of: workflow.Faults{}, args: "validate broken.yaml", exit: 2},
		{command: "actions", of: []wire.Action{}, args: "actions"},
		{command: "keys", of: []wire.Key{}, args: "keys"},
		{command: "themes", of: []wire.Theme{}, args: "themes"},
		{command: "config", of: []wire.Setting{}, args: "config"},
		{command: "version", of: wire.Version{}, args: "version"},
	}
}

// printNoJSON are the commands to which --json means nothing, and why.
func printNoJSON() map[string]string {
	return map[string]string{
		"demo": "opens the desk", "serve": "logs to standard error, with --json as JSON", "convert": "prints YAML", "man": "prints a manual page",
		"export": "prints the thread as JSON, with --json or without: a file for import, described in moving.md",
	}
}

const (
	schemaFolder = "../../schema/json"
	jsonPage     = "../../docs/json.md"
	forTheSchema = `workflow: full
input: {properties: {topic: {type: string, default: tea}}}
output: {text: text}
nodes:
  draft: {template: "# {{.topic}}", output: text, then: [ask, pick]}
  ask:
    human: approval
    message: "Publish {{.topic}}?"
    content: text
    actions: [approve, edit, reject]
    output: said
    then: last
  pick: {human: choice, message: "Which?", options: [{value: 1, label: One, description: "the first"}, {value: 2}], output: picked, then: last}
  last: {join: all, set: {gone: true}}
`
)

// file is the name of the schema of an output.
func (p printed) file() string { return strings.ReplaceAll(p.command, " --", "-") + ".json" }

// schema is the JSON Schema of an output, as a document of its own.
func (p printed) schema() map[string]any {
	set := wire.Schemas("#/$defs/")
	root := map[string]any(set.Of(reflect.TypeOf(p.of)))
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "hitl-tui " + p.command + " --json"
	if p.lines {
		root["title"] = "a line of hitl-tui " + p.command + " --json"
	}
	root["$defs"] = set.Defs
	return root
}

func (p printed) text(t *testing.T) []byte {
	t.Helper()
	raw, err := json.MarshalIndent(p.schema(), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return append(raw, '\n')
}

// TestFreshSchemas keeps schema/json and docs/json.md what the types say.
func TestFreshSchemas(t *testing.T) {
	want := map[string]bool{}
	for _, p := range allPrinted() {
		want[p.file()] = true
		freshFile(t, filepath.Join(schemaFolder, p.file()), p.text(t))
	}
	entries, err := os.ReadDir(schemaFolder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !want[e.Name()] {
			t.Errorf("%s is the schema of nothing", e.Name())
		}
	}
	raw, err := os.ReadFile(jsonPage)
	if err != nil {
		t.Fatal(err)
	}
	const mark = "<!-- generated: outputs -->\n"
	head, _, found := bytes.Cut(raw, []byte(mark))
	if !found {
		t.Fatalf("%s has no place for the outputs", jsonPage)
	}
	freshFile(t, jsonPage, append(head, []byte(mark+outputsPage())...))
}

// freshFile fails unless a file holds what is generated, or writes it with -update.
func freshFile(t *testing.T, file string, want []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is stale (%v): run make generate", file, err)
	}
}

// TestEveryCommandHasASchema: of each command it is known what --json prints, or why nothing.
func TestEveryCommandHasASchema(t *testing.T) {
	has := map[string]bool{}
	for _, p := range allPrinted() {
		name, _, _ := strings.Cut(p.command, " ")
		has[name] = true
	}
	for _, c := range referenced() {
		if has[c.Name()] == (printNoJSON()[c.Name()] != "") {
			t.Errorf("%s: what --json prints is not known, or known twice", c.Name())
		}
		delete(has, c.Name())
	}
	if len(has) > 0 {
		t.Errorf("there are no commands %v", has)
	}
}

// TestOutputsFitTheirSchemas runs every command on a real store and holds what it prints to its schema, in which nothing may
// stand that the schema does not name.
func TestOutputsFitTheirSchemas(t *testing.T) {
	t.Parallel()
	p := newProcesses(t, map[string]string{
		"full.yaml": forTheSchema, "asking.yaml": asking, "fails.yaml": "workflow: fails\nnodes: {a: {fail: no tea}}\n",
		"slow.yaml":   "workflow: slow\nnodes: {a: {exec: [sleep, '60']}}\n",
		"broken.yaml": "workflow: broken\nnodes:\n  a: {tempalte: x}\n",
		"rules.yaml":  "rules:\n  - {name: all, when: kind == \"approval\", action: approve}\n",
	})
	p.run(0, "run", "asking.yaml", "--thread", "stays")
	p.run(1, "run", "fails.yaml", "--thread", "failed")
	p.run(0, "export", "stays", "-o", "out.json")
	p.running("slow.yaml", "still")
	for _, one := range allPrinted() {
		args := append(splitArgs(one.args), "--json")
		out := []byte(p.run(one.exit, args...))
		documents := [][]byte{out}
		if one.lines {
			documents = bytes.Split(bytes.TrimRight(out, "\n"), []byte("\n"))
		}
		if len(bytes.TrimSpace(out)) < len(`[{"":0}]`) {
			t.Errorf("%s prints next to nothing: %s", one.args, out)
		}
		strict := compileStrictly(t, one.text(t))
		for _, document := range documents {
			holdTo(t, strict, one.args, document)
		}
	}
	envelope := compileStrictly(t, allPrinted()[0].text(t))
	for args, exit := range map[string]int{"resume nowhere approve": 3, "resume stays frobnicate": 2, "run nowhere.yaml": 3, "resume failed": 1} {
		holdTo(t, envelope, args, []byte(p.run(exit, append(splitArgs(args), "--json")...)))
	}
}

func holdTo(t *testing.T, s *jsonschema.Schema, args string, document []byte) {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err == nil {
		err = s.Validate(value)
	}
	if err != nil {
		t.Errorf("hitl-tui %s --json prints what its schema does not say: %v\n%s", args, err, document)
	}
}

// splitArgs splits at spaces that are not in quotes or braces; quotes stay, for they are JSON.
func splitArgs(line string) []string {
	quoted := false
	return strings.FieldsFunc(line, func(r rune) bool {
		if r == '"' {
			quoted = !quoted
		}
		return r == ' ' && !quoted
	})
}

// compileStrictly compiles a schema so that its objects may have no other members than it names.
func compileStrictly(t *testing.T, raw []byte) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	for _, def := range document.(map[string]any)["$defs"].(map[string]any) {
		def.(map[string]any)["additionalProperties"] = false
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	if err := compiler.AddResource("mem:///schema.json", document); err != nil {
		t.Fatal(err)
	}
	s, err := compiler.Compile("mem:///schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// outputsPage is the generated part of docs/json.md.
func outputsPage() string {
	var b strings.Builder
	b.WriteString("| command | prints | schema |\n|---|---|---|\n")
	defs := map[string]any{}
	for _, p := range slices.SortedFunc(slices.Values(allPrinted()), func(a, b printed) int { return strings.Compare(a.command, b.command) }) {
		s := p.schema()
		what := shapeName(s)
		if p.lines {
			what += ", one a line"
		}
		fmt.Fprintf(&b, "| `%s` | %s | [%s](../schema/json/%[3]s) |\n", p.command, what, p.file())
		raw, _ := json.Marshal(s["$defs"])
		var own map[string]any
		_ = json.Unmarshal(raw, &own)
		maps.Copy(defs, own)
	}
	b.WriteString("\nThese print no JSON of their own:\n\n")
	for _, name := range slices.Sorted(maps.Keys(printNoJSON())) {
		fmt.Fprintf(&b, "* `%s` %s.\n", name, printNoJSON()[name])
	}
	for _, name := range slices.Sorted(maps.Keys(defs)) {
		fmt.Fprintf(&b, "\n## %s\n\n| field | is | |\n|---|---|---|\n", name)
		properties := defs[name].(map[string]any)["properties"].(map[string]any)
		for _, field := range slices.Sorted(maps.Keys(properties)) {
			is := properties[field].(map[string]any)
			about, _ := is["description"].(string)
			if values, has := is["enum"].([]any); has {
				about = strings.TrimPrefix(about+"; one of "+wordsOf(values), "; ")
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", field, shapeName(is), about)
		}
	}
	return b.String()
}

func wordsOf(values []any) string {
	var words []string
	for _, v := range values {
		if v != nil {
			words = append(words, fmt.Sprint(v))
		}
	}
	return strings.Join(words, ", ")
}

// shapeName says in a few words what a schema allows.
func shapeName(s map[string]any) string {
	if ref, is := s["$ref"].(string); is {
		name := ref[strings.LastIndexByte(ref, '/')+1:]
		return "[" + name + "](#" + strings.ToLower(name) + ")"
	}
	sub := func(v any) string {
		raw, _ := json.Marshal(v)
		var inner map[string]any
		_ = json.Unmarshal(raw, &inner)
		return shapeName(inner)
	}
	if all, is := s["anyOf"].([]any); is {
		return sub(all[0]) + " or null"
	}
	raw, _ := json.Marshal(s["type"])
	kind := strings.NewReplacer(`"`, "", "[", "", "]", "", ",", " or ").Replace(string(raw))
	switch {
	case strings.HasPrefix(kind, "array"):
		return "list of " + sub(s["items"])
	case strings.HasPrefix(kind, "object") && s["additionalProperties"] != nil:
		return strings.Replace(kind, "object", "object of "+sub(s["additionalProperties"]), 1)
	case s["format"] == "date-time":
		return strings.Replace(kind, "string", "time", 1)
	case kind == "null":
		return "any JSON"
	}
	return kind
}
