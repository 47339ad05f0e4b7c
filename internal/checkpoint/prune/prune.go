// Package prune works through what a prune is asked to delete, a chunk at a time beside writers, for the backends that keep
// steps as rows. What deleting a step is, each backend knows itself.
package prune

import (
	"context"
	"math"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// Store is the backend that is pruned.
type Store interface {
	Thread(ctx context.Context, thread string) (*checkpoint.ThreadInfo, error)
	Threads(ctx context.Context, q checkpoint.Query) (checkpoint.Page, error)
	// CountSteps counts what the bounds take, without waiting for writers.
	CountSteps(ctx context.Context, b Bounds) (Count, error)
	// Transact runs fn in one transaction. It may run it twice, the first time undone.
	Transact(ctx context.Context, fn func(Tx) error) error
}

// Tx is a transaction of the backend.
type Tx interface {
	// Lock keeps everybody else from writing a thread until the transaction ends; nil where there is none. whole says
	// that the thread may be deleted.
	Lock(thread string, whole bool) (Thread, error)
	// Now is the store's time.
	Now() time.Time
}

// Thread is a locked thread.
type Thread interface {
	Head() int64
	Live(now time.Time) bool // whether a lease is
	// Steps are the lowest steps that the bounds take, at most limit.
	Steps(b Bounds, limit int64) ([]Step, error)
	// Detach makes the step that follows after a keyframe, so that steps up to after can be deleted.
	Detach(after int64) error
	// DeleteSteps deletes what the bounds take up to a step.
	DeleteSteps(b Bounds, upTo int64) error
	// DeleteThread deletes the thread and leaves its tombstone.
	DeleteThread() error
}

// Bounds are the conditions on the steps that go from a thread: thread = Thread AND step <> Head AND step < Before AND
// ts < Older, in microseconds.
type Bounds struct {
	Thread string
	Head   int64 // -1 when the head goes too
	Before int64
	Older  int64
}

// Count is how much the bounds take.
type Count struct {
	Steps, Bytes   int64
	Oldest, Newest int64 // microseconds; 0 without steps
}

// Step is a step that goes.
type Step struct {
	Step int64
	Size int64
	Next int64 // the step after it, 0 for none
}

// Pace bounds a chunk and says how many times as long as it took to pause after it, so that a writer beside it gets its
// turn. Of a chunk that took longer than Most the next ones are half as large, until they are quick again; 0 is no bound.
type Pace struct {
	Steps int64
	Bytes int64
	Pause int
	Most  time.Duration
}

// leastSteps is how far chunks shrink: each has its own wait for the disk.
const leastSteps = 16

// after is the number of steps for the chunk after one of so many that took so long, at most as many as the pace has.
func (p *Pace) after(steps int64, took time.Duration) int64 {
	switch {
	case p.Most == 0:
		return p.Steps
	case took > p.Most:
		return max(steps/2, min(leastSteps, p.Steps))
	case took < p.Most/2:
		return min(steps+steps/4, p.Steps)
	default:
		return steps
	}
}

// Run does, or with DryRun counts, what q asks for.
func Run(ctx context.Context, s Store, pace Pace, q checkpoint.PruneQuery) (*checkpoint.PruneResult, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	p := pruning{s: s, pace: pace, steps: pace.Steps, q: &q, result: new(checkpoint.PruneResult)}
	err := p.run(ctx)
	p.result.Sort()
	return p.result, err
}

// pruning is one prune: it counts what it takes of each thread, and unless that is all it is asked for, deletes it.
type pruning struct {
	s      Store
	pace   Pace
	steps  int64 // of a chunk
	q      *checkpoint.PruneQuery
	result *checkpoint.PruneResult
	plan   []planned
	done   int64
	total  int64
}

// planned is what a prune takes of one thread.
type planned struct {
	info checkpoint.ThreadInfo
	Count
}

func (p *pruning) run(ctx context.Context) error {
	candidates, err := p.candidates(ctx)
	if err != nil {
		return err
	}
	for i := range candidates {
		t := &candidates[i]
		if t.Lease != nil && t.Lease.Live {
			p.result.Skipped = append(p.result.Skipped, t.Thread)
			continue
		}
		count, err := p.s.CountSteps(ctx, p.bounds(t.Thread, t.Step))
		if err != nil {
			return err
		}
		p.total += count.Steps
		p.plan = append(p.plan, planned{*t, count})
	}
	if p.q.DryRun {
		for i := range p.plan {
			p.add(&p.plan[i])
		}
		return nil
	}
	return p.execute(ctx)
}

func (p *pruning) add(e *planned) {
	part := checkpoint.PruneThread{Thread: e.info.Thread, Workflow: e.info.Workflow, Steps: e.Steps, Bytes: e.Bytes, Whole: p.q.Whole()}
	p.result.Add(part, checkpoint.FromMicros(e.Oldest), checkpoint.FromMicros(e.Newest))
}

// candidates are the threads the query selects, read in pages.
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
	query := checkpoint.Query{Workflow: p.q.Workflow, Status: p.q.Status, Sort: checkpoint.SortName, Limit: 1000}
	for {
		page, err := p.s.Threads(ctx, query)
		if err != nil {
			return nil, err
		}
		for i := range page.Threads {
			if p.q.Selects(&page.Threads[i]) {
				list = append(list, page.Threads[i])
			}
		}
		if query.After = page.Next; page.Next == "" {
			return list, nil
		}
	}
}

