package engine

import (
	"slices"
	"sort"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// tree is a thread in memory, between two commits: its frames, its open questions, and a journal of what changed
// since the last commit.
type tree struct {
	thread  string
	started time.Time
	title   string // of the last question, by which lists call the thread also once nothing is asked
	source  string // file from which it was started; the same text may have come from elsewhere first
	root    *frame
	asks    []*ask // open, oldest first
	ready   []*run // the coming frontier, unsorted
	epoch   string // id of the last decision or edit
	ended   checkpoint.Status
	outputs Value
	journal *journal             // nil without a store
	log     []checkpoint.NodeRun // what runs did since the last commit
	now     func() time.Time
	newID   func() string
}

// rootPath is the path of every thread's outermost frame, whatever its workflow is called.
const rootPath = "main@1"

func newTree(thread string, g *Graph, o *Options) (*tree, error) {
	t := &tree{thread: thread, now: o.Now, newID: o.NewID}
	root, err := newFrame(t, g, rootPath)
	t.root = root
	return t, err
}

// begin fixes what the scope calls run.
func (t *tree) begin(started time.Time) {
	t.started = started
	t.root.runValue = known(map[string]any{
		"id": t.thread, "workflow": t.root.graph.Name, "started": started.UTC().Format(time.RFC3339Nano),
	})
}

// record writes what @thread holds.
func (t *tree) record() {
	rec := threadRecord{Format: formatVersion, Started: t.started, Source: t.source}
	t.journal.add(change{checkpoint.OpSet, threadChannel, RawValue(encode(rec))})
}

// frames lists all frames, parents first.
func (t *tree) frames() []*frame { return []*frame{t.root} }

// runs yields every run there is, in frontier order.
func (t *tree) runs(yield func(*run) bool) {
	for _, f := range t.frames() {
		if f.live == 0 {
			continue
		}
		for _, r := range f.runs {
			if r != nil && !yield(r) {
				return
			}
		}
	}
}

// frontier takes the ready runs in their deterministic order: by frame, then by place in the graph.
func (t *tree) frontier() []*run {
	f := t.ready
	t.ready = nil
	if len(f) > 1 {
		slices.SortFunc(f, func(a, b *run) int { return a.index - b.index })
	}
	return f
}

// next names the runs that resuming would run or end: what is ready, what failed and is held back, and timers.
func (t *tree) next() []string {
	var names []string
	for r := range t.runs {
		if r.status != waiting || !r.wake.IsZero() {
			names = append(names, r.node.Name)
		}
	}
	return names
}

// sweepAsks drops closed questions.
func (t *tree) sweepAsks() {
	t.asks = slices.DeleteFunc(t.asks, func(a *ask) bool { return a.closed })
}

// end ends the thread for good: nothing of it runs or waits any more.
func (t *tree) end(status checkpoint.Status) {
	for r := range t.runs {
		t.cancelled(r)
		r.frame.remove(r)
	}
	for _, f := range t.frames() {
		for i := range f.buffers {
			f.clearBuffer(i)
		}
		for _, i := range slices.Clone(f.joining) {
			f.clearArrivals(i)
		}
	}
	t.ended = status
}

// cancelled logs a run that is taken away unfinished.
func (t *tree) cancelled(r *run) {
	t.log = append(t.log, checkpoint.NodeRun{Path: r.path, Node: r.node.Name, Status: statusCancelled, Started: t.now()})
}

// phase is the thread's status when nobody holds its lease.
func (t *tree) phase() checkpoint.Status {
	if t.ended != "" {
		return t.ended
	}
	var asks, failures, timers bool
	for r := range t.runs {
		switch {
		case r.status == ready:
			return checkpoint.Stalled
		case len(r.asks) > 0:
			asks = true
		case r.status == failed:
			failures = true
		default:
			timers = true
		}
	}
	switch {
	case asks:
		return checkpoint.Interrupted
	case timers:
		return checkpoint.Sleeping
	case failures:
		return checkpoint.Failed
	}
	return checkpoint.Stalled
}

// failure is the first failed run's, nil without one.
func (t *tree) failure() *checkpoint.Failure {
	for r := range t.runs {
		if r.status == failed {
			return r.failure
		}
	}
	return nil
}

// due is the earliest deadline or timer, nil without one. A question already marked overdue waits for a person.
func (t *tree) due() *time.Time {
	var due *time.Time
	earlier := func(at time.Time) {
		if due == nil || at.Before(*due) {
			due = &at
		}
	}
	for r := range t.runs {
		if !r.wake.IsZero() && r.status == waiting {
			earlier(r.wake)
		}
		for _, a := range r.asks {
			if a.Due != nil && !a.Overdue {
				earlier(*a.Due)
			}
		}
	}
	return due
}

// interrupts are the open questions as a checkpoint holds them.
func (t *tree) interrupts() []checkpoint.Interrupt {
	if len(t.asks) == 0 {
		return nil
	}
	list := make([]checkpoint.Interrupt, len(t.asks))
	for i, a := range t.asks {
		list[i] = a.Interrupt
	}
	return list
}

func sortedKeys[V any](m map[string]V) []string {
	if len(m) == 0 {
		return nil
	}
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
