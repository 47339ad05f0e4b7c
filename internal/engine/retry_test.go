package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// failing fails its first n attempts.
func failing(n int, attempts *[]int, err error) RunnerFunc {
	return func(_ context.Context, c *Call) (Result, error) {
		*attempts = append(*attempts, c.Attempt)
		if len(*attempts) <= n {
			return Result{}, err
		}
		return Result{}, nil
	}
}

func TestRetries(t *testing.T) {
	policy := RetryPolicy{MaxAttempts: 3, InitialDelay: time.Second, Backoff: 2, MaxDelay: time.Minute, Jitter: 0.5}
	boom := errors.New("boom")
	for _, x := range []struct {
		name     string
		fails    int
		err      error
		attempts []int
		status   checkpoint.Status
		slept    time.Duration
	}{
		{"second succeeds", 1, boom, []int{1, 2}, checkpoint.Done, time.Second},
		{"third succeeds", 2, boom, []int{1, 2, 3}, checkpoint.Done, 3 * time.Second},
		{"exhausted", 9, boom, []int{1, 2, 3}, checkpoint.Failed, 3 * time.Second},
		{"permanent", 9, Permanent(boom), []int{1}, checkpoint.Failed, 0},
	} {
		t.Run(x.name, func(t *testing.T) {
			w := newWorld(t)
			var attempts []int
			n := node("a", failing(x.fails, &attempts, x.err))
			n.Retry = policy
			began := w.clock.now()
			out := w.start(graph(n), nil)
			if diff := cmp.Diff(x.attempts, attempts); diff != "" || out.Status != x.status {
				t.Errorf("%s %s", out.Status, diff)
			}
			if slept := w.clock.now().Sub(began); slept != x.slept {
				t.Errorf("slept %s, want %s", slept, x.slept)
			}
			if out.Error != nil && (out.Error.Message != "boom" || out.Error.Attempts != len(x.attempts)) {
				t.Errorf("%+v", out.Error)
			}
		})
	}
}

// TestAFailureAsksForAPause: what a failure asks for is the least that is waited, within reason.
func TestAFailureAsksForAPause(t *testing.T) {
	boom := errors.New("boom")
	for _, x := range []struct {
		name     string
		asks     time.Duration
		maxDelay time.Duration
		slept    time.Duration
	}{
		{"nothing", 0, time.Minute, 2 * time.Second},
		{"in the past", -time.Hour, time.Minute, 2 * time.Second},
		{"less than the policy", time.Second, time.Minute, 2 * time.Second},
		{"more", 7 * time.Second, time.Minute, 7 * time.Second},
		{"more than max_delay", 90 * time.Second, time.Minute, 90 * time.Second},
		{"a day", 24 * time.Hour, time.Minute, 10 * time.Minute},
		{"a day where the policy waits hours", 24 * time.Hour, 3 * time.Hour, 3 * time.Hour},
	} {
		t.Run(x.name, func(t *testing.T) {
			var attempts []int
			n := node("a", failing(1, &attempts, fmt.Errorf("wrapped: %w", RetryAfter(boom, x.asks))))
			n.Retry = RetryPolicy{MaxAttempts: 2, InitialDelay: 2 * time.Second, MaxDelay: x.maxDelay}
			var slept time.Duration
			e := New(nil, Options{Sleep: func(_ context.Context, d time.Duration) error { slept += d; return nil }})
			out, err := e.Start(t.Context(), StartRequest{Graph: graph(n)})
			if err != nil || out.Status != checkpoint.Done || slept != x.slept {
				t.Errorf("%+v, %v; slept %s, want %s", out, err, slept, x.slept)
			}
		})
	}
	if err := RetryAfter(boom, time.Hour); err.Error() != "boom" || !errors.Is(err, boom) || RetryAfter(nil, time.Hour) != nil {
		t.Errorf("%v", err)
	}
}

func TestDelayIsBoundedAndVaries(t *testing.T) {
	p := RetryPolicy{InitialDelay: time.Second, Backoff: 10, MaxDelay: time.Minute, Jitter: 0.2}
	for _, x := range []struct {
		n      int
		random float64
		want   time.Duration
	}{{1, 0, 800 * time.Millisecond}, {1, 1, 1200 * time.Millisecond}, {2, 0.5, 10 * time.Second}, {3, 0.5, time.Minute}, {400, 0.5, time.Minute}} {
		if got := p.delay(x.n, func() float64 { return x.random }); got != x.want {
			t.Errorf("after %d failures: %s, want %s", x.n, got, x.want)
		}
	}
}

