package checkpoint

import (
	"context"
	"iter"
	"time"
)

// Store keeps threads. Every method is safe for concurrent use, in one process and, where the backend says so, by
// many. Values passed in and handed out are never shared with the store. Errors match the sentinels of this package
// with errors.Is.
type Store interface {
	// Put writes a whole checkpoint, the seeds' checkpointer. ifRevision nil upserts; 0 demands that (thread, step)
	// is absent; n that its revision is n. It returns the revision written. A mismatch is a *ConflictError.
	Put(ctx context.Context, c Checkpoint, ifRevision *int64) (int64, error)
	// Get reads one step with its state; ErrNotFound when absent.
	Get(ctx context.Context, thread string, step int64) (*Checkpoint, error)
	// Latest reads the head with its state; ErrNotFound for an unknown thread.
	Latest(ctx context.Context, thread string) (*Checkpoint, error)
	// History yields the steps of a thread, oldest first; it reads states only withState.
	History(ctx context.Context, thread string, withState bool) iter.Seq2[*Checkpoint, error]

	// Commit makes one engine step durable.
	Commit(ctx context.Context, c Commit) (Version, error)
	// AcquireLease takes a thread's lease with the answers that are to be applied: a *LeasedError when it is live in
	// other hands, a *ConflictError when head or accepted answers are not what the caller has seen.
	AcquireLease(ctx context.Context, r LeaseRequest) (*Lease, error)
	// Heartbeat renews a lease; ErrConflict once it is lost.
	Heartbeat(ctx context.Context, thread, token string, ttl time.Duration) (Heartbeat, error)
	// ReleaseLease gives a lease back; a lease already lost is ErrConflict and changes nothing.
	ReleaseLease(ctx context.Context, r Release) error
	// RequestCancel tells the holder of a live lease, at its next heartbeat, to stop; ErrNotFound without one.
	RequestCancel(ctx context.Context, thread, by string) error
	// AddResult stores a pending result under a lease.
	AddResult(ctx context.Context, thread, token string, r PendingResult) error

	// Thread reads one thread's row.
	Thread(ctx context.Context, thread string) (*ThreadInfo, error)
	// Resolve finds the thread whose id is, or alone ends in, suffix (four characters or more); ErrNotFound, or an
	// *AmbiguousError that lists candidates.
	Resolve(ctx context.Context, suffix string) (string, error)
	// Threads lists thread rows, a page at a time by keyset.
	Threads(ctx context.Context, q Query) (Page, error)
	// Counts counts threads by status.
	Counts(ctx context.Context) (map[Status]int64, error)
	// Changes lists rows changed after a sequence number, in that order, at most limit.
	Changes(ctx context.Context, after int64, limit int) (Changes, error)
	// Watch yields a wake-up, coalesced, at least once after each change has become visible, also those of other
	// processes. The channel closes when ctx ends.
	Watch(ctx context.Context) (<-chan struct{}, error)

	// Decisions yields a thread's decision rows, oldest first. A deleted thread keeps none.
	Decisions(ctx context.Context, thread string) iter.Seq2[*Decision, error]
	// FindDecision reads the row with a response id; ErrNotFound without one.
	FindDecision(ctx context.Context, thread, responseID string) (*Decision, error)
	// Tombstones lists deleted threads with the length and last hash of their chains.
	Tombstones(ctx context.Context) ([]Tombstone, error)

	Claim(ctx context.Context, thread, reviewer string, ttl time.Duration) error
	ReleaseClaim(ctx context.Context, thread, reviewer string) error

	PutDefinition(ctx context.Context, d Definition) error
	// Definition is what was put under a fingerprint; an ErrCorrupt when that is no longer what its files hash to.
	Definition(ctx context.Context, fingerprint string) (*Definition, error)

	// Prune deletes steps, or whole ended threads, or says what it would delete.
	Prune(ctx context.Context, q PruneQuery) (*PruneResult, error)
	// DeleteThread deletes a thread whole and leaves a tombstone; ErrLeased while it runs.
	DeleteThread(ctx context.Context, thread string) error

	// Export reads a thread whole, as of one moment, for Import into another store; see NewBundle.
	Export(ctx context.Context, thread string) (*Bundle, error)
	// Import takes a whole thread in at once: every step with its revision, time, commit id and state to the byte, the
	// decisions with their very hashes, unapplied answers and pending results; nobody holds its lease. A thread that is
	// there, or was deleted, is a *ConflictError; a bundle that contradicts itself an ErrCorrupt. Until the whole is there
	// nobody sees any of it, and nothing of what a crash interrupts. Definitions are put before.
	Import(ctx context.Context, b *Bundle, o ImportOptions) error
	// Bury writes the tombstone of a thread that was deleted in another store. One that is there already is no error;
	// a thread of that id, or another tombstone, is a *ConflictError.
	Bury(ctx context.Context, t Tombstone) error

	Stats(ctx context.Context) (Stats, error)
	// Compact gives free space back to the file system, in small bites beside writers.
	Compact(ctx context.Context, progress func(done, total int64)) error
	// Backup writes a consistent copy to a new file while the store is in use. The file is also there when it gives a
	// *LeftOutError.
	Backup(ctx context.Context, file string) error
	// Now is the store's time, by which leases, deadlines and ages are judged.
	Now(ctx context.Context) (time.Time, error)
	// URL names the store as a user would, without secrets.
	URL() string
	Close() error
}

