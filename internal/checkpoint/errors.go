package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Conditions a caller can act on, matched with errors.Is.
var (
	ErrNotFound    = errors.New("not found")
	ErrConflict    = errors.New("conflict")
	ErrCorrupt     = errors.New("corrupt")
	ErrNewerSchema = errors.New("the store was written by a newer version")
	ErrOlderSchema = errors.New("the store was written by an older version; open it once without read-only")
	ErrForeign     = errors.New("not a hitl-tui store")
	ErrLocked      = errors.New("the store is locked")
	ErrLeased      = errors.New("the thread is running")
	ErrAmbiguous   = errors.New("ambiguous")
	ErrReadOnly    = errors.New("the store is read-only")
	ErrCursor      = errors.New("not a cursor")
	ErrFull        = errors.New("the disk is full")
	ErrUnreachable = errors.New("the store cannot be reached")
	ErrClosed      = errors.New("the store is closed")
)

// ConflictError says that a conditional write lost: what was expected at (Thread, Step) and what is there.
type ConflictError struct {
	Thread   string
	Step     int64
	Expected int64
	Actual   int64
	Reason   string // in words, when the numbers do not tell
}

func (e *ConflictError) Error() string {
	if e.Reason != "" {
		return fmt.Sprintf("conflict on thread %s: %s", e.Thread, e.Reason)
	}
	return fmt.Sprintf("conflict on thread %s, step %d: expected revision %d, found %d", e.Thread, e.Step, e.Expected, e.Actual)
}

// Is makes a ConflictError an ErrConflict.
func (e *ConflictError) Is(target error) bool { return target == ErrConflict }

// LeasedError says who runs the thread, and until when its lease lasts.
type LeasedError struct {
	Thread string
	Holder string
	Until  time.Time
}

func (e *LeasedError) Error() string {
	return fmt.Sprintf("thread %s is run by %s (lease until %s)", e.Thread, e.Holder, e.Until.UTC().Format(time.RFC3339))
}

// Is makes a LeasedError an ErrLeased.
func (e *LeasedError) Is(target error) bool { return target == ErrLeased }

// CorruptError names what cannot be read; other threads stay readable.
type CorruptError struct {
	Thread string
	Step   int64
	Where  string // file or row
	Err    error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("corrupt: thread %s, step %d (%s): %v", e.Thread, e.Step, e.Where, e.Err)
}

// Is makes a CorruptError an ErrCorrupt.
func (e *CorruptError) Is(target error) bool { return target == ErrCorrupt }

// Unwrap gives the cause.
func (e *CorruptError) Unwrap() error { return e.Err }

// AmbiguousError lists the threads a short name could mean.
type AmbiguousError struct {
	Name       string
	Candidates []string
}

func (e *AmbiguousError) Error() string {
	return fmt.Sprintf("%q could be %s", e.Name, strings.Join(e.Candidates, ", "))
}

// Is makes an AmbiguousError an ErrAmbiguous.
func (e *AmbiguousError) Is(target error) bool { return target == ErrAmbiguous }

// AbsentError says where there is no store.
type AbsentError struct{ Store string } // a path, or a URL without secrets

func (e *AbsentError) Error() string { return "there is no store at " + e.Store }

// Is makes an AbsentError an ErrNotFound.
func (e *AbsentError) Is(target error) bool { return target == ErrNotFound }

// UnreachableError says which store did not answer. A backend gives it once it has tried for as long as it was told to, so
// trying again at once is of no use.
type UnreachableError struct {
	Store string // its URL, without secrets
	Err   error
}

func (e *UnreachableError) Error() string {
	return fmt.Sprintf("the store %s cannot be reached: %v", e.Store, e.Err)
}

// Is makes an UnreachableError an ErrUnreachable.
func (e *UnreachableError) Is(target error) bool { return target == ErrUnreachable }

// Unwrap gives the cause, unless that is a wait of the backend's own that has ended: whoever asks whether his context has
// ended would take it for that.
func (e *UnreachableError) Unwrap() error {
	if errors.Is(e.Err, context.DeadlineExceeded) || errors.Is(e.Err, context.Canceled) {
		return nil
	}
	return e.Err
}