// TestAttemptsSurviveAPause: the process that takes over goes on counting.
func TestAttemptsSurviveAPause(t *testing.T) {
	w := newWorld(t)
	var attempts []int
	n := node("a", failing(9, &attempts, errors.New("boom")))
	n.Retry = RetryPolicy{MaxAttempts: 3, InitialDelay: time.Second}
	ctx, cancel := context.WithCancel(t.Context())
	e := w.engine(func(o *Options) {
		o.Sleep = func(ctx context.Context, d time.Duration) error {
			cancel()
			return ctx.Err()
		}
	})
	out, err := e.Start(ctx, w.request(graph(n), nil))
	if err != nil || out.Status != checkpoint.Stalled {
		t.Fatalf("%v, %+v", err, out)
	}
	out, err = w.Resume(t.Context(), ResumeRequest{Thread: out.Thread})
	if err != nil || out.Status != checkpoint.Failed {
		t.Fatalf("%v, %+v", err, out)
	}
	if diff := cmp.Diff([]int{1, 2, 3}, attempts); diff != "" {
		t.Error(diff)
	}
}

func TestATimeoutIsPerAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var attempts int
		n := node("a", func(ctx context.Context, c *Call) (Result, error) {
			attempts++
			if c.Attempt == 1 {
				<-ctx.Done()
				return Result{}, ctx.Err()
			}
			return Result{}, nil
		})
		n.Timeout, n.Retry = time.Minute, RetryPolicy{MaxAttempts: 2}
		began := time.Now()
		out, err := New(nil, Options{}).Start(t.Context(), StartRequest{Graph: graph(n)})
		if err != nil || out.Status != checkpoint.Done || attempts != 2 || time.Since(began) != time.Minute {
			t.Errorf("%v, %+v, %d attempts in %s", err, out, attempts, time.Since(began))
		}
		n.Retry = RetryPolicy{}
		out, err = New(nil, Options{}).Start(t.Context(), StartRequest{Graph: graph(n)})
		if err != nil || out.Status != checkpoint.Failed || out.Error.Message != "timed out after 1m0s" {
			t.Errorf("%v, %+v", err, out)
		}
	})
}

func TestAPanicIsAFailure(t *testing.T) {
	w := newWorld(t)
	n := node("a", func(context.Context, *Call) (Result, error) { panic("nil map") })
	n.Retry.MaxAttempts = 5
	out := w.start(graph(n), nil)
	if out.Status != checkpoint.Failed || out.Error.Message != "panic: nil map" || out.Error.Attempts != 1 {
		t.Errorf("%+v", out.Error)
	}
	bad := func() bool { panic("nil map") }
	for name, change := range map[string]func(*Graph){
		"output": func(g *Graph) {
			g.Nodes[0].Output = func(Scope, Value) (map[string]Value, error) { return nil, fmt.Errorf("%v", bad()) }
		},
		"condition": func(g *Graph) {
			g.Nodes[0].When = []Branch{{If: func(Scope, Value) (bool, error) { return bad(), nil }}}
		},
		"workflow": func(g *Graph) { g.Output = func(Scope) (Value, error) { return Value{}, fmt.Errorf("%v", bad()) } },
	} {
		g := graph(node("a", passes))
		change(g)
		if out := w.start(g, nil); out.Status != checkpoint.Failed || !strings.Contains(out.Error.Message, "panic: nil map") {
			t.Errorf("%s: %s, %+v", name, out.Status, out.Error)
		}
	}
}

