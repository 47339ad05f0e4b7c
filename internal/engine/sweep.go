package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// sweepPage is how many threads a sweep reads at a time.
const sweepPage = 100

// Sweep applies what is due: deadlines with their defaults, timers, and with carryOn stalled threads. It returns what
// became of each thread it touched; a thread that somebody else runs or changes meanwhile is left to them. The error
// joins those of single threads, which do not hold back the others. progress, which may be nil, is told after each thread how
// many there are: of those with something due first, then of the stalled ones.
func (e *Engine) Sweep(ctx context.Context, carryOn bool, progress func(done, total int64)) ([]Outcome, error) {
	if e.store == nil {
		return nil, fmt.Errorf("%w: there is nothing to sweep", ErrNoStore)
	}
	now := e.o.Now()
	due, err := e.threadIDs(ctx, checkpoint.Query{
		Status: []checkpoint.Status{checkpoint.Interrupted, checkpoint.Sleeping, checkpoint.Failed, checkpoint.Stalled},
		// the bound is exclusive, and what is due now is due
		DueBefore: now.Add(time.Microsecond),
	}, e.overdue.told)
	if err != nil {
		return nil, err
	}
	if progress == nil {
		progress = func(done, total int64) {}
	}
	var all []Outcome
	var errs []error
	for i, thread := range due {
		out, err := e.sweepThread(ctx, thread, now)
		all, errs = collect(all, errs, out, err)
		progress(int64(i+1), int64(len(due)))
	}
	if !carryOn {
		return all, errors.Join(errs...)
	}
	stalled, err := e.threadIDs(ctx, checkpoint.Query{Status: []checkpoint.Status{checkpoint.Stalled}}, nil)
	errs = append(errs, err)
	for i, thread := range stalled {
		out, err := e.Resume(ctx, ResumeRequest{Thread: thread, Steal: true})
		all, errs = collect(all, errs, out, err)
		progress(int64(i+1), int64(len(stalled)))
	}
	return all, errors.Join(errs...)
}

// overdue remembers the threads whose deadlines are all over and marked, by the version at which they were looked at: until
// that changes a sweep has nothing to do there, however many there are. The zero value remembers none.
type overdue struct {
	mu      sync.Mutex
	threads map[string]checkpoint.Version
}

// maxOverdue bounds what is remembered; beyond it each is looked at once more.
const maxOverdue = 100_000

func (o *overdue) tell(thread string, at checkpoint.Version) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.threads == nil || len(o.threads) >= maxOverdue {
		o.threads = map[string]checkpoint.Version{}
	}
	o.threads[thread] = at
}

// told reports whether nothing is left to do for a thread as it is.
func (o *overdue) told(t *checkpoint.ThreadInfo) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	at, known := o.threads[t.Thread]
	return known && at == t.Version()
}

// collect notes what became of a thread, unless it was in other hands.
func collect(all []Outcome, errs []error, out *Outcome, err error) ([]Outcome, []error) {
	switch {
	case err == nil && out != nil:
		all = append(all, *out)
	case errors.Is(err, checkpoint.ErrLeased), errors.Is(err, checkpoint.ErrConflict), errors.Is(err, ErrAlreadyAnswered),
		errors.Is(err, ErrNotWaiting), errors.Is(err, checkpoint.ErrNotFound):
	case err != nil:
		errs = append(errs, err)
	}
	return all, errs
}

// threadIDs lists the ids a query selects but for those to leave out, before any of them is touched.
func (e *Engine) threadIDs(ctx context.Context, q checkpoint.Query, leave func(*checkpoint.ThreadInfo) bool) ([]string, error) {
	var ids []string
	q.Limit = sweepPage
	for {
		page, err := e.store.Threads(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range page.Threads {
			if t := &page.Threads[i]; leave == nil || !leave(t) {
				ids = append(ids, t.Thread)
			}
		}
		if page.Next == "" {
			return ids, nil
		}
		q.After = page.Next
	}
}

// sweepThread applies the default of every question that is overdue, ends the timers that are, and marks as overdue
// what has no default, unless the thread is stalled: a step in
// between would have what finished there done again. nil when nothing was due after all.
func (e *Engine) sweepThread(ctx context.Context, thread string, now time.Time) (*Outcome, error) {
	h, err := e.read(ctx, thread)
	if err != nil {
		return nil, err
	}
	var answers []Answer
	mark, told := false, true
	atRest := h.tree.root.ready == 0 && (h.info.Lease == nil || h.info.Lease.Answers == 0)
	for _, a := range h.tree.asks {
		if a.Due == nil || a.Overdue || a.Due.After(now) {
			continue
		}
		q, _ := a.question()
		answer := Answer{Interrupt: a.ID, Action: string(q.DefaultAction), Data: q.DefaultData, Reviewer: deadlineReviewer, DecidedAt: now}
		if q.DefaultAction != "" {
			if _, invalid := actions.Validate(q, q.DefaultAction, q.DefaultData); invalid == nil {
				answers = append(answers, answer)
				continue
			}
		}
		if told = told && atRest; atRest {
			a.Overdue, mark, h.tree.stands = true, true, nil
			a.touch()
		}
	}
	for r := range h.tree.runs {
		if r.status == waiting && !r.wake.IsZero() && !r.wake.After(now) {
			answers = append(answers, Answer{Interrupt: r.path, Action: "continue", Reviewer: deadlineReviewer, DecidedAt: now})
		}
	}
	var out *Outcome
	version := h.info.Version()
	if mark {
		if out, err = e.writeStep(ctx, h, checkpoint.SourceStep, nil); err != nil {
			return nil, err
		}
		version = out.Version
	}
	if told && len(answers) == 0 {
		e.overdue.tell(thread, version)
	}
	for _, answer := range answers {
		next, err := e.Resume(ctx, deadlineRequest(thread, answer))
		if errors.Is(err, ErrUnknownQuestion) || errors.Is(err, ErrNotWaiting) || errors.Is(err, ErrAlreadyAnswered) {
			continue // an earlier default of this sweep took the question away
		}
		if err != nil {
			return nil, err
		}
		out = next
	}
	return out, nil
}

func deadlineRequest(thread string, answers ...Answer) ResumeRequest {
	return ResumeRequest{Thread: thread, Answers: answers, By: deadlineReviewer, Steal: true}
}
