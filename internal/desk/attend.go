package desk

import (
	"context"
	"errors"
	"time"
)

// Bounds of the attendance.
const (
	attendPage  = 200    // threads read at a time
	mostRuled   = 64     // answers of rules that wait in the outbox at once
	mostCalled  = 4      // hooks that run at once
	mostHeard   = 50_000 // questions remembered so that no hook runs for one twice
	ruledAgain  = time.Second
	attendAgain = 10 * time.Second
)

// Hook runs something when a question appears.
type Hook struct {
	Name string
	If   Condition // nil: for every question
	Run  func(ctx context.Context, q Question) error
}

// Attend applies the rules to whatever waits, and runs the hooks for questions that appear, until ctx or the desk ends.
// It sleeps until the store changes. A desk without either, or that is read-only, returns at once.
func (d *Desk) Attend(ctx context.Context) error {
	if d.o.ReadOnly || len(d.o.Rules)+len(d.o.Hooks) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(d.ctx, cancel)()
	a := &attendance{desk: d, heard: map[string]bool{}, calls: make(chan struct{}, mostCalled)}
	defer a.wait()
	for {
		err := a.watch(ctx)
		if ctx.Err() != nil {
			return nil
		}
		d.o.Log.Error("rules and hooks pause", "error", err)
		if !d.sleep(ctx, attendAgain, nil) {
			return nil
		}
	}
}

// wakeAttendance has everything that waits looked at again.
func (d *Desk) wakeAttendance() {
	select {
	case d.attend <- struct{}{}:
	default:
	}
}

// sleep waits for a time, or a wake-up; false at the end of ctx.
func (d *Desk) sleep(ctx context.Context, wait time.Duration, wake <-chan struct{}) bool {
	alarm := make(chan struct{})
	defer d.o.AfterFunc(wait, func() { close(alarm) })()
	select {
	case <-alarm:
		return true
	case <-wake:
		return true
	case <-ctx.Done():
		return false
	}
}

// attendance is the loop of Attend.
type attendance struct {
	desk  *Desk
	since time.Time       // a question asked before has not appeared, it was there
	heard map[string]bool // questions for which the hooks were run
	order []string        // of heard
	calls chan struct{}
}

// wait waits for the hooks that run.
func (a *attendance) wait() {
	for range cap(a.calls) {
		a.calls <- struct{}{}
	}
}

// watch looks at all that waits, and then at what changes.
func (a *attendance) watch(ctx context.Context) error {
	d := a.desk
	wake, err := d.source.Watch(ctx)
	if err != nil {
		return err
	}
	changes, err := d.source.Changes(ctx, -1)
	if err != nil {
		return err
	}
	if a.since.IsZero() {
		if a.since, err = d.now(ctx); err != nil {
			return err
		}
	}
	for seq, all := changes.Seq, true; ; {
		if all {
			if err := a.scan(ctx); err != nil {
				return err
			}
		}
		if seq, err = a.changed(ctx, seq); err != nil {
			return err
		}
		select {
		case _, open := <-wake:
			if !open {
				return errors.New("the store is no longer watched")
			}
			all = false
		case <-d.attend:
			all = true
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// scan applies the rules to all that waits.
func (a *attendance) scan(ctx context.Context) error {
	if _, on := a.desk.Rules(); !on {
		return nil
	}
	s := Selection{Status: []string{"interrupted"}, Sort: "waiting", Limit: attendPage}
	for {
		page, err := a.desk.source.List(ctx, s)
		if err != nil {
			return err
		}
		for _, t := range page.Threads {
			if err := a.look(ctx, t); err != nil {
				return err
			}
		}
		if s.After = page.Next; s.After == "" {
			return nil
		}
	}
}

// changed looks at the threads that changed after seq.
func (a *attendance) changed(ctx context.Context, seq int64) (int64, error) {
	for {
		changes, err := a.desk.source.Changes(ctx, seq)
		if err != nil {
			return seq, err
		}
		for _, t := range changes.Threads {
			if err := a.look(ctx, t); err != nil {
				return seq, err
			}
		}
		if seq = changes.Seq; !changes.More {
			return seq, nil
		}
	}
}

// look reads a thread that waits, applies the rules to its questions and runs the hooks for those that are new.
func (a *attendance) look(ctx context.Context, t Thread) error {
	if t.Status != "interrupted" || t.Questions == 0 {
		return nil
	}
	detail, err := a.desk.source.Open(ctx, t.ID)
	switch {
	case Code(err) == CodeNotFound:
		return nil // deleted since
	case err != nil:
		return err
	}
	for _, q := range detail.Questions {
		a.call(ctx, q)
		if err := a.rule(ctx, detail.Thread, q); err != nil {
			return err
		}
	}
	return nil
}

// rule answers a question by the first rule that decides it, if no person is at it.
func (a *attendance) rule(ctx context.Context, t Thread, q Question) error {
	d := a.desk
	if len(d.o.Rules) == 0 || !a.mayRule(t, q) {
		return nil
	}
	r, ok := d.ruleFor(q)
	if !ok {
		return nil
	}
	d.leftElsewhere()
	for d.ruled() >= mostRuled {
		if !d.sleep(ctx, ruledAgain, nil) {
			return ctx.Err()
		}
	}
	e, err := d.prepare(ctx, r.decision(q), nil)
	if err == nil {
		e.grace = r.Grace
		_, err = d.postRuled(e, t)
	}
	if err != nil && ctx.Err() == nil {
		d.mu.Lock()
		d.rules.refused[q.ID]++
		d.rules.fail(r.Name, err)
		d.mu.Unlock()
		d.o.Log.Warn("a rule could not answer", "rule", r.Name, "question", q.ID, "error", err)
	}
	return ctx.Err()
}

func (a *attendance) mayRule(t Thread, q Question) bool {
	a.desk.mu.Lock()
	defer a.desk.mu.Unlock()
	return a.desk.mayRule(t, q, a.desk.o.Now()) && !a.desk.runs.has(t.ID)
}

// ruled counts the answers of rules that wait in the outbox.
func (d *Desk) ruled() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := 0
	for _, e := range d.outbox.waiting("") {
		if _, is := ByRule(e.Decision.Reviewer); is {
			n++
		}
	}
	return n
}

// call runs the hooks for a question that appeared since the desk was opened.
func (a *attendance) call(ctx context.Context, q Question) {
	if len(a.desk.o.Hooks) == 0 || a.heard[q.ID] || !q.Asked.After(a.since) {
		return
	}
	a.heard[q.ID] = true
	if a.order = append(a.order, q.ID); len(a.order) > mostHeard {
		delete(a.heard, a.order[0])
		a.order = a.order[1:]
	}
	for _, h := range a.desk.o.Hooks {
		log := a.desk.o.Log.With("hook", h.Name, "thread", q.Thread, "question", q.ID)
		if h.If != nil {
			yes, err := h.If.Holds(Facts{Thread: q.Thread, Question: q})
			if err != nil {
				log.Warn("the condition of a hook cannot be computed", "error", err)
			}
			if err != nil || !yes {
				continue
			}
		}
		select {
		case a.calls <- struct{}{}:
		case <-ctx.Done():
			return
		}
		go func() {
			defer func() { <-a.calls }()
			if err := h.Run(ctx, q); err != nil {
				log.Error("a hook failed", "error", err)
				a.desk.hub.publish(Event{Kind: HookFailed, Thread: q.Thread, Node: q.Node, Text: "hook " + h.Name + ": " + err.Error()})
				return
			}
			log.Info("a hook ran")
		}()
	}
}
