package ui

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/desktest"
)

// answers is what of the outbox has a state, as "title data".
func answers(d *desktest.Desk, state desk.EntryState) []string {
	var out []string
	for _, e := range d.Outbox() {
		if e.State == state {
			out = append(out, strings.TrimSpace(e.Decision.Title+" "+string(e.Decision.Data)))
		}
	}
	return out
}

// marked marks the three claims at the end of the list and asks what can be answered for all.
func marked(p *tuitest.Program) {
	p.Keys("G", "k", "k", "space", "space", "space", "A")
	p.Advance(settle)
}

// TestBulkWithOneReason: A, the action, the text, ctrl+s and y reject many with the same reason, and u takes all back with it.
func TestBulkWithOneReason(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		marked(p)
		p.Keys("r")
		p.Expect("REJECT 3 questions", "reason, optional", "Approve claim 17", "Approve claim 19")
		p.Type("over budget")
		p.Keys("ctrl+s")
		p.Expect("reject 3?", "3 questions are answered")
		wantOutbox(t, d)
		p.Advance(settle)
		p.Keys("y")
		p.Expect("rejected: 3 questions, sends in 5 s  u take back")
		want := []string{`Approve claim 19 "over budget"`, `Approve claim 18 "over budget"`, `Approve claim 17 "over budget"`}
		if got := answers(d, desk.Unsent); !slices.Equal(got, want) {
			t.Errorf("answers %q, want %q", got, want)
		}
		p.Keys("u")
		p.Expect("taken back: reject of Approve claim", "and 2 more", "A goes on with your text")
		if got := answers(d, desk.TakenBack); !slices.Equal(got, want) {
			t.Errorf("taken back %q, want %q", got, want)
		}
		for _, e := range d.Outbox() {
			if x := d.Draft(desk.Question{ID: e.Decision.Question}); x == nil || x.Text != "over budget" || x.Thread != e.Decision.Thread {
				t.Errorf("draft of %s: %+v", e.Decision.Title, x)
			}
		}
		p.Keys("A", "r")
		p.Expect("REJECT 3 questions", "over budget")
		p.Type(", sorry")
		p.Advance(settle)
		p.Keys("ctrl+s")
		p.Advance(settle)
		p.Keys("y")
		p.Advance(6 * time.Second)
		if got := answers(d, desk.Sent); len(got) != 3 || !strings.HasSuffix(got[0], `"over budget, sorry"`) {
			t.Errorf("sent %q", got)
		}
	})
}

// TestBulkTextIsNeverLost: whatever way out is taken, the next A goes on with what was typed.
func TestBulkTextIsNeverLost(t *testing.T) {
	for _, keys := range [][]string{{"esc"}, {"ctrl+c"}, {"ctrl+s", "n", "esc"}, {"ctrl+s", "esc", "esc"}} {
		flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
			marked(p)
			p.Keys("r")
			p.Type("over budget")
			p.Keys(keys...)
			p.Expect("kept as a draft: A goes on with it", " *Approve claim 19", ">*Approve claim 17")
			wantOutbox(t, d)
			p.Keys("A", "r") // at once
			p.Expect("over budget")
			p.Keys("esc", "A", "t", "esc", "A", "r", "ctrl+x", "y")
			p.Keys("A", "r")
			if strings.Contains(p.Screen(), "over budget") {
				t.Errorf("what was discarded is there again:\n%s", p.Screen())
			}
		})
	}
}

// TestBulkTextComesBackInAnotherDesk: what was typed for many is kept where drafts are.
func TestBulkTextComesBackInAnotherDesk(t *testing.T) {
	var kept *desktest.Desk
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		marked(p)
		p.Keys("r")
		p.Type("over budget")
		p.Advance(time.Second)
		kept = d
	})
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		for _, x := range kept.DraftsKept() {
			if err := d.SaveDraft(x); err != nil {
				t.Fatal(err)
			}
		}
		marked(p)
		p.Keys("r")
		p.Expect("REJECT 3 questions", "over budget")
	})
}

// TestBulkRefused: what the desk refuses stays marked and keeps the text; what it takes does not.
func TestBulkRefused(t *testing.T) {
	flow(t, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		marked(p)
		p.Keys("r")
		p.Type("over budget")
		d.Elsewhere("t-claim-0101", actions.Approve, "bob")
		p.Keys("ctrl+s")
		p.Advance(settle)
		p.Keys("y")
		p.Expect("2 answered, 1 refused and still")
		if kept := d.DraftsKept(); len(kept) != 1 || kept[0].Text != "over budget" {
			t.Errorf("kept %+v, want the text", kept)
		}
	})
}

