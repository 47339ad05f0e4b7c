// Package checkpoint is the contract between the engine and whatever keeps its threads: the record of one point in
// a run, the Store that keeps such records, and the errors a caller can act on.
//
// It holds no backend; each lives in a folder of its own below and passes the suite in checkpointtest.
package checkpoint

import (
	"encoding/json"
	"time"
)

// Status is the state of a thread.
type Status string

// The statuses. Done, Rejected, Stopped and Cancelled are ended for good.
const (
	Done        Status = "done"
	Rejected    Status = "rejected"
	Stopped     Status = "stopped"
	Cancelled   Status = "cancelled"
	Running     Status = "running"     // a live lease
	Stalled     Status = "stalled"     // no live lease, but something can run or an accepted answer is unapplied
	Interrupted Status = "interrupted" // a question is open
	Failed      Status = "failed"      // a run failed and nothing else is left
	Sleeping    Status = "sleeping"    // only timers are left
)

// Ended reports whether no further step can follow.
func (s Status) Ended() bool {
	return s == Done || s == Rejected || s == Stopped || s == Cancelled
}

// Source says what made a checkpoint.
type Source string

// What can make a checkpoint.
const (
	SourceInput   Source = "input"
	SourceStep    Source = "step"
	SourceAnswer  Source = "answer"
	SourceEdit    Source = "edit"
	SourceUpgrade Source = "upgrade"
	SourceFork    Source = "fork"
)

// Channels is the whole state at one step: JSON by channel name. A name that is an identifier is a state key of the
// root frame; a name that begins with "@" belongs to the engine (frames, answers, counters), which alone knows what
// is in it.
type Channels map[string]json.RawMessage

// State is the part of c that a workflow calls its state: the channels that are no engine channels.
func (c Channels) State() map[string]json.RawMessage {
	state := make(map[string]json.RawMessage, len(c))
	for name, value := range c {
		if name == "" || name[0] != '@' {
			state[name] = value
		}
	}
	return state
}

// Interrupt is one open question.
type Interrupt struct {
	ID         string          `json:"id"`                    // UUIDv7, new at each asking
	Key        string          `json:"key"`                   // the name its asker gave it, unique within its run
	Address    string          `json:"address"`               // review, confirm.name, triage/2/decide
	Node       string          `json:"node"`                  // name of the asking node
	Path       string          `json:"path"`                  // its node run: main@1/review@2
	Payload    json.RawMessage `json:"payload"`               // what is asked, in the asker's shape
	ContentKey string          `json:"content_key,omitempty"` // state key of the asker's frame that is under review
	Asked      time.Time       `json:"asked"`
	Due        *time.Time      `json:"due,omitempty"`
	Overdue    bool            `json:"overdue,omitempty"`
	Place      int             `json:"place,omitempty"` // in the order of those that are open: clocks go back, and ids are made on many hosts
	Round      int             `json:"round,omitempty"` // 2 for the question that follows a retry, and so on; 0 and 1 are the first
	Previous   *Previous       `json:"previous,omitempty"`
}

// Previous links a question to the one it takes the place of after a retry. That one was open, and is withdrawn, or had
// been answered, which the retry of its sibling took back.
type Previous struct {
	ID       string          `json:"id"`
	Feedback string          `json:"feedback,omitempty"` // of the retry, or the comment of the answer
	By       string          `json:"by,omitempty"`
	Action   string          `json:"action,omitempty"`  // of the answer; "" for a question that was open
	Value    json.RawMessage `json:"value,omitempty"`   // of the answer
	Content  json.RawMessage `json:"content,omitempty"` // what was under review then
}

// Failure is why a run, and with it perhaps its thread, failed.
type Failure struct {
	Path     string    `json:"path"`
	Node     string    `json:"node"`
	Message  string    `json:"message"`
	Attempts int       `json:"attempts"`
	At       time.Time `json:"at"`
}

// Origin is where a fork came from.
type Origin struct {
	Thread string `json:"thread"`
	Step   int64  `json:"step"`
}

// NodeRun is what one node did in the super-step a checkpoint ends.
type NodeRun struct {
	Path     string    `json:"path"`
	Node     string    `json:"node"`
	Status   string    `json:"status"` // COMPLETED, WAITING, FAILED, CANCELLED
	Route    string    `json:"route,omitempty"`
	Attempts int       `json:"attempts,omitempty"`
	Started  time.Time `json:"started"`
	TookMS   int64     `json:"took_ms"`
	Error    string    `json:"error,omitempty"`
}

// Checkpoint is one point in a run, AgentFlow's record with what this engine adds. A committed step is never
// rewritten by the engine; Revision counts the writes of (Thread, Step) all the same, 1 at the first.
type Checkpoint struct {
	Thread      string
	Step        int64 // step 0 holds the input
	Revision    int64
	TS          time.Time
	Source      Source
	Workflow    string
	Fingerprint string // of the definition the thread keeps
	Ended       Status // "" while the thread can go on, else done, rejected, stopped or cancelled
	Next        []string
	Interrupts  []Interrupt // all open questions, oldest first; or of those that Open counts the first, without its Previous
	Open        int         // how many are open, where each is in a channel; 0 where Interrupts holds them all: see Questions
	Runs        []NodeRun
	Decisions   []string // ids of the decisions whose effects this step holds
	Error       *Failure
	Origin      *Origin
	Outputs     json.RawMessage // the workflow's result, once Done
	SizeBytes   int64           // of the state as stored; set by the store
	Commit      string          // id of the commit that wrote it, "" for a Put; set by the store
	Shown       *Summary        // what the thread's row shows while this is its head; nil for a Put and from earlier versions; set by the store
	Channels    Channels        // nil when it was not asked for
}

// Version is what a person saw: a step and how often it was written.
type Version struct {
	Step     int64
	Revision int64 // 0 matches any revision of Step
}

// Version names c as a person sees it.
func (c *Checkpoint) Version() Version { return Version{Step: c.Step, Revision: c.Revision} }

// Interrupted reports whether a question is open.
func (c *Checkpoint) Interrupted() bool { return c.Asks() > 0 }

// InterruptNode is the node that asked the first open question, "" without one.
func (c *Checkpoint) InterruptNode() string {
	if len(c.Interrupts) == 0 {
		return ""
	}
	return c.Interrupts[0].Node
}

// InterruptPayload is what the first open question asks, nil without one.
func (c *Checkpoint) InterruptPayload() json.RawMessage {
	if len(c.Interrupts) == 0 {
		return nil
	}
	return c.Interrupts[0].Payload
}

// Done reports whether nothing is left to run and nobody is asked: AgentFlow's rule.
func (c *Checkpoint) Done() bool { return len(c.Next) == 0 && !c.Interrupted() }
