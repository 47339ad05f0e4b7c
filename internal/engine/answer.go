package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/nearest"
)

// accept validates every answer of a request against the head and applies them to the tree in memory, one after the
// other: what that refuses is refused before anything is written.
func (p *prepared) accept(ctx context.Context, r ResumeRequest) error {
	var list []accepted
	for _, in := range r.Answers {
		a, d, err := p.validate(ctx, r, in)
		if err != nil {
			return p.orCarryOn(in, err)
		}
		if a.Interrupt != "" && slices.ContainsFunc(list, func(x accepted) bool { return x.Interrupt == a.Interrupt }) {
			return fmt.Errorf("%w: %s is answered twice in one call; give one answer", ErrInvalidRequest, d.Address)
		}
		raw := encode(a)
		list = append(list, a)
		p.answers = append(p.answers, raw)
		p.session.own = append(p.session.own, d)
		p.wanted = append(p.wanted, cmp.Or(a.Interrupt, a.Path))
	}
	if err := checkVersion(p.head, r.IfVersion); err != nil {
		return err
	}
	err := p.session.apply(p.answers, false)
	if n := len(p.session.applied); n > 0 && errors.Is(err, ErrUnknownQuestion) {
		return &overruledError{p.session.own[:n], p.session.own[n]}
	}
	return err
}

// orCarryOn adds to the refusal of an answer that says nothing that something failed too, which may have been meant.
func (p *prepared) orCarryOn(in Answer, err error) error {
	failure := p.head.tree.failedRun()
	if !in.isBare() || failure == nil {
		return err
	}
	return fmt.Errorf("%w; %s failed, too: --carry-on runs it again and answers nothing", err, failure.address(""))
}

func (p *prepared) validate(ctx context.Context, r ResumeRequest, in Answer) (accepted, checkpoint.Decision, error) {
	action := actions.Continue
	if in.Action != "" {
		var err error
		if action, err = actions.Parse(in.Action); err != nil {
			return accepted{}, checkpoint.Decision{}, err
		}
	}
	now := p.session.engine.o.Now()
	a := accepted{Decision: p.session.engine.o.NewID(), Action: action, By: in.Reviewer, At: in.DecidedAt}
	if a.By == "" {
		a.By = r.By
	}
	if a.At.IsZero() {
		a.At = now
	}
	a.At = a.At.UTC()
	d := checkpoint.Decision{
		ID: a.Decision, ResponseID: in.ResponseID, Thread: r.Thread, Version: p.head.checkpoint.Version(),
		Action: string(action), Data: in.Data, Reviewer: a.By, DecidedAt: a.At, ShownHash: in.ShownHash, Outcome: checkpoint.Applied,
	}
	q, timer, err := p.find(ctx, r, in.Interrupt, action)
	switch {
	case err != nil:
		return a, d, err
	case q != nil:
		return p.validateQuestion(q, in, a, d)
	case action == actions.Stop:
		return a, d, nil
	}
	d.Path, a.Path = timer.path, timer.path
	d.Address, d.WaitedSeconds = timer.address(""), waited(timer.since, a.At)
	if action != actions.Continue {
		return a, d, &actions.NotAllowedError{Action: action, Allowed: []actions.Action{actions.Continue, actions.Stop}}
	}
	return a, d, nil
}

func (p *prepared) validateQuestion(x *ask, in Answer, a accepted, d checkpoint.Decision) (accepted, checkpoint.Decision, error) {
	q, _ := x.question()
	answer, err := actions.Validate(q, a.Action, in.Data)
	if err != nil {
		return a, d, fmt.Errorf("%s: %w", x.Address, err)
	}
	if err := x.sayable(answer, a); err != nil {
		return a, d, fmt.Errorf("%s: %w", x.Address, err)
	}
	a.Interrupt, a.Value, a.Comment = x.ID, answer.Value, answer.Comment
	d.Data = actions.Recorded(q, in.Data)
	d.Interrupt, d.Key, d.Address, d.Path = x.ID, x.Key, x.Address, x.Path
	d.Comment, d.WaitedSeconds = answer.Comment, waited(x.Asked, a.At)
	if d.ShownHash == "" {
		d.ShownHash = x.shownHash(q)
	}
	return a, d, nil
}

// sayable refuses an answer that fits the question and yet cannot be said in the shape of its payload, before anything is
// written.
func (a *ask) sayable(answer actions.Answer, by accepted) error {
	if !a.hears(answer.Action) {
		return nil
	}
	_, err := a.inOwnShape(AnswerRecord{Action: answer.Action, Value: answer.Value, Comment: answer.Comment, By: by.By, At: by.At})
	return err
}

