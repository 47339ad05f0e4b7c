package desk

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/nearest"
)

// Claim claims a thread for the desk's reviewer, who has to release it unless it ends by itself; Release gives it up.
func (d *Desk) Claim(ctx context.Context, thread string, ttl time.Duration) error {
	claimer, id, err := manages[Claimer](ctx, d, thread, "claim a thread")
	if err != nil {
		return err
	}
	if ttl <= 0 {
		return usagef("a claim needs a time above zero, not %s", ttl)
	}
	d.courtesies.mu.Lock()
	defer d.courtesies.mu.Unlock()
	delete(d.courtesies.of, id)
	return claimer.Claim(ctx, id, d.o.Reviewer, ttl)
}

// Release gives a claim up.
func (d *Desk) Release(ctx context.Context, thread string) error {
	claimer, id, err := manages[Claimer](ctx, d, thread, "release a claim")
	if err != nil {
		return err
	}
	d.courtesies.mu.Lock()
	defer d.courtesies.mu.Unlock()
	delete(d.courtesies.of, id)
	return claimer.Release(ctx, id, d.o.Reviewer)
}

// manages finds the part of the source that changes a thread in some way, and the thread's id.
func manages[T any](ctx context.Context, d *Desk, thread, what string) (part T, id string, err error) {
	if d.o.ReadOnly {
		return part, "", readOnly(what)
	}
	part, ok := d.source.(T)
	if !ok {
		return part, "", unsupported(what)
	}
	id, err = d.resolve(ctx, thread)
	return part, id, err
}

// ForkRequest says from which step of which thread another one is to start.
type ForkRequest struct {
	Thread string
	Step   int64
	As     string // id of the new thread; "" makes one
}

// ForkOnly starts a new thread from an earlier step and runs nothing, so that its state can be changed first.
func (d *Desk) ForkOnly(ctx context.Context, f ForkRequest) (*Result, error) {
	forker, id, err := manages[Forker](ctx, d, f.Thread, "fork a thread")
	if err != nil {
		return nil, err
	}
	if f.As == "" {
		f.As = d.o.NewID()
	}
	if err := actions.CheckNewThreadID(f.As); err != nil {
		return nil, err
	}
	return forker.Fork(ctx, id, f.Step, f.As, d.o.Reviewer)
}

// Fork starts a new thread from an earlier step and runs it on in the background; it returns the new id.
func (d *Desk) Fork(ctx context.Context, thread string, step int64) (string, error) {
	fork, err := d.ForkOnly(ctx, ForkRequest{Thread: thread, Step: step})
	if err != nil {
		return "", err
	}
	if _, ok := d.source.(Answerer); ok && fork.Status == "stalled" {
		return fork.Thread, d.carryOn(fork.Thread)
	}
	return fork.Thread, nil
}

// Change is a reviewer's change of the state at the head.
type Change struct {
	Thread  string
	Frame   string // whose state: "" the thread's, else the address of a nested workflow or map item, as in triage/2
	Updates map[string]json.RawMessage
	Version string // what was on screen; "" any
	Steal   bool   // although somebody else has claimed it
}

// Patch writes a change of the state as a step of its own, in the name of the desk's reviewer.
func (d *Desk) Patch(ctx context.Context, c Change) (*Result, error) {
	patcher, id, err := manages[Patcher](ctx, d, c.Thread, "change the state")
	if err != nil {
		return nil, err
	}
	if len(c.Updates) == 0 {
		return nil, usagef("nothing to change: give at least one state key")
	}
	c.Thread = id
	return patcher.Patch(ctx, c, d.o.Reviewer)
}

// Prune deletes what b selects, or with dryRun says what it would. Heads are kept, and what runs.
func (d *Desk) Prune(ctx context.Context, b Bounds, dryRun bool, progress func(done, total int64)) (*Pruned, error) {
	if d.o.ReadOnly && !dryRun {
		return nil, readOnly("prune")
	}
	pruner, ok := d.source.(Pruner)
	if !ok {
		return nil, unsupported("prune")
	}
	switch {
	case !b.All && len(b.Threads) == 0 && len(b.Workflow) == 0 && len(b.Status) == 0:
		return nil, usagef("nothing selected: name threads, or say all")
	case b.BeforeStep <= 0 && b.OlderThan.IsZero() && b.FinishedBefore.IsZero():
		return nil, usagef("no bound given: say before which step, older than what, or finished before when")
	}
	for _, status := range b.Status {
		if all := All.Statuses(); !slices.Contains(all, status) {
			return nil, usagef("no thread ever has the status %q%s; there are %s", status, nearest.Hint(status, all), strings.Join(all, ", "))
		}
	}
	whole := make([]string, len(b.Threads))
	for i, name := range b.Threads {
		id, err := d.resolve(ctx, name)
		if err != nil {
			return nil, err
		}
		whole[i] = id
	}
	b.Threads, b.All = whole, len(whole) == 0
	return pruner.Prune(ctx, b, dryRun, progress)
}

