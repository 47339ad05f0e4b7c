package node

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/workflow/lang"
)

// runAgent runs an agent in a folder with inputs, in the order of an object's text.
func runAgent(t *testing.T, folder, kind, prompt, settings, in string) (result string, success bool) {
	t.Helper()
	a := &Agent{Name: "n", Type: kind, Prompt: prompt}
	if settings != "" {
		a.Settings = engine.RawValue(json.RawMessage(settings))
	}
	if err := a.Check(); err != nil {
		t.Fatal(err)
	}
	for _, x := range orderedObject(json.RawMessage(`{"in":`+in+`}`), "in") {
		a.In = append(a.In, Named{x.key, lang.Literal(engine.RawValue(x.value))})
	}
	r, err := a.Run(t.Context(), &engine.Call{Workdir: folder})
	if err != nil {
		t.Fatal(err)
	}
	var out struct {
		Result  json.RawMessage
		Success bool
	}
	if err := json.Unmarshal(r.Output.JSON(), &out); err != nil {
		t.Fatal(err)
	}
	return string(out.Result), out.Success
}

// TestBranching: the values that mean success, those that mean failure, and where the value comes from.
func TestBranching(t *testing.T) {
	for _, c := range []struct {
		settings, in string
		want         bool
	}{
		{"", `{}`, true},
		{"", `{"x": "No"}`, false},
		{"", `{"x": "YES"}`, true},
		{"", `{"x": "perhaps"}`, true},
		{"", `{"x": false}`, false},
		{"", `{"x": 0}`, false},
		{"", `{"x": 2.5}`, true},
		{"", `{"x": null}`, true},
		{`{"default_result": false}`, `{"x": "perhaps"}`, false},
		{`{"success_values": ["DONE", 200], "default_result": false}`, `{"x": "done"}`, true},
		{`{"success_values": ["DONE", 200], "default_result": false}`, `{"x": 200}`, true},
		{`{"success_field": "b"}`, `{"a": "yes", "b": "no"}`, false},
		{`{"success_field": "c", "fallback_fields": ["b"]}`, `{"a": "yes", "b": "no"}`, false},
		{`{"failure_values": [404]}`, `{"x": 404}`, false},
	} {
		if said, got := runAgent(t, "", "branching", "p", c.settings, c.in); got != c.want || !strings.Contains(said, map[bool]string{true: "SUCCESS", false: "FAILURE"}[c.want]) {
			t.Errorf("%s %s: %v %s", c.settings, c.in, got, said)
		}
	}
}

// TestSummary: inputs that are null are left out.
func TestSummary(t *testing.T) {
	for settings, want := range map[string]string{
		"": `"a: 1\n\nb: [true]"`,
		`{"separator": "; ", "format": "({key}={value})"}`: `"(a=1); (b=[true])"`,
		`{"include_keys": false, "separator": " "}`:        `"1 [true]"`,
	} {
		if got, ok := runAgent(t, "", "summary", "", settings, `{"a": 1, "none": null, "b": [true]}`); got != want || !ok {
			t.Errorf("%s: %s, want %s", settings, got, want)
		}
	}
}

