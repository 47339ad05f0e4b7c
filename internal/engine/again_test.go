package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// overtaken does something between the moment at which a resume has read the head and that at which it takes the lease.
type overtaken struct {
	checkpoint.Store
	do func()
}

func (s *overtaken) AcquireLease(ctx context.Context, r checkpoint.LeaseRequest) (*checkpoint.Lease, error) {
	if do := s.do; do != nil {
		s.do = nil
		do()
	}
	return s.Store.AcquireLease(ctx, r)
}

// threeWay asks three people side by side.
func threeWay() *Graph {
	g := graph(node("a", asks(plainQuestion)), node("b", asks(plainQuestion)), node("c", asks(plainQuestion)))
	g.Start = []string{"a", "b", "c"}
	return g
}

// TestAnOpenQuestionMayBeAnsweredWhileTheThreadMovesOn: an answer that names no version is for its question, however often
// the head moves meanwhile; one that names a version is for that; and none is ever for another question.
func TestAnOpenQuestionMayBeAnsweredWhileTheThreadMovesOn(t *testing.T) {
	loop := func() *Graph { return graph(node("again", asks(plainQuestion), "again")) }
	agent := func() *Graph {
		n := hears("a", new([]heard), false, "x", "y")
		n.Routes = map[string][]string{"retry": {"b"}}
		n.Then = []string{"b"}
		return graph(n, node("b", asks(plainQuestion)))
	}
	for name, c := range map[string]struct {
		build    func() *Graph
		answer   Answer
		versions bool
		meantime []Answer // one after the other, each under the next attempt
		want     error    // nil: accepted
	}{
		"another question":          {threeWay, to("a", "approve"), false, []Answer{to("b", "approve")}, nil},
		"two others":                {threeWay, to("a", "approve"), false, []Answer{to("b", "approve"), to("c", "approve")}, nil},
		"another, with a version":   {threeWay, to("a", "approve"), true, []Answer{to("b", "approve")}, checkpoint.ErrConflict},
		"the same":                  {threeWay, to("a", "approve"), false, []Answer{to("a", "approve")}, ErrAlreadyAnswered},
		"the same, asked again":     {loop, to("again", "approve"), false, []Answer{to("again", "approve")}, ErrAlreadyAnswered},
		"the only one, asked again": {loop, say("approve"), false, []Answer{say("approve")}, ErrAlreadyAnswered},
		"withdrawn":                 {agent, to("a.x", "approve"), false, []Answer{to("a.y", "retry")}, checkpoint.ErrConflict},
		"the thread is stopped":     {threeWay, to("a", "approve"), false, []Answer{to("b", "stop")}, ErrNotWaiting},
	} {
		t.Run(name, func(t *testing.T) {
			eachStore(t, func(t *testing.T, w *world) {
				out := w.start(c.build(), nil)
				store := &overtaken{Store: w.store}
				var next func()
				next = func() {
					if len(c.meantime) > 0 {
						w.answer(out.Thread, c.meantime[0])
						c.meantime = c.meantime[1:]
						store.do = next
					}
				}
				store.do = next
				meantime := c.meantime
				defer func() { c.meantime = meantime }()
				r := ResumeRequest{Thread: out.Thread, Answers: []Answer{c.answer}, By: "bob"}
				if c.versions {
					r.IfVersion = &out.Version
				}
				_, err := New(store, w.o).Resume(t.Context(), r)
				if !errors.Is(err, c.want) {
					t.Errorf("%v, want %v", err, c.want)
				}
				bobs := 0
				for d, err := range w.store.Decisions(t.Context(), out.Thread) {
					if err != nil {
						t.Fatal(err)
					}
					if d.Reviewer == "bob" {
						bobs++
					}
				}
				if accepted := bobs > 0; accepted != (c.want == nil) {
					t.Errorf("%d decisions of bob", bobs)
				}
			})
		})
	}
}

// held is a thread that somebody runs until let go.
func held(t *testing.T, w *world, then ...string) (thread string, letGo func()) {
	t.Helper()
	going, gate := make(chan struct{}), make(chan struct{})
	g := graph(node("a", asks(plainQuestion), "work"), node("b", asks(plainQuestion)),
		node("work", func(context.Context, *Call) (Result, error) { close(going); <-gate; return Result{}, nil }, then...),
		node("c", asks(plainQuestion)), node("bad", func(context.Context, *Call) (Result, error) { return Result{}, errors.New("boom") }))
	g.Start = []string{"a", "b"}
	out := w.start(g, nil)
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = w.engine(nil).Resume(context.Background(), ResumeRequest{Thread: out.Thread, Answers: []Answer{to("a", "approve")}})
	}()
	<-going
	letGo = func() {
		if gate != nil {
			close(gate)
			<-done
			gate = nil
		}
	}
	t.Cleanup(letGo)
	return out.Thread, letGo
}

