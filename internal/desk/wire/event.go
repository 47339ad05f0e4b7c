package wire

import (
	"time"

	"github.com/hitl-tui/hitl-tui/internal/desk"
)

// Event is one event of GET /v1/events.
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
}

// FromEvent is an event of the desk.
func FromEvent(e desk.Event) Event {
	return Event{
		Kind: string(e.Kind), ThreadID: text(e.Thread), Node: text(e.Node), Run: text(e.Run), Text: text(e.Text), Status: text(e.Status),
		Step: e.Step, At: moment(e.At), Failed: e.Failed, Attempt: e.Attempt, Retried: e.Retried, RetryInMS: e.RetryIn.Milliseconds(),
	}
}
