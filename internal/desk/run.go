package desk

import (
	"context"
	"slices"
	"sync"
)

// runs holds what runs in the background, at most one run a thread and Options.Runners at once. It is guarded by
// Desk.mu.
type runs struct {
	byThread map[string]*run
	queue    []*run
	active   int
	wg       *sync.WaitGroup
}

// run is one thread running on: with answers, carried on, or started.
type run struct {
	thread  string
	base    string // version under which its answers were given, "" when unknown
	entries []*entry
	answers bool // it sends entries, and is nothing without them
	do      func(ctx context.Context, r *run) (*Result, error)
	ctx     context.Context
	cancel  context.CancelCauseFunc
	active  bool
}

func newRuns() runs { return runs{byThread: make(map[string]*run), wg: new(sync.WaitGroup)} }

func (r *runs) has(thread string) bool { return r.byThread[thread] != nil }

func (r *runs) count() int { return len(r.byThread) }

func (r *runs) wait() { r.wg.Wait() }

func (r *runs) cancelAll(cause error) {
	for _, x := range r.byThread {
		x.cancel(cause)
	}
}

// dropQueued empties the queue and returns the entries of its runs.
func (r *runs) dropQueued() []*entry {
	var entries []*entry
	for _, x := range r.queue {
		entries = append(entries, x.entries...)
		x.cancel(ErrShutdown)
		delete(r.byThread, x.thread)
	}
	r.queue = nil
	return entries
}

// withdraw takes an entry out of the queued run that would send it.
func (r *runs) withdraw(e *entry) {
	for i, x := range r.queue {
		x.entries = slices.DeleteFunc(x.entries, func(y *entry) bool { return y == e })
		if len(x.entries) == 0 && x.answers {
			r.queue = slices.Delete(r.queue, i, i+1)
			x.cancel(ErrCancelled)
			delete(r.byThread, x.thread)
			return
		}
	}
}

// enqueue adds a run of a thread that has none. d.mu is held.
func (d *Desk) enqueue(thread string, entries []*entry, do func(ctx context.Context, r *run) (*Result, error)) *run {
	r := &run{thread: thread, entries: entries, do: do, answers: len(entries) > 0}
	r.ctx, r.cancel = context.WithCancelCause(context.WithoutCancel(d.ctx))
	for _, e := range entries {
		e.State = Queued
	}
	d.runs.byThread[thread] = r
	d.runs.queue = append(d.runs.queue, r)
	return r
}

// startQueued lets queued runs go while a runner is free. d.mu is held.
func (d *Desk) startQueued() {
	for len(d.runs.queue) > 0 && d.runs.active < d.o.Runners {
		r := d.runs.queue[0]
		d.runs.queue = slices.Delete(d.runs.queue, 0, 1)
		d.runs.active++
		r.active = true
		for _, e := range r.entries {
			e.State = Sending
		}
		d.runs.wg.Add(1)
		go func() {
			defer d.runs.wg.Done()
			result, err := r.do(r.ctx, r)
			d.settle(r, result, err)
			d.endSent(r)
		}()
	}
	d.hub.publish(Event{Kind: OutboxChanged})
}

// sendEntries enqueues the answers of a thread as one call. d.mu is held.
func (d *Desk) sendEntries(thread string, entries []*entry) {
	r := d.enqueue(thread, slices.Clone(entries), func(ctx context.Context, r *run) (*Result, error) {
		if err := d.sendRuled(r); err != nil {
			return nil, err
		}
		return d.source.(Answerer).Answer(ctx, d.requestOf(r))
	})
	r.base = entries[0].Decision.Version
}

func (d *Desk) requestOf(r *run) AnswerRequest {
	d.mu.Lock()
	defer d.mu.Unlock()
	request := AnswerRequest{Thread: r.thread, Reviewer: d.o.Reviewer, CarryOn: !r.answers, Accepted: func() { d.accepted(r) }}
	for _, e := range r.entries {
		request.Decisions = append(request.Decisions, e.Decision)
		request.Version, request.Steal = e.Decision.Version, e.Decision.Steal
		if e.byRule() { // a claim of this desk's reviewer holds against a rule
			request.Reviewer = e.Decision.Reviewer
		}
	}
	return request
}

// accepted drops entries from the outbox file: the engine keeps the answers from now on.
func (d *Desk) accepted(r *run) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range r.entries {
		e.accepted = true
	}
	d.keepOutbox()
}

