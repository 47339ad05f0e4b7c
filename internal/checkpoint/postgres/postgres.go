// Package postgres keeps threads in a schema of a PostgreSQL database: any number of hosts and processes.
//
// A commit is one transaction under the lock of its thread's row; the name of a thread that is not there is locked too, so
// that of two who create it one wins, and a deleted one never comes back. Leases and ages are judged by the server's
// clock. Watchers are woken by NOTIFY, and by looking now and then where that is lost.
//
// The server has to be the primary, 12 or newer. Behind pgbouncer in transaction mode watchers are woken by looking alone.
package postgres

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/prune"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/wake"
)

// Options configure a Store. The zero value works.
type Options struct {
	Now         func() time.Time // clock; nil is the server's, the only one that several hosts share
	ReadOnly    bool             // change nothing and create no schema
	Existing    bool             // create no schema
	BusyTimeout time.Duration    // how long to wait for a lock or for a lost server to come back; 10 s
	Silence     time.Duration    // how long the server may take to answer, locks included; three times that to read a row; 20 s
	Sleep       Sleep            // waits between tries and looks; nil waits by the clock of this host
	WatchEvery  time.Duration    // how often to look for changes of which no notification came; 2 s
}

// Sleep waits for d, or until ctx ends, whose error it then gives.
type Sleep func(ctx context.Context, d time.Duration) error

// Store is a checkpoint.Store in a PostgreSQL schema.
type Store struct {
	o         Options
	url       string // as a user would name it, without secrets
	schema    string
	channel   string // of the notifications
	id        string // of this store in them
	config    *pgxpool.Config
	pool      *pgxpool.Pool
	hub       wake.Hub
	notifier  *notifier
	listeners sync.WaitGroup
	closing   chan struct{}
	closed    sync.Once
}

var _ checkpoint.Store = (*Store)(nil)

// Open opens the store that a URL names: postgres://USER@HOST/DATABASE, with the options libpq and pgxpool know. Its schema
// is the one of the option search_path, hitl_tui where that is absent, and the server's choice where it is empty; it and
// its tables are created. Tables that are another program's, or a newer version's, are refused and left as they are.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	o.BusyTimeout = cmp.Or(o.BusyTimeout, 10*time.Second)
	o.Silence = cmp.Or(o.Silence, max(20*time.Second, 2*o.BusyTimeout))
	if o.Sleep == nil {
		o.Sleep = prune.Pause
	}
	o.WatchEvery = cmp.Or(o.WatchEvery, 2*time.Second)
	shown, schema, config, err := parse(url)
	if err != nil {
		return nil, err
	}
	s := &Store{o: o, url: shown, schema: schema, config: config, closing: make(chan struct{})}
	if err := s.open(ctx); err != nil {
		s.Close()
		err = s.classify(ctx, err)
		var absent *checkpoint.AbsentError
		switch {
		case errors.Is(err, checkpoint.ErrUnreachable) || errors.As(err, &absent): // which name the store
			return nil, err
		case wantsTLS(err):
			err = fmt.Errorf("it wants TLS; write sslmode=require in the URL (%w)", err)
		}
		return nil, fmt.Errorf("store %s: %w", shown, err)
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	var err error
	s.config.AfterConnect = s.limitWaits
	if s.pool, err = pgxpool.NewWithConfig(ctx, s.config); err != nil {
		return err
	}
	if err := s.prepare(ctx); err != nil {
		return err
	}
	var oid uint32
	if _, err := s.readRow(ctx, "SELECT oid FROM pg_namespace WHERE nspname = $1", []any{s.schema}, &oid); err != nil {
		return err
	}
	s.id = rand.Text()
	s.channel = fmt.Sprintf("hitl_tui_%d", oid)
	s.hub.Listen = s.listen
	s.notifier = newNotifier(s)
	return nil
}

// limitWaits has a connection wait for locks no longer than the busy timeout also while it prepares a statement, which pgx does
// before the transaction that limits its own waits: to prepare SELECT FOR UPDATE locks its tables. The modes that prepare nothing are
// left as they are: behind a pooler the session is also other clients'.
func (s *Store) limitWaits(ctx context.Context, conn *pgx.Conn) error {
	if mode := conn.Config().DefaultQueryExecMode; mode == pgx.QueryExecModeExec || mode == pgx.QueryExecModeSimpleProtocol {
		return nil
	}
	_, err := conn.Exec(ctx, "SET lock_timeout = '"+millis(s.o.BusyTimeout)+"'")
	return err
}

// Now implements checkpoint.Store.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	if s.o.Now != nil {
		return checkpoint.Micro(s.o.Now()), nil
	}
	var now int64
	_, err := s.readRow(ctx, serverClock, nil, &now)
	return checkpoint.FromMicros(now), err
}

// serverClock asks for the server's time.
const serverClock = "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint"

// readNow is the time by which a query that reads judges leases and claims: its first parameter, or where that is NULL
// the server's.
const readNow = "coalesce($1::bigint, (extract(epoch FROM statement_timestamp()) * 1000000)::bigint)"

// nowArg is the first parameter of such a query.
func (s *Store) nowArg() any {
	if s.o.Now == nil {
		return nil
	}
	return s.o.Now().UnixMicro()
}

// askNow has t.now read at the next flush.
func (t *tx) askNow() {
	if t.s.o.Now == nil {
		t.ask(func(rows scanner) error {
			var now int64
			err := rows.Scan(&now)
			t.now = checkpoint.FromMicros(now)
			return err
		}, serverClock)
		return
	}
	t.now = checkpoint.Micro(t.s.o.Now())
}

// URL implements checkpoint.Store.
func (s *Store) URL() string { return s.url }

// Close implements checkpoint.Store. It waits for what is under way.
func (s *Store) Close() error {
	s.closed.Do(func() {
		close(s.closing)
		s.hub.Close()
		s.listeners.Wait()
		if s.notifier != nil {
			s.notifier.close()
		}
		if s.pool != nil {
			s.pool.Close()
		}
	})
	return nil
}

// defaultSchema is the schema of a URL that names none: a database may have other tables.
const defaultSchema = "hitl_tui"

// defaultConns is how many connections a process takes, unless the URL says otherwise by pool_max_conns: a server has 100
// by default, for all desks and workers.
const defaultConns = 8

// connectTimeout is how long a server may take to answer a connection, unless the URL says otherwise.
const connectTimeout = 10 * time.Second

// parse reads a URL, and gives it without secrets, and the schema it names, "" to leave that to the server.
func parse(raw string) (shown, schema string, config *pgxpool.Config, err error) {
	shown, given, err := redact(raw)
	if err != nil {
		return "", "", nil, err
	}
	config, err = pgxpool.ParseConfig(raw)
	if err != nil {
		return "", "", nil, fmt.Errorf("store %s: %w", shown, misread(raw, err))
	}
	if !given("pool_max_conns") {
		config.MaxConns = defaultConns
	}
	if !given("connect_timeout") {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	params := config.ConnConfig.RuntimeParams
	schema = params["search_path"]
	if !given("search_path") {
		schema = defaultSchema
	}
	switch {
	case schema == "":
		delete(params, "search_path")
	case strings.ContainsAny(schema, `,"$ `):
		return "", "", nil, fmt.Errorf("store %s: search_path must be the name of one schema, without quotes", shown)
	default:
		params["search_path"] = pgx.Identifier{schema}.Sanitize() // else the server would take its capitals for small letters
	}
	if params["application_name"] == "" {
		params["application_name"] = "hitl-tui"
	}
	return shown, schema, config, nil
}