// TestOrchestrator: a name in the text wins, then the most words, then the default, then the first.
func TestOrchestrator(t *testing.T) {
	nodes := `"nodes": {"Refund": {"prompt": "money back"}, "Weather": {"description": "rain sun forecast"}}`
	for in, want := range map[string]string{
		`{"q": "what WEATHER is it"}`:                 `"Weather"`,
		`{"q": "will the sun shine or rain"}`:         `"Weather"`,
		`{"q": "I want my money"}`:                    `"Refund"`,
		`{"q": "hello"}`:                              `"Refund"`,
		`{"available_nodes": {}, "text": "forecast"}`: `"Weather"`,
	} {
		if got, _ := runAgent(t, "", "orchestrator", "", "{"+nodes+"}", in); got != want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
	if got, _ := runAgent(t, "", "orchestrator", "", `{"default_target": "Weather", `+nodes+"}", `{"q": "hello"}`); got != `"Weather"` {
		t.Errorf("default_target: %s", got)
	}
}

// TestStorage: what readers and writers of files do, one after the other in one folder.
func TestStorage(t *testing.T) {
	folder := t.TempDir()
	for i, c := range []struct {
		kind, prompt, settings, in string
		want                       string // part of the result
		success                    bool
	}{
		{"csv_reader", "p.csv", "", `{}`, "there is no such file", false},
		{"csv_writer", "p.csv", "", `{"id": 1, "name": "Ann, the first"}`, `"created_new":true`, true},
		{"csv_writer", "p.csv", "", `{"data": [{"id": 2, "name": "Bo"}, {"id": 3, "age": 40}]}`, `"rows_written":2`, true},
		{"csv_reader", "p.csv", "", `{}`, `[{"age":"","id":"1","name":"Ann, the first"},{"age":"","id":"2","name":"Bo"},{"age":"40","id":"3","name":""}]`, true},
		{"csv_reader", "p.csv", "", `{"document_id": 2}`, `{"age":"","id":"2","name":"Bo"}`, true},
		{"csv_reader", "p.csv", "", `{"id": 9}`, `null`, true},
		{"csv_reader", "p.csv", "", `{"query": {"sort": "id", "order": "desc", "limit": 1}}`, `[{"age":"40","id":"3","name":""}]`, true},
		{"csv_reader", "p.csv", "", `{"query": {"name": ["Bo", "Cy"]}}`, `[{"age":"","id":"2","name":"Bo"}]`, true},
		{"csv_reader", "p.csv", `{"format": "dict"}`, `{"query": {"id": 1}}`, `{"1":{"age":"","id":"1","name":"Ann, the first"}}`, true},
		{"csv_reader", "p.csv", "", `{"query": "x"}`, "the query must be an object", false},
		{"csv_writer", "p.csv", `{"mode": "update"}`, `{"data": [{"id": 2, "name": "Bob"}, {"id": 4, "name": "Di"}]}`, `"rows_added":1,"rows_updated":1`, true},
		{"csv_writer", "p.csv", `{"mode": "delete"}`, `{"document_id": 1}`, `"rows_deleted":1`, true},
		{"csv_writer", "p.csv", `{"mode": "delete"}`, `{"document_id": 1}`, `no row has the id \"1\"`, false},
		{"csv_reader", "p.csv", "", `{"query": {"offset": 1}}`, `[{"age":"40","id":"3","name":""},{"age":"","id":"4","name":"Di"}]`, true},
		{"csv_writer", "p.csv", `{"mode": "write"}`, `{"data": "text"}`, "an object of columns is due", false},
		{"csv_writer", "p.csv", "", `{"mode": "merge", "data": {"a": 1}}`, "the mode merge is none of", false},
		{"csv_writer", "q.csv", "", `{}`, "no data to write", false},
		{"csv_writer", "", "", `{"a": 1}`, "no file is named", false},
		{"csv_writer", "", "", `{"collection": "sub/q.csv", "a": 1}`, `"file_path":"sub/q.csv"`, true},
		{"json_writer", "d.json", `{"mode": "write"}`, `{"data": {"a": {"n": 1}}}`, `"success":true`, true},
		{"json_writer", "d.json", `{"mode": "update"}`, `{"data": {"m": 2}, "document_id": "a"}`, `"success":true`, true},
		{"json_writer", "d.json", `{"mode": "write"}`, `{"data": [1], "document_id": "b", "path": "x.y"}`, `"success":true`, true},
		{"json_writer", "d.json", ``, `{"data": 2, "document_id": "b", "path": "x.y"}`, `"success":true`, true},
		{"json_reader", "d.json", "", `{}`, `{"a":{"m":2,"n":1},"b":{"x":{"y":[1,2]}}}`, true},
		{"json_reader", "d.json", "", `{"document_id": "b", "path": "x.y.1"}`, `2`, true},
		{"json_reader", "d.json", "", `{"query": {"n": 1}}`, `[{"m":2,"n":1}]`, true},
		{"json_writer", "d.json", `{"mode": "delete"}`, `{"id": "a"}`, `"success":true`, true},
		{"json_reader", "d.json", "", `{"id": "a"}`, `null`, true},
		{"json_writer", "l.json", "", `{"data": {"id": "x", "v": 1}}`, `"success":true`, true},
		{"json_writer", "l.json", `{"mode": "update"}`, `{"data": {"v": 2}, "id": "x"}`, `"success":true`, true},
		{"json_reader", "l.json", "", `{"id": "x"}`, `{"id":"x","v":2}`, true},
		{"json_writer", "l.json", `{"mode": "delete"}`, `{}`, `"file_deleted":true`, true},
		{"file_writer", "n.txt", "", `{"text": "one"}`, `"created_new":true`, true},
		{"file_writer", "n.txt", "", `{"data": {"content": "two"}}`, `"created_new":false`, true},
		{"file_reader", "n.txt", "", `{}`, `"one\ntwo"`, true},
		{"file_writer", "n.txt", `{"mode": "update"}`, `{"data": [1]}`, `"success":true`, true},
		{"file_reader", "n.txt", "", `{}`, `"[1]"`, true},
		{"file_writer", "n.txt", "", `{"a": 1, "b": 2}`, "no data to write", false},
		{"file_writer", "n.txt", `{"mode": "delete"}`, `{}`, `"file_deleted":true`, true},
		{"file_reader", "n.txt", "", `{}`, "n.txt: no such file or directory", false},
	} {
		got, success := runAgent(t, folder, c.kind, c.prompt, c.settings, c.in)
		if !strings.Contains(got, c.want) || success != c.success {
			t.Errorf("%d: %s %s %s\n got %s %v\nwant %s %v", i, c.kind, c.settings, c.in, got, success, c.want, c.success)
		}
	}
	left, err := filepath.Glob(filepath.Join(folder, ".hitl-tui-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
	if _, err := os.Stat(filepath.Join(folder, "l.json")); err == nil {
		t.Error("l.json was not deleted")
	}
}

// TestAgentsAreAllThere: every type that a file may name does something, and no other.
func TestAgentsAreAllThere(t *testing.T) {
	works := agentWorks()
	for _, name := range Agents() {
		if works[name] == nil {
			t.Errorf("%s does nothing", name)
		}
		delete(works, name)
	}
	if len(works) > 0 {
		t.Errorf("no file can name %v", works)
	}
	if err := (&Agent{Type: "csv_writer", Settings: engine.RawValue(json.RawMessage(`{"mode": "wipe"}`))}).Check(); err == nil {
		t.Error("an unknown mode is taken")
	}
}