func TestAFailureTakesItsRouteOrHoldsBackItsBranch(t *testing.T) {
	for _, route := range []bool{false, true} {
		w := newWorld(t)
		var r ran
		broken := true
		bad := node("bad", noted(&r, func(context.Context, *Call) (Result, error) {
			if broken {
				return Result{}, errors.New("boom")
			}
			return Result{}, nil
		}), "next")
		if route {
			bad.Failure, bad.HasFailure = []string{"repair"}, true
		}
		g := graph(node("split", passes, "bad", "good"), bad, node("good", noted(&r, writes("good", 1))),
			node("next", noted(&r, passes)), node("repair", noted(&r, func(_ context.Context, c *Call) (Result, error) {
				all, _ := c.Scope.Lookup("errors")
				return Result{Updates: map[string]Value{"why": known(all.Any().(map[string]any)["bad"].(map[string]any)["message"])}}, nil
			})))
		out := w.start(g, nil)
		if route {
			if got := w.state(out.Thread)["why"]; out.Status != checkpoint.Done || got != `"boom"` {
				t.Errorf("with a route: %+v, %s", out, got)
			}
			continue
		}
		if out.Status != checkpoint.Failed || w.state(out.Thread)["good"] != "1" {
			t.Fatalf("without a route: %+v", out)
		}
		c, err := w.store.Latest(t.Context(), out.Thread)
		if err != nil || len(c.Next) != 1 || c.Next[0] != "bad" {
			t.Errorf("next is %v", c.Next)
		}
		broken = false
		if out, err := w.Resume(t.Context(), ResumeRequest{Thread: out.Thread}); err != nil || out.Status != checkpoint.Done {
			t.Errorf("carried on: %v, %+v", err, out)
		}
		last := r.all()[2:]
		if diff := cmp.Diff([]string{"bad@1", "next@1"}, last); diff != "" {
			t.Error(diff)
		}
	}
}

// TestMaxConcurrency: no more runs at a time than the workflow allows, and no fewer.
func TestMaxConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const branches, limit = 10, 3
		var now, most atomic.Int64
		first := node("split", passes)
		g := graph(first)
		g.MaxConcurrency = limit
		for i := range branches {
			name := fmt.Sprintf("b%d", i)
			first.Then = append(first.Then, name)
			g.Nodes = append(g.Nodes, node(name, func(context.Context, *Call) (Result, error) {
				most.Store(max(most.Load(), now.Add(1)))
				time.Sleep(time.Second)
				now.Add(-1)
				return Result{}, nil
			}))
		}
		began := time.Now()
		if _, err := New(nil, Options{}).Start(t.Context(), StartRequest{Graph: g}); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); most.Load() != limit || took != 4*time.Second {
			t.Errorf("%d at a time, in %s", most.Load(), took)
		}
	})
}

func TestTheStepLimitIsACallsOwn(t *testing.T) {
	w := newWorld(t)
	g := graph(node("loop", writes("n", 1)))
	g.Nodes[0].When = []Branch{{If: func(s Scope, _ Value) (bool, error) {
		n, _ := s.Lookup("n")
		return n.Any().(int) < 7, nil
	}, Then: []string{"loop"}}}
	g.Channels["n"], g.StepLimit = Add, 5
	out := w.start(g, nil)
	if out.Status != checkpoint.Stalled || out.Steps != 5 || out.Error == nil || !strings.Contains(out.Error.Message, "step limit") {
		t.Fatalf("%+v, %+v", out, out.Error)
	}
	row, err := w.store.Thread(t.Context(), out.Thread)
	if err != nil || row.Status != checkpoint.Stalled || row.Error != out.Error.Message {
		t.Errorf("%v, %+v", err, row)
	}
	if out, err := w.Resume(t.Context(), ResumeRequest{Thread: out.Thread}); err != nil || out.Status != checkpoint.Done || out.Steps != 2 {
		t.Errorf("carried on: %v, %+v", err, out)
	}
	if diff := cmp.Diff("7", w.state(out.Thread)["n"]); diff != "" {
		t.Error(diff)
	}
}

// TestTheCostOfAStepIsFlat: what a step writes does not grow with the steps done, nor with a list that grows.
func TestTheCostOfAStepIsFlat(t *testing.T) {
	w := newWorld(t)
	spy := &sizes{Store: w.store}
	e := New(spy, w.o)
	g := graph(node("loop", writes("list", strings.Repeat("x", 100))))
	g.Nodes[0].When = []Branch{{If: func(s Scope, _ Value) (bool, error) {
		list, _ := s.Lookup("list")
		return len(list.Any().([]any)) < 500, nil
	}, Then: []string{"loop"}}}
	g.Channels["list"] = Append
	out, err := e.Start(t.Context(), w.request(g, nil))
	if err != nil || out.Status != checkpoint.Done {
		t.Fatalf("%v, %+v", err, out)
	}
	if early, late := spy.bytes[10], spy.bytes[490]; late > early+20 {
		t.Errorf("step 10 wrote %d bytes, step 490 %d", early, late)
	}
}

// sizes counts the bytes of every commit.
type sizes struct {
	checkpoint.Store
	bytes []int
}

