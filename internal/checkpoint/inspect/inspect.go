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

// Report is what was found.
type Report struct {
	Threads, Steps, Decisions int64
	Window                    time.Duration // in which Growth was measured: shorter in a young store
	Growth                    int64         // bytes of the steps written in it, as stored
	Faults                    []checkpoint.Fault
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
	if err := i.all(ctx); err != nil {
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
	i.r.Faults = append(i.r.Faults, checkpoint.Fault{Thread: thread, Text: fmt.Sprintf(format, args...)})
}

func (i *inspection) all(ctx context.Context) error {
	counts, err := i.s.Counts(ctx)
	if errors.Is(err, checkpoint.ErrCorrupt) {
		i.fault("", "the threads cannot be counted: %v", err)
	} else if err != nil {
		return err
	}
	total := int64(0)
	for _, n := range counts {
		total += n
	}
	err = eachThread(ctx, i.s, func(t checkpoint.ThreadInfo) error {
		if err := i.thread(ctx, t); err != nil {
			return err
		}
		i.r.Threads++
		if i.o.Progress != nil {
			i.o.Progress(i.r.Threads, max(total, i.r.Threads))
		}
		return nil
	})
	if errors.Is(err, checkpoint.ErrCorrupt) {
		i.fault("", "the threads behind this cannot be looked at: %v", err)
	} else if err != nil {
		return err
	}
	_, faults, err := tombstones(ctx, i.s)
	if err != nil {
		return err
	}
	lost, err := orphans(ctx, i.s)
	i.r.Faults = append(append(i.r.Faults, faults...), lost...)
	return err
}

// eachThread calls fn for the rows of all threads.
func eachThread(ctx context.Context, s checkpoint.Store, fn func(checkpoint.ThreadInfo) error) error {
	for q := (checkpoint.Query{Sort: checkpoint.SortName, Limit: 200}); ; {
		page, err := s.Threads(ctx, q)
		if err != nil {
			return err
		}
		for _, t := range page.Threads {
			if err := fn(t); err != nil {
				return err
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
		if len(found.faults) > 0 {
			now, err := i.s.Thread(ctx, t.Thread)
			switch {
			case errors.Is(err, checkpoint.ErrNotFound):
				return nil
			case errors.Is(err, checkpoint.ErrCorrupt): // which is what all the rest comes of
				found.faults = []string{err.Error()}
			case err != nil:
				return err
			case moved(&t, now):
				t = *now
				continue
			}
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
	head          *checkpoint.Checkpoint
}

func (f *found) fault(format string, args ...any) {
	f.faults = append(f.faults, fmt.Sprintf(format, args...))
}

func (i *inspection) look(ctx context.Context, t *checkpoint.ThreadInfo) (*found, error) {
	f, r := &found{}, recordOf(t)
	if err := i.steps(ctx, t, f, r); err != nil {
		return nil, err
	}
	if f.head == nil && len(f.faults) == 0 {
		f.fault("thread %s: its last step %d is missing", t.Thread, t.Step)
	}
	broken, err := r.verify(ctx, i.s)
	if err != nil {
		return nil, err
	}
	f.faults = append(f.faults, broken...)
	if err := i.definition(ctx, t, f); err != nil {
		return nil, err
	}
	if f.head != nil {
		f.faults = append(f.faults, differences(t, f.head)...)
	}
	return f, nil
}

func (i *inspection) steps(ctx context.Context, t *checkpoint.ThreadInfo, f *found, r *record) error {
	before := int64(-1)
	for c, err := range i.s.History(ctx, t.Thread, i.o.States) {
		var hurt *checkpoint.CorruptError
		switch {
		case errors.Is(err, checkpoint.ErrCorrupt):
			f.fault("%v", err)
			if errors.As(err, &hurt) {
				before = max(before, hurt.Step)
			}
			continue
		case errors.Is(err, checkpoint.ErrNotFound):
			return nil
		case err != nil:
			return err
		}
		f.steps++
		r.name(c)
		f.follows(t, c, before)
		before = c.Step
		if c.Step == t.Step {
			f.head = c
			if c.Revision != t.Revision {
				f.fault("thread %s: step %d has revision %d, its thread says %d", t.Thread, c.Step, c.Revision, t.Revision)
			}
		}
		if i.o.States {
			if err := c.CheckQuestions(); err != nil {
				f.fault("%v", err)
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

// follows demands that a step comes after the one before, -1 for the lowest that is kept, and right after it unless it is a
// Put, which may leave steps out.
func (f *found) follows(t *checkpoint.ThreadInfo, c *checkpoint.Checkpoint, before int64) {
	switch {
	case c.Step <= before:
		f.fault("thread %s: step %d follows step %d", t.Thread, c.Step, before)
	case before >= 0 && c.Commit != "" && c.Step > before+1:
		f.fault("thread %s: step %d follows step %d: what was between them is missing", t.Thread, c.Step, before)
	case c.Step > t.Step:
		f.fault("thread %s: step %d is there, though its row names step %d as the last", t.Thread, c.Step, t.Step)
	}
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
