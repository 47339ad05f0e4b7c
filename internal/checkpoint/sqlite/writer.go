package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"sync"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// groupMax is how many writes share one transaction at most.
const groupMax = 64

// pagesOfWrite is about what a small write adds to the log, in bytes.
const pagesOfWrite = 6 * 4096

// writer runs all writes of the process on one connection with kept statements. There is no goroutine behind it: a
// caller that finds nobody writing writes at once, without a hop; whoever comes meanwhile queues, and the first of the
// queue then writes for all of it, in order of arrival.
type writer struct {
	db        *sql.DB
	conn      *sql.Conn
	stmts     map[string]*sql.Stmt
	committed func(bytes int64) // after each transaction, before its callers return; about what it wrote to the log
	bytes     int64
	known     known

	mu      sync.Mutex
	queue   []*job
	writing bool
	closed  bool
	idle    *sync.Cond
}

// job is one caller's write.
type job struct {
	fn   func(*tx) error
	solo func() error // instead of fn: run beside no transaction
	err  error
	wake chan bool // true: write for the queue; false: done, err is set
}

func newWriter(ctx context.Context, db *sql.DB, committed func(bytes int64)) (*writer, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		db.Close()
		return nil, err
	}
	w := &writer{db: db, conn: conn, stmts: make(map[string]*sql.Stmt), committed: committed}
	w.idle = sync.NewCond(&w.mu)
	return w, nil
}

// do runs fn in a transaction, perhaps with others', and returns once that is durable. ctx counts until fn is queued:
// what is queued is awaited. fn may run twice; the first time is then undone.
func (w *writer) do(ctx context.Context, fn func(*tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return w.run(&job{fn: fn})
}

// exclude runs fn while no write of this process is under way.
func (w *writer) exclude(fn func() error) error { return w.run(&job{solo: fn}) }

func (w *writer) run(j *job) error {
	j.wake = make(chan bool, 1)
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return checkpoint.ErrClosed
	}
	w.queue = append(w.queue, j)
	first := !w.writing
	w.writing = true
	w.mu.Unlock()
	if first || <-j.wake {
		w.lead()
	}
	return classify(j.err)
}

// lead writes for the queue, at whose head the caller's own job is, and hands on.
func (w *writer) lead() {
	batch := w.next()
	w.bytes = 0
	w.transact(batch)
	w.committed(w.bytes)
	for _, j := range batch[1:] {
		j.wake <- false
	}

	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) > 0 {
		w.queue[0].wake <- true
		return
	}
	w.queue, w.writing = nil, false
	w.idle.Broadcast()
}

// next takes what can be written together off the queue.
func (w *writer) next() []*job {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 1
	for n < min(len(w.queue), groupMax) && w.queue[0].solo == nil && w.queue[n].solo == nil {
		n++
	}
	batch := w.queue[:n:n]
	w.queue = w.queue[n:]
	return batch
}

// transact runs a batch as one transaction. Should SQLite fail in a member, each runs in one of its own instead.
func (w *writer) transact(batch []*job) {
	if len(batch) > 1 && w.group(batch) {
		return
	}
	for _, j := range batch {
		j.err = w.alone(j)
	}
}

func (w *writer) alone(j *job) error {
	if j.solo != nil {
		return j.solo()
	}
	t := &tx{w: w}
	if err := t.begin(); err != nil {
		return err
	}
	if err := j.fn(t); err != nil {
		t.rollback()
		return err
	}
	if err := t.end(); err != nil {
		return err
	}
	w.bytes += pagesOfWrite
	return nil
}

// group reports whether the batch was settled.
func (w *writer) group(batch []*job) bool {
	t := &tx{w: w}
	if err := t.begin(); err != nil {
		for _, j := range batch {
			j.err = err
		}
		return true
	}
	for _, j := range batch {
		if err := t.member(j); err != nil {
			t.rollback()
			return false
		}
	}
	if err := t.end(); err != nil {
		return false
	}
	w.bytes += int64(len(batch)) * pagesOfWrite
	return true
}

// member runs one job of a group. What it is refused it is refused before it writes, so that the others go on; an error
// after that is for each of them to meet in a transaction of its own.
func (t *tx) member(j *job) error {
	t.wrote = false
	j.err = j.fn(t)
	if isSQLite(j.err) || j.err != nil && t.wrote {
		return j.err
	}
	return nil
}

// close waits for what is queued.
func (w *writer) close() error {
	w.mu.Lock()
	w.closed = true
	for w.writing {
		w.idle.Wait()
	}
	w.mu.Unlock()
	var errs []error
	for _, stmt := range w.stmts {
		errs = append(errs, stmt.Close())
	}
	errs = append(errs, w.conn.Close(), w.db.Close())
	return errors.Join(errs...)
}

// tx is the writer within a transaction. Its calls cannot be cancelled.
type tx struct {
	w     *writer
	wrote bool
}

func (t *tx) stmt(text string) (*sql.Stmt, error) {
	if stmt, ok := t.w.stmts[text]; ok {
		return stmt, nil
	}
	stmt, err := t.w.conn.PrepareContext(context.Background(), text)
	if err != nil {
		return nil, fmt.Errorf("prepare %.40q: %w", text, err)
	}
	t.w.stmts[text] = stmt
	return stmt, nil
}

func (t *tx) exec(text string, args ...any) error {
	stmt, err := t.stmt(text)
	if err != nil {
		return err
	}
	t.wrote = true
	_, err = stmt.ExecContext(context.Background(), args...)
	return err
}

func (t *tx) query(_ context.Context, text string, args ...any) (*sql.Rows, error) {
	stmt, err := t.stmt(text)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(context.Background(), args...)
}

func (t *tx) row(text string, args []any, dest ...any) (bool, error) {
	return rowOf(context.Background(), t, text, args, dest...)
}

func (t *tx) begin() error {
	if err := t.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	version, err := t.w.contentVersion()
	if err != nil {
		t.rollback()
		return err
	}
	t.w.known.begun(version)
	return nil
}

// end commits, or else rolls back.
func (t *tx) end() error {
	if err := t.exec("COMMIT"); err != nil {
		t.rollback()
		return err
	}
	// What was written is: without its version the next transaction only forgets.
	if version, err := t.w.contentVersion(); err == nil {
		t.w.known.committed(version)
	}
	return nil
}

// rollback ends a transaction that failed. SQLite may have ended it itself, so that it is not there is no error.
func (t *tx) rollback() { _ = t.exec("ROLLBACK") }
