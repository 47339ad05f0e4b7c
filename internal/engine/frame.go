package engine

import (
	"slices"
	"strconv"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/question"
)

// frame is the scheduler state of one workflow run or map item: its channels, trigger buffers, join arrivals, waiting
// runs and counters. Slices are indexed by node, in graph order. A frame is changed by one goroutine, between
// executions; while runs execute it is only read, as their Scope.
type frame struct {
	tree    *tree
	owner   *nest  // nil at the root
	item    int    // of a map, from 0
	depth   int    // 0 at the root
	path    string // main@1, main@1/sub@1, main@1/each@1/[3]
	address string // "" at the root, else a prefix such as triage/2/
	graph   *Graph
	plan    *plan
	home    *home // nil at the root, whose channels stay

	state  map[string]Value
	counts []int
	runs   []*run // at most one a node: a node never has two runs at once
	live   int    // runs that are not nil
	ready  int    // runs of that status, here and in all frames below
	failed int
	nests  int // runs with frames at work

	buffers  [][]trigger // for nodes that are busy, oldest first
	buffered int
	arrivals []map[string]Value // of joins that have not fired: predecessor -> output
	joining  []int              // nodes with arrivals, in graph order

	answers map[string]Value // node -> latest answer
	errors  map[string]Value // node -> latest failure

	answersValue, errorsValue, runValue Value

	slots chan struct{} // of a nested workflow that limits its node runs at a time

	why     *refusal      // it ends, or ended, rejected or cancelled
	done    []*completion // runs that ended and are not absorbed yet
	visited bool          // due to be looked at by tree.close
	ended   checkpoint.Status
	out     Value // its result, once ended
}

// trigger is one reason to run a node.
type trigger struct {
	Input Value  `json:"input"`
	Epoch string `json:"epoch,omitempty"`
}

// link waits for a question to be asked again, which then takes the place of an earlier one.
type link struct {
	Previous checkpoint.Previous `json:"previous"`
	Round    int                 `json:"round"`
}

// runStatus is the part of a node run's status that outlives a step. RUNNING is a ready run in a step's hands;
// COMPLETED and CANCELLED runs are gone.
type runStatus string

const (
	ready   runStatus = "ready"
	waiting runStatus = "waiting"
	nested  runStatus = "nested" // its frames are at work
	failed  runStatus = "failed"
)

// run is one node run: a dispatch of a node, which keeps its number through answers and retries.
type run struct {
	frame  *frame
	index  int
	node   *Node
	n      int
	path   string
	status runStatus
	input  Value
	epoch  string // the decision or edit before it began, for idempotency keys

	failures int       // attempts that failed; they survive a pause
	since    time.Time // when it began to wait
	wake     time.Time // of a timer
	failure  *checkpoint.Failure

	output  Value            // held beside its questions
	route   string           // set before it asked
	updates map[string]Value // held beside its questions
	given   map[string]AnswerRecord
	were    map[string]answered // the questions of given

	feedback, discarded map[string]AnswerRecord // of the retry that began it
	asks                []*ask
	nest                *nest // its frames, while they are at work

	settled bool              // it completes without running: answered, woken, or its frames have ended
	refused bool              // and takes its failure route: rejected or cancelled
	ends    checkpoint.Status // and how its frame ends where there is none
	why     *refusal          // the answer that did it
	noWrite bool              // and Node.Output is left out: skipped, or a timer
	barrier bool              // a failed join: input holds the arrivals

	queued              bool // it is in tree.ready
	stored, dirty, gone bool // for the journal
}

// ask is one open question of a run.
type ask struct {
	checkpoint.Interrupt
	run    *run
	closed bool
	read   bool // seen holds the payload as a question
	seen   actions.Question
	shape  question.Shape

	stored, dirty bool // for the journal
}

func newFrame(t *tree, g *Graph, path, address string) (*frame, error) {
	p, err := g.plan()
	if err != nil {
		return nil, err
	}
	n := len(p.nodes)
	return &frame{
		tree: t, path: path, address: address, graph: g, plan: p,
		state: map[string]Value{}, counts: make([]int, n), runs: make([]*run, n), buffers: make([][]trigger, n),
		arrivals: make([]map[string]Value, n), answersValue: t.none, errorsValue: t.none,
	}, nil
}

// Lookup implements Scope over the state before the step.
func (f *frame) Lookup(name string) (Value, bool) {
	if v, ok := f.state[name]; ok {
		return v, true
	}
	if f.owner != nil && f.owner.open() {
		return f.owner.lookup(f, name)
	}
	switch name {
	case "answers":
		return f.answersValue, true
	case "errors":
		return f.errorsValue, true
	case "run":
		return f.runValue, true
	}
	return Value{}, false
}

// Now is the engine's clock, for expressions that ask for the time.
func (f *frame) Now() time.Time { return f.tree.now() }

// overlay is the scope over the state after a step that is not yet applied.
type overlay struct {
	*frame
	changed map[string]Value
	errors  *Value // without those of nodes that now succeeded; nil: as they are
}

// Lookup implements Scope.
func (o overlay) Lookup(name string) (Value, bool) {
	if v, ok := o.changed[name]; ok {
		return v, true
	}
	if name == "errors" && o.errors != nil {
		if o.owner != nil && o.owner.open() {
			return o.owner.both(*o.errors, name), true
		}
		return *o.errors, true
	}
	return o.frame.Lookup(name)
}

// dispatch gives a node its next run.
func (f *frame) dispatch(i int, t trigger) *run {
	f.counts[i]++
	r := &run{frame: f, index: i, node: f.plan.nodes[i].Node, n: f.counts[i], input: t.Input, epoch: t.Epoch}
	r.path = f.path + "/" + r.node.Name + "@" + strconv.Itoa(r.n)
	f.add(r)
	f.tree.journal.counted(f, i)
	r.makeReady()
	return r
}

