package question

import (
	"encoding/json"
	"math"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// elicitation is MCP's elicitation/create: its parameters, or the whole request of JSON-RPC.
type elicitation struct {
	id      json.RawMessage // of the request, nil for the parameters alone
	message string
	url     string          // of the URL mode, "" in that of a form
	schema  json.RawMessage // of the form
	context []actions.Labelled
}

func readElicitation(p payload) (asked, bool) {
	o := p.object()
	var x elicitation
	if o.has("method") {
		if o.text("method") != "elicitation/create" {
			return nil, false
		}
		x.id = o.raw("id")
		o.drop("jsonrpc")
		outer := o
		o = o.object("params")
		x.context = outer.rest()
	}
	x.message = o.text("message")
	if !o.has("message") {
		return nil, false
	}
	o.drop("_meta", "elicitationId")
	switch mode := o.text("mode"); {
	case mode == "url":
		x.url = o.text("url")
		x.context = append(labelText("open this address", x.url), append(x.context, o.rest()...)...)
		return x, x.url != ""
	case mode != "form" && o.has("mode"):
		return nil, false
	}
	given := o.raw("requestedSchema")
	if !isObject(given) || objectIn(given).text("type") != "object" {
		return nil, false
	}
	if x.schema = lenient(given); x.schema == nil {
		x.schema = json.RawMessage(`{"type":"object"}`)
		x.context = append(x.context, label("requestedSchema", given)...)
	}
	x.context = append(x.context, o.rest()...)
	return x, true
}

func (x elicitation) question() actions.Question {
	message := firstOf(x.message, "A server asks for input.")
	q := actions.Question{
		Kind: actions.FormKind, Title: firstLine(message), Message: message, Schema: x.schema, Context: x.context,
		Actions: offer(actions.Submit, actions.Reject, actions.Cancel),
	}
	if x.url != "" {
		q.Kind, q.Actions = actions.Approval, offer(actions.Approve, actions.Reject, actions.Cancel)
	}
	return q
}

func (x elicitation) answer(given Given) (any, error) {
	var result list
	switch given.Action {
	case actions.Submit:
		result = list{{"action", "accept"}, {"content", given.Value}}
	case actions.Approve:
		result = list{{"action", "accept"}}
	case actions.Reject:
		result = list{{"action", "decline"}}
	default:
		result = list{{"action", "cancel"}}
	}
	if x.id == nil {
		return result, nil
	}
	return list{{"jsonrpc", "2.0"}, {"id", x.id}, {"result", result}}, nil
}

// taskEnd is when a server may forget a task, whatever waits in it: its ttl, now called ttlMs, counts from its creation.
// nil for never.
func taskEnd(o *object) *time.Time {
	o.drop("lastUpdatedAt", "pollInterval", "pollIntervalMs")
	task := object{members: o.members}
	created := task.deadline("createdAt")
	var ms int64
	if created == nil || json.Unmarshal(task.raw("ttl", "ttlMs"), &ms) != nil || ms <= 0 || ms > math.MaxInt64/int64(time.Millisecond) {
		return nil
	}
	o.drop("createdAt", "ttl", "ttlMs")
	return instant(created.Add(time.Duration(ms) * time.Millisecond))
}

// readInputRequired reads the result with which a server asks before it goes on, and a task that waits for input.
func readInputRequired(p payload) (asked, bool) {
	o := p.object()
	b := bundle{}
	if o.has("jsonrpc") && o.has("result") {
		outer := o
		o = o.object("result")
		outer.drop("jsonrpc", "id")
		b.context = outer.rest()
	}
	if o.text("resultType") != "input_required" && o.text("status") != "input_required" {
		return nil, false
	}
	requests := o.object("inputRequests")
	state := o.raw("requestState")
	o.drop("_meta", "resultType", "status")
	keys := make([]string, len(requests.members))
	for i, m := range requests.members {
		x, ok := readElicitation(newPayload(m.value))
		if !ok || objectIn(m.value).text("method") != "elicitation/create" {
			return nil, false // an answer that a person can give to a part of them is none
		}
		keys[i] = m.name
		b.parts = append(b.parts, newInner(m.value, x, mcpFormat()))
	}
	b.deadline = taskEnd(o)
	b.context = append(b.context, o.rest()...)
	b.title = several(len(keys), "questions")
	b.join = func(answers []any) any {
		return list{{"inputResponses", keyed(keys, answers)}}.with("requestState", state)
	}
	return b, len(keys) > 0 && !b.secretAmongOthers()
}
