package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// life is one call of the engine as it goes when nothing disturbs it. Each is then disturbed at each of its store calls.
type life struct {
	name   string
	thread string                                     // that the call is about
	begin  func(w *world, r *ran)                     // what is there before it
	call   func(ctx context.Context, e *Engine) error // gives the call's error; its outcome goes to out
	shrugs bool                                       // it leaves a thread to whoever was faster
	done   func(before, now *Outcome) bool            // whether its effect is there; nil: the head has moved
}

// stage is a world with a life in it.
type stage struct {
	*world
	life
	ran    ran
	before *Outcome // nil: there was no thread
	whole  []any    // everything that is stored of it
	out    *Outcome
}

// resumes is a call that answers.
func (s *stage) resumes(answers ...Answer) func(context.Context, *Engine) error {
	return func(ctx context.Context, e *Engine) (err error) {
		s.out, err = e.Resume(ctx, ResumeRequest{Thread: s.thread, Answers: answers, By: "ana"})
		return err
	}
}

// starting begins a thread called t, whose graph asks or fails.
func (s *stage) starting(g *Graph) {
	s.thread = "t"
	request := s.request(g, map[string]any{"list": []string{"a", "b"}})
	request.Thread = s.thread
	if _, err := s.Start(context.Background(), request); err != nil {
		s.Fatal(err)
	}
}

// fan is ask -> a, b, c side by side -> join -> last, where b fails once.
func (s *stage) fan() *Graph {
	flaky := node("b", func(ctx context.Context, c *Call) (Result, error) {
		s.ran.note(c)
		if c.Attempt == 1 {
			return Result{}, errors.New("no luck")
		}
		return writes("b", 2)(ctx, c)
	}, "join")
	flaky.Retry = RetryPolicy{MaxAttempts: 2, InitialDelay: time.Second}
	join := node("join", noted(&s.ran, passes), "last")
	join.Join = JoinAll
	g := graph(node("ask", asks(plainQuestion), "a", "b", "c"), node("a", noted(&s.ran, writes("a", 1)), "join"), flaky,
		node("c", noted(&s.ran, writes("c", 3)), "join"), join, node("last", noted(&s.ran, writes("last", true))))
	g.MaxConcurrency = 1
	return g
}

// everyLife is all the ways in which the engine writes.
func everyLife() map[string]func(*stage) {
	return map[string]func(*stage){
		"start": func(s *stage) {
			s.thread = "t"
			request := s.request(s.fan(), nil)
			request.Thread = s.thread
			s.call = func(ctx context.Context, e *Engine) (err error) {
				s.out, err = e.Start(ctx, request)
				return err
			}
		},
		"answer": func(s *stage) {
			s.starting(gate(&s.ran, writes("work", 1)))
			s.call = s.resumes(say("approve"))
		},
		"answer with a response id": func(s *stage) {
			s.starting(gate(&s.ran, writes("work", 1)))
			a := say("approve")
			s.shrugs = true
			s.call = func(ctx context.Context, e *Engine) error {
				a.ResponseID = fmt.Sprintf("r%d", 1+len(s.outcomes(s.thread))/2) // one that was withdrawn is not taken again
				return s.resumes(a)(ctx, e)
			}
		},
		"fan-out": func(s *stage) {
			s.starting(s.fan())
			s.call = s.resumes(say("approve"))
		},
		"partial answer": func(s *stage) {
			s.starting(graph(node("ask", several("a", "b"), "last"), node("last", noted(&s.ran, passes))))
			s.call = s.resumes(to("ask.a", "approve"))
		},
		"several answers": func(s *stage) {
			s.starting(graph(node("split", passes, "x", "y"), node("x", asks(plainQuestion), "last"), node("y", several("a", "b"), "last"),
				node("last", noted(&s.ran, passes))))
			s.call = s.resumes(to("x", "approve"), to("y.a", "respond", "1"), to("y.b", "respond", "2"))
		},
		"nested map": func(s *stage) {
			s.starting(reviewed(&s.ran))
			s.call = s.resumes(to("sub/each/1/item/review", "approve"))
		},
		"retry that supersedes": func(s *stage) {
			review := node("review", asks(plainQuestion))
			review.Routes = map[string][]string{"retry": {"draft"}}
			s.starting(graph(node("draft", noted(&s.ran, writes("draft", 1)), "review"), review))
			s.call = s.resumes(say("retry", "again"))
		},
		"stop": func(s *stage) {
			s.starting(gate(&s.ran, passes))
			s.call = s.resumes(say("stop"))
		},
		"carry on what failed": func(s *stage) {
			s.starting(graph(node("a", noted(&s.ran, passes)), node("f", fails)).starting("a", "f"))
			s.call = s.resumes()
		},
		"timer": func(s *stage) {
			s.starting(graph(node("wait", sleeps, "last"), node("last", noted(&s.ran, passes))))
			s.clock.advance(time.Hour)
			s.call, s.shrugs = s.sweeps, true
		},
		"deadline": func(s *stage) {
			s.starting(graph(node("ask", timed(time.Hour, "respond", "nobody"), "last"), node("last", noted(&s.ran, passes))))
			s.clock.advance(time.Hour)
			s.call, s.shrugs = s.sweeps, true
		},
		"overdue": func(s *stage) {
			s.starting(graph(node("ask", timed(time.Hour, "", nil))))
			s.clock.advance(time.Hour)
			s.call, s.shrugs = s.sweeps, true
		},
		"edit": func(s *stage) {
			s.starting(graph(inside("sub", graph(node("ask", asks(plainQuestion))), nil)))
			s.call = func(ctx context.Context, e *Engine) (err error) {
				s.out, err = e.Edit(ctx, EditRequest{Thread: s.thread, Frame: "sub", Updates: map[string]json.RawMessage{"x": js(1)}, By: "ana"})
				return err
			}
		},
		"upgrade": func(s *stage) {
			s.starting(gate(&s.ran, writes("work", 1)))
			next := s.shelf.put(gate(&s.ran, writes("work", 2)))
			s.call = func(ctx context.Context, e *Engine) (err error) {
				s.out, err = e.Resume(ctx, ResumeRequest{Thread: s.thread, Answers: []Answer{say("approve")}, Upgrade: &next, By: "ana"})
				return err
			}
			s.done = func(_, now *Outcome) bool { return now.Status == checkpoint.Done }
		},
		"fork": func(s *stage) {
			s.starting(reviewed(&s.ran))
			s.thread = "fork"
			s.call = func(ctx context.Context, e *Engine) (err error) {
				s.out, err = e.Fork(ctx, "t", 3, "fork", "ana")
				return err
			}
		},
	}
}

func (s *stage) sweeps(ctx context.Context, e *Engine) error {
	all, err := e.Sweep(ctx, false, nil)
	if len(all) > 0 {
		s.out = &all[0]
	}
	return err
}

// starting gives a graph other start nodes.
func (g *Graph) starting(names ...string) *Graph {
	g.Start = names
	return g
}
