package inspect

import (
	"fmt"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// differences tells in what a thread's row is not what its last step says, with both values.
func differences(t *checkpoint.ThreadInfo, head *checkpoint.Checkpoint) []string {
	d := difference{thread: t.Thread, step: head.Step}
	d.text("workflow", t.Workflow, head.Workflow)
	want := head.Shown
	switch {
	case want != nil:
	case head.Commit == "":
		s := checkpoint.SummaryOf(head).Stored()
		want = &s
	default: // of an earlier version: all that follows from the step without its workflow
		s := t.Summary
		want, s.Questions = &s, checkpoint.SummaryOf(head).Questions
		if head.Ended != "" || t.Phase.Ended() {
			s.Phase = head.Ended
		}
	}
	d.text("phase", string(t.Phase), string(want.Phase))
	d.number("questions", t.Questions, want.Questions)
	d.text("title", t.Title, want.Title)
	d.text("node", t.Node, want.Node)
	d.number("answered", t.Answered, want.Answered)
	d.time("waiting since", t.WaitingSince, want.WaitingSince)
	d.time("due", t.Due, want.Due)
	d.text("assignee", t.Assignee, want.Assignee)
	d.text("group", t.Group, want.Group)
	d.text("priority", t.Priority, want.Priority)
	d.text("error", t.Error, want.Error)
	return d.faults
}

type difference struct {
	thread string
	step   int64
	faults []string
}

func (d *difference) add(what, row, step string) {
	d.faults = append(d.faults, fmt.Sprintf("thread %s: its row was changed: %s is %s there, and %s in its last step %d", d.thread, what, row, step, d.step))
}

func (d *difference) text(what, row, step string) {
	// What is no UTF-8 stands in a record as U+FFFD.
	if row != step && string([]rune(row)) != string([]rune(step)) {
		d.add(what, fmt.Sprintf("%.60q", row), fmt.Sprintf("%.60q", step))
	}
}

func (d *difference) number(what string, row, step int) {
	if row != step {
		d.add(what, fmt.Sprint(row), fmt.Sprint(step))
	}
}

func (d *difference) time(what string, row, step *time.Time) {
	if (row == nil) != (step == nil) || row != nil && !row.Equal(*step) {
		d.add(what, moment(row), moment(step))
	}
}

func moment(t *time.Time) string {
	if t == nil {
		return "none"
	}
	return t.UTC().Format(time.RFC3339Nano)
}
