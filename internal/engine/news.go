package engine

import (
	"errors"
	"fmt"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// tell keeps an event until the session may send it: what an answer does to the tree is worked out before the lease is
// held, and told after.
func (t *tree) tell(e Event) {
	if t.heeded {
		t.news = append(t.news, e)
	}
}

// event makes e an event of the run.
func (r *run) event(e Event) Event {
	e.Node, e.Path, e.Frame, e.Run = r.node.Name, r.path, r.frame.path, r.n
	return e
}

// tellEnd tells how a run ended.
func (t *tree) tellEnd(c *completion) {
	switch {
	case !t.heeded:
	case c.failure != nil:
		t.tell(c.run.event(Event{Type: FailedEv, Attempt: c.failure.Attempts, Text: c.failure.Message}))
		t.tell(c.run.event(Event{Type: NodeFinished, Attempt: c.failure.Attempts, Status: statusFailed, TookMS: c.took.Milliseconds()}))
	case c.cancelled:
		t.tell(c.run.event(Event{Type: CancelledEv, Reason: ReasonAnswer}))
	default:
		t.tell(c.run.event(Event{
			Type: NodeFinished, Attempt: c.attempts, Status: statusCompleted, Route: c.route, TookMS: c.took.Milliseconds(),
		}))
	}
}

// tellAsked tells of a question that was asked.
func (t *tree) tellAsked(a *ask) {
	if t.heeded {
		t.tell(a.run.event(Event{
			Type: InterruptedEv, Interrupt: a.ID, Address: a.Address, Round: max(a.Round, 1), Due: a.Due, Text: a.title(),
		}))
	}
}

// tellWaits tells that a run waits.
func (t *tree) tellWaits(r *run, p *performed) {
	if !t.heeded {
		return
	}
	e := r.event(Event{Type: NodeFinished, Attempt: p.attempts(), Status: statusWaiting, Route: r.route, TookMS: p.took.Milliseconds()})
	if !r.wake.IsZero() {
		wake := r.wake
		e.Due, e.Address = &wake, r.address("")
	}
	t.tell(e)
}

// tellAnswered tells of an answer that is about to be applied.
func (s *session) tellAnswered(a *accepted, inherited bool) {
	t := s.tree
	if !t.heeded {
		return
	}
	e := Event{Type: Answered, Decision: a.Decision, Interrupt: a.Interrupt, Action: string(a.Action), By: a.By, Inherited: inherited}
	for _, x := range t.asks {
		if x.ID == a.Interrupt {
			e.Address = x.Address
			e = x.run.event(e)
		}
	}
	if a.Path != "" {
		for r := range t.runs {
			if r.path == a.Path {
				e.Address = r.address("")
				e = r.event(e)
			}
		}
	}
	t.tell(e)
}

// send sends what was kept, as events of the coming step.
func (s *session) send() {
	for _, e := range s.tree.news {
		s.event(e)
	}
	clear(s.tree.news)
	s.tree.news = s.tree.news[:0]
}

// event sends an event of the coming step.
func (s *session) event(e Event) {
	e.Step = s.head.Step + 1
	s.emit(e)
}

// headEvent sends an event of the thread as it stands.
func (s *session) headEvent(e Event) {
	e.Step, e.Revision = s.head.Step, s.head.Revision
	s.emit(e)
}

func (s *session) emit(e Event) {
	if s.engine.out == nil {
		return
	}
	e.Thread, e.At = s.tree.thread, s.engine.o.Now().UTC()
	s.engine.out.emit(e)
}

// began tells that the thread was made.
func (s *session) began(source checkpoint.Source, origin *checkpoint.Origin) {
	e := Event{Type: ThreadStarted, Workflow: s.workflow, Source: string(source)}
	if origin != nil {
		e.Origin = fmt.Sprintf("%s@%d", origin.Thread, origin.Step)
	}
	s.emit(e)
}

// rested tells where the call left the thread.
func (s *session) rested(out *Outcome) {
	e := Event{Type: ThreadRested, Status: string(out.Status), Questions: len(out.Questions)}
	if out.Error != nil {
		e.Text = out.Error.Message
	}
	e.Step, e.Revision = out.Version.Step, out.Version.Revision
	s.emit(e)
}

// broke tells that the call failed, and gives its error back.
func (s *session) broke(err error) error {
	s.headEvent(Event{Type: FailedEv, Text: err.Error()})
	if errors.Is(err, checkpoint.ErrUnreachable) {
		return &BrokenOffError{Thread: s.tree.thread, Err: err}
	}
	return err
}

// BrokenOffError says that the store could not be reached any more while a thread ran. What it had acknowledged, the answers
// above all, is in it: once it can be reached and the lease has run out, a resume carries the thread on.
type BrokenOffError struct {
	Thread string
	Err    error
}

func (e *BrokenOffError) Error() string { return e.Err.Error() }

// Unwrap gives the cause.
func (e *BrokenOffError) Unwrap() error { return e.Err }

// interrupted tells which runs a context that ended cut short.
func (s *session) interrupted(cause error, frontier []*run, results []performed) {
	if s.engine.out == nil {
		return
	}
	for i, r := range frontier {
		if !results[i].started.IsZero() && !results[i].inherited {
			s.event(r.event(Event{Type: CancelledEv, Reason: reasonOf(cause)}))
		}
	}
}

// reasonOf says why a run of a thread was given up.
func reasonOf(cause error) string {
	var store *storeError
	switch {
	case errors.Is(cause, ErrCancelledByPerson):
		return ReasonPerson
	case errors.As(cause, &store):
		return ReasonStore
	}
	return ReasonShutdown
}
