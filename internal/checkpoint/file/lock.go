package file

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// stripeCount is how many files the locks of threads are spread over.
const stripeCount = 256

func (s *Store) stripe(thread string) *lock { return s.stripeOf(escape(thread)) }

func (s *Store) stripeOf(name string) *lock {
	h := fnv.New32a()
	h.Write([]byte(name))
	return &s.stripes[h.Sum32()%stripeCount]
}

// lock is a file by which processes, and a turn by which calls of this process, exclude each other.
type lock struct {
	file string
	turn chan struct{}
}

func (l *lock) init(file string) { l.file, l.turn = file, make(chan struct{}, 1) }

// Another process is asked for the lock again after firstPause, ever later up to lastPause: nobody tells when it is free.
const (
	firstPause = 20 * time.Microsecond
	lastPause  = 5 * time.Millisecond
)

// take waits for the lock: for calls of this process as long as ctx lasts, for another process no longer than the busy
// timeout. Those who share it do so with other processes only.
func (s *Store) take(ctx context.Context, l *lock, shared bool) (release func(), err error) {
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	unlock, err := s.outwait(ctx, l, shared)
	if err != nil {
		<-l.turn
		return nil, err
	}
	return func() {
		unlock()
		<-l.turn
	}, nil
}

func (s *Store) outwait(ctx context.Context, l *lock, shared bool) (func(), error) {
	unlock, err := s.disk.Lock(l.file, shared)
	if !errors.Is(err, errBusy) {
		return unlock, err
	}
	late := time.NewTimer(s.o.BusyTimeout)
	defer late.Stop()
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		again := time.NewTimer(pause)
		select {
		case <-again.C:
		case <-ctx.Done():
			again.Stop()
			return nil, ctx.Err()
		case <-late.C:
			again.Stop()
			return nil, fmt.Errorf("%w: another process has held %s for longer than %s", checkpoint.ErrLocked, l.file, s.o.BusyTimeout)
		}
		unlock, err := s.disk.Lock(l.file, shared)
		if !errors.Is(err, errBusy) {
			return unlock, err
		}
	}
}
