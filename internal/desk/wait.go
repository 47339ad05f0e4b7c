package desk

import (
	"cmp"
	"context"
	"slices"
)

// Wait waits until a thread has one of the statuses, whoever brings it there, and gives it as it then is; at once when it
// has one already. told is given each other status it rests at or passes on the way, and may be nil. It ends with ctx, and
// with CodeNotFound when the thread is deleted meanwhile.
func (d *Desk) Wait(ctx context.Context, thread string, statuses []string, told func(Thread)) (*Detail, error) {
	id, err := d.resolve(ctx, thread)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	// Before the first look, so that no change falls between the two.
	events := d.Subscribe(ctx)
	last := ""
	for {
		detail, err := d.source.Open(ctx, id)
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
