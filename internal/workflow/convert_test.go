package workflow_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/memory"
	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/workflow"
)

const agentMapData = "../../testdata/agentmap"

// refused are the example files that are ambiguous, and unmodelled the one that asks a model.
var (
	refused    = []string{"routing_examples.csv", "suspend_messaging_basic.csv"}
	unmodelled = "lesson1.csv"
)

// agentMapFiles are AgentMap's own examples that run, and those of this project.
func agentMapFiles(t *testing.T) []string {
	t.Helper()
	var files []string
	for _, pattern := range []string{"examples/*.csv", "examples/*/*.csv", "own/*.csv"} {
		found, err := filepath.Glob(filepath.Join(agentMapData, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range found {
			if name := filepath.Base(file); !slices.Contains(refused, name) && name != unmodelled {
				files = append(files, file)
			}
		}
	}
	if len(files) < 20 {
		t.Fatalf("only %d files found", len(files))
	}
	return files
}

// told is what somebody sees of a run.
type told struct {
	Status  checkpoint.Status
	Outputs any
	Error   string
	Asked   []string // address, question and answer
	Steps   [][]string
}

// answers answers questions: with refuse, by a rejection or a withdrawal where that is allowed, every other time.
type answers struct {
	refuse bool
	n      int
}

func (a *answers) to(q engine.OpenQuestion) engine.Answer {
	a.n++
	x := engine.Answer{Interrupt: q.Address, Reviewer: "ann"}
	allowed := actions.Allowed(q.Question)
	if a.refuse && a.n%2 == 1 {
		for _, action := range []actions.Action{actions.Reject, actions.Cancel} {
			if slices.Contains(allowed, action) {
				x.Action = string(action)
				return x
			}
		}
	}
	switch q.Question.Kind {
	case actions.Approval:
		x.Action = "approve"
	case actions.Choice:
		x.Action, x.Data = "choose", q.Question.Options[len(q.Question.Options)-1].Value
	case actions.Text:
		x.Action, x.Data = "text_input", json.RawMessage(`"stop"`)
	case actions.EditKind:
		x.Action, x.Data = "edit", json.RawMessage(`"edited"`)
	case actions.Conversation:
		if x.Action, x.Data = "reply", json.RawMessage(`"well"`); a.n > 8 {
			x.Action = "end"
		}
	default:
		x.Action, x.Data = "continue", json.RawMessage(`{"rows": 3}`)
	}
	return x
}

// runFile runs a workflow file to its end, over a store.
func runFile(t *testing.T, ref, workdir string, refuse bool) told {
	t.Helper()
	l, err := workflow.Load(ref)
	if err != nil {
		t.Fatal(err)
	}
	clock := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	store := memory.New(memory.Options{Now: func() time.Time { return clock }})
	ids := 0
	e := engine.New(store, engine.Options{
		Graphs: &workflow.Graphs{}, Now: func() time.Time { return clock },
		NewID: func() string { ids++; return fmt.Sprintf("00000000-0000-7000-8000-%012d", ids) },
	})
	defer func() {
		if err := e.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	given := map[string]json.RawMessage{}
	for _, key := range []string{"input", "raw_data", "text", "request_id", "gruß", "in-put", "output", "subject", "go", "request", "id", "name", "extra", "id2", "test", "workflow-name"} {
		given[key] = json.RawMessage(`"` + key + `"`)
	}
	input, err := l.CheckInput(given)
	if err != nil {
		t.Fatal(err)
	}
	out, err := e.Start(t.Context(), engine.StartRequest{Thread: "thread-1", Definition: l.Definition, Input: input, Workdir: workdir})
	if err != nil {
		t.Fatal(err)
	}
	var r told
	a := answers{refuse: refuse}
	for len(out.Questions) > 0 && len(r.Asked) < 40 {
		q := out.Questions[0]
		answer := a.to(q)
		asked, err := json.Marshal(q.Question)
		if err != nil {
			t.Fatal(err)
		}
		r.Asked = append(r.Asked, fmt.Sprintf("%s %s %s %s", q.Address, asked, answer.Action, answer.Data))
		if out, err = e.Resume(t.Context(), engine.ResumeRequest{Thread: "thread-1", Answers: []engine.Answer{answer}}); err != nil {
			t.Fatalf("%s: %v", r.Asked[len(r.Asked)-1], err)
		}
	}
	r.Status = out.Status
	if len(out.Outputs) > 0 {
		if err := json.Unmarshal(out.Outputs, &r.Outputs); err != nil {
			t.Fatal(err)
		}
	}
	if out.Error != nil {
		r.Error = out.Error.Message
	}
	for c, err := range store.History(t.Context(), "thread-1", false) {
		if err != nil {
			t.Fatal(err)
		}
		var step []string
		for _, run := range c.Runs {
			step = append(step, run.Path+" "+run.Status+" "+run.Route+" "+run.Error)
		}
		r.Steps = append(r.Steps, step)
	}
	return r
}

// TestConvertedRunsAlike: a graph of a CSV file and the YAML that convert makes of it ask the same questions, take the same
// steps and give the same results, whether the answers go on or refuse.
func TestConvertedRunsAlike(t *testing.T) {
	for _, file := range agentMapFiles(t) {
		graphs, err := workflow.Library{}.Graphs(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, graph := range graphs {
			t.Run(filepath.Base(file)+"/"+graph, func(t *testing.T) {
				folder := t.TempDir()
				list, err := workflow.Library{}.Convert(file+"::"+graph, folder)
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range list {
					if err := os.WriteFile(filepath.Join(folder, c.File), []byte(c.Text), 0o600); err != nil {
						t.Fatal(err)
					}
				}
				for _, refuse := range []bool{false, true} {
					csv := runFile(t, file+"::"+graph, t.TempDir(), refuse)
					yaml := runFile(t, filepath.Join(folder, list[0].File), t.TempDir(), refuse)
					if diff := cmp.Diff(csv, yaml); diff != "" {
						t.Errorf("refuse %v (-CSV +YAML)\n%s\n%s", refuse, diff, list[0].Text)
					}
					if csv.Status == "" || csv.Status == checkpoint.Failed && !refuse {
						t.Errorf("refuse %v: %s, %s", refuse, csv.Status, csv.Error)
					}
				}
			})
		}
	}
}

// TestAgentMapRuns: what graphs give, by the words of AgentMap's own agents.
func TestAgentMapRuns(t *testing.T) {
	for _, c := range []struct {
		ref    string
		refuse bool
		status checkpoint.Status
		want   map[string]string // output -> value as JSON
	}{
		{"examples/hello_world.csv", false, checkpoint.Done, map[string]string{"result": `"Hello stop. Welcome to AgentMap!"`, "last_action_success": "true"}},
		{"examples/hello_world.csv", true, checkpoint.Done, map[string]string{"result": "null", "last_action_success": "true"}},
		{"examples/LinearGraph.csv", false, checkpoint.Done, map[string]string{"response": `"No input provided to echo"`}},
		{"examples/SingleNodeGraph.csv", false, checkpoint.Done, map[string]string{"response": `"[Start] DefaultAgent executed"`}},
		{"examples/test.csv", false, checkpoint.Done, map[string]string{
			"startOutput": `"SUCCESS: Start executed with inputs: input=input with prompt: 'Start prompt'"`,
			"finalOutput": `"[SuccessPath] DefaultAgent executed with prompt: 'Success reached'"`}},
		{"examples/BranchingGraphFailure.csv", false, checkpoint.Done, map[string]string{
			"startResponse": `"FAILURE: Start executed (will set last_action_success=False) with inputs: input with prompt: 'fail' (Will force FAILURE branch)"`,
			"finalResponse": `"FAILURE: Start executed (will set last_action_success=False) with inputs: input with prompt: 'fail' (Will force FAILURE branch)"`}},
		{"examples/human_agent_examples.csv::DocumentApproval", false, checkpoint.Done, map[string]string{
			"approval_result": "true", "final_status": `"[PrepareNotification] DefaultAgent executed with prompt: 'Document has been approved successfully!'"`}},
		{"examples/human_agent_examples.csv::ProjectSetup", true, checkpoint.Cancelled, nil},
		{"examples/suspend_agent_examples.csv::APIIntegrationCode", false, checkpoint.Done, map[string]string{"api_response": `{"rows":3}`}},
		{"examples/suspend_agent_examples.csv::APIIntegrationCode", true, checkpoint.Done, map[string]string{
			"timeout_message": `"[HandleTimeout] DefaultAgent executed with prompt: 'API request {request_id} timed out'"`}},
		{"examples/subgraph_mapping/OutputRemapExample.csv", false, checkpoint.Done, map[string]string{"echoed_parent": `"raw_data"`}},
		{"examples/parallel_map_reduce.csv", false, checkpoint.Done, map[string]string{
			"summary_report": `"analysis_a: stop\n\nanalysis_b: stop\n\nanalysis_c: stop"`}},
		{"own/bom-crlf.csv", false, checkpoint.Done, map[string]string{"last": `"Grüße, gruß"`}},
		{"own/odd-names.csv", false, checkpoint.Done, map[string]string{
			"type": `"in-put/output"`, "errors_": `"[Save it!] DefaultAgent executed with prompt: 'a;b'"`,
			"get": `"SUCCESS: Überprüfung executed with inputs: in-put=in-put, type=in-put/output"`,
			"sum": `"type: in-put/output\n\nget: SUCCESS: Überprüfung executed with inputs: in-put=in-put, type=in-put/output\n\nlast_action_success: true"`}},
		{"own/fan.csv", false, checkpoint.Done, map[string]string{"a": `"go"`, "b": `"stop"`, "c2": `"FAILURE: C2 executed (will set last_action_success=False) with inputs: go (Will force FAILURE branch)"`}},
		{"own/fan.csv", true, checkpoint.Done, map[string]string{"b": "false"}},
		{"own/nested.csv::Outer", false, checkpoint.Done, map[string]string{"report": `"no: stop"`}},
		{"own/nested.csv::Outer", true, checkpoint.Done, map[string]string{"report": `"refused: [\"Inner/Ask was cancelled by ann\"]"`}},
		{"own/orchestrator-default.csv", false, checkpoint.Done, map[string]string{"route": `"Clerk"`, "done": `"a person: request"`}},
		{"own/orchestrator.csv", false, checkpoint.Done, map[string]string{"route": `"Refund"`}},
		{"own/prompts.csv", false, checkpoint.Done, map[string]string{
			"greeted": `"Hello name."`, "closed": `"Dear name,\nit said: stop"`, "plain": `"prompt: stop"`}},
		{"own/storage.csv", false, checkpoint.Done, map[string]string{
			"people": `[{"extra":"","id":"id","name":"name"},{"extra":"extra","id":"id2","name":""}]`,
			"loaded": `[{"extra":"","id":"id","name":"name"},{"extra":"extra","id":"id2","name":""}]`,
			"note":   `"name"`, "gone": "false", "missing": `{"error":"nowhere.txt: no such file or directory","file_path":"nowhere.txt","success":false}`}},
		{"own/actions.csv", false, checkpoint.Done, map[string]string{"all": `{"answer":{"rows":3},"approved":true,"changed":"edited","picked":3,"written":"stop"}`}},
		{"own/actions.csv", true, checkpoint.Done, map[string]string{"approved": "false", "refused": `{"errors":["Start was rejected by ann"],"last_action_success":false}`}},
	} {
		t.Run(fmt.Sprintf("%s/refuse=%v", c.ref, c.refuse), func(t *testing.T) {
			r := runFile(t, filepath.Join(agentMapData, c.ref), t.TempDir(), c.refuse)
			if r.Status != c.status {
				t.Fatalf("%s (%s), want %s\n%s", r.Status, r.Error, c.status, strings.Join(r.Asked, "\n"))
			}
			outputs, _ := r.Outputs.(map[string]any)
			for key, want := range c.want {
				var b strings.Builder
				enc := json.NewEncoder(&b)
				enc.SetEscapeHTML(false)
				if err := enc.Encode(outputs[key]); err != nil {
					t.Fatal(err)
				}
				if got := strings.TrimSpace(b.String()); got != want {
					t.Errorf("%s:\n got %s\nwant %s", key, got, want)
				}
			}
		})
	}
}

// TestAmbiguousFilesAreRefused: with why, and what to write.
func TestAmbiguousFilesAreRefused(t *testing.T) {
	for file, want := range map[string][]string{
		"routing_examples.csv":        {"2:61: this row has 10 cells and the header 9, so that it is not known which belongs where: take out a comma, or put quotes around a cell that holds one"},
		"suspend_messaging_basic.csv": {`1:10: the columns "workflow" and "graph" both mean GraphName: remove one`, `the column "edges" is none of AgentMap's: what comes next is written in the row of the node before`},
	} {
		for _, load := range []func(string) error{
			func(ref string) error { _, err := workflow.Load(ref); return err },
			func(ref string) error { _, err := workflow.Library{}.LoadAll(ref); return err },
			func(ref string) error { _, err := workflow.Library{}.Convert(ref, ""); return err },
		} {
			err := load(filepath.Join(agentMapData, "examples", file))
			for _, w := range want {
				if err == nil || !strings.Contains(err.Error(), w) {
					t.Errorf("%s: %v\nwant %s", file, err, w)
				}
			}
		}
	}
}

// TestFingerprintTellsGraphsApart: two graphs of one file are two definitions, wherever the file is; a kept one is read from
// what is kept alone.
func TestFingerprintTellsGraphsApart(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(agentMapData, "own/nested.csv"))
	if err != nil {
		t.Fatal(err)
	}
	prints := map[string]string{}
	for _, folder := range []string{t.TempDir(), t.TempDir()} {
		file := filepath.Join(folder, "nested.csv")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, graph := range []string{"Outer", "Review", "Leaf"} {
			l, err := workflow.Load(file + "::" + graph)
			if err != nil {
				t.Fatal(err)
			}
			d := l.Definition
			if before, seen := prints[graph]; seen && before != d.Fingerprint {
				t.Errorf("%s: another fingerprint in another folder", graph)
			}
			for other, f := range prints {
				if other != graph && f == d.Fingerprint {
					t.Errorf("%s and %s have one fingerprint", graph, other)
				}
			}
			prints[graph] = d.Fingerprint
			if d.Graph != graph || d.Source != file || checkpoint.Fingerprint(d.Files) != d.Fingerprint {
				t.Errorf("definition of %s: %q of %q", graph, d.Graph, d.Source)
			}
			kept, err := workflow.FromDefinition(d)
			if err != nil {
				t.Fatal(err)
			}
			if kept.Name != l.Name || len(kept.Graph.Nodes) != len(l.Graph.Nodes) {
				t.Errorf("kept %s has other nodes", graph)
			}
		}
	}
}
