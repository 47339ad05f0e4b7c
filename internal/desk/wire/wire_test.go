package wire

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
)

var update = flag.Bool("update", false, "write the golden files")

var (
	at  = time.Date(2026, 11, 29, 13, 0, 0, 0, time.FixedZone("CET", 3600)) // noon in UTC
	raw = func(s string) json.RawMessage { return json.RawMessage(s) }
)

func question() desk.Question {
	return desk.Question{
		Thread: "t-1", Workflow: "notes", ID: "i-1", Key: "", Address: "review", Node: "review", Path: "main@1/review@2", Version: "5.1",
		Asked: at, Due: at.Add(time.Hour), Round: 2, Payload: raw(`{"kind":"approval","message":"Publish?"}`),
		Question: actions.Question{
			Kind: actions.Approval, Message: "Publish?", Content: raw(`"text"`), ContentType: "markdown",
			Context: []actions.Labelled{{Label: "since", Value: raw(`"v1"`)}},
			Options: []actions.OptionItem{{Value: raw(`1`), Label: "one"}},
		},
		Choices: []desk.Choice{
			{Info: actions.Info{Action: actions.Approve}, Allowed: true}, {Info: actions.Info{Action: actions.Skip}},
			{Info: actions.Info{Action: actions.Reject}, Allowed: true},
		},
	}
}

func waiting() *desk.Result {
	return &desk.Result{
		Thread: "t-1", Workflow: "notes", Step: 5, Revision: 1, Status: "interrupted", Interrupted: true,
		Questions: []desk.Question{question()}, Duration: 1500 * time.Millisecond,
	}
}

func detail() *desk.Detail {
	return &desk.Detail{
		Thread:      desk.Thread{ID: "t-1", Workflow: "notes", Status: "interrupted", Step: 5, Revision: 1, Claimed: "ana"},
		Fingerprint: "9c1e", Workdir: "/src", Origin: "t-0@2", Failure: "exit 128", FailedNode: "tag", Questions: []desk.Question{question()},
	}
}

func state(step int64) *desk.State {
	return &desk.State{Thread: "t-1", Step: step, Revision: 1, TS: at, Status: "interrupted", Next: []string{"review"},
		State: map[string]json.RawMessage{"notes": raw(`"text"`)}, Questions: []desk.Question{question()}}
}

