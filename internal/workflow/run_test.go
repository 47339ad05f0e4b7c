package workflow_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/workflow"
)

// run runs a workflow without a store and returns where it came to rest.
func run(t *testing.T, text string, input map[string]json.RawMessage) *engine.Outcome {
	t.Helper()
	d := checkpoint.Definition{Files: []checkpoint.File{{Path: "t.yaml", Text: text}}}
	l, err := workflow.FromDefinition(d)
	if err != nil {
		t.Fatal(err)
	}
	if input, err = l.CheckInput(input); err != nil {
		t.Fatal(err)
	}
	e := engine.New(nil, engine.Options{Graphs: &workflow.Graphs{}})
	out, err := e.Start(t.Context(), engine.StartRequest{Definition: d, Graph: l.Graph, Input: input, Workdir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestRun: what a file says is what the engine does, from input to output, by every kind of edge.
func TestRun(t *testing.T) {
	const text = `
workflow: t
input: {properties: {n: {type: integer}, name: {type: string, default: 010}}, required: [n]}
state: {seen: append}
output: {seen: seen, text: text, n: n, name: name, made: made}
env: {GREETING: "hello {{.name}}"}
nodes:
  begin: {set: {n: n + 1, made: 1.50, note: ""}, then: [left, right]}
  left: {shell: "printf '%s' \"$GREETING\"", output: {text: output, seen: "'left'"}, then: meet}
  right: {exec: [sh, -c, "exit 3"], accept: [3], routes: {"3": mark}, then: never}
  never: {fail: this is not reached}
  mark: {set: {seen: "['right', note]"}, then: meet}
  meet: {template: "{{.text}}, {{.n}}", join: all, output: text, when: [{if: n < 3, then: again}], then: never}
  again: {fail: "no {{.n}}", failure: last}
  last: {set: {seen: errors.again.message}, then: END}
`
	out := run(t, strings.Replace(text, "default: 010", `default: "010"`, 1), map[string]json.RawMessage{"n": json.RawMessage(`"1"`)})
	want := `{"seen":["left","right","","no 2"],"text":"hello 010, 2","n":2,"name":"010","made":1.50}`
	if out.Status != checkpoint.Done || string(out.Outputs) != want {
		t.Errorf("%s (%+v)\n got %s\nwant %s", out.Status, out.Error, out.Outputs, want)
	}
}

// TestRunFails: the message of a fail node is what the thread fails with, and a fault found only at run time names
// its place.
func TestRunFails(t *testing.T) {
	for nodes, want := range map[string]string{
		`  a: {fail: "stop {{.run.workflow}}"}`:                                                    "stop t",
		`  a: {set: {x: null}, when: [{if: x, then: END}], then: END}`:                             "x",
		`  a: {template: "{{.answers.q}}", then: q}` + "\n" + `  q: {human: approval, message: x}`: "answers.q",
		`  a: {exec: [echo, "{}"], parse: json, output: {n: output.n / 0}, then: END}`:             "output",
		`  a: {shell: "echo last words >&2; sleep 60", timeout: 300ms}`:                            "timed out after 300ms: last words",
	} {
		out := run(t, "workflow: t\nnodes:\n"+nodes+"\n", nil)
		if out.Status != checkpoint.Failed || out.Error == nil || !strings.Contains(out.Error.Message, want) {
			t.Errorf("%s: %s %+v", nodes, out.Status, out.Error)
		}
	}
}

// TestAProgramIsGivenItsOwnAnswers: answers.NODE is there for programs that ask too, in a map's body as well.
func TestAProgramIsGivenItsOwnAnswers(t *testing.T) {
	program := `[sh, -c, "cat"], protocol: json, in: {said: answers.agent, one: answers.agent?.pay?.comment}`
	for name, text := range map[string]string{
		"alone":    `  agent: {exec: ` + program + `}`,
		"in a map": `  all: {map: "[1]", do: {agent: {exec: ` + program + `}}}`,
		"after":    "  agent: {exec: [cat], protocol: json, then: b}\n  b: {template: '{{with .answers.agent}}{{.pay.comment}}{{end}}'}",
	} {
		d := checkpoint.Definition{Files: []checkpoint.File{{Path: "t.yaml", Text: "workflow: t\nnodes:\n" + text + "\n"}}}
		if _, err := workflow.FromDefinition(d); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	out := run(t, `workflow: t
output: {got: got}
nodes:
  agent:
    exec: [sh, -c, 'printf "{\"output\":%s}" "$(cat | sed "s/.*\"input\"://; s/,\"state\".*//")"']
    protocol: json
    in: {said: answers.agent}
    output: got
`, nil)
	if got := string(out.Outputs); out.Status != checkpoint.Done || got != `{"got":{"said":null}}` {
		t.Errorf("%s (%+v) %s", out.Status, out.Error, got)
	}
}

// TestFailedIsWritten: what a node says under failed is in the state before the next node runs, and of two that fail in one
// step by the key's reducer; a conflict, or an expression that fails, leaves the node where it is.
func TestFailedIsWritten(t *testing.T) {
	const text = `
workflow: t
state: {seen: append}
output: {seen: seen, why: why}
nodes:
  a: {template: x, then: [b, c]}
  b: {fail: "no b", failure: d, failed: {seen: "output.message + ' ' + output.ended"}}
  c: {fail: "no c", failure: d, failed: {seen: "output.message", why: output.attempts}}
  d: {set: {seen: len(seen)}, join: all}
`
	out := run(t, text, nil)
	if want := `{"seen":["no b failed","no c",2],"why":1}`; out.Status != checkpoint.Done || string(out.Outputs) != want {
		t.Errorf("%s %+v\n got %s\nwant %s", out.Status, out.Error, out.Outputs, want)
	}
	for failed, want := range map[string]string{
		"{k: output.message}":     `both wrote "k" in one step`,
		"{k: output.message + 1}": "failed.k",
	} {
		text := strings.NewReplacer("FAILED", failed).Replace(`
workflow: t
nodes:
  a: {template: x, then: [b, c]}
  b: {fail: "no b", failure: d, failed: FAILED}
  c: {fail: "no c", failure: d, failed: FAILED}
  d: {template: x, join: arrived}
`)
		out := run(t, text, nil)
		if out.Status != checkpoint.Failed || out.Error == nil || !strings.Contains(out.Error.Message, want) {
			t.Errorf("%s: %s %+v", failed, out.Status, out.Error)
		}
	}
}
