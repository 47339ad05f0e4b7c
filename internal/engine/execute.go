package engine

import (
	"context"
	"fmt"
	"sync"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// execute runs the frontier against the same state, as many runs at a time as the workflow allows. A run that ends
// while its siblings still run is stored at once, as a pending result of the coming step.
func (s *session) execute(ctx context.Context, frontier []*run) []performed {
	if cap(s.results) < len(frontier) {
		s.results = make([]performed, len(frontier))
	}
	results := s.results[:len(frontier)]
	todo := s.todo[:0]
	for i, r := range frontier {
		p, known := s.inherited(r)
		results[i] = p
		if !known && !r.settled {
			todo = append(todo, i)
		}
	}
	s.todo = todo
	if len(todo) == 1 {
		results[todo[0]] = s.perform(ctx, frontier[todo[0]])
		return results
	}
	limit := s.tree.root.graph.MaxConcurrency
	if limit <= 0 {
		limit = defaultConcurrency
	}
	slots := make(chan struct{}, limit)
	keep := keeper{session: s, frontier: frontier, results: results, flight: make(chan struct{}, 1)}
	keep.left.Store(int64(len(todo)))
	var all sync.WaitGroup
	for _, i := range todo {
		f := frontier[i].frame
		limited := f.limited()
		if !limited {
			slots <- struct{}{}
		}
		if ctx.Err() != nil {
			break // what has not begun begins no more
		}
		all.Go(func() {
			if limited { // it waits for its own workflow first, and meanwhile takes no place from others
				leave, ok := f.enter(ctx)
				if !ok {
					return
				}
				defer leave()
				if !take(ctx, slots) {
					return
				}
			}
			defer func() { <-slots }()
			results[i] = s.perform(ctx, frontier[i])
			keep.ended(ctx, i)
		})
	}
	all.Wait()
	return results
}

// take waits for a place; false when ctx ends first.
func take(ctx context.Context, slots chan<- struct{}) bool {
	select {
	case slots <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

// limited reports whether a nested workflow, of this frame or around it, limits its node runs at a time.
func (f *frame) limited() bool {
	for ; f.owner != nil; f = f.owner.run.frame {
		if f.slots != nil {
			return true
		}
	}
	return false
}

// enter waits for a place among the runs of a nested workflow, and of those around it; false when ctx ends first.
func (f *frame) enter(ctx context.Context) (leave func(), ok bool) {
	for f.slots == nil {
		if f.owner == nil {
			return func() {}, true
		}
		f = f.owner.run.frame
	}
	if !take(ctx, f.slots) {
		return nil, false
	}
	further, ok := f.owner.run.frame.enter(ctx)
	if !ok {
		<-f.slots
		return nil, false
	}
	return func() { further(); <-f.slots }, true
}

// defaultConcurrency is the number of node runs at a time where a workflow names none.
const defaultConcurrency = 8

// conclude makes of what the frontier's runs gave either completions or waiting runs, in frontier order, and absorbs
// them.
func (s *session) conclude(frontier []*run, results []performed) error {
	t := s.tree
	if cap(s.ends) < len(frontier) {
		s.ends = make([]completion, len(frontier))
	}
	ends := s.ends[:len(frontier)]
	for i, r := range frontier {
		p := &results[i]
		if r.settled {
			t.complete(r.settle())
			continue
		}
		c, err := s.concludeRun(r, p, &ends[i])
		if err != nil {
			return err
		}
		if c != nil {
			t.complete(c)
		}
	}
	t.close()
	s.send()
	return nil
}

// concludeRun makes c the completion of a run; nil for a run that waits.
func (s *session) concludeRun(r *run, p *performed, c *completion) (*completion, error) {
	t := s.tree
	*c = completion{run: r, attempts: p.attempts(), started: p.started, took: p.took}
	if p.err != nil {
		c.fail(t.now(), p.err)
		return c, nil
	}
	r.failures = p.failures
	if r.node.nests() {
		return r.enter(p.res.Output)
	}
	asks := len(p.res.Interrupts) > 0
	if asks && s.engine.store == nil {
		return nil, fmt.Errorf("%w: node %s asks a question, and nothing could keep it until it is answered; name a store (--store sqlite:PATH)",
			ErrNoStore, r.node.Name)
	}
	if asks || !p.res.WakeAt.IsZero() || len(r.asks) > 0 {
		waits, err := r.wait(p.res)
		if err != nil {
			c.fail(t.now(), err)
			return c, nil
		}
		if waits {
			t.note(r, checkpoint.NodeRun{
				Status: statusWaiting, Route: r.route, Attempts: c.attempts, Started: p.started, TookMS: p.took.Milliseconds(),
			})
			t.tellWaits(r, p)
			return nil, nil
		}
	}
	c.output, c.route, c.own = p.res.Output, p.res.Route, p.res.Updates
	if c.output.IsNull() {
		c.output = r.output
	}
	if c.route == "" {
		c.route = r.route
	}
	return c, nil
}
