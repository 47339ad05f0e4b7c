package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// Resume validates the answers whole, takes the lease with them, and runs the thread on. Of racing resumes that answer the
// same question one wins; the others get an *AnsweredError and have run nothing. Where the head moved while the questions
// stayed open, the answers are validated against the new one, unless the request names a version: then that is a
// *checkpoint.ConflictError. A thread that somebody else runs is a *checkpoint.LeasedError once r.Wait is over.
func (e *Engine) Resume(ctx context.Context, r ResumeRequest) (*Outcome, error) {
	t := try{engine: e, request: r, until: e.o.Now().Add(r.Wait)}
	for {
		out, err := t.once(ctx)
		if err == nil || !t.again(ctx, &err) {
			return out, err
		}
	}
}

// try is a resume that may have to be tried more than once.
type try struct {
	engine  *Engine
	request ResumeRequest
	until   time.Time // it waits for others
	p       *prepared // of the last attempt, as far as that got
	moved   error     // the head moved while it was answered
	moves   int
}

func (t *try) once(ctx context.Context) (*Outcome, error) {
	e, r := t.engine, t.request
	out, err := t.resume(ctx)
	for _, lost := range []error{ErrAlreadyAnswered, ErrNotWaiting, ErrUnknownQuestion, checkpoint.ErrConflict, checkpoint.ErrLeased} {
		if !errors.Is(err, lost) {
			continue
		}
		// The race, before the head was read or after, may have been won by the very same response, sent twice.
		if done, again := e.repeated(ctx, r, true); again == nil && done != nil {
			return done, nil
		}
		break
	}
	return out, err
}

func (t *try) resume(ctx context.Context) (*Outcome, error) {
	t.p = nil
	p, err := t.engine.prepare(ctx, t.request, true)
	switch {
	case err != nil:
		return nil, err
	case p.applied != nil:
		return p.applied, nil
	case t.request.Upgrade != nil:
		return t.engine.resumeUpgraded(ctx, p)
	}
	t.p = p
	return p.run(ctx)
}

// resumeUpgraded writes the upgrade as a step of its own, now that the whole request is known to be valid under the
// new definition, and goes on from there.
func (e *Engine) resumeUpgraded(ctx context.Context, p *prepared) (out *Outcome, err error) {
	r := p.request
	if p.current {
		out, err = e.Open(ctx, r.Thread)
	} else {
		out, err = e.writeUpgrade(ctx, r)
	}
	if err != nil {
		return nil, err
	}
	if len(r.Answers) == 0 && !r.CarryOn && out.Status != checkpoint.Stalled && out.Status != checkpoint.Failed {
		return out, nil
	}
	r.Upgrade, r.IfVersion = nil, nil
	return e.Resume(ctx, r)
}

// Check validates as Resume would and changes nothing.
func (e *Engine) Check(ctx context.Context, r ResumeRequest) error {
	_, err := e.prepare(ctx, r, false)
	return err
}

// prepared is a resume that was validated whole and has written nothing.
type prepared struct {
	request ResumeRequest // without an answer that answers nothing
	session *session
	head    *head
	current bool // it has the definition that an upgrade asks for
	answers []json.RawMessage
	seen    int      // accepted answers that nobody has applied yet
	applied *Outcome // the response was applied before
	taken   bool     // it has, or had, the lease
	wanted  []string // ids of the questions answered, or paths of timers
}

// prepare reads the head and validates a request against it. With carry it first runs on a thread that crashed with
// accepted answers, so that new ones meet the state the earlier lead to.
func (e *Engine) prepare(ctx context.Context, r ResumeRequest, carry bool) (*prepared, error) {
	if r.CarryOn && len(r.Answers) > 0 {
		return nil, fmt.Errorf("%w: carrying on answers nothing; give no answer with it", ErrInvalidRequest)
	}
	if done, err := e.repeated(ctx, r, carry); done != nil || err != nil {
		return &prepared{applied: done}, err
	}
	h, err := e.read(ctx, r.Thread)
	if err != nil {
		return nil, err
	}
	if lease := h.info.Lease; lease != nil && lease.Live {
		return nil, e.lost(ctx, h, r, &checkpoint.LeasedError{Thread: r.Thread, Holder: lease.Holder, Until: lease.Until})
	}
	if err := claimed(h, r, e.o.Now()); err != nil {
		return nil, err
	}
	p := &prepared{head: h, session: e.session(h)}
	if h.info.Lease != nil {
		p.seen = h.info.Lease.Answers
	}
	if isCarryOn(h, r) {
		r.Answers = nil
	}
	p.request = r
	if p.seen > 0 && len(r.Answers) > 0 && carry {
		if err := e.answeredAlready(ctx, h, r); err != nil {
			return nil, err
		}
		out, err := p.run(ctx)
		switch {
		case err != nil:
			return nil, err
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case out.WasCancelled:
			return nil, ErrCancelledByPerson
		}
		return e.prepare(ctx, r, true)
	}
	if r.Upgrade != nil {
		p.current = h.checkpoint.Fingerprint == r.Upgrade.Fingerprint && h.tree.source == r.Upgrade.Source
		if err := e.upgrade(ctx, h, *r.Upgrade); err != nil {
			return nil, err
		}
		p.session = e.session(h)
		if len(r.Answers) == 0 {
			return p, errors.Join(checkVersion(h, r.IfVersion), p.idle(r))
		}
	}
	if len(r.Answers) == 0 {
		return p, p.carryOn(ctx, r)
	}
	if err := p.accept(ctx, r); err != nil {
		return nil, err
	}
	return p, nil
}

