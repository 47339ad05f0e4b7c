package redis

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint/prune"
)

// Watch implements checkpoint.Store: watchers are woken by what every write publishes, after each new connection, and by
// a slow look at the change number should a message be lost or not allowed.
func (s *Store) Watch(ctx context.Context) (<-chan struct{}, error) { return s.hub.Watch(ctx) }

// listen subscribes to the changes. The confirmation of the server wakes as well, so no change after Watch returns is
// missed, though it has not arrived by then.
func (s *Store) listen() (stop func(), err error) {
	ctx, cancel := context.WithCancel(context.Background())
	subscription := s.client.Subscribe(ctx) // to nothing yet: that would wait for a connection
	l := listener{s: s, subscription: subscription}
	s.listener.Go(func() { l.run(ctx) })
	return func() {
		cancel()
		subscription.Close() // ends a read that waits
	}, nil
}

// listener wakes watchers for as long as there are any.
type listener struct {
	s            *Store
	subscription *redis.PubSub
	seq          string
}

func (l *listener) run(ctx context.Context) {
	const slowest = time.Second
	var pause time.Duration
	l.subscription.Subscribe(ctx, l.s.keys.changes()) // after an error the first read tries again
	for ctx.Err() == nil {
		_, err := l.subscription.ReceiveTimeout(ctx, l.s.o.WatchEvery)
		var network net.Error
		switch {
		case err == nil: // a change, or that the subscription is there, for the first time or again
			l.s.hub.Wake()
			pause = 0
		case errors.As(err, &network) && network.Timeout():
			l.look(ctx)
		default: // whoever looks for himself learns more; the next read connects anew
			l.s.hub.Wake()
			prune.Pause(ctx, pause)
			pause = min(2*pause+10*time.Millisecond, slowest)
		}
	}
}

// look wakes when the change number has moved on since the last look.
func (l *listener) look(ctx context.Context) {
	seq, err := l.s.client.Get(ctx, l.s.keys.seq()).Result()
	if err == nil && seq != l.seq {
		l.seq = seq
		l.s.hub.Wake()
	}
}