// Delete deletes threads whole. All names are resolved before the first is deleted.
func (d *Desk) Delete(ctx context.Context, threads ...string) error {
	var ids []string
	for _, name := range threads {
		_, id, err := manages[Pruner](ctx, d, name, "delete a thread")
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	for _, id := range ids {
		if err := d.source.(Pruner).Delete(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// Decisions lists the record of one thread, or with "" of all, newest first, at most limit (0: all).
func (d *Desk) Decisions(ctx context.Context, thread string, limit int) ([]DecisionRow, error) {
	auditor, id, err := d.auditor(ctx, thread)
	if err != nil {
		return nil, err
	}
	return auditor.Decisions(ctx, id, limit)
}

// Verify checks the record of decisions of one thread, or with "" of all, and that each goes on from how it is expected to
// have ended once. Of a deleted thread only the end of its record is left.
func (d *Desk) Verify(ctx context.Context, thread string, expect []RecordEnd) (*Verified, error) {
	auditor, id, err := d.auditor(ctx, thread)
	if err != nil {
		return nil, err
	}
	return auditor.Verify(ctx, id, expect)
}

func (d *Desk) auditor(ctx context.Context, thread string) (Auditor, string, error) {
	auditor, ok := d.source.(Auditor)
	if !ok {
		return nil, "", unsupported("show decisions")
	}
	if thread == "" {
		return auditor, "", nil
	}
	id, err := d.resolve(ctx, thread)
	return auditor, id, err
}

// Workflows lists what can be started from the configured folders.
func (d *Desk) Workflows(ctx context.Context) ([]Workflow, error) {
	library, ok := d.source.(Library)
	if !ok {
		return nil, unsupported("start workflows")
	}
	return library.Workflows(ctx, d.o.Workflows)
}

// StartRequest says what to start.
type StartRequest struct {
	File     string // FILE or FILE::GRAPH
	Named    bool   // File must be the name of a workflow in the configured folders, NAME or NAME::GRAPH, and no path
	Input    map[string]json.RawMessage
	Thread   string      // "" makes a new id
	Workdir  string      // "" the present folder
	Progress func(Event) // is told, in order and before the call returns, how the run goes on; may be nil
}

// Start starts a workflow file. With background it returns once the thread exists, else once it rests.
func (d *Desk) Start(ctx context.Context, s StartRequest, background bool) (*Result, error) {
	if d.o.ReadOnly {
		return nil, readOnly("start a workflow")
	}
	starter, ok := d.source.(Starter)
	if !ok {
		return nil, unsupported("start workflows")
	}
	if s.Thread == "" {
		s.Thread = d.o.NewID()
	}
	if err := actions.CheckNewThreadID(s.Thread); err != nil {
		return nil, err
	}
	if background {
		return d.startBehind(ctx, starter, s)
	}
	began := d.o.Now()
	result, err := starter.Start(ctx, s, d.o.Reviewer, func(string, string) {})
	if result != nil {
		result.Duration = d.o.Now().Sub(began)
	}
	return result, err
}

// startBehind starts a thread as a background run and waits until it exists.
func (d *Desk) startBehind(ctx context.Context, starter Starter, s StartRequest) (*Result, error) {
	began, failed := make(chan *Result, 1), make(chan error, 1)
	start := func(run context.Context, r *run) (*Result, error) {
		result, err := starter.Start(run, s, d.o.Reviewer, func(thread, workflow string) {
			select {
			case began <- &Result{Thread: thread, Workflow: workflow, Status: "running"}:
			default:
			}
		})
		failed <- err
		return result, err
	}
	if err := d.background(s.Thread, start); err != nil {
		return nil, err
	}
	select {
	case result := <-began:
		return result, nil
	case err := <-failed:
		select {
		case result := <-began:
			return result, nil
		default:
			return nil, err
		}
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// background queues a run that sends no answers.
func (d *Desk) background(thread string, do func(context.Context, *run) (*Result, error)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return ErrClosed
	case d.runs.has(thread):
		return &Error{Code: CodeRunning, Message: "the thread runs already"}
	}
	d.enqueue(thread, nil, do)
	d.startQueued()
	return nil
}
