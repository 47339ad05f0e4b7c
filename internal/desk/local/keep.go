package local

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/inspect"
	"github.com/hitl-tui/hitl-tui/internal/desk"
)

// page is how many thread rows are read at a time where all are walked.
const page = 200

// Claim claims a thread for a reviewer.
func (s *Source) Claim(ctx context.Context, thread, reviewer string, ttl time.Duration) error {
	store, err := s.kept()
	if err != nil {
		return err
	}
	return s.claimedBy(ctx, thread, store.Claim(ctx, thread, reviewer, ttl))
}

// Release gives a claim up.
func (s *Source) Release(ctx context.Context, thread, reviewer string) error {
	store, err := s.kept()
	if err != nil {
		return err
	}
	return s.claimedBy(ctx, thread, store.ReleaseClaim(ctx, thread, reviewer))
}

// claimedBy names who holds a claim that stands in the way.
func (s *Source) claimedBy(ctx context.Context, thread string, err error) error {
	if !errors.Is(err, checkpoint.ErrConflict) {
		return stored(err)
	}
	info, infoErr := s.store.Thread(ctx, thread)
	if infoErr != nil || info.Claim == nil {
		return stored(err)
	}
	return &desk.Error{
		Code: desk.CodeClaimed, Message: "thread " + thread + " is claimed by " + info.Claim.Reviewer, Err: err,
		Remedy:  "it is free from " + info.Claim.Until.UTC().Format(time.RFC3339) + " on",
		Details: map[string]any{"by": info.Claim.Reviewer, "until": info.Claim.Until.UTC()},
	}
}

// Prune deletes what b selects, or says what it would.
func (s *Source) Prune(ctx context.Context, b desk.Bounds, dryRun bool, progress func(done, total int64)) (*desk.Pruned, error) {
	store, err := s.kept()
	if err != nil {
		return nil, err
	}
	r, err := store.Prune(ctx, checkpoint.PruneQuery{
		Threads: b.Threads, All: b.All, Workflow: b.Workflow, Status: statuses(b.Status), BeforeStep: b.BeforeStep,
		OlderThan: b.OlderThan, FinishedBefore: b.FinishedBefore, DryRun: dryRun, Progress: progress,
	})
	if err != nil {
		return nil, stored(err)
	}
	p := &desk.Pruned{
		Steps: r.Steps, Threads: r.Threads, Deleted: r.Deleted, Bytes: r.Bytes, Heads: r.Heads, Oldest: r.Oldest, Newest: r.Newest,
		Skipped: r.Skipped, DryRun: dryRun,
	}
	for _, t := range r.Per {
		p.Per = append(p.Per, desk.PrunedThread(t))
	}
	return p, nil
}

// Delete deletes a thread whole.
func (s *Source) Delete(ctx context.Context, thread string) error {
	store, err := s.kept()
	if err != nil {
		return err
	}
	return stored(store.DeleteThread(ctx, thread))
}

// Decisions lists rows newest first, of one thread or with "" of all.
func (s *Source) Decisions(ctx context.Context, thread string, limit int) ([]desk.DecisionRow, error) {
	store, err := s.kept()
	if err != nil {
		return nil, err
	}
	var all []desk.DecisionRow
	if thread != "" {
		all, err = s.rowsOf(ctx, thread)
	} else {
		all, err = s.allRows(ctx, store, time.Time{}, limit)
	}
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, newestFirst)
	if limit > 0 && len(all) > limit {
		all = all[:limit]
	}
	return all, nil
}

// DecisionsSince lists what was decided since then, of all threads, newest first.
func (s *Source) DecisionsSince(ctx context.Context, since time.Time, limit int) ([]desk.DecisionRow, error) {
	store, err := s.kept()
	if err != nil {
		return nil, err
	}
	all, err := s.allRows(ctx, store, since, limit)
	return slices.DeleteFunc(all, func(r desk.DecisionRow) bool { return r.DecidedAt.Before(since) }), err
}

func newestFirst(a, b desk.DecisionRow) int {
	if c := b.DecidedAt.Compare(a.DecidedAt); c != 0 {
		return c
	}
	return int(b.N - a.N)
}

func (s *Source) rowsOf(ctx context.Context, thread string) ([]desk.DecisionRow, error) {
	var all []desk.DecisionRow
	for d, err := range s.store.Decisions(ctx, thread) {
		if err != nil {
			return nil, stored(err)
		}
		all = append(all, decisionOf(d))
	}
	return all, nil
}

