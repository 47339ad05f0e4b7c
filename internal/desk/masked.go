package desk

import (
	"context"
	"io"
	"sync/atomic"

	"github.com/hitl-tui/hitl-tui/internal/redact"
)

// Masked is a desk as people see it: whatever it shows of threads has its secrets masked, in one place for the screen,
// the command line and those who may only read. What it is given it hands on as it is, and what is stored stays whole.
//
// A masked text is never sent: questions and states carry what they were masked from (Whole), drafts are not masked.
type Masked struct {
	*Desk
	rules    redact.Rules
	revealed atomic.Bool
}

// Masked shows the desk with the secrets of these rules masked. Rules that are off show all.
func (d *Desk) Masked(rules redact.Rules) *Masked { return &Masked{Desk: d, rules: rules} }

// Reveal shows from now on questions, states and outputs as they are stored, or with false masks again. Titles, errors
// and progress stay masked: they stand in lists and messages that outlast the moment.
func (d *Masked) Reveal(on bool) { d.revealed.Store(on) }

func (d *Masked) mask() mask {
	if d.revealed.Load() {
		return mask{redact.Off(), d.rules}
	}
	return mask{d.rules, d.rules}
}

// Threads lists one page.
func (d *Masked) Threads(ctx context.Context, q Query) (Page, error) {
	page, err := d.Desk.Threads(ctx, q)
	page.Threads = each(page.Threads, d.mask().thread)
	return page, d.mask().err(err)
}

// Open reads one thread with its open questions.
func (d *Masked) Open(ctx context.Context, thread string) (*Detail, error) {
	detail, err := d.Desk.Open(ctx, thread)
	return d.mask().detail(detail), d.mask().err(err)
}

// Wait waits until a thread has one of the statuses.
func (d *Masked) Wait(ctx context.Context, thread string, statuses []string, told func(Thread)) (*Detail, error) {
	show := told
	if told != nil {
		show = func(t Thread) { told(d.mask().thread(t)) }
	}
	detail, err := d.Desk.Wait(ctx, thread, statuses, show)
	return d.mask().detail(detail), d.mask().err(err)
}

// ExportMasked writes a thread as Export does, with its secrets masked whether they are revealed on the screen or not: a file
// outlasts that.
func (d *Masked) ExportMasked(ctx context.Context, thread string, to io.Writer) error {
	_, err := d.Export(ctx, thread, to, d.rules)
	return d.mask().err(err)
}

// Questions lists open questions.
func (d *Masked) Questions(ctx context.Context, q Query) ([]Question, string, error) {
	all, next, err := d.Desk.Questions(ctx, q)
	return each(all, d.mask().question), next, d.mask().err(err)
}

// History lists a thread's steps.
func (d *Masked) History(ctx context.Context, thread string) ([]Step, error) {
	steps, err := d.Desk.History(ctx, thread)
	return each(steps, d.mask().step), d.mask().err(err)
}

// Graph reads the workflow of a thread. What a file says is no secret of the thread.
func (d *Masked) Graph(ctx context.Context, thread string) (*Graph, error) {
	g, err := d.Desk.Graph(ctx, thread)
	return g, d.mask().err(err)
}

// StateAt reads the state at a step.
func (d *Masked) StateAt(ctx context.Context, thread string, step int64) (*State, error) {
	state, err := d.Desk.StateAt(ctx, thread, step)
	return d.mask().state(state), d.mask().err(err)
}

// Diff compares two steps. Two secrets that differ are a change, although both are shown alike.
func (d *Masked) Diff(ctx context.Context, thread string, a, b int64) ([]KeyDiff, error) {
	keys, err := d.Desk.Diff(ctx, thread, a, b)
	return each(keys, d.mask().diff), d.mask().err(err)
}

// Decisions lists the record.
func (d *Masked) Decisions(ctx context.Context, thread string, limit int) ([]DecisionRow, error) {
	rows, err := d.Desk.Decisions(ctx, thread, limit)
	return each(rows, d.mask().row), d.mask().err(err)
}

// Timeline is what happened.
func (d *Masked) Timeline(ctx context.Context, thread string, limit int) ([]Event, error) {
	events, err := d.Desk.Timeline(ctx, thread, limit)
	return each(events, d.mask().event), d.mask().err(err)
}

// Respond puts a decision into the outbox, as it is given.
func (d *Masked) Respond(ctx context.Context, x Decision, draft *Draft) (*Entry, error) {
	e, err := d.Desk.Respond(ctx, x, draft)
	return d.mask().entryAt(e), d.mask().err(err)
}