func (p *pruning) bounds(thread string, head int64) Bounds {
	b := Bounds{Thread: thread, Head: head, Before: math.MaxInt64, Older: math.MaxInt64}
	if p.q.BeforeStep > 0 {
		b.Before = p.q.BeforeStep
	}
	if !p.q.OlderThan.IsZero() {
		b.Older = p.q.OlderThan.UnixMicro()
	}
	if p.q.Whole() {
		b.Head = -1
	}
	return b
}

// execute works through the plan, several small threads or a part of a large one in each transaction.
func (p *pruning) execute(ctx context.Context) error {
	for len(p.plan) > 0 {
		var c chunk
		started := time.Now()
		var took time.Duration // without the wait for its turn
		err := p.s.Transact(ctx, func(t Tx) error {
			begun := time.Now()
			c = chunk{p: p, t: t}
			err := c.run()
			took = time.Since(begun)
			return err
		})
		if err != nil {
			return err
		}
		p.steps = p.pace.after(p.steps, took)
		for i := range p.plan[:c.finished] {
			if c.leased[p.plan[i].info.Thread] {
				p.result.Skipped = append(p.result.Skipped, p.plan[i].info.Thread)
				continue
			}
			p.add(&p.plan[i])
		}
		p.plan = p.plan[c.finished:]
		p.done += c.steps
		if p.q.Progress != nil {
			p.q.Progress(p.done, p.total)
		}
		if len(p.plan) > 0 {
			if err := Pause(ctx, time.Duration(p.pace.Pause)*time.Since(started)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Pause waits, unless ctx ends.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// chunk is one transaction of a prune.
type chunk struct {
	p            *pruning
	t            Tx
	steps, bytes int64
	finished     int // threads of the plan
	leased       map[string]bool
}

func (c *chunk) run() error {
	for i := range c.p.plan {
		done, err := c.thread(c.p.plan[i].info.Thread)
		if err != nil {
			return err
		}
		if done {
			c.finished++
		}
		if !done || c.full() {
			return nil
		}
	}
	return nil
}

func (c *chunk) full() bool { return c.steps >= c.p.steps || c.bytes >= c.p.pace.Bytes }

// thread deletes what there is room for and reports whether that was all.
func (c *chunk) thread(id string) (bool, error) {
	whole := c.p.q.Whole()
	t, err := c.t.Lock(id, whole)
	if err != nil || t == nil {
		return true, err
	}
	if t.Live(c.t.Now()) {
		if c.leased == nil {
			c.leased = make(map[string]bool)
		}
		c.leased[id] = true
		return true, nil
	}
	bounds := c.p.bounds(id, t.Head())
	steps, err := c.take(t, bounds)
	if err != nil || len(steps) == 0 {
		return true, err
	}
	last := steps[len(steps)-1]
	if whole && last.Next == 0 {
		return true, t.DeleteThread()
	}
	for i, v := range steps {
		kept := v.Next != 0 && (i+1 == len(steps) || steps[i+1].Step != v.Next)
		if kept {
			if err := t.Detach(v.Step); err != nil {
				return false, err
			}
		}
	}
	return !c.full(), t.DeleteSteps(bounds, last.Step)
}

// take are the lowest steps that go, as many as there is room for.
func (c *chunk) take(t Thread, b Bounds) ([]Step, error) {
	steps, err := t.Steps(b, c.p.steps-c.steps)
	if err != nil {
		return nil, err
	}
	for i, v := range steps {
		if c.full() {
			return steps[:i], nil
		}
		c.steps++
		c.bytes += v.Size
	}
	return steps, nil
}