// alikes is a world of questions that take data: forms of two schemas, choices of two lists, texts, and one secret.
func alikes(d *desktest.Desk) {
	form := func(field string) json.RawMessage {
		return json.RawMessage(`{"type":"object","required":["` + field + `"],"properties":{"` + field + `":{"type":"integer","title":"` + field + `"}}}`)
	}
	secret := json.RawMessage(`{"type":"object","properties":{"key":{"type":"string","format":"password"}}}`)
	options := func(labels ...string) (all []actions.OptionItem) {
		for _, l := range labels {
			all = append(all, actions.OptionItem{Value: text(l), Label: l})
		}
		return all
	}
	some := []actions.Action{actions.Submit, actions.Cancel}
	for i, q := range []actions.Question{
		{Kind: actions.FormKind, Title: "Form 1", Schema: form("amount"), Actions: some},
		{Kind: actions.FormKind, Title: "Form 2", Schema: form("amount"), Actions: some},
		{Kind: actions.FormKind, Title: "Other form", Schema: form("count"), Actions: some},
		{Kind: actions.FormKind, Title: "Login 1", Schema: secret, Actions: some},
		{Kind: actions.FormKind, Title: "Login 2", Schema: secret, Actions: some},
		{Kind: actions.Choice, Title: "Pick 1", Options: options("red", "blue"), Actions: []actions.Action{actions.Choose}},
		{Kind: actions.Choice, Title: "Pick 2", Options: options("red", "blue"), Actions: []actions.Action{actions.Choose}},
		{Kind: actions.Choice, Title: "Other pick", Options: options("red", "green"), Actions: []actions.Action{actions.Choose}},
		{Kind: actions.Text, Title: "Say 1", Actions: []actions.Action{actions.Respond, actions.Reject}},
		{Kind: actions.Text, Title: "Say 2", Schema: json.RawMessage(`{"type":"string","maxLength":5}`), Actions: []actions.Action{actions.Respond, actions.Reject},
			RequireComment: []actions.Action{actions.Reject}},
		{Kind: actions.EditKind, Title: "Edit 1", Content: text("a"), Actions: []actions.Action{actions.Edit}},
		{Kind: actions.EditKind, Title: "Edit 2", Content: text("a"), Actions: []actions.Action{actions.Edit}},
	} {
		choices := desktest.Choices(actions.Allowed(q), "next")
		for n := range choices {
			choices[n].NeedsComment = slices.Contains(q.RequireComment, choices[n].Action)
		}
		d.Add(desk.Detail{Thread: desk.Thread{ID: fmt.Sprintf("t-alike-%04d", i), Workflow: "alike", Node: "n", Step: 1, WaitingSince: d.Now().Add(-24 * time.Hour)},
			Questions: []desk.Question{{ID: fmt.Sprintf("q-alike%d", i), Address: "n", ResumesNow: true, Question: q, Choices: choices}}})
	}
}

// TestBulkData: one answer for all that take the same data, whatever its kind, and what takes other data is left out.
func TestBulkData(t *testing.T) {
	for name, tc := range map[string]struct {
		keys  []string
		typed string
		send  []string
		shows []string
		want  []string
	}{
		"form":          {[]string{"s"}, "12", []string{"ctrl+s"}, []string{"SUBMIT 2 questions", "amount"}, []string{`Form 1 {"amount":12}`, `Form 2 {"amount":12}`}},
		"choice":        {[]string{"c", "2"}, "", nil, []string{"choose 2?"}, []string{`Pick 1 "blue"`, `Pick 2 "blue"`}},
		"text":          {[]string{"m"}, "yes", []string{"ctrl+s"}, []string{"RESPOND 2 questions", "text, required"}, []string{`Say 1 "yes"`, `Say 2 "yes"`}},
		"one refuses":   {[]string{"m"}, "too long", []string{"ctrl+s"}, []string{"RESPOND 2 questions"}, []string{`Say 1 "too long"`}},
		"needs comment": {[]string{"r"}, "no", []string{"ctrl+s"}, []string{"reason, required"}, []string{`Say 1 "no"`, `Say 2 "no"`}},
		"may be empty":  {[]string{"x"}, "", []string{"ctrl+s"}, []string{"CANCEL 5 questions", "comment, optional"}, []string{"Form 1", "Form 2", "Other form", "Login 1", "Login 2"}},
	} {
		t.Run(name, func(t *testing.T) {
			flowOf(t, alikes, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
				p.Keys("f")
				p.Type("alike")
				p.Keys("enter", "g", "space", "G", "V", "A")
				p.Expect("12 marked threads ask 12 questions", "submit      2 of 12", "choose      2 of 12", "respond     2 of 12", "cancel      5 of 12")
				if strings.Contains(p.Screen(), "edit  ") {
					t.Errorf("edit is offered for many:\n%s", p.Screen())
				}
				p.Advance(settle)
				p.Keys(tc.keys...)
				p.Expect(tc.shows...)
				p.Type(tc.typed)
				p.Keys(tc.send...)
				p.Advance(settle)
				p.Keys("y")
				if got := answers(d, desk.Unsent); !slices.Equal(got, tc.want) {
					t.Errorf("answers %q, want %q:\n%s", got, tc.want, p.Screen())
				}
			})
		})
	}
}

// TestBulkThatNoQuestionTakes says so in the pane, whose text stays.
func TestBulkThatNoQuestionTakes(t *testing.T) {
	flowOf(t, alikes, func(t *testing.T, d *desktest.Desk, p *tuitest.Program) {
		p.Keys("f")
		p.Type("Say 2")
		p.Keys("enter", "g", "space", "A", "m")
		p.Type("too long")
		p.Advance(settle)
		p.Keys("ctrl+s")
		p.Expect("RESPOND 1 question", "too long", "! Say 2:")
		wantOutbox(t, d)
	})
}

// TestTextOfSentBulksIsNotKept: it can be taken back no more, and a desk is open for weeks.
func TestTextOfSentBulksIsNotKept(t *testing.T) {
	m := New(t.Context(), desktest.New(t), Options{})
	for _, bulk := range []string{"sent", "partly", "new"} {
		m.bulks[bulk] = desk.Draft{Text: "over budget"}
	}
	outboxRead{{ID: "1", Bulk: "sent", State: desk.Sent}, {ID: "2", Bulk: "partly", State: desk.Sent}, {ID: "3", Bulk: "partly", State: desk.Unsent}}.apply(m)
	if got := slices.Sorted(maps.Keys(m.bulks)); !slices.Equal(got, []string{"new", "partly"}) {
		t.Errorf("kept for %q", got)
	}
}
