package postgres

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// Watch implements checkpoint.Store: watchers are woken at once after a write of this process, by a notification after
// one of another, after each reconnect, and by looking now and then for what was not notified: a process that dies
// between its COMMIT and its NOTIFY, or a pgbouncer that drops notifications. One connection listens for all watchers, and
// only while there are any.
func (s *Store) Watch(ctx context.Context) (<-chan struct{}, error) {
	ch, err := s.hub.Watch(ctx)
	return ch, s.classify(ctx, err)
}

// listen begins to listen at once, so that no change after Watch returns is missed.
func (s *Store) listen() (stop func(), err error) {
	ctx, stop := context.WithCancel(context.Background())
	l := listener{s: s}
	if err := l.connect(ctx); err != nil {
		stop()
		return nil, err
	}
	newest, err := s.newest(ctx)
	if err != nil {
		_ = l.conn.Close(ctx)
		stop()
		return nil, err
	}
	s.listeners.Go(func() { l.run(ctx) })
	s.listeners.Go(func() { s.look(ctx, newest) })
	return stop, nil
}

// listener waits for notifications on a connection of its own.
type listener struct {
	s    *Store
	conn *pgx.Conn
}

func (l *listener) connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, l.s.o.BusyTimeout)
	defer cancel()
	conn, err := pgx.ConnectConfig(ctx, l.s.config.ConnConfig.Copy())
	if err != nil {
		return err
	}
	if _, err := conn.Exec(ctx, "LISTEN "+pgx.Identifier{l.s.channel}.Sanitize()); err != nil {
		_ = conn.Close(ctx)
		return err
	}
	l.conn = conn
	return nil
}

func (l *listener) run(ctx context.Context) {
	const first, longest = 50 * time.Millisecond, 5 * time.Second
	pause := first
	for {
		err := l.wait(ctx)
		for err != nil {
			if l.s.o.Sleep(ctx, pause) != nil {
				return
			}
			pause = min(2*pause, longest)
			if err = l.connect(ctx); err == nil {
				pause = first
				l.s.hub.Wake() // what happened meanwhile was notified to nobody
			}
		}
	}
}

// wait wakes watchers at each notification until the connection ends.
func (l *listener) wait(ctx context.Context) error {
	defer l.conn.Close(context.WithoutCancel(ctx))
	for {
		n, err := l.conn.WaitForNotification(ctx)
		if err != nil {
			return err
		}
		if n.Payload != l.s.id { // whose own watchers were woken before
			l.s.hub.Wake()
		}
	}
}

// look wakes watchers where the number of the last settled change is another than before.
func (s *Store) look(ctx context.Context, newest int64) {
	for s.o.Sleep(ctx, s.o.WatchEvery) == nil {
		n, err := s.newest(ctx)
		if err != nil || n != newest { // after an error a watcher that looks for itself learns more
			s.hub.Wake()
		}
		if err == nil {
			newest = n
		}
	}
}

// newest is the number up to which no further change can appear.
func (s *Store) newest(ctx context.Context) (n int64, err error) {
	_, err = s.readRow(ctx, "SELECT settled_seq()", nil, &n)
	return n, err
}

// notifier sends notifications after commits, one at a time for all that happened meanwhile, and never within their
// transactions: a transaction that notifies holds a lock of the whole server while its COMMIT waits for the disk, so
// commits beside each other would wait for one another.
type notifier struct {
	s       *Store
	pending chan struct{}
	done    sync.WaitGroup
}

// notifyEvery bounds how often a process notifies: watchers would not look more often anyway.
const notifyEvery = 10 * time.Millisecond

func newNotifier(s *Store) *notifier {
	n := &notifier{s: s, pending: make(chan struct{}, 1)}
	if !s.o.ReadOnly {
		n.done.Go(n.run)
	}
	return n
}

// signal has watchers elsewhere woken soon.
func (n *notifier) signal() {
	select {
	case n.pending <- struct{}{}:
	default:
	}
}

func (n *notifier) run() {
	for {
		select {
		case <-n.s.closing:
			select {
			case <-n.pending: // of the last commit
				n.send()
			default:
			}
			return
		case <-n.pending:
			n.send()
			_ = n.s.o.Sleep(context.Background(), notifyEvery)
		}
	}
}

// send fails where the server cannot be reached; watchers that lose it too look after they have reconnected, the others
// within WatchEvery.
func (n *notifier) send() {
	ctx, cancel := context.WithTimeout(context.Background(), notifyWait)
	defer cancel()
	_, _ = n.s.pool.Exec(ctx, "SELECT pg_notify($1, $2)", n.s.channel, n.s.id)
}

// notifyWait bounds the wait for a notification to be taken.
const notifyWait = 5 * time.Second

func (n *notifier) close() { n.done.Wait() }
