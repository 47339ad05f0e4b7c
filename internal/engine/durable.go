package engine

import (
	"context"
	"errors"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// The pauses between the attempts of one write: about a second in all, well within a lease.
const (
	writeAttempts = 4
	firstPause    = 50 * time.Millisecond
	pauseGrows    = 4
)

// durably repeats a write that failed for a reason which may pass, such as a lost connection: what programs did should
// not be done again because a server restarted. Every write of the engine can be repeated: a commit under its id, a
// result under its path, a lease as acquire does. A verdict of the store, or of its disk, stands at once, and so does that it
// cannot be reached: the store has tried for as long as it is worth.
func (e *Engine) durably(ctx context.Context, write func() error) error {
	pause := firstPause
	for n := 1; ; n++ {
		err := write()
		if err == nil || n == writeAttempts || isVerdict(err) || errors.Is(err, checkpoint.ErrUnreachable) || e.o.Sleep(ctx, pause) != nil {
			return err
		}
		pause *= pauseGrows
	}
}

// isVerdict reports whether a store's error is an answer, which repeating the question does not change.
func isVerdict(err error) bool {
	for _, verdict := range []error{
		checkpoint.ErrConflict, checkpoint.ErrLeased, checkpoint.ErrNotFound, checkpoint.ErrCorrupt, checkpoint.ErrNewerSchema,
		checkpoint.ErrForeign, checkpoint.ErrLocked, checkpoint.ErrReadOnly, checkpoint.ErrFull, checkpoint.ErrClosed,
		context.Canceled, context.DeadlineExceeded,
	} {
		if errors.Is(err, verdict) {
			return true
		}
	}
	return false
}

// commit makes one step durable. Once begun it is awaited whatever ctx says.
func (e *Engine) commit(ctx context.Context, c checkpoint.Commit) (v checkpoint.Version, err error) {
	ctx = context.WithoutCancel(ctx)
	err = e.durably(ctx, func() error {
		v, err = e.store.Commit(ctx, c)
		return err
	})
	return v, err
}

// acquire takes a lease. Once begun it is awaited whatever ctx says, so that whoever cancels knows whether there are
// answers to withdraw. When the store's own word on an attempt was lost, giving the lease back tells whether it had been
// taken: then its answers are kept and are not brought again.
func (e *Engine) acquire(ctx context.Context, r checkpoint.LeaseRequest) (lease *checkpoint.Lease, err error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	ctx = context.WithoutCancel(ctx)
	unsure := false
	err = e.durably(ctx, func() error {
		if unsure {
			err := e.store.ReleaseLease(ctx, checkpoint.Release{Thread: r.Thread, Token: r.Token})
			switch {
			case err == nil:
				r.Seen += len(r.Answers)
				r.Answers, r.Decisions = nil, nil
			case !errors.Is(err, checkpoint.ErrConflict):
				return err
			}
			unsure, r.Token = false, e.o.NewID()
		}
		lease, err = e.store.AcquireLease(ctx, r)
		unsure = err != nil && !isVerdict(err)
		return err
	})
	return lease, err
}

// giveBack gives a lease back. A conflict on a repeated attempt is success where the rows that withdraw the answers are
// there: it was the first attempt's own doing.
func (e *Engine) giveBack(ctx context.Context, r checkpoint.Release) error {
	unsure := false
	return e.durably(ctx, func() error {
		err := e.store.ReleaseLease(ctx, r)
		if unsure && r.Withdraw && errors.Is(err, checkpoint.ErrConflict) {
			if gone, e := e.withdrawn(ctx, r.Thread, r.Decisions[0].Withdraws); e == nil && gone {
				return nil
			}
		}
		unsure = err != nil
		return err
	})
}
