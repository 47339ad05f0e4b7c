package desk

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// When a desk applies its retention: first when its user has begun to work, then once a day.
const (
	retainFirst = time.Minute
	retainEvery = 24 * time.Hour
)

// Retain applies the retention of the options once: whole threads that ended long ago, then old steps. Heads stay, and
// threads that run are left alone until the next time. It is always logged. Without a retention nothing is done.
func (d *Desk) Retain(ctx context.Context) (Retained, error) {
	rule := d.o.Retention
	if rule == (Retention{}) {
		return Retained{}, nil
	}
	now, err := d.now(ctx)
	if err != nil {
		return Retained{}, err
	}
	done := Retained{At: now}
	var errs []error
	for _, b := range rule.bounds(now) {
		p, err := d.Prune(ctx, b, false, nil)
		errs = append(errs, err)
		if p != nil {
			done.Steps, done.Threads, done.Bytes = done.Steps+p.Steps, done.Threads+p.Deleted, done.Bytes+p.Bytes
			done.Skipped = append(done.Skipped, p.Skipped...)
		}
	}
	err = errors.Join(errs...)
	d.retained(rule, done, err)
	return done, err
}

// bounds are the prunes that make up the retention.
func (r Retention) bounds(now time.Time) []Bounds {
	var all []Bounds
	if r.FinishedBefore > 0 {
		all = append(all, Bounds{All: true, FinishedBefore: now.Add(-r.FinishedBefore)})
	}
	if r.OlderThan > 0 {
		all = append(all, Bounds{All: true, OlderThan: now.Add(-r.OlderThan)})
	}
	return all
}

// String says what the retention deletes.
func (r Retained) String() string {
	return fmt.Sprintf("retention deleted %d steps and %d whole threads (%d bytes)", r.Steps, r.Threads, r.Bytes)
}

// retained logs and tells what a retention did.
func (d *Desk) retained(rule Retention, done Retained, err error) {
	d.mu.Lock()
	d.last = done
	d.mu.Unlock()
	level, text := slog.LevelInfo, done.String()
	attrs := []slog.Attr{
		slog.Duration("older_than", rule.OlderThan), slog.Duration("finished_before", rule.FinishedBefore), slog.Int64("steps", done.Steps),
		slog.Int64("threads", done.Threads), slog.Int64("bytes", done.Bytes), slog.Any("skipped", done.Skipped),
	}
	if err != nil {
		level, text = slog.LevelError, "retention failed: "+err.Error()
		attrs = append(attrs, slog.Any("error", err))
	}
	d.o.Log.LogAttrs(context.Background(), level, "retention", attrs...)
	if err != nil || done.Steps+done.Threads > 0 {
		d.hub.publish(Event{Kind: RetentionApplied, Text: text})
	}
}

// now is the source's time.
func (d *Desk) now(ctx context.Context) (time.Time, error) {
	if timed, ok := d.source.(Timed); ok {
		return timed.Now(ctx)
	}
	return d.o.Now(), nil
}

// KeepRetention applies the retention a while after the start and then daily, until ctx or the desk ends. A desk without
// one, or that is read-only, returns at once. A failure is logged and tried again the next day.
func (d *Desk) KeepRetention(ctx context.Context) {
	if d.o.ReadOnly || d.o.Retention == (Retention{}) {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(d.ctx, cancel)()
	for wait := retainFirst; ; wait = retainEvery {
		due := make(chan struct{})
		stop := d.o.AfterFunc(wait, func() { close(due) })
		select {
		case <-due:
		case <-ctx.Done():
			stop()
			return
		}
		_, _ = d.Retain(ctx) // told and logged there
	}
}

// Prunable counts what a retention would take now, and deletes nothing.
func (d *Desk) Prunable(ctx context.Context, rule Retention) (Retained, error) {
	now, err := d.now(ctx)
	if err != nil {
		return Retained{}, err
	}
	would := Retained{At: now}
	whole := map[string]bool{} // threads of which nothing is left for the bounds that follow
	for _, b := range rule.bounds(now) {
		p, err := d.Prune(ctx, b, true, nil)
		if err != nil {
			return would, err
		}
		would.Threads += p.Deleted
		for _, t := range p.Per {
			if !whole[t.Thread] {
				would.Steps, would.Bytes = would.Steps+t.Steps, would.Bytes+t.Bytes
			}
			whole[t.Thread] = whole[t.Thread] || t.Whole
		}
	}
	return would, nil
}

// Compact gives the store's free space back.
func (d *Desk) Compact(ctx context.Context, progress func(done, total int64)) error {
	if d.o.ReadOnly {
		return readOnly("compact")
	}
	compacter, ok := d.source.(Compacter)
	if !ok {
		return unsupported("give space back")
	}
	return compacter.Compact(ctx, progress)
}

// Inspect looks at all there is in the store for damage; with states it rebuilds every state.
func (d *Desk) Inspect(ctx context.Context, states bool, progress func(done, total int64)) (*Inspection, error) {
	inspector, ok := d.source.(Inspector)
	if !ok {
		return nil, unsupported("be inspected")
	}
	return inspector.Inspect(ctx, states, progress)
}
