package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// session is one call that runs one thread: from the lease it takes to the commit that gives it back.
type session struct {
	engine      *Engine
	tree        *tree
	workflow    string
	fingerprint string
	workdir     string
	head        checkpoint.Version
	source      checkpoint.Source // of the next commit
	lease       string            // token; "" without a store
	steps       int               // committed, or without a store done

	own       []checkpoint.Decision // decisions this call brought
	applied   []string              // decisions applied, not yet committed
	decisions []checkpoint.Decision // rows the next commit is to append
	pending   map[string]pendingRecord

	stop      func(error)             // ends the run because the store failed; set by enter
	interrupt context.CancelCauseFunc // ends the run; set by enter
	limited   bool                    // the step limit was reached

	results []performed // reused from step to step, as are the following
	todo    []int
	ends    []completion
}

// run drives the thread until it rests, and tells where or what broke.
func (s *session) run(ctx context.Context) (*Outcome, error) {
	out, err := s.drive(ctx)
	if err != nil {
		return nil, s.broke(err)
	}
	s.rested(out)
	return out, nil
}

// drive runs the thread, super-step by super-step, until it ends, waits, fails, or ctx ends.
func (s *session) drive(ctx context.Context) (*Outcome, error) {
	s.send()
	ctx, finish, err := s.engine.enter(ctx, s)
	if err != nil {
		return nil, s.giveUp(ctx, err)
	}
	defer finish()
	for {
		frontier := s.tree.frontier()
		if len(frontier) == 0 && s.settled() {
			break
		}
		if ctx.Err() != nil {
			return s.abandon(ctx)
		}
		if len(frontier) > 0 {
			s.event(Event{Type: StepStarted})
			results := s.execute(ctx, frontier)
			if ctx.Err() != nil && !s.worthKeeping(ctx, frontier, results) {
				s.interrupted(context.Cause(ctx), frontier, results)
				s.keepRest(ctx, frontier, results)
				return s.abandon(ctx)
			}
			if err := s.conclude(frontier, results); err != nil {
				return nil, s.giveUp(ctx, err)
			}
		}
		if err := s.commit(ctx); err != nil {
			return nil, err
		}
		if s.limited {
			break
		}
	}
	return s.outcome(), nil
}

// settled reports whether nothing is left to commit.
func (s *session) settled() bool { return s.source == "" }

// worthKeeping reports whether a step may be committed although its context ended: every run finished, and it was no
// person who wanted it undone.
func (s *session) worthKeeping(ctx context.Context, frontier []*run, results []performed) bool {
	if errors.Is(context.Cause(ctx), ErrCancelledByPerson) || storeFailed(ctx) {
		return false
	}
	for i, r := range frontier {
		if !results[i].finished && !r.settled {
			return false
		}
	}
	return true
}

// commit makes the step durable; only then does the next begin. A commit once queued is awaited whatever ctx says.
func (s *session) commit(ctx context.Context) error {
	t := s.tree
	s.steps++
	limit := t.root.graph.StepLimit
	if limit <= 0 {
		limit = defaultStepLimit
	}
	rests := len(t.ready) == 0
	s.limited = !rests && s.steps >= limit
	if s.engine.store == nil {
		s.head.Step++
		s.source = ""
		if !rests {
			s.source = checkpoint.SourceStep
		}
		return nil
	}
	c := s.compose(ctx, rests)
	s.engine.crash("before_commit")
	version, err := s.engine.commit(ctx, c)
	if err != nil {
		err = fmt.Errorf("committing step %d of thread %s: %w", c.Checkpoint.Step, t.thread, err)
		return s.giveUp(ctx, err)
	}
	s.engine.crash("after_commit")
	s.committed(version, c.Release)
	return nil
}

// defaultStepLimit is the number of super-steps a call where a workflow names none.
const defaultStepLimit = 1000

func (s *session) committed(version checkpoint.Version, released bool) {
	s.head = version
	e := Event{Type: StepCommitted, Source: string(s.source)}
	if len(s.decisions) > 0 { // an edit or an upgrade
		e.Decision, e.By = s.decisions[0].ID, s.decisions[0].Reviewer
	}
	s.headEvent(e)
	s.source = ""
	if len(s.tree.ready) > 0 {
		s.source = checkpoint.SourceStep
	}
	if released {
		s.lease = ""
	}
	s.tree.log, s.decisions, s.applied, s.pending = nil, nil, nil, nil
}

