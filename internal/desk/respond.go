package desk

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// decides finds whoever takes decisions for a thread.
func (d *Desk) decides(ctx context.Context, thread, what string) (Answerer, string, error) {
	if d.o.ReadOnly {
		return nil, "", readOnly(what)
	}
	answerer, ok := d.source.(Answerer)
	if !ok {
		return nil, "", unsupported(what)
	}
	id, err := d.resolve(ctx, thread)
	return answerer, id, err
}

// complete fills in what a decision leaves open.
func (d *Desk) complete(x Decision) Decision {
	if x.Reviewer == "" {
		x.Reviewer = d.o.Reviewer
	}
	if x.ResponseID == "" {
		x.ResponseID = d.o.NewID()
	}
	if x.DecidedAt.IsZero() {
		x.DecidedAt = d.o.Now()
	}
	return x
}

// Respond validates a decision and puts it into the outbox, where it waits for the grace time. draft is what was
// typed for it, to go on with after taking back; nil when nothing was. A refusal leaves nothing behind. A second
// answer to the same question replaces the first.
func (d *Desk) Respond(ctx context.Context, x Decision, draft *Draft) (*Entry, error) {
	if err := CheckReviewer(x.Reviewer); err != nil {
		return nil, err
	}
	e, err := d.prepare(ctx, x, draft)
	if err != nil {
		return nil, err
	}
	return d.post(e)
}

// RespondAll puts decisions, one for each of several questions, into the outbox as one bulk, which is taken back as
// a whole. draft is what was typed for all, nil for nothing. It reports one by one: of each index either the entry or the
// error is set.
func (d *Desk) RespondAll(ctx context.Context, decisions []Decision, draft *Draft) ([]*Entry, []error) {
	entries, errs := make([]*Entry, len(decisions)), make([]error, len(decisions))
	bulk := d.o.NewID()
	for i, x := range decisions {
		var e *entry
		err := CheckReviewer(x.Reviewer)
		if err == nil {
			e, err = d.prepare(ctx, x, draft)
		}
		if err == nil {
			e.Bulk = bulk
			entries[i], err = d.post(e)
		}
		errs[i] = err
	}
	return entries, errs
}

// prepare validates a decision against the question that is open. Those of people come by Respond, which takes no name of a rule.
func (d *Desk) prepare(ctx context.Context, x Decision, draft *Draft) (*entry, error) {
	answerer, id, err := d.decides(ctx, x.Thread, "answer")
	if err != nil {
		return nil, err
	}
	x.Thread = id
	x = d.complete(x)
	detail, err := d.source.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	q, err := find(detail, x)
	if err != nil {
		return nil, err
	}
	if q.ID != "" {
		x.Question = q.ID
	}
	if x.Title == "" {
		x.Title = q.Name()
	}
	if x.Shown == "" {
		x.Shown = q.ShownHash
	}
	request := AnswerRequest{Thread: id, Decisions: []Decision{x}, Version: x.Version, Reviewer: x.Reviewer, Steal: x.Steal}
	if err := answerer.Check(ctx, request); err != nil && !d.heldBack(id, detail, err) {
		return nil, err
	}
	e := &entry{question: q, typed: draft != nil && draft.Text != ""}
	e.Entry = Entry{ID: d.o.NewID(), Decision: x, Draft: draftOf(x, q, draft)}
	return e, nil
}

