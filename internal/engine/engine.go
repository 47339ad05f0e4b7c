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
	"time"

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

// Engine runs threads over a store. A nil store runs graphs that never ask.
type Engine struct{}

// New makes an Engine. store may be nil: a question, a resume or a history is then an error that says so.
func New(store checkpoint.Store, o Options) *Engine { panic("contract only") }

// StartRequest starts a thread.
type StartRequest struct {
	Thread     string // "" makes a new id
	Definition checkpoint.Definition
	Graph      *Graph // of Definition; nil: made by Options.Graphs
	Input      map[string]json.RawMessage
	Workdir    string
	By         string
}

// Start runs a new thread until it ends, waits, fails or ctx ends.
func (e *Engine) Start(ctx context.Context, r StartRequest) (*Outcome, error) { panic("contract only") }

// ResumeRequest answers questions of a thread, or with no answers carries it on.
type ResumeRequest struct {
	Thread    string
	Answers   []Answer // all or none
	IfVersion *checkpoint.Version
	Upgrade   *checkpoint.Definition // carry on with this definition
	By        string                 // reviewer, for answers that name none
	Steal     bool                   // although somebody else has claimed it
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

// Resume validates the answers whole, takes the lease with them, and runs the thread on. Racing resumes have one
// winner; the others get a *checkpoint.ConflictError or *AnsweredError and have run nothing.
func (e *Engine) Resume(ctx context.Context, r ResumeRequest) (*Outcome, error) {
	panic("contract only")
}

// Check validates as Resume would and changes nothing.
func (e *Engine) Check(ctx context.Context, r ResumeRequest) error { panic("contract only") }

// Open lists the open questions of a thread's head with their content, as they are to be shown.
func (e *Engine) Open(ctx context.Context, thread string) (*Outcome, error) { panic("contract only") }

// Fork starts a new thread whose step 0 is a full copy of an earlier checkpoint; the old thread is untouched.
func (e *Engine) Fork(ctx context.Context, thread string, step int64, as, by string) (*Outcome, error) {
	panic("contract only")
}

// Edit writes a reviewer's state changes as a step of their own; open questions are kept.
func (e *Engine) Edit(ctx context.Context, thread string, updates map[string]json.RawMessage, ifVersion *checkpoint.Version, by string) (*Outcome, error) {
	panic("contract only")
}

// Sweep applies what is due: deadlines with their defaults, timers, and with carryOn stalled threads. It returns what
// became of each thread it touched.
func (e *Engine) Sweep(ctx context.Context, carryOn bool) ([]Outcome, error) { panic("contract only") }

// Close waits for what runs: with a cancelled ctx the runs are interrupted and their leases released, their answers
// kept (the thread is then stalled).
func (e *Engine) Close(ctx context.Context) error { panic("contract only") }

// ErrCancelledByPerson is the cause to give a context (context.WithCancelCause) whose end means that a person
// cancelled the run: if no step was committed since the resume, the answers are withdrawn and the thread is exactly
// as it was. Any other end of the context is a shutdown: the decision stays and the thread is stalled.
var ErrCancelledByPerson = errors.New("cancelled by a person")

// Outcome is where a thread came to rest, or stands.
type Outcome struct {
	Thread         string
	Workflow       string
	Fingerprint    string
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
	Again bool              // the node asks again
	When  bool              // conditions decide; To lists all candidates
}
