package engine

import (
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// EventType is the type of an Event.
type EventType string

// The events of a thread's life.
const (
	ThreadStarted EventType = "thread_started"
	StepStarted   EventType = "step_started"
	NodeStarted   EventType = "node_started"
	NodeOutput    EventType = "node_output"
	NodeFinished  EventType = "node_finished"
	InterruptedEv EventType = "interrupted"
	Answered      EventType = "answered"
	StepCommitted EventType = "step_committed"
	ThreadRested  EventType = "thread_rested"
	FailedEv      EventType = "failed"
	CancelledEv   EventType = "cancelled"
)

// Event is one thing that happened; Seq counts them in this process.
type Event struct {
	Seq     int64
	Type    EventType
	At      time.Time
	Thread  string
	Step    int64
	Node    string
	Path    string
	Attempt int
	Status  string // node or thread status
	Text    string // output chunk, error message, question title, action
	TookMS  int64
	Version checkpoint.Version
}

// Observer hears events. Observe must return at once; the engine never waits for what it does with them.
type Observer interface {
	Observe(Event)
}
