package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/httpfail"
)

// exchangeError is why an exchange with a server failed, under the name of what was called: permanent where it says so,
// with the pause that the server asked for where it did, and the reason of the context where that has ended.
func exchangeError(ctx context.Context, called string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", called, context.Cause(ctx))
	}
	err = fmt.Errorf("%s: %w", called, err)
	var known interface{ Passing() bool }
	if errors.As(err, &known) && !known.Passing() {
		return engine.Permanent(err)
	}
	var status *httpfail.Error
	if errors.As(err, &status) {
		return engine.RetryAfter(err, status.After)
	}
	return err
}