// TestShapes: every field of the documented shapes is there under its name, absent is null, times are in UTC.
func TestShapes(t *testing.T) {
	row := desk.DecisionRow{ID: "d-1", Thread: "t-1", N: 1, Version: "5.1", Address: "review", Action: "retry", Data: raw(`"warmer"`),
		Comment: "warmer", Reviewer: "ana", DecidedAt: at, Waited: 90 * time.Second, Outcome: "applied", Hash: "ab"}
	for name, v := range map[string]any{
		"envelope-waiting": FromResult(waiting()),
		"envelope-done":    FromResult(&desk.Result{Thread: "t-1", Workflow: "notes", Step: 6, Status: "done", Outputs: raw(`{"file":"NOTES.md"}`)}),
		"envelope-failed":  FromResult(&desk.Result{Thread: "t-1", Workflow: "notes", Step: 6, Status: "failed", ErrNode: "tag", ErrMessage: "exit 128"}),
		"envelope-refused": FromError(&desk.Error{Code: desk.CodeClaimed, Message: "claimed by bob", Details: map[string]any{"by": "bob"}}, detail()),
		"envelope-unknown": FromError(&desk.Error{Code: desk.CodeNotFound, Message: "no thread t-9"}, nil),
		"show":             FromState(detail(), state(5)),
		"show-earlier":     FromState(detail(), state(3)),
		"show-done": FromState(&desk.Detail{Thread: desk.Thread{ID: "t-1", Workflow: "notes", Status: "done", Step: 6}, Outputs: raw(`{"file":"NOTES.md"}`)},
			&desk.State{Thread: "t-1", Step: 6, Revision: 1, TS: at, Status: "done"}),
		"history": Steps([]desk.Step{{Step: 0, Revision: 1, TS: at, Source: "input", Status: "running", SizeBytes: 12},
			{Step: 3, Revision: 1, TS: at, Source: "answer", Nodes: []string{"review@1"}, Status: "running", SizeBytes: 5100, Decisions: []desk.DecisionRow{row}}}),
		"threads": Threads([]desk.Thread{{ID: "t-1", Workflow: "notes", Status: "interrupted", Step: 5, Title: "Publish?", Node: "review",
			Questions: 1, WaitingSince: at, Updated: at, Due: at, Claimed: "ana", Cursor: "c"}, {ID: "t-2", Workflow: "notes", Status: "done", Updated: at}}),
		"questions": Questions([]desk.Question{question()}),
		"pruned": FromPruned(&desk.Pruned{Steps: 3, Threads: 1, Bytes: 100, Heads: 1, Oldest: at, Newest: at, DryRun: true,
			Per: []desk.PrunedThread{{Thread: "t-1", Workflow: "notes", Steps: 3, Bytes: 100}}}),
		"verified":  FromVerified(&desk.Verified{Threads: 2, Rows: 3, Tombstones: 1}),
		"imported":  FromImported(&desk.Imported{Thread: "t-1", Workflow: "notes", Status: "interrupted", Steps: 5, Decisions: 1}),
		"backed-up": FromBackedUp(&desk.BackedUp{File: "threads.db", Bytes: 4096, Threads: 2}),
		"restored":  FromRestored(&desk.Restored{Threads: 2, Same: 1, Tombstones: 1, Damaged: []string{"thread t-3, step 4"}}),
		"compacted": Compacted{BeforeBytes: 200, AfterBytes: 100},
		"doctor": Doctor{Healthy: true, Findings: []Finding{{Check: "size", Level: "ok", Text: "10 kB"}, {Check: "threads", Level: "note", Text: "1 failed", Remedy: text("resume it")}},
			Store: FromInspection(desk.StoreInfo{URL: "sqlite:/a", Schema: 1, Bytes: 200, FreeBytes: 100, LogBytes: 50},
				&desk.Inspection{Threads: 2, Steps: 10, Decisions: 3, Window: 48 * time.Hour, Growth: 80}, desk.Retained{Steps: 4, Bytes: 30})},
		"diff": Diff([]desk.KeyDiff{{Key: "notes", Kind: "added", After: raw(`1`)}}),
	} {
		got, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, '\n')
		file := filepath.Join("testdata", name+".json")
		if *update {
			if err := os.WriteFile(file, got, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestEnvelopeHasItsFields holds the names of cli-http: a rename breaks whoever reads the JSON.
func TestEnvelopeHasItsFields(t *testing.T) {
	documented := []string{"success", "interrupted", "status", "thread_id", "step", "workflow", "interrupt_message", "interrupts", "outputs",
		"error", "already_applied", "duration_ms"}
	asked := []string{"id", "key", "address", "node", "kind", "content", "content_type", "context", "title", "message", "actions", "options",
		"schema", "deadline", "payload"}
	data, err := json.Marshal(FromResult(waiting()))
	if err != nil {
		t.Fatal(err)
	}
	var envelope map[string]any
	if err := json.Unmarshal(data, &envelope); err != nil {
		t.Fatal(err)
	}
	sameKeys(t, "envelope", envelope, documented)
	sameKeys(t, "interrupt", envelope["interrupts"].([]any)[0].(map[string]any), asked)
}

func sameKeys(t *testing.T, what string, got map[string]any, want []string) {
	t.Helper()
	for _, name := range want {
		if _, ok := got[name]; !ok {
			t.Errorf("%s lacks %s", what, name)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%s has %d fields, want %d: %v", what, len(got), len(want), got)
	}
}

func TestExitCodes(t *testing.T) {
	tests := []struct {
		result          desk.Result
		plain, distinct int
		success         bool
	}{
		{desk.Result{Status: "done"}, 0, 0, true},
		{desk.Result{Status: "interrupted"}, 0, 10, true},
		{desk.Result{Status: "sleeping"}, 0, 10, true},
		{desk.Result{Status: "rejected"}, 0, 11, true},
		{desk.Result{Status: "stopped"}, 0, 11, true},
		{desk.Result{Status: "cancelled"}, 0, 11, true},
		{desk.Result{Status: "failed", ErrMessage: "x"}, 1, 1, false},
		{desk.Result{Status: "interrupted", WasCancelled: true, Withdrawn: true}, 130, 130, false},
		{desk.Result{Status: "stalled", WasCancelled: true}, 130, 130, false},
		{desk.Result{Status: "stalled"}, 130, 130, false},
	}
	for _, test := range tests {
		e := FromResult(&test.result)
		if e.ExitCode(false) != test.plain || e.ExitCode(true) != test.distinct || e.Success != test.success {
			t.Errorf("%+v: exits %d and %d, success %v", test.result, e.ExitCode(false), e.ExitCode(true), e.Success)
		}
	}
	if e := FromError(&desk.Error{Code: desk.CodeConflict}, nil); e.ExitCode(true) != 4 || e.Success {
		t.Errorf("a conflict exits %d", e.ExitCode(true))
	}
}
