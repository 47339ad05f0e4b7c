package question

import (
	"encoding/json"
	"regexp"
	"slices"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// difyForm is the form of Dify's human input node: texts to fill in and buttons, one of which sends them. Its shape is that
// of GET /form/human_input/{form_token}, and of the event human_input_required, where user_actions are called actions.
// https://docs.dify.ai/api-reference/human-input/get-human-input-form
type difyForm struct {
	title, content string
	inputs         []difyInput
	buttons        []actions.OptionItem
	expires        *time.Time
	context        []actions.Labelled
}

type difyInput struct {
	name, kind string
	preset     string // of a text: what stands in it at first
}

// text tells whether an input takes a text. What else there is, files, is any JSON here.
func (i difyInput) text() bool {
	return slices.Contains([]string{"text_input", "paragraph", "select"}, i.kind)
}

func readDify(p payload) (asked, bool) {
	var x difyForm
	o, buttons := p.object(), "user_actions"
	if o.has("event") {
		outer := o
		if outer.text("event") != "human_input_required" {
			return nil, false
		}
		o, buttons = outer.object("data"), "actions"
		outer.drop("task_id", "workflow_run_id", "created_at", "message_id", "conversation_id")
		x.context = outer.rest()
	}
	x.content, x.title = o.text("form_content"), o.text("node_title")
	if !o.has("form_content") || !o.has("inputs") || !x.readInputs(o) || !x.readButtons(o.list(buttons)) {
		return nil, false
	}
	var seconds int64
	if raw := o.raw("expiration_time"); raw != nil {
		if json.Unmarshal(raw, &seconds) == nil {
			x.expires = instant(time.Unix(seconds, 0))
		}
		if x.expires == nil {
			x.context = append(x.context, label("expiration_time", raw)...)
		}
	}
	o.drop("form_id", "form_token", "node_id", "display_in_ui", "site") // who has the token may answer
	x.context = append(x.context, o.rest()...)
	return x, true
}

func (x *difyForm) readInputs(o *object) bool {
	resolved := o.object("resolved_default_values")
	for _, raw := range o.list("inputs") {
		input := objectIn(raw)
		one := difyInput{name: input.text("output_variable_name"), kind: input.text("type")}
		if one.name == "" || slices.ContainsFunc(x.inputs, func(other difyInput) bool { return other.name == one.name }) {
			return false
		}
		preset := input.object("default")
		if one.preset = preset.text("value"); one.text() && resolved.has(one.name) {
			one.preset = textIn(resolved.raw(one.name))
		}
		preset.drop("type", "selector")
		x.context = slices.Concat(x.context, input.restOf("input "+one.name), preset.restOf("input "+one.name+" default"))
		x.inputs = append(x.inputs, one)
	}
	x.context = append(x.context, resolved.restOf("default")...)
	return true
}

func (x *difyForm) readButtons(buttons []json.RawMessage) bool {
	for _, raw := range buttons {
		button := objectIn(raw)
		id := button.text("id")
		if id == "" {
			return false
		}
		button.drop("button_style")
		x.buttons = append(x.buttons, actions.OptionItem{Value: quoted(id), Label: button.text("title")})
		x.context = append(x.context, button.restOf("button "+id)...)
	}
	return len(x.buttons) > 0
}

// difyField is where the text of a form has one of its fields.
var difyField = regexp.MustCompile(`\{\{#\$outputs?\.([A-Za-z_][A-Za-z0-9_]*)#\}\}`)

func (x difyForm) question() actions.Question {
	message := firstOf(difyField.ReplaceAllString(x.content, "[$1]"), x.title, "The workflow waits for an answer.")
	q := actions.Question{
		Kind: actions.Choice, Title: firstLine(firstOf(x.title, message)), Message: message, Context: x.context, Options: x.buttons,
		Deadline: x.expires, Actions: offer(actions.Choose),
	}
	if len(x.inputs) == 0 {
		return q
	}
	q.Kind, q.Schema, q.Actions = actions.FormKind, x.schema(), offer(actions.Submit, actions.Choose)
	if slices.ContainsFunc(x.inputs, func(i difyInput) bool { return !i.text() }) {
		q.Options, q.Actions = nil, offer(actions.Submit)
	}
	return q
}

// schema is the form as it is sent: what is filled in, and the button.
func (x difyForm) schema() json.RawMessage {
	var fields list
	var required []string
	for _, i := range x.inputs {
		if i.text() {
			fields = append(fields, entry{i.name, list{{"type", "string"}, {"default", i.preset}}})
			continue
		}
		fields, required = append(fields, entry{i.name, list{{"title", i.name + ", " + i.kind}}}), append(required, i.name)
	}
	inputs := list{{"type", "object"}, {"title", "Inputs"}, {"properties", fields}, {"additionalProperties", false}}
	if len(required) > 0 {
		inputs = append(inputs, entry{"required", required})
	}
	buttons := make([]list, len(x.buttons))
	for i, b := range x.buttons {
		buttons[i] = list{{"const", b.Value}, {"title", firstOf(b.Label, textIn(b.Value))}}
	}
	return must(list{{"type", "object"}, {"properties", list{{"inputs", inputs}, {"action", list{{"title", "Action"}, {"oneOf", buttons}}}}},
		{"required", []string{"inputs", "action"}}, {"additionalProperties", false}})
}

func (x difyForm) answer(given Given) (any, error) {
	if given.Action == actions.Choose {
		inputs := list{}
		for _, i := range x.inputs {
			inputs = append(inputs, entry{i.name, i.preset})
		}
		return list{{"inputs", inputs}, {"action", given.Value}}.with("user", given.By), nil
	}
	var form struct {
		Inputs json.RawMessage `json:"inputs"`
		Action json.RawMessage `json:"action"`
	}
	if json.Unmarshal(given.Value, &form) != nil {
		return nil, cannotSay(given.Action, "the form is not inputs and an action")
	}
	return list{{"inputs", form.Inputs}, {"action", form.Action}}.with("user", given.By), nil
}