// find resolves what an answer is for: an open question, by id, address or unique key; a timer; or, for stop, the
// thread itself.
func (p *prepared) find(ctx context.Context, r ResumeRequest, name string, action actions.Action) (*ask, *run, error) {
	t := p.head.tree
	if t.ended != "" {
		if err := p.session.engine.answered(ctx, p.head, name, r.IfVersion); err != nil {
			return nil, nil, err
		}
		return nil, nil, fmt.Errorf("%w: thread %s is %s", ErrNotWaiting, t.thread, t.ended)
	}
	if name == "" {
		return p.findOnly(ctx, r, action)
	}
	var byKey []*ask
	for _, a := range t.asks {
		if a.ID == name || a.Address == name {
			return a, nil, nil
		}
		if a.Key == name {
			byKey = append(byKey, a)
		}
	}
	if len(byKey) == 1 {
		return byKey[0], nil, nil
	}
	for timer := range t.runs {
		if !timer.wake.IsZero() && (timer.address("") == name || timer.path == name) {
			return nil, timer, nil
		}
	}
	if err := p.session.engine.answered(ctx, p.head, name, nil); err != nil {
		return nil, nil, err
	}
	return nil, nil, fmt.Errorf("%w %q%s; open are %s", ErrUnknownQuestion, name, nearest.Hint(name, addressList(t.asks)), addresses(t.asks))
}

// findOnly resolves an answer that names nothing.
func (p *prepared) findOnly(ctx context.Context, r ResumeRequest, action actions.Action) (*ask, *run, error) {
	t := p.head.tree
	if len(t.asks) == 1 {
		return t.asks[0], nil, nil
	}
	if action == actions.Stop {
		return p.stopped()
	}
	if len(t.asks) > 1 {
		return nil, nil, fmt.Errorf("%w: name one of %s", ErrWhichQuestion, addresses(t.asks))
	}
	var timer *run
	for r := range t.runs {
		if r.status == waiting && (timer == nil || r.wake.Before(timer.wake)) {
			timer = r
		}
	}
	if timer != nil {
		return nil, timer, nil
	}
	if err := p.session.engine.answered(ctx, p.head, "", r.IfVersion); err != nil {
		return nil, nil, err
	}
	return nil, nil, fmt.Errorf("%w: thread %s is %s and asks nothing; resume it without an action to carry it on", ErrNotWaiting, t.thread, p.head.info.Status)
}

// stopped lets a thread be stopped whatever it waits for, unless it asks and no question allows it.
func (p *prepared) stopped() (*ask, *run, error) {
	t := p.head.tree
	if len(t.asks) == 0 {
		return nil, nil, nil
	}
	for _, a := range t.asks {
		q, _ := a.question()
		if slices.Contains(actions.Allowed(q), actions.Stop) {
			return a, nil, nil
		}
	}
	return t.asks[0], nil, nil
}

func addresses(asks []*ask) string {
	if len(asks) == 0 {
		return "none"
	}
	return strings.Join(addressList(asks), ", ")
}

func addressList(asks []*ask) []string {
	names := make([]string, len(asks))
	for i, a := range asks {
		names[i] = a.Address
	}
	return names
}

// checkVersion refuses an answer to what is no longer there.
func checkVersion(h *head, v *checkpoint.Version) error {
	if v == nil || (v.Step == h.checkpoint.Step && (v.Revision == 0 || v.Revision == h.checkpoint.Revision)) {
		return nil
	}
	return &checkpoint.ConflictError{
		Thread: h.checkpoint.Thread, Step: v.Step, Expected: v.Revision, Actual: h.checkpoint.Revision,
		Reason: fmt.Sprintf("it has moved on: you answered version %d.%d, it is at %d.%d", v.Step, v.Revision, h.checkpoint.Step, h.checkpoint.Revision),
	}
}

// reviewer is who makes the request.
func (r *ResumeRequest) reviewer() string {
	by := r.By
	for _, a := range r.Answers {
		if a.Reviewer != "" {
			by = a.Reviewer
		}
	}
	return by
}

// claimed refuses to answer what somebody else has claimed. Of a thread that has ended that is no reason: what was done
// last is.
func claimed(h *head, r ResumeRequest, now time.Time) error {
	c := h.info.Claim
	if c == nil || r.Steal || !c.Until.After(now) || h.tree.ended != "" {
		return nil
	}
	if r.reviewer() == c.Reviewer {
		return nil
	}
	return &ClaimedError{Thread: r.Thread, By: c.Reviewer, Until: c.Until}
}

// deadlineReviewer is who decides when a question's time is over.
const deadlineReviewer = "deadline"

