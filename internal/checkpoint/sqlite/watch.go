package sqlite

import (
	"context"
	"database/sql"
	"time"
)

// Watch implements checkpoint.Store: watchers are woken at once after a write of this process, and by polling SQLite's
// data version after one of another. That is polled only while somebody watches, the slower the longer nothing happens.
func (s *Store) Watch(ctx context.Context) (<-chan struct{}, error) {
	ch, err := s.hub.Watch(ctx)
	return ch, classify(err)
}

// poll takes the data version at once, so that no change after Watch returns is missed.
func (s *Store) poll() (stop func(), err error) {
	ctx, stop := context.WithCancel(context.Background())
	conn, err := s.readers.db.Conn(ctx)
	if err != nil {
		stop()
		return nil, err
	}
	p := poller{conn: conn, every: s.o.WatchEvery, wake: s.hub.Wake}
	if _, err := p.changed(ctx); err != nil {
		conn.Close()
		stop()
		return nil, err
	}
	s.pollers.Go(func() {
		defer conn.Close()
		p.run(ctx)
	})
	return stop, nil
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
