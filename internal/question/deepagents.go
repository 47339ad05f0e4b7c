package question

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// askUser is the ask_user of deepagents: one question or several, answered together.
type askUser struct {
	items   []askItem
	context []actions.Labelled
}

type askItem struct {
	text     string
	kind     string // text, multiple_choice, multi_select
	options  []actions.OptionItem
	required bool
}

const (
	askText   = "text"
	askChoice = "multiple_choice"
	askMany   = "multi_select"
)

func readAskUser(p payload) (asked, bool) {
	o := p.object()
	var x askUser
	if o.text("type") != "ask_user" {
		return nil, false
	}
	for _, raw := range o.list("questions") {
		item, ok := readAskItem(objectIn(raw))
		if !ok {
			return nil, false
		}
		x.items = append(x.items, item)
	}
	o.drop("tool_call_id")
	x.context = o.rest()
	return x, len(x.items) > 0
}

func readAskItem(o *object) (askItem, bool) {
	item := askItem{text: o.text("question"), kind: firstOf(o.text("type"), askText), required: true}
	if raw := o.raw("required"); raw != nil && json.Unmarshal(raw, &item.required) != nil {
		return item, false
	}
	for _, raw := range o.list("choices") {
		value := textIn(raw)
		if isObject(raw) {
			value = objectIn(raw).text("value")
		}
		if value == "" {
			return item, false
		}
		item.options = append(item.options, actions.OptionItem{Value: quoted(value)})
	}
	switch item.kind {
	case askText:
		return item, item.text != ""
	case askChoice, askMany:
		return item, item.text != "" && len(item.options) > 0
	}
	return item, false
}

func (x askUser) question() actions.Question {
	if len(x.items) == 1 {
		return x.single()
	}
	lines := make([]string, len(x.items))
	for i, item := range x.items {
		lines[i] = fmt.Sprintf("%d. %s", i+1, strings.ReplaceAll(item.text, "\n", " "))
	}
	return actions.Question{
		Kind: actions.FormKind, Title: fmt.Sprintf("%d questions", len(x.items)), Message: strings.Join(lines, "\n"),
		Context: x.context, Schema: x.schema(), Actions: offer(actions.Submit, actions.Cancel),
	}
}

// single is one question alone. What was not offered can be answered too, in words.
func (x askUser) single() actions.Question {
	item := x.items[0]
	q := actions.Question{
		Kind: actions.Text, Title: firstLine(item.text), Message: item.text, Context: x.context,
		Actions: offer(actions.Respond, actions.Cancel),
	}
	switch {
	case item.kind != askText:
		q.Kind, q.Options, q.Multiple = actions.Choice, item.options, item.kind == askMany
		q.Actions = offer(actions.Choose, actions.Respond, actions.Cancel)
	case !item.required:
		q.Actions = offer(actions.TextInput, actions.Respond, actions.Cancel)
	}
	return q
}

// otherKey is the field for an answer that was not offered.
func otherKey(n string) string { return n + "_other" }

// schema is the form of several questions, each under its number.
func (x askUser) schema() json.RawMessage {
	var properties list
	var required []string
	var either []list
	for i, item := range x.items {
		n := strconv.Itoa(i + 1)
		title := n + " " + item.text
		if item.kind == askText {
			field := list{{"type", "string"}, {"title", title}}
			if item.required {
				field, required = append(field, entry{"minLength", 1}), append(required, n)
			}
			properties = append(properties, entry{n, field})
			continue
		}
		values := make([]json.RawMessage, len(item.options))
		for j, o := range item.options {
			values[j] = o.Value
		}
		field := list{{"title", title}, {"enum", values}}
		if item.kind == askMany {
			field = list{{"type", "array"}, {"title", title}, {"items", list{{"enum", values}}}}
		}
		other := list{{"type", "string"}, {"title", n + " or in your words"}, {"minLength", 1}}
		properties = append(properties, entry{n, field}, entry{otherKey(n), other})
		if item.required {
			either = append(either, list{{"anyOf", []list{{{"required", []string{n}}}, {{"required", []string{otherKey(n)}}}}}})
		}
	}
	schema := list{{"type", "object"}, {"properties", properties}, {"additionalProperties", false}}
	if len(required) > 0 {
		schema = append(schema, entry{"required", required})
	}
	if len(either) > 0 {
		schema = append(schema, entry{"allOf", either})
	}
	return must(schema)
}

func (x askUser) answer(given Given) (any, error) {
	if given.Action == actions.Cancel {
		return list{{"type", "cancelled"}}, nil
	}
	answers := make([]string, len(x.items))
	if given.Action != actions.Submit {
		answers[0] = x.items[0].say(given.Value, given.Action == actions.Choose)
		return list{{"type", "answered"}, {"answers", answers}}, nil
	}
	var form map[string]json.RawMessage
	if err := json.Unmarshal(given.Value, &form); err != nil {
		return nil, cannotSay(given.Action, "the form is not one answer for each question")
	}
	for i, item := range x.items {
		n := strconv.Itoa(i + 1)
		value, chosen := form[n]
		other, written := form[otherKey(n)]
		switch {
		case written && item.kind == askMany && chosen:
			var all []json.RawMessage
			if json.Unmarshal(value, &all) != nil {
				return nil, cannotSay(given.Action, "answer "+n+" is not a list")
			}
			answers[i] = string(must(append(all, other)))
		case written:
			answers[i] = item.say(other, false)
		case chosen:
			answers[i] = item.say(value, item.kind != askText)
		}
	}
	return list{{"type", "answered"}, {"answers", answers}}, nil
}

// say is an answer as the text that deepagents reads: of several choices a JSON list.
func (i askItem) say(value json.RawMessage, chosen bool) string {
	if i.kind == askMany && !chosen {
		return string(must([]json.RawMessage{value}))
	}
	return textIn(value)
}
