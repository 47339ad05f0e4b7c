package desk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
)

// The codes of the envelope's error.
const (
	CodeUsage            = "usage"
	CodeInvalidToken     = "invalid_token"
	CodeUnknownAction    = "unknown_action"
	CodeActionNotAllowed = "action_not_allowed"
	CodeInvalidData      = "invalid_data"
	CodeTooLarge         = "too_large"
	CodeNotFound         = "not_found"
	CodeAmbiguous        = "ambiguous"
	CodeNotWaiting       = "not_waiting"
	CodeAlreadyAnswered  = "already_answered"
	CodeConflict         = "conflict"
	CodeClaimed          = "claimed"
	CodeRunning          = "running"
	CodeWorkflowInvalid  = "workflow_invalid"
	CodeWorkflowChanged  = "workflow_changed"
	CodeWorkflowFailed   = "workflow_failed"
	CodeCancelled        = "cancelled"
	CodeStoreLocked      = "store_locked"
	CodeStoreNewer       = "store_newer"
	CodeStoreCorrupt     = "store_corrupt"
	CodeStoreUnavailable = "store_unavailable"
	CodeUnauthorised     = "unauthorised"
	CodeBusy             = "busy"     // the server does as much at once as it may
	CodeInternal         = "internal" // a bug: nothing else fits
)

// Codes lists them.
func Codes() []string {
	return []string{
		CodeUsage, CodeInvalidToken, CodeUnknownAction, CodeActionNotAllowed, CodeInvalidData, CodeTooLarge, CodeNotFound,
		CodeAmbiguous, CodeNotWaiting, CodeAlreadyAnswered, CodeConflict, CodeClaimed, CodeRunning, CodeWorkflowInvalid,
		CodeWorkflowChanged, CodeWorkflowFailed, CodeCancelled, CodeStoreLocked, CodeStoreNewer, CodeStoreCorrupt,
		CodeStoreUnavailable, CodeUnauthorised, CodeBusy, CodeInternal,
	}
}

// Error is a condition with its code: what failed, on what, and what to do about it.
type Error struct {
	Code    string
	Message string         // one sentence without the remedy
	Remedy  string         // what to do, "" when the message says it
	Details map[string]any // facts for programs, such as by, action, at, candidates, allowed
	Err     error
}

func (e *Error) Error() string {
	switch {
	case e.Remedy == "":
		return e.Message
	case e.Message == "":
		return e.Remedy
	default:
		return e.Message + ": " + e.Remedy
	}
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// Conditions of the desk itself.
var (
	// ErrUnsupported says that the source cannot do what was asked.
	ErrUnsupported = errors.New("not supported by this store")
	// ErrReadOnly says that the desk was opened with --read-only.
	ErrReadOnly = errors.New("the desk is read-only")
	// ErrClosed says that the desk has been closed.
	ErrClosed = errors.New("the desk is closed")
	// ErrCancelled is the cause of a context whose end means that a person cancelled the run: nothing committed
	// yet, the answers are withdrawn.
	ErrCancelled = errors.New("cancelled by a person")
	// ErrShutdown is the cause of a context whose end is the end of the program: answers are kept.
	ErrShutdown = errors.New("the desk is shutting down")
)

func unsupported(what string) error {
	return &Error{Code: CodeUsage, Message: fmt.Sprintf("this store cannot %s", what), Err: ErrUnsupported}
}

func readOnly(what string) error {
	return &Error{
		Code: CodeUsage, Message: fmt.Sprintf("cannot %s: the desk is read-only", what),
		Remedy: "start it without --read-only", Err: ErrReadOnly,
	}
}

func usagef(format string, args ...any) error {
	return &Error{Code: CodeUsage, Message: fmt.Sprintf(format, args...)}
}

// Code maps an error to its code in the envelope, "" for nil: its own, where it is an *Error or has a method Code as
// the errors of package actions have.
func Code(err error) string {
	var own *Error
	var coded interface {
		error
		Code() string
	}
	switch {
	case err == nil:
		return ""
	case errors.As(err, &own):
		return own.Code
	case errors.As(err, &coded):
		return coded.Code()
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, ErrCancelled), errors.Is(err, ErrShutdown):
		return CodeCancelled
	case errors.Is(err, fs.ErrNotExist):
		return CodeNotFound
	case errors.Is(err, fs.ErrPermission):
		return CodeStoreUnavailable
	case errors.Is(err, ErrClosed):
		return CodeCancelled
	default:
		return CodeInternal
	}
}

// The exit codes of the command line.
const (
	ExitOK        = 0
	ExitFailed    = 1
	ExitUsage     = 2
	ExitNotFound  = 3
	ExitConflict  = 4
	ExitStore     = 5
	ExitBug       = 70
	ExitCancelled = 130
)

// ExitCode is the exit code of an error code: 0 for "".
func ExitCode(code string) int {
	switch code {
	case "":
		return ExitOK
	case CodeWorkflowFailed:
		return ExitFailed
	case CodeUsage, CodeInvalidToken, CodeUnknownAction, CodeActionNotAllowed, CodeInvalidData, CodeTooLarge,
		CodeAmbiguous, CodeWorkflowInvalid, CodeUnauthorised:
		return ExitUsage
	case CodeNotFound:
		return ExitNotFound
	case CodeNotWaiting, CodeAlreadyAnswered, CodeConflict, CodeClaimed, CodeRunning, CodeWorkflowChanged, CodeBusy:
		return ExitConflict
	case CodeStoreLocked, CodeStoreNewer, CodeStoreCorrupt, CodeStoreUnavailable:
		return ExitStore
	case CodeCancelled:
		return ExitCancelled
	default:
		return ExitBug
	}
}

// Explain says in one sentence what went wrong and what to do about it.
func Explain(err error) string {
	if err == nil {
		return ""
	}
	var own *Error
	if errors.As(err, &own) {
		if own.Remedy == "" {
			return own.Message + remedyAfter(own.Code)
		}
		return own.Error()
	}
	return err.Error() + remedyAfter(Code(err))
}

// remedies holds what to do about a code where the error itself does not say.
func remedyAfter(code string) string {
	switch code {
	case CodeNotFound:
		return "; `hitl-tui threads` lists what there is"
	case CodeAmbiguous:
		return "; give more of it"
	case CodeConflict, CodeAlreadyAnswered:
		return "; read it again"
	case CodeClaimed:
		return "; --steal answers all the same"
	case CodeRunning:
		return "; wait until it rests, or cancel the run"
	case CodeStoreLocked:
		return "; close the program that holds it, then try again"
	case CodeStoreNewer:
		return "; use the version of hitl-tui that wrote it"
	case CodeStoreCorrupt:
		return "; restore what is hurt from a backup; `hitl-tui doctor` tells whether there is more, and what can still be read"
	case CodeStoreUnavailable:
		return "; check the address and the permissions of the store"
	default:
		return ""
	}
}
