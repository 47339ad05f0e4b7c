package question

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// call is one tool call that waits for a verdict.
type call struct {
	name        string
	args        json.RawMessage
	description string
	schema      json.RawMessage  // of args, nil for none
	verdicts    []actions.Action // among approve, edit, reject, respond and skip, in the order shown
	context     []actions.Labelled
}

func (c call) allows(a actions.Action) bool { return slices.Contains(c.verdicts, a) }

// verdict is what was decided about one call.
type verdict struct {
	action  actions.Action
	args    json.RawMessage // of edit
	message string          // of reject and respond
}

// calls is one payload with one or several tool calls. One is a question like any other. Several are a form with a
// verdict each, and what all of them allow can be said to all at once; edit then takes the list of all calls, of which
// those that were changed are edited and the others approved.
type calls []call

func (c calls) question() actions.Question {
	if len(c) == 1 {
		return c[0].question()
	}
	names, lines, parts := make([]string, len(c)), make([]string, len(c)), make([]actions.Question, len(c))
	content := make([]map[string]json.RawMessage, len(c))
	var context []actions.Labelled
	for i, one := range c {
		names[i], parts[i] = one.name, one.part()
		lines[i] = strings.TrimSpace(fmt.Sprintf("%d. **%s** %s", i+1, one.name, strings.ReplaceAll(one.description, "\n", " ")))
		content[i] = map[string]json.RawMessage{"name": quoted(one.name), "args": orNull(one.args)}
		for _, x := range one.context {
			context = append(context, actions.Labelled{Label: fmt.Sprintf("%d %s", i+1, x.Label), Value: x.Value})
		}
	}
	return actions.Question{
		Kind: actions.FormKind, Title: fmt.Sprintf("%d tool calls: %s", len(c), strings.Join(names, ", ")),
		Message: "The agent wants to make these calls; each gets a verdict of its own.\n\n" + strings.Join(lines, "\n"),
		Content: must(content), ContentType: "json", Context: context, Schema: partsSchema(parts, "Arguments"), Actions: offer(c.actions()...), Parts: parts,
	}
}

// actions is submit, for a verdict each, and what can be said to all at once.
func (c calls) actions() []actions.Action {
	out := []actions.Action{actions.Submit}
	for _, a := range []actions.Action{actions.Approve, actions.Reject, actions.Respond, actions.Skip} {
		if !slices.ContainsFunc(c, func(one call) bool { return !one.allows(a) }) {
			out = append(out, a)
		}
	}
	changes := func(one call) bool { return one.allows(actions.Edit) }
	passes := func(one call) bool { return !one.allows(actions.Edit) && !one.allows(actions.Approve) }
	if slices.ContainsFunc(c, changes) && !slices.ContainsFunc(c, passes) {
		out = append(out, actions.Edit)
	}
	return out
}

// question is a call that is asked about alone.
func (c call) question() actions.Question {
	q := c.part()
	q.Actions = offer(q.Actions...)
	return q
}

// part is a call with its own verdict among others.
func (c call) part() actions.Question {
	q := actions.Question{
		Kind: actions.Approval, Title: c.name, Message: firstOf(c.description, "The agent wants to call **"+c.name+"**."),
		Content: c.args, ContentType: contentType(c.args), Context: c.context, Actions: slices.Clone(c.verdicts),
	}
	if c.allows(actions.Edit) {
		q.Kind, q.Content = actions.EditKind, orNull(c.args)
		q.Schema = c.schema
	}
	return q
}

func orNull(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return json.RawMessage("null")
	}
	return raw
}

// decide is the verdict on each call.
func (c calls) decide(given Given) ([]verdict, error) {
	all := verdict{action: given.Action, message: given.Comment}
	switch given.Action {
	case actions.Submit:
		return c.submitted(given)
	case actions.Edit:
		if len(c) > 1 {
			return c.edited(given)
		}
		all.args = given.Value
	case actions.Respond:
		all.message = textIn(given.Value)
	}
	return slices.Repeat([]verdict{all}, len(c)), nil
}

// submitted reads the form of several.
func (c calls) submitted(given Given) ([]verdict, error) {
	answers, err := c.question().Verdicts(given.Value)
	if err != nil {
		return nil, err
	}
	out := make([]verdict, len(c))
	for i, a := range answers {
		out[i] = verdict{action: a.Action, message: a.Comment}
		switch a.Action {
		case actions.Edit:
			out[i].args = a.Value
		case actions.Respond:
			out[i].message = textIn(a.Value)
		}
	}
	return out, nil
}

// edited reads the list of all calls.
func (c calls) edited(given Given) ([]verdict, error) {
	var list []struct {
		Name string          `json:"name"`
		Args json.RawMessage `json:"args"`
	}
	if json.Unmarshal(given.Value, &list) != nil || len(list) != len(c) {
		return nil, cannotSay(given.Action, fmt.Sprintf("the edited content must be the list of all %d calls", len(c)))
	}
	out := make([]verdict, len(c))
	for i, one := range c {
		x := list[i]
		changed := !actions.SameJSON(orNull(x.Args), orNull(one.args))
		switch {
		case x.Name != one.name:
			return nil, cannotSay(given.Action, fmt.Sprintf("call %d is %s and must stay so; only its arguments can be edited", i+1, one.name))
		case changed && !one.allows(actions.Edit):
			return nil, cannotSay(given.Action, fmt.Sprintf("the arguments of call %d, %s, must not be edited", i+1, one.name))
		case changed || !one.allows(actions.Approve):
			out[i] = verdict{action: actions.Edit, args: orNull(x.Args)}
		default:
			out[i] = verdict{action: actions.Approve}
		}
	}
	return out, nil
}
