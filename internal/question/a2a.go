package question

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// a2aTask is a task of A2A that waits for its user: the task, or the update of its status.
type a2aTask struct {
	id, contextID string
	auth          bool // it waits for a credential
	snake         bool // keys are written context_id
	named         bool // parts tell no kind and roles are enums, as since version 1.0
	text          string
	data          json.RawMessage // what the message holds beside text, nil for nothing
	context       []actions.Labelled
}

func readA2A(p payload) (asked, bool) {
	o := p.object()
	if kind := o.text("kind"); o.has("kind") && kind != "task" && kind != "status-update" {
		return nil, false
	}
	status := o.object("status")
	state := status.text("state")
	x := a2aTask{named: strings.HasPrefix(state, "TASK_STATE_"), snake: o.has("context_id")}
	switch state {
	case "input-required", "TASK_STATE_INPUT_REQUIRED":
	case "auth-required", "TASK_STATE_AUTH_REQUIRED":
		x.auth = true
	default:
		return nil, false
	}
	if x.id = o.text("taskId", "task_id"); x.id == "" {
		x.id = o.text("id")
	}
	x.contextID = o.text("contextId", "context_id")
	if x.id == "" || x.contextID == "" {
		return nil, false
	}
	message := status.object("message")
	x.readParts(message.list("parts"))
	message.drop("messageId", "message_id", "kind", "role", "taskId", "task_id", "contextId", "context_id")
	status.drop("timestamp")
	o.drop("final")
	x.context = slices.Concat(x.context, message.rest(), status.rest(), o.rest())
	return x, true
}

// readParts takes the texts of a message together, everything else as content, and what stands beside them as context.
func (x *a2aTask) readParts(parts []json.RawMessage) {
	var texts []string
	var others []json.RawMessage
	for _, raw := range parts {
		part := objectIn(raw)
		part.drop("kind")
		if text := part.text("text"); text != "" {
			texts = append(texts, text)
			x.context = append(x.context, part.rest()...)
			continue
		}
		if data := part.raw("data"); data != nil {
			raw = data
			x.context = append(x.context, part.rest()...)
		}
		others = append(others, raw)
	}
	x.text = strings.Join(texts, "\n\n")
	switch len(others) {
	case 0:
	case 1:
		x.data = others[0]
	default:
		x.data = must(others)
	}
}

func (x a2aTask) question() actions.Question {
	message := firstOf(x.text, "The agent needs input.")
	q := actions.Question{
		Kind: actions.Text, Title: firstLine(message), Message: message, Content: x.data, Context: x.context,
		Actions: offer(actions.Respond, actions.Submit),
	}
	if x.data != nil {
		q.ContentType = contentType(x.data)
	}
	if x.auth {
		q.Kind, q.Actions, q.PeopleOnly = actions.FormKind, offer(actions.Submit), true
		q.Schema = must(list{{"type", "object"}, {"properties", list{{"reply", secretField("Credential or reply")}}}, {"required", []string{"reply"}}})
	}
	return q
}

func (x a2aTask) answer(given Given) (any, error) {
	kind, value := "text", given.Value
	if given.Action == actions.Submit {
		kind = "data"
	}
	if x.auth {
		var form struct {
			Reply string `json:"reply"`
		}
		if json.Unmarshal(given.Value, &form) != nil {
			return nil, cannotSay(given.Action, "the form is not the reply that is asked for")
		}
		kind, value = "text", quoted(form.Reply)
	}
	part := list{{kind, value}}
	role, key := "ROLE_USER", func(camel, snake string) string { return camel }
	if x.snake {
		key = func(_, snake string) string { return snake }
	}
	out := list{}
	if !x.named {
		part, role = list{{"kind", kind}, {kind, value}}, "user"
		out = append(out, entry{"kind", "message"})
	}
	return append(out, entry{key("messageId", "message_id"), x.messageID(given)}, entry{key("contextId", "context_id"), x.contextID},
		entry{key("taskId", "task_id"), x.id}, entry{"role", role}, entry{"parts", []list{part}}), nil
}

// messageID is the same for the same answer, so that a message sent twice is one, and a UUID as others expect it.
func (x a2aTask) messageID(given Given) string {
	h := sha256.Sum256([]byte(x.id + "\x00" + given.By + "\x00" + given.At.UTC().String() + "\x00" + string(given.Value)))
	h[6], h[8] = h[6]&0x0f|0x80, h[8]&0x3f|0x80 // version 8 of RFC 9562: made as its maker likes
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[0:4], h[4:6], h[6:8], h[8:10], h[10:16])
}
