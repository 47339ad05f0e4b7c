package question

import (
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// humanLayer is what the two questions of HumanLayer's SDK have in common.
type humanLayer struct {
	callID    string
	requested json.RawMessage // when, as it was written
	options   []responseOption
	context   []actions.Labelled
}

// responseOption is an answer that its asker prepared.
type responseOption struct{ name, title, description, fill string }

func readHumanLayer(p payload, options string) (humanLayer, *object, bool) {
	o := p.object()
	spec := o.object("spec")
	x := humanLayer{callID: o.text("call_id")}
	if x.callID == "" || o.text("run_id") == "" || spec.members == nil {
		return x, nil, false
	}
	status := o.object("status")
	if status.raw("responded_at") != nil {
		return x, nil, false // it is answered
	}
	x.requested = status.raw("requested_at")
	status.drop("slack_message_ts")
	for _, raw := range spec.list(options) {
		option := objectIn(raw)
		one := responseOption{name: option.text("name"), title: option.text("title"), description: option.text("description"), fill: option.text("prompt_fill")}
		if one.name == "" {
			return x, nil, false
		}
		option.drop("interactive") // whatever it says, words of one's own can go with it
		x.options = append(x.options, one)
		x.context = append(x.context, option.restOf("option "+one.name)...)
	}
	x.context = slices.Concat(x.context, status.restOf("status"), o.rest())
	return x, spec, true
}

// items are the prepared answers, to choose from.
func (x humanLayer) items(before string) []actions.OptionItem {
	var out []actions.OptionItem
	for _, o := range x.options {
		said := slices.DeleteFunc([]string{o.description, o.fill}, func(s string) bool { return s == "" })
		out = append(out, actions.OptionItem{Value: quoted(o.name), Label: before + firstOf(o.title, o.name), Description: strings.Join(said, ": ")})
	}
	return out
}

func (x humanLayer) chosen(value json.RawMessage) responseOption {
	for _, o := range x.options {
		if o.name == textIn(value) {
			return o
		}
	}
	return responseOption{}
}

// status is the beginning of the status that answers.
func (x humanLayer) status(given Given) list {
	return list{}.with("requested_at", x.requested).with("responded_at", given.At.UTC().Format(time.RFC3339Nano))
}

// functionCall is a FunctionCall that waits for approval.
type functionCall struct {
	humanLayer
	fn   string
	args json.RawMessage
}

func readFunctionCall(p payload) (asked, bool) {
	common, spec, ok := readHumanLayer(p, "reject_options")
	if !ok {
		return nil, false
	}
	x := functionCall{humanLayer: common, fn: spec.text("fn"), args: spec.raw("kwargs")}
	x.context = append(spec.rest(), x.context...)
	return x, x.fn != "" && isObject(x.args)
}

func (x functionCall) question() actions.Question {
	q := actions.Question{
		Kind: actions.Approval, Title: x.fn, Message: "The agent wants to call **" + x.fn + "**.", Content: x.args, ContentType: "json",
		Context: x.context, Actions: offer(actions.Approve, actions.Reject), RequireComment: []actions.Action{actions.Reject},
	}
	if len(x.options) > 0 {
		q.Options, q.Actions = x.items("Reject: "), offer(actions.Approve, actions.Reject, actions.Choose)
	}
	return q
}

func (x functionCall) answer(given Given) (any, error) {
	out := append(x.status(given), entry{"approved", given.Action == actions.Approve})
	if given.Action == actions.Choose {
		o := x.chosen(given.Value)
		return out.with("comment", firstOf(given.Comment, o.fill, o.title, o.name)).with("reject_option_name", o.name), nil
	}
	return out.with("comment", given.Comment), nil
}

// humanContact is a HumanContact: a question in words.
type humanContact struct {
	humanLayer
	message, subject string
}

func readHumanContact(p payload) (asked, bool) {
	common, spec, ok := readHumanLayer(p, "response_options")
	if !ok {
		return nil, false
	}
	x := humanContact{humanLayer: common, message: spec.text("msg"), subject: spec.text("subject")}
	x.context = append(spec.rest(), x.context...)
	return x, x.message != ""
}

func (x humanContact) question() actions.Question {
	q := actions.Question{
		Kind: actions.Text, Title: firstLine(firstOf(x.subject, x.message)), Message: x.message, Context: x.context, Actions: offer(actions.Respond),
	}
	if len(x.options) > 0 {
		q.Kind, q.Options, q.Actions = actions.Choice, x.items(""), offer(actions.Choose, actions.Respond)
	}
	return q
}

func (x humanContact) answer(given Given) (any, error) {
	if given.Action == actions.Choose {
		o := x.chosen(given.Value)
		return append(x.status(given), entry{"response", firstOf(given.Comment, o.fill, o.title, o.name)}, entry{"response_option_name", o.name}), nil
	}
	return append(x.status(given), entry{"response", textIn(given.Value)}), nil
}

// toolApproval is an approval of HumanLayer's daemon.
type toolApproval struct {
	id, tool string
	input    json.RawMessage
	context  []actions.Labelled
}

func readToolApproval(p payload) (asked, bool) {
	o := p.object()
	x := toolApproval{id: o.text("id"), tool: o.text("tool_name"), input: o.raw("tool_input")}
	if x.id == "" || x.tool == "" || !o.has("tool_input") || o.text("session_id") == "" || o.text("status") != "pending" {
		return nil, false
	}
	if text := textIn(x.input); json.Valid([]byte(text)) && x.input != nil {
		x.input = json.RawMessage(text) // it is kept as JSON within a text
	}
	o.drop("run_id", "created_at")
	x.context = o.rest()
	return x, true
}

func (x toolApproval) question() actions.Question {
	return actions.Question{
		Kind: actions.Approval, Title: x.tool, Message: "The agent wants to use **" + x.tool + "**.", Content: x.input, ContentType: contentType(x.input),
		Context: x.context, Actions: offer(actions.Approve, actions.Reject), RequireComment: []actions.Action{actions.Reject},
	}
}

func (x toolApproval) answer(given Given) (any, error) {
	decision := "approve"
	if given.Action == actions.Reject {
		decision = "deny"
	}
	return list{{"approval_id", x.id}, {"decision", decision}}.with("comment", given.Comment), nil
}
