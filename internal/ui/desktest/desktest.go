// Package desktest is a desk in memory for the tests of the screens: real enough that a decision waits for its grace
// time, can be taken back, is sent, meets conflicts and makes its thread rest again. It runs no workflow.
package desktest

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
)

// Desk is the fake. Make one with New, fill it with Add, and change it from outside with Elsewhere.
type Desk struct {
	T     testing.TB
	Grace time.Duration
	Now   func() time.Time
	Store desk.StoreInfo

	mu        sync.Mutex
	calls     map[string]int
	order     []string
	threads   map[string]*thread
	entries   []*desk.Entry
	drafts    map[string]desk.Draft
	decisions []desk.DecisionRow
	subs      []chan []desk.Event
	workflows []desk.Workflow
	pending   sync.WaitGroup
	hold      map[string]chan struct{}
	rules     []desk.RuleState
	rulesOff  bool
	serial    int
}

type thread struct {
	detail desk.Detail
	steps  []desk.Step
	states []map[string]json.RawMessage
	graph  *desk.Graph

	courtesy string // the question whose pane claimed it, "" without
}

// New makes an empty desk of the reviewer ana with a grace time of 5 s.
func New(t testing.TB) *Desk {
	return &Desk{
		T: t, Grace: 5 * time.Second, Now: time.Now,
		calls: map[string]int{}, threads: map[string]*thread{}, drafts: map[string]desk.Draft{}, hold: map[string]chan struct{}{},
		Store: desk.StoreInfo{URL: "sqlite:/home/ana/desk.db", Name: "desk.db"},
	}
}

// Calls is how often a method was called.
func (d *Desk) Calls(method string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.calls[method]
}

// enter counts a call and fails the test when it comes from Update or View, where nothing may be read or written;
// the caller unlocks.
func (d *Desk) enter(method string) {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := frames.Next()
		if strings.HasSuffix(f.Function, "ui.(*Model).Update") || strings.HasSuffix(f.Function, "ui.(*Model).View") {
			d.T.Errorf("desk.%s is called from %s", method, f.Function)
		}
		if !more {
			break
		}
	}
	d.mu.Lock()
	d.calls[method]++
}

// Add puts a thread with its open questions into the store.
func (d *Desk) Add(x desk.Detail) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if x.Revision == 0 {
		x.Revision = 1
	}
	if x.Status == "" {
		x.Status = "interrupted"
	}
	if x.Short == "" {
		x.Short = x.ID[max(0, len(x.ID)-4):]
	}
	version := fmt.Sprintf("%d.%d", x.Step, x.Revision)
	for i := range x.Questions {
		q := &x.Questions[i]
		q.Thread, q.Version, q.Workflow = x.ID, version, x.Workflow
		if q.ID == "" {
			q.ID = fmt.Sprintf("%s-q%d", x.ID, i+1)
		}
		if q.Choices == nil {
			q.Choices = Choices(actions.Allowed(q.Question), "publish")
		}
		if q.Round == 0 {
			q.Round = 1
		}
		if x.Title == "" {
			x.Title = q.Title
		}
	}
	x.Thread.Questions = len(x.Questions)
	if _, ok := d.threads[x.ID]; !ok {
		d.order = append(d.order, x.ID)
	}
	d.threads[x.ID] = &thread{detail: x}
}

// AddHistory gives a thread its steps, with the state at each.
func (d *Desk) AddHistory(id string, steps []desk.Step, states []map[string]json.RawMessage) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.threads[id].steps, d.threads[id].states = steps, states
}

// AddGraph gives a thread its graph.
func (d *Desk) AddGraph(id string, g *desk.Graph) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.threads[id].graph = g
}

// AddWorkflow makes one that can be started.
func (d *Desk) AddWorkflow(w desk.Workflow) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.workflows = append(d.workflows, w)
}

// Choices is the row of all fifteen actions with those allowed that are named; none named allows all.
func Choices(allowed []actions.Action, leads string) []desk.Choice {
	var out []desk.Choice
	for _, info := range actions.Table() {
		c := desk.Choice{Info: info, Allowed: len(allowed) == 0 || slices.Contains(allowed, info.Action), Leads: leads}
		if !c.Allowed {
			c.Why, c.Leads = "not allowed here", ""
		}
		switch info.Action {
		case actions.Reject:
			c.Leads = "END (rejected)"
		case actions.Stop:
			c.Leads = "END (stopped)"
		case actions.Retry, actions.Reply:
			c.Leads = "asks again"
		}
		out = append(out, c)
	}
	return out
}

