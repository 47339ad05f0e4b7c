package node

import (
	"context"
	"fmt"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/workflow/lang"
)

// maxSlept is the longest wait that is slept by the process at work; a longer one parks the thread.
const maxSlept = time.Minute

// Wait waits for a duration or until a time.
type Wait struct {
	For   time.Duration
	Until *lang.Expr
}

// Run implements engine.Runner.
func (n *Wait) Run(ctx context.Context, call *engine.Call) (engine.Result, error) {
	scope := newScope(call)
	now := scope.Now()
	until := now.Add(n.For)
	if n.Until != nil {
		v, err := scope.eval("wait.until", n.Until)
		if err != nil {
			return engine.Result{}, err
		}
		if until, err = timeOf(v); err != nil {
			return engine.Result{}, engine.Permanent(fmt.Errorf("wait.until: %w", err))
		}
	}
	d := until.Sub(now)
	if d > maxSlept {
		return engine.Result{WakeAt: until}, nil
	}
	if d <= 0 {
		return engine.Result{}, nil
	}
	return engine.Result{}, sleep(ctx, call, d)
}

func timeOf(v engine.Value) (time.Time, error) {
	s, ok := v.Any().(string)
	if !ok {
		return time.Time{}, fmt.Errorf("%.60s is no time: give a text like 2026-11-29T18:00:00Z", v.JSON())
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}, fmt.Errorf("%.60q is no time like 2026-11-29T18:00:00Z (RFC 3339, with a zone)", s)
	}
	return t, nil
}

func sleep(ctx context.Context, call *engine.Call, d time.Duration) error {
	if call.Sleep != nil {
		return call.Sleep(ctx, d)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
