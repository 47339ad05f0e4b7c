package ui

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/ui/desktest"
)

const officeNotes = `## Faster, and calmer

- Two reviewers who resume one thread no longer race (thanks **Bo**)
- The inbox opens as fast with a million threads as with ten (thanks **Li**)
- Titles in CJK keep their width: 日本語のタイトル
- Drafts survive a restart
- A held key decides once

### For packagers

The schema moved to version 4. A store written by 0.3 is migrated at the
first start; a backup is left beside it.

| platform | size | tested on |
|---|---|---|
| linux/amd64 | 14.2 MB | Debian 13, Alpine 3.22 |
| darwin/arm64 | 13.6 MB | macOS 26 |
| windows/amd64 | 14.5 MB | Windows 11 |
`

const officeChange = `--- a/prod-eu/live.conf
+++ b/prod-eu/live.conf
@@ -1,12 +1,14 @@
 # prod-eu
-replicas = 4
-image = "shop:1.41"
+replicas = 6
+image = "shop:1.42"
 memory = "512Mi"

 [health]
 path = "/up"
-interval = "5s"
+interval = "3s"
+timeout = "1s"

 [limits]
-requests_per_second = 800
+requests_per_second = 1200
+burst = 200
 body = "2Mi"
`

// office is the desk of the pictures: an afternoon of a small team.
func office(t testing.TB, now func() time.Time) *desktest.Desk {
	d := desktest.New(t)
	d.Now = now
	ago := func(x time.Duration) time.Time { return d.Now().Add(-x) }
	add := func(id, workflow, node string, asked, due time.Duration, q desk.Question) {
		x := desk.Detail{Thread: desk.Thread{ID: id, Workflow: workflow, Node: node, Step: 5, WaitingSince: ago(asked), Updated: ago(asked), Created: ago(asked + time.Hour)}}
		if due != 0 {
			x.Due = d.Now().Add(due)
		}
		if workflow == "invoice-agent" {
			x.Claimed, x.ClaimedUntil = "bob", d.Now().Add(20*time.Minute)
		}
		q.Address, q.Asked, q.Due, q.ResumesNow, q.ShownHash = node, ago(asked), x.Due, true, "9c1e77aa01"
		x.Questions = []desk.Question{q}
		if q.Round > 1 {
			x.StartedBy, x.Workdir, x.Path = "ana", "~/src/shop", officePath()
		}
		d.Add(x)
	}
	ask := func(kind actions.Kind, leads, title, message string, allowed ...actions.Action) desk.Question {
		return desk.Question{Choices: desktest.Choices(allowed, leads), Question: actions.Question{Kind: kind, Title: title, Message: message, Actions: allowed}}
	}
	yesNo := []actions.Action{actions.Approve, actions.Reject}

	add("t-exports-21c0", "cleanup-agent", "confirm", 5*time.Hour, -time.Hour, ask(actions.Approval, "delete", "Delete exports of last year?", "", yesNo...))
	notes := ask(actions.EditKind, "publish", "Publish the notes of 1.8?", "They go to the **website** and to 2 431 readers by mail.", actions.Approve, actions.Edit, actions.Retry, actions.Reject)
	notes.Content, notes.ContentType, notes.Round, notes.Feedback, notes.FeedbackBy = text(officeNotes), "markdown", 2, "name the people who helped", "ana"
	notes.Former, notes.Payload = text(strings.ReplaceAll(strings.ReplaceAll(officeNotes, " (thanks **Bo**)", ""), " (thanks **Li**)", "")), json.RawMessage(`{"kind":"edit"}`)
	notes.Context = []actions.Labelled{{Label: "since", Value: text("v1.7")}, {Label: "commits", Value: json.RawMessage("48")}}
	add("t-notes-7f3k", "release-notes", "review", 3*time.Minute, 46*time.Hour, notes)
	change := ask(actions.Approval, "apply", "Roll out shop 1.42 to prod-eu?", "Six replicas instead of four; rolled back by itself if `/up` fails.", yesNo...)
	change.Content, change.ContentType = text(officeChange), "diff"
	add("t-change-0c4d", "ops-change", "confirm", 6*time.Hour, 0, change)
	add("t-pay-88b1", "invoice-agent", "pay", 4*time.Hour, 0, ask(actions.FormKind, "pay", "Pay invoice 88-1 of Nordlicht GmbH", "", actions.Submit, actions.Cancel))
	add("t-reply-5512", "support", "reply", 3*time.Hour, 0, ask(actions.Conversation, "asks again", "My parcel went to the neighbour", "", actions.Reply, actions.End))
	add("t-line-0091", "article", "headline", 2*time.Hour, 0, ask(actions.Choice, "layout", "Which headline for the spring issue?", "", actions.Choose, actions.Retry))
	add("t-board-3a11", "onboarding", "address", 70*time.Minute, 0, ask(actions.FormKind, "order", "Where does Mei's laptop go?", "", actions.Submit))
	for i, claim := range []string{"Claim 17: train to Hamburg, 184.00 EUR", "Claim 18: hotel in Lyon, 412.50 EUR", "Claim 21: two screens, 1 240.00 EUR"} {
		add(fmt.Sprintf("t-claim-01%02d", i), "expense-triage", "decide", time.Duration(40-i*11)*time.Minute, 0, ask(actions.Approval, "book", claim, "", actions.Approve, actions.Reject, actions.Skip))
	}
	d.Add(desk.Detail{Thread: desk.Thread{ID: "t-fail-0010", Workflow: "release-notes", Node: "tag", Status: "failed", Title: "Publish the notes of 1.7", Error: "exit status 128", Updated: ago(time.Hour)},
		Failure: "git tag v1.7: fatal: tag 'v1.7' already exists", FailedNode: "tag"})
	for i, title := range []string{"Roll out shop 1.42 to staging", "Welcome Jonas"} {
		d.Add(desk.Detail{Thread: desk.Thread{ID: fmt.Sprint("t-run-001", i), Workflow: []string{"ops-change", "onboarding"}[i], Status: "running", Title: title, Updated: ago(time.Minute)}})
	}
	officeHistory(d)
	officeArchive(d)
	officeRecord(d)
	return d
}

