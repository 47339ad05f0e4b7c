// Package sqlite keeps threads in one SQLite file: one host, any number of processes.
//
// A commit is one transaction and, by default, survives a power cut. Writers of one process share a connection and
// what is queued shares a transaction; readers never wait for writers. Nothing wakes while nothing happens.
package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/sqlite/onewrite"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/wake"
)

// Options configure a Store. The zero value is durable and works.
type Options struct {
	Synchronous string           // FULL (default): a commit survives a power cut; NORMAL: it survives a crash of the process
	Now         func() time.Time // clock; nil is time.Now
	ReadOnly    bool             // change nothing and create no store
	BusyTimeout time.Duration    // how long to wait for another process's write, then ErrLocked; 10 s
	WatchEvery  time.Duration    // how often to look for changes of other processes, 250 ms; up to four times that when it is quiet
}

// Store is a checkpoint.Store in a SQLite file.
type Store struct {
	path     string
	o        Options
	warnings []string
	readers  *readers
	writer   *writer // nil when the store is read-only
	hub      wake.Hub
	pollers  sync.WaitGroup
	wal      *walKeeper
	aux      *sql.DB // for what is neither a listing nor a write: WAL checkpoints, backups, polling
	closing  sync.Once
}

var _ checkpoint.Store = (*Store)(nil)

// Open opens the store at path, creating file and folder when they are absent. Whatever is at path and no store of
// this program, or one of a newer version, is refused and left as it is.
func Open(ctx context.Context, path string, o Options) (*Store, error) {
	o.Synchronous = cmp.Or(o.Synchronous, "FULL")
	o.BusyTimeout = cmp.Or(o.BusyTimeout, 10*time.Second)
	o.WatchEvery = cmp.Or(o.WatchEvery, 250*time.Millisecond)
	if o.Now == nil {
		o.Now = time.Now
	}
	if !slices.Contains([]string{"FULL", "NORMAL"}, o.Synchronous) {
		return nil, fmt.Errorf("store %s: synchronous is FULL or NORMAL, not %q", path, o.Synchronous)
	}
	if path == "" {
		return nil, errors.New("the path of the store is empty")
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", path, err)
	}
	s := &Store{path: path, o: o}
	if err := s.open(ctx); err != nil {
		s.Close()
		return nil, fmt.Errorf("store %s: %w", path, err)
	}
	return s, nil
}

func (s *Store) open(ctx context.Context) error {
	if err := prepareFile(s.path, s.o.ReadOnly); err != nil {
		return err
	}
	immutable := s.o.ReadOnly && immutableNeeded(s.path)
	aux := connection{path: s.path, busy: s.o.BusyTimeout, readOnly: s.o.ReadOnly, immutable: immutable, sync: s.o.Synchronous}
	s.aux = aux.open(2)
	if err := s.schema(ctx); err != nil {
		return classify(err)
	}
	read := aux
	read.queryOnly = true
	s.readers = newReaders(read.open(readerCount))
	s.hub.Listen = s.poll
	if s.o.ReadOnly {
		s.warnings = looseModes(s.path)
		return nil
	}
	s.wal = newWALKeeper(s, aux)
	write := aux
	var err error
	if write.vfs, err = onewrite.VFS(); err != nil {
		return err
	}
	if s.writer, err = newWriter(ctx, write.open(1), s.committed); err != nil {
		return classify(err)
	}
	s.warnings = looseModes(s.path)
	return nil
}

// committed runs after each transaction of this process's writer.
func (s *Store) committed(bytes int64) {
	if bytes > 0 {
		s.hub.Wake()
		s.wal.written(bytes)
	}
}

// write runs fn in a transaction of the writer.
func (s *Store) write(ctx context.Context, fn func(*tx) error) error {
	if s.writer == nil {
		return fmt.Errorf("%s: %w", s.path, checkpoint.ErrReadOnly)
	}
	return s.writer.do(ctx, fn)
}

// Warnings tells what was found at opening that the owner of the store should know.
func (s *Store) Warnings() []string { return slices.Clone(s.warnings) }

// Now implements checkpoint.Store.
func (s *Store) Now(context.Context) (time.Time, error) { return s.now(), nil }

func (s *Store) now() time.Time { return checkpoint.Micro(s.o.Now()) }

// URL implements checkpoint.Store.
func (s *Store) URL() string {
	if s.o.Synchronous == "FULL" {
		return "sqlite:" + s.path
	}
	return "sqlite:" + s.path + "?synchronous=" + s.o.Synchronous
}

// Close implements checkpoint.Store. It waits for writes that are queued.
func (s *Store) Close() error {
	var err error
	s.closing.Do(func() { err = s.close() })
	return err
}

func (s *Store) close() error {
	var errs []error
	s.hub.Close()
	s.pollers.Wait()
	if s.wal != nil {
		errs = append(errs, s.wal.close())
	}
	if s.writer != nil {
		errs = append(errs, s.writer.close())
	}
	if s.readers != nil {
		errs = append(errs, s.readers.close())
	}
	if s.aux != nil {
		errs = append(errs, s.aux.Close())
	}
	return classify(errors.Join(errs...))
}

// walPath is the file of the write-ahead log.
func (s *Store) walPath() string { return s.path + "-wal" }

func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}
