package checkpoint

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"
)

// Bundle is a whole thread on its way from one store into another: all that is to be known of it but who runs it now and
// who has claimed it. Its sequences may be walked more than once.
type Bundle struct {
	// Thread is its row. Status, Lease, Claim, Seq and Cursor, which belong to the store it was in, are of no account.
	Thread ThreadInfo
	// Answers are accepted and not yet applied: whoever takes the thread's lease next is given them.
	Answers []json.RawMessage
	// Results are the pending ones of the coming step.
	Results []PendingResult
	// Steps come oldest first, with their states and commit ids, up to the head.
	Steps iter.Seq2[*Checkpoint, error]
	// Decisions come oldest first, with their hashes.
	Decisions iter.Seq2[*Decision, error]
}

// ImportOptions say what an import may do beyond taking in a thread that the store has never had.
type ImportOptions struct {
	// Revive takes in a thread that was deleted here and removes its tombstone, if the bundle holds every decision that the
	// tombstone counts.
	Revive bool
}

// NewBundle makes a bundle of what a store has read of a thread at one moment. Its steps and decisions are read from s
// when they are asked for: up to the row's head and count, so that what is added meanwhile is left out, since neither is
// ever changed. Where the head itself is no longer there, or another, the walk ends in a *ConflictError.
func NewBundle(ctx context.Context, s Store, row ThreadInfo, l *LeaseState, results []PendingResult) *Bundle {
	row.Status, row.Lease, row.Claim, row.Seq, row.Cursor = row.Phase, nil, nil, 0, ""
	if len(l.Answers) > 0 && !row.Phase.Ended() {
		row.Status = Stalled
	}
	b := &Bundle{Thread: row, Answers: CloneAll(l.Answers), Results: results}
	b.Steps = func(yield func(*Checkpoint, error) bool) {
		last := Version{Step: -1}
		for c, err := range s.History(ctx, row.Thread, true) {
			if err != nil {
				yield(nil, err)
				return
			}
			if c.Step > row.Step {
				break
			}
			if last = c.Version(); !yield(c, nil) {
				return
			}
		}
		if last != row.Version() {
			yield(nil, movedOn(row.Thread))
		}
	}
	b.Decisions = func(yield func(*Decision, error) bool) {
		if row.Decisions == 0 {
			return
		}
		for d, err := range s.Decisions(ctx, row.Thread) {
			if !yield(d, err) || err != nil || d.N >= row.Decisions {
				return
			}
		}
	}
	return b
}

func movedOn(thread string) error {
	return &ConflictError{Thread: thread, Reason: "it was pruned, written over or deleted while it was read; try again"}
}

// Validate refuses a bundle that no store can take; what its sequences hold is checked as they are walked.
func (b *Bundle) Validate() error {
	t := &b.Thread
	fault := ""
	switch {
	case t.Thread == "":
		return errors.New("a bundle without a thread")
	case t.Step < 0 || t.Revision < 1:
		fault = fmt.Sprintf("its head %s is no version", t.Version())
	case !slices.Contains(Phases(), t.Phase):
		fault = fmt.Sprintf("its phase is %q", t.Phase)
	case t.Created.IsZero() || t.Updated.IsZero():
		fault = "the times at which it was created and updated are missing"
	case t.Decisions < 0 || (t.Decisions == 0) != (t.DecisionHash == ""):
		fault = fmt.Sprintf("it counts %d decisions and names %q as the hash of the last", t.Decisions, t.DecisionHash)
	case b.Steps == nil || b.Decisions == nil:
		fault = "it has no steps or no decisions to be walked"
	}
	if fault != "" {
		return fmt.Errorf("bundle of thread %s: %s", t.Thread, fault)
	}
	return nil
}

// Lease is the state of the lease that the thread has once it is taken in: nobody holds it.
func (b *Bundle) Lease() LeaseState { return LeaseState{Answers: CloneAll(b.Answers)} }

// Chain is the end of the chain of decisions.
func (b *Bundle) Chain() Chain { return Chain{Count: b.Thread.Decisions, Last: b.Thread.DecisionHash} }

// Head is c with what the thread's row says of it: what a backend makes the row of that leads to c.
func (b *Bundle) Head(c *Checkpoint) *Checkpoint {
	head := *c
	head.Workflow, head.Fingerprint, head.Origin = b.Thread.Workflow, b.Thread.Fingerprint, b.Thread.Origin
	return &head
}

