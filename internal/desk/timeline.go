package desk

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
)

// Timeline is what happened, oldest first: each step that was written and each decision of the record, the latest limit of
// them; of one thread, or with "" of all. Beside an error it gives what could be read: a thread that is damaged does not
// hide the others.
func (d *Desk) Timeline(ctx context.Context, thread string, limit int) ([]Event, error) {
	if limit < 1 {
		return nil, usagef("a timeline of %d events", limit)
	}
	rows, err := d.Decisions(ctx, thread, limit)
	if err != nil {
		return nil, err
	}
	t := timeline{limit: limit}
	for _, r := range rows {
		t.events = append(t.events, decided(r))
	}
	if thread != "" {
		steps, err := d.stepsOf(ctx, thread)
		t.add(steps)
		return t.events, err
	}
	return t.events, d.latest(ctx, &t)
}

// latest adds the steps of all threads, those that were written last first, until no further one can be among the latest.
func (d *Desk) latest(ctx context.Context, t *timeline) error {
	t.add(nil)
	var damaged []error
	for q := (Query{Tab: All, Sort: "updated", Limit: 100}); ; {
		page, err := d.Threads(ctx, q)
		if err != nil {
			return errors.Join(append(damaged, err)...)
		}
		for _, x := range page.Threads {
			if t.full() && !x.Updated.IsZero() && x.Updated.Before(t.events[0].At) {
				return errors.Join(damaged...)
			}
			steps, err := d.stepsOf(ctx, x.ID)
			switch {
			case Code(err) == CodeNotFound: // deleted since it was listed
			case ctx.Err() != nil:
				return err
			case err != nil:
				damaged = append(damaged, err)
			}
			t.add(steps)
		}
		if page.Next == "" {
			return errors.Join(damaged...)
		}
		q.After = page.Next
	}
}

// stepsOf are the steps of a thread as events.
func (d *Desk) stepsOf(ctx context.Context, thread string) ([]Event, error) {
	id, err := d.resolve(ctx, thread)
	if err != nil {
		return nil, err
	}
	steps, err := d.source.History(ctx, id)
	events := make([]Event, len(steps))
	for i, s := range steps {
		events[i] = Event{Kind: StepCommitted, Thread: id, Step: s.Step, At: s.TS, Status: s.Status, Source: s.Source, Nodes: s.Nodes,
			Text: s.Error, Failed: s.Error != ""}
	}
	return events, err
}

func decided(r DecisionRow) Event {
	step, _, _ := strings.Cut(r.Version, ".")
	n, err := strconv.ParseInt(step, 10, 64)
	if err != nil {
		n = 0 // the version of a foreign source need not begin with a step
	}
	return Event{Kind: Decided, Thread: r.Thread, Step: n, At: r.DecidedAt, Address: r.Address, Action: r.Action, Reviewer: r.Reviewer, Text: r.Comment}
}

// timeline keeps the latest of the events that it is given.
type timeline struct {
	limit  int
	events []Event // oldest first, once something was added
}

func (t *timeline) full() bool { return len(t.events) == t.limit }

func (t *timeline) add(events []Event) {
	t.events = append(t.events, events...)
	slices.SortStableFunc(t.events, func(a, b Event) int { return a.At.Compare(b.At) })
	if over := len(t.events) - t.limit; over > 0 {
		t.events = slices.Delete(t.events, 0, over)
	}
}

// ShortNames gives each id its shortest ending, of four characters or more, that no other of them ends in.
func ShortNames(ids []string) map[string]string {
	threads := make([]Thread, len(ids))
	for i, id := range ids {
		threads[i].ID = id
	}
	shorten(threads)
	names := make(map[string]string, len(ids))
	for _, t := range threads {
		names[t.ID] = t.Short
	}
	return names
}
