package engine

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// stuck is an observer that does not come back from its first event until it is let go.
type stuck struct {
	listener
	free chan struct{}
}

func (s *stuck) Observe(e Event) {
	<-s.free
	s.listener.Observe(e)
}

// TestABlockedObserverHoldsNothingUp: threads run to their end beside an observer that has not come back, what waits for
// it is bounded, and once it does come back it hears everything in order but for output and progress, whose number it is
// told where they would have stood.
func TestABlockedObserverHoldsNothingUp(t *testing.T) {
	const steps = 3000
	o := &stuck{free: make(chan struct{})}
	e := New(nil, Options{Observer: o})
	line := strings.Repeat("x", 1000)
	loop, left := node("loop", func(_ context.Context, c *Call) (Result, error) {
		for range 5 {
			c.Emit([]byte(line))
		}
		return Result{}, nil
	}), steps
	loop.When = []Branch{{Then: []string{"loop"}, If: func(Scope, Value) (bool, error) { left--; return left > 0, nil }}}
	g := graph(loop)
	g.StepLimit = 2 * steps
	for range 2 {
		left = steps
		if out, err := e.Start(t.Context(), StartRequest{Graph: g}); err != nil || out.Status != checkpoint.Done {
			t.Fatal(err, out)
		}
	}
	if e.out.load > maxLoad+eventLoad {
		t.Errorf("%d bytes wait", e.out.load)
	}
	close(o.free)
	if err := e.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	var seq int64
	seen := map[EventType]int{}
	for _, x := range o.events {
		seen[x.Type]++
		want := seq + 1
		if x.Type == Lost {
			want = seq + int64(x.Lost)
		}
		if x.Seq != want {
			t.Fatalf("event %d (%s, %d lost) follows %d", x.Seq, x.Type, x.Lost, seq)
		}
		seq = x.Seq
	}
	if want := int64(2 * (2 + steps*8)); seq != want {
		t.Errorf("%d events are told of, of %d", seq, want)
	}
	if seen[ThreadStarted] != 2 || seen[ThreadRested] != 2 {
		t.Errorf("of two threads: %v", seen)
	}
	if seen[Lost] == 0 || seen[NodeOutput] == 0 {
		t.Errorf("nothing was lost, or all output: %v", seen)
	}
}

// TestAnObserverThatNeverComesBackIsNotWaitedFor: neither by who prints a result after its events, nor at the end.
func TestAnObserverThatNeverComesBackIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &stuck{free: make(chan struct{})}
		e := New(nil, Options{Observer: o})
		if _, err := e.Start(t.Context(), StartRequest{Graph: graph(node("n", passes))}); err != nil {
			t.Fatal(err)
		}
		for what, wait := range map[string]func() error{"Heard": e.Heard, "Close": func() error { return e.Close(t.Context()) }} {
			if err := wait(); err == nil || !strings.Contains(err.Error(), "5 were not heard") {
				t.Errorf("%s: %v", what, err)
			}
		}
		close(o.free)
	})
}

// slow takes its time, but comes back.
type slow struct{ listener }

func (s *slow) Observe(e Event) {
	s.listener.Observe(e)
	sleep(context.Background(), patience*3/4)
}

func TestASlowObserverIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &slow{}
		e := New(nil, Options{Observer: o})
		if _, err := e.Start(t.Context(), StartRequest{Graph: graph(node("n", passes))}); err != nil {
			t.Fatal(err)
		}
		if err := e.Heard(); err != nil || len(o.events) != 5 {
			t.Errorf("%d events heard, %v", len(o.events), err)
		}
	})
}

// touchy panics at every start of a node.
type touchy struct{ listener }

func (o *touchy) Observe(e Event) {
	o.listener.Observe(e)
	if e.Type == NodeStarted {
		panic("no")
	}
}

func TestAnObserversPanicIsToldAtTheEnd(t *testing.T) {
	o := &touchy{}
	e := New(nil, Options{Observer: o})
	if _, err := e.Start(t.Context(), StartRequest{Graph: graph(node("a", passes, "b"), node("b", passes))}); err != nil {
		t.Fatal(err)
	}
	err := e.Close(t.Context())
	if err == nil || !strings.Contains(err.Error(), "panic in the observer, at node_started: no") || !strings.HasSuffix(err.Error(), "and 1 more") {
		t.Errorf("close: %v", err)
	}
	if len(o.events) != 8 {
		t.Errorf("%d events heard of 8", len(o.events))
	}
}