// session makes a session that is about to run a thread on from its head.
func (e *Engine) session(h *head) *session {
	return &session{
		engine: e, tree: h.tree, workflow: h.checkpoint.Workflow, fingerprint: h.checkpoint.Fingerprint,
		workdir: h.info.Workdir, head: h.checkpoint.Version(),
	}
}

// run takes the lease, with the answers, and runs the thread on.
func (p *prepared) run(ctx context.Context) (*Outcome, error) {
	s := p.session
	e, t := s.engine, s.tree
	token := e.o.NewID()
	lease, err := e.acquire(ctx, checkpoint.LeaseRequest{
		Thread: t.thread, Token: token, Holder: e.o.Holder, TTL: e.o.LeaseTTL, Head: s.head, Seen: p.seen,
		Answers: p.answers, Decisions: s.own,
	})
	if err != nil {
		return nil, e.lostRace(ctx, p, err)
	}
	s.lease, p.taken = lease.Token, true
	e.crash("lease_taken")
	err = s.inherit(lease.Results)
	if inherited := len(lease.Answers) - len(p.answers); err == nil && inherited > 0 {
		err = s.apply(lease.Answers[:inherited], true)
	}
	if err != nil {
		return nil, s.broke(s.giveUp(ctx, err))
	}
	if s.source == "" && len(t.ready) > 0 {
		s.source = checkpoint.SourceStep
	}
	return s.run(ctx)
}

// isCarryOn recognises a response that names no action and no question, to a thread where it answers nothing: one
// that failed or stalled, and any that is to be put on another definition. Data beside an open question is meant for
// that question.
func isCarryOn(h *head, r ResumeRequest) bool {
	if len(r.Answers) != 1 || len(r.Answers[0].Data) > 0 && len(h.tree.asks) > 0 {
		return false
	}
	a := r.Answers[0]
	return a.Action == "" && a.Interrupt == "" &&
		(r.Upgrade != nil || h.info.Status == checkpoint.Stalled || h.info.Status == checkpoint.Failed)
}

// carryOn prepares a resume that answers nothing: failed runs are tried again, and only those; timers end.
func (p *prepared) carryOn(ctx context.Context, r ResumeRequest) error {
	t := p.head.tree
	if err := checkVersion(p.head, r.IfVersion); err != nil {
		return err
	}
	if t.ended != "" {
		return fmt.Errorf("%w: thread %s is %s", ErrNotWaiting, t.thread, t.ended)
	}
	if err := p.idle(r); err != nil {
		return err
	}
	stalled := len(t.ready) > 0 || p.session.source != ""
	if p.seen > 0 || stalled && !r.CarryOn {
		return nil
	}
	if t.failure() != nil {
		t.retryFailed()
		p.session.source = checkpoint.SourceStep
		return nil
	}
	if stalled {
		return nil
	}
	if len(t.asks) > 0 {
		return fmt.Errorf("%w: thread %s waits for an answer to %s", ErrNotWaiting, t.thread, t.asks[0].Address)
	}
	return p.accept(ctx, ResumeRequest{Thread: r.Thread, Answers: []Answer{{}}, By: r.By})
}

// idle is an error for a request to carry on a thread in which nothing stalled or failed.
func (p *prepared) idle(r ResumeRequest) error {
	t := p.head.tree
	if !r.CarryOn || p.seen > 0 || p.session.source != "" || len(t.ready) > 0 || t.failure() != nil {
		return nil
	}
	return fmt.Errorf("%w for a runner: nothing has failed in thread %s, which is %s", ErrNotWaiting, t.thread, p.head.info.Status)
}

// retryFailed gives every failed run another round of attempts.
func (t *tree) retryFailed() {
	for r := range t.runs {
		if r.status != failed {
			continue
		}
		r.failure = nil
		if r.barrier {
			r.frame.reopen(r)
			continue
		}
		r.makeReady()
	}
	t.close()
}
