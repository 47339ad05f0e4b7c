// Package memory keeps threads in the process: a checkpoint.Store for tests and for whoever wants nothing kept.
// Everything is copied on the way in and on the way out.
package memory

import (
	"context"
	"sync"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/wake"
)

// Options configure a Store. The zero value works.
type Options struct {
	Now func() time.Time // clock; nil is time.Now
}

// Store is an in-process checkpoint.Store.
type Store struct {
	now func() time.Time

	mu          sync.Mutex
	threads     map[string]*thread
	tombstones  []tombstone
	definitions map[string]checkpoint.Definition
	seq         int64
	hub         wake.Hub
	closed      bool
}

var _ checkpoint.Store = (*Store)(nil)

// thread is one thread with all that belongs to it.
type thread struct {
	info      checkpoint.ThreadInfo // without status, lease and claim, which depend on the time
	lease     checkpoint.LeaseState
	claim     checkpoint.Claim
	steps     []*step // ascending
	results   []checkpoint.PendingResult
	decisions []*checkpoint.Decision
	chain     checkpoint.Chain
}

type step struct{ checkpoint.Checkpoint }

type tombstone struct {
	checkpoint.Tombstone
	seq int64
}

// New makes an empty store.
func New(o Options) *Store {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Store{now: o.Now, threads: make(map[string]*thread), definitions: make(map[string]checkpoint.Definition)}
}

// lock begins a call; it fails once ctx has ended or the store is closed.
func (s *Store) lock(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return checkpoint.ErrClosed
	}
	return nil
}

func (s *Store) time() time.Time { return checkpoint.Micro(s.now()) }

// touch marks a row as changed and wakes the watchers.
func (s *Store) touch(t *thread) {
	s.seq++
	t.info.Seq = s.seq
	t.info.Updated = s.time()
	s.hub.Wake()
}

// Watch implements checkpoint.Store.
func (s *Store) Watch(ctx context.Context) (<-chan struct{}, error) { return s.hub.Watch(ctx) }

// view is a thread's row as of now, sharing nothing.
func (s *Store) view(t *thread, now time.Time) checkpoint.ThreadInfo {
	info := t.info
	info.Summary = info.Summary.Stored()
	info.Status = checkpoint.EffectiveStatus(info.Phase, t.lease.Live(now), len(t.lease.Answers))
	info.Lease = t.lease.Info(now)
	if t.claim.Reviewer != "" && now.Before(t.claim.Until) {
		claim := t.claim
		info.Claim = &claim
	}
	if info.Origin != nil {
		origin := *info.Origin
		info.Origin = &origin
	}
	info.Decisions, info.DecisionHash = t.chain.Count, t.chain.Last
	return info
}

// Now implements checkpoint.Store.
func (s *Store) Now(context.Context) (time.Time, error) { return s.time(), nil }

// URL implements checkpoint.Store.
func (s *Store) URL() string { return "memory:" }

// Close implements checkpoint.Store. What was kept is gone.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.hub.Close()
	s.threads, s.tombstones, s.definitions = nil, nil, nil
	return nil
}
