package workflow

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// started are the faults of files that are read to be started, as FILE:LINE:COLUMN MESSAGE; the first is t.yaml.
func started(t *testing.T, texts map[string]string) []string {
	t.Helper()
	folder := t.TempDir()
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, err := Load(filepath.Join(folder, "t.yaml"))
	var faults Faults
	if err != nil && !errors.As(err, &faults) {
		t.Fatal(err)
	}
	var list []string
	for _, f := range faults {
		list = append(list, strings.TrimPrefix(fmt.Sprintf("%s:%d:%d %s", filepath.Base(f.File), f.Line, f.Column, f.Message), "t.yaml:"))
	}
	return list
}

// child asks for what the files around it give it and take from it.
const child = `workflow: child
input: {properties: {n: {type: integer, minimum: 1}, who: {$ref: "#/$defs/name"}}, $defs: {name: {type: string}}}
output: {rows: n, total: n + 1}
nodes: {a: {template: x}}
`

// TestWhatCannotBeMeant: what is certain to go wrong, or to be lost, is told before the first node runs; what may go
// right is let through.
func TestWhatCannotBeMeant(t *testing.T) {
	top := func(head, nodes string) string { return "workflow: t\n" + head + "\nnodes:\n" + nodes }
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"typo under state", top("state: {lgo: append}", "  a: {set: {log: 1}}\n"), []string{`2:9 state: nothing in this file writes the key "lgo"; did you mean "log"?`}},
		{"key that is not written", top("state: {rest: append}", "  a: {set: {log: 1}}\n"), []string{`2:9 state: nothing in this file writes the key "rest": write it with output or set, or leave it out`}},
		{"key of a map's body", top("state: {x: append}", "  a: {map: \"[1]\", do: {b: {template: x, output: y}}, output: rows}\n"), []string{`2:9 state: nothing in this file writes the key "x": write it with output or set, or leave it out`}},
		{"key written by output", top("state: {x: append}", "  a: {template: x, output: x}\n"), nil},
		{"key written by parts", top("state: {x: append}", "  a: {template: x, output: {x: output}}\n"), nil},
		{"key of the input", top("input: {properties: {x: {type: array}}}\nstate: {x: append}", "  a: {template: x}\n"), nil},
		{"key of an open input", top("input: {additionalProperties: true}\nstate: {x: append}", "  a: {template: x}\n"), nil},
		{"key of a conversation", top("state: {talk: append}", "  a: {human: conversation, content: talk}\n"), nil},
		{"key of a program", top("state: {x: append}", "  a: {exec: [ls], protocol: json}\n"), nil},
		{"unknown reducer", top("state: {x: apend}", "  a: {template: x}\n"), []string{`2:12 unknown reducer "apend"; did you mean "append"?`}},

		{"output of a child", top("", "  a: {workflow: ./child.yaml, in: {n: 1}, output: {q: output.rwos}}\n"), []string{`4:62 output.q: unknown field "rwos"; did you mean "rows"?`}},
		{"output of a child in a condition", top("", "  a: {workflow: ./child.yaml, in: {n: 1}, when: [{if: output?.x > 1, then: END}], then: END}\n"), []string{`4:63 if: unknown field "x"; known are rows, total`}},
		{"output of a child of a map", top("", "  a: {map: \"[1]\", workflow: ./child.yaml, in: {n: item}, result: output.rws}\n"), []string{`4:73 result: unknown field "rws"; did you mean "rows"?`}},
		{"outputs of a child", top("", "  a: {workflow: ./child.yaml, in: {n: 1}, output: {q: output.rows, r: \"output['total']\"}}\n"), nil},
		{"state of a child without output", top("", "  a: {workflow: ./plain.yaml, output: {q: output.x, r: output.y}}\n"), []string{`4:63 output.r: unknown field "y"; known are x`}},
		{"value of a question that is not asked", top("", "  a: {questions: {one: {human: text, message: x}}, output: {q: output.on}}\n"), []string{`4:71 output.q: unknown field "on"; did you mean "one"?`}},

		{"map over a number", top("input: {properties: {n: {type: integer}}}", "  a: {map: n, do: {b: {template: x}}}\n"), []string{`4:12 map: the input "n" is of type integer, and a map goes over a list`}},
		{"map within a map over a text", top("input: {properties: {n: {type: string}}}", "  a: {map: \"[1]\", do: {b: {map: n, as: k, do: {c: {template: x}}}}}\n"), []string{`4:33 map: the input "n" is of type string, and a map goes over a list`}},
		{"map over what is made a list", top("input: {properties: {n: {type: string}}}", "  s: {set: {n: \"split(n, ',')\"}, then: a}\n  a: {map: n, do: {b: {template: x}}}\n"), nil},
		{"map over what may be a list", top("input: {properties: {n: {type: [array, string]}, m: {}}}", "  s: {template: x, then: [a, c]}\n  a: {map: n, do: {b: {template: x}}}\n  c: {map: m, do: {d: {template: x}}}\n"), nil},

		{"text for a number", top("", "  a: {workflow: ./child.yaml, in: {n: \"'x'\"}}\n"), []string{`4:39 in.n: workflow "child" does not take "x": /n: must be a whole number, not a text`}},
		{"number out of bounds", top("", "  a: {workflow: ./child.yaml, in: {n: 0}}\n"), []string{`4:39 in.n: workflow "child" does not take 0: /n: must be at least 1`}},
		{"list of a map's child", top("", "  a: {map: \"[1]\", workflow: ./child.yaml, in: {n: \"true\"}}\n"), []string{`4:51 in.n: workflow "child" does not take true: /n: must be a whole number, not true or false`}},
		{"what a child takes", top("", "  a: {workflow: ./child.yaml, in: {n: \"'5'\", who: \"'ann'\"}}\n"), nil},
		{"what is computed", top("", "  a: {workflow: ./child.yaml, in: {n: \"'x' + 'y'\"}}\n"), nil},

		{"missing file", top("", "  a: {workflow: ./chidl.yaml}\n"), []string{`4:17 workflow "./chidl.yaml": there is no such file; did you mean "child.yaml"?`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := map[string]string{"t.yaml": c.text, "child.yaml": child, "plain.yaml": "workflow: plain\nnodes: {a: {template: x, output: x}}\n"}
			if diff := cmp.Diff(c.want, started(t, files)); diff != "" {
				t.Errorf("(-want +got)\n%s\nin\n%s", diff, c.text)
			}
		})
	}
}

