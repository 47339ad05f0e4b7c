package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// execute runs the frontier against the same state, as many runs at a time as the workflow allows. A run that ends
// while its siblings still run is stored at once, as a pending result of the coming step.
func (s *session) execute(ctx context.Context, frontier []*run) []performed {
	if cap(s.results) < len(frontier) {
		s.results = make([]performed, len(frontier))
	}
	results := s.results[:len(frontier)]
	var todo []int
	for i, r := range frontier {
		p, known := s.inherited(r)
		results[i] = p
		if !known && !r.settled {
			todo = append(todo, i)
		}
	}
	if len(todo) == 1 {
		results[todo[0]] = s.perform(ctx, frontier[todo[0]])
		return results
	}
	limit := s.tree.root.graph.MaxConcurrency
	if limit <= 0 {
		limit = defaultConcurrency
	}
	slots := make(chan struct{}, limit)
	var left atomic.Int64
	left.Store(int64(len(todo)))
	var all sync.WaitGroup
	for _, i := range todo {
		slots <- struct{}{}
		if ctx.Err() != nil {
			break // what has not begun begins no more
		}
		all.Add(1)
		go func() {
			defer all.Done()
			defer func() { <-slots }()
			leave, ok := frontier[i].frame.enter(ctx)
			if !ok {
				return
			}
			defer leave()
			results[i] = s.perform(ctx, frontier[i])
			if left.Add(-1) > 0 && results[i].finished {
				s.keep(ctx, frontier[i], &results[i])
			}
		}()
	}
	all.Wait()
	return results
}

// enter waits for a place among the runs of a nested workflow, and of those around it; false when ctx ends first.
func (f *frame) enter(ctx context.Context) (leave func(), ok bool) {
	for f.slots == nil {
		if f.owner == nil {
			return func() {}, true
		}
		f = f.owner.run.frame
	}
	select {
	case f.slots <- struct{}{}:
	case <-ctx.Done():
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

// pendingRecord is a pending result as the store keeps it. It is used by whoever takes over if the run it belongs to
// is to be run, began after the same decision, and all answers it was computed under are being applied.
type pendingRecord struct {
	Epoch    string           `json:"epoch,omitempty"`
	Answers  []string         `json:"answers,omitempty"` // decisions applied, not committed
	Again    bool             `json:"again,omitempty"`   // only a count of failures: the run is to be repeated
	Failures int              `json:"failures,omitempty"`
	Started  time.Time        `json:"started"`
	Took     time.Duration    `json:"took"`
	Error    *string          `json:"error,omitempty"`
	Output   json.RawMessage  `json:"output,omitempty"`
	Route    string           `json:"route,omitempty"`
	Updates  map[string]Value `json:"updates,omitempty"`
	Asks     []Ask            `json:"asks,omitempty"`
	Closed   []string         `json:"closed,omitempty"`
	WakeAt   time.Time        `json:"wake_at"`
}

// keep stores a pending result. A store that cannot take it ends the step: what cannot be kept must not go on.
func (s *session) keep(ctx context.Context, r *run, p *performed) {
	rec := pendingRecord{
		Epoch: r.epoch, Answers: s.applied, Failures: p.failures, Started: p.started, Took: p.took,
		Output: p.res.Output.JSON(), Route: p.res.Route, Updates: p.res.Updates, Asks: p.res.Interrupts,
		Closed: p.res.Closed, WakeAt: p.res.WakeAt,
	}
	if p.err != nil {
		message := p.err.Error()
		rec.Error = &message
	}
	s.store(ctx, r, rec)
}

// keepFailures makes the number of failed attempts outlive this process.
func (s *session) keepFailures(ctx context.Context, r *run, n int) {
	s.store(ctx, r, pendingRecord{Epoch: r.epoch, Answers: s.applied, Again: true, Failures: n})
}

func (s *session) store(ctx context.Context, r *run, rec pendingRecord) {
	if s.lease == "" {
		return
	}
	ctx = context.WithoutCancel(ctx)
	result := checkpoint.PendingResult{Step: s.head.Step + 1, Path: r.path, Data: encode(rec)}
	err := s.engine.durably(ctx, func() error { return s.engine.store.AddResult(ctx, s.tree.thread, s.lease, result) })
	if err != nil {
		s.stop(fmt.Errorf("storing the result of %s: %w", r.path, err))
		return
	}
	s.engine.crash("result_stored")
}

// inherit takes over the pending results found with the lease.
func (s *session) inherit(results []checkpoint.PendingResult) error {
	for _, x := range results {
		if x.Step != s.head.Step+1 {
			continue
		}
		var rec pendingRecord
		if err := json.Unmarshal(x.Data, &rec); err != nil {
			return &checkpoint.CorruptError{Thread: s.tree.thread, Step: x.Step, Where: "pending result of " + x.Path, Err: err}
		}
		if s.pending == nil {
			s.pending = map[string]pendingRecord{}
		}
		s.pending[x.Path] = rec
	}
	return nil
}

// inherited is the result somebody else already got for a run, if there is one.
func (s *session) inherited(r *run) (performed, bool) {
	rec, ok := s.pending[r.path]
	if !ok || rec.Epoch != r.epoch {
		return performed{}, false
	}
	for _, id := range rec.Answers {
		if !slices.Contains(s.applied, id) {
			return performed{}, false
		}
	}
	if rec.Again {
		r.failures = rec.Failures
		return performed{}, false
	}
	p := performed{
		failures: rec.Failures, started: rec.Started, took: rec.Took, finished: true, inherited: true,
		res: Result{
			Output: RawValue(rec.Output), Route: rec.Route, Updates: rec.Updates, Interrupts: rec.Asks,
			Closed: rec.Closed, WakeAt: rec.WakeAt,
		},
	}
	if rec.Error != nil {
		p.err = errors.New(*rec.Error)
	}
	return p, true
}

// conclude makes of what the frontier's runs gave either completions or waiting runs, in frontier order, and absorbs
// them.
func (s *session) conclude(frontier []*run, results []performed) error {
	t := s.tree
	for i, r := range frontier {
		p := &results[i]
		if r.settled {
			t.complete(r.settle())
			continue
		}
		c, err := s.concludeRun(r, p)
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

// concludeRun is nil for a run that waits.
func (s *session) concludeRun(r *run, p *performed) (*completion, error) {
	t := s.tree
	c := &completion{run: r, attempts: p.attempts(), started: p.started, took: p.took}
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