// TestWait: an answer waits for a run in other hands, for so long as it may, and is then given to the question that it was
// for when it was given.
func TestWait(t *testing.T) {
	for name, c := range map[string]struct {
		then   []string
		answer Answer
		want   error
		status checkpoint.Status
	}{
		"a named question":          {nil, to("b", "approve"), nil, checkpoint.Done},
		"what is answered already":  {nil, to("a", "approve"), ErrAlreadyAnswered, ""},
		"one that is not asked yet": {[]string{"c"}, to("c", "approve"), nil, checkpoint.Interrupted},
		"one of several, unnamed":   {[]string{"c"}, say("approve"), ErrWhichQuestion, ""},
		"nothing but going on":      {[]string{"c"}, Answer{}, ErrNotWaiting, ""},
		"stop":                      {[]string{"c"}, to("b", "stop"), nil, checkpoint.Stopped},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			thread, letGo := held(t, w, c.then...)
			looks := 0
			e := w.engine(func(o *Options) {
				o.Sleep = func(ctx context.Context, d time.Duration) error {
					if looks++; looks == 3 {
						letGo()
					}
					return w.clock.sleep(ctx, d)
				}
			})
			r := ResumeRequest{Thread: thread, Answers: []Answer{c.answer}, By: "bob"}
			if _, err := e.Resume(t.Context(), r); !errors.Is(err, checkpoint.ErrLeased) && !errors.Is(err, ErrAlreadyAnswered) || looks > 0 {
				t.Fatalf("without waiting: %v after %d looks", err, looks)
			}
			r.Wait = time.Minute
			out, err := e.Resume(t.Context(), r)
			if !errors.Is(err, c.want) || err == nil && out.Status != c.status {
				t.Errorf("%+v, %v; want %v", out, err, c.want)
			}
		})
	}
	t.Run("for so long", func(t *testing.T) {
		w := newWorld(t)
		thread, _ := held(t, w)
		began := w.clock.now()
		_, err := w.engine(nil).Resume(t.Context(), ResumeRequest{Thread: thread, Answers: []Answer{to("b", "approve")}, Wait: 3 * time.Second})
		if took := w.clock.now().Sub(began); !errors.Is(err, checkpoint.ErrLeased) || took != 3*time.Second {
			t.Errorf("%v after %s", err, took)
		}
	})
	t.Run("until it is cancelled", func(t *testing.T) {
		w := newWorld(t)
		thread, _ := held(t, w)
		ctx, cancel := context.WithCancelCause(t.Context())
		e := w.engine(func(o *Options) {
			o.Sleep = func(ctx context.Context, _ time.Duration) error {
				cancel(ErrCancelledByPerson)
				return context.Cause(ctx)
			}
		})
		_, err := e.Resume(ctx, ResumeRequest{Thread: thread, CarryOn: true, Wait: time.Hour})
		if !errors.Is(err, ErrCancelledByPerson) {
			t.Errorf("%v", err)
		}
	})
}

// TestWaitOutlastsTheLeaseOfARunnerThatWasKilled, and then takes over.
func TestWaitOutlastsTheLeaseOfARunnerThatWasKilled(t *testing.T) {
	w := newWorld(t)
	var r ran
	out := w.start(gate(&r, passes), nil)
	func() {
		defer func() { _ = recover() }()
		e := w.engine(func(o *Options) { o.CrashPoint = func(point string) { panic(point) } })
		_, _ = e.Resume(context.Background(), ResumeRequest{Thread: out.Thread, Answers: []Answer{say("approve")}})
	}()
	done, err := w.Resume(t.Context(), ResumeRequest{Thread: out.Thread, Answers: []Answer{{}}, Wait: time.Minute})
	if err != nil || done.Status != checkpoint.Done || !strings.Contains(strings.Join(r.all(), " "), "work@1 last@1") {
		t.Errorf("%+v, %v; ran %v", done, err, r.all())
	}
}

// TestAnswersThatCannotGoTogetherAreNamed, by address, with what is in the way; and a name that is nearly one gets a hint.
func TestAnswersThatCannotGoTogetherAreNamed(t *testing.T) {
	for want, answers := range map[string][]Answer{
		"(approve of a, stop of b) withdraws the question c": {to("a", "approve"), to("b", "stop"), to("c", "approve")},
		"a is answered twice in one call":                    {to("a", "approve"), to("a", "approve")},
	} {
		w := newWorld(t)
		out := w.start(threeWay(), nil)
		_, err := w.Resume(t.Context(), ResumeRequest{Thread: out.Thread, Answers: answers})
		if !errors.Is(err, ErrInvalidRequest) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	w := newWorld(t)
	out := w.start(graph(node("agent", several("a", "b"))), nil)
	_, err := w.Resume(t.Context(), ResumeRequest{Thread: out.Thread, Answers: []Answer{to("agent/a", "approve")}})
	if err == nil || !strings.Contains(err.Error(), `did you mean "agent.a"?`) {
		t.Errorf("%v", err)
	}
}
