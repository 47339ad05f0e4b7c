package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

func newStage(t *testing.T, set func(*stage)) *stage {
	s := &stage{world: newWorld(t)}
	set(s)
	var err error
	if s.before, err = s.Open(context.Background(), s.thread); err != nil && !errors.Is(err, checkpoint.ErrNotFound) {
		t.Fatal(err)
	}
	s.whole = s.stored()
	return s
}

// stored is everything the store holds of the thread, but for the number of its decisions and of its last change.
func (s *stage) stored() []any {
	c, err := s.store.Latest(context.Background(), s.thread)
	if errors.Is(err, checkpoint.ErrNotFound) {
		return nil
	}
	info, err2 := s.store.Thread(context.Background(), s.thread)
	if err != nil || err2 != nil {
		s.Fatal(err, err2)
	}
	row := *info
	row.Seq, row.Updated, row.Decisions, row.DecisionHash = 0, time.Time{}, 0, ""
	return []any{c, row}
}

// disturbed is what a disturbance does to the call of that number.
type disturbed func(s *stage, cancel context.CancelCauseFunc, n int, call string, do func() error) error

// act makes the life's call over a disturbed store, and gives the store calls and calls of programs that there were.
func (s *stage) act(at int, d disturbed) (calls []string, err error) {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	var mu sync.Mutex
	on := func(call string, do func() error) error {
		mu.Lock()
		defer mu.Unlock()
		calls = append(calls, call)
		if d == nil || len(calls) < at {
			return do()
		}
		return d(s, cancel, len(calls)-at, call, do)
	}
	s.ran.on = func() { _ = on("program", func() error { return nil }) }
	err = s.call(ctx, New(&tap{Store: s.store, on: on}, s.o))
	s.ran.on = nil
	return calls, err
}

// isWrite reports whether a call of the store changes it.
func isWrite(call string) bool {
	return slices.Contains([]string{"Commit", "AcquireLease", "ReleaseLease", "AddResult", "PutDefinition"}, call)
}

// everywhere disturbs every life at every store call and every call of a program, one after the other, and has judge look at what is left. In the
// end, whatever happened, the thread has to come to where it comes undisturbed.
func everywhere(t *testing.T, d disturbed, judge func(t *testing.T, s *stage, call string, err error)) {
	for name, set := range everyLife() {
		t.Run(name, func(t *testing.T) {
			plain := newStage(t, set)
			calls, err := plain.act(0, nil)
			if err != nil {
				t.Fatal(err)
			}
			for n, call := range calls {
				t.Run(fmt.Sprintf("%d %s", n+1, call), func(t *testing.T) {
					s := newStage(t, set)
					_, err := s.act(n+1, d)
					judge(t, s, call, err)
					s.finish(t)
					s.compare(t, plain)
				})
			}
		})
	}
}

// finish does what is left to do: once leases have run out a stalled thread is carried on, and what did not come to
// effect is asked for again.
func (s *stage) finish(t *testing.T) {
	t.Helper()
	s.clock.advance(time.Minute)
	completed := s.completed(t)
	calls := len(s.ran.all())
	for range 3 {
		now, err := s.Open(t.Context(), s.thread)
		switch {
		case err != nil && !errors.Is(err, checkpoint.ErrNotFound):
			t.Fatal(err)
		case err == nil && now.Status == checkpoint.Stalled && s.thread != "fork" && (s.before == nil || s.before.Status != checkpoint.Stalled):
			if _, err := s.Resume(t.Context(), ResumeRequest{Thread: s.thread}); err != nil {
				t.Fatalf("carrying on: %v", err)
			}
		case err != nil || !s.over(now):
			if err := s.call(t.Context(), s.Engine); err != nil {
				t.Fatalf("asking for it again: %v", err)
			}
		}
	}
	for _, path := range s.ran.all()[calls:] {
		if completed[path] {
			t.Errorf("%s was completed and ran again", path)
		}
	}
}

func (s *stage) over(now *Outcome) bool {
	if s.done != nil {
		return s.done(s.before, now)
	}
	return s.before == nil || now.Version != s.before.Version
}

// completed are the runs that a committed step completed.
func (s *stage) completed(t *testing.T) map[string]bool {
	t.Helper()
	paths := map[string]bool{}
	for c, err := range s.store.History(t.Context(), s.thread, false) {
		if errors.Is(err, checkpoint.ErrNotFound) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range c.Runs {
			if r.Status == statusCompleted {
				if paths[r.Path[len(rootPath)+1:]] {
					t.Errorf("%s was completed twice", r.Path)
				}
				paths[r.Path[len(rootPath)+1:]] = true
			}
		}
	}
	return paths
}

