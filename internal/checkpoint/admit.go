package checkpoint

import (
	"slices"
	"time"
)

// The rules by which a commit or a put is let in, the same for every backend, which asks them inside its own
// transaction, once it has looked for the commit's own id.

// AdmitNew checks what c is conditional on where its thread is not there; deleted tells that a tombstone is.
func (c *Commit) AdmitNew(deleted bool) error {
	if c.Parent >= 0 || deleted {
		return AbsentConflict(c.Checkpoint.Thread, c.Checkpoint.Step, deleted)
	}
	return nil
}

// AdmitNext checks what c is conditional on where its thread has that head and lease.
func (c *Commit) AdmitNext(head Version, lease *LeaseState, now time.Time) error {
	switch {
	case c.Parent < 0:
		return c.ExistsConflict(head)
	case c.Parent != head.Step:
		return c.HeadConflict(head)
	default:
		return lease.Held(c.Checkpoint.Thread, c.Lease, now)
	}
}

// Settle makes of the lease before c, the zero value for a new thread, the one after it.
func (c *Commit) Settle(lease *LeaseState, now time.Time) error {
	if c.NewLease != nil {
		if err := lease.Acquire(c.NewLease, c.NewLease.Head, now); err != nil {
			return err
		}
	}
	return lease.Committed(c.Checkpoint.Thread, c.KeepAnswers, c.Release)
}

// AllDecisions are the rows that c appends to the chain of its thread, in order: those of its new lease, then its own.
func (c *Commit) AllDecisions() []Decision {
	if c.NewLease == nil {
		return c.Decisions
	}
	return slices.Concat(c.NewLease.Decisions, c.Decisions)
}

// AdmitRevision checks the condition of a put of c over the revision that is there, 0 for none; nil asks nothing.
func (c *Checkpoint) AdmitRevision(ifRevision *int64, actual int64) error {
	if ifRevision != nil && *ifRevision != actual {
		return &ConflictError{Thread: c.Thread, Step: c.Step, Expected: *ifRevision, Actual: actual}
	}
	return nil
}
