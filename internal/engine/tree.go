package engine

import (
	"cmp"
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
	none    Value           // an empty object
	asks    []*ask          // open, oldest first
	stands  *standing       // nil when it has to be worked out anew
	ready   []*run          // the coming frontier, unsorted
	taken   []*run          // the frontier at work, whose memory is used again
	merge   merge           // whose memory is used again
	timers  int             // runs that wait for a time
	visits  [][]*frame      // to be looked at before the step ends, by depth
	news    []Event         // what happened that the observer has yet to be told
	heeded  bool            // there is an observer
	links   map[string]link // question address -> the round before it
	epoch   string          // id of the last decision or edit
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
	t := &tree{thread: thread, now: o.Now, newID: o.NewID, heeded: o.Observer != nil, links: map[string]link{}, none: object(nil)}
	root, err := newFrame(t, g, rootPath, "")
	t.root = root
	return t, err
}

// begin fixes what the scope calls run.
func (t *tree) begin(started time.Time) {
	t.started = started
	t.root.runValue = t.describe(t.root.graph)
}

// record writes what @thread holds.
func (t *tree) record() {
	rec := threadRecord{Format: formatVersion, Started: t.started, Source: t.source}
	t.root.write(checkpoint.OpSet, threadChannel, RawValue(encode(rec)))
}

// describe is what a workflow's scope calls run.
func (t *tree) describe(g *Graph) Value {
	return known(map[string]any{"id": t.thread, "workflow": g.Name, "started": t.started.UTC().Format(time.RFC3339Nano)})
}

// runs yields every run there is, in frontier order.
func (t *tree) runs(yield func(*run) bool) { t.root.walk(yield) }

// walk yields the runs of the frame and then, in order of their owners, those of the frames below.
func (f *frame) walk(yield func(*run) bool) bool {
	if f.live == 0 {
		return true
	}
	for _, r := range f.runs {
		if r != nil && !yield(r) {
			return false
		}
	}
	for _, r := range f.runs {
		if f.nests == 0 {
			break
		}
		if r == nil || r.nest == nil {
			continue
		}
		for _, k := range r.nest.frames {
			if !k.walk(yield) {
				return false
			}
		}
	}
	return true
}

// frontier takes the ready runs in their deterministic order: by frame, then by place in the graph.
func (t *tree) frontier() []*run {
	f := t.ready
	clear(t.taken)
	t.ready, t.taken = t.taken[:0], f
	for _, r := range f {
		r.queued = false
	}
	if len(f) > 1 {
		slices.SortFunc(f, inFrontier)
	}
	return f
}

// inFrontier compares two runs as walk orders them.
func inFrontier(a, b *run) int {
	f, g := a.frame, b.frame
	if f == g {
		return a.index - b.index
	}
	for f.depth > g.depth {
		if f = f.owner.run.frame; f == g {
			return 1 // b is in a frame around that of a
		}
	}
	for g.depth > f.depth {
		if g = g.owner.run.frame; f == g {
			return -1
		}
	}
	for f.owner.run.frame != g.owner.run.frame {
		f, g = f.owner.run.frame, g.owner.run.frame
	}
	return cmp.Or(f.owner.run.index-g.owner.run.index, f.item-g.item)
}

// visit has close look at a frame in which something happened.
func (t *tree) visit(f *frame) {
	if f.visited {
		return
	}
	f.visited = true
	for len(t.visits) <= f.depth {
		t.visits = append(t.visits, nil)
	}
	t.visits[f.depth] = append(t.visits[f.depth], f)
}

// complete notes that a run has ended; close absorbs it.
func (t *tree) complete(c *completion) {
	f := c.run.frame
	f.done = append(f.done, c)
	t.visit(f)
}

// close ends a step: from the deepest frame to the root, frames absorb what their runs did, joins settle, and what a
// frame came to is made known to the node that owns it. It ends the thread when nothing is left of it.
func (t *tree) close() {
	for d := len(t.visits) - 1; d >= 0; {
		list := t.visits[d]
		if len(list) == 0 {
			d--
			continue
		}
		for _, f := range list { // which adds frames above and below, and none beside
			if f.home == nil || !f.home.gone {
				f.close()
			}
			f.visited = false
		}
		t.visits[d] = list[:0]
		d = len(t.visits) - 1
	}
}

// advance has the nests look at what happened below.
func (f *frame) advance() {
	if f.nests == 0 {
		return
	}
	for _, r := range f.runs {
		if r == nil || r.nest == nil || !r.nest.stirred {
			continue
		}
		if c := r.nest.advance(); c != nil {
			f.done = append(f.done, c)
		}
	}
}

func (f *frame) close() {
	t := f.tree
	f.advance()
	if len(f.done) > 0 {
		done := f.done
		slices.SortFunc(done, func(a, b *completion) int { return a.run.index - b.run.index })
		f.done = nil
		f.absorb(done)
		clear(done)
		f.done = done[:0]
	}
	if f.ended == "" {
		f.settle()
	}
	if f.ended == "" && f.over() {
		f.ended = checkpoint.Done
	}
	if f.owner != nil {
		if f.ended != "" && f.owner.isMap() {
			f.owner.ended = append(f.owner.ended, f)
		}
		if f.ended != "" {
			t.unlink(f)
		}
		// It ended, waits or failed, or waits no more: the others may have to know.
		if f.ready == 0 || f.owner.hasMore() {
			f.owner.stirred = true
			t.visit(f.owner.run.frame)
		}
		return
	}
	if t.ended = f.ended; t.ended == checkpoint.Done {
		t.outputs = f.out
	}
}

// sweepAsks drops closed questions.
func (t *tree) sweepAsks() {
	t.stands = nil
	t.asks = slices.DeleteFunc(t.asks, func(a *ask) bool { return a.closed })
}

// cancelled logs a run that is taken away unfinished.
func (t *tree) cancelled(r *run, reason string) {
	t.note(r, checkpoint.NodeRun{Status: statusCancelled, Started: t.now()})
	t.tell(r.event(Event{Type: CancelledEv, Reason: reason}))
}

// note logs what a run did, for the coming commit.
func (t *tree) note(r *run, x checkpoint.NodeRun) {
	if t.journal != nil {
		x.Path, x.Node = r.path, r.node.Name
		t.log = append(t.log, x)
	}
}

func sortedKeys[V any](m map[string]V) []string {
	if len(m) == 0 {
		return nil
	}
	return appendSorted(make([]string, 0, len(m)), m)
}

func appendSorted[V any](keys []string, m map[string]V) []string {
	for key := range m {
		keys = append(keys, key)
	}
	sort.Strings(keys)
	return keys
}
