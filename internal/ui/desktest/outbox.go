package desktest

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
)

// Respond puts a decision into the outbox and sends it when the grace time ends.
func (d *Desk) Respond(ctx context.Context, x desk.Decision, draft *desk.Draft) (*desk.Entry, error) {
	d.enter("Respond")
	defer d.mu.Unlock()
	t, ok := d.threads[x.Thread]
	if !ok {
		return nil, fmt.Errorf("no thread %s", x.Thread)
	}
	i := slices.IndexFunc(t.detail.Questions, func(q desk.Question) bool { return q.ID == x.Question })
	if i < 0 {
		return nil, d.conflict(x.Thread)
	}
	c := t.detail.Questions[i].Choices
	j := slices.IndexFunc(c, func(c desk.Choice) bool { return string(c.Action) == x.Action })
	if j < 0 || !c[j].Allowed {
		return nil, fmt.Errorf("%s is not allowed here", x.Action)
	}
	if len(x.Data) == 0 && (c[j].NeedsComment || c[j].Data == actions.RequiredText) {
		return nil, fmt.Errorf("%s needs a comment", x.Action)
	}
	if x.Reviewer == "" {
		x.Reviewer = d.Reviewer()
	}
	for k, old := range d.entries {
		if old.State == desk.Unsent && old.Decision.Question == x.Question {
			d.entries = slices.Delete(d.entries, k, k+1)
			break
		}
	}
	e := &desk.Entry{ID: "e" + strconv.Itoa(len(d.entries)+d.serial+1), Decision: x, State: desk.Unsent, SendAt: d.Now().Add(d.Grace), Draft: draft}
	d.serial++
	d.entries = append(d.entries, e)
	go d.send(e)
	d.notify(desk.Event{Kind: desk.OutboxChanged, Thread: x.Thread})
	out := *e
	return &out, nil
}

// RespondAll puts decisions into the outbox as one bulk.
func (d *Desk) RespondAll(ctx context.Context, decisions []desk.Decision, draft *desk.Draft) ([]*desk.Entry, []error) {
	entries, errs := make([]*desk.Entry, len(decisions)), make([]error, len(decisions))
	d.mu.Lock()
	bulk := "bulk" + strconv.Itoa(d.serial)
	d.mu.Unlock()
	for i, x := range decisions {
		var typed *desk.Draft
		if draft != nil {
			own := *draft
			own.Thread, own.Question = x.Thread, x.Question
			typed = &own
		}
		e, err := d.Respond(ctx, x, typed)
		if err == nil {
			d.mu.Lock()
			d.entries[slices.IndexFunc(d.entries, func(y *desk.Entry) bool { return y.ID == e.ID })].Bulk = bulk
			d.mu.Unlock()
			e.Bulk = bulk
		}
		entries[i], errs[i] = e, err
	}
	return entries, errs
}

func (d *Desk) conflict(thread string) error {
	for _, r := range slices.Backward(d.decisions) {
		if r.Thread == thread {
			return fmt.Errorf("%s answered this (%s) %d s ago; your text is kept", r.Reviewer, r.Action, int(d.Now().Sub(r.DecidedAt).Seconds()))
		}
	}
	return fmt.Errorf("the question is no longer open")
}

func (d *Desk) send(e *desk.Entry) {
	timer := time.NewTimer(e.SendAt.Sub(d.Now()))
	defer timer.Stop()
	<-timer.C
	d.sendNow(e)
}

