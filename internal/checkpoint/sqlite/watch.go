package sqlite

import (
	"context"
	"database/sql"
	"sync"
	"time"
)

// hub wakes watchers: at once after a write of this process, and by polling SQLite's data version after one of another.
// It polls only while somebody watches, the slower the longer nothing happens.
type hub struct {
	s *Store

	mu       sync.Mutex
	watchers map[chan struct{}]struct{}
	stop     context.CancelFunc // ends the poller
	pollers  sync.WaitGroup
	closed   bool
}

func newHub(s *Store) *hub { return &hub{s: s, watchers: make(map[chan struct{}]struct{})} }

// Watch implements checkpoint.Store.
func (s *Store) Watch(ctx context.Context) (<-chan struct{}, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return s.hub.add(ctx)
}

func (h *hub) add(ctx context.Context) (<-chan struct{}, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return nil, errClosed
	}
	if len(h.watchers) == 0 {
		if err := h.startPolling(); err != nil {
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

func (h *hub) remove(ch chan struct{}) {
	if _, ok := h.watchers[ch]; !ok {
		return
	}
	delete(h.watchers, ch)
	close(ch)
	if len(h.watchers) == 0 {
		h.stop()
	}
}

func (h *hub) wake() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for ch := range h.watchers {
		select {
		case ch <- struct{}{}:
		default:
		}
	}
}

func (h *hub) close() {
	h.mu.Lock()
	h.closed = true
	for ch := range h.watchers {
		h.remove(ch)
	}
	h.mu.Unlock()
	h.pollers.Wait()
}

// startPolling takes the data version at once, so that no change after Watch returns is missed.
func (h *hub) startPolling() error {
	ctx, stop := context.WithCancel(context.Background())
	conn, err := h.s.readers.db.Conn(ctx)
	if err != nil {
		stop()
		return classify(err)
	}
	p := poller{conn: conn, every: h.s.o.WatchEvery, wake: h.wake}
	if _, err := p.changed(ctx); err != nil {
		conn.Close()
		stop()
		return classify(err)
	}
	h.stop = stop
	h.pollers.Go(func() {
		defer conn.Close()
		p.run(ctx)
	})
	return nil
}

// poller looks whether somebody else wrote.
type poller struct {
	conn    *sql.Conn
	every   time.Duration
	wake    func()
	version int64
}

func (p *poller) changed(ctx context.Context) (bool, error) {
	before := p.version
	err := p.conn.QueryRowContext(ctx, "PRAGMA data_version").Scan(&p.version)
	return p.version != before, err
}

func (p *poller) run(ctx context.Context) {
	const slowest = 4
	pause := p.every
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		changed, err := p.changed(ctx)
		switch {
		case err != nil || changed: // after an error a watcher that looks for itself learns more
			p.wake()
			pause = p.every
		default:
			pause = min(pause+pause/4, slowest*p.every)
		}
		timer.Reset(pause)
	}
}
