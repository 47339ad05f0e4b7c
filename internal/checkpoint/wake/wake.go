// Package wake sends the wake-ups of a store to those who watch it. It knows nothing of what changed, nor how a backend
// learns of it.
package wake

import (
	"context"
	"sync"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// Hub keeps the watchers of a store. The zero value works.
type Hub struct {
	// Listen, unless nil, begins to notice what others change and to call Wake; it runs before the first watcher is let
	// in, so that no change after Watch returns is missed. stop ends that once the last has gone; it is called under the
	// hub's lock, so it must not wait for whoever calls Wake. After it Listen can run again.
	Listen func() (stop func(), err error)

	mu       sync.Mutex
	watchers map[chan struct{}]struct{}
	stop     func()
	closed   bool
}

// Watch implements checkpoint.Store's Watch.
func (h *Hub) Watch(ctx context.Context) (<-chan struct{}, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, checkpoint.ErrClosed
	}
	if len(h.watchers) == 0 {
		if err := h.start(); err != nil {
			return nil, err
		}
	}
	ch := make(chan struct{}, 1)
	h.watchers[ch] = struct{}{}
	context.AfterFunc(ctx, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.remove(ch)
	})
	return ch, nil
}

func (h *Hub) start() error {
	h.watchers, h.stop = make(map[chan struct{}]struct{}), func() {}
	if h.Listen == nil {
		return nil
	}
	stop, err := h.Listen()
	if err == nil {
		h.stop = stop
	}
	return err
}

func (h *Hub) remove(ch chan struct{}) {
	if _, ok := h.watchers[ch]; !ok {
		return
	}
	delete(h.watchers, ch)
	close(ch)
	if len(h.watchers) == 0 {
		h.stop()
	}
}

// Wake wakes every watcher that has not been woken since it last looked.
func (h *Hub) Wake() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for ch := range h.watchers {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

// Close closes the channels of all watchers; Watch is refused from then on. It may be called again.
func (h *Hub) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for ch := range h.watchers {
		h.remove(ch)
	}
}
