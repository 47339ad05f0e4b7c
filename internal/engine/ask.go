package engine

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// wait takes what a run gave that does not complete it: questions asked and withdrawn, a timer, and what it holds
// until it completes. It reports whether the run waits; a run that has nothing open any more completes.
func (r *run) wait(res Result) (bool, error) {
	if err := r.checkAsks(res.Interrupts); err != nil {
		return false, err
	}
	for _, a := range r.asks {
		if slices.Contains(res.Closed, a.Key) {
			a.close()
			r.frame.tree.tell(r.event(Event{Type: CancelledEv, Interrupt: a.ID, Address: a.Address, Reason: ReasonWithdrawn}))
		}
	}
	for _, x := range res.Interrupts {
		r.ask(x)
	}
	if len(res.Closed) > 0 {
		r.frame.tree.sweepAsks()
	}
	r.asks = slices.DeleteFunc(r.asks, func(a *ask) bool { return a.closed })
	if len(r.asks) == 0 && res.WakeAt.IsZero() {
		return false, nil
	}
	r.wake, r.since = res.WakeAt, r.frame.tree.now()
	r.become(waiting)
	r.frame.tree.visit(r.frame)
	if !res.Output.IsNull() {
		r.output = res.Output
	}
	if res.Route != "" {
		r.route = res.Route
	}
	r.updates = res.Updates
	r.touch()
	return true, nil
}

// checkAsks refuses questions that could not be kept.
func (r *run) checkAsks(asks []Ask) error {
	payloads := map[string]json.RawMessage{}
	for _, x := range asks {
		if !json.Valid(x.Payload) {
			return fmt.Errorf("the payload of question %q is not JSON", x.Key)
		}
		if first, twice := payloads[x.Key]; twice && !bytes.Equal(first, x.Payload) {
			return fmt.Errorf("two different questions have the key %q", x.Key)
		}
		payloads[x.Key] = x.Payload
	}
	return nil
}

// ask opens a question. An open key asked again keeps its id and its clock, but for a deadline that its asker moved; a
// key that was answered is a new question, and its answer no longer counts.
func (r *run) ask(x Ask) {
	t := r.frame.tree
	t.stands = nil
	for _, a := range r.asks {
		if a.Key == x.Key && !a.closed {
			a.ContentKey = x.ContentKey
			a.becomes(x)
			a.touch()
			return
		}
	}
	delete(r.given, x.Key)
	delete(r.were, x.Key)
	now := t.now()
	a := &ask{run: r, Interrupt: checkpoint.Interrupt{
		ID: t.newID(), Key: x.Key, Address: r.address(x.Key), Node: r.node.Name, Path: r.path,
		Payload: bytes.TrimSpace(x.Payload), ContentKey: x.ContentKey, Asked: now, Place: t.lastPlace() + 1,
	}}
	q, _ := a.question()
	if a.ContentKey == "" {
		a.ContentKey = q.ContentKey
	}
	a.Due = q.Due(now, cmp.Or(x.Timeout, q.Timeout()))
	if l, ok := t.links[a.Address]; ok {
		previous := l.Previous
		a.Previous, a.Round = &previous, l.Round
		delete(t.links, a.Address)
		t.linksChanged()
	}
	r.asks = append(r.asks, a)
	t.asks = append(t.asks, a)
	a.touch()
	t.tellAsked(a)
}

// becomes takes over what is asked again, and a deadline in it that is another than before: that clock is not ours.
func (a *ask) becomes(x Ask) {
	payload := json.RawMessage(bytes.TrimSpace(x.Payload))
	if bytes.Equal(a.Payload, payload) {
		return
	}
	before, _ := a.question()
	a.Payload, a.read = payload, false
	q, _ := a.question()
	if before.Deadline == nil && q.Deadline == nil || before.Deadline != nil && q.Deadline != nil && before.Deadline.Equal(*q.Deadline) {
		return
	}
	a.Due, a.Overdue = q.Due(a.Asked, cmp.Or(x.Timeout, q.Timeout())), false
}

// close ends a question. Whoever closes some has the tree forget them.
func (a *ask) close() {
	a.closed = true
	a.touch()
}

func (a *ask) touch() { a.run.frame.tree.journal.asked(a) }

// lastPlace is that of the latest open question, 0 without one.
func (t *tree) lastPlace() int {
	if len(t.asks) == 0 {
		return 0
	}
	return t.asks[len(t.asks)-1].Place
}

// address is the readable name of a question: review, confirm.name, triage/2/decide.
func (r *run) address(key string) string {
	if key == "" {
		return r.frame.address + r.node.Name
	}
	return r.frame.address + r.node.Name + "." + key
}

// content is what is under review: the state key at the head, nil where the question names none.
func (a *ask) content() json.RawMessage {
	if a.ContentKey == "" {
		return nil
	}
	return a.run.frame.state[a.ContentKey].JSON()
}

// supersede remembers a withdrawn question for the one that will be asked in its place.
func (t *tree) supersede(a *ask, feedback, by string) {
	q, _ := a.question()
	t.links[a.Address] = link{
		Previous: checkpoint.Previous{ID: a.ID, Feedback: feedback, By: by, Content: q.Content},
		Round:    max(a.Round, 1) + 1,
	}
	t.linksChanged()
}

// unlink forgets the earlier rounds of questions in a frame that has ended, which will not be asked again in it.
func (t *tree) unlink(f *frame) {
	t.forgetLinks(func(address string) bool { return strings.HasPrefix(address, f.address) })
}

// unlinkRun forgets the earlier rounds of questions of a run that has ended without asking them again.
func (t *tree) unlinkRun(r *run) {
	if len(t.links) == 0 {
		return
	}
	own := r.address("")
	t.forgetLinks(func(address string) bool { return address == own || strings.HasPrefix(address, own+".") })
}

func (t *tree) forgetLinks(gone func(address string) bool) {
	before := len(t.links)
	maps.DeleteFunc(t.links, func(address string, _ link) bool { return gone(address) })
	if len(t.links) < before {
		t.linksChanged()
	}
}

func (t *tree) linksChanged() {
	channel := t.root.channel("links")
	if len(t.links) == 0 {
		t.root.write(checkpoint.OpDelete, channel, Value{})
		return
	}
	t.root.write(checkpoint.OpSet, channel, RawValue(encode(t.links)))
}

// waited is the time from asking to deciding, in seconds.
func waited(asked, decided time.Time) float64 {
	return max(decided.Sub(asked).Seconds(), 0)
}
