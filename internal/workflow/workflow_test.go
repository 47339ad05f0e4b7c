package workflow

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/workflow/node"
)

func examples(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) < 5 {
		t.Fatalf("examples: %v, %v", files, err)
	}
	more, err := filepath.Glob("testdata/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return append(files, more...)
}

// TestExamplesLoad: every bundled workflow validates, and the text a thread keeps makes the same graph.
func TestExamplesLoad(t *testing.T) {
	for _, file := range examples(t) {
		l, err := Load(file)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		if err := l.Graph.Check(); err != nil {
			t.Errorf("%s: the engine refuses the graph: %v", file, err)
		}
		if want := strings.TrimSuffix(filepath.Base(file), ".yaml"); l.Name != want {
			t.Errorf("%s is called %s", file, l.Name)
		}
		abs, _ := filepath.Abs(file)
		if d := l.Definition; d.Source != abs || d.Workflow != l.Name || d.Fingerprint != checkpoint.Fingerprint(d.Files) || d.Fingerprint != l.Graph.Fingerprint {
			t.Errorf("%s: definition %s %s %s", file, d.Source, d.Workflow, d.Fingerprint)
		}
		again, err := FromDefinition(l.Definition)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		if diff := cmp.Diff(outline(l.Graph), outline(again.Graph)); diff != "" {
			t.Errorf("%s (-file +definition)\n%s", file, diff)
		}
	}
}

// outline is a graph's edges as text.
func outline(g *engine.Graph) []string {
	var list []string
	for _, n := range g.Nodes {
		raw, _ := json.Marshal(map[string]any{"then": n.Then, "routes": n.Routes, "failure": n.Failure, "join": n.Join, "when": len(n.When)})
		list = append(list, n.Name+" "+n.Kind+" "+string(raw))
	}
	return list
}

const everything = `
workflow: every.thing-1
format: 1
description: All keys at once
input: {properties: {who: {type: string}, n: {type: integer, default: 2}}, required: [who]}
state: {talk: append, seen: union}
output: {talk: talk, count: len(talk)}
start: [one, two]
max_concurrency: 3
step_limit: 50
workdir: "/tmp/{{.who}}"
env: {TOKEN: '{{env "TOKEN"}}', GREETING: "hi {{.who}}"}
nodes:
  one:
    exec: [cat, "{{.who}}"]
    description: reads
    stdin: "{a: n}"
    env: {X: "{{.n}}"}
    inherit_env: [PATH]
    workdir: /
    accept: [1, 2]
    parse: json
    output_limit: 64KiB
    timeout: 1m30s
    retry_policy: {max_attempts: 3, initial_delay: 0s, backoff: 1.5, max_delay: 5s, jitter: 0}
    output: {talk: "[output]", seen: output.x}
    routes: {1: three, "2": [four, five]}
    when: [{if: output.ok, then: four}]
    then: END
    failure: END
  two: {exec: [agent], protocol: json, in: {}, retry_policy: 3, routes: {go: four}, then: three}
  three: {shell: "echo $X", join: arrived, then: END}
  four:
    human: choice
    join: each
    title: For {{.who}}
    message: Which?
    content: talk
    content_type: code/go
    context: {n: n + 1}
    options: [yes, {value: 5, label: Five, description: "as {{.n}}"}]
    multiple: true
    actions: [choose, skip, reject]
    require_comment: [reject]
    timeout: 2d
    default_action: choose
    default_data: [5]
    people_only: true
    assignee: "{{.who}}"
    group: g
    priority: high
    output: seen
    then: six
  five: {wait: {until: "run.started"}, then: six}
  six:
    join: step
    questions:
      a: {human: form, message: x, schema: {type: object, properties: {z: {type: number}, a: {type: string}}}}
      b: {human: edit, message: x, content: who, prefill: "'p'"}
    routes: {cancel: seven}
    then: [seven, eight]
  seven: {wait: 90s, join: each}
  eight: {set: {n: 010x == null ? 1 : 2}, join: each}
`

