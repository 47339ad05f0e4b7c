package engine

import (
	"context"
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// Graph is a workflow as the engine runs it: made by package workflow, immutable, shared by all its threads.
type Graph struct {
	Name           string
	Fingerprint    string
	Start          []string
	Nodes          []*Node                    // in file order, which is also the order of the frontier
	Channels       map[string]Reducer         // how state keys are merged; a key that is missing is Replace
	Keys           []string                   // all state keys there are, beside those of an input that takes any; nil: unknown
	Inputs         map[string]Input           // what the input keys among them must be; nil: anything
	Output         func(Scope) (Value, error) // result of a finished run; nil: all state keys
	MaxConcurrency int                        // node runs at a time, those of nested workflows included; 0 is 8, and nested no limit of its own
	StepLimit      int                        // super-steps a call; 0 is 1000. That of the root counts.

	derived atomic.Pointer[plan]
}

// Input is what a workflow says of one key of its input.
type Input struct {
	Required bool                       // without a default
	Default  *Value                     // what it is where none is given; nil: null
	Take     func(Value) (Value, error) // checks a value, and makes it what the schema wants
}

// Reducer says how the updates of one channel are merged.
type Reducer string

// The reducers.
const (
	Replace Reducer = "replace" // two writers in one step are an error that names both
	Append  Reducer = "append"  // a list is added item by item, anything else as one item
	Add     Reducer = "add"
	Merge   Reducer = "merge"
	Union   Reducer = "union"
	Last    Reducer = "last" // the later in frontier order wins
)

// Join says when a node with several predecessors runs.
type Join string

// The joins; JoinEach is the default.
const (
	JoinEach    Join = "each"    // once per trigger
	JoinAll     Join = "all"     // once, when every predecessor has arrived since it last fired
	JoinArrived Join = "arrived" // once, when each has arrived or can no longer arrive
	JoinStep    Join = "step"    // once for all triggers of one super-step
)

// Node is one node of a graph. A node does its work by Runner, or is a nested workflow (Sub) or a map (Map).
type Node struct {
	Name   string
	Kind   string // as written in the file: exec, human, ...
	Runner Runner
	Sub    *SubGraph
	Map    *MapSpec

	// Output turns the run's output into state updates, once it completes. nil: none. It sees the output as "output".
	Output func(scope Scope, output Value) (map[string]Value, error)

	// Failed makes the state updates of a run that takes its failure route: it failed, or was rejected or cancelled. It sees
	// as "output" what errors.NODE is going to be. nil: none.
	Failed func(scope Scope, trouble Value) (map[string]Value, error)

	Routes     map[string][]string // route, or action of the answer -> targets
	When       []Branch
	Then       []string // nil with HasThen: END
	HasThen    bool     // false: no default edge; the branch ends
	Failure    []string // nil with HasFailure: END
	HasFailure bool
	Join       Join

	RerunOnResume bool
	Retry         RetryPolicy
	Timeout       time.Duration // per attempt; 0 is none
}

// Branch is one conditional edge.
type Branch struct {
	If   func(scope Scope, output Value) (bool, error)
	Text string   // the condition as it is written, for people
	Then []string // nil: END
}

// Edge is one way out of a node. It leads to all of its targets at once.
type Edge struct {
	Kind  EdgeKind
	Label string   // the route; the condition as it is written
	To    []string // none: END
}

// EdgeKind says when an edge is taken.
type EdgeKind string

// The kinds of edges, in the order in which they are tried.
const (
	RouteEdge   EdgeKind = "route"   // by the route a program names, or the action of an answer
	WhenEdge    EdgeKind = "when"    // by the first condition that holds
	ThenEdge    EdgeKind = "then"    // else
	FailureEdge EdgeKind = "failure" // when the run failed, or was rejected or cancelled
)

// Edges are the ways out of the node, in a fixed order: routes by name, conditions as they are tried, the default, the
// failure route. A default that is not given is not among them.
func (n *Node) Edges() []Edge {
	all := make([]Edge, 0, len(n.Routes)+len(n.When)+2)
	for _, route := range sortedKeys(n.Routes) {
		all = append(all, Edge{RouteEdge, route, n.Routes[route]})
	}
	for _, b := range n.When {
		all = append(all, Edge{WhenEdge, b.Text, b.Then})
	}
	if n.HasThen || len(n.Then) > 0 {
		all = append(all, Edge{Kind: ThenEdge, To: n.Then})
	}
	if n.HasFailure || len(n.Failure) > 0 {
		all = append(all, Edge{Kind: FailureEdge, To: n.Failure})
	}
	return all
}

// SubGraph is a nested workflow: its frame has channels of its own, gets In and gives its Output.
type SubGraph struct {
	Graph *Graph
	In    func(Scope) (map[string]Value, error)
}

// MapSpec runs Body once for each item of a list, each in a frame of its own. The output is the list of their results, in
// the order of the items. An item that is rejected or cancelled just ends; one that fails fails the map, once those that
// run have come to rest, and where a failure route takes it. Further items begin while others wait for people.
type MapSpec struct {
	Items       func(Scope) (Value, error)
	As          string                                // what the item is called; "" is item
	Body        *Graph                                // its nodes see the state as it was when the map began, the item, "index", and keys of their own
	In          func(Scope) (map[string]Value, error) // for a body that is a workflow of its own; nil otherwise
	Result      func(Scope) (Value, error)            // of an item that ended; of a workflow of its own it sees "output". nil: the keys it wrote, or that output
	MaxParallel int                                   // items that run at a time; 0 is the workflow's MaxConcurrency
	MaxWaiting  int                                   // none begins while so many wait; 0 is 100, 1 ADK's rule
}

// RetryPolicy says how a failed attempt is repeated. The zero value is one attempt.
type RetryPolicy struct {
	MaxAttempts  int
	InitialDelay time.Duration
	Backoff      float64
	MaxDelay     time.Duration
	Jitter       float64 // share of the delay by which it varies, 0 to 1
}

// Scope is what templates, expressions and runners may read: state keys, and the names answers, errors, run, and in
// a map the item and index. A name nobody wrote is null, not an error: files are checked when they are loaded.
type Scope interface {
	Lookup(name string) (Value, bool)
}

// Runner does the work of a node. It must honour ctx. It keeps no state between calls: the same Runner serves all
// threads at once.
type Runner interface {
	Run(ctx context.Context, call *Call) (Result, error)
}

// RunnerFunc makes a Runner of a function.
type RunnerFunc func(ctx context.Context, call *Call) (Result, error)

// Run calls f.
func (f RunnerFunc) Run(ctx context.Context, call *Call) (Result, error) { return f(ctx, call) }

// Call is one attempt of one node run.
type Call struct {
	Thread          string
	Workflow        string
	Node            string
	Path            string // main@1/review@2
	Attempt         int    // from 1
	IdempotencyKey  string
	Workdir         string // folder in which the thread was started
	Scope           Scope
	Input           Value                   // output of the node before; of a join: predecessor -> output
	Resume          map[string]AnswerRecord // every answer this run ever got, by question key; only for RerunOnResume
	Feedback        map[string]AnswerRecord // the retry that began this run: by question key, of another node's question by address
	Discarded       map[string]AnswerRecord // what had been answered in the run that the retry took away, by question key
	PriorOutput     Value
	PriorInterrupts []string // keys still open
	Now             func() time.Time
	Emit            func(chunk []byte) // progress: a line of output; never blocks
	Sleep           func(ctx context.Context, d time.Duration) error
}

// AnswerRecord is an answer as workflows and programs see it.
type AnswerRecord struct {
	Action  actions.Action  `json:"action"`
	Value   json.RawMessage `json:"value"`
	Comment string          `json:"comment"`
	By      string          `json:"by"`
	At      time.Time       `json:"at"`

	// Own is the answer as the program that asked hears it, where its payload is of another system's shape; nil, it hears
	// this record. Workflows never see it.
	Own json.RawMessage `json:"own,omitempty"`
}

// Result is what an attempt gave. With Interrupts the run waits; its Updates are then held and merged when it
// completes.
type Result struct {
	Output     Value
	Route      string
	Updates    map[string]Value // state keys a program wrote itself, next to what Node.Output makes of the output
	Interrupts []Ask
	Closed     []string  // keys of questions it no longer needs
	WakeAt     time.Time // a durable timer: the run waits until then (wait nodes)
}

// Ask is one question a run asks.
type Ask struct {
	Key        string // unique in its run; "" for a human node's only question
	Payload    json.RawMessage
	ContentKey string // state key under review
	Timeout    time.Duration
}

// Permanent wraps an error that no retry can mend, such as a null in a template.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

type permanentError struct{ error }

func (e *permanentError) Unwrap() error { return e.error }

// RetryAfter wraps an error whose source asked not to be called again before d has passed, as the Retry-After header of
// HTTP does: the next attempt, where the retry policy grants one, waits at least that long, yet never longer than ten
// minutes or the policy's MaxDelay, whichever is more. A d of zero or less asks for nothing.
func RetryAfter(err error, d time.Duration) error {
	if err == nil || d <= 0 {
		return err
	}
	return &retryAfterError{err, d}
}

type retryAfterError struct {
	error
	after time.Duration
}

func (e *retryAfterError) Unwrap() error { return e.error }
