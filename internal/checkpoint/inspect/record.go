package inspect

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// record is what is known of a thread's record of decisions beside its rows.
type record struct {
	thread   string
	end      checkpoint.Chain
	named    map[string]int64      // decisions whose effects steps say they hold, by id, with the step
	expected *checkpoint.RecordEnd // how it ended once; nil when nobody says
}

// verify checks the rows against all of that. What does not hold is told; an error means that the rows could not be read.
func (r *record) verify(ctx context.Context, s checkpoint.Store) (faults []string, err error) {
	missing := maps.Clone(r.named)
	followed := r.expected == nil || r.expected.Decisions == 0
	rows := func(yield func(*checkpoint.Decision, error) bool) {
		for d, err := range s.Decisions(ctx, r.thread) {
			if d != nil {
				delete(missing, d.ID)
				followed = followed || d.N == r.expected.Decisions && d.Hash == r.expected.Hash
			}
			if !yield(d, err) {
				return
			}
		}
	}
	err = checkpoint.VerifyChain(r.thread, iter.Seq2[*checkpoint.Decision, error](rows), r.end)
	switch {
	case errors.Is(err, checkpoint.ErrCorrupt):
		faults = append(faults, err.Error())
	case errors.Is(err, checkpoint.ErrNotFound): // deleted meanwhile, or its row is hurt
	case err != nil:
		return nil, err
	}
	if err == nil { // else what a step names may stand behind the row at which it breaks
		for _, id := range slices.Sorted(maps.Keys(missing)) {
			faults = append(faults, fmt.Sprintf("decisions of thread %s: step %d holds the effects of decision %s, which is missing: the thread counts %d decisions",
				r.thread, missing[id], id, r.end.Count))
		}
	}
	if !followed {
		faults = append(faults, unfollowed(r.expected, fmt.Sprintf("the thread counts %d decisions, of which that is none", r.end.Count)))
	}
	return faults, nil
}

// unfollowed tells that a record does not go on from how it ended once.
func unfollowed(e *checkpoint.RecordEnd, now string) string {
	return fmt.Sprintf("decisions of thread %s: they were expected to begin with %d that end in hash %.12s, but %s", e.Thread, e.Decisions, e.Hash, now)
}

// name notes the decisions whose effects a step says it holds. A Put says what it likes.
func (r *record) name(c *checkpoint.Checkpoint) {
	if c.Commit == "" {
		return
	}
	for _, id := range c.Decisions {
		if id != "" {
			r.named[id] = c.Step
		}
	}
}

func recordOf(t *checkpoint.ThreadInfo) *record {
	return &record{thread: t.Thread, end: checkpoint.Chain{Count: t.Decisions, Last: t.DecisionHash}, named: make(map[string]int64)}
}

// moved reports whether a thread was written to while it was looked at.
func moved(before, now *checkpoint.ThreadInfo) bool {
	return now.Seq != before.Seq || now.Decisions != before.Decisions || now.DecisionHash != before.DecisionHash
}

// tombstones checks what is left of the records of deleted threads.
func tombstones(ctx context.Context, s checkpoint.Store) ([]checkpoint.Tombstone, []checkpoint.Fault, error) {
	stones, err := s.Tombstones(ctx)
	if errors.Is(err, checkpoint.ErrCorrupt) {
		return nil, []checkpoint.Fault{{Text: err.Error()}}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	var faults []checkpoint.Fault
	for i := range stones {
		_, err := s.Thread(ctx, stones[i].Thread)
		if err != nil && !errors.Is(err, checkpoint.ErrNotFound) && !errors.Is(err, checkpoint.ErrCorrupt) {
			return nil, nil, err
		}
		if broken := stones[i].Verify(err == nil); broken != nil {
			faults = append(faults, checkpoint.Fault{Thread: stones[i].Thread, Text: broken.Error()})
		}
	}
	return stones, faults, nil
}

// Lister is a store in which rows of a thread can be left without the thread's own.
type Lister interface {
	// Orphans lists what is there of threads that have no row.
	Orphans(ctx context.Context) ([]checkpoint.Orphans, error)
}

func orphans(ctx context.Context, s checkpoint.Store) ([]checkpoint.Fault, error) {
	l, ok := s.(Lister)
	if !ok {
		return nil, nil
	}
	list, err := l.Orphans(ctx)
	if errors.Is(err, checkpoint.ErrCorrupt) {
		return []checkpoint.Fault{{Text: "what is left of threads without a row cannot be looked for: " + err.Error()}}, nil
	}
	faults := make([]checkpoint.Fault, len(list))
	for i := range list {
		faults[i] = list[i].Fault()
	}
	return faults, err
}