// allRows walks threads from the one changed last: a decision is never younger than the last change of its thread,
// so the walk ends once no thread left can hold one of the newest, or one made since then.
func (s *Source) allRows(ctx context.Context, store checkpoint.Store, since time.Time, limit int) ([]desk.DecisionRow, error) {
	var all []desk.DecisionRow
	for t, err := range s.threads(ctx, store, checkpoint.Query{Sort: checkpoint.SortUpdated}) {
		if err != nil {
			return nil, err
		}
		if t.Updated.Before(since) {
			return all, nil
		}
		if limit > 0 && len(all) >= limit && t.Updated.Before(all[limit-1].DecidedAt) {
			return all, nil
		}
		if t.Decisions == 0 {
			continue
		}
		rows, err := s.rowsOf(ctx, t.Thread)
		if err != nil {
			return nil, err
		}
		for i := range rows {
			rows[i].Workflow, rows[i].Title = t.Workflow, t.Title
		}
		all = append(all, rows...)
		slices.SortStableFunc(all, newestFirst)
		if limit > 0 && len(all) > limit {
			all = all[:limit]
		}
	}
	return all, nil
}

// threads walks all threads of a query, page by page.
func (s *Source) threads(ctx context.Context, store checkpoint.Store, q checkpoint.Query) func(func(checkpoint.ThreadInfo, error) bool) {
	return func(yield func(checkpoint.ThreadInfo, error) bool) {
		q.Limit = page
		for {
			p, err := store.Threads(ctx, q)
			if err != nil {
				yield(checkpoint.ThreadInfo{}, stored(err))
				return
			}
			for _, t := range p.Threads {
				if !yield(t, nil) {
					return
				}
			}
			if q.After = p.Next; q.After == "" {
				return
			}
		}
	}
}

// decisionWords tells each decision of a thread in two words behind the node run it was for.
func (s *Source) decisionWords(ctx context.Context, thread string) (map[string]string, error) {
	words := map[string]string{}
	for d, err := range s.store.Decisions(ctx, thread) {
		if err != nil {
			return nil, stored(err)
		}
		words[d.ID] = d.Path + "\x00" + d.Reviewer + " " + d.Action
	}
	return words, nil
}

// Verify checks the record of decisions of one thread, or with "" of all.
func (s *Source) Verify(ctx context.Context, thread string, expect []desk.RecordEnd) (*desk.Verified, error) {
	store, err := s.kept()
	if err != nil {
		return nil, err
	}
	o := inspect.AuditOptions{Thread: thread}
	for _, e := range expect {
		o.Expect = append(o.Expect, checkpoint.RecordEnd(e))
	}
	a, err := inspect.Audit(ctx, store, o)
	if err != nil {
		return nil, stored(err)
	}
	v := &desk.Verified{Threads: a.Threads, Rows: a.Rows, Tombstones: a.Tombstones}
	for _, f := range a.Faults {
		v.Broken = append(v.Broken, f.Text)
	}
	for _, e := range a.Ends {
		v.Ends = append(v.Ends, desk.RecordEnd(e))
	}
	return v, nil
}

// Sweep applies deadlines and timers, and with carryOn runs stalled threads on.
func (s *Source) Sweep(ctx context.Context, carryOn bool, progress func(done, total int64)) ([]desk.Result, error) {
	run, done := engineContext(ctx)
	defer done()
	outcomes, err := s.engine.Sweep(run, carryOn, progress)
	s.engine.Heard()
	all := make([]desk.Result, len(outcomes))
	for i := range outcomes {
		all[i] = *s.rested(ctx, &outcomes[i])
	}
	return all, Coded(err)
}

// NextDue is the earliest deadline or timer after a time, and the store's present time.
func (s *Source) NextDue(ctx context.Context, after time.Time) (due, now time.Time, err error) {
	store, err := s.kept()
	if err != nil {
		return due, now, err
	}
	if now, err = store.Now(ctx); err != nil {
		return due, now, stored(err)
	}
	waiting := checkpoint.Query{
		Status: []checkpoint.Status{checkpoint.Interrupted, checkpoint.Sleeping, checkpoint.Failed, checkpoint.Stalled}, // as a sweep looks at
		Sort:   checkpoint.SortDue,
	}
	for t, err := range s.threads(ctx, store, waiting) {
		switch {
		case err != nil:
			return due, now, err
		case t.Due == nil:
			return due, now, nil
		case t.Due.After(after):
			return *t.Due, now, nil
		}
	}
	return due, now, nil
}
