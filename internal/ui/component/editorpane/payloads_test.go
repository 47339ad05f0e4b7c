package editorpane_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"
	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/editorpane"

	payloads "github.com/hitl-tui/hitl-tui/internal/question"
)

// TestFormsOfForeignPayloads fills in, key by key, the forms that are made of other systems' payloads, and reads what
// their askers hear.
func TestFormsOfForeignPayloads(t *testing.T) {
	for _, tc := range []struct {
		name, payload string
		do            func(p *editorpane.Pane)
		want          string
	}{
		{"a verdict for each call", `{"action_requests":[{"name":"transfer","args":{"amount":12}},{"name":"mail","args":{}},{"name":"ls","args":{}}],
			"review_configs":[{"action_name":"transfer","allowed_decisions":["approve","edit"]},{"action_name":"mail","allowed_decisions":["approve","reject","respond"]},
			{"action_name":"ls","allowed_decisions":["approve"]}]}`,
			func(p *editorpane.Pane) {
				press(p, "right", "right", "tab") // the second verdict: edit
				press(p, "ctrl+home", "down", "end", "backspace", "backspace")
				typeText(p, "10")
				press(p, "tab", "tab", "left", "tab") // past its message, and the last verdict: respond
				typeText(p, "it is sent")
				press(p, "tab", "space")
			},
			`{"decisions":[{"type":"edit","edited_action":{"name":"transfer","args":{"amount":10}}},{"type":"respond","message":"it is sent"},{"type":"approve"}]}`},
		{"an elicitation keeps types", `{"message":"Who?","requestedSchema":{"type":"object","required":["age"],"properties":{"age":{"type":"integer"},
			"news":{"type":"boolean"},"days":{"type":"array","items":{"anyOf":[{"const":"mo","title":"Monday"},{"const":"tu","title":"Tuesday"}]}}}}}`,
			func(p *editorpane.Pane) {
				typeText(p, "41")
				press(p, "tab", "n", "tab", "right", "space")
			},
			`{"action":"accept","content":{"age":41,"news":false,"days":["tu"]}}`},
		{"an answer that was not offered", `{"type":"ask_user","questions":[{"question":"Colour?","type":"multiple_choice","choices":[{"value":"red"}]},{"question":"Why?"}],"tool_call_id":"c"}`,
			func(p *editorpane.Pane) {
				press(p, "right", "right", "tab") // respond
				press(p, "tab")                   // past what choose takes
				typeText(p, "green")
				press(p, "tab")
				typeText(p, "it calms")
			},
			`{"type":"answered","answers":["green","it calms"]}`},
		{"a form and one of its buttons", `{"form_content":"Right?","inputs":[{"type":"paragraph","output_variable_name":"draft"},{"type":"text_input","output_variable_name":"note"}],
			"resolved_default_values":{"draft":"well","note":""},"user_actions":[{"id":"ok","title":"Fine"},{"id":"no","title":"Not so"}]}`,
			func(p *editorpane.Pane) {
				press(p, "end")
				typeText(p, " done")
				press(p, "tab", "tab", "right", "right")
			},
			`{"inputs":{"draft":"well done","note":""},"action":"no"}`},
		{"a credential", `{"id":"1","name":"adk_request_credential","args":{"authConfig":{"authScheme":{"type":"apiKey"}}}}`,
			func(p *editorpane.Pane) { typeText(p, "hunter2") },
			`{"id":"1","name":"adk_request_credential","response":{"authScheme":{"type":"apiKey"},"exchangedAuthCredential":{"authType":"apiKey","apiKey":"hunter2"}}}`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			asked, shape := payloads.Recognise(json.RawMessage(tc.payload), nil)
			q := desk.Question{Thread: "t1", ID: "q1", Question: asked, Payload: json.RawMessage(tc.payload)}
			p := open(editorpane.Config{Question: q, Choice: choice(actions.Submit, false)}, 100, 40)
			tc.do(p)
			sent, ok := press(p, "ctrl+s").(editorpane.Send)
			if !ok {
				t.Fatalf("not sent:\n%s", ansi.Strip(p.View()))
			}
			valid, err := actions.Validate(asked, actions.Submit, sent.Data)
			if err != nil {
				t.Fatal(err)
			}
			heard, err := payloads.Encode(shape, q.Payload, payloads.Given{Answer: valid})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(heard)); diff != "" {
				t.Errorf("%s\n%s", diff, ansi.Strip(p.View()))
			}
		})
	}
}

// TestASecretIsNeitherShownNorDrafted, whatever key is pressed.
func TestASecretIsNeitherShownNorDrafted(t *testing.T) {
	form, text := question(actions.FormKind), question(actions.Text)
	form.Schema = json.RawMessage(`{"type":"object","properties":{"login":{"type":"object","properties":{"key":{"type":"string","writeOnly":true}}}}}`)
	text.Schema = json.RawMessage(`{"type":"string","format":"password"}`)
	for action, q := range map[actions.Action]desk.Question{actions.Submit: form, actions.Respond: text, actions.TextInput: text} {
		p := open(editorpane.Config{Question: q, Choice: choice(action, false)}, 80, 24)
		typeText(p, "hunter2")
		for _, key := range []string{"shift+left", "ctrl+r", "ctrl+o", "ctrl+t", "ctrl+y"} {
			r := press(p, key)
			_, leaves := r.(editorpane.External)
			if _, copies := r.(editorpane.Copy); leaves || copies || strings.Contains(ansi.Strip(p.View()), "hunter2") {
				t.Errorf("%s: %s shows the secret:\n%s", action, key, ansi.Strip(p.View()))
			}
		}
		if d := p.Draft(); d.Text != "" {
			t.Errorf("%s: the draft holds %q", action, d.Text)
		}
		if r, ok := press(p, "ctrl+s").(editorpane.Send); !ok || !strings.Contains(string(r.Data), "hunter2") {
			t.Errorf("%s: sent %v", action, r)
		}
	}
}