// Sort orders a listing. Every order ends in the thread id, so it is total.
type Sort string

// The orders.
const (
	SortDue     Sort = "due"     // the inbox: earliest deadline first, then waiting longest, then the rest
	SortWaiting Sort = "waiting" // waiting longest first
	SortUpdated Sort = "updated" // changed last first
	SortName    Sort = "name"    // workflow, then thread id
)

// Query selects threads. The zero value lists all by SortDue. Fields are joined by AND, the values of one by OR.
type Query struct {
	Status    []Status
	Workflow  []string
	Node      []string
	Reviewer  string // claimed by this reviewer; "none" for unclaimed, "any" for claimed
	Group     []string
	Assignee  []string
	Priority  []string
	Failing   bool      // an error stands in the row, whatever the status
	Text      string    // substring of title, id, workflow, node or error, without regard to case
	OlderThan time.Time // waiting since (or, when it does not wait, updated) before
	NewerThan time.Time
	DueBefore time.Time
	Sort      Sort
	Reverse   bool
	Limit     int    // default 50
	After     string // cursor of the last row seen
}

// Page is one page of a listing.
type Page struct {
	Threads []ThreadInfo
	Next    string // cursor for the following page, "" at the end
}

// Changes is what happened after a sequence number.
type Changes struct {
	Threads []ThreadInfo
	Deleted []string
	Seq     int64 // ask again after this
	More    bool
}

// Tombstone is what is left of a deleted thread.
type Tombstone struct {
	Thread       string
	DeletedAt    time.Time
	Decisions    int64
	DecisionHash string
}

// PruneQuery says what to delete. At least one bound is needed; the bounds are joined by AND. A thread's head is
// never deleted, nor anything of a leased thread.
type PruneQuery struct {
	Threads        []string // these, or all when All
	All            bool
	Workflow       []string
	Status         []Status
	BeforeStep     int64     // steps strictly below; 0 is no bound
	OlderThan      time.Time // steps whose time precedes it
	FinishedBefore time.Time // whole ended threads whose last change precedes it
	DryRun         bool
	Progress       func(done, total int64)
}

// PruneResult is what was, or would be, deleted.
type PruneResult struct {
	Steps   int64
	Threads int64 // threads touched
	Deleted int64 // threads deleted whole
	Bytes   int64
	Heads   int64 // heads kept
	Oldest  time.Time
	Newest  time.Time
	Per     []PruneThread // by bytes, largest first
	Skipped []string      // leased threads left alone
}

// PruneThread is the part of one thread.
type PruneThread struct {
	Thread   string
	Workflow string
	Steps    int64
	Bytes    int64
	Whole    bool
}

// Stats describes a store.
type Stats struct {
	Threads     int64
	Checkpoints int64
	Bytes       int64 // on disk
	FreeBytes   int64 // could be given back
	WALBytes    int64
	Schema      int
}
