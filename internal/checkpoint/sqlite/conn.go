package sqlite

import (
	"context"
	"database/sql"
	"net/url"
	"strconv"
	"sync"
	"time"

	driver "modernc.org/sqlite"
)

// readerCount is how many connections read beside the writer.
const readerCount = 3

// connection says how to connect.
type connection struct {
	path      string
	busy      time.Duration
	sync      string
	readOnly  bool   // the file is opened so
	immutable bool   // and nobody writes it
	queryOnly bool   // the connection writes nothing
	vfs       string // that SQLite reaches the files through; "" is its default
}

func (c connection) open(most int) *sql.DB {
	// As every distribution builds SQLite: without it a commit also waits for the file's timestamps. Where there is no such
	// call the default stays.
	_, _ = driver.Fdatasync(true)
	db, err := sql.Open("sqlite", c.dsn())
	if err != nil {
		panic(err) // only an unregistered driver
	}
	db.SetMaxOpenConns(most)
	db.SetMaxIdleConns(most)
	return db
}

func (c connection) dsn() string {
	q := url.Values{}
	q.Set("mode", "rw")
	if c.readOnly {
		q.Set("mode", "ro")
	}
	if c.immutable {
		q.Set("immutable", "1")
	}
	if c.vfs != "" {
		q.Set("vfs", c.vfs)
	}
	q.Add("_pragma", "busy_timeout("+strconv.FormatInt(c.busy.Milliseconds(), 10)+")")
	if !c.readOnly {
		q.Add("_pragma", "synchronous("+c.sync+")")
		q.Add("_pragma", "wal_autocheckpoint(0)")
		q.Add("_pragma", "journal_size_limit("+strconv.Itoa(walKept)+")")
	}
	if c.queryOnly {
		q.Add("_pragma", "query_only(1)")
	}
	return (&url.URL{Scheme: "file", Path: c.path, RawQuery: q.Encode()}).String()
}

// querier is what reads run on: the readers, or the writer within its transaction.
type querier interface {
	query(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}

// readers is the pool of reading connections, with statements that are kept.
type readers struct {
	db *sql.DB

	mu    sync.Mutex
	stmts map[string]*sql.Stmt
}

// keptStatements bounds the kept statements: listings can be asked for in many ways.
const keptStatements = 64

func newReaders(db *sql.DB) *readers { return &readers{db: db, stmts: make(map[string]*sql.Stmt)} }

func (r *readers) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	stmt, err := r.stmt(ctx, text)
	if err != nil {
		return nil, err
	}
	if stmt == nil {
		return r.db.QueryContext(ctx, text, args...)
	}
	return stmt.QueryContext(ctx, args...)
}

func (r *readers) stmt(ctx context.Context, text string) (*sql.Stmt, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if stmt, ok := r.stmts[text]; ok || len(r.stmts) >= keptStatements {
		return stmt, nil
	}
	stmt, err := r.db.PrepareContext(ctx, text)
	if err != nil {
		return nil, err
	}
	r.stmts[text] = stmt
	return stmt, nil
}

func (r *readers) close() error { return r.db.Close() }

// rowOf runs a query for at most one row and scans it; it reports whether there was one.
func rowOf(ctx context.Context, q querier, text string, args []any, dest ...any) (bool, error) {
	rows, err := q.query(ctx, text, args...)
	if err != nil {
		return false, err
	}
	defer rows.Close()
	if !rows.Next() {
		return false, rows.Err()
	}
	if err := rows.Scan(dest...); err != nil {
		return false, err
	}
	return true, rows.Close()
}
