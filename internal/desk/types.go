package desk

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// Thread is one row of a list.
type Thread struct {
	ID           string
	Short        string // shortest ending that is unique in its page, four characters or more
	Workflow     string
	Node         string
	Status       string // done, rejected, stopped, cancelled, running, stalled, interrupted, failed, sleeping
	Title        string
	Step         int64
	Revision     int64
	Questions    int
	Answered     int
	WaitingSince time.Time // zero: it does not wait
	Updated      time.Time
	Created      time.Time
	Due          time.Time // zero: none
	Claimed      string    // by whom, "" by nobody or no longer
	ClaimedUntil time.Time
	Holder       string // who runs it
	Assignee     string
	Group        string
	Priority     string
	Error        string
	Cursor       string
}

// Halted reports whether something has failed beside what is asked or sleeps: carrying on runs it again and leaves the rest.
func (t Thread) Halted() bool {
	return t.Error != "" && (t.Status == "interrupted" || t.Status == "sleeping")
}

// Tab is one of the desk's groups of statuses.
type Tab string

// The tabs.
const (
	Waiting  Tab = "waiting"  // interrupted, sleeping
	Running  Tab = "running"  // running
	Failed   Tab = "failed"   // failed, stalled
	Finished Tab = "finished" // done, rejected, stopped, cancelled
	All      Tab = "all"
)

// Query selects threads.
type Query struct {
	Tab    Tab    // "" is All
	Filter string // the filter language: status:failed node:review older:2d claimed:none text
	Sort   string // due, waiting, updated, name; "" is due
	Limit  int
	After  string
}

// Page is one page of threads.
type Page struct {
	Threads []Thread
	Next    string
}

// Counts are the numbers on the tabs.
type Counts map[Tab]int64

// Detail is one thread opened: what is asked, where it stands.
type Detail struct {
	Thread
	Fingerprint string
	Workdir     string
	StartedBy   string
	Questions   []Question    // all open ones, oldest first
	Accepted    []DecisionRow // answers that are kept and not yet part of a step: the thread runs, or stalled
	Outputs     json.RawMessage
	Failure     string // whole message
	FailedNode  string
	Next        []string
	Origin      string     // THREAD@STEP of a fork
	Path        []PathStep // the node runs so far, oldest first
}

// PathStep is one node run on the way here.
type PathStep struct {
	Step     int64
	Node     string
	Run      string // ADDRESS@RUN: review@2, triage/2/decide@1
	Status   string
	TookMS   int64
	Decision string // "ana retry"
}

// Question is one open question as the desk shows it.
type Question struct {
	Thread           string
	Workflow         string
	ID               string
	Key              string
	Address          string
	Node             string
	Path             string
	Shape            string
	actions.Question        // Content filled in
	Version          string // STEP.REVISION that Respond is to name
	Asked            time.Time
	Due              time.Time // zero: none
	Overdue          bool
	Round            int
	Feedback         string // the retry's, when Round > 1; or the comment of the answer
	FeedbackBy       string
	FormerAction     string          // how the round before was answered, when a retry of its sibling took that back; else ""
	FormerValue      json.RawMessage // of that answer
	Former           json.RawMessage // what was under review in the round before
	Payload          json.RawMessage // as its asker wrote it
	Choices          []Choice        // all fifteen actions, in table order
	ResumesNow       bool
	WaitsFor         int
	ShownHash        string

	Part int       // number of the part of Of that this is, from 1; 0 for a question itself
	Of   *Question // nil for a question itself; see PartAt

	Unmasked *Question // what it was masked from, nil when nothing was; see Whole
}

// Choice is one action at one question.
type Choice struct {
	actions.Info
	Allowed      bool
	Why          string // why not, when not allowed
	Leads        string // "publish", "END (rejected)", "asks again"
	NeedsComment bool
}

// Name is what a line calls it: its title, and where its asker gave none its address.
func (q Question) Name() string { return cmp.Or(q.Title, q.Address) }

