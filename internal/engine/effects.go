package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/question"
)

// accepted is an answer that was validated: what the lease keeps until the commit that holds its effects. Applying it
// to the head it was accepted at gives the same result whoever does it, and whenever.
type accepted struct {
	Decision  string          `json:"decision"`
	Interrupt string          `json:"interrupt,omitempty"` // "" for an answer to a timer or to the thread
	Path      string          `json:"path,omitempty"`      // node run of a timer
	Action    actions.Action  `json:"action"`
	Value     json.RawMessage `json:"value,omitempty"`
	Comment   string          `json:"comment,omitempty"`
	By        string          `json:"by,omitempty"`
	At        time.Time       `json:"at"`
}

func (a *accepted) record() AnswerRecord {
	value := a.Value
	if len(value) == 0 {
		value = json.RawMessage(null)
	}
	return AnswerRecord{Action: a.Action, Value: value, Comment: a.Comment, By: a.By, At: a.At}
}

// answer applies one accepted answer. Joins are left to settle, after the last answer of a call.
func (t *tree) answer(a *accepted) error {
	t.epoch = a.Decision
	t.root.write(checkpoint.OpSet, epochChannel, text(t.epoch))
	if a.Action == actions.Stop {
		t.root.end(checkpoint.Stopped)
		return nil
	}
	if a.Interrupt == "" {
		return t.wake(a.Path)
	}
	i := slices.IndexFunc(t.asks, func(x *ask) bool { return x.ID == a.Interrupt })
	if i < 0 {
		return fmt.Errorf("%w: %s", ErrUnknownQuestion, a.Interrupt)
	}
	e := effect{tree: t, ask: t.asks[i], run: t.asks[i].run, frame: t.asks[i].run.frame, a: a}
	return e.apply()
}

// wake ends a timer.
func (t *tree) wake(path string) error {
	for r := range t.runs {
		if r.path == path && !r.wake.IsZero() {
			r.frame.absorb([]*completion{r.settle()})
			return nil
		}
	}
	return fmt.Errorf("%w: no timer at %s", ErrNotWaiting, path)
}

// settle completes a run without running it: it was answered, or its timer ended. Should an output expression or a
// condition then fail it, carrying on completes it again in the same way, and asks nobody twice. Its further questions
// are withdrawn.
func (r *run) settle() *completion {
	r.settled = true
	r.withdraw()
	c := &completion{
		run: r, output: r.output, route: r.route, own: r.updates, noWrite: r.noWrite,
		cancelled: r.refused, started: r.since, attempts: r.failures + 1,
	}
	if r.refused {
		r.frame.recordRefusal(r)
		c.isFixed, c.fixed = true, r.node.Failure
		if !r.node.HasFailure {
			c.ends = r.ends
		}
	}
	return c
}

// effect is one answer at work on the run that asked.
type effect struct {
	tree   *tree
	ask    *ask
	run    *run
	frame  *frame
	a      *accepted
	answer AnswerRecord
	own    json.RawMessage // the answer in the payload's own shape, nil for the record
}

func (e *effect) apply() error {
	heard := e.heard()
	e.answer = e.a.record()
	if !heard && (e.a.Action == actions.Reply || e.a.Action == actions.End) {
		e.say()
	}
	told := e.answer
	if heard {
		own, err := e.ask.inOwnShape(e.answer)
		if err != nil {
			return fmt.Errorf("%s: %w", e.ask.Address, err)
		}
		e.own = own
		q, _ := e.ask.question()
		told.Value = actions.Recorded(q, told.Value)
	}
	if err := e.frame.record(e.run.node.Name, e.ask.Key, told); err != nil {
		return err
	}
	if heard {
		e.take()
		e.run.makeReadyOnce()
		return nil
	}
	_, routed := e.run.node.Routes[string(e.a.Action)]
	switch e.a.Action {
	case actions.Retry:
		e.retry(routed)
	case actions.Reply:
		if !routed {
			e.again(false)
			return nil
		}
		e.take()
		e.leave()
	case actions.Reject, actions.Cancel:
		e.refuse(routed)
	default:
		e.complete(routed)
	}
	return nil
}

