package wire

import (
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/schema"
)

// Schemas knows what the schemas of this package say beyond its types; refs stands before the name of a type where that is
// referred to.
func Schemas(refs string) *schema.Set {
	statuses := desk.All.Statuses()
	return &schema.Set{
		Refs: refs,
		Enums: map[string][]string{
			"Envelope.status": statuses, "Problem.thread_status": statuses, "Show.status": statuses, "Thread.status": statuses,
			"Error.code": desk.Codes(), "AgentMap.status": {"completed", "suspended", "failed"},
		},
		About: map[string]string{
			"Envelope.success":           "done, waiting as designed, or ended by a person; false on failure",
			"Envelope.interrupted":       "a question is open",
			"Envelope.step":              "the step at which the thread stands",
			"Envelope.interrupt_message": "of the question that has been open longest",
			"Envelope.interrupts":        "every open question, oldest first",
			"Envelope.outputs":           "of a thread that is done",
			"Envelope.already_applied":   "this response was given before; nothing was done again",
			"Problem.status":             "of HTTP; that of the thread is thread_status",
			"Error.details":              "facts for programs, such as by, action, at, candidates, allowed",
			"Interrupt.id":               "to be named as interrupt_id; so can the address",
			"Interrupt.content":          "what is under review",
			"Interrupt.actions":          "those that are allowed",
			"Interrupt.schema":           "JSON Schema of the answer",
			"Interrupt.payload":          "the question as its asker wrote it",
			"Question.version":           "STEP.REVISION, to be named as if_version",
			"Show.origin":                "THREAD@STEP of a fork",
			"Show.next":                  "what runs next",
			"Thread.cursor":              "go on after this row with after",
			"Event.run":                  "ADDRESS@RUN: review@2",
			"Event.text":                 "a line that a program said, an error, or the comment of a decision",
			"Event.source":               "of a step: why it was written",
			"Event.nodes":                "those that ran in a step, ADDRESS@RUN",
			"Event.address":              "of the question that was decided; null: a decision about the thread",
		},
	}
}
