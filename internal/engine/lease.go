package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// defaultLeaseTTL is how long a lease lasts unless it is renewed, which happens every third of it.
const defaultLeaseTTL = 15 * time.Second

// errShutdown is the cause of a run that Close interrupts.
var errShutdown = errors.New("shutting down")

// enter registers a session, gives it a context that can be ended, and keeps its lease alive until finish.
func (e *Engine) enter(parent context.Context, s *session) (context.Context, func(), error) {
	ctx, cancel := context.WithCancelCause(parent)
	s.stop = func(err error) { cancel(&storeError{err}) }
	e.running.mu.Lock()
	if e.running.closed {
		e.running.mu.Unlock()
		cancel(nil)
		return ctx, nil, ErrClosed
	}
	if e.running.threads == nil {
		e.running.threads = map[*session]struct{}{}
	}
	e.running.threads[s] = struct{}{}
	s.interrupt = cancel
	e.running.all.Add(1)
	e.running.mu.Unlock()
	beats := make(chan struct{})
	if s.lease != "" {
		go e.keepLease(ctx, s.tree.thread, s.lease, cancel, beats)
	} else {
		close(beats)
	}
	return ctx, func() {
		cancel(nil)
		<-beats
		e.running.mu.Lock()
		delete(e.running.threads, s)
		e.running.mu.Unlock()
		e.running.all.Done()
	}, nil
}

// keepLease renews a lease until ctx ends, every third of its time, and more often while the store cannot be reached. It
// ends the run when a person wants it cancelled, and when the lease is lost: a runner that slept past its lease must not
// write again.
func (e *Engine) keepLease(ctx context.Context, thread, token string, cancel context.CancelCauseFunc, done chan<- struct{}) {
	defer close(done)
	ttl := e.o.LeaseTTL
	timer := time.NewTimer(ttl / 3)
	defer timer.Stop()
	renewed := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		beat, err := e.store.Heartbeat(ctx, thread, token, ttl)
		switch {
		case ctx.Err() != nil:
			return
		case errors.Is(err, checkpoint.ErrConflict), err != nil && time.Since(renewed) >= ttl:
			cancel(&storeError{fmt.Errorf("the lease of thread %s was lost: %w", thread, err)})
			return
		case err != nil: // the store may be back before the lease runs out
			timer.Reset(ttl / 15)
		case beat.CancelRequested:
			cancel(ErrCancelledByPerson)
			return
		default:
			renewed = time.Now()
			timer.Reset(ttl / 3)
		}
	}
}

// Cancel ends the run in progress of a thread, here at once, elsewhere at the holder's next heartbeat.
func (e *Engine) Cancel(ctx context.Context, thread, by string) error {
	if e.store == nil {
		return fmt.Errorf("%w: there is nothing to cancel", ErrNoStore)
	}
	e.running.mu.Lock()
	found := false
	for s := range e.running.threads {
		if s.tree.thread == thread {
			s.interrupt(ErrCancelledByPerson)
			found = true
		}
	}
	e.running.mu.Unlock()
	if found {
		return nil
	}
	return e.store.RequestCancel(ctx, thread, by)
}

// Heard returns once the observer has heard all that happened before the call: whoever tells how a run ended tells it
// after the run's own events. Start, Resume and the others do not wait for that themselves. An observer that stays in
// one event for five seconds is not waited for, which is the error.
func (e *Engine) Heard() error { return e.out.wait() }

// Close waits for what runs: with a cancelled ctx the runs are interrupted and their leases released, their answers
// kept (the thread is then stalled). It then waits as Heard does; its error says what went wrong in the observer, a panic
// above all.
func (e *Engine) Close(ctx context.Context) error {
	e.running.mu.Lock()
	e.running.closed = true
	e.running.mu.Unlock()
	idle := make(chan struct{})
	go func() {
		e.running.all.Wait()
		close(idle)
	}()
	select {
	case <-idle:
	case <-ctx.Done():
		e.running.mu.Lock()
		for s := range e.running.threads {
			s.interrupt(errShutdown)
		}
		e.running.mu.Unlock()
		<-idle
	}
	return e.out.close()
}
