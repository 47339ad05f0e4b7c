package question

import (
	"encoding/json"
	"fmt"
	"slices"
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
	context  []actions.Labelled
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
		value, choice := textIn(raw), objectIn(raw)
		if isObject(raw) {
			value = choice.text("value")
		}
		if value == "" {
			return item, false
		}
		item.options = append(item.options, actions.OptionItem{Value: quoted(value), Label: choice.text("label"), Description: choice.text("description")})
		item.context = append(item.context, choice.restOf("choice "+value)...)
	}
	item.context = append(item.context, o.rest()...)
	switch item.kind {
	case askText:
		return item, item.text != ""
	case askChoice, askMany:
		return item, item.text != "" && len(item.options) > 0
	}
	return item, false
}

func (x askUser) question() actions.Question {
	parts := make([]actions.Question, len(x.items))
	names, lines := make([]string, len(x.items)), make([]string, len(x.items))
	for i, item := range x.items {
		parts[i], names[i] = item.question(), firstLine(item.text)
		lines[i] = fmt.Sprintf("%d. %s", i+1, strings.ReplaceAll(item.text, "\n", " "))
	}
	if len(parts) == 1 {
		q := parts[0]
		q.Context, q.Actions = append(slices.Clone(q.Context), x.context...), offer(append(q.Actions, actions.Cancel)...)
		return q
	}
	words := []actions.Action{actions.Submit}
	if !slices.ContainsFunc(x.items, func(item askItem) bool { return item.required }) {
		words = append(words, actions.Skip)
	}
	return actions.Question{
		Kind: actions.FormKind, Title: fmt.Sprintf("%d questions: %s", len(parts), strings.Join(names, ", ")), Message: strings.Join(lines, "\n"),
		Context: x.context, Schema: partsSchema(parts, "Answer"), Actions: offer(append(words, actions.Cancel)...), Parts: parts,
	}
}

// question is one of them. What was not offered can be answered too, in words.
func (i askItem) question() actions.Question {
	q := actions.Question{Kind: actions.Text, Title: firstLine(i.text), Message: i.text, Context: i.context, Actions: []actions.Action{actions.Respond}}
	if i.kind != askText {
		q.Kind, q.Options, q.Multiple = actions.Choice, i.options, i.kind == askMany
		q.Actions = []actions.Action{actions.Choose, actions.Respond}
	}
	if !i.required {
		q.Actions = append(q.Actions, actions.Skip)
	}
	return q
}

func (x askUser) answer(given Given) (any, error) {
	if given.Action == actions.Cancel {
		return list{{"type", "cancelled"}}, nil
	}
	each := slices.Repeat([]actions.Answer{given.Answer}, len(x.items))
	if given.Action == actions.Submit {
		var err error
		if each, err = x.question().Verdicts(given.Value); err != nil {
			return nil, err
		}
	}
	answers := make([]string, len(each))
	for i, a := range each {
		answers[i] = x.items[i].say(a)
	}
	return list{{"type", "answered"}, {"answers", answers}}, nil
}

// say is an answer as the text that deepagents reads: of several choices a JSON list, the comment among them as what was
// not offered.
func (i askItem) say(a actions.Answer) string {
	switch {
	case a.Action == actions.Skip:
		return ""
	case i.kind != askMany:
		return textIn(a.Value)
	case a.Action == actions.Respond:
		return string(must([]json.RawMessage{a.Value}))
	}
	var chosen []json.RawMessage
	if a.Comment != "" && json.Unmarshal(a.Value, &chosen) == nil {
		return string(must(append(chosen, quoted(a.Comment))))
	}
	return textIn(a.Value)
}
