package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

const (
	// undoneTries is how often a transaction is run that the server took back.
	undoneTries = 10
	// idleInTransaction is how long the server waits within a transaction for a process that has stopped, say by
	// SIGSTOP, before it takes the transaction back and lets others go on.
	idleInTransaction = 30 * time.Second
)

// tx is one transaction. What it asks for and what it writes is queued, and sent together at flush and with the COMMIT:
// a commit takes two round trips.
type tx struct {
	s       *Store
	ctx     context.Context
	conn    *pgx.Conn
	batch   *pgx.Batch
	now     time.Time // the store's time as of the last lock taken
	again   bool      // an earlier try lost its connection, so it may have been committed
	changed bool      // something watchers are to see
	ended   bool      // COMMIT was sent
}

// write runs fn in a transaction and returns once that is durable. fn runs again where the server took the transaction
// back, and where the connection was lost: then fn has to find out, if t.again, whether it has done its work.
func (s *Store) write(ctx context.Context, fn func(*tx) error) error {
	if s.o.ReadOnly {
		return fmt.Errorf("%s: %w", s.url, checkpoint.ErrReadOnly)
	}
	again, changed, tries := false, false, 0
	err := s.connected(ctx, func(conn *pgxpool.Conn) error {
		for {
			t := &tx{s: s, ctx: ctx, conn: conn.Conn(), again: again}
			err := t.run(fn)
			again, changed = again || t.ended && conn.Conn().IsClosed(), changed || t.changed
			if tries++; !undone(err) || tries == undoneTries {
				return err
			}
		}
	})
	if err == nil && changed {
		s.hub.Wake()
		s.notifier.signal()
	}
	return err
}

// connected runs fn with a connection, and while that is lost, again with another for as long as a lock is waited for.
func (s *Store) connected(ctx context.Context, fn func(*pgxpool.Conn) error) error {
	const first, longest = 20 * time.Millisecond, time.Second
	deadline := time.Now().Add(s.o.BusyTimeout)
	for pause := first; ; pause = min(2*pause, longest) {
		err := s.once(ctx, fn)
		if err == nil || !lost(err) || ctx.Err() != nil || time.Now().Add(pause).After(deadline) {
			return s.classify(ctx, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.closing:
			return checkpoint.ErrClosed
		case <-time.After(pause):
		}
	}
}

func (s *Store) once(ctx context.Context, fn func(*pgxpool.Conn) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-s.closing:
		return checkpoint.ErrClosed
	default:
	}
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	err = fn(conn)
	if err != nil && conn.Conn().IsClosed() && !lost(err) && ctx.Err() == nil {
		err = s.unreachable(err)
	}
	return err
}

func (t *tx) run(fn func(*tx) error) error {
	t.batch = new(pgx.Batch)
	t.queue("BEGIN ISOLATION LEVEL READ COMMITTED")
	t.queue("SELECT set_config('lock_timeout', $1, true), set_config('idle_in_transaction_session_timeout', $2, true)",
		millis(t.s.o.BusyTimeout), millis(idleInTransaction))
	err := fn(t)
	if err == nil {
		err = t.commit()
	}
	if err != nil && !t.conn.IsClosed() && t.conn.PgConn().TxStatus() != 'I' {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.ctx), t.s.o.Silence)
		defer cancel()
		if _, failed := t.conn.Exec(ctx, "ROLLBACK"); failed != nil {
			_ = t.conn.Close(ctx) // the server then takes the transaction back itself
		}
	}
	return err
}

func millis(d time.Duration) string { return fmt.Sprintf("%dms", max(d.Milliseconds(), 1)) }

// commit sends what is queued and the COMMIT behind it. Where a statement fails the server skips the rest. The answer is awaited
// even when the caller's context has ended, lest nobody knew what became of it.
func (t *tx) commit() error {
	t.queue("COMMIT")
	t.ended = true
	return t.send(context.WithoutCancel(t.ctx))
}

// queue has a statement run at the next flush.
func (t *tx) queue(text string, args ...any) { t.batch.Queue(text, escapeAll(args)...) }

// ask has a query run at the next flush, which calls each for each of its rows.
func (t *tx) ask(each func(scanner) error, text string, args ...any) {
	t.batch.Queue(text, escapeAll(args)...).Query(func(rows pgx.Rows) error {
		for rows.Next() {
			if err := each(scanner{rows}); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// flush sends what is queued and awaits the answers.
func (t *tx) flush() error { return t.send(t.ctx) }

func (t *tx) send(ctx context.Context) error {
	batch := t.batch
	t.batch = new(pgx.Batch)
	ctx, cancel := context.WithTimeout(ctx, t.s.o.Silence)
	defer cancel()
	return t.conn.SendBatch(ctx, batch).Close()
}

// row asks for at most one row at once and reports whether there was one.
func (t *tx) row(text string, args []any, dest ...any) (found bool, err error) {
	t.ask(func(rows scanner) error {
		found = true
		return rows.Scan(dest...)
	}, text, args...)
	err = t.flush()
	return found, err
}

// read runs a query outside of any transaction and calls each for each of its rows. Where the connection is lost it runs
// again, and begin is called before: each then starts anew.
func (s *Store) read(ctx context.Context, begin func(), each func(scanner) error, text string, args ...any) error {
	args = escapeAll(args)
	return s.connected(ctx, func(conn *pgxpool.Conn) error {
		begin()
		awaited, cancel := context.WithCancel(ctx)
		defer cancel()
		wait := 3 * s.o.Silence // one that counts a large store may take its time
		late := time.AfterFunc(wait, cancel)
		defer late.Stop()
		rows, err := conn.Query(awaited, text, args...)
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			late.Reset(wait)
			if err := each(scanner{rows}); err != nil {
				return err
			}
		}
		return rows.Err()
	})
}

// readRow reads at most one row and reports whether there was one.
func (s *Store) readRow(ctx context.Context, text string, args []any, dest ...any) (found bool, err error) {
	err = s.read(ctx, func() { found = false }, func(rows scanner) error {
		found = true
		return rows.Scan(dest...)
	}, text, args...)
	return found, err
}

// readAll reads all rows of a query.
func readAll[T any](ctx context.Context, s *Store, scan func(scanner, *T) error, text string, args ...any) (list []T, err error) {
	err = s.read(ctx, func() { list = nil }, func(rows scanner) error {
		var v T
		err := scan(rows, &v)
		list = append(list, v)
		return err
	}, text, args...)
	return list, err
}