// CheckedSteps walks the steps and yields an error where they are not what the row says: not this thread's, out of order,
// or not ending in its head. A backend that is yielded an error takes nothing in.
func (b *Bundle) CheckedSteps(ctx context.Context) iter.Seq2[*Checkpoint, error] {
	thread := b.Thread.Thread
	return func(yield func(*Checkpoint, error) bool) {
		last := Version{Step: -1}
		for c, err := range b.Steps {
			if err == nil {
				err = ctx.Err()
			}
			fault := ""
			switch {
			case err != nil:
			case c.Thread != thread:
				fault = "it is one of thread " + c.Thread
			case c.Step <= last.Step:
				fault = fmt.Sprintf("it does not follow after step %d", last.Step)
			case c.Revision < 1:
				fault = fmt.Sprintf("its revision is %d", c.Revision)
			case c.Step > b.Thread.Step:
				fault = fmt.Sprintf("the head of the thread is %s", b.Thread.Version())
			default:
				err = c.CheckQuestions()
			}
			if fault != "" {
				err = &CorruptError{Thread: thread, Step: c.Step, Where: "bundle", Err: errors.New(fault)}
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if last = c.Version(); !yield(b.shown(c), nil) {
				return
			}
		}
		if last != b.Thread.Version() {
			yield(nil, &CorruptError{Thread: thread, Step: b.Thread.Step, Where: "bundle",
				Err: fmt.Errorf("the head of the thread is %s, the last step is %s", b.Thread.Version(), last)})
		}
	}
}

// shown has a head that does not say it, because it comes from a file, say what the thread's row shows.
func (b *Bundle) shown(c *Checkpoint) *Checkpoint {
	if c.Step != b.Thread.Step || c.Commit == "" || c.Shown != nil {
		return c
	}
	head, s := *c, b.Thread.Summary.Stored()
	head.Shown = &s
	return &head
}

// CheckedDecisions walks the decisions and yields a *ChainError where their chain does not hold, or ends otherwise than
// the row says. buried, if not nil, is the tombstone in whose place the thread comes: its last decision has to be among
// them.
func (b *Bundle) CheckedDecisions(ctx context.Context, buried *Tombstone) iter.Seq2[*Decision, error] {
	return func(yield func(*Decision, error) bool) {
		responses := make(map[string]bool)
		stopped := false
		followed := buried == nil || buried.Decisions == 0
		rows := func(each func(*Decision, error) bool) {
			for d, err := range b.Decisions {
				if err == nil {
					err = ctx.Err()
				}
				if !each(d, err) || err != nil {
					return
				}
				if d.ResponseID != "" && responses[d.ResponseID] {
					each(nil, DuplicateResponse(b.Thread.Thread, d.ResponseID))
					return
				}
				responses[d.ResponseID] = true
				followed = followed || d.N == buried.Decisions && d.Hash == buried.DecisionHash
				if stopped = !yield(d, nil); stopped {
					return
				}
			}
		}
		err := VerifyChain(b.Thread.Thread, rows, b.Chain())
		switch {
		case stopped:
		case err != nil:
			yield(nil, err)
		case !followed:
			yield(nil, &ConflictError{Thread: b.Thread.Thread, Reason: fmt.Sprintf("it was deleted here with %d decisions, "+
				"of which the last is not among the %d it would come back with", buried.Decisions, b.Thread.Decisions)})
		}
	}
}

// AdmitImport checks whether a thread may be taken in where head is the one that is there, and buried its tombstone; nil
// stands for none.
func (b *Bundle) AdmitImport(head *Version, buried *Tombstone, o ImportOptions) error {
	c := Commit{Checkpoint: Checkpoint{Thread: b.Thread.Thread, Step: b.Thread.Step}}
	switch {
	case head != nil:
		return c.ExistsConflict(*head)
	case buried != nil && !o.Revive:
		return &ConflictError{Thread: b.Thread.Thread, Reason: "it was deleted here at " + buried.DeletedAt.UTC().Format(time.RFC3339)}
	default:
		return nil
	}
}

// AdmitBurial checks whether a tombstone may be written where there is a thread of that id, or another tombstone. done
// tells that the very same is there already.
func (t *Tombstone) AdmitBurial(exists bool, buried *Tombstone) (done bool, err error) {
	switch {
	case t.Thread == "" || t.DeletedAt.IsZero() || t.Decisions < 0 || (t.Decisions == 0) != (t.DecisionHash == ""):
		return false, fmt.Errorf("tombstone of thread %q: thread, time or end of its chain are missing", t.Thread)
	case exists:
		return false, &ConflictError{Thread: t.Thread, Reason: "it exists, so it is not deleted"}
	case buried == nil:
		return false, nil
	case buried.Decisions == t.Decisions && buried.DecisionHash == t.DecisionHash && buried.DeletedAt.Equal(Micro(t.DeletedAt)):
		return true, nil
	default:
		return false, &ConflictError{Thread: t.Thread, Reason: "it was deleted here too, with another record of decisions or at another time"}
	}
}
