package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/workflow"
)

// Coded gives an error of engine, store or workflow loader its code and its facts. An error that has a code already,
// and one of a context, stays as it is; one that nothing is known about has the code internal.
func Coded(err error) error {
	if err == nil {
		return nil
	}
	switch desk.Code(err) {
	case desk.CodeInternal, desk.CodeNotFound:
	default:
		return err
	}
	if known := typed(err); known != nil {
		known.Err, known.Message = err, err.Error()
		return known
	}
	for _, c := range conditions() {
		if errors.Is(err, c.is) {
			return &desk.Error{Code: c.code, Message: err.Error(), Remedy: c.remedy, Err: err}
		}
	}
	return err
}

// stored is Coded for a call that went to the store alone: what nothing is known about is the store's fault.
func stored(err error) error {
	coded := Coded(err)
	if coded == nil || desk.Code(coded) != desk.CodeInternal {
		return coded
	}
	return &desk.Error{Code: desk.CodeStoreUnavailable, Message: "the store cannot be used: " + err.Error(), Err: err}
}

// typed recognises errors that carry facts.
func typed(err error) *desk.Error {
	var (
		broken    *engine.BrokenOffError
		answered  *engine.AnsweredError
		claimed   *engine.ClaimedError
		leased    *checkpoint.LeasedError
		conflict  *checkpoint.ConflictError
		ambiguous *checkpoint.AmbiguousError
		corrupt   *checkpoint.CorruptError
		faults    workflow.Faults
		name      *workflow.NameError
		graph     *workflow.GraphError
	)
	switch {
	case errors.As(err, &broken):
		return &desk.Error{Code: desk.CodeStoreUnavailable, Details: map[string]any{"thread_id": broken.Thread},
			Remedy: fmt.Sprintf("nothing that was confirmed is lost; start the server, then `hitl-tui resume %s --wait` carries on", broken.Thread)}
	case errors.As(err, &answered):
		return &desk.Error{Code: desk.CodeAlreadyAnswered, Remedy: unfinished(answered), Details: map[string]any{
			"by": answered.By, "action": answered.Action, "at": answered.At.UTC(), "interrupt_id": answered.Interrupt, "address": answered.Address,
		}}
	case errors.As(err, &claimed):
		return &desk.Error{Code: desk.CodeClaimed, Details: map[string]any{"by": claimed.By, "until": claimed.Until.UTC()}}
	case errors.As(err, &leased):
		return &desk.Error{Code: desk.CodeRunning, Details: map[string]any{"holder": leased.Holder, "until": leased.Until.UTC()}}
	case errors.As(err, &ambiguous):
		return &desk.Error{Code: desk.CodeAmbiguous, Details: map[string]any{"candidates": ambiguous.Candidates}}
	case errors.As(err, &corrupt):
		return &desk.Error{Code: desk.CodeStoreCorrupt, Details: map[string]any{"thread_id": corrupt.Thread, "step": corrupt.Step, "where": corrupt.Where}}
	case errors.As(err, &conflict):
		return &desk.Error{Code: desk.CodeConflict, Details: map[string]any{"step": conflict.Step, "expected": conflict.Expected, "actual": conflict.Actual}}
	case errors.As(err, &faults):
		return &desk.Error{Code: desk.CodeWorkflowInvalid, Details: map[string]any{"faults": faults}}
	case errors.As(err, &graph) && graph.Graph == "":
		return &desk.Error{Code: desk.CodeUsage}
	case errors.As(err, &graph):
		return &desk.Error{Code: desk.CodeNotFound, Remedy: "`hitl-tui validate " + graph.File + "` names its graphs"}
	case errors.As(err, &name) && errors.Is(err, fs.ErrNotExist):
		return &desk.Error{Code: desk.CodeNotFound, Remedy: "check the name"}
	case errors.As(err, &name):
		return &desk.Error{Code: desk.CodeWorkflowInvalid}
	default:
		return nil
	}
}

// unfinished is what to do where an answer was accepted and its runner may have died since; "" once it is applied.
func unfinished(first *engine.AnsweredError) string {
	if !first.Pending {
		return ""
	}
	return fmt.Sprintf("if its runner died, `hitl-tui resume %s --wait`, or `hitl-tui sweep --carry-on` after 15 s, carries on", first.Thread)
}

// condition maps a sentinel to its code.
type condition struct {
	is     error
	code   string
	remedy string
}

func conditions() []condition {
	return []condition{
		{engine.ErrNoStore, desk.CodeUsage, ""},
		{engine.ErrInvalidRequest, desk.CodeUsage, ""},
		{engine.ErrNotWaiting, desk.CodeNotWaiting, ""},
		{engine.ErrAlreadyAnswered, desk.CodeAlreadyAnswered, ""},
		{engine.ErrClaimed, desk.CodeClaimed, ""},
		{engine.ErrWorkflowChanged, desk.CodeWorkflowChanged, "mend the file, or answer without --upgrade: the thread then goes on with the definition it has"},
		{engine.ErrUnknownQuestion, desk.CodeNotFound, "`hitl-tui show` lists the open questions"},
		{engine.ErrInvalidEdit, desk.CodeInvalidData, ""},
		{engine.ErrWhichQuestion, desk.CodeAmbiguous, "name one with --interrupt"},
		{engine.ErrCancelledByPerson, desk.CodeCancelled, ""},
		{context.Canceled, desk.CodeCancelled, ""},
		{context.DeadlineExceeded, desk.CodeCancelled, ""},
		{checkpoint.ErrAmbiguous, desk.CodeAmbiguous, ""},
		{checkpoint.ErrLeased, desk.CodeRunning, ""},
		{checkpoint.ErrConflict, desk.CodeConflict, ""},
		{checkpoint.ErrNewerSchema, desk.CodeStoreNewer, ""},
		{checkpoint.ErrCorrupt, desk.CodeStoreCorrupt, ""},
		{checkpoint.ErrForeign, desk.CodeStoreUnavailable, "name another file with --store"},
		{checkpoint.ErrLocked, desk.CodeStoreLocked, ""},
		{checkpoint.ErrReadOnly, desk.CodeStoreUnavailable, "make the file and its folder writable, or use --read-only"},
		{checkpoint.ErrFull, desk.CodeStoreUnavailable, "free space on the disk; nothing that was confirmed is lost"},
		{checkpoint.ErrUnreachable, desk.CodeStoreUnavailable, "start the server, or correct --store, then try again"},
		{checkpoint.ErrCursor, desk.CodeUsage, "give one that a listing printed"},
		{checkpoint.ErrNotFound, desk.CodeNotFound, ""},
		{fs.ErrNotExist, desk.CodeNotFound, "check the path"},
	}
}
