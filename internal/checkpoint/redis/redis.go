// Package redis keeps threads in one Redis server (7 or newer, or Valkey): several hosts, any number of processes.
//
// # Writes
//
// A write is one Lua script, apply.lua, which Redis runs alone: it applies all of the write or nothing. What a script
// cannot do (SHA-256 for the chain of decisions, applying operations to a state, the rules of leases, which are the same
// Go code for every backend) is done here beforehand: the thread's row is read, the rules are asked, and the script is
// told which row they were asked about. Every write puts an id of its own into the row; the script applies nothing
// unless the id it finds is the one that was read (for a new thread: none, and no tombstone either) and, for a write
// under a lease, unless the lease still lasts by the server's clock. When it refuses, row and rules are gone through
// again. So a condition on what is absent holds like any other, across connections and processes.
//
// A connection that breaks after a script was sent leaves open whether it ran. It is then sent again: the row, or the
// step, tells by the write's id that it had run, and that is success.
//
// Change numbers are counted inside the script. Scripts run one after the other, so whoever sees a number sees all
// smaller ones. Redis does not undo what a script did before it fails: the scripts therefore contain no command that can
// fail on keys of our own, Redis itself refuses a whole script when memory is full or the server is a replica, and whether
// the user may do all of it is asked when the store is opened.
//
// # Keys
//
// All keys begin with the prefix of the store, hitl: unless the URL names another.
//
//	store           hash: what this is, and its schema
//	thread:ID       hash: write (id of the last one), seq, row (all a listing shows, the lease, the end of the chain),
//	                answers (accepted and unapplied)
//	steps:ID        sorted set by step: whether it is a keyframe, revision, time, sizes and commit id
//	records:ID      hash by step: the checkpoint without its state
//	states:ID       hash by step: operations, or a keyframe
//	results:ID      hash by node run: pending results
//	decisions:ID    list: the chain
//	responses:ID    hash by response id: place in the chain
//	seq             the last change number
//	by:seq          sorted set: threads by change number; gone: the same for tombstones
//	by:due:PHASE    sorted set whose members are the key of the order and the thread, so that Redis keeps them in the total
//	                order of a listing and a page begins after any of them; by:waiting:PHASE and by:name alike
//	by:tail         the same for ids written backwards, by which their ends are found
//	leased          sorted set: threads by the end of their lease; answered: those with unapplied answers
//	tombstones      hash by thread; definitions: hash by fingerprint; totals: how many steps and bytes there are
//	import:ID:...   what an import puts aside, under the names above; it expires unless a script gives it to a thread
//	changes         the channel on which each change number is published
//
// # Costs
//
// A commit is two round trips, a page of a listing two. A listing by status, name, change, due or waiting time reads
// what it shows; every other filter is applied here to rows read in chunks, in order. Prune and deletion work in small
// scripts, so that nobody else waits long. Only a
// check of the whole asks for all keys, by SCAN.
//
// # What is refused
//
// Redis Cluster, because a write touches keys of several slots; a maxmemory-policy other than noeviction, because it
// would throw threads away; and a replica, except for reading. A server without an append-only file that is synced at
// each write is used, with a warning: it loses what it acknowledged when it crashes.
package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/wake"
)

// Options configure a Store. The zero value works.
type Options struct {
	Now         func() time.Time // clock; nil is the server's
	ReadOnly    bool             // change nothing and create no store
	Existing    bool             // create no store
	BusyTimeout time.Duration    // how long to go on trying while the server restarts, loads or fails over; 10 s
	WatchEvery  time.Duration    // how often a watcher looks for itself, should a published change not arrive; 5 s
}

// Store is a checkpoint.Store in a Redis server.
type Store struct {
	o        Options
	address  address
	keys     keys
	scripts  scripts
	client   *redis.Client
	warnings []string
	hub      wake.Hub
	listener sync.WaitGroup
	closing  sync.Once
}

var _ checkpoint.Store = (*Store)(nil)

// Open connects to the server that url names, redis://[user:password@]host[:port][/db][?prefix=...] or the same with
// rediss: for TLS, and founds the store where there is none. A server that cannot keep a store is refused; what is stored
// under the prefix and no store of this program, or one of a newer version, is refused and left as it is.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	o.BusyTimeout = cmp.Or(o.BusyTimeout, 10*time.Second)
	o.WatchEvery = cmp.Or(o.WatchEvery, 5*time.Second)
	a, err := parseAddress(url)
	if err != nil {
		return nil, err
	}
	logging.Disable() // it would write over what is drawn on the terminal; errors come back anyway
	s := &Store{o: o, address: a, keys: keys(a.prefix), scripts: newScripts(), client: redis.NewClient(a.options)}
	s.hub.Listen = s.listen
	if err := s.open(ctx); err != nil {
		s.Close()
		var absent *checkpoint.AbsentError
		if errors.Is(err, checkpoint.ErrUnreachable) || errors.As(err, &absent) { // which name the store
			return nil, err
		}
		return nil, fmt.Errorf("store %s: %w", s.URL(), err)
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	if err := s.examine(ctx); err != nil {
		return err
	}
	if err := s.permitted(ctx); err != nil {
		return err
	}
	return s.schema(ctx)
}

// Warnings tells what was found at opening that the owner of the store should know.
func (s *Store) Warnings() []string { return slices.Clone(s.warnings) }

// Now implements checkpoint.Store.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	if s.o.Now != nil {
		return checkpoint.Micro(s.o.Now()), nil
	}
	var now time.Time
	err := s.patiently(ctx, func() (err error) {
		now, err = s.client.Time(ctx).Result()
		return err
	})
	return checkpoint.Micro(now), err
}

// clock adds to a pipeline what tells the store's time once the pipeline has run.
func (s *Store) clock(ctx context.Context, p redis.Pipeliner) func() time.Time {
	if s.o.Now != nil {
		now := checkpoint.Micro(s.o.Now())
		return func() time.Time { return now }
	}
	at := p.Time(ctx)
	return func() time.Time { return checkpoint.Micro(at.Val()) }
}

// scriptTime is the store's time as an argument of a script, which takes the server's where it is empty.
func (s *Store) scriptTime() any {
	if s.o.Now == nil {
		return ""
	}
	return checkpoint.ToMicros(s.o.Now())
}

// URL implements checkpoint.Store.
func (s *Store) URL() string { return s.address.shown }

// Close implements checkpoint.Store.
func (s *Store) Close() error {
	var err error
	s.closing.Do(func() {
		s.hub.Close()
		s.listener.Wait()
		if err = s.client.Close(); errors.Is(err, redis.ErrClosed) {
			err = nil
		}
	})
	return err
}