// Permitted is the actions that the question allows, in its own order, which its workflow's author chose, else in that of
// its kind: what the question is for stands first, what merely gets rid of it last. Of a part its own verdicts come before
// what concerns all parts.
func (q Question) Permitted() []Choice {
	order := actions.Allowed(q.Question)
	if q.Of != nil {
		order = append(order, actions.Allowed(q.Of.Question)...)
	}
	var own []Choice
	for _, a := range order {
		for _, c := range q.Choices {
			if c.Action == a && c.Allowed && !slices.ContainsFunc(own, func(o Choice) bool { return o.Action == a }) {
				own = append(own, c)
			}
		}
	}
	return own
}

// Decision is an answer as a person gives it.
type Decision struct {
	Thread     string
	Question   string // id or address; "" the only open one, or the thread as a whole (stop, carry on)
	Action     string // "" is continue; a stalled or failed thread is carried on
	Data       json.RawMessage
	Version    string // what was on screen; "" any
	Reviewer   string // "" the desk's
	ResponseID string // "" makes one
	Shown      string // hash of what was on screen
	Title      string // of the question, for the outbox
	Steal      bool
	DecidedAt  time.Time
}

// EntryState is where a decision is on its way.
type EntryState string

// The states of an outbox entry.
const (
	Unsent    EntryState = "unsent"  // in its grace time, can be taken back
	Held      EntryState = "held"    // its thread runs; sent once it rests
	Queued    EntryState = "queued"  // sent, waits for one of the eight runners
	Sending   EntryState = "sending" // the thread runs on
	Sent      EntryState = "sent"    // and came to rest
	Refused   EntryState = "refused" // see Err; the text is kept as a draft
	TakenBack EntryState = "taken back"
)

// Entry is one decision in the outbox.
type Entry struct {
	ID       string
	Bulk     string // the same for all entries of one bulk, which are taken back together
	Decision Decision
	State    EntryState
	SendAt   time.Time // when the grace time ends
	Err      string    // what went wrong, and who did what
	Code     string    // error code of the envelope, "" when none
	Result   *Result
	Draft    *Draft // what was typed, to go on with after taking back
}

// Result is where a thread came to rest after an answer: the envelope's facts.
type Result struct {
	Thread         string
	Workflow       string
	Step           int64
	Revision       int64
	Status         string
	Interrupted    bool
	Questions      []Question
	Outputs        json.RawMessage
	ErrNode        string
	ErrMessage     string
	AlreadyApplied bool
	WasCancelled   bool
	Withdrawn      bool
	Warnings       []string // of a start: what was left out of its input
	Duration       time.Duration
}

// Draft is something typed and not sent.
type Draft struct {
	Thread   string
	Question string // id
	Path     string // node path
	Key      string
	Hash     string // of the payload
	Action   string
	Text     string // of the pane
	Raw      bool   // Text is raw JSON
	NotSent  bool   // it came back from an outbox that was not sent
	Saved    time.Time
}

// Step is one row of a history.
type Step struct {
	Step      int64
	Revision  int64
	TS        time.Time
	Source    string
	Nodes     []string // ADDRESS@RUN
	Status    string   // of the thread after it
	TookMS    int64
	SizeBytes int64
	Decisions []DecisionRow
	Error     string
}

// DecisionRow is one line of the record.
type DecisionRow struct {
	ID        string
	Thread    string
	Workflow  string // "" where only one thread was read
	Title     string // of the thread now, "" as above
	Question  string // id, "" for a decision about the thread
	N         int64
	Version   string
	Address   string
	Action    string
	Data      json.RawMessage
	Comment   string
	Reviewer  string
	DecidedAt time.Time
	Waited    time.Duration
	Outcome   string
	Hash      string
	Response  string // id under which it was given
}

// State is the state at one step.
type State struct {
	Thread    string
	Step      int64
	Revision  int64
	TS        time.Time
	Status    string
	Next      []string
	State     map[string]json.RawMessage
	Questions []Question // open at that step, as recorded

	Unmasked *State // what it was masked from; see Whole
}

// KeyDiff is the change of one state key between two steps.
type KeyDiff struct {
	Key    string
	Kind   string // added, removed, changed, same
	Before json.RawMessage
	After  json.RawMessage
}

// Bounds selects what retention would delete.
type Bounds struct {
	Threads        []string // whole or shortened ids; empty with All
	All            bool
	Workflow       []string
	Status         []string
	BeforeStep     int64
	OlderThan      time.Time
	FinishedBefore time.Time
}