// TestAThreadThatHasBegunGoesOn: what is only most likely a mistake does not hold up a thread that keeps its file.
func TestAThreadThatHasBegunGoesOn(t *testing.T) {
	text := "workflow: t\ninput: {properties: {n: {type: integer}}}\nstate: {lgo: append}\nnodes:\n  a: {map: n, do: {b: {template: x}}}\n"
	if list := started(t, map[string]string{"t.yaml": text}); len(list) != 2 {
		t.Fatalf("read to be started, it has the faults %q", list)
	}
	if _, err := parse("t.yaml", text); err != nil {
		t.Error(err)
	}
}

// TestOneMistakeIsOneFault: what only follows from a mistake is not told beside it.
func TestOneMistakeIsOneFault(t *testing.T) {
	const choice = "  a: {human: choice, message: x, options: [a, b], "
	for name, text := range map[string]string{
		"time and default":        wf(choice + "timeout: 5 mins, default_action: choose, default_data: a}\n"),
		"no time and default":     wf("  a:\n    human: approval\n    message: x\n    timeout:\n    default_action: reject\n"),
		"actions and default":     wf("  a: {human: approval, message: x, actions: [approve, rejct], timeout: 1h, default_action: reject}\n"),
		"actions and routes":      wf("  a: {human: approval, message: x, actions: [approve, rejct], routes: {reject: END}, then: END}\n"),
		"actions and comment":     wf("  a: {human: approval, message: x, actions: [approve, rejct], require_comment: [reject]}\n"),
		"actions and dead end":    wf("  a: {human: approval, message: x, actions: [aprove], routes: {approve: END}}\n"),
		"option and default":      wf("  a: {human: choice, message: x, options: [{valu: a}, b], timeout: 1h, default_action: choose, default_data: a}\n"),
		"kind and routes":         wf("  a: {human: aproval, message: x, routes: {approve: END}}\n"),
		"kind and write-back":     wf("  a: {human: edti, message: x, content: 1 + 1}\n"),
		"protocol and in":         wf("  a: {exec: [ls], protocol: jsn, in: {x: 1}}\n"),
		"protocol and routes":     wf("  a: {exec: [ls], protocol: jsn, routes: {again: a}, then: END}\n"),
		"accept and routes":       wf("  a: {exec: [ls], accept: [one], routes: {1: END}, then: END}\n"),
		"statuses and routes":     wf("  a: {http: \"https://x\", accept: [4o4], routes: {404: END}, then: END}\n"),
		"join and branches":       wf("  s: {template: x, then: [a, b]}\n  a: {template: x, then: c}\n  b: {template: x, then: c}\n  c: {template: x, join: al}\n"),
		"reducer and talk":        "workflow: t\nstate: {talk: apend}\nnodes:\n  a: {human: conversation, content: talk}\n",
		"reducer and names":       "workflow: t\nstate: {talk: apend}\nnodes:\n  a: {template: \"{{.talk}}\"}\n",
		"missing child in a loop": wf("  a: {workflow: ./gone.yaml, then: b}\n  b: {template: x, then: a}\n"),
	} {
		t.Run(name, func(t *testing.T) {
			if list := started(t, map[string]string{"t.yaml": text}); len(list) != 1 {
				t.Errorf("%q\nin\n%s", list, text)
			}
		})
	}
}
