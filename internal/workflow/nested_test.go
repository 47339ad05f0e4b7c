package workflow_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/memory"
	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/workflow"
)

// desk is a workflow at work over a store of its own.
type desk struct {
	*testing.T
	engine *engine.Engine
	store  checkpoint.Store
	loaded *workflow.Loaded
}

// open loads a file and starts it in a folder.
func open(t *testing.T, file, folder string, input map[string]json.RawMessage) (*desk, *engine.Outcome) {
	t.Helper()
	l, err := workflow.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if input, err = l.CheckInput(input); err != nil {
		t.Fatal(err)
	}
	return begin(t, l, folder, input)
}

// begin starts a workflow in a folder.
func begin(t *testing.T, l *workflow.Loaded, folder string, input map[string]json.RawMessage) (*desk, *engine.Outcome) {
	t.Helper()
	d := &desk{T: t, store: memory.New(memory.Options{}), loaded: l}
	d.engine = engine.New(d.store, engine.Options{Graphs: &workflow.Graphs{}})
	out, err := d.engine.Start(t.Context(), engine.StartRequest{Thread: "t", Definition: l.Definition, Input: input, Workdir: folder})
	if err != nil {
		t.Fatal(err)
	}
	return d, out
}

func (d *desk) answer(q, action, data string) (*engine.Outcome, error) {
	a := engine.Answer{Interrupt: q, Action: action}
	if data != "" {
		a.Data = json.RawMessage(data)
	}
	return d.engine.Resume(context.Background(), engine.ResumeRequest{Thread: "t", Answers: []engine.Answer{a}, By: "ana"})
}

// script is a kept list of answers.
type script struct {
	Input  map[string]json.RawMessage `json:"input"`
	Script []struct {
		Q, Action, Comment string
		Data               json.RawMessage
		Refused            bool
	} `json:"script"`
}

func readScript(t *testing.T, name string) (s script) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata/play", name+".answers.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// play gives the answers of a script; those that are to be refused change nothing.
func (d *desk) play(s script, out *engine.Outcome) *engine.Outcome {
	d.Helper()
	for _, a := range s.Script {
		data := a.Data
		if a.Comment != "" {
			data, _ = json.Marshal(map[string]string{"comment": a.Comment})
		}
		next, err := d.answer(a.Q, a.Action, string(data))
		switch {
		case a.Refused && err == nil:
			d.Fatalf("%s %s %s was not refused", a.Q, a.Action, data)
		case a.Refused:
			if now, _ := d.engine.Open(context.Background(), "t"); now.Version != out.Version {
				d.Fatalf("a refused answer moved the thread from %v to %v", out.Version, now.Version)
			}
		case err != nil:
			d.Fatalf("%s %s %s: %v", a.Q, a.Action, data, err)
		default:
			out = next
		}
	}
	return out
}

func TestExpenseTriage(t *testing.T) {
	folder := t.TempDir()
	claims, err := os.ReadFile("testdata/play/claims.csv")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "claims.csv"), claims, 0o600); err != nil {
		t.Fatal(err)
	}
	s := readScript(t, "expense-triage")
	d, out := open(t, "testdata/expense-triage.yaml", folder, s.Input)
	var open []string
	for _, q := range out.Questions {
		open = append(open, q.Address+" "+q.Question.Title+" "+q.Question.Priority)
	}
	want := []string{"triage/1/decide Bo: 240.00 EUR normal", "triage/2/decide Cy: 1900.00 EUR high"}
	if diff := cmp.Diff(want, open); diff != "" {
		t.Fatalf("questions -want +got\n%s", diff)
	}
	out = d.play(s, out)
	outputs := `{"decisions":[` +
		`{"amount":12.5,"decision":"pay","id":"007","note":"","paid":12.5,"person":"Ana"},` +
		`{"amount":240,"decision":"refuse","id":"008","note":"","paid":0,"person":"Bo"},` +
		`{"amount":1900,"decision":"part","id":"009","note":"used price","paid":900.5,"person":"Cy"}],"total":913}`
	if diff := cmp.Diff(outputs, string(out.Outputs)); out.Status != checkpoint.Done || diff != "" {
		t.Errorf("%s %v: outputs -want +got\n%s", out.Status, out.Error, diff)
	}
	checks := 0
	for c, err := range d.store.History(t.Context(), "t", false) {
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range c.Runs {
			if r.Node == "check" {
				checks++
			}
		}
	}
	if checks != 3 {
		t.Errorf("check ran %d times for 3 claims", checks)
	}
}