// heldBack reports whether a check failed only because the thread runs just now: the answer is then held until the
// thread rests, and checked again when it is sent. A version that our own run is about to move is no fault either.
func (d *Desk) heldBack(thread string, detail *Detail, err error) bool {
	code := Code(err)
	if code == CodeRunning {
		return true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return code == CodeConflict && d.runs.has(thread)
}

// find is the open question that x answers; a zero one for a decision about the thread as a whole.
func find(detail *Detail, x Decision) (Question, error) {
	if x.Question == "" {
		if x.Action != "" && len(detail.Questions) == 1 {
			return detail.Questions[0], nil
		}
		return Question{}, nil
	}
	var byKey []Question
	for _, q := range detail.Questions {
		if q.ID == x.Question || q.Address == x.Question {
			return q, nil
		}
		if q.Key == x.Question {
			byKey = append(byKey, q)
		}
	}
	if len(byKey) == 1 {
		return byKey[0], nil
	}
	return Question{}, noQuestion(detail, x)
}

// noQuestion says why the question that x answers is not open.
func noQuestion(detail *Detail, x Decision) error {
	for _, row := range detail.Accepted {
		if row.Question == x.Question || row.Address == x.Question {
			return &Error{
				Code: CodeAlreadyAnswered, Message: fmt.Sprintf("%s was already answered: %s by %s", row.Address, row.Action, row.Reviewer),
				Details: map[string]any{"by": row.Reviewer, "action": row.Action, "at": row.DecidedAt},
			}
		}
	}
	if len(detail.Questions) == 0 {
		return &Error{Code: CodeNotWaiting, Message: "thread " + detail.ID + " asks nothing now; it is " + detail.Status}
	}
	open := make([]string, len(detail.Questions))
	for i, q := range detail.Questions {
		open[i] = q.Address
	}
	return &Error{
		Code: CodeNotFound, Message: "no open question " + x.Question + " in thread " + detail.ID,
		Remedy: "open are " + strings.Join(open, ", "), Details: map[string]any{"open": open},
	}
}

// draftOf is what an entry leaves behind when it is not sent.
func draftOf(x Decision, q Question, typed *Draft) *Draft {
	draft := NewDraft(q)
	draft.Thread, draft.Action = x.Thread, x.Action
	if typed != nil {
		draft.Text, draft.Raw = typed.Text, typed.Raw
		if typed.Action != "" {
			draft.Action = typed.Action
		}
		return &draft
	}
	if len(x.Data) > 0 && json.Unmarshal(x.Data, &draft.Text) != nil {
		draft.Text, draft.Raw = string(x.Data), true
	}
	return &draft
}

// post puts a prepared entry into the outbox.
func (d *Desk) post(e *entry) (*Entry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.put(e)
}

// postRuled puts the answer of a rule into the outbox, unless a person has come to the question meanwhile.
func (d *Desk) postRuled(e *entry, t Thread) (*Entry, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.mayRule(t, e.question, d.o.Now()) {
		return nil, nil
	}
	posted, err := d.put(e)
	if err == nil {
		name, _ := ByRule(e.Decision.Reviewer)
		s := d.rules.state(name)
		s.Answered, s.Last = s.Answered+1, d.o.Now()
	}
	return posted, err
}

// put is post with d.mu held.
func (d *Desk) put(e *entry) (*Entry, error) {
	if d.closed {
		return nil, ErrClosed
	}
	now := d.o.Now()
	e.State, e.SendAt = Unsent, now.Add(cmp.Or(e.grace, d.o.Grace))
	// A deadline that is over does nothing any more where no default would answer.
	due, ahead := e.question.Due, e.question.Due.After(now) || e.question.DefaultAction != ""
	if !due.IsZero() && ahead && !due.After(e.SendAt) {
		e.SendAt, e.urgent = now, true
	}
	if e.question.ID != "" && d.o.Secret(e.question) {
		d.outbox.secret[e.question.ID] = true
	}
	former := d.outbox.entries
	replaced := d.replacedBy(e)
	d.outbox.entries = slices.DeleteFunc(append(slices.Clone(former), e), func(x *entry) bool { return slices.Contains(replaced, x) })
	if err := d.files.writeOutbox(d.outbox.kept()); err != nil {
		d.outbox.entries = former
		return nil, &Error{Code: CodeStoreUnavailable, Message: "the decision could not be kept", Remedy: err.Error(), Err: err}
	}
	for _, old := range replaced {
		old.State = TakenBack
		d.runs.withdraw(old)
		if name, is := ByRule(old.Decision.Reviewer); is {
			d.rules.state(name).Answered--
		}
	}
	if err := d.dropDraft(e.Decision.Thread, e.question.ID, keyOf(*e.Draft)); err != nil {
		d.o.Log.Warn("draft not removed", "error", err)
	}
	d.pump()
	d.hub.publish(Event{Kind: OutboxChanged})
	posted := e.Entry
	return &posted, nil
}

// replacedBy lists the entries for the same question which the engine has not been given yet. d.mu is held.
func (d *Desk) replacedBy(e *entry) []*entry {
	var found []*entry
	for _, old := range d.outbox.entries {
		same := old.Decision.Thread == e.Decision.Thread && old.Decision.Question == e.Decision.Question
		if same && (old.waits() || old.State == Queued) {
			found = append(found, old)
		}
	}
	return found
}

// Answer sends decisions of one thread at once, without the outbox, and waits until the thread rests: the command
// line and HTTP. With check nothing is done but the validation.
func (d *Desk) Answer(ctx context.Context, decisions []Decision, check bool) (*Result, error) {
	request, err := requestFor(decisions)
	if err != nil {
		return nil, err
	}
	return d.AnswerWith(ctx, *request, check)
}

// AnswerWith is Answer for a request that also says to upgrade.
func (d *Desk) AnswerWith(ctx context.Context, request AnswerRequest, check bool) (*Result, error) {
	answerer, id, err := d.decides(ctx, request.Thread, "answer")
	if err != nil {
		return nil, err
	}
	request.Thread = id
	if request.Reviewer == "" {
		request.Reviewer = d.o.Reviewer
	}
	if err := CheckReviewer(request.Reviewer); err != nil {
		return nil, err
	}
	for i, x := range request.Decisions {
		if err := CheckReviewer(x.Reviewer); err != nil {
			return nil, err
		}
		x.Thread = id
		request.Decisions[i] = d.complete(x)
	}
	if check {
		return nil, answerer.Check(ctx, request)
	}
	began := d.o.Now()
	result, err := answerer.Answer(ctx, request)
	if err != nil {
		return nil, err
	}
	result.Duration = d.o.Now().Sub(began)
	return result, nil
}

// requestFor makes one request of decisions that must be about one thread and one version.
func requestFor(decisions []Decision) (*AnswerRequest, error) {
	if len(decisions) == 0 {
		return nil, usagef("no answer given")
	}
	first := decisions[0]
	request := &AnswerRequest{
		Thread: first.Thread, Decisions: slices.Clone(decisions), Version: first.Version, Reviewer: first.Reviewer, Steal: first.Steal,
	}
	for _, x := range decisions {
		if x.Thread != first.Thread {
			return nil, usagef("the answers name two threads, %s and %s: answer them one by one", first.Thread, x.Thread)
		}
		if x.Version != first.Version {
			return nil, usagef("the answers name two versions, %q and %q", first.Version, x.Version)
		}
	}
	return request, nil
}