// compare holds a thread that was disturbed against one that was not.
func (s *stage) compare(t *testing.T, plain *stage) {
	t.Helper()
	now, err := s.Open(t.Context(), s.thread)
	if err != nil {
		t.Fatal(err)
	}
	if want, err := plain.Open(t.Context(), s.thread); err != nil || now.Status != want.Status || !slices.Equal(addressesOf(now), addressesOf(want)) {
		t.Errorf("it came to %s, open %v, instead of %s, open %v (%v)", now.Status, addressesOf(now), want.Status, addressesOf(want), err)
	}
	if diff := cmp.Diff(plain.state(s.thread), s.state(s.thread)); diff != "" {
		t.Errorf("the state is another (-undisturbed +disturbed):\n%s", diff)
	}
	if diff := cmp.Diff(plain.completed(t), s.completed(t)); diff != "" {
		t.Errorf("other runs were completed (-undisturbed +disturbed):\n%s", diff)
	}
	if diff := cmp.Diff(plain.standing(t), s.standing(t)); diff != "" {
		t.Errorf("other decisions stand (-undisturbed +disturbed):\n%s", diff)
	}
	info, err := s.store.Thread(t.Context(), s.thread)
	if err != nil || info.Lease != nil {
		t.Errorf("a lease is left: %v, %+v", err, info.Lease)
	}
	end := checkpoint.Chain{Count: info.Decisions, Last: info.DecisionHash}
	if err := checkpoint.VerifyChain(s.thread, s.store.Decisions(t.Context(), s.thread), end); err != nil {
		t.Error(err)
	}
}

// standing are the decisions that were not withdrawn, each with the number of steps that hold it.
func (s *stage) standing(t *testing.T) []string {
	t.Helper()
	held, gone := map[string]int{}, map[string]bool{}
	for c, err := range s.store.History(t.Context(), s.thread, false) {
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range c.Decisions {
			held[id]++
		}
	}
	for d, err := range s.store.Decisions(t.Context(), s.thread) {
		if err != nil {
			t.Fatal(err)
		}
		gone[d.Withdraws] = true
	}
	var all []string
	for d := range s.store.Decisions(t.Context(), s.thread) {
		if d.Outcome == checkpoint.Applied && !gone[d.ID] {
			all = append(all, fmt.Sprintf("%s %s by %s in %d", d.Address, d.Action, d.Reviewer, held[d.ID]))
		}
	}
	return all
}

// asItWas demands that the thread is exactly what it was before the call; rows of the record that cancel each other out
// may have been added.
func (s *stage) asItWas(t *testing.T) {
	t.Helper()
	if diff := cmp.Diff(s.whole, s.stored(), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("it is not as it was (-before +now):\n%s", diff)
	}
}

func (s *stage) moved(t *testing.T) bool {
	t.Helper()
	now, err := s.Open(t.Context(), s.thread)
	if errors.Is(err, checkpoint.ErrNotFound) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	return s.before == nil || now.Version != s.before.Version
}

// TestCancelledAtEveryStoreCall: a person cancels as each call of the store begins, and as it ends. If no step was
// committed the thread is exactly as it was; else it stays at a step, at rest or stalled, and carrying on ends it well.
func TestCancelledAtEveryStoreCall(t *testing.T) {
	for name, after := range map[string]bool{"as it begins": false, "as it ends": true} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, cancels(ErrCancelledByPerson, after), func(t *testing.T, s *stage, call string, err error) {
				if err != nil && !errors.Is(err, ErrCancelledByPerson) && !errors.Is(err, context.Canceled) {
					t.Errorf("the error is %v", err)
				}
				if !s.moved(t) {
					s.asItWas(t)
				}
			})
		})
	}
}

// TestShutDownAtEveryStoreCall: a shutdown keeps what was decided.
func TestShutDownAtEveryStoreCall(t *testing.T) {
	for name, after := range map[string]bool{"as it begins": false, "as it ends": true} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, cancels(errShutdown, after), func(t *testing.T, s *stage, call string, err error) {
				if err != nil && !errors.Is(err, errShutdown) && !errors.Is(err, context.Canceled) {
					t.Errorf("the error is %v", err)
				}
				if s.before == nil && !s.moved(t) {
					return
				}
				info, err := s.store.Thread(t.Context(), s.thread)
				if err != nil || info.Lease != nil && info.Lease.Live {
					t.Errorf("the lease is still held: %v, %+v", err, info.Lease)
				}
				for d := range s.store.Decisions(t.Context(), s.thread) {
					if d.Outcome == checkpoint.Withdrawn {
						t.Errorf("%s was withdrawn", d.Action)
					}
				}
			})
		})
	}
}

