package question

import (
	"encoding/json"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// The names of the function calls with which ADK asks.
const (
	adkInput        = "adk_request_input"
	adkConfirmation = "adk_request_confirmation"
	adkCredential   = "adk_request_credential"
)

// adkCall is a function call of ADK: alone, or as the part of an event.
type adkCall struct {
	id, name string
	part     string // the key of the part the answer is wrapped in, "" for none
	args     *object
	context  []actions.Labelled
}

// readADK reads a call by its name.
func readADK(p payload, name string) (adkCall, bool) {
	o := p.object()
	c := adkCall{name: name}
	for _, part := range [][2]string{{"functionCall", "functionResponse"}, {"function_call", "function_response"}} {
		if o.has(part[0]) {
			outer := o
			o, c.part = o.object(part[0]), part[1]
			c.context = outer.rest()
			break
		}
	}
	if o.text("name") != name || !o.has("args") {
		return adkCall{}, false
	}
	c.id, c.args = o.text("id"), o.object("args")
	c.context = append(c.context, o.rest()...)
	return c, c.args.members != nil
}

// respond is the FunctionResponse: its response must be an object, other values go as its result.
func (c adkCall) respond(response json.RawMessage) list {
	if !isObject(response) {
		response = must(list{{"result", response}})
	}
	out := list{}.with("id", c.id)
	out = append(out, entry{"name", c.name}, entry{"response", response})
	if c.part != "" {
		return list{{c.part, out}}
	}
	return out
}

// requestInput is ADK's request for input, as the call or as the RequestInput itself.
type requestInput struct {
	adkCall
	message string
	payload json.RawMessage
	schema  json.RawMessage
}

func readRequestInput(p payload) (asked, bool) {
	c, ok := readADK(p, adkInput)
	if !ok {
		o := p.object()
		if o.text("interrupt_id", "interruptId") == "" || !o.has("message") || !o.has("response_schema") && !o.has("responseSchema") {
			return nil, false
		}
		c = adkCall{name: adkInput, args: o}
	}
	x := requestInput{adkCall: c}
	x.id = firstOf(c.id, c.args.text("interrupt_id", "interruptId"))
	c.args.drop("interrupt_id", "interruptId")
	x.message, x.payload = c.args.text("message"), c.args.raw("payload")
	x.schema = lenient(c.args.raw("response_schema", "responseSchema"))
	if given := c.args.raw("response_schema", "responseSchema"); given != nil && x.schema == nil {
		x.context = append(x.context, label("response_schema", given)...) // not one that can be used: shown
	}
	x.context = append(x.context, c.args.rest()...)
	return x, x.message != "" || x.payload != nil || x.schema != nil
}

func (x requestInput) question() actions.Question {
	q := actions.Question{
		Title: firstLine(firstOf(x.message, "Input is needed")), Message: firstOf(x.message, "The agent asks for input."),
		Content: x.payload, Context: x.context,
	}
	if x.payload != nil {
		q.ContentType = contentType(x.payload)
	}
	q.Actions = offer(bySchema(&q, x.schema)...)
	return q
}

func (x requestInput) answer(given Given) (any, error) { return x.respond(given.Value), nil }

// confirmation is ADK's request to confirm a tool call.
type confirmation struct {
	adkCall
	tool    string
	args    json.RawMessage
	hint    string
	payload json.RawMessage // what may be sent back, changed or not; nil for nothing
}

func readConfirmation(p payload) (asked, bool) {
	c, ok := readADK(p, adkConfirmation)
	if !ok {
		return nil, false
	}
	original := c.args.object("originalFunctionCall", "original_function_call")
	confirm := c.args.object("toolConfirmation", "tool_confirmation")
	x := confirmation{adkCall: c, tool: original.text("name"), args: original.raw("args"), hint: confirm.text("hint"), payload: confirm.raw("payload")}
	if x.tool == "" {
		return nil, false
	}
	confirm.drop("confirmed")
	original.drop("id")
	x.context = append(append(append(x.context, original.rest()...), confirm.rest()...), c.args.rest()...)
	return x, true
}

func (x confirmation) question() actions.Question {
	q := actions.Question{
		Kind: actions.Approval, Title: x.tool, Message: firstOf(x.hint, "The agent wants to call **"+x.tool+"**."),
		Content: x.args, ContentType: contentType(x.args), Context: x.context, Actions: offer(actions.Approve, actions.Reject),
	}
	if x.payload != nil {
		q.Kind, q.Content, q.ContentType = actions.EditKind, x.payload, contentType(x.payload)
		q.Context = append(label("arguments", x.args), x.context...)
		q.Actions = offer(actions.Approve, actions.Edit, actions.Reject)
	}
	return q
}

func (x confirmation) answer(given Given) (any, error) {
	out := list{{"confirmed", given.Action != actions.Reject}}
	switch given.Action {
	case actions.Approve:
		out = out.with("payload", x.payload)
	case actions.Edit:
		out = append(out, entry{"payload", given.Value})
	}
	return x.respond(must(out)), nil
}
