package question

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// aguiInterrupt is one interrupt of AG-UI: what a run that finished waits for.
type aguiInterrupt struct {
	id, reason, message string
	draft               bool            // of the first draft, whose answers know no status
	payload             json.RawMessage // of the first draft
	schema              json.RawMessage // of the answer, nil for none
	approves            bool            // a boolean `approved` is all that must be answered
	expires             *time.Time
	context             []actions.Labelled
}

// readAGUI reads the event that ends an interrupted run.
func readAGUI(p payload) (asked, bool) {
	o := p.object()
	if o.text("type") != "RUN_FINISHED" {
		return nil, false
	}
	o.drop("threadId", "runId", "timestamp", "rawEvent", "result")
	b := bundle{}
	draft := o.text("outcome") == "interrupt"
	if draft {
		one := o.raw("interrupt")
		if objectIn(one).members == nil {
			return nil, false
		}
		b.parts = []inner{agui(one, draft)}
	} else {
		outcome := o.object("outcome")
		if outcome.text("type") != "interrupt" {
			return nil, false
		}
		for _, raw := range outcome.list("interrupts") {
			if objectIn(raw).text("id") == "" {
				return nil, false
			}
			b.parts = append(b.parts, agui(raw, draft))
		}
		b.context = outcome.rest()
	}
	b.context = append(b.context, o.rest()...)
	b.title = several(len(b.parts), "interrupts")
	b.join = func(answers []any) any {
		if draft {
			return answers[0]
		}
		return answers
	}
	return b, len(b.parts) > 0 && !b.secretAmongOthers()
}

func agui(raw json.RawMessage, draft bool) inner {
	o := objectIn(raw)
	x := aguiInterrupt{id: o.text("id"), reason: o.text("reason"), message: o.text("message"), draft: draft, expires: o.deadline("expiresAt")}
	if draft {
		x.payload = o.raw("payload")
	}
	given := o.raw("responseSchema")
	if x.schema = lenient(given); x.schema == nil && given != nil {
		x.context = label("responseSchema", given)
	}
	x.approves = x.schema != nil && takes(x.schema, `{"approved":true}`) && takes(x.schema, `{"approved":false}`)
	x.context = append(append(labelText("reason", x.reason), x.context...), o.rest()...)
	words := []Word{}
	for _, a := range x.actions(&actions.Question{}) {
		words = append(words, Word{Action: a})
	}
	return newInner(raw, x, Format{Words: words})
}

// takes tells whether an object is valid under a schema that has a property for all it holds.
func takes(schema json.RawMessage, object string) bool {
	compiled, err := actions.CompileSchema(schema)
	if err != nil {
		return false
	}
	_, err = compiled.Complete(json.RawMessage(object))
	return err == nil && slices.ContainsFunc(compiled.Fields(), func(f actions.Field) bool {
		return f.Name == "approved" && f.Kind == actions.BooleanField
	})
}

func (x aguiInterrupt) question() actions.Question {
	q := actions.Question{Context: x.context, Content: x.payload, Deadline: x.expires}
	q.Message = firstOf(x.message, unknown(x.payload).Title, x.reason, "The agent waits for an answer.")
	q.Title = firstLine(q.Message)
	if x.payload != nil {
		q.ContentType = contentType(x.payload)
	}
	q.Actions = offer(x.actions(&q)...)
	return q
}

// actions is what can be said, and makes q ask for it.
func (x aguiInterrupt) actions(q *actions.Question) []actions.Action {
	var out []actions.Action
	if x.schema == nil {
		q.Kind = actions.Approval
		out = []actions.Action{actions.Approve, actions.Reject, actions.Respond, actions.Continue}
	} else if out = bySchema(q, x.schema); x.approves {
		out = append([]actions.Action{actions.Approve, actions.Reject}, out...)
	}
	if !x.draft {
		out = append(out, actions.Cancel)
	}
	return out
}

func (x aguiInterrupt) answer(given Given) (any, error) {
	out := list{}.with("interruptId", x.id)
	switch {
	case given.Action == actions.Cancel:
		return append(out, entry{"status", "cancelled"}), nil
	case !x.draft:
		out = append(out, entry{"status", "resolved"})
	}
	payload := orNull(given.Value)
	if given.Action == actions.Approve || given.Action == actions.Reject {
		said := list{{"approved", given.Action == actions.Approve}}
		if x.schema == nil {
			said = said.with("reason", given.Comment)
		}
		payload = must(said)
	}
	return append(out, entry{"payload", payload}), nil
}
