package workflow

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// found are the faults of a text as LINE:COLUMN MESSAGE.
func found(t *testing.T, text string) []string {
	t.Helper()
	_, err := parse("t.yaml", text)
	if err == nil {
		return nil
	}
	faults, ok := err.(Faults)
	if !ok {
		t.Fatalf("the error is %T, not Faults: %v", err, err)
	}
	var list []string
	for _, f := range faults {
		list = append(list, fmt.Sprintf("%d:%d %s", f.Line, f.Column, f.Message))
	}
	return list
}

// wf is a workflow around nodes; the first node stands on line 3.
func wf(nodes string) string { return "workflow: t\nnodes:\n" + nodes }

const ask = `  review:
    human: approval
    message: Fine?
`

// TestFaultTable has a case for every fault of the table in the design, with the message word for word.
func TestFaultTable(t *testing.T) {
	long := strings.Repeat("n", 65)
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		// key, kind
		{"unknown key", wf("  collect: {exec: [ls], outptu: x}\n"), []string{
			`3:25 unknown key "outptu" in node "collect" (exec); did you mean "output"?`}},
		{"unknown key on", wf(ask + "    on: {approve: END}\n"), []string{
			`6:5 unknown key "on" in node "review" (approval): edges by action are written under "routes"`}},
		{"unknown key at the top", "workflow: t\nnods: {}\nnodes: {a: {fail: x}}\n", []string{
			`2:1 unknown key "nods" at the top level; did you mean "nodes"?`}},
		{"no kind", wf("  x: {then: END}\n"), []string{
			`3:3 node "x" has no kind: give it one of exec, shell, http, llm, template, set, human, questions, map, workflow, wait, agent, fail`}},
		{"misspelt kind", wf("  x: {tempalte: hello}\n"), []string{
			`3:7 unknown key "tempalte" in node "x"; did you mean "template"?`}},
		{"two kinds", wf("  x: {exec: [ls], template: y}\n"), []string{
			`3:3 node "x" has 2 kinds (exec, template): one node does one thing`}},
		{"kind of question", wf("  x: {human: aproval, message: Fine?}\n"), []string{
			`3:14 unknown kind of question "aproval"; did you mean "approval"?`}},
		{"other name of a kind", wf("  x: {url: \"https://example.org\"}\n"), []string{
			`3:7 unknown key "url" in node "x"; here that is "http"`}},
		{"no nodes", "workflow: t\n", []string{`1:1 the top level needs nodes`}},
		{"node is no mapping", wf("  x: ls\n"), []string{`3:6 node "x" must be a mapping such as {exec: [...]}, not ls`}},

		// map
		{"no body", wf("  x: {map: \"[1]\"}\n"), []string{
			`3:3 node "x": a map needs do, nodes that run for each item, or workflow`}},
		{"empty body", wf("  x: {map: \"[1]\", do: {}}\n"), []string{`3:23 do holds no node`}},
		{"items that are a text", wf("  x: {map: y, do: {n: {template: x}}}\n"), []string{
			`3:12 map: unknown name "y" (a text needs quotes of its own: "'y'")`}},
		{"key of the workflow", wf("  a: {template: x, output: notes, then: x}\n  x: {map: \"[1]\", do: {n: {set: {notes: 1}}}}\n"), []string{
			`4:34 "notes" is a key of the workflow; a map body writes only keys of its own`}},
		{"key of the item", wf("  x: {map: \"[1]\", as: claim, do: {n: {set: {claim: 1}}}}\n"), []string{
			`3:45 "claim" is the item of the map; a map body writes only keys of its own`}},
		{"item that is a key", wf("  a: {set: {notes: 1}, then: x}\n  x: {map: \"[1]\", as: notes, do: {n: {template: x}}}\n"), []string{
			`4:23 as: "notes" is a key of the workflow; give the item a name of its own`}},
		{"item around", wf("  x: {map: \"[[1]]\", do: {y: {map: item, do: {n: {template: x}}}}}\n"), []string{
			`3:26 node "y": "item" is the item of the map around it; give this one another name with as`}},
		{"name of a node twice", wf("  a: {template: x, then: x}\n  x: {map: \"[1]\", do: {a: {template: x}}, then: y}\n  y: {map: \"[1]\", do: {b: {template: x}, a: {fail: x}}}\n"), []string{
			`4:24 there is another node "a" in this file, outside this map: names of nodes are unique in a file`,
			`5:42 there is another node "a" in this file, outside this map: names of nodes are unique in a file`,
			`5:42 node "a" is never reached`}},
		{"a way out of the body", wf("  x: {map: \"[1]\", do: {n: {template: x, then: y}}, then: y}\n  y: {template: x}\n"), []string{
			`3:47 then names the node "y", which is outside this map: what runs for an item stays inside, and what comes after the map is said there`}},
		{"a way into the body", wf("  a: {template: x, then: n}\n  x: {map: \"[1]\", do: {n: {template: x}}}\n"), []string{
			`3:26 then names the node "n", which is inside a map: only the map leads there`}},
		{"key of the body outside", wf("  x: {map: \"[1]\", do: {n: {set: {k: 1}}}, result: k, then: y}\n  y: {template: \"{{.k}}\"}\n"), []string{
			`4:20 y.template: unknown name ".k"`}},
		{"answer of the body outside", wf("  x: {map: \"[1]\", do: {q: {human: approval, message: x}}, then: y}\n  y: {set: {k: answers.q}}\n"), []string{
			`4:24 set.k: unknown field "q"`}},
		{"edit of an item", wf("  x: {map: \"[1]\", do: {q: {human: edit, message: x, content: item}}}\n"), []string{
			`3:62 an edit has nowhere to go: content must be a state key, or output must name one`}},
		{"unreached in the body", wf("  x: {map: \"[1]\", do: {m: {template: x}, n: {template: x}}}\n"), []string{
			`3:42 node "n" is never reached`}},
		{"route of a map", wf("  x: {map: \"[1]\", do: {m: {template: x}}, routes: {a: END}}\n"), []string{
			`3:51 a map node has no route; use when`}},
		{"in without workflow", wf("  x: {map: \"[1]\", do: {m: {template: x}}, in: {a: item}}\n"), []string{
			`3:47 in belongs to workflow; the nodes of do see the item as it is`}},
		{"number of items", wf("  x: {map: \"[1]\", do: {m: {template: x}}, max_parallel: 0}\n"), []string{
			`3:57 max_parallel must be a whole number from 1 to 10000, not 0`}},
		{"name without a folder", wf("  x: {workflow: child}\n"), []string{
			`3:17 workflow "child" is not among the files that the thread keeps`}},
		{"no such file", wf("  x: {workflow: ./child.yaml}\n"), []string{
			`3:17 workflow "./child.yaml": there is no such file`}},

		// target
		{"unknown target", wf("  draft: {template: x, then: reviw}\n" + ask), []string{
			`3:30 then names the node "reviw", which does not exist; did you mean "review"?`}},
		{"END in capitals", wf("  x: {template: x, then: end}\n"), []string{`3:26 write END in capitals`}},
		{"unknown route target", wf(ask + "    routes: {approve: nowhere}\n    then: END\n"), []string{
			`6:23 routes.approve names the node "nowhere", which does not exist`}},
		{"unknown start", "workflow: t\nstart: b\nnodes: {a: {fail: x}}\n", []string{
			`2:8 start names the node "b", which does not exist`}},
		{"END among several", wf("  x: {template: x, then: [y, END]}\n  y: {fail: x}\n"), []string{
			`3:30 then: END cannot be one of several targets`}},

		// name in T
		{"unknown name in T", wf("  since: {set: {since: 1}, then: draft}\n  draft: {template: \"Since {{.sinse}}\"}\n"), []string{
			`4:30 draft.template: unknown name ".sinse"; did you mean "since"?`}},
		{"missing dot", wf("  n: {set: {notes: 1}, then: draft}\n  draft: {template: \"Notes {{notes}}\"}\n"), []string{
			`4:30 draft.template: unknown function "notes"; a value is written with a dot: {{.notes}}`}},

		// name in E
		{"unknown field", wf("  a: {human: text, message: \"?\", when: [{if: answers.a.valu == 'x', then: END}], then: END}\n"), []string{
			`3:56 if: unknown field "valu"; did you mean "value"?`}},
		{"text without quotes", wf("  a: {set: {status: open}}\n"), []string{
			`3:21 set.status: unknown name "open" (a text needs quotes of its own: "'open'")`}},

		// T or E
		{"T for E", wf("  n: {set: {notes: 1}, when: [{if: \"{{.notes}}\", then: END}], then: END}\n"), []string{
			`3:37 if is an expression, not a template: write notes, not {{.notes}}`}},
		{"shell is no template", wf("  n: {set: {notes: 1}, then: s}\n  s: {shell: \"echo {{.notes}}; docker ps --format '{{.Names}}'\"}\n"), []string{
			`4:20 shell is not a template, so that no value can become a command: pass values with env`}},

		// scalar
		{"boolean", wf("  c: {human: choice, message: \"?\", options: [a, b], multiple: yes}\n"), []string{
			`3:63 multiple must be true or false, not yes`}},
		{"duration", wf(ask + "    timeout: 30\n"), []string{`6:14 timeout needs a unit: 30s, 30m or 30h`}},
		{"octal", wf("  a: {set: {x: 010}}\n"), []string{
			`3:16 010 means different numbers to different readers of YAML: write a plain decimal number, or put a text in quotes`}},

		// key name
		{"state key", wf("  a: {set: {my-key: 1}}\n"), []string{`3:13 "my-key" cannot be a state key: letters, digits and _ only`}},
		{"reserved key", wf("  a: {template: x, output: answers}\n"), []string{`3:28 "answers" is a reserved name: take another, such as my_answers`}},
		{"reserved node", wf("  end: {fail: x}\n"), []string{`3:3 "end" is a reserved name: take another, such as my_end`}},
		{"long name", wf("  " + long + ": {fail: x}\n"), []string{`3:3 "` + long + `" cannot be a node name: it is longer than 64 characters`}},
		{"function hidden by a key", wf("  a: {set: {len: 1, x: \"len([1])\"}}\n"), []string{
			`3:25 set.x: "len" is a state key here, so the function len cannot be called`}},

		// actions
		{"unknown action", wf(ask + "    routes: {aprove: END}\n    then: END\n"), []string{`6:14 unknown action "aprove"; did you mean "approve"?`}},
		{"unknown action in a list", wf(ask + "    actions: [aprove]\n"), []string{`6:15 unknown action "aprove"; did you mean "approve"?`}},
		{"not allowed", wf(ask + "    actions: [approve, reject, stop]\n    routes: {edit: END}\n    then: END\n"), []string{
			`7:14 routes: node "review" does not allow "edit" (it allows approve, reject, stop)`}},
		{"stop has no route", wf(ask + "    routes: {stop: END}\n    then: END\n"), []string{`6:14 routes: stop ends the thread and cannot be routed`}},

		// dead end
		{"action leads nowhere", wf("  pick:\n    human: choice\n    message: \"?\"\n    options: [a]\n    routes: {retry: pick}\n"), []string{
			`3:3 node "pick": the action "choose" leads nowhere: add it to routes, or give then`}},
		{"no then after when", wf("  a: {template: x, output: y, when: [{if: y == 'x', then: END}]}\n"), []string{
			`3:3 node "a" needs then for the case that no condition holds (then: END ends the branch)`}},
		{"exit code", wf("  a: {exec: [ls], routes: {1: END}, then: END}\n"), []string{`3:28 exit code 1 is a failure unless accept lists it`}},
		{"exit code leads nowhere", wf("  a: {exec: [ls], accept: [1], routes: {1: END}}\n"), []string{
			`3:3 node "a": the exit code 0 leads nowhere: add it to routes, or give then`}},
		{"status that is a failure", wf("  a: {http: \"https://x\", routes: {404: END}, then: END}\n"), []string{`3:35 status 404 is a failure unless accept lists it`}},
		{"no then after statuses", wf("  a: {http: \"https://x\", accept: [404], routes: {200: END, 404: END}}\n"), []string{
			`3:3 node "a" needs then for the statuses that are not among its routes (then: END ends the branch)`}},
		{"no route", wf("  a: {set: {x: 1}, routes: {1: END}, then: END}\n"), []string{`3:28 a set node has no route; use when`}},
		{"fail never completes", wf("  a: {fail: x, then: END}\n"), []string{`3:22 a fail node never completes; use failure`}},

		// question
		{"default without timeout", wf(ask + "    default_action: reject\n"), []string{`6:21 default_action needs timeout`}},
		{"default without data", wf("  c: {human: choice, message: \"?\", options: [a], timeout: 1h, default_action: choose}\n"), []string{
			`3:79 default_action choose needs default_data`}},
		{"default data that do not fit", wf("  c: {human: choice, message: \"?\", options: [a], timeout: 1h, default_action: choose, default_data: b}\n"), []string{
			`3:101 default_data does not fit default_action choose: "b" is none of the options (1 a)`}},
		{"edit without a place", wf(ask + "    content: 1 + 1\n    actions: [approve, edit]\n"), []string{
			`6:14 an edit has nowhere to go: content must be a state key, or output must name one`}},
		{"needs a message", wf("  a: {human: approval}\n"), []string{`3:3 node "a" (approval): a question of kind approval needs message`}},
		{"conversation without append", wf("  a: {set: {talk: \"[]\"}, then: c}\n  c: {human: conversation, content: talk}\n"), []string{
			`4:37 content of a conversation must be a state key with the reducer append, as in state: {talk: append}`}},

		// graph
		{"unreachable", wf("  a: {template: x}\n  x: {fail: y}\n"), []string{`4:3 node "x" is never reached`}},
		{"endless loop", wf("  a: {template: x, then: b}\n  b: {template: y, then: a}\n"), []string{`3:3 nothing ends this loop: a -> b -> a`}},
		{"branches meet", wf("  split: {template: x, then: [a, b]}\n  a: {template: x, then: c}\n  b: {template: x, then: c}\n  c: {template: x}\n"), []string{
			`6:3 node "c" is reached from both "a" and "b", which run side by side after "split": say join: all (once, when both are done), arrived (once, with those that come) or each (once for each)`}},

		// schema
		{"no schema", "workflow: t\ninput: {properties: {a: {type: text}}}\nnodes: {a: {fail: x}}\n", []string{
			`2:32 not a JSON Schema: at '/properties/a/type': must be one of 'array', 'boolean', 'integer', 'null', 'number', 'object', 'string'`}},
		{"schema keyword", "workflow: t\ninput: {properties: {a: {typ: string}}}\nnodes: {a: {fail: x}}\n", []string{
			`2:26 unknown schema keyword "typ"; did you mean "type"?`}},
		{"outside reference", wf("  f:\n    human: form\n    message: x\n    schema: {type: object, properties: {a: {$ref: \"file:///etc/passwd\"}}}\n"), []string{
			`6:51 references outside the file are not allowed`}},
		{"input is no object", "workflow: t\ninput: {type: array}\nnodes: {a: {fail: x}}\n", []string{
			`2:15 the input of a workflow is an object: leave type out, or write type: object`}},

		// words of other systems
		{"other names at the top", "workflow: t\nsteps: {a: {fail: x}}\n", []string{`1:1 the top level needs nodes`, `2:1 unknown key "steps" at the top level; here that is "nodes"`}},
		{"other names in a node", wf("  a: {shell: x, next: b}\n"), []string{`3:17 unknown key "next" in node "a" (shell); here that is "then"`}},
		{"other names of a kind", wf("  a: {run: x}\n"), []string{`3:7 unknown key "run" in node "a"; here that is "shell"`}},

		// YAML
		{"duplicate key", "workflow: t\nnodes:\n  a: {fail: x}\n  a: {fail: y}\n", []string{`4:3 the key "a" is there already, in line 3: rename or remove one`}},
		{"braces without quotes", wf("  a: {fail: x}\n  b:\n    template: {{.x}} and more\n"), []string{`5:15 a text that begins with "{{" needs quotes`}},
		{"second document", "workflow: t\nnodes: {a: {fail: x}}\n---\nworkflow: u\n", []string{`3:1 a file holds one workflow; a second document begins here`}},

		// versions
		{"newer format", "workflow: t\nformat: 2\nwhatever: [1]\n", []string{
			`2:9 this file is of format 2, and this hitl-tui reads formats up to 1: a newer one is needed`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, found(t, c.text)); diff != "" {
				t.Errorf("(-want +got)\n%s\nin\n%s", diff, c.text)
			}
		})
	}
}

// TestManyFaults: a file with many faults, as validate prints them.
func TestManyFaults(t *testing.T) {
	const file = "testdata/faults/many.yaml"
	_, err := Load(file)
	if err == nil {
		t.Fatal("the file loads")
	}
	golden(t, "testdata/faults/many.golden", []byte(err.Error()+"\n"))
}

// TestExcerpt: the caret stands under the column, also behind wide characters, tabs and in long lines.
func TestExcerpt(t *testing.T) {
	for _, c := range []struct {
		line   string
		column int
		want   string
	}{
		{"a: b", 4, "a: b\n   ^"},
		{"日本: b", 5, "日本: b\n      ^"},
		{"a:\tb\x1b", 4, "a: b \n   ^"},
		{"ab", 9, "ab\n  ^"},
		{"", 1, "\n^"},
		{strings.Repeat("x", 150) + "HERE" + strings.Repeat("y", 150), 151,
			"…" + strings.Repeat("x", 66) + "HERE" + strings.Repeat("y", 30) + "…\n" + strings.Repeat(" ", 67) + "^"},
	} {
		if got := excerpt(c.line, c.column); got != c.want {
			t.Errorf("%q, %d:\n%s\nwant\n%s", c.line, c.column, got, c.want)
		}
	}
}