// heard reports whether the answer goes to the program that asked, which runs again with it: every action except stop
// and retry, and except cancel and skip where the payload's shape has no word for them.
func (e *effect) heard() bool { return e.ask.hears(e.a.Action) }

func (a *ask) hears(action actions.Action) bool {
	if !a.run.node.RerunOnResume || action == actions.Retry || action == actions.Stop {
		return false
	}
	if action != actions.Cancel && action != actions.Skip {
		return true
	}
	return a.hasWordFor(action)
}

// hasWordFor reports whether the payload's shape can say an action to its asker.
func (a *ask) hasWordFor(action actions.Action) bool {
	_, shape := a.question()
	return question.HasWord(shape, a.Payload, action)
}

// inOwnShape is an answer as the program that asked hears it, nil where that is the record of the answer itself. A
// *actions.DataError says what the payload's shape cannot say.
func (a *ask) inOwnShape(rec AnswerRecord) (json.RawMessage, error) {
	_, shape := a.question()
	if shape == question.Native || shape == question.Unknown {
		return nil, nil
	}
	return question.Encode(shape, a.Payload, question.Given{
		Answer: actions.Answer{Action: rec.Action, Value: rec.Value, Comment: rec.Comment}, By: rec.By, At: rec.At,
	})
}

// take closes the question and keeps its answer with the run.
func (e *effect) take() {
	r := e.run
	if r.given == nil {
		r.given = map[string]AnswerRecord{}
	}
	if r.were == nil {
		r.were = map[string]answered{}
	}
	kept := e.answer
	kept.Own = e.own
	r.given[e.ask.Key], r.were[e.ask.Key] = kept, e.ask.answeredBy(e.answer)
	e.ask.close()
	e.tree.sweepAsks()
	r.asks = slices.DeleteFunc(r.asks, func(a *ask) bool { return a.closed })
	r.touch()
}

// makeReadyOnce runs an answered run again, with the same number and input.
func (r *run) makeReadyOnce() {
	r.epoch = r.frame.tree.epoch
	if r.status != ready {
		r.failure = nil
		r.makeReady()
	}
}

// complete answers one question of the run; with the last one, or with one that has a route, the run completes.
func (e *effect) complete(routed bool) {
	if (e.a.Action == actions.Edit || e.a.Action == actions.Save) && e.ask.ContentKey != "" {
		e.frame.set(e.ask.ContentKey, RawValue(e.answer.Value))
	}
	e.take()
	if len(e.run.asks) > 0 && !routed {
		return // it stays WAITING; the answer is stored
	}
	e.leave()
}

// leave completes the run with its answers, by the edge of the action; where it has none, by a route set before it
// asked. What is cancelled, or leaves by a retry that leads nowhere, does not complete: it writes nothing.
func (e *effect) leave() {
	r := e.run
	r.output = RawValue(e.answer.Value)
	if e.ask.Key != "" || len(r.given) > 1 {
		r.output = r.answersByKey()
	}
	if _, routed := r.node.Routes[string(e.a.Action)]; routed || r.route == "" {
		r.route = string(e.a.Action)
	}
	r.noWrite = e.a.Action == actions.Skip && e.ask.Key == ""
	if e.a.Action == actions.Cancel || e.a.Action == actions.Retry {
		r.noWrite, r.updates = true, nil
	}
	c := r.settle()
	c.cancelled = e.a.Action == actions.Cancel
	e.frame.absorb([]*completion{c})
}

// answersByKey is the output of a run with named questions: name -> value.
func (r *run) answersByKey() Value {
	values := make(map[string]Value, len(r.given))
	for key, rec := range r.given {
		values[key] = RawValue(rec.Value)
	}
	return object(values)
}

