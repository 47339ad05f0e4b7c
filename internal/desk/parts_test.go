package desk

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/redact"
)

// TestPartIsAQuestionOfItsOwn: its choices are its verdicts and what concerns all parts, in that order, and what was masked
// of it stays whole for whoever edits it.
func TestPartIsAQuestionOfItsOwn(t *testing.T) {
	q := Question{ID: "q1", Question: actions.Question{
		Kind: actions.FormKind, Actions: []actions.Action{actions.Submit, actions.Approve, actions.Stop}, Context: []actions.Labelled{{Label: "password", Value: json.RawMessage(`"hunter2"`)}},
		Parts: []actions.Question{{Kind: actions.Approval, Title: "one", Actions: []actions.Action{actions.Approve}},
			{Kind: actions.EditKind, Title: "two", Content: json.RawMessage(`{"password":"hunter2"}`), Actions: []actions.Action{actions.Edit, actions.Reject}}},
	}}
	for _, info := range actions.Table() {
		q.Choices = append(q.Choices, Choice{Info: info, Allowed: slices.Contains(q.Actions, info.Action)})
	}
	rules, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	part := mask{rules, rules}.question(q).PartAt(2)
	var permitted []actions.Action
	for _, c := range part.Permitted() {
		permitted = append(permitted, c.Action)
	}
	if want := []actions.Action{actions.Edit, actions.Reject, actions.Submit, actions.Stop}; !slices.Equal(permitted, want) {
		t.Errorf("permitted are %v, want %v", permitted, want)
	}
	if part.Title != "two" || part.Part != 2 || part.Of == nil || part.ID != "q1" {
		t.Errorf("%+v", part)
	}
	if shown, whole := string(part.Content), string(part.Whole().Content); shown == whole || whole != `{"password":"hunter2"}` {
		t.Errorf("shown is %s, whole %s", shown, whole)
	}
}

// TestAnOlderDraftDoesNotOvertake: saves run at the same time, and the last typed stays.
func TestAnOlderDraftDoesNotOvertake(t *testing.T) {
	d := openDesk(t, newFake(), Options{StateDir: t.TempDir()})
	q := fakeQuestion("thread-1", "q1")
	for _, x := range []struct {
		text string
		at   int64
	}{{"second", 20}, {"first", 10}} {
		draft := NewDraft(q)
		draft.Text, draft.Saved = x.text, time.Unix(x.at, 0)
		if err := d.SaveDraft(draft); err != nil {
			t.Fatal(err)
		}
	}
	if got := d.Draft(q); got == nil || got.Text != "second" {
		t.Errorf("kept is %+v", got)
	}
}
