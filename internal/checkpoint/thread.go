package checkpoint

import (
	"encoding/json"
	"time"
)

// Summary is the part of a thread's row that the engine writes with every commit; listing reads nothing else.
type Summary struct {
	Phase        Status // the status when no lease is live: never Running
	Title        string // title of the first open question, else what the thread is about
	Node         string // node that waits, failed or runs next
	Questions    int    // open questions
	Answered     int    // answers already stored for runs that still wait
	WaitingSince *time.Time
	Due          *time.Time // earliest deadline or timer
	Assignee     string
	Group        string
	Priority     string // low, normal, high, urgent; "" is normal
	Error        string // message of a failed run, whatever the status
}

// ThreadInfo is a thread without its state.
type ThreadInfo struct {
	Thread       string
	Workflow     string
	Fingerprint  string
	Workdir      string // folder in which the thread was started; its programs run there
	StartedBy    string
	Step         int64 // of the head
	Revision     int64
	Status       Status // as of the store's now: Summary.Phase, Running or Stalled
	Summary             // as of the head
	Created      time.Time
	Updated      time.Time
	Origin       *Origin
	Claim        *Claim
	Lease        *LeaseInfo // nil when nobody holds it and no accepted answer is unapplied
	Decisions    int64      // rows of the decision chain
	DecisionHash string     // of its last row
	Seq          int64      // store-wide change number of the last change to this row
	Cursor       string     // to go on after this row in the listing that returned it
}

// Version is the head's version.
func (t *ThreadInfo) Version() Version { return Version{Step: t.Step, Revision: t.Revision} }

// Claim is a courtesy lease of a person; the store enforces nothing.
type Claim struct {
	Reviewer string
	Until    time.Time
}

// LeaseInfo is what others may know of a lease.
type LeaseInfo struct {
	Holder          string
	Until           time.Time
	Live            bool // as of the store's now
	Answers         int  // accepted and not yet applied
	CancelRequested bool
	CancelledBy     string
}

// LeaseRequest asks for a thread's lease. Taking it does not change the head's version.
type LeaseRequest struct {
	Thread    string
	Token     string
	Holder    string // host:pid, or whatever tells a person who runs the thread
	TTL       time.Duration
	Head      Version           // the head must be this; Revision 0 takes any revision of Step
	Seen      int               // accepted, unapplied answers the caller has seen; another number is a conflict
	Answers   []json.RawMessage // opaque to the store; kept until the next commit, after those already accepted
	Decisions []Decision        // appended to the chain in the same transaction
}

// Lease is a lease just taken.
type Lease struct {
	Token   string
	Until   time.Time
	Head    Version
	Answers []json.RawMessage // all accepted and unapplied ones: inherited first, then the request's
	Results []PendingResult   // of the coming step, kept from whoever ran before
}

// Heartbeat is what a holder learns when it renews.
type Heartbeat struct {
	Until           time.Time
	CancelRequested bool
	CancelledBy     string
}

// Release gives a lease back. With Withdraw the accepted answers of the present lease are dropped and Decisions
// (rows with outcome withdrawn) are appended; without it they stay for whoever takes over.
type Release struct {
	Thread    string
	Token     string
	Withdraw  bool
	Decisions []Decision
}

// PendingResult is the outcome of a node run whose siblings still run: stored at once, so that a crash repeats only
// the rest.
type PendingResult struct {
	Step int64  // the coming step
	Path string // node run
	Data json.RawMessage
}

// Outcome of a decision row.
type Outcome string

// The outcomes: a decision is written as applied when it is accepted; should its effects never be committed because
// a person cancelled the resume, a further row says withdrawn.
const (
	Applied   Outcome = "applied"
	Withdrawn Outcome = "withdrawn"
)

// Decision is one row of a thread's append-only record of who decided what.
type Decision struct {
	ID            string // UUIDv7
	ResponseID    string // the caller's idempotency key, unique in the thread when not empty
	Thread        string
	Version       Version // of the head that was shown
	Interrupt     string  // id of the question, "" when the decision was about the thread
	Key           string
	Address       string
	Path          string // node run
	Action        string
	Data          json.RawMessage
	Comment       string
	Reviewer      string
	DecidedAt     time.Time // the key press
	WaitedSeconds float64   // from asking to deciding
	ShownHash     string    // SHA-256 of payload and content as shown
	Outcome       Outcome
	Withdraws     string // id of the row this one withdraws
	N             int64  // position in the chain, from 1; set by the store
	PrevHash      string // set by the store
	Hash          string // set by the store, see ChainHash
}

// Op is one change of a channel.
type Op struct {
	Kind    OpKind
	Channel string
	Value   json.RawMessage // set: the value; append: the list of items to add; merge: the object of keys to set
}

// OpKind is the kind of a channel operation.
type OpKind byte

// The operations. Append on an absent or null channel starts from [], Merge from {}; see Apply for other values.
const (
	OpSet    OpKind = 's'
	OpAppend OpKind = 'a'
	OpMerge  OpKind = 'm'
	OpDelete OpKind = 'd'
)

// Commit is one step made durable: atomic, conditional, and idempotent under its id.
type Commit struct {
	ID          string     // unique; finding it already stored is success
	Checkpoint  Checkpoint // Channels is ignored: the state is the parent's with Ops applied
	Parent      int64      // the head must be this step; -1 for the first commit of a new thread
	Lease       string     // token; for a new thread the token of NewLease
	NewLease    *LeaseRequest
	NewThread   *NewThread
	Ops         []Op
	Decisions   []Decision // further rows, such as an answer a deadline gave
	KeepAnswers int        // accepted answers that stay unapplied: the last n
	Release     bool       // the thread comes to rest: give the lease back in the same transaction
	Summary     Summary
}

// Show has the checkpoint say what the thread's row is to show, as a store keeps it.
func (c *Commit) Show() {
	shown := c.Summary.Stored()
	c.Checkpoint.Shown = &shown
}

// NewThread is what a thread's row holds from the start.
type NewThread struct {
	Workdir   string
	StartedBy string
}

// File is one file of a definition.
type File struct {
	Path string `json:"path"` // as named from the root file; the first is the root itself
	Text string `json:"text"`
}

// Definition is the text a thread keeps running, whatever happens to the files it came from.
type Definition struct {
	Fingerprint string // SHA-256 over the files, see Fingerprint
	Workflow    string
	Graph       string // graph within a CSV file, else ""
	Source      string // absolute path of the root file, for --upgrade
	Files       []File
}