// Elsewhere answers a thread's questions in another's name, as from another desk, and wakes the watchers.
func (d *Desk) Elsewhere(id string, action actions.Action, reviewer string) {
	d.mu.Lock()
	t := d.threads[id]
	d.record(t, desk.Decision{Thread: id, Action: string(action), Reviewer: reviewer, DecidedAt: d.Now()})
	d.rest(t, action)
	d.mu.Unlock()
	d.Wake(desk.Event{Kind: desk.StoreChanged, Thread: id})
}

// Ask lets a thread ask another question than it did, as after a retry elsewhere.
func (d *Desk) Ask(id, question, title string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.threads[id]
	t.detail.Questions = slices.Clone(t.detail.Questions)
	t.detail.Questions[0].ID, t.detail.Questions[0].Title = question, title
	d.notify(desk.Event{Kind: desk.StoreChanged, Thread: id})
}

// HoldRuns makes runs of the thread take until the returned function is called.
func (d *Desk) HoldRuns(id string) (release func()) {
	ch := make(chan struct{})
	d.mu.Lock()
	d.hold[id] = ch
	d.mu.Unlock()
	return sync.OnceFunc(func() { close(ch) })
}

// Wake sends events to all who subscribed.
func (d *Desk) Wake(events ...desk.Event) {
	d.mu.Lock()
	subs := slices.Clone(d.subs)
	d.mu.Unlock()
	for _, s := range subs {
		s <- events
	}
}

func (d *Desk) record(t *thread, x desk.Decision) {
	t.detail.Step++
	d.decisions = append(d.decisions, desk.DecisionRow{
		ID: "d" + strconv.Itoa(len(d.decisions)+1), Thread: x.Thread, N: int64(len(d.decisions) + 1), Action: x.Action, Data: x.Data,
		Reviewer: x.Reviewer, DecidedAt: x.DecidedAt, Outcome: "applied",
	})
}

func (d *Desk) rest(t *thread, action actions.Action) {
	t.detail.Questions, t.detail.Thread.Questions = nil, 0
	t.detail.Updated = d.Now()
	switch action {
	case actions.Reject:
		t.detail.Status = "rejected"
	case actions.Stop:
		t.detail.Status = "stopped"
	case actions.Cancel:
		t.detail.Status = "cancelled"
	default:
		t.detail.Status = "done"
	}
}

// Threads lists by tab, overdue and due first, then oldest first. The filter matches text in title and workflow.
func (d *Desk) Threads(ctx context.Context, q desk.Query) (desk.Page, error) {
	d.enter("Threads")
	defer d.mu.Unlock()
	if strings.HasPrefix(q.Filter, "bad:") {
		return desk.Page{}, fmt.Errorf("filter: unknown field %q; fields are status, node, workflow", "bad")
	}
	var all []desk.Thread
	for _, id := range d.order {
		t := d.threads[id].detail.Thread
		if inTab(q.Tab, t.Status) && (q.Filter == "" || strings.Contains(t.Title+" "+t.Workflow, q.Filter)) {
			all = append(all, t)
		}
	}
	slices.SortStableFunc(all, before)
	start, _ := strconv.Atoi(q.After)
	end := min(len(all), start+max(q.Limit, 1))
	p := desk.Page{Threads: all[min(start, len(all)):end]}
	if end < len(all) {
		p.Next = strconv.Itoa(end)
	}
	return p, nil
}

func before(a, b desk.Thread) int {
	switch {
	case a.Due.IsZero() && b.Due.IsZero():
		return a.WaitingSince.Compare(b.WaitingSince)
	case a.Due.IsZero():
		return 1
	case b.Due.IsZero():
		return -1
	}
	return a.Due.Compare(b.Due)
}

func inTab(tab desk.Tab, status string) bool {
	switch tab {
	case desk.Waiting:
		return status == "interrupted" || status == "sleeping"
	case desk.Running:
		return status == "running"
	case desk.Failed:
		return status == "failed" || status == "stalled"
	case desk.Finished:
		return status == "done" || status == "rejected" || status == "stopped" || status == "cancelled"
	}
	return true
}

