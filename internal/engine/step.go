package engine

import (
	"fmt"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// Status words of node runs, as checkpoints and events write them.
const (
	statusRunning   = "RUNNING"
	statusCompleted = "COMPLETED"
	statusWaiting   = "WAITING"
	statusFailed    = "FAILED"
	statusCancelled = "CANCELLED"
)

// completion is a run that ended in this step: with a result, or failed.
type completion struct {
	run       *run
	output    Value
	route     string
	own       map[string]Value // updates the run wrote itself
	noWrite   bool             // Node.Output is not asked
	fixed     []string         // targets that are already known; with isFixed
	isFixed   bool
	cancelled bool              // by its answer, rather than completed
	ends      checkpoint.Status // how it ends its frame: rejected or cancelled, and nobody catches it
	hold      bool              // no failure route mends its failure
	failure   *checkpoint.Failure
	attempts  int
	started   time.Time
	took      time.Duration

	updates map[string]Value
	merged  bool // updates are computed
	targets []string
}

// fail turns the completion into a failure of its run. One that had failed before, and fails again over what its failure
// route writes, stays where it is.
func (c *completion) fail(at time.Time, err error) {
	c.hold = c.hold || c.failure != nil
	c.merged, c.updates = false, nil
	c.failure = &checkpoint.Failure{Path: c.run.path, Node: c.run.node.Name, Message: err.Error(), Attempts: max(c.attempts, 1), At: at}
}

// absorb merges what runs of this frame did in one step, follows their edges and triggers what comes next. Whatever
// fails on the way, a conflict of two writers, an output expression, a condition, the workflow's output, fails its run
// before anything is applied, and the rest is worked out again without it.
func (f *frame) absorb(done []*completion) {
	m := &f.tree.merge
	for {
		m.begin(f)
		if m.all(done) && f.follow(done, m) && f.finish(done, m) {
			break
		}
	}
	f.apply(done, m)
}

// merge is the state after a step, before it is applied.
type merge struct {
	frame   *frame
	changed map[string]Value
	changes []change
	writers map[string]*completion
	keys    []string          // of one completion's updates
	errors  *Value            // the frame's, where the step changes them
	ends    checkpoint.Status // the frame ends so, whatever else was to come
}

// manyKeys is from how many on the maps of a merge are made anew, rather than emptied.
const manyKeys = 64

// begin makes m an empty merge for a frame.
func (m *merge) begin(f *frame) {
	m.frame, m.ends, m.errors = f, "", nil
	clear(m.changes)
	m.changes = m.changes[:0]
	if m.changed == nil || len(m.changed) > manyKeys {
		m.changed, m.writers = map[string]Value{}, map[string]*completion{}
		return
	}
	clear(m.changed)
	clear(m.writers)
}

// all merges the updates of every completion that leaves its node; false when one of them failed in doing so.
func (m *merge) all(done []*completion) bool {
	for _, c := range done {
		if c.held() {
			continue
		}
		if err := c.compute(m.frame); err != nil {
			c.fail(m.frame.tree.now(), err)
			return false
		}
		m.keys = appendSorted(m.keys[:0], c.updates)
		for _, key := range m.keys {
			if !m.update(c, key) {
				return false
			}
		}
	}
	return true
}

// compute asks Node.Output, or on the failure route Node.Failed, once, for the updates the completion makes.
func (c *completion) compute(f *frame) (err error) {
	defer caught(&err)
	if c.merged {
		return nil
	}
	c.merged = true
	if !c.succeeded() {
		return c.computeFailed(f)
	}
	c.updates = c.own
	if c.noWrite || c.run.node.Output == nil {
		return nil
	}
	made, err := c.run.node.Output(f, c.output)
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	if len(c.own) == 0 {
		c.updates = made
		return nil
	}
	c.updates = make(map[string]Value, len(c.own)+len(made))
	for key, v := range c.own {
		c.updates[key] = v
	}
	for key, v := range made {
		c.updates[key] = v
	}
	return nil
}

// computeFailed asks Node.Failed for the updates of a completion that takes its failure route.
func (c *completion) computeFailed(f *frame) error {
	n := c.run.node
	if n.Failed == nil || !n.HasFailure {
		return nil
	}
	trouble := f.refusalOf(c.run)
	if c.failure != nil {
		trouble = failureOf(c.failure)
	}
	made, err := n.Failed(f, trouble)
	if err != nil {
		return fmt.Errorf("failed: %w", err)
	}
	c.updates = made
	return nil
}

// update merges one key of one completion; false when that failed it.
func (m *merge) update(c *completion, key string) bool {
	f := m.frame
	if key == "" || key[0] == '@' {
		c.fail(f.tree.now(), fmt.Errorf("%q cannot be a state key", key))
		return false
	}
	kind := f.graph.Channels[key]
	if kind == "" {
		kind = Replace
	}
	if first := m.writers[key]; first != nil && kind == Replace {
		err := fmt.Errorf("%s and %s both wrote %q in one step; give the key a reducer (append, add, merge, union or last) or let one come after the other",
			first.run.node.Name, c.run.node.Name, key)
		first.fail(f.tree.now(), err)
		c.fail(f.tree.now(), err)
		return false
	}
	current, ok := m.changed[key]
	if !ok {
		current = f.state[key]
	}
	merged, op, operand, err := reducers[kind](current, c.updates[key])
	if err != nil {
		c.fail(f.tree.now(), fmt.Errorf("state key %q (%s): %w", key, kind, err))
		return false
	}
	m.changed[key], m.writers[key] = merged, c
	if f.tree.journal != nil {
		m.changes = append(m.changes, change{op, f.stateChannel(key), operand, f.home})
	}
	return true
}

// finish computes what the frame gives, if nothing would be left of it after this step.
func (f *frame) finish(done []*completion, m *merge) bool {
	last, status := f.lastOf(done)
	if last == nil {
		return true
	}
	out, err := f.result(overlay{f, m.changed, m.errors}, status)
	if err != nil {
		last.hold = true
		last.fail(f.tree.now(), err)
		return false
	}
	f.out, m.ends, f.why = out, last.ends, last.run.why
	return true
}

// lastOf is the completion with which the frame ends, and how; nil when it goes on.
func (f *frame) lastOf(done []*completion) (*completion, checkpoint.Status) {
	for _, c := range done {
		if c.ends != "" && c.failure == nil {
			return c, c.ends
		}
	}
	if f.live != len(done) || f.buffered > 0 || len(f.joining) > 0 || len(done) == 0 {
		return nil, ""
	}
	for _, c := range done {
		if len(c.targets) > 0 || c.held() {
			return nil, ""
		}
	}
	return done[len(done)-1], checkpoint.Done
}

// held reports whether the completion leaves its run behind, failed.
func (c *completion) held() bool { return c.failure != nil && (c.hold || !c.run.node.HasFailure) }

// result is what a frame gives that ends: a map item its Result, a workflow its Output, else all state keys.
func (f *frame) result(scope overlay, status checkpoint.Status) (v Value, err error) {
	defer caught(&err)
	if f.owner != nil && f.owner.isMap() {
		return f.owner.result(scope, status)
	}
	if status != checkpoint.Done {
		return Value{}, nil
	}
	return f.output(scope)
}

// output is what a finished workflow gives.
func (f *frame) output(scope overlay) (Value, error) {
	if f.graph.Output != nil {
		v, err := f.graph.Output(scope)
		if err != nil {
			err = fmt.Errorf("output of the workflow: %w", err)
		}
		return v, err
	}
	return f.written(scope), nil
}

// written is all state keys.
func (f *frame) written(scope overlay) Value {
	all := make(map[string]any, len(f.state))
	for key, v := range f.state {
		all[key] = v.Any()
	}
	for key, v := range scope.changed {
		all[key] = v.Any()
	}
	return known(all)
}

// apply makes a step that was worked out true: state, runs, triggers.
func (f *frame) apply(done []*completion, m *merge) {
	for key, v := range m.changed {
		f.put(key, v)
	}
	for _, c := range m.changes {
		f.tree.journal.add(c)
	}
	for _, c := range done {
		f.retire(c)
	}
	f.tree.visit(f)
	if m.ends != "" {
		f.end(m.ends)
		return
	}
	for _, c := range done {
		f.pump(c.run.index)
	}
	var batch map[int]map[string]Value // of joins that take one step's triggers together
	for _, c := range done {
		for _, name := range c.targets {
			i := f.plan.index[name]
			switch f.plan.nodes[i].join {
			case JoinEach:
				f.enqueue(i, trigger{c.output, f.tree.epoch})
			case JoinStep:
				if batch == nil {
					batch = map[int]map[string]Value{}
				}
				if batch[i] == nil {
					batch[i] = map[string]Value{}
				}
				batch[i][c.run.node.Name] = c.output
			default:
				f.arrive(i, c.run.node.Name, c.output)
			}
		}
	}
	for i := range f.plan.nodes {
		if len(batch) == 0 {
			break
		}
		if outputs, ok := batch[i]; ok {
			f.enqueue(i, trigger{object(outputs), f.tree.epoch})
			delete(batch, i)
		}
	}
}

// retire takes a completed run away, or holds a failed one back.
func (f *frame) retire(c *completion) {
	r := c.run
	entry := checkpoint.NodeRun{
		Status: statusCompleted, Route: c.route, Attempts: c.attempts, Started: c.started, TookMS: c.took.Milliseconds(),
	}
	switch {
	case c.failure == nil:
		f.remove(r)
		f.tree.unlinkRun(r)
		if c.succeeded() {
			f.recovered(r.node.Name)
		}
		if c.cancelled {
			entry.Status = statusCancelled
		}
	default:
		entry.Status, entry.Error = statusFailed, c.failure.Message
		f.recordFailure(c.failure)
		if !c.held() {
			f.remove(r)
			f.tree.unlinkRun(r)
			break
		}
		r.become(failed)
		r.failure, r.failures = c.failure, 0
		r.touch()
	}
	f.tree.note(r, entry)
	f.tree.tellEnd(c)
}