// TestEveryKey: each key of the format arrives where the engine and the nodes look for it.
func TestEveryKey(t *testing.T) {
	l, err := parse("t.yaml", strings.Replace(everything, "010x == null ? 1 : 2", "n + 1", 1))
	if err != nil {
		t.Fatal(err)
	}
	g := l.Graph
	if diff := cmp.Diff([]any{"every.thing-1", "All keys at once", []string{"one", "two"}, 3, 50, engine.Append, engine.Union},
		[]any{l.Name, l.Description, g.Start, g.MaxConcurrency, g.StepLimit, g.Channels["talk"], g.Channels["seen"]}); diff != "" {
		t.Errorf("top level (-want +got)\n%s", diff)
	}
	nodes := map[string]*engine.Node{}
	for _, n := range g.Nodes {
		nodes[n.Name] = n
	}
	one := nodes["one"]
	if diff := cmp.Diff(engine.RetryPolicy{MaxAttempts: 3, InitialDelay: 0, Backoff: 1.5, MaxDelay: 5e9, Jitter: 0}, one.Retry); diff != "" {
		t.Errorf("one: retry policy (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(map[string][]string{"1": {"three"}, "2": {"four", "five"}}, one.Routes); diff != "" {
		t.Errorf("one: routes (-want +got)\n%s", diff)
	}
	if one.Timeout != 90e9 || !one.HasThen || one.Then != nil || !one.HasFailure || one.Failure != nil || len(one.When) != 1 || one.Output == nil || one.RerunOnResume {
		t.Errorf("one: %+v", one)
	}
	x := one.Runner.(*node.Exec)
	if x.Parse != node.ParseJSON || x.OutputLimit != 64<<10 || !cmp.Equal(x.Accept, []int{1, 2}) || !cmp.Equal(x.InheritEnv, []string{"PATH"}) ||
		x.Stdin.Source() != "{a: n}" || x.Env[0].Name != "X" || len(x.FileEnv) != 2 || x.Workdir.Source() != "/" || x.FileWorkdir.Source() != "/tmp/{{.who}}" || x.JSON {
		t.Errorf("one: %+v", x)
	}
	two := nodes["two"].Runner.(*node.Exec)
	if !two.JSON || two.In == nil || len(two.In) != 0 || !nodes["two"].RerunOnResume || two.InheritEnv != nil {
		t.Errorf("two: %+v", two)
	}
	if diff := cmp.Diff(engine.RetryPolicy{MaxAttempts: 3, InitialDelay: 1e9, Backoff: 2, MaxDelay: 60e9, Jitter: 0.2}, nodes["two"].Retry); diff != "" {
		t.Errorf("two: retry policy (-want +got)\n%s", diff)
	}
	if s := nodes["three"].Runner.(*node.Shell); s.Script != "echo $X" || nodes["three"].Join != engine.JoinArrived || nodes["three"].Retry != (engine.RetryPolicy{}) {
		t.Errorf("three: %+v", s)
	}
	checkFour(t, nodes["four"])
	if w := nodes["five"].Runner.(*node.Wait); w.Until.Source() != "run.started" || w.For != 0 {
		t.Errorf("five: %+v", w)
	}
	if w := nodes["seven"].Runner.(*node.Wait); w.For != 90e9 {
		t.Errorf("seven: %+v", w)
	}
	six := nodes["six"].Runner.(*node.Human)
	if len(six.Questions) != 2 || six.Questions[0].Name != "a" || six.Questions[1].Content.Key() != "who" || nodes["six"].Kind != "questions" {
		t.Errorf("six: %+v", six)
	}
	schema, err := six.Questions[0].Schema.Eval(nil, engine.Value{})
	if want := `{"type":"object","properties":{"z":{"type":"number"},"a":{"type":"string"}}}`; err != nil || string(schema.JSON()) != want {
		t.Errorf("six: the schema is %s (%v), want its keys in file order: %s", schema.JSON(), err, want)
	}
}

func checkFour(t *testing.T, n *engine.Node) {
	t.Helper()
	q := n.Runner.(*node.Human).Questions[0]
	if q.Kind != actions.Choice || q.Title.Source() != "For {{.who}}" || q.Content.Key() != "talk" || q.ContentType != "code/go" || !q.Multiple ||
		!q.PeopleOnly || q.Timeout != 48*3600e9 || n.Timeout != 0 || q.DefaultAction != actions.Choose || q.Context[0].Name != "n" ||
		!cmp.Equal(q.Actions, []actions.Action{"choose", "skip", "reject"}) || !cmp.Equal(q.RequireComment, []actions.Action{"reject"}) ||
		q.Assignee == nil || q.Group.Source() != "g" || q.Priority.Source() != "high" || len(q.Options) != 2 {
		t.Errorf("four: %+v", q)
	}
	if yes, five := string(q.Options[0].Value.JSON()), string(q.Options[1].Value.JSON()); yes != `"yes"` || five != "5" {
		t.Errorf("four: options %s and %s", yes, five)
	}
	if v, err := q.DefaultData.Eval(nil, engine.Value{}); err != nil || string(v.JSON()) != "[5]" {
		t.Errorf("four: default_data %s, %v", v.JSON(), err)
	}
}

func TestCheckInput(t *testing.T) {
	l, err := parse("t.yaml", "workflow: t\ninput:\n  properties: {n: {type: integer}, s: {type: string, default: x}}\n  required: [n]\nnodes: {a: {fail: x}}\n")
	if err != nil {
		t.Fatal(err)
	}
	got, err := l.CheckInput(map[string]json.RawMessage{"n": json.RawMessage(`"42"`)})
	if err != nil || string(got["n"]) != "42" || string(got["s"]) != `"x"` {
		t.Errorf("got %s, %v", got, err)
	}
	for name, in := range map[string]map[string]json.RawMessage{
		"missing": {}, "nothing": nil, "unknown": {"n": json.RawMessage("1"), "m": json.RawMessage("1")}, "wrong": {"n": json.RawMessage(`"x"`)},
	} {
		var input *InputError
		if _, err := l.CheckInput(in); !errors.As(err, &input) {
			t.Errorf("%s: %v", name, err)
		}
	}
	none, err := parse("t.yaml", wf("  a: {fail: x}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := none.CheckInput(nil); err != nil || len(got) != 0 {
		t.Errorf("no input: %v, %v", got, err)
	}
	if _, err := none.CheckInput(map[string]json.RawMessage{"n": json.RawMessage("1")}); err == nil {
		t.Error("a workflow that takes no input takes some")
	}
}

func TestLoadRefuses(t *testing.T) {
	if _, err := Load(filepath.Join(t.TempDir(), "none.yaml")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	if _, err := Load(t.TempDir()); err == nil {
		t.Error("a folder is a workflow")
	}
	for _, ref := range []string{"x.csv", "x.CSV", "x.csv::main", "x.yaml::main"} {
		if _, err := Load(ref); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", ref, err)
		}
	}
	yaml := filepath.Join(t.TempDir(), "t.yaml")
	if err := os.WriteFile(yaml, []byte(wf("  a: {fail: x}\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	var faults Faults
	if _, err := Load(yaml + "::main"); !errors.As(err, &faults) || !strings.Contains(err.Error(), "holds one workflow") {
		t.Errorf("a graph of a YAML file: %v", err)
	}
}

// TestGraphs: one definition is read once however many ask at the same time, and never from a file.
func TestGraphs(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "t.yaml")
	if err := os.WriteFile(path, []byte(wf("  a: {fail: x}\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	var graphs Graphs
	got := make([]*engine.Graph, 8)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			g, err := graphs.Graph(context.Background(), l.Definition)
			if err != nil {
				t.Error(err)
			}
			got[i] = g
		})
	}
	wg.Wait()
	for _, g := range got {
		if g != got[0] || g == nil || g.Fingerprint != l.Definition.Fingerprint {
			t.Fatalf("graphs differ: %v", got)
		}
	}
	broken := checkpoint.Definition{Fingerprint: "f", Files: []checkpoint.File{{Path: "t.yaml", Text: "workflow: [\n"}}}
	var faults Faults
	if _, err := graphs.Graph(context.Background(), broken); !errors.As(err, &faults) {
		t.Errorf("broken definition: %v", err)
	}
	if _, err := graphs.Graph(context.Background(), checkpoint.Definition{}); err == nil {
		t.Error("an empty definition is a graph")
	}
}
