package ui

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/desktest"
)

// notes is what the first question of the world reviews.
const notes = `## Changes

- Fix race in resume (thanks Bo)
- Faster inbox (thanks Li)
- Titles in CJK keep their width: 日本語
- Drafts survive a restart
- A held key decides once

### For packagers

The schema moved to version 4. A store written by 0.3 is migrated at the first start; a backup is left beside it.
`

func text(s string) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return b
}

// world fills a desk with one thread of each kind of question, times counted back from now.
func world(t testing.TB) *desktest.Desk {
	d := desktest.New(t)
	now := d.Now()
	ago := func(x time.Duration) time.Time { return now.Add(-x) }
	waiting := func(id, workflow, node string, asked time.Duration) desk.Thread {
		return desk.Thread{ID: id, Workflow: workflow, Node: node, Step: 5, WaitingSince: ago(asked), Updated: ago(asked), Created: ago(asked + time.Hour)}
	}
	notesThread := waiting("t-notes-7f3k", "release-notes", "review", 3*time.Minute)
	notesThread.Due = now.Add(46 * time.Hour)
	d.Add(desk.Detail{Thread: notesThread, StartedBy: "ana", Workdir: "~/src/tool",
		Path: []desk.PathStep{{Step: 1, Node: "collect", Run: "collect@1", Status: "COMPLETED", TookMS: 400},
			{Step: 2, Node: "draft", Run: "draft@1", Status: "COMPLETED", TookMS: 2100},
			{Step: 3, Node: "review", Run: "review@1", Status: "COMPLETED", TookMS: 840000, Decision: "ana retry"},
			{Step: 4, Node: "draft", Run: "draft@2", Status: "COMPLETED", TookMS: 1900},
			{Step: 5, Node: "review", Run: "review@2", Status: "WAITING"}},
		Questions: []desk.Question{{
			ID: "q-notes", Address: "review", Node: "review", Path: "main@1/review@2", Round: 2, Feedback: "name the people who helped", FeedbackBy: "ana",
			Former: text("## Changes\n\n- Fix race in resume\n- Faster inbox\n"), Asked: ago(3 * time.Minute), Due: notesThread.Due, ResumesNow: true, ShownHash: "9c1e77aa01",
			Question: actions.Question{Kind: actions.EditKind, Title: "Publish these notes?", Message: "They go to the **website**.", Content: text(notes), ContentType: "markdown",
				Actions: []actions.Action{actions.Approve, actions.Edit, actions.Retry, actions.Reject, actions.Stop, actions.Skip},
				Context: []actions.Labelled{{Label: "since", Value: text("v1.7")}, {Label: "commits", Value: json.RawMessage("48")}}},
			Payload: json.RawMessage(`{"kind":"edit"}`),
		}}})
	d.AddHistory("t-notes-7f3k", []desk.Step{
		{Step: 0, Source: "input", TS: ago(time.Hour), SizeBytes: 12},
		{Step: 1, Source: "step", Nodes: []string{"collect@1"}, TookMS: 400, SizeBytes: 4100, TS: ago(59 * time.Minute)},
		{Step: 2, Source: "step", Nodes: []string{"draft@1"}, TookMS: 2100, SizeBytes: 5000, Status: "interrupted", TS: ago(58 * time.Minute)},
		{Step: 3, Source: "answer", Nodes: []string{"review@1"}, TookMS: 840000, SizeBytes: 5100, TS: ago(20 * time.Minute), Decisions: []desk.DecisionRow{{Action: "retry", Reviewer: "ana"}}},
		{Step: 4, Source: "step", Nodes: []string{"draft@2"}, TookMS: 1900, SizeBytes: 5200, TS: ago(4 * time.Minute)},
		{Step: 5, Source: "step", Nodes: []string{"review@2"}, SizeBytes: 5200, Status: "interrupted", TS: ago(3 * time.Minute)}},
		[]map[string]json.RawMessage{{}, {"commits": json.RawMessage(`["a1","b2"]`)},
			{"commits": json.RawMessage(`["a1","b2"]`), "notes": text("## Changes\n- Faster inbox\n")},
			{"commits": json.RawMessage(`["a1","b2"]`), "notes": text("## Changes\n- Faster inbox\n"), "feedback": text("name the people who helped")},
			{"commits": json.RawMessage(`["a1","b2"]`), "notes": text(notes), "feedback": text("name the people who helped")},
			{"commits": json.RawMessage(`["a1","b2"]`), "notes": text(notes), "feedback": text("name the people who helped")}})
	d.AddGraph("t-notes-7f3k", notesGraph())
	late := waiting("t-purge-0001", "ops", "purge", 5*time.Hour)
	late.Due = ago(time.Hour)
	d.Add(desk.Detail{Thread: late, Questions: []desk.Question{{ID: "q-purge", Address: "purge", Asked: ago(5 * time.Hour), Due: late.Due, ResumesNow: true, ShownHash: "aa",
		Question: actions.Question{Kind: actions.Approval, Title: "Delete backups?", Message: "Older than 90 days.", Actions: []actions.Action{actions.Approve, actions.Reject, actions.Stop}}}}})
	pick := waiting("t-pick-0002", "article", "headline", time.Hour)
	d.Add(desk.Detail{Thread: pick, Questions: []desk.Question{{ID: "q-pick", Address: "headline", Asked: ago(time.Hour), ResumesNow: true, ShownHash: "bb",
		Question: actions.Question{Kind: actions.Choice, Title: "Which headline?", Actions: []actions.Action{actions.Choose, actions.Retry},
			Options: []actions.OptionItem{{Value: text("fast"), Label: "Faster than ever"}, {Value: text("calm"), Label: "A calm release", Description: "the editor's pick"}}}}}})
	several := waiting("t-servers-0003", "ops", "confirm", 2*time.Hour)
	d.Add(desk.Detail{Thread: several, Questions: []desk.Question{
		{ID: "q-db1", Address: "confirm/1", Asked: ago(2 * time.Hour), WaitsFor: 1, ShownHash: "c1", Question: actions.Question{Kind: actions.Approval, Title: "Restart db-1?", Actions: []actions.Action{actions.Approve, actions.Reject}}},
		{ID: "q-db2", Address: "confirm/2", Asked: ago(2 * time.Hour), WaitsFor: 1, ShownHash: "c2", Question: actions.Question{Kind: actions.Approval, Title: "Restart db-2?", Actions: []actions.Action{actions.Approve, actions.Reject}}}}})
	pay := waiting("t-pay-0004", "invoices", "pay", 4*time.Hour)
	pay.Claimed, pay.ClaimedUntil = "bob", now.Add(20*time.Minute)
	d.Add(desk.Detail{Thread: pay, Questions: []desk.Question{{ID: "q-pay", Address: "pay", Asked: ago(4 * time.Hour), ResumesNow: true, ShownHash: "dd",
		Question: actions.Question{Kind: actions.FormKind, Title: "Pay invoice 88-1", Actions: []actions.Action{actions.Submit, actions.Cancel},
			Schema: json.RawMessage(`{"type":"object","required":["amount"],"properties":{"amount":{"type":"integer","title":"amount"},"note":{"type":"string","title":"note"}}}`)}}}})
	change := waiting("t-change-0005", "ops-change", "confirm", 30*time.Minute)
	d.Add(desk.Detail{Thread: change, Questions: []desk.Question{{ID: "q-change", Address: "confirm", Asked: ago(30 * time.Minute), ResumesNow: true, ShownHash: "ee",
		Question: actions.Question{Kind: actions.Approval, Title: "Apply this change to the router?", Content: json.RawMessage(`{"host":"r1","rules":[{"allow":"10.0.0.0/8"},{"deny":"0.0.0.0/0"}],"restart":false}`)}}}})
	addRest(d, waiting)
	addRecord(d)
	return d
}

