package question

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// agentApprovals is Microsoft Agent Framework's requests to approve function calls: one, or all of a response.
type agentApprovals struct {
	calls
	ids   []string
	given []json.RawMessage // the function_call of each, which goes back as it came
	many  bool
}

func readAgentApproval(p payload) (asked, bool) {
	x := agentApprovals{many: p.members == nil}
	for _, o := range p.objects() {
		id, function := o.text("id"), o.raw("function_call")
		if o.text("type") != "function_approval_request" || id == "" {
			return nil, false
		}
		item := objectIn(function)
		c := call{name: item.text("name"), verdicts: []actions.Action{actions.Approve, actions.Reject}}
		if c.name == "" {
			return nil, false
		}
		item.drop("type", "call_id")
		c.args = argumentsOf(item)
		o.drop("user_input_request")
		c.context = append(item.rest(), o.rest()...)
		x.calls, x.ids, x.given = append(x.calls, c), append(x.ids, id), append(x.given, function)
	}
	return x, len(x.calls) > 0
}

func (x agentApprovals) answer(given Given) (any, error) {
	verdicts, err := x.decide(given)
	if err != nil {
		return nil, err
	}
	out := make([]list, len(verdicts))
	for i, v := range verdicts {
		out[i] = list{{"type", "function_approval_response"}, {"id", x.ids[i]}, {"approved", v.action == actions.Approve}, {"function_call", x.given[i]}}
	}
	if x.many {
		return out, nil
	}
	return out[0], nil
}

// readAgentRequest reads the request of a workflow of Agent Framework: the event, or those that a checkpoint lists as
// pending.
func readAgentRequest(p payload) (asked, bool) {
	b := bundle{}
	var requests []*object
	if o := p.object(); o.has("pending_request_info_events") {
		for _, m := range o.object("pending_request_info_events").members {
			requests = append(requests, objectIn(m.value))
		}
		o.drop("workflow_name", "graph_signature_hash", "checkpoint_id", "previous_checkpoint_id", "timestamp", "iteration_count", "version")
		b.context = o.rest()
	} else {
		requests = p.objects()
	}
	var ids []string
	for _, o := range requests {
		id := o.text("request_id")
		if id == "" || !o.has("data") || o.text("type") != "request_info" && !o.has("source_executor_id") {
			return nil, false
		}
		ids = append(ids, id)
		b.parts = append(b.parts, agentRequest(o))
	}
	if len(ids) == 0 || hasTwice(ids) {
		return nil, false
	}
	b.title = several(len(ids), "requests")
	b.join = func(answers []any) any { return keyed(ids, answers) }
	return b, !b.secretAmongOthers()
}

// agentRequest is one request: a payload that is known by itself, else what the type of the response makes of it.
func agentRequest(o *object) inner {
	data := o.raw("data")
	known := within(data)
	o.drop("type")
	if known.words.Shape != Unknown {
		o.drop("request_type", "response_type") // they name what is known
		known.q.Context = append(slices.Clone(known.q.Context), o.rest()...)
		return known
	}
	x := typedRequest{data: data, responseType: o.text("response_type")}
	x.context = o.rest()
	var offered []Word
	for _, a := range x.question().Actions {
		if a != actions.Retry && a != actions.Stop && a != actions.Cancel {
			offered = append(offered, Word{Action: a})
		}
	}
	return newInner(data, x, Format{Words: offered})
}

// typedRequest is a request whose data is of no known shape; the name of the type of its response is known.
type typedRequest struct {
	data         json.RawMessage
	responseType string
	context      []actions.Labelled
}

func (x typedRequest) question() actions.Question {
	shown := unknown(x.data)
	q := actions.Question{
		Kind: actions.Text, Title: firstOf(shown.Title, "A workflow needs a response"), Content: shown.Content, ContentType: shown.ContentType, Context: x.context,
	}
	q.Message = firstOf(q.Title)
	if text := textIn(x.data); shown.ContentType == "text" && strings.TrimSpace(text) != "" {
		q.Message, q.Content, q.ContentType = text, nil, ""
	}
	switch name := x.responseType[strings.LastIndexAny(x.responseType, ".:")+1:]; name {
	case "str":
		q.Actions = offer(actions.Respond, actions.TextInput)
	case "int":
		q.Actions, q.Schema = offer(actions.Respond), json.RawMessage(`{"type":"integer"}`)
	case "float":
		q.Actions, q.Schema = offer(actions.Respond), json.RawMessage(`{"type":"number"}`)
	case "bool":
		q.Kind, q.Options, q.Actions = actions.Choice, yesOrNo(), offer(actions.Choose)
	default:
		q.Kind, q.Actions = actions.Suspend, offer(actions.Continue, actions.Respond, actions.Submit)
		q.Context = append(labelText("response_type", x.responseType), x.context...)
	}
	return q
}

func (x typedRequest) answer(given Given) (any, error) { return orNull(given.Value), nil }
