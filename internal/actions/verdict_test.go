package actions_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

func partsQuestion() actions.Question {
	return actions.Question{Kind: actions.FormKind, Actions: []actions.Action{actions.Submit}, Parts: []actions.Question{
		{Kind: actions.EditKind, Content: raw(`{"a":1}`), Schema: raw(`{"type":"object","properties":{"a":{"type":"integer"}}}`), Actions: []actions.Action{actions.Approve, actions.Edit, actions.Reject}},
		{Kind: actions.Choice, Options: items(`"low"`, `2`), Actions: []actions.Action{actions.Choose, actions.Respond}, RequireComment: []actions.Action{actions.Choose}},
		{Kind: actions.Approval, Content: raw(`"x"`), Actions: []actions.Action{actions.Approve, actions.Skip}},
	}}
}

func TestVerdicts(t *testing.T) {
	for _, tc := range []struct{ name, form, want, fault string }{
		{"each in its way", `{"1":{"decision":"edit","args":{"a":2}},"2":{"decision":"choose","args":"low","message":"m"},"3":{"decision":"skip"}}`,
			`[{"action":"edit","value":{"a":2}},{"action":"choose","value":"low","comment":"m"},{"action":"skip","value":null}]`, ""},
		{"a changed approval is an edit", `{"1":{"decision":"approve","args":{"a":3}},"2":{"decision":"respond","message":"t"},"3":{"decision":"approve"}}`,
			`[{"action":"edit","value":{"a":3}},{"action":"respond","value":"t"},{"action":"approve","value":"x"}]`, ""},
		{"unchanged it is none", `{"1":{"decision":"approve","args":{ "a": 1 }},"2":{"decision":"respond","message":"t"},"3":{"decision":"approve","args":"x"}}`,
			`[{"action":"approve","value":{"a":1}},{"action":"respond","value":"t"},{"action":"approve","value":"x"}]`, ""},
		{"all faults at their fields", `{"1":{"decision":"edit","args":{"a":"x"}},"2":{"decision":"respond"},"3":{"decision":"approve","args":"y"}}`, "",
			"submit: /1/args/a: must be a whole number, not a text; /2/message: the text must not be empty; /3/args: must not be edited"},
		{"another type", `{"1":{"decision":"edit","args":"much"},"2":{"decision":"choose","args":"low"},"3":{"decision":"stop"}}`, "",
			"submit: /1/args: the content is an object and must stay one, not become a text; /2/args: a comment is required; /3/decision: this question does not allow stop; it allows approve, skip"},
		{"none", `{}`, "", "submit: /1/decision: is required; /2/decision: is required; /3/decision: is required"},
		{"no form", `[]`, "", "submit: must be an object, not a list"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			q := partsQuestion()
			valid, err := actions.Validate(q, actions.Submit, json.RawMessage(tc.form))
			if tc.fault != "" {
				var bad *actions.DataError
				if !errors.As(err, &bad) || err.Error() != tc.fault {
					t.Fatalf("%v\nwant %s", err, tc.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			answers, err := q.Verdicts(valid.Value)
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(answers)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Error(diff)
			}
			// A verdict made of an answer is that answer again.
			form := map[string]actions.Verdict{}
			for i, a := range answers {
				form[actions.PartKey(i)] = actions.VerdictOf(a)
			}
			again, err := json.Marshal(form)
			if err != nil {
				t.Fatal(err)
			}
			twice, err := q.Verdicts(again)
			if diff := cmp.Diff(answers, twice); err != nil || diff != "" {
				t.Errorf("%v %s", err, diff)
			}
		})
	}
}
