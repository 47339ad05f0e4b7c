package workflow

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// foundAt are the faults of a text without their places, which must all be where the text has a §.
func foundAt(t *testing.T, text string) []string {
	t.Helper()
	before, after, ok := strings.Cut(text, "§")
	if !ok {
		t.Fatal("the text has no §")
	}
	last := before[strings.LastIndexByte(before, '\n')+1:]
	place := fmt.Sprintf("%d:%d ", strings.Count(before, "\n")+1, utf8.RuneCountInString(last)+1)
	list := found(t, before+after)
	for i := range list {
		list[i] = strings.TrimPrefix(list[i], place)
	}
	return list
}

// TestValues: each place for a value says what it takes when it is given something else.
func TestValues(t *testing.T) {
	const exec, choice = "  a: {exec: [ls], ", "  a: {human: choice, message: x, options: [a], "
	for _, c := range []struct{ name, text, want string }{
		{"list for a text", wf("  a: {fail: §[x]}\n"), "fail must be a text, not a list"},
		{"text for a list", wf("  a: {exec: §ls -l}\n"), "exec must be a list of texts: [ls, -l]; for a line of the shell use shell"},
		{"no program", wf("  §a: {exec: []}\n"), `node "a": exec needs at least the name of a program`},
		{"mapping for an expression", wf("  a: {set: {x: §{a: 1}}}\n"), "set.x is an expression: put it in quotes"},
		{"trap in an expression", wf("  a: {set: {x: §TRUE}}\n"), "TRUE means different things to different readers of YAML: write true, or put a text in quotes"},
		{"trap in plain JSON", wf(choice + "timeout: 1h, default_action: choose, default_data: §0x1F}\n"), "0x1F means different numbers to different readers of YAML: write a plain decimal number, or put a text in quotes"},
		{"trap in a schema", "workflow: t\ninput: {properties: {n: {default: §010}}}\nnodes: {a: {fail: x}}\n", "010 means different numbers to different readers of YAML: write a plain decimal number, or put a text in quotes"},
		{"quoted boolean", wf(choice + "multiple: §\"true\"}\n"), `multiple must be true or false, not the text "true"`},
		{"whole number", "workflow: t\nmax_concurrency: §0\nnodes: {a: {fail: x}}\n", "max_concurrency must be a whole number from 1 to 10000, not 0"},
		{"fraction", "workflow: t\nstep_limit: §5.5\nnodes: {a: {fail: x}}\n", "step_limit must be a whole number from 1 to 10000000, not 5.5"},
		{"number", wf(exec + "retry_policy: {max_attempts: 2, jitter: §2}}\n"), "jitter must be a number from 0 to 1, not 2"},
		{"policy without attempts", wf(exec + "retry_policy: §{backoff: 2}}\n"), "retry_policy needs max_attempts"},
		{"unknown key of a policy", wf(exec + "retry_policy: {§max_attempt: 2}}\n"), `unknown key "max_attempt" in retry_policy; did you mean "max_attempts"?`},
		{"duration", wf("  a: {wait: §5 minutes}\n"), "wait must be a duration such as 90s, 1h30m or 2d, not 5 minutes"},
		{"no time at all", wf(exec + "timeout: §0s}\n"), "timeout must be a duration such as 90s, 1h30m or 2d, not 0s"},
		{"age of the universe", wf("  a: {wait: §99999999999w}\n"), "wait must be a duration such as 90s, 1h30m or 2d, not 99999999999w"},
		{"size", wf(exec + "output_limit: §16MB}\n"), "output_limit must be a size such as 64KiB or 16MiB, not 16MB"},
		{"exit code", wf(exec + "accept: [§0]}\n"), "accept must be a whole number from 1 to 255, not 0"},
		{"parse", wf(exec + "parse: §jsn}\n"), `unknown parse "jsn"; did you mean "json"?`},
		{"join", wf(exec + "join: §al}\n"), `unknown join "al"; did you mean "all"?`},
		{"reducer", "workflow: t\nstate: {x: §sum}\nnodes: {a: {fail: x}}\n", `unknown reducer "sum"; known are replace, append, add, merge, union, last`},
		{"content type", wf(choice + "content_type: §html}\n"), `unknown content_type "html"; known are text, markdown, diff, json, table, code/LANG`},
		{"priority", wf(choice + "priority: §hihg}\n"), `unknown priority "hihg"; did you mean "high"?`},
		{"options", wf("  a: {human: choice, message: x, options: [§[a]]}\n"), "an option must be a text or {value, label, description}, not a list"},
		{"no options", wf("  a: {human: choice, message: x, options: §[]}\n"), "options lists nothing to choose"},
		{"two equal options", wf("  a: {human: choice, message: x, options: [\"5\", {value: 5}, §5]}\n"), `two options have the value "5"`},
		{"option without value", wf("  a: {human: choice, message: x, options: [b, §{label: A}]}\n"), "an option needs value"},
		{"action twice", wf(choice + "actions: [choose, §choose]}\n"), "actions lists choose twice"},
		{"schema", wf("  a: {human: form, message: x, schema: §[a]}\n"), "schema must be a JSON Schema or an expression that makes one, not a list"},
		{"target", wf(exec + "then: §{a: b}}\n"), "then must be a node, END or a list of nodes, not a mapping: by action or exit code that is routes, by condition when"},
		{"target twice", wf(exec + "then: [b, §b]}\n  b: {fail: x}\n"), `then names the node "b" twice`},
		{"no target", wf(exec + "then: §[]}\n"), "then lists no node: write END to end the branch"},
		{"when as a mapping", wf(exec + "when: §{if: x, then: END}, then: END}\n"), "when must be a list: when: [{if: ..., then: ...}]"},
		{"branch without then", wf(exec + "when: [§{if: true}], then: END}\n"), "an entry of when needs then"},
		{"output", wf(exec + "output: §[x]}\n"), "output must be a state key or {KEY: expression}, not a list"},
		{"variable", wf(exec + "env: {§A-B: x}}\n"), `"A-B" cannot be the name of a variable: letters, digits and _ only`},
		{"name of the workflow", "workflow: §a b\nnodes: {a: {fail: x}}\n", `"a b" cannot be the name of a workflow: letters, digits, . _ and - only, at most 64`},
		{"start at the end", "workflow: t\nstart: §END\nnodes: {a: {fail: x}}\n", "start must be a node or a list of nodes, not END"},
		{"question name", wf("  a: {questions: {§b-c: {human: text, message: x}}}\n"), `"b-c" cannot be a question name: letters, digits and _ only`},
		{"question is no mapping", wf("  a: {questions: {b: §text}}\n"), `question "b" must be a mapping, not text`},
		{"no questions", wf("  a: {questions: §{}}\n"), "questions asks nothing"},
		{"unknown key of a question", wf("  a: {questions: {b: {human: text, §mesage: x}}}\n"), `unknown key "mesage" in question "b"; did you mean "message"?`},
		{"address", wf("  a: {http: §example.org/x}\n"), `http: "example.org/x" is no address such as https://example.org/path`},
		{"address without a host", wf("  a: {http: §\"https:///x\"}\n"), `http: "https:///x" is no address such as https://example.org/path`},
		{"address with a template", wf("  a: {set: {x: 1}, then: b}\n  b: {http: §\"ftp://{{.x}}\"}\n"), `http: "ftp://{{.x}}" is no address such as https://example.org/path`},
		{"method", wf("  a: {http: \"https://x\", method: §post}\n"), `unknown method "post"; did you mean "POST"?`},
		{"status to accept", wf("  a: {http: \"https://x\", accept: [§100]}\n"), "accept must be a whole number from 200 to 599, not 100"},
		{"status as a route", wf("  a: {http: \"https://x\", routes: {§ok: END}, then: END}\n"), `unknown status "ok": the route of an http node is the status of the answer, 200 to 599`},
		{"name of a header", wf("  a: {http: \"https://x\", headers: {§\"X Y\": z}}\n"), `"X Y" cannot be the name of a header`},
		{"secret in a body", wf("  a: {http: \"https://x\", method: POST, body: \"{{§env \\\"KEY\\\"}}\"}\n"), `a.body: env is allowed only under env and headers and in an http URL, so that no secret reaches the state`},
		{"secret in a query", wf("  a: {http: \"https://x\", query: {k: \"{{§env \\\"KEY\\\"}}\"}}\n"), `a.query.k: env is allowed only under env and headers and in an http URL, so that no secret reaches the state`},
		{"temperature", wf("  a: {llm: default, prompt: x, temperature: §3}\n"), "temperature must be a number from 0 to 2, not 3"},
		{"tokens", wf("  a: {llm: default, prompt: x, max_tokens: §0}\n"), "max_tokens must be a whole number from 1 to 10000000, not 0"},
		{"no nodes at all", "workflow: t\nnodes: §{}\n", "nodes holds no node"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff([]string{c.want}, foundAt(t, c.text)); diff != "" {
				t.Errorf("(-want +got)\n%s\nin\n%s", diff, c.text)
			}
		})
	}
}

