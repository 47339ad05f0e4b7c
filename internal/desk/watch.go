package desk

import (
	"context"
	"sync"
	"time"
)

// maxNap bounds how long the schedule sleeps, should a clock be set.
const maxNap = 24 * time.Hour

// sweepAgain is how long the schedule waits after a sweep that failed.
const sweepAgain = 10 * time.Second

// startWatch begins to tell subscribers of changes in the store. A store that cannot be watched is logged: what the
// desk does itself is told all the same. d.mu is held: Close, which waits for it, closes under that lock.
func (d *Desk) startWatch() {
	d.watch.Do(func() {
		if d.closed {
			return
		}
		d.tasks.Add(1)
		go func() {
			defer d.tasks.Done()
			if err := d.watchStore(d.ctx); err != nil && d.ctx.Err() == nil {
				d.o.Log.Error("store no longer watched", "error", err)
			}
		}()
	})
}

func (d *Desk) watchStore(ctx context.Context) error {
	wake, err := d.source.Watch(ctx)
	if err != nil {
		return err
	}
	changes, err := d.source.Changes(ctx, -1)
	if err != nil {
		return err
	}
	seq := changes.Seq
	// Whoever read a list before this moment reads it again: what changed in between is told by nothing else.
	d.hub.publish(Event{Kind: StoreChanged})
	for range wake {
		if seq, err = d.tellChanges(ctx, seq); err != nil {
			return err
		}
	}
	return nil
}

// tellChanges reads what changed after seq and tells it. The sequence it returns is the last it has seen.
func (d *Desk) tellChanges(ctx context.Context, seq int64) (int64, error) {
	for {
		changes, err := d.source.Changes(ctx, seq)
		if err != nil {
			return seq, err
		}
		seq = changes.Seq
		for _, t := range changes.Threads {
			d.hub.publish(Event{Kind: StoreChanged, Thread: t.ID, Node: t.Node, Status: t.Status, Step: t.Step})
			if t.Status != "running" {
				d.lookAtForeign(t.ID)
			}
		}
		for _, id := range changes.Deleted {
			d.hub.publish(Event{Kind: StoreChanged, Thread: id, Status: "deleted"})
			d.lookAtForeign(id)
		}
		if !changes.More {
			return seq, nil
		}
	}
}

// Sweep applies what is due: deadlines with their defaults, timers, and with carryOn stalled threads. progress may be nil.
func (d *Desk) Sweep(ctx context.Context, carryOn bool, progress func(done, total int64)) ([]Result, error) {
	if d.o.ReadOnly {
		return nil, readOnly("apply deadlines")
	}
	sweeper, ok := d.source.(Sweeper)
	if !ok {
		return nil, unsupported("apply deadlines")
	}
	return sweeper.Sweep(ctx, carryOn, progress)
}

// Schedule applies deadlines and timers as they fall due until ctx or the desk ends. It sleeps until the earliest
// of them, or until the store changes, and looks at nothing in between. A desk that is read-only, or whose source has
// no deadlines, returns at once.
func (d *Desk) Schedule(ctx context.Context) error {
	sweeper, ok := d.source.(Sweeper)
	if d.o.ReadOnly || !ok {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(d.ctx, cancel)()
	wake, err := d.source.Watch(ctx)
	if err != nil {
		return err
	}
	return (&schedule{desk: d, sweeper: sweeper, failed: make(chan struct{}, 1)}).run(ctx, wake)
}

// schedule is the loop of Schedule. Sweeps run beside it, so that a long run after one deadline does not hold back
// the next.
type schedule struct {
	desk    *Desk
	sweeper Sweeper
	failed  chan struct{}
	sweeps  sync.WaitGroup
}

func (s *schedule) run(ctx context.Context, wake <-chan struct{}) error {
	defer s.sweeps.Wait()
	var after time.Time
	for {
		due, now, err := s.sweeper.NextDue(ctx, after)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case !due.IsZero() && !due.After(now):
			after = now
			s.sweeps.Go(func() { s.sweep(ctx) })
		case !s.nap(ctx, due, now, wake, &after):
			return nil
		}
	}
}

func (s *schedule) sweep(ctx context.Context) {
	if _, err := s.sweeper.Sweep(ctx, false, nil); err != nil && ctx.Err() == nil {
		s.desk.o.Log.Error("deadlines not applied", "error", err)
		select {
		case s.failed <- struct{}{}:
		default:
		}
	}
}

// nap sleeps until due, a change of the store or the end; it reports false at the end. After a sweep that failed it
// sleeps a while and looks at everything again.
func (s *schedule) nap(ctx context.Context, due, now time.Time, wake <-chan struct{}, after *time.Time) bool {
	wait := maxNap
	if !due.IsZero() {
		wait = min(wait, due.Sub(now))
	}
	alarm := make(chan struct{})
	stop := s.desk.o.AfterFunc(wait, func() { close(alarm) })
	defer stop()
	select {
	case <-alarm:
		return true
	case _, open := <-wake:
		return open
	case <-s.failed:
		*after = time.Time{}
		again := make(chan struct{})
		defer s.desk.o.AfterFunc(sweepAgain, func() { close(again) })()
		select {
		case <-again:
			return true
		case <-ctx.Done():
			return false
		}
	case <-ctx.Done():
		return false
	}
}