// cancels ends the context with a cause.
func cancels(cause error, after bool) disturbed {
	return func(_ *stage, cancel context.CancelCauseFunc, n int, _ string, do func() error) error {
		if n > 0 {
			return do()
		}
		if after {
			defer cancel(cause)
		} else {
			cancel(cause)
		}
		return do()
	}
}

// TestKilledAtEveryStoreCall: the process dies before each call of the store takes effect, and after.
func TestKilledAtEveryStoreCall(t *testing.T) {
	for name, after := range map[string]bool{"before": false, "after": true} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, func(_ *stage, _ context.CancelCauseFunc, n int, _ string, do func() error) error {
				if n == 0 && after {
					_ = do()
				}
				return errKilled
			}, func(*testing.T, *stage, string, error) {})
		})
	}
}

// errLost is what a client says whose connection broke: the server may have done what it was told, or not.
var errLost = errors.New("connection reset by peer")

// TestAPassingFaultAtEveryWrite: a connection that breaks before a write, or after it so that only its answer is lost, is
// nothing anybody has to know: the write is repeated, and finding it done already is success. A read that fails is an
// error that has changed nothing.
func TestAPassingFaultAtEveryWrite(t *testing.T) {
	for name, after := range map[string]bool{"before": false, "after": true} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, func(s *stage, _ context.CancelCauseFunc, n int, call string, do func() error) error {
				if n > 0 {
					return do()
				}
				if after {
					_ = do()
				}
				return errLost
			}, func(t *testing.T, s *stage, call string, err error) {
				if isWrite(call) && err != nil {
					t.Errorf("it was not repeated: %v", err)
				}
				if err != nil && !s.moved(t) {
					s.asItWas(t)
				}
			})
		})
	}
}

// TestALastingFaultFromEveryStoreCall: the store does nothing any more, from some call on, and is back later.
func TestALastingFaultFromEveryStoreCall(t *testing.T) {
	for name, after := range map[string]bool{"before": false, "after": true} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, func(_ *stage, _ context.CancelCauseFunc, n int, _ string, do func() error) error {
				if n == 0 && after {
					_ = do()
				}
				return errLost
			}, func(t *testing.T, s *stage, call string, err error) {
				if !errors.Is(err, errLost) && call != "program" {
					t.Errorf("the error is %v", err)
				}
			})
		})
	}
}

// TestAStoreThatCannotBeReached: the store has tried for as long as it is worth before it says so, and is not asked again by
// the same call: not to repeat the write, nor to give back a lease that runs out by itself.
func TestAStoreThatCannotBeReached(t *testing.T) {
	asked := map[string]int{} // of the stage that is on
	everywhere(t, func(_ *stage, _ context.CancelCauseFunc, n int, call string, do func() error) error {
		if n == 0 {
			clear(asked)
		}
		if call == "program" {
			return do()
		}
		asked[call]++
		return &checkpoint.UnreachableError{Store: "redis://cache.example", Err: errLost}
	}, func(t *testing.T, _ *stage, call string, err error) {
		if call != "program" && !errors.Is(err, checkpoint.ErrUnreachable) {
			t.Errorf("the error is %v", err)
		}
		for name, times := range asked {
			if times > 1 && name != "AddResult" && name != "Heartbeat" || name == "ReleaseLease" && call != name {
				t.Errorf("after %s failed %s was asked %d times", call, name, times)
			}
		}
	})
}

// TestAConflictAtEveryWrite: another process has been faster, which the store says and the engine does not doubt;
// an answer whose questions are still open is then checked against the new head.
func TestAConflictAtEveryWrite(t *testing.T) {
	everywhere(t, func(_ *stage, _ context.CancelCauseFunc, n int, call string, do func() error) error {
		if n > 0 || !isWrite(call) {
			return do()
		}
		return &checkpoint.ConflictError{Thread: "t", Reason: "somebody was faster"}
	}, func(t *testing.T, s *stage, call string, err error) {
		if call == "AcquireLease" && err == nil && s.moved(t) {
			return // nothing had been done, and the questions were still open
		}
		if isWrite(call) && call != "ReleaseLease" && !s.shrugs && !errors.Is(err, checkpoint.ErrConflict) {
			t.Errorf("the error is %v", err)
		}
	})
}