// TestKeysThatDoNotGoTogether: what one key would make of another is told where the other stands.
func TestKeysThatDoNotGoTogether(t *testing.T) {
	const form = "  a: {human: form, message: x, schema: {type: object, properties: {n: {type: integer}}, required: [n]}, timeout: 1h, default_action: submit, "
	for _, c := range []struct{ name, text, want string }{
		{"in without json", wf("  a: {exec: [ls], in: §{x: 1}}\n"), "in belongs to protocol: json; use stdin, or {{.name}} in an argument"},
		{"stdin with json", wf("  a: {exec: [ls], protocol: json, stdin: §1}\n"), "stdin does not go with protocol: json, where the program reads its request; use in"},
		{"parse with json", wf("  a: {exec: [ls], protocol: json, parse: §raw}\n"), "parse does not go with protocol: json, which says what the output is"},
		{"route without then of a json program", wf("  §a: {exec: [ls], protocol: json, routes: {x: END}}\n"), `node "a" needs then for the case that the program names no route (then: END ends the branch)`},
		{"route that is no exit code", wf("  a: {exec: [ls], routes: {§ok: END}, then: END}\n"), `unknown exit code "ok": the route of a program is its exit code, 0 to 255, unless it speaks protocol: json`},
		{"protocol of a shell", wf("  a: {shell: ls, §protocol: json}\n"), `unknown key "protocol" in node "a" (shell)`},
		{"output of a set", wf("  a: {set: {x: 1}, §output: y}\n"), `unknown key "output" in node "a" (set)`},
		{"comment on what is not allowed", wf("  a: {human: text, message: x, require_comment: [§reject]}\n"), `require_comment: node "a" does not allow "reject" (it allows text_input, respond, stop, cancel)`},
		{"default that is not allowed", wf("  a: {human: text, message: x, timeout: 1h, default_action: §skip}\n"), `default_action: node "a" does not allow "skip" (it allows text_input, respond, stop, cancel)`},
		{"data without a default", wf("  a: {human: text, message: x, default_data: §y}\n"), "default_data needs default_action"},
		{"form that does not fit", wf(form + "default_data: §{n: x}}\n"), "default_data does not fit default_action submit: /n: must be a whole number, not a text"},
		{"comment that is missing", wf("  a: {human: approval, message: x, require_comment: [reject], timeout: 1h, default_action: §reject}\n"),
			"default_data does not fit default_action reject: a comment is required"},
		{"several without options", wf("  §a: {human: text, message: x, multiple: true}\n"), `node "a": multiple needs options`},
		{"choose without options", wf("  §a: {human: approval, message: x, actions: [choose]}\n"), `node "a" allows choose and has no options`},
		{"json and body", wf("  a: {http: \"https://x\", method: POST, json: \"1\", body: §y}\n"), `node "a" has json and body: a request has one of them`},
		{"body of a GET", wf("  a: {http: \"https://x\", json: §\"[1]\"}\n"), "json is sent by POST, PUT or PATCH: say method: POST"},
		{"nothing to ask", wf("  §a: {llm: default, system: x}\n"), `node "a": an llm needs prompt, or messages for a conversation`},
		{"asked in two ways", wf("  a: {llm: default, prompt: x, messages: §\"[1]\"}\n"), `node "a" has prompt and messages: a model is asked by one of them`},
		{"schema of a list", wf("  a: {llm: default, prompt: x, schema: §{type: array}}\n"), "schema of an llm must be that of an object: {type: object, properties: ...}"},
		{"route of a model", wf("  a: {llm: default, prompt: x, routes: §{x: END}, then: END}\n"), "an llm node has no route; use when"},
		{"route of a question among several", wf("  a: {questions: {b: {human: text, message: x}}, routes: {§approve: END}, then: END}\n"),
			`routes: node "a" does not allow "approve" (it allows text_input, respond, stop, cancel)`},
		{"questions that lead nowhere", wf("  §a:\n    questions: {b: {human: text, message: x}, c: {human: form, message: x, schema: {type: object}}}\n    routes: {text_input: END}\n"),
			`node "a": the action "respond" leads nowhere: add it to routes, or give then`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff([]string{c.want}, foundAt(t, c.text)); diff != "" {
				t.Errorf("(-want +got)\n%s\nin\n%s", diff, c.text)
			}
		})
	}
}

