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

// keeper stores the results of runs that end while their siblings still run. Those that end while others are being
// stored are stored together after, or, if by then the last has ended, not at all: the commit that follows holds them.
type keeper struct {
	session  *session
	frontier []*run
	results  []performed
	left     atomic.Int64 // runs that have not ended

	mu     sync.Mutex
	next   *together
	flight chan struct{} // has room for who stores
}

// together are results that are stored at one time.
type together struct {
	runs []int
	done chan struct{}
}

// ended takes the result of a run and returns once it is kept.
func (k *keeper) ended(ctx context.Context, i int) {
	if k.left.Add(-1) == 0 || !k.results[i].finished || k.session.lease == "" {
		return
	}
	k.mu.Lock()
	first := k.next == nil
	if first {
		k.next = &together{done: make(chan struct{})}
	}
	t := k.next
	t.runs = append(t.runs, i)
	k.mu.Unlock()
	if !first {
		<-t.done
		return
	}
	defer close(t.done)
	k.flight <- struct{}{}
	defer func() { <-k.flight }()
	k.mu.Lock()
	k.next = nil
	k.mu.Unlock()
	if k.left.Load() > 0 {
		k.store(ctx, t.runs)
	}
}

// store stores results side by side, which the store turns into one write.
func (k *keeper) store(ctx context.Context, runs []int) {
	var all sync.WaitGroup
	for _, i := range runs[1:] {
		all.Go(func() { k.session.keep(ctx, k.frontier[i], &k.results[i]) })
	}
	k.session.keep(ctx, k.frontier[runs[0]], &k.results[runs[0]])
	all.Wait()
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
	p.kept = true
}

// keepRest stores, of a step that is given up, what had finished and nobody has stored, because the last run had ended by
// then and a commit was to follow.
func (s *session) keepRest(ctx context.Context, frontier []*run, results []performed) {
	if storeFailed(ctx) {
		return
	}
	for i, r := range frontier {
		if p := &results[i]; p.finished && !p.kept && !p.inherited {
			s.keep(ctx, r, p)
		}
	}
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