func TestOpsChange(t *testing.T) {
	for _, test := range []struct{ name, status, live, message string }{
		{"ops-change", "failed", "old\n", "prod-eu was rolled back"},
		{"ops-change2", "done", "new\n", ""},
		{"ops-change3", "rejected", "old\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := t.TempDir()
			for name, text := range map[string]string{"live.conf": "old\n", "new.conf": "new\n"} {
				if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			s := readScript(t, test.name)
			d, out := open(t, "testdata/ops-change.yaml", folder, s.Input)
			out = d.play(s, out)
			live, err := os.ReadFile(filepath.Join(folder, "live.conf"))
			if err != nil {
				t.Fatal(err)
			}
			if string(out.Status) != test.status || string(live) != test.live || test.message != "" && !strings.Contains(out.Error.Message, test.message) {
				t.Errorf("%s, %v, file %q", out.Status, out.Error, live)
			}
		})
	}
}

// write puts files into a folder and returns the path of the first.
func write(t *testing.T, files ...string) string {
	t.Helper()
	folder := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		file := filepath.Join(folder, files[i])
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(files[i+1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(folder, files[0])
}

const parent = `
workflow: parent
input: {properties: {text: {type: string}}, required: [text]}
nodes:
  one: {workflow: ./parts/child.yaml, output: got, then: many}
  many:
    map: "['a', 'b']"
    as: letter
    workflow: ./parts/child.yaml
    in: {text: text + letter, times: index + 1}
    result: "{i: index, said: output.said}"
    output: all
`

const child = `
workflow: child
input: {properties: {text: {type: string}, times: {type: integer, default: 3}}, required: [text]}
output: {said: said, by: answers.review?.by}
nodes:
  say: {template: "{{.times}} {{.text}}", output: said, then: sub}
  sub: {workflow: ../other.yml, in: {said: said}, output: {said: output.said}, then: review}
  review: {human: edit, message: Fine?, content: said, then: END}
`

const grandchild = `
workflow: other
input: {properties: {said: {type: string}}}
nodes:
  shout: {set: {said: upper(said)}}
`

func TestNestedFiles(t *testing.T) {
	file := write(t, "parent.yaml", parent, "parts/child.yaml", child, "other.yml", grandchild)
	d, out := open(t, file, t.TempDir(), map[string]json.RawMessage{"text": json.RawMessage(`"x"`)})
	var names []string
	for _, f := range d.loaded.Definition.Files {
		names = append(names, f.Path)
	}
	if diff := cmp.Diff([]string{"parent.yaml", "parts/child.yaml", "other.yml"}, names); diff != "" {
		t.Fatalf("bundle -want +got\n%s", diff)
	}
	if err := os.RemoveAll(filepath.Dir(file)); err != nil { // a thread keeps what it began with
		t.Fatal(err)
	}
	if q := out.Questions[0]; q.Address != "one/review" || string(q.Question.Content) != `"3 X"` {
		t.Fatalf("%+v", q)
	}
	if _, err := d.answer("one/review", "edit", `"mine"`); err != nil {
		t.Fatal(err)
	}
	if _, err := d.answer("many/1/review", "approve", ""); err != nil {
		t.Fatal(err)
	}
	out, err := d.answer("many/0/review", "approve", "")
	if err != nil {
		t.Fatal(err)
	}
	want := `{"all":[{"i":0,"said":"1 XA"},{"i":1,"said":"2 XB"}],"got":{"by":"ana","said":"mine"},"text":"x"}`
	if diff := cmp.Diff(want, string(out.Outputs)); out.Status != checkpoint.Done || diff != "" {
		t.Errorf("%s %v: -want +got\n%s", out.Status, out.Error, diff)
	}
}

// TestOneFingerprint: the same files are one definition wherever they are, and a change of any of them is another.
func TestOneFingerprint(t *testing.T) {
	print := func(other string) string {
		l, err := workflow.Load(write(t, "parent.yaml", parent, "parts/child.yaml", child, "other.yml", other))
		if err != nil {
			t.Fatal(err)
		}
		return l.Definition.Fingerprint
	}
	first := print(grandchild)
	if first != print(grandchild) || first == print(grandchild+"# changed\n") {
		t.Error("the fingerprint does not name the files' text")
	}
}

func TestFaultsOfNestedFiles(t *testing.T) {
	const top = "workflow: a\nnodes:\n  x: {workflow: ./b.yaml%}\n"
	for name, test := range map[string]struct {
		in   string
		b    string
		want []string
	}{
		"unknown input": {", in: {txt: \"'x'\"}", "workflow: b\ninput: {properties: {text: {type: string}}}\nnodes:\n  n: {template: x}\n",
			[]string{`a.yaml:3:32: workflow "b" has no input "txt"; did you mean "text"?`}},
		"input that is needed": {", in: {}", "workflow: b\ninput: {properties: {text: {type: string}}, required: [text]}\nnodes:\n  n: {template: x}\n",
			[]string{`a.yaml:3:31: workflow "b" needs the input "text"`}},
		"input of no name here": {"", "workflow: b\ninput: {properties: {text: {type: string}}, required: [text]}\nnodes:\n  n: {template: x}\n",
			[]string{`a.yaml:3:17: workflow "b" needs the input "text", and there is no key of this name; give it with in`}},
		"contains itself": {"", "workflow: b\nnodes:\n  n: {workflow: ./sub/../a.yaml}\n",
			[]string{`b.yaml:3:17: contains itself: a.yaml -> b.yaml -> a.yaml`}},
		"faults of both": {", then: nowhere", "workflow: b\nnodes:\n  n: {tempalte: x}\n",
			[]string{`a.yaml:3:33: then names the node "nowhere", which does not exist`, `b.yaml:3:7: unknown key "tempalte" in node "n"; did you mean "template"?`}},
		"loop through a child that asks nobody": {", then: x", "workflow: b\nnodes:\n  n: {template: x}\n",
			[]string{`a.yaml:3:3: nothing ends this loop: x -> x`}},
	} {
		t.Run(name, func(t *testing.T) {
			file := write(t, "a.yaml", strings.Replace(top, "%", test.in, 1), "b.yaml", test.b)
			_, err := workflow.Load(file)
			var faults workflow.Faults
			if !errors.As(err, &faults) {
				t.Fatalf("no faults: %v", err)
			}
			var got []string
			for _, f := range faults {
				f.Excerpt = ""
				got = append(got, strings.TrimPrefix(f.String(), filepath.Dir(file)+"/"))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

func TestLoopThroughAChildThatAsks(t *testing.T) {
	file := write(t, "a.yaml", "workflow: a\nnodes:\n  x: {workflow: ./b.yaml, then: x}\n", "b.yaml", "workflow: b\nnodes:\n  n: {human: approval, message: again?}\n")
	if _, err := workflow.Load(file); err != nil {
		t.Error(err)
	}
}

// TestChildInput: what a child gets is checked by its own schema, item by item.
func TestChildInput(t *testing.T) {
	file := write(t, "a.yaml", "workflow: a\nnodes:\n  x: {map: \"[1, 'two']\", workflow: ./b.yaml, in: {n: item}, output: all}\n",
		"b.yaml", "workflow: b\ninput: {properties: {n: {type: integer}}}\nnodes:\n  k: {set: {m: n + 1}}\n")
	_, out := open(t, file, t.TempDir(), nil)
	if out.Status != checkpoint.Failed || !strings.Contains(out.Error.Message, "item 1") || !strings.Contains(out.Error.Message, "input of b") {
		t.Errorf("%s %v", out.Status, out.Error)
	}
}

// TestMapBody: what the nodes of a body see, and what they cannot write back.
func TestMapBody(t *testing.T) {
	file := write(t, "a.yaml", `
workflow: a
nodes:
  before: {set: {list: "[{n: 1}, {n: 2}]", unit: "'EUR'"}, then: each}
  each:
    map: list
    do:
      inner:
        map: "['u', 'v']"
        as: letter
        do:
          show: {template: "{{.item.n}}{{.letter}}{{.index}}{{.unit}}", output: text}
        result: text
        output: texts
        then: ask
      ask: {human: approval, message: "{{join \"+\" .texts}}?", content: item, actions: [approve, edit, reject], output: verdict, failure: no}
      no: {set: {verdict: "'no: ' + answers.ask.comment"}}
    result: "{i: index, v: verdict, a: answers.ask.action}"
    output: all
`)
	d, out := open(t, file, t.TempDir(), nil)
	q := out.Questions[1]
	if q.ContentKey != "" || string(q.Question.Content) != `{"n":2}` || q.Question.Message != "2u0EUR+2v1EUR?" {
		t.Fatalf("%+v", q.Question)
	}
	if _, err := d.answer("each/0/ask", "edit", `{"n":9}`); err != nil {
		t.Fatal(err)
	}
	out, err := d.answer("each/1/ask", "reject", `"too much"`)
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ All json.RawMessage }
	if err := json.Unmarshal(out.Outputs, &all); err != nil {
		t.Fatal(err)
	}
	if want := `[{"a":"edit","i":0,"v":{"n":9}},{"a":"reject","i":1,"v":"no: too much"}]`; string(all.All) != want {
		t.Errorf("%s %v\n got %s\nwant %s", out.Status, out.Error, all.All, want)
	}
	if keys := slices.Collect(func(yield func(string) bool) {
		var m map[string]json.RawMessage
		_ = json.Unmarshal(out.Outputs, &m)
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}); len(keys) != 3 {
		t.Errorf("keys of the body left it: %v", keys)
	}
}
