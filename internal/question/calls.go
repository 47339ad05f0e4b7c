package question

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
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
	names, lines := make([]string, len(c)), make([]string, len(c))
	content := make([]map[string]json.RawMessage, len(c))
	var context []actions.Labelled
	for i, one := range c {
		names[i] = one.name
		lines[i] = strings.TrimSpace(fmt.Sprintf("%d. **%s** %s", i+1, one.name, strings.ReplaceAll(one.description, "\n", " ")))
		content[i] = map[string]json.RawMessage{"name": quoted(one.name), "args": orNull(one.args)}
		for _, x := range one.context {
			context = append(context, actions.Labelled{Label: fmt.Sprintf("%d %s", i+1, x.Label), Value: x.Value})
		}
	}
	return actions.Question{
		Kind: actions.FormKind, Title: fmt.Sprintf("%d tool calls: %s", len(c), strings.Join(names, ", ")),
		Message: "The agent wants to make these calls; each gets a verdict of its own.\n\n" + strings.Join(lines, "\n"),
		Content: must(content), ContentType: "json", Context: context, Schema: c.schema(), Actions: offer(c.actions()...),
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

func (c call) question() actions.Question {
	q := actions.Question{
		Kind: actions.Approval, Title: c.name, Message: firstOf(c.description, "The agent wants to call **"+c.name+"**."),
		Content: c.args, ContentType: contentType(c.args), Context: c.context, Actions: offer(c.verdicts...),
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

// The members of one verdict in the form of several.
const (
	decisionKey = "decision"
	argsKey     = "args"
	messageKey  = "message"
)

// schema is the form of several calls: a verdict each, under the number of the call.
func (c calls) schema() json.RawMessage {
	properties := make(list, len(c))
	required := make([]string, len(c))
	for i, one := range c {
		required[i] = strconv.Itoa(i + 1)
		properties[i] = entry{required[i], one.form(required[i] + " " + one.name)}
	}
	return must(list{{"type", "object"}, {"properties", properties}, {"required", required}})
}

func (c call) form(title string) any {
	options := make([]list, len(c.verdicts))
	for i, a := range c.verdicts {
		info, _ := actions.Describe(a)
		options[i] = list{{"const", a}, {"title", info.Title}}
	}
	properties := list{{decisionKey, list{{"title", "Verdict"}, {"oneOf", options}}}}
	out := list{{"type", "object"}, {"title", title}}
	if c.allows(actions.Edit) {
		properties = append(properties, entry{argsKey, list{{"title", "Arguments"}, {"default", orNull(c.args)}}})
	}
	if c.allows(actions.Reject) || c.allows(actions.Respond) {
		properties = append(properties, entry{messageKey, list{{"type", "string"}, {"title", "Message"}}})
	}
	out = append(out, entry{"properties", properties}, entry{"required", []string{decisionKey}}, entry{"additionalProperties", false})
	if c.allows(actions.Respond) {
		responds := list{{"properties", list{{decisionKey, list{{"const", actions.Respond}}}}}, {"required", []string{decisionKey}}}
		says := list{{"properties", list{{messageKey, list{{"minLength", 1}}}}}, {"required", []string{messageKey}}}
		out = append(out, entry{"if", responds}, entry{"then", says})
	}
	return out
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

// submitted reads the form of several. Arguments that were changed make an edit of an approval: what a person wrote is
// not dropped.
func (c calls) submitted(given Given) ([]verdict, error) {
	var form map[string]struct {
		Decision actions.Action  `json:"decision"`
		Args     json.RawMessage `json:"args"`
		Message  string          `json:"message"`
	}
	if err := json.Unmarshal(given.Value, &form); err != nil {
		return nil, cannotSay(given.Action, "the form is not one verdict for each call")
	}
	out := make([]verdict, len(c))
	for i, one := range c {
		x, ok := form[strconv.Itoa(i+1)]
		if !ok || !one.allows(x.Decision) {
			return nil, cannotSay(given.Action, fmt.Sprintf("call %d, %s, has no verdict that it allows", i+1, one.name))
		}
		out[i] = verdict{action: x.Decision, message: x.Message}
		if !one.allows(actions.Edit) {
			continue
		}
		if x.Args == nil {
			x.Args = orNull(one.args)
		}
		if changed := !sameJSON(x.Args, orNull(one.args)); x.Decision == actions.Approve && changed {
			out[i].action = actions.Edit
		}
		out[i].args = x.Args
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
		changed := !sameJSON(orNull(x.Args), orNull(one.args))
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

// sameJSON compares two values without regard to space and the order of keys.
func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return false
	}
	return string(must(x)) == string(must(y))
}
