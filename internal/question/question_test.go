package question_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/question"
)

func TestRecogniseReadsBackWhatIsStored(t *testing.T) {
	want := actions.Question{
		Kind: actions.Choice, Title: "Claim", Message: "Pay?", ContentKey: "claim", ContentType: "json",
		Context: []actions.Labelled{{Label: "z", Value: json.RawMessage(`1`)}, {Label: "a", Value: json.RawMessage(`"x"`)}},
		Options: []actions.OptionItem{{Value: json.RawMessage(`"pay"`), Label: "Pay"}}, Multiple: true,
		Actions: []actions.Action{actions.Choose, actions.Stop}, RequireComment: []actions.Action{actions.Stop},
		TimeoutMS: 1000, DefaultAction: actions.Choose, DefaultData: json.RawMessage(`1`), PeopleOnly: true,
		Assignee: "ann", Group: "finance", Priority: "high",
	}
	payload, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got, shape := question.Recognise(payload, nil)
	if shape != question.Native {
		t.Fatalf("shape %q", shape)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	got, _ = question.Recognise(payload, json.RawMessage(`{"amount":12}`))
	if string(got.Content) != `{"amount":12}` {
		t.Errorf("content %s", got.Content)
	}
}

func TestRecogniseNeverFailsAndLosesNothing(t *testing.T) {
	for payload, title := range map[string]string{
		`{"a":1}`:                         "",
		`{"question":"Go on?\nReally?"}`:  "Go on?",
		`"Go on?"`:                        "Go on?",
		`[1,2]`:                           "",
		`null`:                            "",
		`5`:                               "",
		`{"kind":"choice","message":"m"}`: "m", // a choice without options is none
		`{"kind":"approval","message":"m","x":1}`: "m",
		`{"kind":"unknown","message":"m"}`:        "m",
		`{"kind":7}`:                              "",
	} {
		q, shape := question.Recognise(json.RawMessage(payload), nil)
		if shape != question.Unknown || q.Kind != actions.Unknown {
			t.Errorf("%s: shape %q, kind %q", payload, shape, q.Kind)
		}
		if string(q.Content) != payload || q.Title != title {
			t.Errorf("%s: content %s, title %q", payload, q.Content, q.Title)
		}
		if len(actions.Allowed(q)) != 15 {
			t.Errorf("%s: allows %v", payload, actions.Allowed(q))
		}
	}
	for _, payload := range []string{``, `{broken`, "\xff"} {
		q, _ := question.Recognise(json.RawMessage(payload), nil)
		if !json.Valid(q.Content) {
			t.Errorf("%q: content %s is not JSON", payload, q.Content)
		}
	}
}

func TestParseNative(t *testing.T) {
	got, err := question.ParseNative(json.RawMessage(`{"key":"k","kind":"Choice","message":"Which?\nSay.","options":["a",2,{"value":"c","label":"C"}],
		"context":{"z":1,"a":null},"actions":["CHOOSE","stop"],"require_comment":"stop","timeout":"1h30m","default_action":"choose","default_data":"a","title":null}`))
	if err != nil {
		t.Fatal(err)
	}
	want := actions.Question{
		Kind: actions.Choice, Message: "Which?\nSay.",
		Options: []actions.OptionItem{{Value: json.RawMessage(`"a"`)}, {Value: json.RawMessage(`2`)}, {Value: json.RawMessage(`"c"`), Label: "C"}},
		Context: []actions.Labelled{{Label: "z", Value: json.RawMessage(`1`)}, {Label: "a", Value: json.RawMessage(`null`)}},
		Actions: []actions.Action{actions.Choose, actions.Stop}, RequireComment: []actions.Action{actions.Stop},
		TimeoutMS: 5_400_000, DefaultAction: actions.Choose, DefaultData: json.RawMessage(`"a"`),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseNativeFaults(t *testing.T) {
	for raw, fault := range map[string]string{
		`[]`:                                                                         "must be an object",
		`{"message":"m"}`:                                                            "kind is required",
		`{"kind":"aproval"}`:                                                         `unknown kind "aproval"; did you mean "approval"?`,
		`{"kind":"approval"}`:                                                        "message is required for approval",
		`{"kind":"choice","message":"m"}`:                                            "options are required",
		`{"kind":"form","message":"m"}`:                                              "schema is required",
		`{"kind":"edit","message":"m"}`:                                              "content is required",
		`{"kind":"conversation"}`:                                                    "content is required",
		`{"kind":"conversation","content":"x"}`:                                      "must be a list of messages",
		`{"kind":"approval","message":"m","mesage":"n"}`:                             `unknown key "mesage"; did you mean "message"?`,
		`{"kind":"approval","message":5}`:                                            "message: must be a text",
		`{"kind":"approval","message":"m","kind":"edit"}`:                            "given twice",
		`{"kind":"approval","message":"m","multiple":"yes"}`:                         "must be true or false",
		`{"kind":"approval","message":"m","actions":["aprove"]}`:                     `did you mean "approve"?`,
		`{"kind":"approval","message":"m","actions":[]}`:                             "at least one action",
		`{"kind":"approval","message":"m","require_comment":["choose"]}`:             "does not allow choose",
		`{"kind":"approval","message":"m","default_action":"reject"}`:                "needs timeout",
		`{"kind":"approval","message":"m","timeout":"30"}`:                           "needs a unit",
		`{"kind":"approval","message":"m","timeout":"1h","default_action":"choose"}`: "does not allow choose",
		`{"kind":"text","message":"m","timeout":"1h","default_action":"respond"}`:    "needs default_data",
		`{"kind":"text","message":"m","default_data":"x"}`:                           "needs default_action",
		`{"kind":"form","message":"m","schema":{"typ":"object"}}`:                    `unknown schema keyword "typ"; did you mean "type"?`,
		`{"kind":"approval","message":"m","priority":"highest"}`:                     "priority must be",
		`{"kind":"approval","message":"m","content_type":"markdwn"}`:                 `did you mean "markdown"?`,
		`{"kind":"choice","message":"m","options":[{"label":"x"}]}`:                  "option 1 has no value",
		`{"kind":"choice","message":"m","options":[{"value":1,"lable":"x"}]}`:        "option 1",
		`{"kind":"approval","message":"m","content_key":"notes"}`:                    `unknown key "content_key"`,
		`{"kind":"approval","message":"m","timeout":"1h","timeout_ms":5}`:            "mean the same",
		`{"kind":"approval","message":"m"} {}`:                                       "something follows",
	} {
		if _, err := question.ParseNative(json.RawMessage(raw)); err == nil || !strings.Contains(err.Error(), fault) {
			t.Errorf("%s: %v, want %q", raw, err, fault)
		}
	}
}

func TestEncode(t *testing.T) {
	for _, shape := range []question.Shape{question.Native, question.Unknown} {
		got, err := question.Encode(shape, json.RawMessage(`{"kind":"approval","message":"m"}`), question.Given{Answer: actions.Answer{Action: actions.Reject, Comment: "no"}})
		if err != nil || string(got) != `{"action":"reject","value":null,"comment":"no"}` {
			t.Errorf("%s: %s, %v", shape, got, err)
		}
	}
	if _, err := question.Encode("strange", nil, question.Given{}); err == nil {
		t.Error("an unknown shape is written")
	}
}

// TestADeadlineIsKeptAsStoresKeepTimes: in UTC and whole microseconds, whoever wrote the question.
func TestADeadlineIsKeptAsStoresKeepTimes(t *testing.T) {
	q, _ := question.Recognise(json.RawMessage(`{"kind":"approval","message":"Go?","deadline":"2027-03-05T14:00:00.1234567+01:00"}`), nil)
	if want := time.Date(2027, 3, 5, 13, 0, 0, 123456000, time.UTC); q.Deadline == nil || *q.Deadline != want {
		t.Errorf("deadline %v, want %v", q.Deadline, want)
	}
}
