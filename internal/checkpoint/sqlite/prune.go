package sqlite

import (
	"context"
	"math"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// A prune deletes some steps at a time and then pauses prunePause times as long as that took, so that a writer beside
// it, also in another process, gets its turn: SQLite's wait for a lock is not fair.
const (
	pruneSteps = 250
	pruneBytes = 4 << 20
	prunePause = 3
)

// Prune implements checkpoint.Store.
func (s *Store) Prune(ctx context.Context, q checkpoint.PruneQuery) (*checkpoint.PruneResult, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	if s.writer == nil && !q.DryRun {
		return nil, s.write(ctx, nil)
	}
	p := pruning{s: s, q: &q, result: new(checkpoint.PruneResult)}
	err := p.run(ctx)
	p.result.Sort()
	return p.result, classify(err)
}

// pruning is one call of Prune: it counts what it takes of each thread, and unless that is all it is asked for, deletes it.
type pruning struct {
	s      *Store
	q      *checkpoint.PruneQuery
	result *checkpoint.PruneResult
	plan   []planned
	done   int64
	total  int64
}

// planned is what a prune takes of one thread.
type planned struct {
	info           checkpoint.ThreadInfo
	steps, bytes   int64
	oldest, newest int64
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
		entry, err := p.count(ctx, t)
		if err != nil {
			return err
		}
		p.total += entry.steps
		p.plan = append(p.plan, entry)
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
	part := checkpoint.PruneThread{Thread: e.info.Thread, Workflow: e.info.Workflow, Steps: e.steps, Bytes: e.bytes, Whole: p.q.Whole()}
	p.result.Add(part, checkpoint.FromMicros(e.oldest), checkpoint.FromMicros(e.newest))
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

// bounds are the conditions on the steps that go from a thread with that head.
func (p *pruning) bounds(thread string, head int64) (string, []any) {
	before, older := int64(math.MaxInt64), int64(math.MaxInt64)
	if p.q.BeforeStep > 0 {
		before = p.q.BeforeStep
	}
	if !p.q.OlderThan.IsZero() {
		older = p.q.OlderThan.UnixMicro()
	}
	if p.q.Whole() {
		head = -1
	}
	return "thread = ?1 AND step <> ?2 AND step < ?3 AND ts < ?4", []any{thread, head, before, older}
}

func (p *pruning) count(ctx context.Context, t *checkpoint.ThreadInfo) (planned, error) {
	e := planned{info: *t}
	where, args := p.bounds(t.Thread, t.Step)
	_, err := rowOf(ctx, p.s.readers, "SELECT count(*), coalesce(sum(size), 0), coalesce(min(ts), 0), coalesce(max(ts), 0) FROM checkpoints WHERE "+
		where, args, &e.steps, &e.bytes, &e.oldest, &e.newest)
	return e, err
}

// execute works through the plan, several small threads or a part of a large one in each transaction.
func (p *pruning) execute(ctx context.Context) error {
	for len(p.plan) > 0 {
		var c chunk
		started := time.Now()
		err := p.s.write(ctx, func(t *tx) error {
			c = chunk{p: p, t: t, now: p.s.now()}
			return c.run()
		})
		if err != nil {
			return err
		}
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
			if err := pause(ctx, prunePause*time.Since(started)); err != nil {
				return err
			}
		}
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
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
	t            *tx
	now          time.Time
	steps, bytes int64
	finished     int // threads of the plan
	leased       map[string]bool
}

func (c *chunk) run() error {
	for i := range c.p.plan {
		done, err := c.thread(&c.p.plan[i])
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

func (c *chunk) full() bool { return c.steps >= pruneSteps || c.bytes >= pruneBytes }

// thread deletes what there is room for and reports whether that was all.
func (c *chunk) thread(e *planned) (bool, error) {
	h, err := c.t.head(e.info.Thread)
	if err != nil || h == nil {
		return true, err
	}
	if h.lease.Live(c.now) {
		if c.leased == nil {
			c.leased = make(map[string]bool)
		}
		c.leased[e.info.Thread] = true
		return true, nil
	}
	victims, err := c.victims(h)
	if err != nil || len(victims) == 0 {
		return true, err
	}
	last := victims[len(victims)-1]
	if c.p.q.Whole() && last.next == 0 {
		return true, c.t.deleteThread(h, c.now)
	}
	for i, v := range victims {
		kept := v.next != 0 && (i+1 == len(victims) || victims[i+1].step != v.next)
		if kept {
			if err := c.t.detach(h, v.step); err != nil {
				return false, err
			}
		}
	}
	where, args := c.p.bounds(h.thread, h.version.Step)
	if err := c.t.exec("DELETE FROM checkpoints WHERE "+where+" AND step <= ?5", append(args, last.step)...); err != nil {
		return false, err
	}
	return !c.full(), nil
}

// victim is a step that goes, and the step after it, 0 for none.
type victim struct{ step, next int64 }

// victims are the lowest steps that go, as many as there is room for.
func (c *chunk) victims(h *head) ([]victim, error) {
	where, args := c.p.bounds(h.thread, h.version.Step)
	rows, err := c.t.query(context.Background(), `SELECT step, size, (SELECT coalesce(min(step), 0) FROM checkpoints AS n
		WHERE n.thread = c.thread AND n.step > c.step) FROM checkpoints AS c WHERE `+where+" ORDER BY step LIMIT ?5",
		append(args, pruneSteps-c.steps)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []victim
	for !c.full() && rows.Next() {
		var v victim
		var size int64
		if err := rows.Scan(&v.step, &size, &v.next); err != nil {
			return nil, err
		}
		list = append(list, v)
		c.steps++
		c.bytes += size
	}
	return list, rows.Err()
}