// stocked is the world with workflows to start.
func stocked(t testing.TB) *desktest.Desk {
	d := world(t)
	d.AddWorkflow(desk.Workflow{Name: "article", File: "article.yaml", Description: "an edit loop until the text is long enough, then a headline",
		Input: json.RawMessage(`{"type":"object","required":["topic"],"properties":{"topic":{"type":"string","title":"topic","description":"what it is about"},` +
			`"words":{"type":"integer","title":"words","default":200},"tone":{"type":"string","title":"tone","enum":["calm","lively"]},"draft":{"type":"boolean","title":"draft only"}}}`)})
	d.AddWorkflow(desk.Workflow{Name: "release-notes", File: "release-notes.yaml", Description: "notes from git log, approved, edited or drafted again"})
	return d
}

// addRecord adds a day of decisions.
func addRecord(d *desktest.Desk) {
	for i := range 24 {
		at := time.Duration(i*i) * 2 * time.Minute
		row := desk.DecisionRow{ID: fmt.Sprint("r", i), N: int64(i), Thread: "t-notes-7f3k", Workflow: "release-notes", Title: "Publish 1.6", Address: "review",
			Action: "approve", Reviewer: "ana", DecidedAt: d.Now().Add(-at), Waited: time.Duration(i+1) * 3 * time.Minute}
		switch {
		case i%5 == 1:
			row.Action, row.Data = "edit", text("## Changes")
		case i%5 == 3:
			row.Action, row.Reviewer = "reject", "bob"
		case i%7 == 4:
			row.Reviewer, row.Workflow, row.Title, row.Address = "rule:small-claims", "expense-triage", "Pay 40.00 EUR", "triage/4/decide"
		}
		d.AddDecisions(row)
	}
}

