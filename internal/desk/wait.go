package desk

import (
	"cmp"
	"context"
	"errors"
	"slices"
)

// Wait waits until a thread has one of the statuses, whoever brings it there, and gives it as it then is; at once when it
// has one already. told is given each other status it rests at or passes on the way, and may be nil. It ends with ctx, whose
// deadline is for the waiting and not for the looks, and with CodeNotFound when the thread is deleted meanwhile.
func (d *Desk) Wait(ctx context.Context, thread string, statuses []string, told func(Thread)) (*Detail, error) {
	look, stop := withoutDeadline(ctx)
	defer stop()
	id, err := d.resolve(look, thread)
	if err != nil {
		return nil, err
	}
	// Before the first look, so that no change falls between the two.
	events := d.Subscribe(look)
	last := ""
	for {
		detail, err := d.source.Open(look, id)
		if err != nil {
			return nil, err
		}
		if slices.Contains(statuses, detail.Status) {
			return detail, nil
		}
		if told != nil && detail.Status != last {
			told(detail.Thread)
		}
		last = detail.Status
		if err := awaitChange(ctx, events, id); err != nil {
			return nil, err
		}
	}
}

// withoutDeadline is a context that ends with ctx, but not by its deadline.
func withoutDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	free, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
			cancel()
		}
	})
	return free, func() { stop(); cancel() }
}

// awaitChange returns after an event that may concern the thread.
func awaitChange(ctx context.Context, events <-chan []Event, thread string) error {
	for {
		select {
		case batch, open := <-events:
			if !open {
				return cmp.Or(ctx.Err(), ErrClosed)
			}
			for _, e := range batch {
				if e.Kind != Progress && (e.Thread == "" || e.Thread == thread) {
					return nil
				}
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Result is where the thread stands, as the result of what brought it there.
func (d *Detail) Result() *Result {
	return &Result{
		Thread: d.ID, Workflow: d.Workflow, Step: d.Step, Revision: d.Revision, Status: d.Status, Interrupted: len(d.Questions) > 0,
		Questions: d.Questions, Outputs: d.Outputs, ErrNode: d.FailedNode, ErrMessage: d.Failure,
	}
}
