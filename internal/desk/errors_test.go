package desk

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

func TestCodesAndExitCodes(t *testing.T) {
	exits := map[int][]string{
		0:   {""},
		1:   {"workflow_failed"},
		2:   {"usage", "invalid_token", "unknown_action", "action_not_allowed", "invalid_data", "too_large", "ambiguous", "workflow_invalid", "unauthorised"},
		3:   {"not_found"},
		4:   {"not_waiting", "already_answered", "conflict", "claimed", "running", "workflow_changed"},
		5:   {"store_locked", "store_newer", "store_corrupt", "store_unavailable"},
		70:  {"internal", "no code at all"},
		130: {"cancelled"},
	}
	for exit, codes := range exits {
		for _, code := range codes {
			if got := ExitCode(code); got != exit {
				t.Errorf("%q exits %d, want %d", code, got, exit)
			}
		}
	}
}

func TestCodeOfErrors(t *testing.T) {
	_, unknown := actions.Parse("aprove")
	_, token := actions.ParseToken([]byte(`{"thread_id": `))
	tests := []struct {
		err  error
		code string
	}{
		{nil, ""},
		{&Error{Code: CodeConflict, Message: "x"}, CodeConflict},
		{fmt.Errorf("answer: %w", &Error{Code: CodeRunning, Message: "x"}), CodeRunning},
		{unknown, CodeUnknownAction},
		{fmt.Errorf("read: %w", token), CodeInvalidToken},
		{&actions.SizeError{What: "response data", Size: 2, Limit: 1}, CodeTooLarge},
		{&FilterError{Filter: "x:", Length: 2, Reason: "no"}, CodeUsage},
		{fmt.Errorf("x: %w", fs.ErrNotExist), CodeNotFound},
		{fs.ErrPermission, CodeStoreUnavailable},
		{context.Canceled, CodeCancelled},
		{ErrCancelled, CodeCancelled},
		{ErrShutdown, CodeCancelled},
		{readOnly("prune"), CodeUsage},
		{unsupported("fork"), CodeUsage},
		{errors.New("strange"), CodeInternal},
	}
	for _, test := range tests {
		if got := Code(test.err); got != test.code {
			t.Errorf("%v: %q, want %q", test.err, got, test.code)
		}
	}
}

func TestExplainNamesTheRemedy(t *testing.T) {
	tests := map[string]error{
		"": nil,
		"cannot prune: the desk is read-only: start it without --read-only": readOnly("prune"),
		"thread x: not found; `hitl-tui threads` lists what there is":       &Error{Code: CodeNotFound, Message: "thread x: not found"},
		"x is claimed by bob; --steal answers all the same":                 &Error{Code: CodeClaimed, Message: "x is claimed by bob"},
	}
	for want, err := range tests {
		if got := Explain(err); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