func officePath() []desk.PathStep {
	return []desk.PathStep{{Step: 1, Node: "collect", Run: "collect@1", Status: "COMPLETED", TookMS: 400},
		{Step: 2, Node: "draft", Run: "draft@1", Status: "COMPLETED", TookMS: 2100},
		{Step: 3, Node: "review", Run: "review@1", Status: "COMPLETED", TookMS: 840000, Decision: "ana retry"},
		{Step: 4, Node: "draft", Run: "draft@2", Status: "COMPLETED", TookMS: 1900},
		{Step: 5, Node: "review", Run: "review@2", Status: "WAITING"}}
}

// officeHistory is what led to the notes.
func officeHistory(d *desktest.Desk) {
	ago := func(x time.Duration) time.Time { return d.Now().Add(-x) }
	steps := []desk.Step{{Step: 0, Source: "input", TS: ago(time.Hour), SizeBytes: 64}}
	for _, p := range officePath() {
		steps = append(steps, desk.Step{Step: p.Step, Source: "step", Nodes: []string{p.Run}, TookMS: p.TookMS, SizeBytes: 4100 + 310*p.Step, TS: ago(time.Hour - time.Duration(p.Step)*8*time.Minute)})
	}
	steps[3].Source, steps[3].Decisions = "answer", []desk.DecisionRow{{Action: "retry", Reviewer: "ana"}}
	steps[5].Status = "interrupted"
	first := strings.ReplaceAll(strings.ReplaceAll(officeNotes, " (thanks **Bo**)", ""), " (thanks **Li**)", "")
	since, commits := text("v1.7"), json.RawMessage(`["9f2c1ab Fix a race when two reviewers resume","41d0e77 Make the inbox independent of size"]`)
	said := text("name the people who helped")
	d.AddHistory("t-notes-7f3k", steps, []map[string]json.RawMessage{
		{"since": since}, {"since": since, "commits": commits}, {"since": since, "commits": commits, "notes": text(first)},
		{"since": since, "commits": commits, "notes": text(first), "feedback": said},
		{"since": since, "commits": commits, "notes": text(officeNotes), "feedback": said},
		{"since": since, "commits": commits, "notes": text(officeNotes), "feedback": said}})
}

// officeArchive is what ended in the last months.
func officeArchive(d *desktest.Desk) {
	for w, workflow := range []string{"article", "expense-triage", "onboarding", "ops-change", "release-notes", "support"} {
		for i := range 5 + w*7%11 {
			id := fmt.Sprintf("t-old-%d-%03d", w, i)
			d.Add(desk.Detail{Thread: desk.Thread{ID: id, Workflow: workflow, Status: "done", Title: workflow, Updated: d.Now().AddDate(0, -1-i%5, -w)}})
			d.AddHistory(id, make([]desk.Step, 12+(i*37+w*53)%160), nil)
		}
	}
	d.Store.Bytes, d.Store.Threads, d.Store.Checkpoints = 7_900_000, 78, 4_912
	d.Store.Retention = desk.Retention{OlderThan: 90 * 24 * time.Hour}
	d.Store.Retained = desk.Retained{At: d.Now().Add(-11 * time.Hour), Steps: 812}
}

// officeRecord is a day of decisions.
func officeRecord(d *desktest.Desk) {
	done := []struct{ workflow, title, address, action, reviewer string }{
		{"ops-change", "Roll out shop 1.42 to staging", "confirm", "approve", "ana"},
		{"expense-triage", "Claim 16: taxi, 38.00 EUR", "decide", "approve", "rule:small-claims"},
		{"support", "Invoice in the wrong name", "reply", "reply", "mei"},
		{"release-notes", "Publish the notes of 1.8?", "review", "retry", "ana"},
		{"expense-triage", "Claim 15: dinner for nine, 611.20 EUR", "decide", "reject", "bob"},
		{"article", "Is the text ready?", "review", "edit", "mei"},
		{"onboarding", "Which laptop for Jonas?", "equipment", "choose", "ana"},
		{"expense-triage", "Claim 14: stamps, 9.60 EUR", "decide", "approve", "rule:small-claims"},
		{"invoice-agent", "Pay invoice 87-4 of Halden AS", "pay", "submit", "bob"},
	}
	at := time.Duration(0)
	for i := range 46 {
		at += time.Duration(4+i*i*11%50) * time.Minute
		x := done[i%len(done)]
		row := desk.DecisionRow{ID: fmt.Sprint("r", i), N: int64(i), Thread: "t-notes-7f3k", Workflow: x.workflow, Title: x.title, Address: x.address, Action: x.action,
			Reviewer: x.reviewer, DecidedAt: d.Now().Add(-at), Waited: time.Duration(4+i*i*7%55) * time.Minute}
		if x.action == "edit" {
			row.Data = text(officeNotes)
		}
		d.AddDecisions(row)
	}
}