// Pruned is what would go, or went.
type Pruned struct {
	Steps   int64
	Threads int64
	Deleted int64
	Bytes   int64
	Heads   int64
	Oldest  time.Time
	Newest  time.Time
	Per     []PrunedThread
	Skipped []string
	DryRun  bool
}

// PrunedThread is one thread's part.
type PrunedThread struct {
	Thread   string
	Workflow string
	Steps    int64
	Bytes    int64
	Whole    bool
}

// Event is what the desk tells those who watch; it only wakes or reports progress, what is true is read again.
type Event struct {
	Kind   EventKind
	Thread string
	Node   string
	Run    string // ADDRESS@RUN: review@2, triage/2/decide@1
	Text   string // output line, error
	Status string
	Step   int64
	At     time.Time

	Failed  bool // an attempt of a node failed: Text is why
	Attempt int  // which, from 1
	Retried bool // another one follows, after RetryIn
	RetryIn time.Duration

	// Of a timeline.
	Source   string   // of a step: why it was written
	Nodes    []string // that ran in it, ADDRESS@RUN
	Address  string   // of the question that was decided, "" for a decision about the thread
	Action   string
	Reviewer string
}

// EventKind is the kind of an Event.
type EventKind string

// The kinds.
const (
	StoreChanged  EventKind = "store_changed"  // lists may have changed: read again
	OutboxChanged EventKind = "outbox_changed" // Outbox may have changed
	Progress      EventKind = "progress"       // a run goes on: Node, Text, Status
	Rested        EventKind = "rested"         // a run of this desk came to rest
	RunFailed     EventKind = "run_failed"

	RetentionApplied EventKind = "retention_applied" // Text says what went
	HookFailed       EventKind = "hook_failed"       // Text says which and why

	StepCommitted EventKind = "step_committed" // of a timeline: a step was written; Text is why it failed
	Decided       EventKind = "decided"        // of a timeline: Text is the comment
)

// Workflow is one that can be started.
type Workflow struct {
	Name        string
	Description string
	File        string
	Input       json.RawMessage // JSON Schema of its input
	Err         string          // why it cannot
}

// StoreInfo describes the store for the title line and retention.
type StoreInfo struct {
	URL         string
	Name        string // base name for the title line
	Threads     int64
	Checkpoints int64
	Bytes       int64
	FreeBytes   int64
	LogBytes    int64 // of Bytes, in a write-ahead log
	Schema      int
	ReadOnly    bool
	Warnings    []string // loose file modes and the like
	Retention   Retention
	Retained    Retained // the last time it was applied here
}

// Retention is what a desk prunes by itself, as ages. Zero keeps.
type Retention struct {
	OlderThan      time.Duration // steps older than this, but never a thread's head
	FinishedBefore time.Duration // whole threads that ended longer ago than this
}

// Retained is what one application of a retention took.
type Retained struct {
	At      time.Time
	Steps   int64
	Threads int64 // deleted whole
	Bytes   int64
	Skipped []string // threads left alone because they ran
}

// Inspection is what a look at a whole store found.
type Inspection struct {
	Threads   int64
	Steps     int64
	Decisions int64
	States    bool          // every state was rebuilt
	Window    time.Duration // up to now, in which the growth was measured
	Growth    int64         // bytes of the steps written in it
	Faults    []Fault
}

// PerDay is how many bytes a day were written lately.
func (x Inspection) PerDay() int64 {
	if x.Window <= 0 {
		return 0
	}
	return int64(float64(x.Growth) * float64(24*time.Hour) / float64(x.Window))
}

// Fault is one thing that is hurt in a store.
type Fault struct {
	Thread string // "" for the store as a whole
	Text   string // one sentence that names the step, file or row
}

// Verified is the result of checking decision chains.
type Verified struct {
	Threads    int64
	Rows       int64
	Tombstones int64       // of deleted threads
	Broken     []string    // one sentence each, naming thread and row
	Ends       []RecordEnd // how the records end now
}

// RecordEnd is how the record of decisions of a thread ends, or ended when the thread was deleted.
type RecordEnd struct {
	Thread    string `json:"thread"`
	Decisions int64  `json:"decisions"`
	Hash      string `json:"hash"` // of the last decision, "" without one
	Deleted   bool   `json:"deleted,omitempty"`
}