// settle takes in how a run ended, brings what waits for its thread up to date and lets the next ones go.
func (d *Desk) settle(r *run, result *Result, err error) {
	r.cancel(nil)
	now := d.readAgain(r, result)
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.outgrown(r.thread, now) {
		d.mu.Unlock()
		now = d.readAgain(r, result)
		d.mu.Lock()
	}
	d.runs.active--
	delete(d.runs.byThread, r.thread)
	switch {
	case err == nil && result != nil && result.Withdrawn:
		d.refuse(r.entries, &Error{Code: CodeCancelled, Message: "cancelled: the question is back; your text is kept", Err: ErrCancelled})
		d.hub.publish(Event{Kind: Rested, Thread: r.thread, Status: result.Status, Step: result.Step})
	case err == nil:
		d.rebase(r, now)
		d.settled(r, result)
	case Code(err) == CodeRunning && !d.closed:
		d.hold(r)
	default:
		d.failed(r, err)
	}
	d.keepOutbox()
	d.pump()
}

// settled marks the answers of a run as sent.
func (d *Desk) settled(r *run, result *Result) {
	for _, e := range r.entries {
		e.State, e.Result, e.accepted = Sent, result, true
		d.outbox.rest(e)
	}
	event := Event{Kind: Rested, Thread: r.thread}
	if result != nil {
		event.Status, event.Step = result.Status, result.Step
		if result.Status == "failed" {
			event.Kind, event.Node, event.Text = RunFailed, result.ErrNode, result.ErrMessage
		}
	}
	d.hub.publish(event)
}

// failed takes in an error. Answers which the engine kept before are sent all the same; the others are refused.
func (d *Desk) failed(r *run, err error) {
	var refused []*entry
	for _, e := range r.entries {
		if !e.accepted || isRefusal(err) {
			refused = append(refused, e)
			continue
		}
		e.State, e.Err, e.Code = Sent, err.Error(), Code(err)
		d.outbox.rest(e)
	}
	d.refuse(refused, err)
	event := Event{Kind: RunFailed, Thread: r.thread, Text: err.Error()}
	if Code(err) == CodeCancelled {
		event.Kind = Rested
	}
	d.hub.publish(event)
}

// refuse ends entries with the reason and keeps their texts as drafts.
func (d *Desk) refuse(entries []*entry, err error) {
	for _, e := range entries {
		if e.byRule() {
			d.refusedRule(e, err)
			continue
		}
		e.State, e.Code, e.Err = Refused, Code(err), d.refusal(err)
		if draftErr := d.draftEntry(e); draftErr != nil {
			e.Err += "; the text could not be written: " + draftErr.Error()
		}
		d.outbox.rest(e)
	}
}

// isRefusal reports whether an error says that an answer was not taken, whatever was heard before.
func isRefusal(err error) bool {
	exit := ExitCode(Code(err))
	return exit == ExitUsage || exit == ExitNotFound || exit == ExitConflict
}

// hold keeps answers until the thread, which another process runs, rests.
func (d *Desk) hold(r *run) {
	for _, e := range r.entries {
		e.State, e.accepted = Held, false
	}
	d.outbox.foreign[r.thread] = true
	d.startWatch()
	d.o.AfterFunc(foreignLook, func() { d.keepLooking(r.thread) })
}

// CarryOn runs what stalled or failed in a thread in the background; what is asked beside it stays asked.
func (d *Desk) CarryOn(ctx context.Context, thread string) error {
	answerer, id, err := d.decides(ctx, thread, "carry on")
	if err != nil {
		return err
	}
	if err := answerer.Check(ctx, AnswerRequest{Thread: id, Reviewer: d.o.Reviewer, CarryOn: true}); err != nil {
		return err
	}
	return d.carryOn(id)
}

func (d *Desk) carryOn(id string) error {
	return d.background(id, func(ctx context.Context, r *run) (*Result, error) {
		return d.source.(Answerer).Answer(ctx, d.requestOf(r))
	})
}

// CancelRun cancels the run in progress, here or wherever it runs. Whether the question comes back is told by the
// entry in the outbox and by the Rested event.
func (d *Desk) CancelRun(ctx context.Context, thread string) error {
	if d.o.ReadOnly {
		return readOnly("cancel a run")
	}
	id, err := d.resolve(ctx, thread)
	if err != nil {
		return err
	}
	if d.cancelOwn(id) {
		return nil
	}
	canceller, ok := d.source.(Canceller)
	if !ok {
		return unsupported("cancel a run of another process")
	}
	err = canceller.RequestCancel(ctx, id, d.o.Reviewer)
	if Code(err) == CodeNotFound {
		return &Error{Code: CodeNotWaiting, Message: "nothing runs on this thread", Err: err}
	}
	return err
}

func (d *Desk) cancelOwn(id string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	r := d.runs.byThread[id]
	if r == nil {
		return false
	}
	r.cancel(ErrCancelled)
	if !r.active {
		d.runs.queue = slices.DeleteFunc(d.runs.queue, func(x *run) bool { return x == r })
		delete(d.runs.byThread, id)
		d.refuse(r.entries, &Error{Code: CodeCancelled, Message: "cancelled before it was sent; your text is kept", Err: ErrCancelled})
		d.keepOutbox()
		d.pump()
	}
	return true
}
