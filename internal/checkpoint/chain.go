package checkpoint

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"math"
	"time"
)

// Chain is the end of a thread's chain of decisions: how many rows there are and the hash of the last. It is kept in
// the thread's row and outlives the thread in its tombstone.
type Chain struct {
	Count int64
	Last  string // "" while Count is 0
}

// Append links d to the chain: it brings d's times to the precision of a store and sets Thread, N, PrevHash and Hash.
func (c *Chain) Append(thread string, d *Decision) {
	d.Thread = thread
	d.DecidedAt = Micro(d.DecidedAt)
	if len(d.Data) == 0 {
		d.Data = nil
	}
	d.N, d.PrevHash = c.Count+1, c.Last
	d.Hash = ChainHash(d)
	c.Count, c.Last = d.N, d.Hash
}

// ChainHash is the SHA-256, in hex, of a decision row and of the hash before it: of every field but Hash, each with
// its length, times in microseconds since 1970.
func ChainHash(d *Decision) string {
	h := sha256.New()
	hashField(h, d.PrevHash)
	hashInt(h, d.N)
	for _, field := range []string{d.Thread, d.ID, d.ResponseID, d.Interrupt, d.Key, d.Address, d.Path, d.Action,
		string(d.Data), d.Comment, d.Reviewer, d.ShownHash, string(d.Outcome), d.Withdraws} {
		hashField(h, field)
	}
	hashInt(h, d.Version.Step)
	hashInt(h, d.Version.Revision)
	hashInt(h, ToMicros(d.DecidedAt))
	hashInt(h, int64(math.Float64bits(d.WaitedSeconds)))
	return hex.EncodeToString(h.Sum(nil))
}

// ChainError names the first row at which a chain of decisions does not hold. It is an ErrCorrupt.
type ChainError struct {
	Thread  string
	N       int64  // position at which the chain breaks
	ID      string // of the row found there, "" when rows are missing at the end
	Problem string
}

func (e *ChainError) Error() string {
	if e.ID == "" {
		return fmt.Sprintf("decisions of thread %s, row %d: %s", e.Thread, e.N, e.Problem)
	}
	return fmt.Sprintf("decisions of thread %s, row %d (%s): %s", e.Thread, e.N, e.ID, e.Problem)
}

// Is makes a ChainError an ErrCorrupt.
func (e *ChainError) Is(target error) bool { return target == ErrCorrupt }

// VerifyChain walks the decision rows of a thread, oldest first, and checks them against the end of the chain that the
// thread's row or tombstone keeps. A changed, removed, added or reordered row is a *ChainError that names it; any
// other error is one of reading the rows.
func VerifyChain(thread string, rows iter.Seq2[*Decision, error], end Chain) error {
	var at Chain
	for d, err := range rows {
		if err != nil {
			return err
		}
		fault := ChainError{Thread: thread, N: at.Count + 1, ID: d.ID}
		switch {
		case d.N != at.Count+1:
			fault.Problem = fmt.Sprintf("it is numbered %d: a row is missing, added or out of order", d.N)
		case d.PrevHash != at.Last:
			fault.Problem = "it does not follow the row before it: that row was changed, or one of the two was replaced"
		case ChainHash(d) != d.Hash:
			fault.Problem = "it was changed after it was written"
		case d.N > end.Count:
			fault.Problem = fmt.Sprintf("it was added: the thread counts %d decisions", end.Count)
		default:
			at = Chain{Count: d.N, Last: d.Hash}
			continue
		}
		return &fault
	}
	if at.Count != end.Count {
		return &ChainError{Thread: thread, N: at.Count + 1,
			Problem: fmt.Sprintf("missing: the thread counts %d decisions, %d are there", end.Count, at.Count)}
	}
	if at.Last != end.Last {
		return &ChainError{Thread: thread, N: at.Count, Problem: "the last row is not the one the thread's row names"}
	}
	return nil
}

// Verify checks a tombstone by itself: of the record it stands for only the end is left. there tells that the thread is,
// too. What does not hold is an ErrCorrupt.
func (t *Tombstone) Verify(there bool) error {
	digest, err := hex.DecodeString(t.DecisionHash)
	problem := ""
	switch {
	case there:
		problem = "the thread is there"
	case t.DeletedAt.IsZero():
		problem = "it does not tell when the thread was deleted"
	case t.Decisions < 0 || (t.Decisions == 0) != (t.DecisionHash == ""):
		problem = fmt.Sprintf("it counts %d decisions, and the hash of the last is %q", t.Decisions, t.DecisionHash)
	case err != nil || t.Decisions > 0 && len(digest) != sha256.Size:
		problem = fmt.Sprintf("%q is no hash of a decision", t.DecisionHash)
	default:
		return nil
	}
	return fmt.Errorf("tombstone of thread %s: %w: %s", t.Thread, ErrCorrupt, problem)
}

// Micro brings t to what a store keeps: microseconds, UTC. The zero time stays zero.
func Micro(t time.Time) time.Time { return FromMicros(ToMicros(t)) }

// noTime stands for the zero time, which lies outside of what counts as microseconds since 1970 in a useful way.
const noTime = math.MinInt64

// ToMicros gives t in microseconds since 1970.
func ToMicros(t time.Time) int64 {
	if t.IsZero() {
		return noTime
	}
	return t.UnixMicro()
}

// FromMicros is the reverse of ToMicros.
func FromMicros(n int64) time.Time {
	if n == noTime {
		return time.Time{}
	}
	return time.UnixMicro(n).UTC()
}

// DuplicateResponse is the conflict of a decision whose response id its thread already knows.
func DuplicateResponse(thread, responseID string) error {
	return &ConflictError{Thread: thread, Reason: "response " + responseID + " is already recorded"}
}