// addRest adds three alike questions, and threads that ask nothing.
func addRest(d *desktest.Desk, waiting func(id, workflow, node string, asked time.Duration) desk.Thread) {
	ago := func(x time.Duration) time.Time { return d.Now().Add(-x) }
	for i := range 3 {
		x := waiting(fmt.Sprintf("t-claim-01%02d", i), "expense-triage", "decide", time.Duration(i+1)*time.Minute)
		d.Add(desk.Detail{Thread: x, Questions: []desk.Question{{ID: fmt.Sprintf("q-claim%d", i), Address: "decide", Asked: x.WaitingSince, ResumesNow: true, ShownHash: "ff",
			Question: actions.Question{Kind: actions.Approval, Title: fmt.Sprintf("Approve claim %d", 17+i), Actions: []actions.Action{actions.Approve, actions.Reject, actions.Skip}}}}})
	}
	d.Add(desk.Detail{Thread: desk.Thread{ID: "t-fail-0010", Workflow: "release-notes", Node: "tag", Status: "failed", Title: "Publish 1.7", Error: "exit status 128", Updated: ago(time.Hour)},
		Failure: "git tag v1.7: fatal: tag 'v1.7' already exists", FailedNode: "tag"})
	d.Add(desk.Detail{Thread: desk.Thread{ID: "t-run-0011", Workflow: "release-notes", Node: "draft", Status: "running", Title: "Publish 1.8", Updated: ago(time.Minute)}, Next: []string{"draft"}})
	d.Add(desk.Detail{Thread: desk.Thread{ID: "t-done-0012", Workflow: "article", Status: "done", Title: "Spring issue", Updated: ago(24 * time.Hour)}, Outputs: json.RawMessage(`{"path":"out/spring.md"}`)})
}

// start shows a desk at a size, all commands drained.
func start(t testing.TB, d *desktest.Desk, w, h int) *tuitest.Loop {
	t.Helper()
	m := New(t.Context(), d, Options{StateDir: t.TempDir()})
	l := tuitest.NewLoop(m, w, h)
	t.Cleanup(func() { time.Sleep(10 * time.Minute) }) // past every tick that is left
	l.Advance(time.Second)
	return l
}

// TestMain lets the desk of the tests stand where the clocks show UTC, wherever they run.
func TestMain(m *testing.M) {
	time.Local = time.UTC
	os.Exit(m.Run())
}

// notesGraph is the workflow of the release notes, with the way of the thread that waits for its second review.
func notesGraph() *desk.Graph {
	return &desk.Graph{
		Nodes: []desk.GraphNode{
			{Name: "collect", Kind: "exec", Start: true, State: desk.NodeDone, Runs: 1}, {Name: "draft", Kind: "llm", State: desk.NodeDone, Runs: 2},
			{Name: "review", Kind: "human", State: desk.NodeWaiting, Runs: 2}, {Name: "publish", Kind: "exec"},
		},
		Edges: []desk.GraphEdge{
			{From: "collect", To: "draft", Kind: desk.EdgeThen, Taken: 1}, {From: "draft", To: "review", Kind: desk.EdgeThen, Taken: 2},
			{From: "review", To: "draft", Kind: desk.EdgeRoute, Label: "retry", Taken: 1, Said: []string{"retry (ana)"}},
			{From: "review", To: "publish", Kind: desk.EdgeThen},
		},
	}
}
