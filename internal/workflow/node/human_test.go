package node_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/workflow/lang"
	"github.com/hitl-tui/hitl-tui/internal/workflow/node"
)

const humanState = `{"name":"Ada","text":"# T\nbody","list":["x","y"],"amount":1900,"talk":[{"role":"customer","text":"Hi"}],
	"claims":[{"id":1}],"cluster":"prod-eu","opts":[{"value":1,"label":"One"},{"value":"b","description":"B"},true]}`

func value(t *testing.T, v any) engine.Value {
	t.Helper()
	out, err := engine.ValueOf(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestQuestions(t *testing.T) {
	for name, c := range map[string]struct {
		q    node.Question
		want string
	}{
		"approval with everything": {node.Question{
			Kind: actions.Approval, Title: text(t, "Notes of {{.name}}"), Message: text(t, "Publish {{len .list}}?"),
			Content: expr(t, "text"), ContentType: "markdown",
			Context: []node.Named{{Name: "amount", Expr: expr(t, "amount")}, {Name: "gone", Expr: expr(t, "missing")}},
			Actions: []actions.Action{actions.Approve, actions.Edit, actions.Reject}, RequireComment: []actions.Action{actions.Reject},
			Timeout: 48 * time.Hour, DefaultAction: actions.Reject, DefaultData: literal(`"Nobody looked"`), PeopleOnly: true,
			Assignee: text(t, "{{.name}}"), Group: text(t, "finance"),
			Priority: text(t, "{{if gt .amount 1000}}high{{else}}normal{{end}}"),
		}, `{"kind":"approval","title":"Notes of Ada","message":"Publish 2?","content_key":"text","content_type":"markdown",
			"context":[{"label":"amount","value":1900},{"label":"gone","value":null}],"actions":["approve","edit","reject"],
			"require_comment":["reject"],"timeout_ms":172800000,"default_action":"reject","default_data":"Nobody looked",
			"people_only":true,"assignee":"Ada","group":"finance","priority":"high"}`},
		"title from the message": {node.Question{Kind: actions.Approval, Message: text(t, "\n## Go?\nReally.\n")},
			`{"kind":"approval","title":"Go?","message":"## Go?\nReally."}`},
		"content for reading": {node.Question{Kind: actions.Approval, Message: text(t, "m"), Content: expr(t, "claims[0]")},
			`{"kind":"approval","title":"m","message":"m","content":{"id":1},"content_type":"json"}`},
		"text for reading": {node.Question{Kind: actions.Approval, Message: text(t, "m"), Content: expr(t, "text + '!'")},
			`{"kind":"approval","title":"m","message":"m","content":"# T\nbody!","content_type":"text"}`},
		"literal options": {node.Question{Kind: actions.Choice, Message: text(t, "m"), Multiple: true, Options: []node.Option{
			{Value: value(t, "pay"), Label: text(t, "Pay {{.amount}}"), Description: text(t, "to {{.name}}")}, {Value: value(t, 2)}}},
			`{"kind":"choice","title":"m","message":"m","multiple":true,"options":[{"value":"pay","label":"Pay 1900","description":"to Ada"},{"value":2}]}`},
		"options from the state": {node.Question{Kind: actions.Choice, Message: text(t, "m"), OptionsExpr: expr(t, "list")},
			`{"kind":"choice","title":"m","message":"m","options":[{"value":"x"},{"value":"y"}]}`},
		"options as objects": {node.Question{Kind: actions.Choice, Message: text(t, "m"), OptionsExpr: expr(t, "opts")},
			`{"kind":"choice","title":"m","message":"m","options":[{"value":1,"label":"One"},{"value":"b","description":"B"},{"value":true}]}`},
		"text with a schema from the state": {node.Question{Kind: actions.Text, Message: text(t, "m"), Schema: expr(t, "{const: cluster}")},
			`{"kind":"text","title":"m","message":"m","schema":{"const":"prod-eu"}}`},
		"form": {node.Question{Kind: actions.FormKind, Message: text(t, "m"), Prefill: expr(t, "{paid: amount / 2}"),
			Schema: literal(`{"type":"object","properties":{"paid":{"type":"number"}}}`)},
			`{"kind":"form","title":"m","message":"m","prefill":{"paid":950},"schema":{"type":"object","properties":{"paid":{"type":"number"}}}}`},
		"edit": {node.Question{Kind: actions.EditKind, Message: text(t, "m"), Content: expr(t, "list")},
			`{"kind":"edit","title":"m","message":"m","content_key":"list","content_type":"json"}`},
		"conversation": {node.Question{Kind: actions.Conversation, Title: text(t, "{{.name}}"), Content: expr(t, "talk")},
			`{"kind":"conversation","title":"Ada","content_key":"talk","content_type":"json"}`},
		"suspend": {node.Question{Kind: actions.Suspend}, `{"kind":"suspend"}`},
	} {
		t.Run(name, func(t *testing.T) {
			call, _ := callOn(t, humanState)
			result, err := run(t, &node.Human{Questions: []node.Question{c.q}}, call)
			if err != nil {
				t.Fatal(err)
			}
			if len(result.Interrupts) != 1 || !result.Output.IsNull() {
				t.Fatalf("got %+v", result)
			}
			ask := result.Interrupts[0]
			if diff := cmp.Diff(decoded(t, c.want), decoded(t, string(ask.Payload))); diff != "" {
				t.Errorf("payload (-want +got):\n%s", diff)
			}
			var q actions.Question
			if err := json.Unmarshal(ask.Payload, &q); err != nil {
				t.Fatal(err)
			}
			if ask.Key != "" || ask.ContentKey != q.ContentKey || ask.Timeout != c.q.Timeout {
				t.Errorf("ask %+v does not fit its payload", ask)
			}
		})
	}
}

// Two stored forms of one text would have two hashes.
func TestPayloadIsStoredAsItIs(t *testing.T) {
	call, _ := callOn(t, `{}`)
	result, err := run(t, &node.Human{Questions: []node.Question{{Kind: actions.Suspend, Message: text(t, "<a> & b")}}}, call)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(result.Interrupts[0].Payload); !strings.Contains(got, `"message":"<a> & b"`) || strings.HasSuffix(got, "\n") {
		t.Errorf("got %s", got)
	}
}

func TestSeveralQuestions(t *testing.T) {
	call, _ := callOn(t, humanState)
	result, err := run(t, &node.Human{Questions: []node.Question{
		{Name: "change", Kind: actions.Approval, Message: text(t, "Apply to {{.cluster}}?"), Content: expr(t, "text")},
		{Name: "name", Kind: actions.Text, Message: text(t, "Type it"), Timeout: time.Hour},
	}}, call)
	if err != nil {
		t.Fatal(err)
	}
	a, b := result.Interrupts[0], result.Interrupts[1]
	if a.Key != "change" || b.Key != "name" || a.ContentKey != "text" || b.ContentKey != "" || b.Timeout != time.Hour {
		t.Errorf("got %+v", result.Interrupts)
	}
}

func TestQuestionFaults(t *testing.T) {
	choice := func(options *lang.Expr) node.Question {
		return node.Question{Kind: actions.Choice, Message: text(t, "m"), OptionsExpr: options}
	}
	for want, q := range map[string]node.Question{
		"title: .missing is null":                                     {Kind: actions.Approval, Title: text(t, "{{.missing}}"), Message: text(t, "m")},
		"message: .missing is null":                                   {Kind: actions.Approval, Message: text(t, "{{.missing}}")},
		"message is required for":                                     {Kind: actions.Approval, Message: text(t, "{{with .missing}}x{{end}}")},
		"content: missing is null":                                    {Kind: actions.Approval, Message: text(t, "m"), Content: expr(t, "missing")},
		"content: missing.x: there is no":                             {Kind: actions.Approval, Message: text(t, "m"), Content: expr(t, "missing.x")},
		"content: a conversation needs a state key":                   {Kind: actions.Conversation, Content: expr(t, "concat(talk, talk)")},
		"content: text is no list of messages":                        {Kind: actions.Conversation, Content: expr(t, "text")},
		"content is required for edit":                                {Kind: actions.EditKind, Message: text(t, "m")},
		"context.x: ":                                                 {Kind: actions.Approval, Message: text(t, "m"), Context: []node.Named{{Name: "x", Expr: expr(t, "missing.y")}}},
		"options: the result is no list: ":                            choice(expr(t, "text")),
		"options: the result is no list: null":                        choice(expr(t, "missing")),
		"options: the list is empty":                                  choice(expr(t, "[]")),
		"options: item 1: is a list":                                  choice(expr(t, "['a', []]")),
		`options: item 0: unknown key "lable"; did you mean "label"?`: choice(expr(t, "[{value: 1, lable: 'x'}]")),
		"options: item 0: has no value":                               choice(expr(t, "[{label: 'x'}]")),
		"options: item 0: label must be a text":                       choice(expr(t, "[{value: 1, label: 1}]")),
		`options[2]: the value "a" is there twice`:                    choice(expr(t, "['a', 'b', 'a']")),
		"options[0]: the value is null":                               choice(expr(t, "[nil]")),
		"options[0].label: .missing is null": {Kind: actions.Choice, Message: text(t, "m"), Options: []node.Option{
			{Value: value(t, 1), Label: text(t, "{{.missing}}")}}},
		"schema: missing is null":               {Kind: actions.Text, Message: text(t, "m"), Schema: expr(t, "missing")},
		"schema: not a JSON Schema":             {Kind: actions.Text, Message: text(t, "m"), Schema: expr(t, "{type: name}")},
		"schema is required for form":           {Kind: actions.FormKind, Message: text(t, "m")},
		"priority must be low, normal, high or": {Kind: actions.Suspend, Priority: text(t, "{{.name}}")},
		"default_action needs timeout":          {Kind: actions.Approval, Message: text(t, "m"), DefaultAction: actions.Approve},
	} {
		call, _ := callOn(t, humanState)
		_, err := run(t, &node.Human{Questions: []node.Question{q}}, call)
		if err == nil || !strings.HasPrefix(err.Error(), want) || !permanent(err) {
			t.Errorf("got %v, want a permanent %q", err, want)
		}
		q.Name = "part"
		if _, err = run(t, &node.Human{Questions: []node.Question{q}}, call); err == nil || !strings.HasPrefix(err.Error(), "questions.part: "+want) {
			t.Errorf("named: got %v, want %q", err, want)
		}
	}
}