// refuse is a rejection or a withdrawal: its route, else the failure route, else the frame ends so.
func (e *effect) refuse(routed bool) {
	e.take()
	if routed {
		e.leave()
		return
	}
	status := checkpoint.Rejected
	if e.a.Action == actions.Cancel {
		status = checkpoint.Cancelled
	}
	why := &refusal{Address: e.ask.Address, Action: e.a.Action, By: e.a.By, Comment: e.a.Comment, At: e.a.At}
	e.frame.absorb([]*completion{e.run.refuse(status, why)})
}

// refuse settles a run that was rejected or cancelled: it takes its failure route, else its frame ends so.
func (r *run) refuse(status checkpoint.Status, why *refusal) *completion {
	r.refused, r.ends, r.why, r.noWrite, r.output, r.updates = true, status, why, true, Value{}, nil
	return r.settle()
}

// say appends the text of a reply, or of an end, to the conversation under review. The value of an end is the whole
// conversation.
func (e *effect) say() {
	key := e.ask.ContentKey
	if key == "" {
		return
	}
	words := RawValue(e.answer.Value)
	if !words.IsNull() {
		message := known(map[string]any{
			"role": "human", "text": words.Any(), "by": e.a.By, "at": e.a.At.UTC().Format(time.RFC3339Nano),
		})
		merged, op, operand, err := appendItems(e.frame.state[key], message)
		if err != nil {
			return // no list: the loader of workflow files refuses a conversation about anything else
		}
		e.frame.put(key, merged)
		e.frame.write(op, e.frame.stateChannel(key), operand)
	}
	if e.a.Action == actions.End {
		e.answer.Value = e.frame.state[key].JSON()
	}
}

// again replaces the run by a fresh one of the same node, with the same input; linked, after a retry, it gets the feedback.
func (e *effect) again(linked bool) {
	if linked {
		e.supersede(e.run)
	}
	e.tree.cancelled(e.run, ReasonSuperseded)
	e.frame.remove(e.run)
	next := e.frame.dispatch(e.run.index, trigger{e.run.input, e.tree.epoch})
	if linked {
		e.hand(next, e.run)
	}
}

// supersede links the questions of a run, and of the frames below it, to those that will take their place; the one that
// was answered with the feedback.
func (e *effect) supersede(r *run) {
	for _, a := range r.asks {
		if a == e.ask {
			e.tree.supersede(a, e.a.Comment, e.a.By)
		} else {
			e.tree.supersede(a, "", "")
		}
	}
	e.tree.supersedeAnswered(r)
	if r.nest == nil {
		return
	}
	for _, k := range r.nest.frames {
		k.walk(func(below *run) bool {
			for _, a := range below.asks {
				e.tree.supersede(a, "", "")
			}
			e.tree.supersedeAnswered(below)
			return true
		})
	}
}

// retry runs the suspended step again as a fresh run, or the producer its route names: then everything that waits,
// failed or is due to run at nodes reachable from there is cancelled, for it will come again.
func (e *effect) retry(routed bool) {
	if !routed {
		e.again(true)
		return
	}
	f := e.frame
	if len(e.run.node.Routes[string(actions.Retry)]) == 0 { // END
		e.take()
		e.leave()
		return
	}
	var targets []int
	for _, name := range e.run.node.Routes[string(actions.Retry)] {
		targets = append(targets, f.plan.index[name])
	}
	reach := f.plan.reachable(targets, -1)
	reach[e.run.index] = true
	former := map[int]*run{}
	for i, reached := range reach {
		if !reached {
			continue
		}
		f.clearBuffer(i)
		if r := f.runs[i]; r != nil {
			e.supersede(r)
			e.tree.cancelled(r, ReasonSuperseded)
			f.remove(r)
			former[i] = r
		}
		for _, j := range slices.Clone(f.joining) {
			f.dropArrival(j, f.plan.nodes[i].Name)
		}
	}
	feedback := RawValue(encode(e.answer))
	for _, i := range targets {
		e.hand(f.dispatch(i, trigger{feedback, e.tree.epoch}), former[i])
	}
}
