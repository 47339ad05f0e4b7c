package desk

import (
	"context"
	"sync"
	"time"
)

const (
	// batchEvery is the pace of batches, about one a frame.
	batchEvery = 16 * time.Millisecond
	// maxProgress bounds the progress lines kept for a reader that does not keep up.
	maxProgress = 1024
	// maxThreads is from how many changed threads on one StoreChanged without a thread stands for all.
	maxThreads = 1024
)

// hub spreads events to subscribers in batches and waits for none of them.
type hub struct {
	now       func() time.Time
	afterFunc func(time.Duration, func()) func() bool

	mu     sync.Mutex
	subs   map[*subscriber]struct{}
	closed bool
	wg     sync.WaitGroup
}

func newHub(now func() time.Time, afterFunc func(time.Duration, func()) func() bool) *hub {
	return &hub{now: now, afterFunc: afterFunc, subs: make(map[*subscriber]struct{})}
}

func (h *hub) publish(e Event) {
	if e.At.IsZero() {
		e.At = h.now()
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for s := range h.subs {
		s.add(e)
	}
}

func (h *hub) subscribe(ctx, life context.Context) <-chan []Event {
	s := &subscriber{wake: make(chan struct{}, 1), last: make(map[eventKey]int)}
	out := make(chan []Event)
	h.mu.Lock()
	if h.closed {
		h.mu.Unlock()
		close(out)
		return out
	}
	h.subs[s] = struct{}{}
	h.wg.Add(1)
	h.mu.Unlock()
	go func() {
		defer h.wg.Done()
		defer close(out)
		defer func() {
			h.mu.Lock()
			delete(h.subs, s)
			h.mu.Unlock()
		}()
		h.feed(ctx, life, s, out)
	}()
	return out
}

// feed sends what gathers, at most one batch every batchEvery.
func (h *hub) feed(ctx, life context.Context, s *subscriber, out chan<- []Event) {
	for {
		select {
		case <-s.wake:
		case <-ctx.Done():
			return
		case <-life.Done():
			return
		}
		if !h.pause(ctx, life) {
			return
		}
		h.mu.Lock()
		batch := s.take()
		h.mu.Unlock()
		if len(batch) == 0 {
			continue
		}
		select {
		case out <- batch:
		case <-ctx.Done():
			return
		case <-life.Done():
			return
		}
	}
}

func (h *hub) pause(ctx, life context.Context) bool {
	done := make(chan struct{})
	stop := h.afterFunc(batchEvery, func() { close(done) })
	select {
	case <-done:
		return true
	case <-ctx.Done():
	case <-life.Done():
	}
	stop()
	return false
}

// close waits for the feeders, whose contexts have ended. Who subscribes later is told nothing.
func (h *hub) close() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.wg.Wait()
}

// subscriber gathers the events of one reader. Lasting events are kept once per kind and thread, at the place of
// the latest; progress lines are dropped from the oldest on.
type subscriber struct {
	wake     chan struct{}
	events   []Event // a zero Kind marks one that was replaced or dropped
	last     map[eventKey]int
	progress int
	oldest   int // no progress line is before this index
	changed  int // StoreChanged that name a thread
	all      bool
}

type eventKey struct {
	kind   EventKind
	thread string
}

func (s *subscriber) add(e Event) {
	switch {
	case e.Kind == Progress:
		if s.progress++; s.progress > maxProgress {
			s.dropOldestProgress()
		}
	case e.Kind == StoreChanged:
		e = s.changedStore(e)
		s.keepLast(e)
	default:
		s.keepLast(e)
	}
	s.events = append(s.events, e)
	if len(s.events) > 4*(maxProgress+maxThreads) {
		s.compact()
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// keepLast drops the event of the same kind and thread that e, about to be appended, takes the place of.
func (s *subscriber) keepLast(e Event) {
	key := eventKey{e.Kind, e.Thread}
	if at, ok := s.last[key]; ok {
		s.events[at] = Event{}
	}
	s.last[key] = len(s.events)
}

// changedStore counts the threads named; once too many are, one event without a thread stands for all.
func (s *subscriber) changedStore(e Event) Event {
	if _, known := s.last[eventKey{StoreChanged, e.Thread}]; known {
		return e
	}
	if !s.all && e.Thread != "" && s.changed < maxThreads {
		s.changed++
		return e
	}
	if !s.all {
		for i, old := range s.events {
			if old.Kind == StoreChanged {
				s.events[i] = Event{}
				delete(s.last, eventKey{StoreChanged, old.Thread})
			}
		}
		s.all = true
	}
	e.Thread = ""
	return e
}

func (s *subscriber) dropOldestProgress() {
	for i := s.oldest; i < len(s.events); i++ {
		if s.events[i].Kind == Progress {
			s.events[i] = Event{}
			s.progress--
			s.oldest = i + 1
			return
		}
	}
}

// compact closes the gaps that replaced events left.
func (s *subscriber) compact() {
	kept := s.events[:0]
	clear(s.last)
	for _, e := range s.events {
		if e.Kind == "" {
			continue
		}
		if e.Kind != Progress {
			s.last[eventKey{e.Kind, e.Thread}] = len(kept)
		}
		kept = append(kept, e)
	}
	clear(s.events[len(kept):])
	s.events, s.oldest = kept, 0
}

func (s *subscriber) take() []Event {
	s.compact()
	batch := s.events
	s.events, s.progress, s.changed, s.all = nil, 0, 0, false
	clear(s.last)
	return batch
}