func (s *session) compose(ctx context.Context, rests bool) checkpoint.Commit {
	t, o := s.tree, &s.engine.o
	failure := t.failure()
	if s.limited {
		failure = s.limitFailure()
	}
	c := checkpoint.Commit{
		ID: o.NewID(),
		Checkpoint: checkpoint.Checkpoint{
			Thread: t.thread, Step: s.head.Step + 1, TS: o.Now(), Source: s.source, Workflow: s.workflow,
			Fingerprint: s.fingerprint, Ended: t.ended, Next: t.next(), Interrupts: t.first(), Open: len(t.asks),
			Runs: t.log, Decisions: s.applied, Error: failure,
		},
		Parent: s.head.Step, Lease: s.lease, Ops: t.journal.flush(), Decisions: s.decisions,
		Release: rests || s.limited || ctx.Err() != nil,
		Summary: t.summary(),
	}
	if failure != nil {
		c.Summary.Error = failure.Message
	}
	if t.ended == checkpoint.Done {
		c.Checkpoint.Outputs = t.outputs.JSON()
	}
	return c
}

func (s *session) limitFailure() *checkpoint.Failure {
	return &checkpoint.Failure{
		Path: rootPath, At: s.engine.o.Now(),
		Message: fmt.Sprintf("the step limit was reached after %d steps; resume carries on", s.steps),
	}
}

// title is what lists call a question.
func (a *ask) title() string {
	q, _ := a.question()
	if q.Title != "" {
		return q.Title
	}
	if line, _, _ := strings.Cut(strings.TrimSpace(q.Message), "\n"); line != "" {
		return line
	}
	return a.Address
}

// abandon gives up a step whose context ended. What a person cancelled before anything was committed is undone: the
// answers this call brought are withdrawn. Else the thread stays at its last step, and what was decided stays decided.
func (s *session) abandon(ctx context.Context) (*Outcome, error) {
	cause := context.Cause(ctx)
	ctx = context.WithoutCancel(ctx)
	if s.engine.store == nil {
		s.headEvent(Event{Type: CancelledEv, Reason: reasonOf(cause), Text: cause.Error()})
		return nil, fmt.Errorf("thread %s: %w", s.tree.thread, cause)
	}
	var failure *storeError
	if errors.As(cause, &failure) {
		return nil, s.giveUp(ctx, failure.error)
	}
	byPerson := errors.Is(cause, ErrCancelledByPerson)
	withdraw := byPerson && s.steps == 0 && len(s.own) > 0
	if err := s.release(ctx, withdraw); err != nil {
		return nil, err
	}
	out, err := s.engine.Open(ctx, s.tree.thread)
	if err != nil {
		return nil, err
	}
	out.WasCancelled, out.Withdrawn, out.Steps = byPerson, withdraw, s.steps
	s.headEvent(Event{Type: CancelledEv, Reason: reasonOf(cause), Withdrawn: withdraw, Text: cause.Error()})
	return out, nil
}

// giveUp gives the lease back after err. One of a store that cannot be reached runs out by itself.
func (s *session) giveUp(ctx context.Context, err error) error {
	if errors.Is(err, checkpoint.ErrUnreachable) {
		s.lease = ""
		return err
	}
	return errors.Join(err, s.release(context.WithoutCancel(ctx), false))
}

// release gives the lease back; a lease already lost is no further error.
func (s *session) release(ctx context.Context, withdraw bool) error {
	if s.lease == "" || s.engine.store == nil {
		return nil
	}
	r := checkpoint.Release{Thread: s.tree.thread, Token: s.lease, Withdraw: withdraw}
	s.lease = ""
	if withdraw {
		for _, d := range s.own {
			d.Withdraws, d.ID, d.ResponseID, d.Outcome = d.ID, s.engine.o.NewID(), "", checkpoint.Withdrawn
			r.Decisions = append(r.Decisions, d)
		}
	}
	err := s.engine.giveBack(ctx, r)
	if err != nil && !errors.Is(err, checkpoint.ErrConflict) {
		return fmt.Errorf("releasing the lease of thread %s: %w", s.tree.thread, err)
	}
	if withdraw && err != nil {
		return fmt.Errorf("withdrawing the answers to thread %s: %w", s.tree.thread, err)
	}
	return nil
}

// storeError marks the cause of a context that ended because the store failed.
type storeError struct{ error }

func (e *storeError) Unwrap() error { return e.error }

// storeFailed reports whether that is why ctx has ended.
func storeFailed(ctx context.Context) bool {
	var failure *storeError
	return errors.As(context.Cause(ctx), &failure)
}

// apply puts validated answers to work on the tree.
func (s *session) apply(answers []json.RawMessage, inherited bool) error {
	for _, raw := range answers {
		var a accepted
		if err := json.Unmarshal(raw, &a); err != nil {
			return &checkpoint.CorruptError{Thread: s.tree.thread, Step: s.head.Step, Where: "accepted answer", Err: err}
		}
		s.tellAnswered(&a, inherited)
		if err := s.tree.answer(&a); err != nil {
			return err
		}
		s.applied = append(s.applied, a.Decision)
		s.source = checkpoint.SourceAnswer
	}
	if len(answers) > 0 {
		s.tree.close()
	}
	return nil
}

// running is the engine's register of sessions at work.
type running struct {
	mu      sync.Mutex
	closed  bool
	threads map[*session]struct{}
	all     sync.WaitGroup
}