func (d *Desk) sendNow(e *desk.Entry) {
	d.mu.Lock()
	if e.State != desk.Unsent {
		d.mu.Unlock()
		return
	}
	t := d.threads[e.Decision.Thread]
	i := slices.IndexFunc(t.detail.Questions, func(q desk.Question) bool { return q.ID == e.Decision.Question })
	if i < 0 {
		e.State, e.Err, e.Code = desk.Refused, d.conflict(e.Decision.Thread).Error(), "conflict"
		if e.Draft != nil {
			d.drafts[e.Draft.Question] = *e.Draft
		}
		d.notify(desk.Event{Kind: desk.OutboxChanged, Thread: e.Decision.Thread})
		d.mu.Unlock()
		return
	}
	e.State = desk.Sending
	hold := d.hold[e.Decision.Thread]
	d.notify(desk.Event{Kind: desk.OutboxChanged, Thread: e.Decision.Thread})
	d.mu.Unlock()
	if hold != nil {
		<-hold
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.record(t, e.Decision)
	if len(t.detail.Questions) > 1 {
		t.detail.Questions = slices.Delete(slices.Clone(t.detail.Questions), i, i+1)
	} else {
		d.rest(t, actions.Action(e.Decision.Action))
	}
	e.State = desk.Sent
	d.endCourtesy(e.Decision.Thread, e.Decision.Question)
	e.Result = &desk.Result{Thread: e.Decision.Thread, Status: t.detail.Status, Workflow: t.detail.Workflow}
	d.notify(desk.Event{Kind: desk.OutboxChanged, Thread: e.Decision.Thread},
		desk.Event{Kind: desk.Rested, Thread: e.Decision.Thread, Status: t.detail.Status},
		desk.Event{Kind: desk.StoreChanged, Thread: e.Decision.Thread})
}

// notify is Wake with the lock held.
func (d *Desk) notify(events ...desk.Event) {
	for _, s := range d.subs {
		s <- events
	}
}

// Outbox lists the entries.
func (d *Desk) Outbox() []desk.Entry {
	d.enter("Outbox")
	defer d.mu.Unlock()
	out := make([]desk.Entry, len(d.entries))
	for i, e := range d.entries {
		out[i] = *e
	}
	return out
}

func byRule(e *desk.Entry) bool { _, is := desk.ByRule(e.Decision.Reviewer); return is }

// TakeBack takes an unsent entry back, those of rules last.
func (d *Desk) TakeBack(id string) (*desk.Entry, error) {
	d.enter("TakeBack")
	defer d.mu.Unlock()
	person := slices.ContainsFunc(d.entries, func(e *desk.Entry) bool { return e.State == desk.Unsent && !byRule(e) })
	for _, e := range slices.Backward(d.entries) {
		if e.State == desk.Unsent && (id == "" && !(person && byRule(e)) || e.ID == id) {
			e.State = desk.TakenBack
			if e.Draft != nil {
				d.drafts[e.Draft.Question] = *e.Draft
			}
			d.notify(desk.Event{Kind: desk.OutboxChanged, Thread: e.Decision.Thread})
			for _, other := range d.entries {
				if e.Bulk != "" && other.Bulk == e.Bulk && other.State == desk.Unsent {
					other.State = desk.TakenBack
					if other.Draft != nil {
						d.drafts[other.Draft.Question] = *other.Draft
					}
				}
			}
			out := *e
			return &out, nil
		}
	}
	return nil, fmt.Errorf("nothing to take back: no answer is unsent")
}

// SendNow ends grace times.
func (d *Desk) SendNow(id string) error {
	d.enter("SendNow")
	var due []*desk.Entry
	for _, e := range d.entries {
		if e.State == desk.Unsent && (id == "" || e.ID == id) {
			due = append(due, e)
		}
	}
	d.mu.Unlock()
	for _, e := range due {
		d.sendNow(e)
	}
	return nil
}

// KeepAsDrafts takes all back.
func (d *Desk) KeepAsDrafts() error {
	d.enter("KeepAsDrafts")
	defer d.mu.Unlock()
	for _, e := range d.entries {
		if e.State == desk.Unsent {
			e.State = desk.TakenBack
			draft := desk.Draft{Thread: e.Decision.Thread, Question: e.Decision.Question, Action: e.Decision.Action}
			if e.Draft != nil {
				draft = *e.Draft
			}
			draft.NotSent = true
			d.drafts[e.Decision.Question] = draft
		}
	}
	d.notify(desk.Event{Kind: desk.OutboxChanged})
	return nil
}

// CarryOn makes a thread rest as done.
func (d *Desk) CarryOn(ctx context.Context, id string) error {
	d.enter("CarryOn")
	defer d.mu.Unlock()
	d.threads[id].detail.Status = "running"
	d.notify(desk.Event{Kind: desk.StoreChanged, Thread: id})
	return nil
}

// CancelRun puts a running thread's question back.
func (d *Desk) CancelRun(ctx context.Context, id string) error {
	d.enter("CancelRun")
	defer d.mu.Unlock()
	d.threads[id].detail.Status = "cancelled"
	d.notify(desk.Event{Kind: desk.StoreChanged, Thread: id})
	return nil
}

// Busy counts.
func (d *Desk) Busy() (unsent, running int) {
	d.enter("Busy")
	defer d.mu.Unlock()
	for _, e := range d.entries {
		switch e.State {
		case desk.Unsent, desk.Held:
			unsent++
		case desk.Queued, desk.Sending:
			running++
		}
	}
	return unsent, running
}

// Claim claims.
func (d *Desk) Claim(ctx context.Context, id string, ttl time.Duration) error {
	d.enter("Claim")
	defer d.mu.Unlock()
	t := d.threads[id]
	if t.detail.Claimed != "" && t.detail.Claimed != d.Reviewer() {
		return fmt.Errorf("%s has claimed this", t.detail.Claimed)
	}
	t.detail.Claimed, t.detail.ClaimedUntil, t.courtesy = d.Reviewer(), d.Now().Add(ttl), ""
	d.notify(desk.Event{Kind: desk.StoreChanged, Thread: id})
	return nil
}

// Release gives up.
func (d *Desk) Release(ctx context.Context, id string) error {
	d.enter("Release")
	defer d.mu.Unlock()
	d.threads[id].detail.Claimed = ""
	d.notify(desk.Event{Kind: desk.StoreChanged, Thread: id})
	return nil
}

// BeginWriting claims where nobody has, until EndWriting or the answer.
func (d *Desk) BeginWriting(ctx context.Context, q desk.Question) error {
	d.enter("BeginWriting")
	defer d.mu.Unlock()
	t := d.threads[q.Thread]
	if t.detail.Claimed != "" {
		return nil
	}
	t.courtesy = q.ID
	t.detail.Claimed, t.detail.ClaimedUntil = d.Reviewer(), d.Now().Add(5*time.Minute)
	d.notify(desk.Event{Kind: desk.StoreChanged, Thread: q.Thread})
	return nil
}

// EndWriting gives that claim up.
func (d *Desk) EndWriting(ctx context.Context, q desk.Question) error {
	d.enter("EndWriting")
	defer d.mu.Unlock()
	d.endCourtesy(q.Thread, q.ID)
	return nil
}

func (d *Desk) endCourtesy(thread, question string) {
	t := d.threads[thread]
	if question == "" || t.courtesy != question {
		return
	}
	t.courtesy, t.detail.Claimed = "", ""
	d.notify(desk.Event{Kind: desk.StoreChanged, Thread: thread})
}

// Claimed is who has claimed a thread.
func (d *Desk) Claimed(thread string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.threads[thread].detail.Claimed
}

// Draft finds one.
func (d *Desk) Draft(q desk.Question) *desk.Draft {
	d.enter("Draft")
	defer d.mu.Unlock()
	if x, ok := d.drafts[q.ID]; ok {
		return &x
	}
	return nil
}

// SaveDraft keeps or discards one.
func (d *Desk) SaveDraft(x desk.Draft) error {
	d.enter("SaveDraft")
	defer d.mu.Unlock()
	if x.Text == "" {
		delete(d.drafts, x.Question)
		return nil
	}
	d.drafts[x.Question] = x
	return nil
}

// DraftsKept lists all that are kept.
func (d *Desk) DraftsKept() []desk.Draft {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Collect(maps.Values(d.drafts))
}

// Drafts tells which threads have one.
func (d *Desk) Drafts() map[string]bool {
	d.enter("Drafts")
	defer d.mu.Unlock()
	out := map[string]bool{}
	for _, x := range d.drafts {
		out[x.Thread] = true
	}
	return out
}
