// Package desk holds the use cases of the review desk, one method each: list, open, respond, take back, history,
// fork, prune, audit, claim. The terminal screen, the command line and HTTP are three faces of this one package and
// repeat none of it.
//
// It sees threads through the small Source interface of its own and knows no concrete store. It draws nothing.
package desk

import (
	"context"
	"encoding/json"
	"time"
)

// Desk is the one object behind every face. Its methods are safe for concurrent use.
type Desk struct{}

// Threads lists one page.
func (d *Desk) Threads(ctx context.Context, q Query) (Page, error) { panic("contract only") }

// Counts counts the threads of each tab.
func (d *Desk) Counts(ctx context.Context) (Counts, error) { panic("contract only") }

// Open reads one thread with its open questions. thread is an id or any unique ending of four characters or more.
func (d *Desk) Open(ctx context.Context, thread string) (*Detail, error) { panic("contract only") }

// Questions lists the open questions of the threads that q selects.
func (d *Desk) Questions(ctx context.Context, q Query) ([]Question, string, error) {
	panic("contract only")
}

// Respond validates a decision and puts it into the outbox, where it waits for the grace time. A refusal leaves
// nothing behind. A second answer to the same question replaces the first.
func (d *Desk) Respond(ctx context.Context, x Decision, draft *Draft) (*Entry, error) {
	panic("contract only")
}

// Answer sends decisions of one thread at once, without the outbox, and waits until the thread rests: the command
// line and HTTP. With check nothing is done but the validation.
func (d *Desk) Answer(ctx context.Context, decisions []Decision, check bool) (*Result, error) {
	panic("contract only")
}

// Outbox lists what is not yet at rest, oldest first, and what came to rest in this session.
func (d *Desk) Outbox() []Entry { panic("contract only") }

// TakeBack takes an unsent entry back ("": the newest) and returns it with its draft.
func (d *Desk) TakeBack(id string) (*Entry, error) { panic("contract only") }

// SendNow ends the grace time of an entry ("": of all).
func (d *Desk) SendNow(id string) error { panic("contract only") }

// KeepAsDrafts takes all unsent entries back and keeps each as a draft marked not sent.
func (d *Desk) KeepAsDrafts() error { panic("contract only") }

// CarryOn runs a stalled or failed thread on in the background.
func (d *Desk) CarryOn(ctx context.Context, thread string) error { panic("contract only") }

// CancelRun cancels the run in progress, here or wherever it runs. It says whether the question comes back.
func (d *Desk) CancelRun(ctx context.Context, thread string) error { panic("contract only") }

// Busy counts entries unsent and runs in progress, for the question asked at quitting.
func (d *Desk) Busy() (unsent, running int) { panic("contract only") }

// Claim claims a thread for the desk's reviewer; Release gives it up.
func (d *Desk) Claim(ctx context.Context, thread string, ttl time.Duration) error {
	panic("contract only")
}

// Release gives a claim up.
func (d *Desk) Release(ctx context.Context, thread string) error { panic("contract only") }

// History lists a thread's steps, oldest first.
func (d *Desk) History(ctx context.Context, thread string) ([]Step, error) { panic("contract only") }

// StateAt reads the state at a step (below 0: the head).
func (d *Desk) StateAt(ctx context.Context, thread string, step int64) (*State, error) {
	panic("contract only")
}

// Diff compares the states of two steps, key by key, changed ones first.
func (d *Desk) Diff(ctx context.Context, thread string, a, b int64) ([]KeyDiff, error) {
	panic("contract only")
}

// Fork starts a new thread from an earlier step and runs it on in the background; it returns the new id.
func (d *Desk) Fork(ctx context.Context, thread string, step int64) (string, error) {
	panic("contract only")
}

// Patch writes a reviewer's change of the state at the head.
func (d *Desk) Patch(ctx context.Context, thread string, updates map[string]json.RawMessage, version string) error {
	panic("contract only")
}

// Prune deletes what b selects, or with dryRun says what it would.
func (d *Desk) Prune(ctx context.Context, b Bounds, dryRun bool, progress func(done, total int64)) (*Pruned, error) {
	panic("contract only")
}

// Delete deletes threads whole.
func (d *Desk) Delete(ctx context.Context, threads ...string) error { panic("contract only") }

// Decisions lists the record of one thread, or with "" of all, newest first, at most limit.
func (d *Desk) Decisions(ctx context.Context, thread string, limit int) ([]DecisionRow, error) {
	panic("contract only")
}

// Verify checks the decision chain of one thread, or with "" of all and of the tombstones.
func (d *Desk) Verify(ctx context.Context, thread string) (*Verified, error) { panic("contract only") }

// Draft finds what was typed for a question: by id, else by node path, key and payload hash. nil without one.
func (d *Desk) Draft(q Question) *Draft { panic("contract only") }

// SaveDraft keeps it on disk; an empty text discards it.
func (d *Desk) SaveDraft(x Draft) error { panic("contract only") }

// Drafts tells which threads have a draft.
func (d *Desk) Drafts() map[string]bool { panic("contract only") }

// Workflows lists what can be started from the configured folders.
func (d *Desk) Workflows(ctx context.Context) ([]Workflow, error) { panic("contract only") }

// Start starts a workflow file. With background it returns once the thread exists, else once it rests.
func (d *Desk) Start(ctx context.Context, s StartRequest, background bool) (*Result, error) {
	panic("contract only")
}

// StartRequest says what to start.
type StartRequest struct {
	File    string // FILE or FILE::GRAPH
	Input   map[string]json.RawMessage
	Thread  string
	Workdir string // "" the present folder
}

// Info describes the store.
func (d *Desk) Info(ctx context.Context) (StoreInfo, error) { panic("contract only") }

// Subscribe yields what happens in batches until ctx ends; a slow reader loses progress lines, never the last
// StoreChanged, OutboxChanged, Rested or RunFailed of a thread.
func (d *Desk) Subscribe(ctx context.Context) <-chan []Event { panic("contract only") }

// Reviewer is who decides here.
func (d *Desk) Reviewer() string { panic("contract only") }

// Close ends the desk: unsent entries become drafts marked not sent; running threads get until ctx ends to come to
// rest and are then interrupted, their answers kept.
func (d *Desk) Close(ctx context.Context) error { panic("contract only") }
