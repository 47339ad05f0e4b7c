// Package engine runs workflows in super-steps, stops them at a person's question, and carries them on after hours,
// a crash or a restart. Its unit of durability is the checkpoint: a step is committed before the next begins.
//
// It unites AgentFlow's checkpoints, ADK's interrupt lifecycle and AgentMap's resume contract. It knows nothing of
// workflow files, of screens, or of any one store.
package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"time"

	"github.com/google/uuid"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/question"
)

// Options configure an Engine. Zero fields get working defaults.
type Options struct {
	Graphs     Graphs
	Holder     string           // names this process to others: host:pid
	Now        func() time.Time // clock
	NewID      func() string    // UUIDv7
	Observer   Observer
	LeaseTTL   time.Duration // 15 s; renewed every third of it
	Sleep      func(ctx context.Context, d time.Duration) error
	Rand       func() float64    // jitter
	CrashPoint func(name string) // tests: called at named points, may kill the process
}

// Graphs makes the graph of a definition that a thread keeps.
type Graphs interface {
	Graph(ctx context.Context, d checkpoint.Definition) (*Graph, error)
}

// Engine runs threads over a store. A nil store runs graphs that never ask. A parked thread costs it nothing: no
// goroutine, no memory.
type Engine struct {
	store   checkpoint.Store
	o       Options
	out     *outlet
	running running
	overdue overdue
}

// New makes an Engine. store may be nil: a question, a resume or a history is then an error that says so.
func New(store checkpoint.Store, o Options) *Engine {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = newID
	}
	if o.LeaseTTL <= 0 {
		o.LeaseTTL = defaultLeaseTTL
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	if o.Holder == "" {
		host, _ := os.Hostname()
		o.Holder = fmt.Sprintf("%s:%d", host, os.Getpid())
	}
	return &Engine{store: store, o: o, out: newOutlet(o.Observer)}
}

// newID is a UUIDv7, whose order is that of time.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// sleep waits for d or the end of ctx.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// crash lets a test kill the process, or the goroutine, at a named point.
func (e *Engine) crash(point string) {
	if e.o.CrashPoint != nil {
		e.o.CrashPoint(point)
	}
}

// StartRequest starts a thread.
type StartRequest struct {
	Thread     string // "" makes a new id
	Definition checkpoint.Definition
	Graph      *Graph // of Definition; nil: made by Options.Graphs
	Input      map[string]json.RawMessage
	Workdir    string
	By         string
}

// ResumeRequest answers questions of a thread, or with no answers carries it on: what failed runs again, and where nothing
// did a timer ends.
type ResumeRequest struct {
	Thread    string
	Answers   []Answer // all or none
	CarryOn   bool     // run only what stalled or failed, whatever is asked or sleeps beside it; goes with no answers
	IfVersion *checkpoint.Version
	Upgrade   *checkpoint.Definition // carry on with this definition
	By        string                 // reviewer, for answers that name none
	Steal     bool                   // although somebody else has claimed it
	Wait      time.Duration          // while somebody else runs the thread, at most so long
}

// Answer is one answer as it comes in.
type Answer struct {
	Interrupt  string          // id, address or key; "" where one question is open
	Action     string          // a name of the fifteen, any case; "" is continue
	Data       json.RawMessage // nil: none
	ResponseID string          // idempotency key; "" none
	Reviewer   string
	DecidedAt  time.Time // the key press; zero: now
	ShownHash  string    // what was on screen; "" : computed from the head
}

// isBare reports whether the answer says nothing and names nothing.
func (a *Answer) isBare() bool { return a.Action == "" && a.Interrupt == "" && len(a.Data) == 0 }

// ErrCancelledByPerson is the cause to give a context (context.WithCancelCause) whose end means that a person
// cancelled the run: if no step was committed since the resume, the answers are withdrawn and the thread is exactly
// as it was. Any other end of the context is a shutdown: the decision stays and the thread is stalled.
var ErrCancelledByPerson = errors.New("cancelled by a person")

// Outcome is where a thread came to rest, or stands.
type Outcome struct {
	Thread         string
	Workflow       string
	Fingerprint    string
	Source         string // of Open: the file from which the thread was started, "" when unknown
	Version        checkpoint.Version
	Status         checkpoint.Status
	Questions      []OpenQuestion  // all that are open, oldest first
	Outputs        json.RawMessage // once done
	Error          *checkpoint.Failure
	AlreadyApplied bool
	WasCancelled   bool // a person cancelled the run; with Withdrawn, before anything was committed
	Withdrawn      bool
	Steps          int // committed by this call
}

// OpenQuestion is one open question, ready to be shown and answered.
type OpenQuestion struct {
	checkpoint.Interrupt
	Question   actions.Question // Content filled in
	Shape      question.Shape
	Leads      map[actions.Action]Lead // where each allowed action leads
	ResumesNow bool                    // answering it runs the thread on at once
	WaitsFor   int                     // else: answers of the same run still missing besides this one
	ShownHash  string                  // SHA-256 of payload and content
}

// Lead says where an action leads, from the thread's own definition.
type Lead struct {
	To    []string          // nodes
	Ends  checkpoint.Status // "" , or how the thread (or frame) ends: done, rejected, stopped, cancelled
	Frame string            // what ends, where it is not the thread: address of a nested workflow or map item
	Again bool              // the node asks again
	When  bool              // conditions decide; To lists all candidates
}
