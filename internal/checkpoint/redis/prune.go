package redis

import (
	"context"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// Prune works in pieces of this size, each of which is one script, so that nobody else waits long.
const (
	pruneSteps = 250
	pruneBytes = 4 << 20
)

// Prune implements checkpoint.Store.
func (s *Store) Prune(ctx context.Context, q checkpoint.PruneQuery) (*checkpoint.PruneResult, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	if s.o.ReadOnly && !q.DryRun {
		return nil, s.readOnly()
	}
	p := pruning{s: s, q: &q, result: new(checkpoint.PruneResult)}
	err := p.run(ctx)
	p.result.Sort()
	return p.result, err
}

// pruning is one call of Prune: it counts what it takes of each thread, and unless that is all it is asked for, deletes it.
type pruning struct {
	s      *Store
	q      *checkpoint.PruneQuery
	result *checkpoint.PruneResult
	plan   []*planned
	done   int64
	total  int64
}

// planned is what a prune takes of one thread.
type planned struct {
	part           checkpoint.PruneThread
	oldest, newest time.Time
	head           int64
	after          int64 // step after which the next piece begins
}

func (p *pruning) run(ctx context.Context) error {
	if err := p.choose(ctx); err != nil {
		return err
	}
	if err := p.count(ctx); err != nil {
		return err
	}
	for _, t := range p.plan {
		taken := true
		if !p.q.DryRun {
			var err error
			if taken, err = p.delete(ctx, t); err != nil {
				return err
			}
		}
		if taken {
			p.result.Add(t.part, t.oldest, t.newest)
		}
	}
	return nil
}

// choose finds the threads the query selects.
func (p *pruning) choose(ctx context.Context) error {
	add := func(t *checkpoint.ThreadInfo) {
		switch {
		case !p.q.Selects(t):
		case t.Lease != nil && t.Lease.Live:
			p.result.Skipped = append(p.result.Skipped, t.Thread)
		default:
			p.plan = append(p.plan, &planned{head: t.Step, after: -1,
				part: checkpoint.PruneThread{Thread: t.Thread, Workflow: t.Workflow, Whole: p.q.Whole()}})
		}
	}
	if !p.q.All {
		for _, id := range p.q.Threads {
			t, err := p.s.Thread(ctx, id)
			if err != nil {
				return err
			}
			add(t)
		}
		return nil
	}
	query := checkpoint.Query{Workflow: p.q.Workflow, Status: p.q.Status, Sort: checkpoint.SortName, Limit: walkMost - 1}
	for {
		page, err := p.s.Threads(ctx, query)
		if err != nil {
			return err
		}
		for i := range page.Threads {
			add(&page.Threads[i])
		}
		if query.After = page.Next; page.Next == "" {
			return nil
		}
	}
}

// takes reports whether a step goes from a thread with that head.
func (p *pruning) takes(s *step, head int64) bool {
	return p.q.Whole() || s.step != head && p.q.Takes(s.step, checkpoint.FromMicros(s.ts))
}

// last is the highest step that can go, as a bound of Redis.
func (p *pruning) last() string {
	if p.q.Whole() || p.q.BeforeStep <= 0 {
		return "+inf"
	}
	return "(" + strconv.FormatInt(p.q.BeforeStep, 10)
}

// count counts what the plan takes, of many threads at once.
func (p *pruning) count(ctx context.Context) error {
	const atOnce = 100
	for open := p.plan; len(open) > 0; {
		batch := open[:min(len(open), atOnce)]
		var replies []*redis.StringSliceCmd
		err := p.s.patiently(ctx, func() error {
			replies = replies[:0]
			_, err := p.s.client.Pipelined(ctx, func(pipe redis.Pipeliner) error {
				for _, t := range batch {
					replies = append(replies, pipe.ZRangeByScore(ctx, p.s.keys.steps(t.part.Thread),
						&redis.ZRangeBy{Min: "(" + strconv.FormatInt(t.after, 10), Max: p.last(), Count: pruneSteps}))
				}
				return nil
			})
			return err
		})
		if err != nil {
			return err
		}
		var unfinished []*planned
		for i, t := range batch {
			steps, err := parseSteps(t.part.Thread, replies[i].Val())
			if err != nil {
				return err
			}
			if p.add(t, steps); len(steps) == pruneSteps {
				unfinished = append(unfinished, t)
			}
		}
		open = append(unfinished, open[len(batch):]...)
	}
	for _, t := range p.plan {
		t.after = -1
		p.total += t.part.Steps
	}
	return nil
}

// add counts steps of a thread, some of which go.
func (p *pruning) add(t *planned, steps []step) {
	for i := range steps {
		s := &steps[i]
		t.after = s.step
		if !p.takes(s, t.head) {
			continue
		}
		ts := checkpoint.FromMicros(s.ts)
		if t.part.Steps == 0 || ts.Before(t.oldest) {
			t.oldest = ts
		}
		if ts.After(t.newest) {
			t.newest = ts
		}
		t.part.Steps++
		t.part.Bytes += s.size
	}
}

// delete deletes what was planned of a thread, a piece at a time, and reports whether it could: a thread that has a lease
// by now is skipped, one that is gone or no longer selected left alone.
func (p *pruning) delete(ctx context.Context, t *planned) (bool, error) {
	for {
		var c piece
		_, err := p.s.change(ctx, t.part.Thread, func(ctx context.Context, w *write) error {
			c = piece{p: p, w: w, after: t.after}
			return c.prepare(ctx)
		})
		if err != nil {
			return false, err
		}
		if c.leased {
			p.result.Skipped = append(p.result.Skipped, t.part.Thread)
		}
		if c.leased || c.unwanted {
			return false, nil
		}
		p.done += c.steps
		if p.q.Progress != nil {
			p.q.Progress(p.done, p.total)
		}
		if t.after = c.after; c.last {
			return true, nil
		}
	}
}

// piece is one write of a prune.
type piece struct {
	p        *pruning
	w        *write
	after    int64 // step that was looked at last
	steps    int64 // that go
	last     bool  // nothing is left to look at
	leased   bool
	unwanted bool
}

func (c *piece) prepare(ctx context.Context) error {
	h := c.w.head
	info := h.view(h.now)
	c.leased = h.present && h.lease.Live(h.now)
	c.unwanted = !h.present || !c.p.q.Selects(&info)
	if c.w.done = c.leased || c.unwanted; c.w.done {
		return nil
	}
	if c.p.q.Whole() {
		c.last, c.steps = true, h.stored.steps
		c.w.delete()
		return nil
	}
	found, err := c.w.steps(ctx, c.after, pruneSteps+1)
	if err != nil {
		return err
	}
	victims, err := c.choose(ctx, found)
	if err != nil {
		return err
	}
	if c.w.done = len(victims) == 0; c.w.done {
		return nil
	}
	c.remove(victims)
	c.w.freeing = true
	c.w.save(false)
	return nil
}

// choose picks the steps that go from the next ones, and makes a keyframe of each that stays behind one that goes.
func (c *piece) choose(ctx context.Context, found []step) ([]step, error) {
	var victims []step
	var bytes int64
	gap := false // the step before goes
	for i := range found {
		s := &found[i]
		full := i == pruneSteps || bytes >= pruneBytes
		if full || !c.p.takes(s, c.w.head.info.Step) {
			if gap {
				if err := c.w.detach(ctx, s); err != nil {
					return nil, err
				}
			}
			if gap = false; full {
				return victims, nil
			}
		} else {
			victims, gap = append(victims, *s), true
			bytes += s.size
		}
		c.after = s.step
	}
	c.last = true
	return victims, nil
}

// remove removes steps.
func (c *piece) remove(victims []step) {
	k, thread := c.w.s.keys, c.w.head.info.Thread
	var members, fields []any
	for i := range victims {
		members = append(members, victims[i].member())
		fields = append(fields, victims[i].step)
		c.w.head.stored.steps--
		c.w.head.stored.bytes -= victims[i].size
	}
	c.steps = int64(len(victims))
	c.w.do("ZREM", k.steps(thread), members...)
	c.w.do("HDEL", k.records(thread), fields...)
	c.w.do("HDEL", k.states(thread), fields...)
}
