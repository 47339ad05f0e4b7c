package engine

import (
	"slices"
	"strconv"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/question"
)

// frame is the scheduler state of one workflow run: its channels, trigger buffers, join arrivals, waiting runs and
// counters. Slices are indexed by node, in graph order. A frame is changed by one goroutine, between executions; while
// runs execute it is only read, as their Scope.
type frame struct {
	tree    *tree
	path    string // main@1
	address string // "" at the root, else a prefix such as triage/2/
	graph   *Graph
	plan    *plan

	state  map[string]Value
	counts []int
	runs   []*run // at most one a node: a node never has two runs at once
	live   int    // runs that are not nil

	buffers  [][]trigger // for nodes that are busy, oldest first
	buffered int
	arrivals []map[string]Value // of joins that have not fired: predecessor -> output
	joining  []int              // nodes with arrivals, in graph order

	answers map[string]Value // node -> latest answer
	errors  map[string]Value // node -> latest failure
	links   map[string]link  // question address in the frame -> the round before it

	answersValue, errorsValue, runValue Value
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
	asks    []*ask

	settled bool // it completes without running: answered, or woken
	refused bool // and takes its failure route: rejected or cancelled
	noWrite bool // and Node.Output is left out: skipped, or a timer
	barrier bool // a failed join: input holds the arrivals

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
}

func newFrame(t *tree, g *Graph, path string) (*frame, error) {
	p, err := g.plan()
	if err != nil {
		return nil, err
	}
	n := len(p.nodes)
	return &frame{
		tree: t, path: path, graph: g, plan: p,
		state: map[string]Value{}, counts: make([]int, n), runs: make([]*run, n), buffers: make([][]trigger, n),
		arrivals: make([]map[string]Value, n),
		answers:  map[string]Value{}, errors: map[string]Value{}, links: map[string]link{},
		answersValue: object(nil), errorsValue: object(nil),
	}, nil
}

// Lookup implements Scope over the state before the step.
func (f *frame) Lookup(name string) (Value, bool) {
	if v, ok := f.state[name]; ok {
		return v, true
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
}

// Lookup implements Scope.
func (o overlay) Lookup(name string) (Value, bool) {
	if v, ok := o.changed[name]; ok {
		return v, true
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
	r.status = ready
	r.frame.tree.ready = append(r.frame.tree.ready, r)
	r.touch()
}

func (r *run) touch() { r.frame.tree.journal.touched(r) }

// remove takes a run away with its open questions.
func (f *frame) remove(r *run) {
	for _, a := range r.asks {
		a.closed = true
	}
	if len(r.asks) > 0 {
		f.tree.sweepAsks()
	}
	r.asks = nil
	r.gone = true
	f.runs[r.index] = nil
	f.live--
	if r.status == ready {
		f.tree.ready = slices.DeleteFunc(f.tree.ready, func(x *run) bool { return x == r })
	}
	r.touch()
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
	f.state[key] = v
	f.tree.journal.add(change{checkpoint.OpSet, f.stateChannel(key), v})
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
	f.answers[node] = v
	f.answersValue = object(f.answers)
	f.tree.journal.add(change{checkpoint.OpMerge, f.channel("answers"), object(map[string]Value{node: v})})
	return nil
}

// recordFailure keeps the latest failure of a node for the scope.
func (f *frame) recordFailure(x *checkpoint.Failure) {
	v := known(map[string]any{"message": x.Message, "attempts": x.Attempts, "at": x.At.UTC().Format(time.RFC3339Nano)})
	f.errors[x.Node] = v
	f.errorsValue = object(f.errors)
	f.tree.journal.add(change{checkpoint.OpMerge, f.channel("errors"), object(map[string]Value{x.Node: v})})
}

// object makes one Value of many.
func object(m map[string]Value) Value {
	plain := make(map[string]any, len(m))
	for key, v := range m {
		plain[key] = v.Any()
	}
	return known(plain)
}

// running reports whether anything in the frame can still go on by itself, by an answer or by being tried again.
func (f *frame) busy() bool { return f.live > 0 || f.buffered > 0 }