// RespondAll puts a bulk of decisions into the outbox.
func (d *Masked) RespondAll(ctx context.Context, decisions []Decision, draft *Draft) ([]*Entry, []error) {
	entries, errs := d.Desk.RespondAll(ctx, decisions, draft)
	return each(entries, d.mask().entryAt), each(errs, d.mask().err)
}

// Activity is what was decided lately.
func (d *Masked) Activity(ctx context.Context, p Period) (*Activity, error) {
	a, err := d.Desk.Activity(ctx, p)
	if a != nil {
		a.Rows = each(a.Rows, d.mask().row)
	}
	return a, d.mask().err(err)
}

// Rules lists the rules.
func (d *Masked) Rules() ([]RuleState, bool) {
	rules, on := d.Desk.Rules()
	return each(rules, d.mask().rule), on
}

// TryRules says which open questions the rules would answer now.
func (d *Masked) TryRules(ctx context.Context) ([]RuleTrial, error) {
	trials, err := d.Desk.TryRules(ctx)
	return each(trials, d.mask().trial), d.mask().err(err)
}

// Outbox lists what is on its way.
func (d *Masked) Outbox() []Entry { return each(d.Desk.Outbox(), d.mask().entry) }

// TakeBack takes an unsent entry back; its draft is whole.
func (d *Masked) TakeBack(id string) (*Entry, error) {
	e, err := d.Desk.TakeBack(id)
	return d.mask().entryAt(e), d.mask().err(err)
}

// Answer sends decisions of one thread at once, as they are given.
func (d *Masked) Answer(ctx context.Context, decisions []Decision, check bool) (*Result, error) {
	r, err := d.Desk.Answer(ctx, decisions, check)
	return d.mask().result(r), d.mask().err(err)
}

// AnswerWith is Answer for a request that also says to upgrade.
func (d *Masked) AnswerWith(ctx context.Context, request AnswerRequest, check bool) (*Result, error) {
	request.Progress = d.progress(request.Progress)
	r, err := d.Desk.AnswerWith(ctx, request, check)
	return d.mask().result(r), d.mask().err(err)
}

// CarryOn runs a failed or stalled thread on.
func (d *Masked) CarryOn(ctx context.Context, thread string) error {
	return d.mask().err(d.Desk.CarryOn(ctx, thread))
}

// Sweep applies what is due.
func (d *Masked) Sweep(ctx context.Context, carryOn bool, progress func(done, total int64)) ([]Result, error) {
	all, err := d.Desk.Sweep(ctx, carryOn, progress)
	return each(all, func(r Result) Result { return *d.mask().result(&r) }), d.mask().err(err)
}

// ForkOnly starts a new thread from an earlier step and runs nothing.
func (d *Masked) ForkOnly(ctx context.Context, f ForkRequest) (*Result, error) {
	r, err := d.Desk.ForkOnly(ctx, f)
	return d.mask().result(r), d.mask().err(err)
}

// Fork starts a new thread from an earlier step and runs it on.
func (d *Masked) Fork(ctx context.Context, thread string, step int64) (string, error) {
	id, err := d.Desk.Fork(ctx, thread, step)
	return id, d.mask().err(err)
}

// Patch changes the state, as it is given.
func (d *Masked) Patch(ctx context.Context, c Change) (*Result, error) {
	r, err := d.Desk.Patch(ctx, c)
	return d.mask().result(r), d.mask().err(err)
}

// Workflows lists what can be started.
func (d *Masked) Workflows(ctx context.Context) ([]Workflow, error) {
	all, err := d.Desk.Workflows(ctx)
	return each(all, d.mask().workflow), d.mask().err(err)
}

// Start starts a workflow.
func (d *Masked) Start(ctx context.Context, s StartRequest, background bool) (*Result, error) {
	s.Progress = d.progress(s.Progress)
	r, err := d.Desk.Start(ctx, s, background)
	return d.mask().result(r), d.mask().err(err)
}

// progress masks what a run tells.
func (d *Masked) progress(tell func(Event)) func(Event) {
	if tell == nil || d.rules.IsOff() {
		return tell
	}
	return func(e Event) { tell(d.mask().event(e)) }
}

// Subscribe yields what happens.
func (d *Masked) Subscribe(ctx context.Context) <-chan []Event {
	whole := d.Desk.Subscribe(ctx)
	if d.rules.IsOff() {
		return whole
	}
	out := make(chan []Event)
	go func() {
		defer close(out)
		for batch := range whole {
			select {
			case out <- each(batch, d.mask().event):
			case <-ctx.Done():
				return
			case <-d.ctx.Done():
				return
			}
		}
	}()
	return out
}

// Event masks what happened, for whoever hands on the events of the desk itself.
func (d *Masked) Event(e Event) Event { return d.mask().event(e) }
