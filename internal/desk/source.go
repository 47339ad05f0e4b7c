package desk

import (
	"context"
	"time"
)

// Source is where threads come from: our engine over our store, or another system's checkpoint database. Every
// method takes whole thread ids. Errors that a caller can act on are *Error.
//
// What a source can do beyond reading it says by implementing the small interfaces below; the desk finds them by
// type assertion and answers ErrUnsupported for the rest.
type Source interface {
	// List lists one page of threads. Thread.Short is left to the desk.
	List(ctx context.Context, s Selection) (Page, error)
	// Counts counts threads by status.
	Counts(ctx context.Context) (map[string]int64, error)
	// Resolve finds the thread whose id is, or alone ends in, name.
	Resolve(ctx context.Context, name string) (string, error)
	// Open reads one thread with its open questions.
	Open(ctx context.Context, thread string) (*Detail, error)
	// History lists the steps, oldest first.
	History(ctx context.Context, thread string) ([]Step, error)
	// State reads the state at a step, below 0 at the head.
	State(ctx context.Context, thread string, step int64) (*State, error)
	// Changes tells what changed after a sequence number; below 0 it only gives the present one.
	Changes(ctx context.Context, after int64) (Changes, error)
	// Watch wakes after changes, coalesced. The channel closes when ctx ends.
	Watch(ctx context.Context) (<-chan struct{}, error)
	// Info describes the store.
	Info(ctx context.Context) (StoreInfo, error)
}

// Selection is a Query whose filter has been read: fields are joined by AND, the values of one by OR.
type Selection struct {
	Status    []string
	Workflow  []string
	Node      []string
	Group     []string
	Assignee  []string
	Priority  []string
	Claimed   string // by this reviewer; "none" by nobody, "any" by somebody
	Failing   bool   // something has failed, also where something else is asked or sleeps
	Text      string
	OlderThan time.Time // waiting since, or when it does not wait updated, before
	NewerThan time.Time
	DueBefore time.Time
	Sort      string // as in Query
	Limit     int
	After     string
}

// Changes is what changed in a store.
type Changes struct {
	Threads []Thread
	Deleted []string
	Seq     int64 // ask again after this
	More    bool
}

// AnswerRequest gives decisions of one thread to its engine, all or none. Without decisions, and by one that names
// neither question nor action, a stalled or failed thread is carried on.
type AnswerRequest struct {
	Thread    string
	Decisions []Decision
	Version   string // the head must be this; "" any
	Reviewer  string
	Steal     bool
	Upgrade   bool          // carry on with the definition as its file now is
	CarryOn   bool          // without decisions: run only what stalled or failed, and leave what is asked or sleeps beside it
	Wait      time.Duration // while another runner has the thread, at most so long
	Accepted  func()        // a hint that the answers are kept, before the thread runs on; may be nil
	Progress  func(Event)   // is told, in order and before the call returns, how the run goes on; may be nil
}

// Named tells the store's URL without looking into it; otherwise Info is asked.
type Named interface {
	URL() string
}

// Answerer takes answers. When ctx ends with the cause ErrCancelled a person cancelled the run; any other end is a
// shutdown, which keeps the answers.
type Answerer interface {
	// Check validates as Answer would and changes nothing.
	Check(ctx context.Context, r AnswerRequest) error
	// Answer takes the decisions and runs the thread on until it rests.
	Answer(ctx context.Context, r AnswerRequest) (*Result, error)
}

// Starter starts threads.
type Starter interface {
	// Start runs a new thread until it rests. started is called once the thread exists.
	Start(ctx context.Context, s StartRequest, reviewer string, started func(thread, workflow string)) (*Result, error)
}

// Library lists what can be started.
type Library interface {
	Workflows(ctx context.Context, folders []string) ([]Workflow, error)
}

// Canceller asks whoever runs a thread, in another process, to stop.
type Canceller interface {
	RequestCancel(ctx context.Context, thread, by string) error
}

// Claimer keeps courtesy claims.
type Claimer interface {
	Claim(ctx context.Context, thread, reviewer string, ttl time.Duration) error
	Release(ctx context.Context, thread, reviewer string) error
}

// Forker starts a thread from an earlier step of another, without running it on. as is the id of the new thread.
type Forker interface {
	Fork(ctx context.Context, thread string, step int64, as, by string) (*Result, error)
}

// Patcher writes a reviewer's change of the state.
type Patcher interface {
	Patch(ctx context.Context, c Change, by string) (*Result, error)
}

// Pruner deletes steps and threads.
type Pruner interface {
	Prune(ctx context.Context, b Bounds, dryRun bool, progress func(done, total int64)) (*Pruned, error)
	Delete(ctx context.Context, thread string) error
}

// Auditor reads the record of decisions.
type Auditor interface {
	// Decisions lists rows newest first, of one thread or with "" of all.
	Decisions(ctx context.Context, thread string, limit int) ([]DecisionRow, error)
	// Verify checks the chains of one thread, or with "" of all and of the tombstones.
	Verify(ctx context.Context, thread string, expect []RecordEnd) (*Verified, error)
}

// Recorder reads the record of a time without reading what came before. Without it Decisions is read and cut.
type Recorder interface {
	// DecisionsSince lists rows newest first, decided at or after since, at most limit.
	DecisionsSince(ctx context.Context, since time.Time, limit int) ([]DecisionRow, error)
}

// Sweeper applies what is due.
type Sweeper interface {
	// Sweep applies deadlines and timers, and with carryOn runs stalled threads on. progress, which may be nil, is given
	// threads: of those with something due, then of the stalled ones.
	Sweep(ctx context.Context, carryOn bool, progress func(done, total int64)) ([]Result, error)
	// NextDue is the earliest deadline or timer after a time, and the source's present time.
	NextDue(ctx context.Context, after time.Time) (due, now time.Time, err error)
}

// Observable reports progress of the runs in this process. The function returns at once.
type Observable interface {
	Observe(func(Event))
}

// Timed tells the time by which the source judges ages and deadlines.
type Timed interface {
	Now(ctx context.Context) (time.Time, error)
}

// Compacter gives free space back.
type Compacter interface {
	// Compact works in small bites beside writers. progress is given bytes.
	Compact(ctx context.Context, progress func(done, total int64)) error
}

// Inspector looks for damage.
type Inspector interface {
	// Inspect reads everything, with states every state. What is hurt is no error but among the faults.
	Inspect(ctx context.Context, states bool, progress func(done, total int64)) (*Inspection, error)
}
