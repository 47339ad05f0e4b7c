package engine

import "sync"

// observers stand between the engine and its Observer: events queue, one goroutine hands them over while there are
// any, and a slow observer loses output chunks rather than slow a step.
type outlet struct {
	to      Observer
	mu      sync.Mutex
	seq     int64 // of the last event emitted
	handed  int64 // of the last event the observer has heard
	queue   []Event
	running bool
	idle    sync.Cond
}

// maxQueue is the number of waiting events beyond which output chunks are dropped.
const maxQueue = 4096

func newOutlet(to Observer) *outlet {
	if to == nil {
		return nil
	}
	o := &outlet{to: to}
	o.idle.L = &o.mu
	return o
}

// emit numbers an event and queues it. A nil outlet hears nothing.
func (o *outlet) emit(e Event) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.seq++
	e.Seq = o.seq
	if len(o.queue) >= maxQueue && e.Type == NodeOutput {
		return
	}
	o.queue = append(o.queue, e)
	if !o.running {
		o.running = true
		go o.drain()
	}
}

// drain hands events over in order and ends when there are none.
func (o *outlet) drain() {
	for {
		o.mu.Lock()
		if len(o.queue) == 0 {
			o.running = false
			o.idle.Broadcast()
			o.mu.Unlock()
			return
		}
		batch := o.queue
		o.queue = nil
		o.mu.Unlock()
		for _, e := range batch {
			o.to.Observe(e)
		}
		o.mu.Lock()
		o.handed = batch[len(batch)-1].Seq
		o.idle.Broadcast()
		o.mu.Unlock()
	}
}

// wait returns once everything emitted so far has been handed over, whatever is emitted meanwhile.
func (o *outlet) wait() {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for upTo := o.seq; o.running && o.handed < upTo; {
		o.idle.Wait()
	}
}
