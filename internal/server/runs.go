package server

import (
	"context"
	"crypto/sha256"
	"fmt"
	"sync"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/desk"
)

const (
	// mostKept and mostKeptBytes bound what is remembered for repeats under an Idempotency-Key.
	mostKept      = 1000
	mostKeptBytes = 16 << 20
)

// runs are what requests have begun. They belong to the server and not to the client, which may leave.
type runs struct {
	ctx    context.Context // ends with the cause desk.ErrShutdown
	end    context.CancelCauseFunc
	active sync.WaitGroup

	most int // that may run at once

	mu       sync.Mutex
	closed   bool
	count    int
	starting map[string]bool // threads that are being started
	byKey    map[string]*run
	order    []*run // of byKey, those that are done, oldest first
	bytes    int    // of their answers
}

// run is one start or resume on its way.
type run struct {
	key      string            // under which a repeat finds it, "" none
	sum      [sha256.Size]byte // of the request
	accepted chan struct{}     // closed once what was asked for is kept
	hint     chan struct{}     // may be closed before that
	once     sync.Once
	done     chan struct{} // closed at the end
	reply    reply
	err      error
}

func newRuns(most int) *runs {
	r := &runs{most: most, starting: make(map[string]bool), byKey: make(map[string]*run)}
	r.ctx, r.end = context.WithCancelCause(context.Background())
	return r
}

// hinted tells whoever waits for it that the run may have been accepted.
func (r *run) hinted() { r.once.Do(func() { close(r.hint) }) }

var errShuttingDown = &desk.Error{Code: desk.CodeCancelled, Message: "the server is shutting down", Remedy: "try again later", Err: desk.ErrShutdown}

// busy refuses what would be more at once than the server may do.
func busy(what string, most int, flag string) error {
	return &desk.Error{Code: desk.CodeBusy, Message: fmt.Sprintf("%s (%d)", what, most), Remedy: "try again later, or start `hitl-tui serve` with more (`" + flag + "`)"}
}

// begin runs do beside the request; under a key that is known it gives the run that has it, and old is true.
func (s *runs) begin(key string, sum [sha256.Size]byte, do func(ctx context.Context, r *run) (reply, error)) (r *run, old bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.byKey[key]; key != "" && r != nil {
		if r.sum != sum {
			return nil, false, &desk.Error{Code: desk.CodeInvalidData, Message: "this Idempotency-Key was used for another request", Remedy: "take a fresh key for each"}
		}
		return r, true, nil
	}
	if s.closed {
		return nil, false, errShuttingDown
	}
	if s.count >= s.most {
		return nil, false, busy("the server runs as much as it may at once", s.most, "--max-runs")
	}
	r = &run{key: key, sum: sum, accepted: make(chan struct{}), hint: make(chan struct{}), done: make(chan struct{})}
	if key != "" {
		s.byKey[key] = r
	}
	s.count++
	s.active.Go(func() {
		r.reply, r.err = do(s.ctx, r)
		s.finish(r)
		close(r.done)
	})
	return r, false, nil
}

// finish keeps what a run gave for repeats of the request. A refusal changed nothing and is not kept: a repeat is judged anew.
func (s *runs) finish(r *run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count--
	if r.key == "" {
		return
	}
	if r.err != nil {
		delete(s.byKey, r.key)
		return
	}
	s.order, s.bytes = append(s.order, r), s.bytes+len(r.reply.body)
	for len(s.order) > mostKept || s.bytes > mostKeptBytes && len(s.order) > 1 {
		oldest := s.order[0]
		s.order[0], s.order = nil, s.order[1:]
		s.bytes -= len(oldest.reply.body)
		delete(s.byKey, oldest.key)
	}
}

// claim notes that a thread is being started; of two requests that name one new thread the second is refused.
func (s *runs) claim(thread string) (release func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.starting[thread] {
		return nil, &desk.Error{Code: desk.CodeConflict, Message: fmt.Sprintf("thread %s is being started", thread), Remedy: "give another thread_id, or none for a fresh one"}
	}
	s.starting[thread] = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.starting, thread)
	}, nil
}

// refuse begins nothing from now on.
func (s *runs) refuse() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
}

// refusing reports whether nothing is begun any more.
func (s *runs) refusing() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

// running counts what runs.
func (s *runs) running() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.count
}

// drain waits until nothing runs; what still runs after the time given is interrupted, its answers kept.
func (s *runs) drain(patience time.Duration) {
	s.refuse()
	rested := make(chan struct{})
	go func() { s.active.Wait(); close(rested) }()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-rested:
	case <-timer.C:
	}
	s.end(desk.ErrShutdown)
	<-rested
}
