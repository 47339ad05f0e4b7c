package engine

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// standing is what a checkpoint tells of all that waits and of all that failed. It is worked out once for as long as none
// of that changes, so that a step costs the same beside however much of it.
type standing struct {
	answered int        // answers that waiting runs have been given
	due      *time.Time // the earliest deadline or timer to come; where none is, the earliest deadline that is over
	held     []*run     // failed ones, and those that wait for a time, in frontier order
}

// stood notes that a run takes, or leaves, a status.
func (t *tree) stood(r *run, s runStatus, by int) {
	if s != waiting && s != failed {
		return
	}
	t.stands = nil
	if s == waiting && !r.wake.IsZero() {
		t.timers += by
	}
}

func (t *tree) standing() *standing {
	if t.stands != nil {
		return t.stands
	}
	s := &standing{}
	t.stands = s
	var over standing
	for _, a := range t.asks {
		switch {
		case a.Due == nil:
		case a.Overdue: // it waits for a person, and a sweep has nothing to do with it any more
			over.earlier(*a.Due)
		default:
			s.earlier(*a.Due)
		}
		if a.run.asks[0] == a && a.run.status == waiting {
			s.answered += len(a.run.given)
		}
	}
	if t.timers > 0 || t.root.failed > 0 {
		s.hold(t.runs)
	}
	if s.due == nil {
		s.due = over.due
	}
	return s
}

// hold looks for the runs that failed and those that wait for a time.
func (s *standing) hold(runs iter.Seq[*run]) {
	for r := range runs {
		timer := r.status == waiting && !r.wake.IsZero()
		if timer {
			s.earlier(r.wake)
		}
		if timer || r.status == failed {
			s.held = append(s.held, r)
		}
	}
}

func (s *standing) earlier(at time.Time) {
	if s.due == nil || at.Before(*s.due) {
		s.due = &at
	}
}

// first is what a record tells of the open questions. All of them, and what stood in the place of this one, are in channels.
func (t *tree) first() []checkpoint.Interrupt {
	if len(t.asks) == 0 {
		return nil
	}
	q := t.asks[0].Interrupt
	q.Previous = nil
	return []checkpoint.Interrupt{q}
}

// next names the runs that resuming would run or end: what is ready, what failed and is held back, and timers.
func (t *tree) next() []string {
	runs := t.ready
	if held := t.standing().held; len(held) > 0 {
		runs = slices.Concat(held, runs)
	}
	if len(runs) == 0 {
		return nil
	}
	slices.SortFunc(runs, inFrontier)
	names := make([]string, len(runs))
	for i, r := range runs {
		names[i] = r.address("")
	}
	return names
}

// phase is the thread's status when nobody holds its lease.
func (t *tree) phase() checkpoint.Status {
	switch {
	case t.ended != "":
		return t.ended
	case t.root.ready > 0:
		return checkpoint.Stalled
	case len(t.asks) > 0:
		return checkpoint.Interrupted
	case t.timers > 0:
		return checkpoint.Sleeping
	case t.root.failed > 0:
		return checkpoint.Failed
	}
	return checkpoint.Stalled
}

// failure is the first failed run's, nil without one.
func (t *tree) failure() *checkpoint.Failure {
	if r := t.failedRun(); r != nil {
		return r.failure
	}
	return nil
}

// failedRun is the first failed run, nil without one.
func (t *tree) failedRun() *run {
	if t.root.failed == 0 {
		return nil
	}
	for _, r := range t.standing().held {
		if r.status == failed {
			return r
		}
	}
	return nil
}

// summary is the part of the thread's row that lists show.
func (t *tree) summary() checkpoint.Summary {
	stands := t.standing()
	s := checkpoint.Summary{
		Phase: t.phase(), Title: cmp.Or(t.title, t.root.graph.Name), Questions: len(t.asks), Answered: stands.answered, Due: stands.due,
	}
	if len(t.asks) == 0 {
		s.Node = t.at()
		return s
	}
	first := t.asks[0]
	q, _ := first.question()
	asked := first.Asked
	t.title = first.title()
	s.Title, s.Node, s.WaitingSince = t.title, first.Node, &asked
	s.Assignee, s.Group, s.Priority = q.Assignee, q.Group, q.Priority
	return s
}

// at names the node at which a thread is that asks nothing: the last that failed, else the first that has a run.
func (t *tree) at() (node string) {
	if t.root.failed > 0 {
		for _, r := range t.standing().held {
			if r.status == failed {
				node = r.node.Name
			}
		}
		return node
	}
	for r := range t.runs {
		return r.node.Name
	}
	return ""
}