// repeated finds out whether every answer of a request was applied before, under the same response id. With carry a
// thread that crashed on the way is run on.
func (e *Engine) repeated(ctx context.Context, r ResumeRequest, carry bool) (*Outcome, error) {
	if e.store == nil || len(r.Answers) == 0 {
		return nil, nil
	}
	for _, a := range r.Answers {
		if a.ResponseID == "" {
			return nil, nil
		}
		d, err := e.store.FindDecision(ctx, r.Thread, a.ResponseID)
		if errors.Is(err, checkpoint.ErrNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("thread %s: %w", r.Thread, err)
		}
		if gone, err := e.withdrawn(ctx, r.Thread, d.ID); err != nil || gone {
			return nil, errors.Join(err, &checkpoint.ConflictError{
				Thread: r.Thread, Reason: fmt.Sprintf("response %s was cancelled and withdrawn; answer again under a new response id", a.ResponseID),
			})
		}
	}
	out, err := e.Open(ctx, r.Thread)
	if err == nil && out.Status == checkpoint.Stalled && carry {
		if on, err := e.Resume(ctx, ResumeRequest{Thread: r.Thread, Steal: true}); err == nil {
			out = on
		}
	}
	if err != nil {
		return nil, err
	}
	out.AlreadyApplied = true
	return out, nil
}

// withdrawn reports whether a decision was taken back.
func (e *Engine) withdrawn(ctx context.Context, thread, decision string) (bool, error) {
	for d, err := range e.store.Decisions(ctx, thread) {
		if err != nil {
			return false, err
		}
		if d.Withdraws == decision {
			return true, nil
		}
	}
	return false, nil
}

// answered is an *AnsweredError if the question a name meant was answered before: named by id, by address or key (the
// latest of that name), or by nothing but the version that was shown.
func (e *Engine) answered(ctx context.Context, h *head, name string, v *checkpoint.Version) error {
	if name == "" && v == nil {
		return nil
	}
	var last *checkpoint.Decision
	gone := map[string]bool{}
	var rows []*checkpoint.Decision
	for d, err := range e.store.Decisions(ctx, h.checkpoint.Thread) {
		if err != nil {
			return err
		}
		if d.Withdraws != "" {
			gone[d.Withdraws] = true
			continue
		}
		if !aboutThread(d) {
			rows = append(rows, d)
		}
	}
	for _, d := range rows {
		named := name != "" && (d.Interrupt == name || d.Address == name || d.Key == name)
		shown := name == "" && d.Version.Step == v.Step
		if (named || shown) && !gone[d.ID] {
			last = d
		}
	}
	if last == nil {
		return nil
	}
	return &AnsweredError{
		Thread: last.Thread, Interrupt: last.Interrupt, Address: last.Address, Action: last.Action, By: last.Reviewer, At: last.DecidedAt,
	}
}

// answeredAlready refuses answers to questions whose accepted answers nobody has applied yet.
func (e *Engine) answeredAlready(ctx context.Context, h *head, r ResumeRequest) error {
	p := &prepared{head: h, session: e.session(h)}
	for _, a := range r.Answers {
		q, _, err := p.find(ctx, r, a.Interrupt, actions.Continue)
		if err != nil || q == nil {
			continue // judged once the thread has come to rest
		}
		if err := e.answered(ctx, h, q.ID, nil); err != nil {
			return pending(err)
		}
	}
	return nil
}

// pending marks an answer that came first as one whose effects are not stored yet.
func pending(err error) error {
	var first *AnsweredError
	if errors.As(err, &first) {
		first.Pending = true
	}
	return err
}

// lost turns a live lease in other hands into the name of who answered first, where that is what happened.
func (e *Engine) lost(ctx context.Context, h *head, r ResumeRequest, err error) error {
	p := &prepared{head: h, session: e.session(h)}
	for _, a := range r.Answers {
		if a.isBare() {
			continue // it may be meant to carry the thread on
		}
		if q, _, _ := p.find(ctx, r, a.Interrupt, actions.Continue); q != nil {
			p.wanted = append(p.wanted, q.ID)
		}
	}
	return pending(e.lostRace(ctx, p, err))
}

func (e *Engine) lostRace(ctx context.Context, p *prepared, err error) error {
	if !errors.Is(err, checkpoint.ErrConflict) && !errors.Is(err, checkpoint.ErrLeased) {
		return fmt.Errorf("thread %s: %w", p.head.checkpoint.Thread, err)
	}
	for _, id := range p.wanted {
		if id == "" {
			continue
		}
		var first *AnsweredError
		if e := e.answered(ctx, p.head, id, nil); errors.As(e, &first) {
			return first
		}
	}
	return err
}
