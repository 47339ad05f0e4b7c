// Package file keeps threads as JSON files, one folder a thread: one host, any number of processes, and everything can be
// read with an editor.
//
//	DIR/format.json              marks the folder as a store and names the version of its layout
//	DIR/threads/NAME/head.json   the thread's row: which step is its head, its lease, claim and summary
//	                 steps/00000005.json    a step: its record, and its state whole or as operations on the step before
//	                 decisions.jsonl        the record of decisions, a line each
//	                 results/00000002-HASH.json   outcomes of node runs whose siblings still run
//	DIR/definitions/NAME/        definition.json and the files of a workflow as they are
//	DIR/tombstones/NAME.json     what is left of a deleted thread
//	DIR/journal.jsonl            which thread changed, in the order of the changes
//	DIR/locks/                   files that are locked, and never hold anything
//
// NAME is the id of a thread written so that every file system takes it, see escape. JSON that came from outside stands in
// these files as it came. Each ends in a checksum: a byte that was changed, be it by hand, is an ErrCorrupt that names
// the file, and what does not need that file stays readable.
//
// # Commits
//
// Renaming head.json is what commits, and nothing else does. A step is first written to its file and a decision to the
// end of decisions.jsonl, where they do not count: a step above the head is not there, and head.json says how many bytes of
// the decisions are. Then the new head is written beside the old one and takes its place. So at every moment the old
// head or the new one is there, with all that belongs to it, and whatever a crash leaves over counts for nothing, is
// overwritten by the next attempt and removed by Compact. What would have to change more than one file that counts, as
// prune and a put over an older step do, writes what is to be done into the head, does it, and strikes it out; readers
// take it as done, and whoever next writes to the thread finishes it.
//
// A commit syncs four times, in this order: the file of the step, the folder of steps, the new head, and after the
// rename the folder of the thread; five times with decisions, and three more for the first of a thread. A heartbeat syncs
// once. There is no group commit.
//
// # Locks
//
// Who writes to a thread locks one of 256 files, chosen by the thread's name. A file a thread would have to be removed
// with it, under those who wait for it. Readers lock nothing: they read the head, and what it names, and begin again should
// the head have moved on when something is not as they expect.
//
// Under one further lock, held for no sync, a line is written to the journal and the head is renamed. The number of that
// line is the number of the change. Since readers of the journal share that lock, the heads of all lines they see are in
// place; that a line is written and then no head follows does no harm. The journal is never synced and holds nothing that
// is not known otherwise: heads are read anew by each process that begins to list, and a journal that is lost or damaged
// is written again. A list is answered from memory, after a look at the end of the journal.
//
// A folder that several hosts could reach is warned about: their caches would not agree. One on which a lock does not
// exclude is refused.
package file

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/wake"
)

// Options configure a Store. The zero value works.
type Options struct {
	Now         func() time.Time      // clock; nil is time.Now
	ReadOnly    bool                  // change nothing and create no store
	BusyTimeout time.Duration         // how long to wait for another process's write, then ErrLocked; 10 s
	Sleep       func(d time.Duration) // waits where Windows has a file busy; nil is time.Sleep
	WatchEvery  time.Duration         // how often to look for changes of other processes, 250 ms; up to four times that when it is quiet
}

// Store is a checkpoint.Store in a folder.
type Store struct {
	root     string
	o        Options
	disk     disk
	warnings []string
	stripes  [stripeCount]lock // of threads
	shared   lock              // of the journal
	journal  *journal
	listing  *listing
	hub      wake.Hub
	pollers  sync.WaitGroup
	closed   atomic.Bool
}

var _ checkpoint.Store = (*Store)(nil)

// Open opens the store in a folder, which it creates when it is absent. A folder in which something else is, or a store of
// a newer version, is refused and left as it is.
func Open(ctx context.Context, folder string, o Options) (*Store, error) {
	if folder == "" {
		return nil, errors.New("the folder of the store is not named")
	}
	folder, err := filepath.Abs(folder)
	if err != nil {
		return nil, fmt.Errorf("store %s: %w", folder, err)
	}
	return openOn(ctx, osDisk{readOnly: o.ReadOnly, sleep: o.Sleep}, folder, o)
}

func openOn(ctx context.Context, d disk, folder string, o Options) (*Store, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	o.BusyTimeout = cmp.Or(o.BusyTimeout, 10*time.Second)
	o.WatchEvery = cmp.Or(o.WatchEvery, 250*time.Millisecond)
	if o.Now == nil {
		o.Now = time.Now
	}
	s := &Store{root: folder, o: o, disk: d}
	s.journal, s.listing = newJournal(s), newListing(s)
	for i := range s.stripes {
		s.stripes[i].init(join(s.locks(), fmt.Sprintf("%02x", i)))
	}
	s.shared.init(join(s.locks(), "store"))
	s.hub.Listen = s.listen
	if err := s.prepare(); err != nil {
		return nil, fmt.Errorf("store %s: %w", folder, classify(err))
	}
	return s, nil
}

// Warnings tells what was found at opening that the owner of the store should know.
func (s *Store) Warnings() []string { return slices.Clone(s.warnings) }

// Now implements checkpoint.Store.
func (s *Store) Now(context.Context) (time.Time, error) { return s.now(), nil }

func (s *Store) now() time.Time { return checkpoint.Micro(s.o.Now()) }

// URL implements checkpoint.Store.
func (s *Store) URL() string { return "file:" + s.root }

// Close implements checkpoint.Store. Calls under way come to their end.
func (s *Store) Close() error {
	s.closed.Store(true)
	s.hub.Close()
	s.pollers.Wait()
	return nil
}

// begin begins a call; it fails once ctx has ended or the store is closed.
func (s *Store) begin(ctx context.Context) error {
	if s.closed.Load() {
		return checkpoint.ErrClosed
	}
	return ctx.Err()
}

// beginWrite is begin for what changes something.
func (s *Store) beginWrite(ctx context.Context) error {
	if err := s.begin(ctx); err != nil {
		return err
	}
	if s.o.ReadOnly {
		return fmt.Errorf("%s: %w", s.root, checkpoint.ErrReadOnly)
	}
	return nil
}

// The places of things.

func join(parts ...string) string { return filepath.Join(parts...) }

func (s *Store) formatFile() string  { return join(s.root, "format.json") }
func (s *Store) journalFile() string { return join(s.root, "journal.jsonl") }
func (s *Store) locks() string       { return join(s.root, "locks") }
func (s *Store) threads() string     { return join(s.root, "threads") }
func (s *Store) definitions() string { return join(s.root, "definitions") }
func (s *Store) tombstones() string  { return join(s.root, "tombstones") }

func (s *Store) folder(thread string) string        { return join(s.threads(), escape(thread)) }
func (s *Store) headFile(name string) string        { return join(s.threads(), name, "head.json") }
func (s *Store) steps(thread string) string         { return join(s.folder(thread), "steps") }
func (s *Store) results(thread string) string       { return join(s.folder(thread), "results") }
func (s *Store) decisionsFile(thread string) string { return join(s.folder(thread), "decisions.jsonl") }
func (s *Store) tombstone(thread string) string     { return join(s.tombstones(), escape(thread)+".json") }

func (s *Store) stepFile(thread string, n int64) string { return join(s.steps(thread), stepName(n)) }

// What a name can end in besides.
const (
	temporary = ".tmp" // being written, counts for nothing
	staged    = ".new" // of a step: counts if the head says so
)

// relative names a file as seen from the store's folder.
func (s *Store) relative(file string) string {
	if r, err := filepath.Rel(s.root, file); err == nil {
		return filepath.ToSlash(r)
	}
	return file
}
