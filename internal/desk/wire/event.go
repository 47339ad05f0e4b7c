package wire

import (
	"time"

	"github.com/hitl-tui/hitl-tui/internal/desk"
)

// Event is one line of `events --json`, and one event of GET /v1/events.
type Event struct {
	Kind      string     `json:"kind"`
	ThreadID  *string    `json:"thread_id"`
	Node      *string    `json:"node"`
	Run       *string    `json:"run"` // ADDRESS@RUN: review@2, triage/2/decide@1
	Text      *string    `json:"text"`
	Status    *string    `json:"status"`
	Step      int64      `json:"step"`
	At        *time.Time `json:"at"`
	Failed    bool       `json:"failed"`
	Attempt   int        `json:"attempt"`
	Retried   bool       `json:"retried"`
	RetryInMS int64      `json:"retry_in_ms"`
	Source    *string    `json:"source"`   // of a step: why it was written
	Nodes     []string   `json:"nodes"`    // that ran in it
	Address   *string    `json:"address"`  // of the question that was decided
	Action    *string    `json:"action"`   // of a decision
	Reviewer  *string    `json:"reviewer"` // who decided
}

// FromEvent is an event of the desk.
func FromEvent(e desk.Event) Event {
	return Event{
		Kind: string(e.Kind), ThreadID: text(e.Thread), Node: text(e.Node), Run: text(e.Run), Text: text(e.Text), Status: text(e.Status),
		Step: e.Step, At: moment(e.At), Failed: e.Failed, Attempt: e.Attempt, Retried: e.Retried, RetryInMS: e.RetryIn.Milliseconds(),
		Source: text(e.Source), Nodes: list(e.Nodes), Address: text(e.Address), Action: text(e.Action), Reviewer: text(e.Reviewer),
	}
}
