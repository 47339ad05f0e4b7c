package checkpoint

import (
	"errors"
	"fmt"
	"strings"
)

// Fault is one thing in a store that is hurt, in a sentence.
type Fault struct {
	Thread string // "" for the store as a whole
	Text   string
}

// Orphans counts what a store holds of a thread that has no row in it. No write of a store leaves any: the row was removed
// by other means.
type Orphans struct {
	Thread                    string
	Steps, Decisions, Results int64
}

// Fault names them.
func (o *Orphans) Fault() Fault {
	var there []string
	for _, part := range []struct {
		n    int64
		name string
	}{{o.Steps, "steps"}, {o.Decisions, "decisions"}, {o.Results, "pending results"}} {
		if part.n > 0 {
			there = append(there, fmt.Sprintf("%s (%d)", part.name, part.n))
		}
	}
	return Fault{o.Thread, fmt.Sprintf("thread %s: its row is missing, though there are %s of it", o.Thread, strings.Join(there, ", "))}
}

// RecordEnd is how the record of decisions of a thread ends, or ended when the thread was deleted.
type RecordEnd struct {
	Thread    string `json:"thread"`
	Decisions int64  `json:"decisions"`
	Hash      string `json:"hash"` // of the last decision, "" without one
	Deleted   bool   `json:"deleted,omitempty"`
}

// MiscountedPhase is the fault of a count of threads that a store keeps beside them, and that is wrong.
func MiscountedPhase(where, phase string, counted, there int64) string {
	return fmt.Sprintf("%s counts %d threads as %s, and there are %d", where, counted, phase, there)
}

// LeftOutError is what a backup says that was made all the same, without what is hurt and could not be copied.
type LeftOutError struct{ Left []error }

func (e *LeftOutError) Error() string {
	return fmt.Sprintf("the backup was made without %d that are hurt: %v", len(e.Left), errors.Join(e.Left...))
}

// Is makes a LeftOutError an ErrCorrupt.
func (e *LeftOutError) Is(target error) bool { return target == ErrCorrupt }

// LeaveOut notes err in left if it is one of something that is hurt, without which a backup can go on; any other it gives
// back.
func LeaveOut(left *[]error, err error) error {
	if !errors.Is(err, ErrCorrupt) {
		return err
	}
	*left = append(*left, err)
	return nil
}

// LeftOut is a *LeftOutError, or nil where nothing was left out.
func LeftOut(left []error) error {
	if len(left) == 0 {
		return nil
	}
	return &LeftOutError{left}
}