func (s *sizes) Commit(ctx context.Context, c checkpoint.Commit) (checkpoint.Version, error) {
	n := 0
	for _, op := range c.Ops {
		n += len(op.Channel) + len(op.Value)
	}
	s.bytes = append(s.bytes, n)
	return s.Store.Commit(ctx, c)
}

func TestBrokenGraphsAreRefused(t *testing.T) {
	for want, g := range map[string]*Graph{
		`leads to "nowhere"`:       graph(node("a", passes, "nowhere")),
		`leads to "a" twice`:       {Start: []string{"a"}, Nodes: []*Node{{Name: "a", Runner: RunnerFunc(passes), Routes: map[string][]string{"retry": {"a", "a"}}}}},
		"two nodes are named":      graph(node("a", passes), node("a", passes)),
		"no start node":            {Nodes: []*Node{node("a", passes)}},
		"exactly one of a runner":  graph(&Node{Name: "a"}),
		"unknown join":             graph(&Node{Name: "a", Runner: RunnerFunc(passes), Join: "some"}),
		"unknown reducer \"most\"": {Start: []string{"a"}, Nodes: []*Node{node("a", passes)}, Channels: map[string]Reducer{"x": "most"}},
	} {
		if err := g.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
		if _, err := New(nil, Options{}).Start(t.Context(), StartRequest{Graph: g}); err == nil {
			t.Errorf("%q was started", want)
		}
	}
}

func TestEngineKeysCannotBeWritten(t *testing.T) {
	w := newWorld(t)
	out := w.start(graph(node("a", writes("@epoch", 1))), nil)
	if out.Status != checkpoint.Failed || !strings.Contains(out.Error.Message, `"@epoch" cannot be a state key`) {
		t.Errorf("%+v", out.Error)
	}
	request := w.request(graph(node("a", passes)), nil)
	request.Input = map[string]json.RawMessage{"@thread": js(1)}
	if _, err := w.Start(t.Context(), request); err == nil {
		t.Error("an input may overwrite an engine channel")
	}
}

func TestThreadIDsThatNoTokenCouldNameAreRefused(t *testing.T) {
	w := newWorld(t)
	for id, ok := range map[string]bool{
		strings.Repeat("é", 100): true, "../../etc/passwd": true, "a b": true,
		strings.Repeat("é", 100) + "x": false, "a\nb": false, "a\x1b[2J": false, "a\xff": false, "  ": false,
	} {
		r := w.request(graph(node("a", passes)), nil)
		r.Thread = id
		out, err := w.Start(t.Context(), r)
		if (err == nil) != ok {
			t.Errorf("start %q: %v", id, err)
		}
		if !ok {
			continue
		}
		if _, err := w.Open(t.Context(), id); err != nil || out.Thread != id {
			t.Errorf("open %q: %v", id, err)
		}
		if _, err := w.Fork(t.Context(), id, 0, id+"\x00", "ana"); err == nil {
			t.Errorf("%q was forked as a thread that cannot be named", id)
		}
	}
	page, err := w.store.Threads(t.Context(), checkpoint.Query{})
	if err != nil || len(page.Threads) != 3 {
		t.Errorf("%v, %d threads", err, len(page.Threads))
	}
}

func TestValuesAreTheSameBeforeAndAfterTheStore(t *testing.T) {
	for _, x := range []struct {
		v    any
		json string
		any  any
	}{
		{nil, "null", nil}, {5.0, "5", 5}, {int64(7), "7", 7}, {uint8(3), "3", 3}, {1e300, "1e+300", 1e300},
		{"<&>", `"<&>"`, "<&>"}, {json.RawMessage(` { "a" : 1.50 } `), `{"a":1.50}`, map[string]any{"a": 1.5}},
		{[]string{"a"}, `["a"]`, []any{"a"}}, {json.Number("12"), "12", 12}, {map[string]any{"n": float32(2)}, `{"n":2}`, map[string]any{"n": 2}},
	} {
		v, err := ValueOf(x.v)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(v.JSON()); got != x.json {
			t.Errorf("%v: JSON %s, want %s", x.v, got, x.json)
		}
		if diff := cmp.Diff(x.any, v.Any()); diff != "" {
			t.Errorf("%v: %s", x.v, diff)
		}
		if diff := cmp.Diff(v.Any(), RawValue(v.JSON()).Any()); diff != "" {
			t.Errorf("%v changes by being stored: %s", x.v, diff)
		}
	}
	inf := 1e308
	if _, err := ValueOf([]any{inf * 10}); err == nil {
		t.Error("infinity is a value")
	}
}
