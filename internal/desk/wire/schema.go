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
			"GraphNode.state": texts(desk.NodeDone, desk.NodeWaiting, desk.NodeNext, desk.NodeFailed, desk.NodeCancelled),
			"GraphEdge.kind":  texts(desk.EdgeRoute, desk.EdgeWhen, desk.EdgeThen, desk.EdgeFailure, desk.EdgeEnded, desk.EdgeAgain),
			"Error.code":      desk.Codes(), "AgentMap.status": {"completed", "suspended", "failed"},
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
			"GraphNode.state":            "as of the latest run; null where it was not reached",
			"GraphNode.runs":             "that began",
			"GraphNode.items":            "of a map: that began",
			"GraphNode.waiting":          "node runs in a nested workflow or map that wait",
			"GraphNode.inner":            "of a nested workflow or map: what ran in it, all items together",
			"GraphEdge.to":               "null is END",
			"GraphEdge.kind":             "ended and again are in no file: a decision ended the thread here, or had the node ask anew",
			"GraphEdge.label":            "the route, action, exit code or HTTP status; the condition as it is written",
			"GraphEdge.taken":            "how many times",
			"GraphEdge.said":             "the decisions that took it, each once, the latest last",
			"Thread.cursor":              "go on after this row with after",
			"Event.run":                  "ADDRESS@RUN: review@2",
			"Event.text":                 "a line that a program said, an error, or the comment of a decision",
			"Event.source":               "of a step: why it was written",
			"Event.nodes":                "those that ran in a step, ADDRESS@RUN",
			"Event.address":              "of the question that was decided; null: a decision about the thread",
		},
	}
}

// texts are values of a type of texts, as JSON has them.
func texts[T ~string](values ...T) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = string(v)
	}
	return out
}
