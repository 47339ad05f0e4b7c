package actions_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

func raw(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	return json.RawMessage(s)
}

func items(values ...string) []actions.OptionItem {
	var out []actions.OptionItem
	for _, v := range values {
		value, label, _ := strings.Cut(v, "=")
		out = append(out, actions.OptionItem{Value: raw(value), Label: label})
	}
	return out
}

const claimSchema = `{"type":"object","required":["paid","note"],"properties":{
	"paid":{"type":"number","minimum":0,"maximum":1900},"note":{"type":"string","minLength":3},
	"urgent":{"type":"boolean","default":false}}}`

func TestValidate(t *testing.T) {
	approval := actions.Question{Kind: actions.Approval, Actions: actions.All()}
	reviewed := actions.Question{Kind: actions.Approval, Content: raw(`"draft"`), RequireComment: []actions.Action{actions.Reject}}
	choice := actions.Question{Kind: actions.Choice, Options: items(`"pay"=Pay in full`, `"part"=Pay a part`, `"refuse"=Refuse`)}
	numbers := actions.Question{Kind: actions.Choice, Options: items(`3`, `2`, `1`)}
	several := choice
	several.Multiple = true
	twins := actions.Question{Kind: actions.Choice, Options: items(`1=Same`, `2=Same`)}
	objects := actions.Question{Kind: actions.Choice, Options: items(`{"choice":"x"}=X`, `null=None`)}
	text := actions.Question{Kind: actions.Text}
	cluster := actions.Question{Kind: actions.Text, Schema: raw(`{"const":"prod-eu"}`)}
	count := actions.Question{Kind: actions.Text, Schema: raw(`{"type":"integer","minimum":1}`)}
	edit := actions.Question{Kind: actions.EditKind, Content: raw(`"old"`)}
	editObject := actions.Question{Kind: actions.EditKind, Content: raw(`{"title":"a","value":{"n":1}}`),
		Schema: raw(`{"type":"object","required":["title"]}`)}
	editNull := actions.Question{Kind: actions.EditKind, Content: raw(`null`), ContentKey: "notes"}
	form := actions.Question{Kind: actions.FormKind, Schema: raw(claimSchema)}
	ownComment := actions.Question{Kind: actions.FormKind, Schema: raw(`{"properties":{"comment":{"type":"string"}}}`)}
	talk := actions.Question{Kind: actions.Conversation, Content: raw(`[]`)}
	suspend := actions.Question{Kind: actions.Suspend}
	suspendSchema := actions.Question{Kind: actions.Suspend, Schema: raw(`{"type":"object","required":["ok"],"properties":{"ok":{"type":"boolean"}}}`)}
	unknown := actions.Question{Kind: actions.Unknown, Content: raw(`{"any":"thing"}`)}

	for _, tc := range []struct {
		name           string
		q              actions.Question
		action         actions.Action
		data           string
		value, comment string
		fault          string // part of the error, "" for none
	}{
		{"approve nothing", approval, actions.Approve, ``, `true`, "", ""},
		{"approve null", approval, actions.Approve, `null`, `true`, "", ""},
		{"approve content", reviewed, actions.Approve, ``, `"draft"`, "", ""},
		{"approve comment", reviewed, actions.Approve, `{"comment":"fine"}`, `"draft"`, "fine", ""},
		{"approve reason", reviewed, actions.Approve, `{"reason":"fine"}`, `"draft"`, "fine", ""},
		{"approve bare", reviewed, actions.Approve, `"fine"`, `"draft"`, "fine", ""},
		{"approve number", reviewed, actions.Approve, `5`, "", "", "takes a comment only"},
		{"approve unknown key", reviewed, actions.Approve, `{"coment":"fine"}`, "", "", `"coment" is not understood; did you mean "comment"?`},
		{"approve comment twice", reviewed, actions.Approve, `{"comment":"a","reason":"b"}`, "", "", "mean the same"},
		{"approve comment number", reviewed, actions.Approve, `{"comment":5}`, "", "", "must be a text"},
		{"reject no content", approval, actions.Reject, `"no"`, `false`, "no", ""},
		{"reject content", reviewed, actions.Reject, `{"feedback":"no"}`, `null`, "no", ""},
		{"reject needs comment", reviewed, actions.Reject, ``, "", "", "comment is required"},
		{"reject blank comment", reviewed, actions.Reject, `"  "`, "", "", "comment is required"},
		{"not allowed", reviewed, actions.Choose, `1`, "", "", "does not allow choose; it allows approve, reject, retry, stop, cancel"},
		{"unknown action", reviewed, "aprove", ``, "", "", `did you mean "approve"?`},
		{"broken", reviewed, actions.Approve, `{`, "", "", "not valid JSON"},
		{"two values", reviewed, actions.Approve, `1 2`, "", "", "not valid JSON"},
		{"duplicate key", reviewed, actions.Approve, `{"comment":"a","comment":"b"}`, "", "", "given twice"},
		{"NaN", suspend, actions.Continue, `NaN`, "", "", "not valid JSON"},
		{"a number nothing can hold", suspend, actions.Continue, `{"n":[-1e999]}`, "", "", "-1e999 is too large"},
		{"invalid UTF-8", reviewed, actions.Approve, "\"\xff\"", "", "", "UTF-8"},

		{"choose value", choice, actions.Choose, `"part"`, `"part"`, "", ""},
		{"choose label", choice, actions.Choose, `"Pay a part"`, `"part"`, "", ""},
		{"choose index", choice, actions.Choose, `2`, `"part"`, "", ""},
		{"choose index text", choice, actions.Choose, `"2"`, `"part"`, "", ""},
		{"choose key choice", choice, actions.Choose, `{"choice":2,"comment":"c"}`, `"part"`, "c", ""},
		{"choose key selection", choice, actions.Choose, `{"selection":"refuse"}`, `"refuse"`, "", ""},
		{"choose key option", choice, actions.Choose, `{"option":"Refuse"}`, `"refuse"`, "", ""},
		{"choose key value", choice, actions.Choose, `{"value":"pay"}`, `"pay"`, "", ""},
		{"choose one in a list", choice, actions.Choose, `["pay"]`, `"pay"`, "", ""},
		{"choose value before index", numbers, actions.Choose, `1`, `1`, "", ""},
		{"choose label before index", numbers, actions.Choose, `"1"`, `1`, "", ""},
		{"choose 1.0", numbers, actions.Choose, `1.0`, `1`, "", ""},
		{"choose zero", choice, actions.Choose, `0`, "", "", "no option 0 (1 Pay in full, 2 Pay a part, 3 Refuse)"},
		{"choose four", choice, actions.Choose, `{"choice":4}`, "", "", "no option 4"},
		{"choose fraction", choice, actions.Choose, `1.5`, "", "", "none of the options"},
		{"choose typo", choice, actions.Choose, `"refus"`, "", "", `did you mean "Refuse"?`},
		{"choose nothing", choice, actions.Choose, ``, "", "", "option is required"},
		{"choose null in key", choice, actions.Choose, `{"choice":null}`, "", "", "option is required"},
		{"choose two", choice, actions.Choose, `["pay","part"]`, "", "", "one option is due, 2"},
		{"choose unknown key", choice, actions.Choose, `{"choise":1}`, "", "", `did you mean "choice"?`},
		{"choose two keys", choice, actions.Choose, `{"choice":1,"value":2}`, "", "", "mean the same"},
		{"choose twins", twins, actions.Choose, `"Same"`, "", "", "several options"},
		{"choose twins by index", twins, actions.Choose, `"2"`, `2`, "", ""},
		{"choose object", objects, actions.Choose, `{"choice":"x"}`, `{"choice":"x"}`, "", ""},
		{"choose several", several, actions.Choose, `["Refuse",1]`, `["refuse","pay"]`, "", ""},
		{"choose several one", several, actions.Choose, `"pay"`, `["pay"]`, "", ""},
		{"choose several key", several, actions.Choose, `{"choice":[1,2],"comment":"c"}`, `["pay","part"]`, "c", ""},
		{"choose several none", several, actions.Choose, `[]`, "", "", "one option or more"},
		{"choose several twice", several, actions.Choose, `[1,"pay"]`, "", "", "given twice"},

		{"text bare", text, actions.TextInput, `"hi"`, `"hi"`, "", ""},
		{"text empty", text, actions.TextInput, `""`, `""`, "", ""},
		{"text none", text, actions.TextInput, ``, "", "", "text is required"},
		{"text text", text, actions.TextInput, `{"text":"hi","comment":"c"}`, `"hi"`, "c", ""},
		{"text response", text, actions.Respond, `{"response":"hi"}`, `"hi"`, "", ""},
		{"text message", text, actions.Respond, `{"message":"hi"}`, `"hi"`, "", ""},
		{"text feedback", text, actions.Respond, `{"feedback":"hi"}`, `"hi"`, "", ""},
		{"text content", text, actions.Respond, `{"content":"hi"}`, `"hi"`, "", ""},
		{"text comment", text, actions.Respond, `{"comment":"hi"}`, `"hi"`, "", ""},
		{"text unknown key", text, actions.Respond, `{"txt":"hi"}`, "", "", `did you mean "text"?`},
		{"text two keys", text, actions.Respond, `{"text":"a","message":"b"}`, "", "", "mean the same"},
		{"text number", text, actions.Respond, `5`, "", "", "must be a text, not a number"},
		{"text list", text, actions.Respond, `["l"]`, "", "", "must be a text, not a list"},
		{"respond empty", text, actions.Respond, `" "`, "", "", "must not be empty"},
		{"text const", cluster, actions.TextInput, `"prod-us"`, "", "", "must be 'prod-eu'"},
		{"text const ok", cluster, actions.TextInput, `{"text":"prod-eu"}`, `"prod-eu"`, "", ""},
		{"text integer", count, actions.TextInput, `"42"`, `42`, "", ""},
		{"text integer low", count, actions.TextInput, `"0"`, "", "", "must be at least 1"},

		{"edit bare", edit, actions.Edit, `"new"`, `"new"`, "", ""},
		{"edit edited", edit, actions.Edit, `{"edited":"new","comment":"c"}`, `"new"`, "c", ""},
		{"edit edited_content", edit, actions.Edit, `{"edited_content":"new"}`, `"new"`, "", ""},
		{"edit content", edit, actions.Edit, `{"content":"new"}`, `"new"`, "", ""},
		{"edit value", edit, actions.Edit, `{"value":"new"}`, `"new"`, "", ""},
		{"edit none", edit, actions.Edit, `{}`, "", "", "edited content is required"},
		{"edit unknown key", edit, actions.Edit, `{"draft":"D"}`, "", "", `"draft" is not understood`},
		{"edit other type", edit, actions.Edit, `5`, "", "", "is a text and must stay one, not become a number"},
		{"edit object bare", editObject, actions.Edit, `{"title":"b","value":{"n":2}}`, `{"title":"b","value":{"n":2}}`, "", ""},
		{"edit object own key", editObject, actions.Edit, `{"value":{"n":2}}`, "", "", "/title: is required"},
		{"edit object wrapped", editObject, actions.Edit, `{"edited":{"title":"b"},"comment":"c"}`, `{"title":"b"}`, "c", ""},
		{"edit null original", editNull, actions.Edit, `["x"]`, `["x"]`, "", ""},
		{"edit null original object", editNull, actions.Edit, `{"a":1}`, `{"a":1}`, "", ""},
		{"save as it is", edit, actions.Save, ``, `"old"`, "", ""},
		{"save comment", edit, actions.Save, `{"comment":"c"}`, `"old"`, "c", ""},
		{"save object comment", editObject, actions.Save, `{"comment":"c"}`, `{"title":"a","value":{"n":1}}`, "c", ""},
		{"save content", edit, actions.Save, `{"content":"new"}`, `"new"`, "", ""},
		{"approve an edit", edit, actions.Approve, ``, `"old"`, "", ""},

		{"submit", form, actions.Submit, `{"paid":"900.5","note":"why"}`, `{"paid":900.5,"note":"why","urgent":false}`, "", ""},
		{"submit comment", form, actions.Submit, `{"note":"why","paid":1,"urgent":"true","comment":"c"}`, `{"note":"why","paid":1,"urgent":true}`, "c", ""},
		{"submit own comment", ownComment, actions.Submit, `{"comment":"c"}`, `{"comment":"c"}`, "", ""},
		{"submit too much", form, actions.Submit, `{"paid":5000,"note":"why"}`, "", "", "/paid: must be at most 1900"},
		{"submit all faults", form, actions.Submit, `{"paid":5000}`, "", "", "/note: is required; /paid: must be at most 1900"},
		{"submit typo", form, actions.Submit, `{"paid":1,"note":"why","urgnt":true}`, "", "", `/urgnt: is not expected; did you mean "urgent"?`},
		{"submit list", form, actions.Submit, `[]`, "", "", "must be an object"},
		{"submit nothing", form, actions.Submit, ``, "", "", "/paid: is required"},

		{"reply", talk, actions.Reply, `{"message":"m"}`, `"m"`, "", ""},
		{"reply empty", talk, actions.Reply, `""`, "", "", "must not be empty"},
		{"end", talk, actions.End, ``, `null`, "", ""},
		{"end text", talk, actions.End, `"bye"`, `"bye"`, "", ""},
		{"continue", suspend, actions.Continue, ``, `null`, "", ""},
		{"continue data", suspend, actions.Continue, `{ "z": 1, "a": [ ] }`, `{"z":1,"a":[]}`, "", ""},
		{"continue schema", suspendSchema, actions.Continue, `{"ok":"true"}`, `{"ok":true}`, "", ""},
		{"continue schema none", suspendSchema, actions.Continue, ``, "", "", "/ok: is required"},
		{"skip", approval, actions.Skip, ``, `null`, "", ""},
		{"skip data", approval, actions.Skip, `7`, "", "", "takes a comment only"},
		{"stop", approval, actions.Stop, `{"comment":"c"}`, `null`, "c", ""},
		{"cancel", approval, actions.Cancel, `"c"`, `null`, "c", ""},
		{"retry", approval, actions.Retry, `{"feedback":"shorter"}`, `null`, "shorter", ""},
		{"unknown choose", unknown, actions.Choose, `{"choice":"x"}`, `"x"`, "", ""},
		{"unknown submit", unknown, actions.Submit, `{"a":1}`, `{"a":1}`, "", ""},
		{"unknown approve", unknown, actions.Approve, ``, `{"any":"thing"}`, "", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := string(tc.data)
			got, err := actions.Validate(tc.q, tc.action, raw(tc.data))
			if tc.fault != "" {
				if err == nil || !strings.Contains(err.Error(), tc.fault) {
					t.Fatalf("error %v, want one with %q (got %s)", err, tc.fault, got.Value)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if string(got.Value) != tc.value || got.Comment != tc.comment || got.Action != tc.action {
				t.Errorf("got %s %s %q, want %s %q", got.Action, got.Value, got.Comment, tc.value, tc.comment)
			}
			if tc.data != before {
				t.Error("the data were altered")
			}
		})
	}
}

func TestLimitIsInclusiveAndCountsCompactUTF8(t *testing.T) {
	q := actions.Question{Kind: actions.Text}
	fits := `{ "text" : "` + strings.Repeat("é", (actions.MaxSize-len(`{"text":""}`))/2) + `" }`
	if _, err := actions.Validate(q, actions.Respond, raw(fits)); err != nil {
		t.Error(err)
	}
	escaped := `"` + strings.Repeat(`\u00e9`, (actions.MaxSize-2)/2) + `"`
	if _, err := actions.Validate(q, actions.Respond, raw(escaped)); err != nil {
		t.Error("escapes are counted:", err)
	}
	over := `"` + strings.Repeat("x", actions.MaxSize-1) + `"`
	_, err := actions.Validate(q, actions.Respond, raw(over))
	var size *actions.SizeError
	if !errors.As(err, &size) || size.Size != actions.MaxSize+1 || size.Limit != actions.MaxSize {
		t.Errorf("got %v", err)
	}
	if !strings.Contains(err.Error(), "65537") || !strings.Contains(err.Error(), "65536") {
		t.Errorf("%v does not give both sizes", err)
	}
}

func TestWrapContentIsReadBack(t *testing.T) {
	for _, original := range []string{`"a"`, `{"a":1}`, `{"edited":{"a":1}}`, `{"content":{},"edited":{},"edited_content":{}}`, `[1]`, `7`} {
		q := actions.Question{Kind: actions.EditKind, Content: raw(original)}
		data, err := actions.WrapContent(q, raw(original), "why")
		if err != nil {
			t.Fatal(err)
		}
		got, err := actions.Validate(q, actions.Edit, data)
		if err != nil || string(got.Value) != original || got.Comment != "why" {
			t.Errorf("%s: %s came back as %s, %q, %v", original, data, got.Value, got.Comment, err)
		}
	}
}

func TestEditAndSaveAreBlockedWhenTheContentIsOverTheLimit(t *testing.T) {
	content := raw(`"` + strings.Repeat("x", actions.MaxSize-1) + `"`)
	q := actions.Question{Kind: actions.EditKind, Content: content}
	for _, a := range []actions.Action{actions.Edit, actions.Save} {
		_, err := actions.Validate(q, a, raw(`"short"`))
		var size *actions.SizeError
		if !errors.As(err, &size) || size.Size != actions.MaxSize+1 || !strings.Contains(err.Error(), "hitl-tui patch") {
			t.Errorf("%s: %v", a, err)
		}
	}
	if got, err := actions.Validate(q, actions.Approve, nil); err != nil || string(got.Value) != string(content) {
		t.Errorf("approve: %v", err)
	}
	q.Content = raw(strings.Repeat(" ", actions.MaxSize) + `"fits"`)
	if err := actions.Blocked(q, actions.Edit); err != nil {
		t.Errorf("white space counts: %v", err)
	}
	var refused *actions.NotAllowedError
	if err := actions.Blocked(q, actions.Choose); !errors.As(err, &refused) {
		t.Errorf("%v", err)
	}
}

func TestMessagesCanBeShownOnATerminal(t *testing.T) {
	const hostile = "\x1b[31mred\u202e\r"
	label, err := json.Marshal(hostile)
	if err != nil {
		t.Fatal(err)
	}
	choice := actions.Question{Kind: actions.Choice, Options: []actions.OptionItem{{Value: label, Label: hostile}}}
	form := actions.Question{Kind: actions.FormKind, Schema: raw(claimSchema)}
	key := raw(`{` + string(label) + `:1}`)
	_, err1 := actions.Validate(choice, actions.Choose, raw(`7`))
	_, err2 := actions.Validate(form, actions.Submit, key)
	_, err3 := actions.Validate(actions.Question{Kind: actions.Text}, actions.Respond, key)
	_, err4 := actions.Parse(hostile)
	_, err5 := actions.CompileSchema(key)
	_, err6 := actions.ParseToken(append([]byte(`{"thread_id":"t",`), key[1:]...))
	for i, err := range []error{err1, err2, err3, err4, err5, err6} {
		if err == nil || strings.ContainsAny(err.Error(), hostile[:1]+"\u202e\r") {
			t.Errorf("%d: %q", i+1, err)
		}
	}
}

func TestTimeoutNeverWrapsAround(t *testing.T) {
	for ms, want := range map[int64]time.Duration{0: 0, 1500: 1500 * time.Millisecond, -1: -time.Millisecond} {
		if got := (actions.Question{TimeoutMS: ms}).Timeout(); got != want {
			t.Errorf("%d ms: %s", ms, got)
		}
	}
	if got := (actions.Question{TimeoutMS: math.MaxInt64}).Timeout(); got < 200*365*24*time.Hour {
		t.Errorf("the longest there is: %s", got)
	}
}
