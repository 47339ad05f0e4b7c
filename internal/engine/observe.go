package engine

import (
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// outlet stands between the engine and its Observer: events queue, one goroutine hands them over while there are any.
// A nil outlet hears nothing.
type outlet struct {
	to     Observer
	handed atomic.Int64 // Seq of the last event the observer has heard

	mu      sync.Mutex
	seq     int64 // of the last event emitted
	queue   []Event
	load    int           // bytes the queue takes
	running bool          // a goroutine hands over
	turn    chan struct{} // closed when the batch in hand is done; nil when nobody waits for that
	panics  int
	panic   error // the first one
}

const (
	// maxLoad bounds the bytes that wait for an observer: output is dropped beyond a half of it, what steps and nodes
	// do beyond three quarters, the rest beyond all. As much again may be in the observer's hands.
	maxLoad = 4 << 20
	// eventLoad is what an event takes beside its text.
	eventLoad = 512
	// keepEvents is for how many events memory is kept while there are none.
	keepEvents = 256
	// patience is how long an observer may stay in one event before it is not waited for any more.
	patience = 5 * time.Second
)

func newOutlet(to Observer) *outlet {
	if to == nil {
		return nil
	}
	return &outlet{to: to}
}

// room is how much may already wait for an event of this type to be queued.
func (t EventType) room() int {
	switch t {
	case NodeOutput:
		return maxLoad / 2
	case StepStarted, NodeStarted, NodeFinished, StepCommitted:
		return maxLoad / 4 * 3
	}
	return maxLoad
}

// emit numbers an event and queues it, or counts it as lost where it would have stood.
func (o *outlet) emit(e Event) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seq++
	e.Seq = o.seq
	if o.load+eventLoad+len(e.Text) > e.Type.room() {
		last := len(o.queue) - 1
		if last >= 0 && o.queue[last].Type == Lost {
			o.queue[last].Seq, o.queue[last].Lost = e.Seq, o.queue[last].Lost+1
			return
		}
		e = Event{Seq: e.Seq, Type: Lost, At: e.At, Lost: 1}
	}
	o.load += eventLoad + len(e.Text)
	o.queue = append(o.queue, e)
	if !o.running {
		o.running = true
		go o.drain()
	}
}

// drain hands events over in order and ends when there are none.
func (o *outlet) drain() {
	for batch := o.take(nil); len(batch) > 0; batch = o.take(batch) {
		for i := range batch {
			o.hand(batch[i])
		}
	}
}

// take gives the next batch and takes back the memory of the last.
func (o *outlet) take(last []Event) []Event {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.turn != nil {
		close(o.turn)
		o.turn = nil
	}
	if cap(last) > keepEvents {
		last = nil
	}
	clear(last)
	batch := o.queue
	o.queue, o.load = last[:0], 0
	o.running = len(batch) > 0
	return batch
}

// hand gives the observer one event. A panic of its own is kept for whoever closes the engine.
func (o *outlet) hand(e Event) {
	defer func() {
		if p := recover(); p != nil {
			o.mu.Lock()
			if o.panics++; o.panics == 1 {
				o.panic = fmt.Errorf("panic in the observer, at %s: %v\n%s", e.Type, p, debug.Stack())
			}
			o.mu.Unlock()
		}
		o.handed.Store(e.Seq)
	}()
	o.to.Observe(e)
}

// wait returns once everything emitted so far has been handed over, whatever is emitted meanwhile. It does not wait for
// an observer that does not come back.
func (o *outlet) wait() error {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for upTo := o.seq; o.running && o.handed.Load() < upTo; {
		if o.turn == nil {
			o.turn = make(chan struct{})
		}
		turn, before := o.turn, o.handed.Load()
		o.mu.Unlock()
		timer := time.NewTimer(patience)
		late := false
		select {
		case <-turn:
		case <-timer.C:
			late = true
		}
		timer.Stop()
		o.mu.Lock()
		if late && o.handed.Load() == before {
			return fmt.Errorf("the observer of events has not come back from one for %s; %d were not heard", patience, upTo-before)
		}
	}
	return nil
}

// close waits like wait, and says what went wrong in the observer.
func (o *outlet) close() error {
	err := o.wait()
	if o == nil || err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.panics > 1 {
		return fmt.Errorf("%w\nand %d more", o.panic, o.panics-1)
	}
	return o.panic
}
