package file

import (
	"context"
	"time"
)

// Watch implements checkpoint.Store.
func (s *Store) Watch(ctx context.Context) (<-chan struct{}, error) { return s.hub.Watch(ctx) }

// listen looks whether other processes wrote to the journal, for as long as somebody watches, the slower the longer
// nothing happens.
func (s *Store) listen() (stop func(), err error) {
	ctx, stop := context.WithCancel(context.Background())
	p := poller{s: s}
	if _, err := p.changed(); err != nil {
		stop()
		return nil, classify(err)
	}
	s.pollers.Go(func() { p.run(ctx) })
	return stop, nil
}

type poller struct {
	s    *Store
	head journalHead
	size int64
}

func (p *poller) changed() (bool, error) {
	h, size, err := p.s.journal.look()
	was := *p
	p.head, p.size = h, size
	return err != nil || p.head != was.head || p.size != was.size, err
}

func (p *poller) run(ctx context.Context) {
	const slowest = 4
	pause := p.s.o.WatchEvery
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		changed, err := p.changed()
		if err != nil || changed { // after an error a watcher that looks for itself learns more
			p.s.hub.Wake()
			pause = p.s.o.WatchEvery
		} else {
			pause = min(pause+pause/4, slowest*p.s.o.WatchEvery)
		}
		timer.Reset(pause)
	}
}
