package engine

import "time"

// EventType is the type of an Event.
type EventType string

// The events of a thread's life, and Lost, which stands where a slow observer missed some. EventTypes says what each
// means and holds.
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
	Lost          EventType = "lost"
)

// Event is one thing that happened. As JSON it has only the fields its type has and that are set; within a major
// version types and fields are only added.
type Event struct {
	Seq      int64     `json:"seq"` // counts the events of this process, from 1
	Type     EventType `json:"type"`
	At       time.Time `json:"at"` // UTC
	Thread   string    `json:"thread_id,omitempty"`
	Workflow string    `json:"workflow,omitempty"`
	Step     int64     `json:"step"` // of what happens within a step: that step, which may never be committed
	Revision int64     `json:"revision,omitempty"`
	Source   string    `json:"source,omitempty"` // input, step, answer, edit, upgrade, fork
	Origin   string    `json:"origin,omitempty"` // THREAD@STEP of a fork

	Node    string `json:"node,omitempty"`
	Path    string `json:"path,omitempty"`    // of the node run: main@1/each@1/[3]/decide@1
	Frame   string `json:"frame,omitempty"`   // the path of the workflow or map item it belongs to
	Run     int    `json:"run,omitempty"`     // its number: of the node, in that frame
	Attempt int    `json:"attempt,omitempty"` // from 1
	Status  string `json:"status,omitempty"`  // of the node run, or of the thread
	Route   string `json:"route,omitempty"`
	TookMS  int64  `json:"took_ms,omitempty"`
	RetryMS int64  `json:"retry_in_ms,omitempty"`
	Retried bool   `json:"retried,omitempty"` // the attempt is followed by another one

	Interrupt string     `json:"interrupt_id,omitempty"`
	Address   string     `json:"address,omitempty"` // of the question, or of the timer
	Round     int        `json:"round,omitempty"`
	Due       *time.Time `json:"due,omitempty"` // deadline of a question, end of a timer
	Decision  string     `json:"decision_id,omitempty"`
	Action    string     `json:"action,omitempty"`
	By        string     `json:"by,omitempty"`
	Inherited bool       `json:"inherited,omitempty"` // accepted by a process that is gone

	Reason    string `json:"reason,omitempty"`
	Withdrawn bool   `json:"withdrawn,omitempty"` // the answers of the call are
	Questions int    `json:"questions,omitempty"` // how many are open
	Text      string `json:"text,omitempty"`      // output chunk, error message, title
	Lost      int    `json:"lost,omitempty"`
}

// Why something was cancelled, as Event.Reason says it.
const (
	ReasonAnswer     = "answer"     // it was rejected, or its answer was cancel
	ReasonSuperseded = "superseded" // a fresh run takes its place
	ReasonEnded      = "ended"      // the workflow or map item around it ended
	ReasonWithdrawn  = "withdrawn"  // its asker no longer needs it
	ReasonPerson     = "person"
	ReasonShutdown   = "shutdown"
	ReasonStore      = "store" // the store failed, or the lease was lost
)

// EventInfo says of a type when it comes and which fields it has beside seq, type, at, thread_id and step.
type EventInfo struct {
	Type   EventType
	When   string
	Fields []string // as in JSON; of a node run also node, path, frame, run where OfRun
	OfRun  bool
}

// EventTypes is the table of all types, in the order in which a thread's life has them.
func EventTypes() []EventInfo {
	return []EventInfo{
		{ThreadStarted, "A thread was made: by a start, or by a fork, which runs nothing.", []string{"workflow", "source", "origin"}, false},
		{StepStarted, "A super-step begins to run its nodes.", nil, false},
		{NodeStarted, "An attempt of a node run begins. What another process left done is not started again.", []string{"attempt", "status"}, true},
		{NodeOutput, "A program said something while it ran: one chunk, usually a line.", []string{"attempt", "text"}, true},
		{InterruptedEv, "A question was asked; once for each, also in a fork, whose questions are its own.", []string{"interrupt_id", "address", "round", "due", "text"}, true},
		{NodeFinished, "A node run completed, failed for good, or waits for answers or a timer. A waiting one that is answered finishes again, started again only if it is run again. A nested workflow or a map finishes when its frames have ended.", []string{"attempt", "status", "route", "took_ms", "due", "address"}, true},
		{FailedEv, "An attempt failed, and is retried; or the run failed, which then finishes. Without a path: the call failed, what its step did counts for nothing, and nothing more comes of it.", []string{"attempt", "text", "retried", "retry_in_ms", "revision"}, true},
		{CancelledEv, "A node run ended before it could complete; with an interrupt_id, only that question was withdrawn. Without a path: the call was cancelled or shut down, and thread_rested follows, or without a store failed.", []string{"interrupt_id", "address", "reason", "withdrawn", "text", "revision"}, true},
		{Answered, "An answer is applied, now that the lease is held. A timer that ended, or was ended, is answered too.", []string{"interrupt_id", "address", "decision_id", "action", "by", "inherited"}, true},
		{StepCommitted, "The step is durable, and with it all that was told of it. Without a store no step is.", []string{"revision", "source", "decision_id", "by"}, false},
		{ThreadRested, "The call is over: the thread ended, waits, failed, or has to be carried on.", []string{"revision", "status", "questions", "text"}, false},
		{Lost, "So many events stood here that the observer was too slow for: output first, then what steps and nodes do, the rest last.", []string{"lost"}, false},
	}
}

// Observer hears events, one at a time and in their order, on a goroutine of the engine's. It may be as slow as it likes:
// no step waits for it, and when it falls too far behind it is told how much it missed. See Engine.Heard for when it
// has heard what.
type Observer interface {
	Observe(Event)
}
