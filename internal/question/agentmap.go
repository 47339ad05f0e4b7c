package question

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// interaction is a question of AgentMap: the stored HumanInteractionRequest, the payload of its human agent's
// interrupt, or that of its suspend agent.
type interaction struct {
	id      string // of the stored request, "" for an interrupt
	thread  string
	node    string
	kind    string
	prompt  string
	options []actions.OptionItem
	content json.RawMessage // of an edit: the original
	timeout float64         // seconds, 0 for none
	context []actions.Labelled
}

// agentMapSuspend is the kind of a pause without a question.
const agentMapSuspend = "suspend"

func readInteraction(p payload) (asked, bool) {
	o := p.object()
	var x interaction
	switch o.text("type") {
	case "human_interaction":
	case agentMapSuspend:
		x.kind = agentMapSuspend
	default:
		if x.id = o.text("id"); x.id == "" || o.has("type") {
			return nil, false
		}
	}
	x.thread, x.node = o.text("thread_id"), o.text("node_name")
	x.prompt = o.text("prompt")
	if x.kind == "" {
		x.kind = o.text("interaction_type")
	}
	inputs := o.object("inputs")
	switch x.kind {
	case "edit":
		x.content = inputs.raw("original")
	case "approval", "choice", "text_input", "conversation":
	case agentMapSuspend:
		if !o.has("inputs") && !o.has("context") {
			return nil, false
		}
	default:
		return nil, false
	}
	if !o.has("thread_id") || !o.has("node_name") {
		return nil, false
	}
	if x.kind == "choice" { // else they are context
		for _, raw := range o.list("options") {
			x.options = append(x.options, actions.OptionItem{Value: raw})
		}
	}
	if raw := o.raw("timeout_seconds"); raw != nil && (json.Unmarshal(raw, &x.timeout) != nil || x.timeout < 0) {
		return nil, false
	}
	o.drop("created_at", "status")
	x.context = append(labelText("node", x.node), inputs.rest()...)
	around := o.object("context")
	around.drop("interaction_type", "options", "timeout_seconds") // of the node, told above
	x.context = append(append(x.context, around.rest()...), o.rest()...)
	return x, true
}

func (x interaction) question() actions.Question {
	q := actions.Question{
		Title: firstLine(firstOf(x.prompt, x.node)), Message: firstOf(x.prompt, "AgentMap waits at "+x.node+"."), Context: x.context,
		TimeoutMS: int64(min(x.timeout*1000, math.MaxInt64/float64(2*time.Millisecond))),
	}
	switch x.kind {
	case "approval":
		q.Kind, q.Actions = actions.Approval, offer(actions.Approve, actions.Reject, actions.Cancel)
	case "choice":
		q.Kind, q.Options, q.Actions = actions.Choice, x.options, offer(actions.Choose, actions.Cancel)
		if len(x.options) == 0 {
			q.Kind, q.Actions = actions.Text, offer(actions.Respond, actions.Cancel)
		}
	case "edit":
		q.Kind, q.Content, q.Actions = actions.EditKind, x.content, offer(actions.Edit, actions.Save, actions.Approve, actions.Cancel)
		if x.content == nil {
			q.Content = json.RawMessage(`""`)
		}
		q.ContentType = contentType(q.Content)
	case "conversation":
		q.Kind, q.Actions = actions.Text, offer(actions.Reply, actions.Continue, actions.End, actions.Cancel)
	case agentMapSuspend:
		q.Kind = actions.Suspend
		q.Actions = offer(actions.Continue, actions.Approve, actions.Reject, actions.Respond, actions.Submit, actions.Skip, actions.End, actions.Cancel)
	default:
		q.Kind, q.Actions = actions.Text, offer(actions.TextInput, actions.Respond, actions.Cancel)
	}
	return q
}

// answer is the HumanInteractionResponse of a stored request, and the value that resumes an interrupt. The data stand
// under the one key which AgentMap's human agent reads.
func (x interaction) answer(given Given) (any, error) {
	data, err := x.data(given)
	if err != nil {
		return nil, err
	}
	out := list{}.with("request_id", x.id)
	out = append(out, entry{"action", string(given.Action)}, entry{"data", data})
	if x.id != "" {
		out = append(out, entry{"timestamp", given.At.UTC().Format(time.RFC3339Nano)})
	}
	return out, nil
}

func (x interaction) data(given Given) (any, error) {
	switch given.Action {
	case actions.Choose:
		for i, o := range x.options {
			if actions.SameJSON(o.Value, given.Value) {
				return list{{"choice", i + 1}}, nil
			}
		}
		return nil, cannotSay(given.Action, fmt.Sprintf("%s is none of the options", given.Value))
	case actions.Edit, actions.Save:
		return list{{"edited", given.Value}}, nil
	case actions.Approve:
		if x.kind == "edit" {
			return list{{"edited", given.Value}}, nil
		}
	case actions.Respond, actions.TextInput, actions.Reply:
		return list{{"text", textIn(given.Value)}}, nil
	case actions.End:
		if !isNull(given.Value) {
			return list{{"text", textIn(given.Value)}}, nil
		}
	case actions.Continue, actions.Submit:
		return given.Value, nil
	}
	return list{}.with("comment", given.Comment), nil
}
