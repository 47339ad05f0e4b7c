// Package inspect looks at all there is in a store for damage: the medium itself where the store can check it, every
// step, every state, every chain of decisions. It reads and changes nothing, and knows no backend.
package inspect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// Checker is a store that can look for damage below its rows.
type Checker interface {
	// Check gives one sentence for each fault of the medium, none when it is whole.
	Check(ctx context.Context) ([]string, error)
}

// Options say how closely to look. The zero value looks at everything but the states.
type Options struct {
	States   bool                    // rebuild the state of every step
	Window   time.Duration           // in which the growth is measured, up to now: a week
	Progress func(done, total int64) // in threads
}

// perThread bounds the faults told of one thread: what follows a step that is hurt is mostly hurt by it.
const perThread = 5

// Fault is one thing that is hurt.
type Fault struct {
	Thread string // "" for the store as a whole
	Text   string
}

// Report is what was found.
type Report struct {
	Threads, Steps, Decisions int64
	Window                    time.Duration // in which Growth was measured: shorter in a young store
	Growth                    int64         // bytes of the steps written in it, as stored
	Faults                    []Fault
}

// Run looks at the whole of a store. An error means that it could not be looked at; what is hurt is in the report.
func Run(ctx context.Context, s checkpoint.Store, o Options) (*Report, error) {
	if o.Window <= 0 {
		o.Window = 7 * 24 * time.Hour
	}
	now, err := s.Now(ctx)
	if err != nil {
		return nil, err
	}
	i := inspection{s: s, o: o, from: now.Add(-o.Window), oldest: now, definitions: map[string]error{}, r: &Report{}}
	if c, ok := s.(Checker); ok {
		faults, err := c.Check(ctx)
		if err != nil {
			return nil, err
		}
		for _, text := range faults {
			i.fault("", "%s", text)
		}
	}
	switch err := i.all(ctx); {
	case errors.Is(err, checkpoint.ErrCorrupt):
		i.fault("", "the threads behind this cannot be looked at: %v", err)
	case err != nil:
		return nil, err
	}
	i.r.Window = min(o.Window, max(now.Sub(i.oldest), time.Hour))
	return i.r, nil
}

type inspection struct {
	s           checkpoint.Store
	o           Options
	from        time.Time
	oldest      time.Time
	definitions map[string]error // fingerprints: an ErrNotFound, an ErrCorrupt, or nil for one that is whole
	r           *Report
}

func (i *inspection) fault(thread, format string, args ...any) {
	i.r.Faults = append(i.r.Faults, Fault{thread, fmt.Sprintf(format, args...)})
}

func (i *inspection) all(ctx context.Context) error {
	counts, err := i.s.Counts(ctx)
	if err != nil {
		return err
	}
	total := int64(0)
	for _, n := range counts {
		total += n
	}
	for q := (checkpoint.Query{Sort: checkpoint.SortName, Limit: 200}); ; {
		page, err := i.s.Threads(ctx, q)
		if err != nil {
			return err
		}
		for _, t := range page.Threads {
			if err := i.thread(ctx, t); err != nil {
				return err
			}
			i.r.Threads++
			if i.o.Progress != nil {
				i.o.Progress(i.r.Threads, max(total, i.r.Threads))
			}
		}
		if q.After = page.Next; q.After == "" {
			return nil
		}
	}
}

// thread looks at one thread. One that changed or was deleted meanwhile is looked at again.
func (i *inspection) thread(ctx context.Context, t checkpoint.ThreadInfo) error {
	for {
		found, err := i.look(ctx, &t)
		if err != nil {
			return err
		}
		now, err := i.s.Thread(ctx, t.Thread)
		switch {
		case errors.Is(err, checkpoint.ErrNotFound):
			return nil
		case errors.Is(err, checkpoint.ErrCorrupt):
			i.fault(t.Thread, "%v", err)
		case err != nil:
			return err
		case len(found.faults) > 0 && now.Seq != t.Seq:
			t = *now
			continue
		}
		i.r.Steps += found.steps
		i.r.Decisions += t.Decisions
		i.r.Growth += found.growth
		for n, text := range found.faults {
			if n == perThread {
				i.fault(t.Thread, "thread %s: and %d more", t.Thread, len(found.faults)-n)
				break
			}
			i.fault(t.Thread, "%s", text)
		}
		return nil
	}
}

// found is what was seen of one thread.
type found struct {
	steps, growth int64
	faults        []string
	head          bool
}

func (f *found) fault(format string, args ...any) {
	f.faults = append(f.faults, fmt.Sprintf(format, args...))
}

func (i *inspection) look(ctx context.Context, t *checkpoint.ThreadInfo) (*found, error) {
	f := &found{}
	if err := i.steps(ctx, t, f); err != nil {
		return nil, err
	}
	if !f.head && len(f.faults) == 0 {
		f.fault("thread %s: its last step %d is missing", t.Thread, t.Step)
	}
	err := checkpoint.VerifyChain(t.Thread, i.s.Decisions(ctx, t.Thread), checkpoint.Chain{Count: t.Decisions, Last: t.DecisionHash})
	switch {
	case errors.Is(err, checkpoint.ErrCorrupt):
		f.fault("%v", err)
	case err != nil && !errors.Is(err, checkpoint.ErrNotFound):
		return nil, err
	}
	return f, i.definition(ctx, t, f)
}

func (i *inspection) steps(ctx context.Context, t *checkpoint.ThreadInfo, f *found) error {
	before := int64(-1)
	for c, err := range i.s.History(ctx, t.Thread, i.o.States) {
		switch {
		case errors.Is(err, checkpoint.ErrCorrupt):
			f.fault("%v", err)
			continue
		case errors.Is(err, checkpoint.ErrNotFound):
			return nil
		case err != nil:
			return err
		}
		f.steps++
		if c.Step <= before {
			f.fault("thread %s: step %d follows step %d", t.Thread, c.Step, before)
		}
		before = c.Step
		if c.Step == t.Step {
			f.head = true
			if c.Revision != t.Revision {
				f.fault("thread %s: step %d has revision %d, its thread says %d", t.Thread, c.Step, c.Revision, t.Revision)
			}
		}
		if c.TS.After(i.from) {
			f.growth += c.SizeBytes
		}
		if c.TS.Before(i.oldest) {
			i.oldest = c.TS
		}
	}
	return nil
}

// definition demands that a definition that is kept is whole, and that a thread that can go on still has what it runs.
func (i *inspection) definition(ctx context.Context, t *checkpoint.ThreadInfo, f *found) error {
	if t.Fingerprint == "" {
		return nil
	}
	hurt, known := i.definitions[t.Fingerprint]
	if !known {
		_, hurt = i.s.Definition(ctx, t.Fingerprint)
		if hurt != nil && !errors.Is(hurt, checkpoint.ErrNotFound) && !errors.Is(hurt, checkpoint.ErrCorrupt) {
			return hurt
		}
		i.definitions[t.Fingerprint] = hurt
	}
	switch {
	case errors.Is(hurt, checkpoint.ErrCorrupt):
		f.fault("thread %s: %v", t.Thread, hurt)
	case hurt != nil && !t.Status.Ended():
		f.fault("thread %s: its definition %.12s is missing, so that it cannot go on without --upgrade", t.Thread, t.Fingerprint)
	}
	return nil
}
