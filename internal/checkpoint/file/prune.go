package file

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/prune"
)

// pruneSteps is how many steps of a thread go while it is locked. Between two such parts a prune pauses as long as the
// last one took, so that a writer beside it gets its turn.
const pruneSteps = 250

// Prune implements checkpoint.Store. A thread that cannot be pruned because a file of it is hurt hinders no other; the
// error then names it, beside the result.
func (s *Store) Prune(ctx context.Context, q checkpoint.PruneQuery) (*checkpoint.PruneResult, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	if !q.DryRun {
		if err := s.beginWrite(ctx); err != nil {
			return nil, err
		}
	}
	p := pruning{s: s, q: &q, result: new(checkpoint.PruneResult)}
	err := p.run(ctx)
	p.result.Sort()
	return p.result, errors.Join(append(p.hurt, classify(err))...)
}

// pruning is one call of Prune.
type pruning struct {
	s           *Store
	q           *checkpoint.PruneQuery
	result      *checkpoint.PruneResult
	hurt        []error
	done, total int64
}

// planned is what a prune takes of one thread.
type planned struct {
	part           checkpoint.PruneThread
	steps          []int64 // ascending
	oldest, newest time.Time
}

func (p *pruning) run(ctx context.Context) error {
	candidates, err := p.candidates(ctx)
	if err != nil {
		return err
	}
	var plan []planned
	for i := range candidates {
		t := &candidates[i]
		if t.Lease != nil && t.Lease.Live {
			p.result.Skipped = append(p.result.Skipped, t.Thread)
			continue
		}
		e, err := p.count(ctx, t)
		switch {
		case errors.Is(err, checkpoint.ErrCorrupt):
			p.hurt = append(p.hurt, err)
		case errors.Is(err, checkpoint.ErrNotFound): // gone meanwhile
		case err != nil:
			return err
		default:
			plan = append(plan, e)
			p.total += e.part.Steps
		}
	}
	for i := range plan {
		if err := p.one(ctx, &plan[i]); err != nil {
			return err
		}
	}
	return nil
}

// candidates are the rows the query selects.
func (p *pruning) candidates(ctx context.Context) ([]checkpoint.ThreadInfo, error) {
	var list []checkpoint.ThreadInfo
	if !p.q.All {
		for _, id := range p.q.Threads {
			t, err := p.s.Thread(ctx, id)
			if err != nil {
				return nil, err
			}
			if p.q.Selects(t) {
				list = append(list, *t)
			}
		}
		return list, nil
	}
	err := p.s.listing.with(ctx, func(now time.Time) {
		for _, r := range p.s.listing.rows {
			if info := r.head.view(now, r.seq); p.q.Selects(&info) {
				list = append(list, own(info))
			}
		}
	})
	return list, err
}

// count finds what there is to take of a thread.
func (p *pruning) count(ctx context.Context, t *checkpoint.ThreadInfo) (planned, error) {
	var e planned
	err := p.s.settled(ctx, t.Thread, func(h *head) error {
		e = planned{part: checkpoint.PruneThread{Thread: t.Thread, Workflow: t.Workflow, Whole: p.q.Whole()}}
		numbers, sizes, err := p.s.numbers(h)
		if err != nil {
			return err
		}
		for _, n := range numbers {
			if n == h.info.Step && !e.part.Whole || p.q.BeforeStep > 0 && n >= p.q.BeforeStep {
				continue
			}
			var ts time.Time
			read, err := p.s.readStep(h, n)
			switch {
			case err == nil:
				ts = read.TS
			case !errors.Is(err, checkpoint.ErrCorrupt) || !p.q.OlderThan.IsZero(): // else it goes by its number
				return err
			}
			if e.part.Whole || p.q.Takes(n, ts) {
				e.take(n, sizes[n], ts)
			}
		}
		return nil
	})
	return e, err
}

func (e *planned) take(n, size int64, ts time.Time) {
	e.steps = append(e.steps, n)
	e.part.Steps++
	e.part.Bytes += size
	if e.part.Steps == 1 || ts.Before(e.oldest) {
		e.oldest = ts
	}
	if ts.After(e.newest) {
		e.newest = ts
	}
}

// one takes what is planned of a thread, unless all that is asked for is what it would be.
func (p *pruning) one(ctx context.Context, e *planned) error {
	for rest := e.steps; !p.q.DryRun && len(rest) > 0; {
		started := time.Now()
		taken, err := p.part(ctx, e, rest)
		switch {
		case errors.Is(err, checkpoint.ErrLeased):
			p.result.Skipped = append(p.result.Skipped, e.part.Thread)
			return nil
		case errors.Is(err, checkpoint.ErrCorrupt):
			p.hurt = append(p.hurt, err)
			return nil
		case err != nil:
			return err
		}
		rest = rest[:len(rest)-taken]
		p.tell(taken)
		if len(rest) > 0 {
			if err := prune.Pause(ctx, time.Since(started)); err != nil {
				return err
			}
		}
	}
	p.result.Add(e.part, e.oldest, e.newest)
	return nil
}

// part takes what goes at once, the highest steps first: what is left is then as it was.
func (p *pruning) part(ctx context.Context, e *planned, rest []int64) (taken int, err error) {
	taken = len(rest)
	err = p.s.write(ctx, e.part.Thread, func(t *session) error {
		if t.head == nil { // gone meanwhile
			return nil
		}
		if l := &t.head.lease; l.Live(t.now) {
			return &checkpoint.LeasedError{Thread: t.thread, Holder: l.Holder, Until: l.Until}
		}
		if e.part.Whole {
			return t.remove()
		}
		taken = min(taken, pruneSteps)
		return t.prune(rest[len(rest)-taken:])
	})
	return taken, err
}

func (p *pruning) tell(steps int) {
	p.done += int64(steps)
	if p.q.Progress != nil {
		p.q.Progress(p.done, p.total)
	}
}

// prune deletes steps. Those that stay and build on one of them become keyframes first.
func (t *session) prune(victims []int64) error {
	numbers, _, err := t.s.numbers(t.head)
	if err != nil {
		return err
	}
	h := t.next()
	for i, n := range numbers {
		_, goes := slices.BinarySearch(victims, n)
		if !goes || n == h.info.Step {
			continue
		}
		h.redo.Remove = append(h.redo.Remove, n)
		next := numbers[i+1] // the head stays, so there is one
		if _, goes := slices.BinarySearch(victims, next); goes && next != h.info.Step {
			continue
		}
		if err := t.detach(next); err != nil {
			return err
		}
		if next == h.info.Step {
			h.frames.Keyframe(next, int(h.frames.BaseSize))
		}
	}
	if len(h.redo.Remove) == 0 {
		return nil
	}
	if err := t.save(h, silent); err != nil {
		return err
	}
	return t.finish()
}