func (f *frame) add(r *run) {
	f.runs[r.index] = r
	f.live++
}

// makeReady puts r into the coming frontier.
func (r *run) makeReady() {
	r.become(ready)
	r.queue()
	r.touch()
}

func (r *run) queue() {
	r.queued = true
	r.frame.tree.ready = append(r.frame.tree.ready, r)
}

// become changes the status of a run, and what the frames around it count.
func (r *run) become(s runStatus) {
	r.frame.count(r.status, -1)
	r.frame.count(s, 1)
	r.frame.tree.stood(r, r.status, -1)
	r.frame.tree.stood(r, s, 1)
	r.status = s
}

// count keeps the number of ready and of failed runs in the frame and in those around it, and how many frames of a nest
// have any.
func (f *frame) count(s runStatus, by int) {
	if s != ready && s != failed {
		return
	}
	for {
		n := &f.ready
		if s == failed {
			n = &f.failed
		}
		had := *n > 0
		*n += by
		if f.owner == nil {
			return
		}
		if has := *n > 0; has != had {
			f.owner.count(s, has)
		}
		f = f.owner.run.frame
	}
}

func (r *run) touch() { r.frame.tree.journal.touched(r) }

// remove takes a run away with its open questions.
func (f *frame) remove(r *run) {
	r.withdraw()
	if r.nest != nil {
		r.nest.drop()
	}
	r.gone = true
	f.runs[r.index] = nil
	f.live--
	r.unqueue()
	r.become("")
	r.touch()
	f.tree.visit(f)
}

// withdraw closes the run's open questions.
func (r *run) withdraw() {
	if len(r.asks) == 0 {
		return
	}
	for _, a := range r.asks {
		a.close()
	}
	r.asks = nil
	r.frame.tree.sweepAsks()
}

// unqueue takes r out of the coming frontier.
func (r *run) unqueue() {
	if r.queued {
		r.queued = false
		r.frame.tree.ready = slices.DeleteFunc(r.frame.tree.ready, func(x *run) bool { return x == r })
	}
}

// enqueue runs a node now, or as soon as it is free.
func (f *frame) enqueue(i int, t trigger) {
	if f.runs[i] == nil && len(f.buffers[i]) == 0 {
		f.dispatch(i, t)
		return
	}
	f.buffers[i] = append(f.buffers[i], t)
	f.buffered++
	f.tree.journal.bufferChanged(f, i)
}

// pump gives a free node its oldest buffered trigger.
func (f *frame) pump(i int) {
	if f.runs[i] != nil || len(f.buffers[i]) == 0 {
		return
	}
	t := f.buffers[i][0]
	f.buffers[i] = slices.Clone(f.buffers[i][1:])
	f.buffered--
	f.tree.journal.bufferChanged(f, i)
	f.dispatch(i, t)
}

// clearBuffer forgets a node's buffered triggers.
func (f *frame) clearBuffer(i int) {
	if len(f.buffers[i]) == 0 {
		return
	}
	f.buffered -= len(f.buffers[i])
	f.buffers[i] = nil
	f.tree.journal.bufferChanged(f, i)
}

// set writes a state key past its reducer, as a reviewer does.
func (f *frame) set(key string, v Value) {
	f.put(key, v)
	f.write(checkpoint.OpSet, f.stateChannel(key), v)
}

// put changes a state key. The maps that are at work here go on with what it was when they began.
func (f *frame) put(key string, v Value) {
	f.preserve(key, f.state[key])
	f.state[key] = v
}

// record keeps the latest answer of a node for the scope.
func (f *frame) record(node, key string, rec AnswerRecord) error {
	v, err := ValueOf(rec)
	if err != nil {
		return err
	}
	if key != "" {
		named := map[string]any{key: v.Any()}
		if old, ok := f.answers[node].Any().(map[string]any); ok {
			for k, x := range old {
				if k != key {
					named[k] = x
				}
			}
		}
		v = known(named)
	}
	f.preserve("answers", f.answersValue)
	if f.answers == nil {
		f.answers = map[string]Value{}
	}
	f.answers[node] = v
	f.answersValue = object(f.answers)
	f.write(checkpoint.OpMerge, f.channel("answers"), object(map[string]Value{node: v}))
	return nil
}

// object makes one Value of many.
func object(m map[string]Value) Value {
	plain := make(map[string]any, len(m))
	for key, v := range m {
		plain[key] = v.Any()
	}
	return known(plain)
}

// end ends the frame: nothing of it runs or waits any more.
func (f *frame) end(status checkpoint.Status) {
	for _, r := range f.runs {
		if r != nil {
			f.tree.cancelled(r, ReasonEnded)
			f.remove(r)
		}
	}
	for i := range f.buffers {
		f.clearBuffer(i)
	}
	for _, i := range slices.Clone(f.joining) {
		f.clearArrivals(i)
	}
	f.ended = status
	f.tree.visit(f)
}

// over reports whether nothing is left of the frame.
func (f *frame) over() bool { return f.ended != "" || (!f.busy() && len(f.joining) == 0) }

// begin triggers the start nodes.
func (f *frame) begin(in Value) {
	for _, i := range f.plan.start {
		switch f.plan.nodes[i].join {
		case JoinEach, JoinStep:
			f.enqueue(i, trigger{in, f.tree.epoch})
		default:
			f.arrive(i, startName, in)
		}
	}
}

// running reports whether anything in the frame can still go on by itself, by an answer or by being tried again.
func (f *frame) busy() bool { return f.live > 0 || f.buffered > 0 }