// TestWhatIsNoFault: rules that look like faults and are none.
func TestWhatIsNoFault(t *testing.T) {
	for name, text := range map[string]string{
		"address from the environment":      wf("  a: {http: \"{{env \\\"API\\\"}}/x\"}\n"),
		"secret in a header":                wf("  a: {http: \"https://x\", headers: {Authorization: \"Bearer {{env \\\"KEY\\\"}}\"}}\n"),
		"DELETE with a body":                wf("  a: {http: \"https://x\", method: DELETE, json: \"[1]\"}\n"),
		"routes by status":                  wf("  a: {http: \"https://x\", accept: [404], routes: {404: END, 201: END}, then: END}\n"),
		"model that a kept file names":      wf("  a: {llm: gone, prompt: x, schema: {properties: {n: {type: integer}}}}\n"),
		"edit of a key":                     wf("  a: {template: x, output: y, then: b}\n  b: {human: edit, message: x, content: y}\n"),
		"edit with an output":               wf("  a: {template: x, output: y, then: b}\n  b: {human: edit, message: x, content: y + 'z', output: y}\n"),
		"deadline with data from the state": wf("  a: {human: choice, message: x, options: \"['a']\", timeout: 1h, default_action: choose, default_data: a}\n"),
		"one question's routes cover all":   wf("  a:\n    questions: {b: {human: text, message: x, actions: [respond]}, c: {human: text, message: x}}\n    routes: {respond: END}\n"),
		"all actions routed":                wf("  a: {human: approval, message: x, routes: {approve: END, retry: a}}\n"),
		"script with another's braces":      wf("  a: {shell: \"docker ps --format '{{.Names}}'\"}\n"),
		"suspend without a message":         wf("  a: {human: suspend}\n"),
		"question marks in a context":       wf("  a: {human: text, message: x, context: {\"What is it?\": \"1 + 1\"}}\n"),
		"template that is a plain number":   wf("  a: {fail: 010}\n"),
		"node named as a key":               wf("  a: {template: x, output: a}\n"),
		"name of the workflow":              "workflow: Release.notes_2-b\nnodes: {a: {fail: x}}\n",
	} {
		if got := found(t, text); got != nil {
			t.Errorf("%s: %q", name, got)
		}
	}
}