// Complete offers three keys of a filter, and values of status.
func (d *Desk) Complete(_ context.Context, filter string, cursor int) []desk.Candidate {
	from := strings.LastIndex(filter[:cursor], " ") + 1
	word, words := filter[from:cursor], []string{"status:", "node:", "older:"}
	if rest, ok := strings.CutPrefix(word, "status:"); ok {
		from, word, words = from+len("status:"), rest, []string{"failed", "waiting"}
	}
	var out []desk.Candidate
	for _, w := range words {
		if strings.HasPrefix(w, word) && w != word {
			out = append(out, desk.Candidate{Insert: w, From: from, To: cursor})
		}
	}
	return out
}

// Counts counts.
func (d *Desk) Counts(ctx context.Context) (desk.Counts, error) {
	d.enter("Counts")
	defer d.mu.Unlock()
	c := desk.Counts{}
	for _, t := range d.threads {
		for _, tab := range []desk.Tab{desk.Waiting, desk.Running, desk.Failed, desk.Finished, desk.All} {
			if inTab(tab, t.detail.Status) {
				c[tab]++
			}
		}
	}
	return c, nil
}

// Open reads one thread.
func (d *Desk) Open(ctx context.Context, id string) (*desk.Detail, error) {
	d.enter("Open")
	defer d.mu.Unlock()
	t, ok := d.threads[id]
	if !ok {
		return nil, fmt.Errorf("no thread %s", id)
	}
	x := t.detail
	x.Questions = slices.Clone(x.Questions)
	return &x, nil
}

// Workflows lists what AddWorkflow added.
func (d *Desk) Workflows(ctx context.Context) ([]desk.Workflow, error) {
	d.enter("Workflows")
	defer d.mu.Unlock()
	return slices.Clone(d.workflows), nil
}

// Start makes a running thread that never rests.
func (d *Desk) Start(ctx context.Context, s desk.StartRequest, background bool) (*desk.Result, error) {
	d.enter("Start")
	d.serial++
	id := fmt.Sprintf("started-%04d", d.serial)
	d.mu.Unlock()
	d.Add(desk.Detail{Thread: desk.Thread{ID: id, Workflow: s.File, Title: s.File, Status: "running", Created: d.Now(), Updated: d.Now()}})
	d.Wake(desk.Event{Kind: desk.StoreChanged, Thread: id})
	return &desk.Result{Thread: id, Workflow: s.File, Status: "running"}, nil
}

// Info describes the store.
func (d *Desk) Info(ctx context.Context) (desk.StoreInfo, error) {
	d.enter("Info")
	defer d.mu.Unlock()
	return d.Store, nil
}

// Subscribe yields what Wake sends.
func (d *Desk) Subscribe(ctx context.Context) <-chan []desk.Event {
	d.enter("Subscribe")
	defer d.mu.Unlock()
	ch := make(chan []desk.Event, 1024)
	d.subs = append(d.subs, ch)
	return ch
}

// Activity is of the decisions that AddDecisions added.
func (d *Desk) Activity(ctx context.Context, p desk.Period) (*desk.Activity, error) {
	d.enter("Activity")
	rows, waiting := slices.Clone(d.decisions), int64(0)
	for _, t := range d.threads {
		if inTab(desk.Waiting, t.detail.Status) {
			waiting++
		}
	}
	d.mu.Unlock()
	return desk.ActivityOf(p, d.Now(), waiting, rows), nil
}

// AddDecisions adds to the record, newest first.
func (d *Desk) AddDecisions(rows ...desk.DecisionRow) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.decisions = append(d.decisions, rows...)
}

// AddRule adds a rule that answers nothing by itself.
func (d *Desk) AddRule(r desk.RuleState) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.rules = append(d.rules, r)
}

// Rules lists what AddRule added.
func (d *Desk) Rules() ([]desk.RuleState, bool) {
	d.enter("Rules")
	defer d.mu.Unlock()
	return slices.Clone(d.rules), len(d.rules) > 0 && !d.rulesOff
}

// SetRules switches them.
func (d *Desk) SetRules(on bool) error {
	d.enter("SetRules")
	defer d.mu.Unlock()
	d.rulesOff = !on
	return nil
}

// Reveal implements ui.Desk: nothing is masked here. It sets a flag and reads nothing, so Update may call it.
func (d *Desk) Reveal(bool) {}

// Reviewer is ana.
func (d *Desk) Reviewer() string { return "ana" }
