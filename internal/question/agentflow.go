package question

import (
	"encoding/json"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// gate is AgentFlow's quality gate: an artifact to accept or to reject.
type gate struct {
	artifact json.RawMessage
	name     string
	context  []actions.Labelled
}

func readGate(p payload) (asked, bool) {
	o := p.object()
	if o.text("type") != "quality_gate" || !o.has("artifact") {
		return nil, false
	}
	x := gate{artifact: o.raw("artifact"), name: o.text("gate")}
	x.context = o.rest()
	return x, true
}

func (x gate) question() actions.Question {
	title := "Quality gate"
	if x.name != "" {
		title += " " + x.name
	}
	return actions.Question{
		Kind: actions.Approval, Title: title, Message: "Is this good enough?", Content: orNull(x.artifact), ContentType: contentType(x.artifact),
		Context: x.context, Actions: offer(actions.Approve, actions.Reject),
	}
}

func (x gate) answer(given Given) (any, error) {
	decision := "accept"
	if given.Action == actions.Reject {
		decision = "reject"
	}
	return list{{"decision", decision}}.with("feedback", given.Comment), nil
}

// clarification is AgentFlow's question in words, with options that close the set of answers, or none.
type clarification struct {
	text    string
	options []actions.OptionItem
	context []actions.Labelled
}

func readClarification(p payload) (asked, bool) {
	o := p.object()
	x := clarification{text: o.text("question")}
	if o.text("type") != "clarification" || x.text == "" {
		return nil, false
	}
	for _, raw := range o.list("options") {
		x.options = append(x.options, actions.OptionItem{Value: raw})
	}
	x.context = append(o.object("context").rest(), o.rest()...)
	return x, true
}

func (x clarification) question() actions.Question {
	q := actions.Question{Kind: actions.Text, Title: firstLine(x.text), Message: x.text, Context: x.context, Actions: offer(actions.Respond)}
	if len(x.options) > 0 {
		q.Kind, q.Options, q.Actions = actions.Choice, x.options, offer(actions.Choose)
	}
	return q
}

func (x clarification) answer(given Given) (any, error) { return given.Value, nil }

// permission is AgentFlow's PermissionRequest: a tool, and what can be answered. The answer is the id of an option.
type permission struct {
	tool    string
	args    json.RawMessage
	options []actions.OptionItem
	allow   json.RawMessage // the first option that allows, and not for ever; nil for none
	refuse  json.RawMessage
	context []actions.Labelled
}

func readPermission(p payload) (asked, bool) {
	o := p.object()
	if kind := o.text("type"); kind != "permission" && o.has("type") {
		return nil, false
	}
	x := permission{tool: o.text("tool")}
	if x.tool == "" {
		x.tool = firstOf(o.object("tool").text("title"), o.object("tool").text("name"))
		x.args = o.raw("tool")
	}
	options := o.list("options")
	if x.tool == "" || len(options) == 0 || o.text("id") == "" {
		return nil, false
	}
	for _, raw := range options {
		option := objectIn(raw)
		item := actions.OptionItem{Value: raw}
		if isObject(raw) {
			item = actions.OptionItem{Value: quoted(firstOf(option.text("option_id", "optionId"), option.text("id"))), Label: option.text("name", "label")}
			item.Description = firstOf(option.text("description"), option.text("kind"))
		}
		id := textIn(item.Value)
		if id == "" || !strings.HasPrefix(string(item.Value), `"`) {
			return nil, false
		}
		x.options = append(x.options, item)
		switch kind := strings.ToLower(firstOf(option.text("kind"), id)); {
		case strings.Contains(kind, "always"): // approving this once must not be heard as for ever
		case x.allow == nil && strings.HasPrefix(kind, "allow"):
			x.allow = item.Value
		case x.refuse == nil && (strings.HasPrefix(kind, "reject") || strings.HasPrefix(kind, "deny")):
			x.refuse = item.Value
		}
		x.context = append(x.context, option.restOf("option "+id)...)
	}
	x.context = append(x.context, o.rest()...)
	return x, true
}

func (x permission) question() actions.Question {
	words := []actions.Action{actions.Choose}
	if x.refuse != nil {
		words = append([]actions.Action{actions.Reject}, words...)
	}
	if x.allow != nil {
		words = append([]actions.Action{actions.Approve}, words...)
	}
	q := actions.Question{
		Kind: actions.Choice, Title: x.tool, Message: "May the agent use **" + x.tool + "**?", Content: x.args, Options: x.options,
		Context: x.context, Actions: offer(words...),
	}
	if x.args != nil {
		q.ContentType = "json"
	}
	return q
}

func (x permission) answer(given Given) (any, error) {
	switch given.Action {
	case actions.Approve:
		return x.allow, nil
	case actions.Reject:
		return x.refuse, nil
	}
	return given.Value, nil
}
