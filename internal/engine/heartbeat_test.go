package engine

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/memory"
)

// TestHeartbeats: a program that takes a minute, in virtual time, under a lease of 15 s. Heartbeats that fail for less
// than the lease lasts are nothing; once it has run out, or is another's, the program ends and nothing is written.
func TestHeartbeats(t *testing.T) {
	lost := &checkpoint.ConflictError{Thread: "t", Reason: "the lease is another's"}
	for _, x := range []struct {
		name     string
		answer   func(beat int) error
		status   checkpoint.Status // "" for an error
		took     time.Duration
		becomes  error
		canceled bool
	}{
		{"all well", func(int) error { return nil }, checkpoint.Done, time.Minute, nil, false},
		{"nine in ten are lost", func(n int) error {
			if n%10 > 0 {
				return errLost
			}
			return nil
		}, checkpoint.Done, time.Minute, nil, false},
		{"none comes through", func(int) error { return errLost }, "", 15 * time.Second, errLost, true},
		{"another has it", func(n int) error {
			if n == 2 {
				return lost
			}
			return nil
		}, "", 10 * time.Second, checkpoint.ErrConflict, true},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorldOn(t, memory.New(memory.Options{}), newClock())
				w.o.Now, w.o.Sleep = nil, nil
				beats, canceled := 0, false
				e := New(&tap{Store: w.store, on: func(call string, do func() error) error {
					if call != "Heartbeat" {
						return do()
					}
					beats++
					if err := x.answer(beats); err != nil {
						return err
					}
					return do()
				}}, w.o)
				work := func(ctx context.Context, _ *Call) (Result, error) {
					err := sleep(ctx, time.Minute)
					canceled = err != nil
					return Result{}, err
				}
				began := time.Now()
				out, err := e.Start(t.Context(), w.request(graph(node("work", work)), nil))
				if took := time.Since(began); took != x.took || canceled != x.canceled {
					t.Errorf("after %s, cancelled %t; want %s, %t", took, canceled, x.took, x.canceled)
				}
				switch {
				case x.status == "":
					if !errors.Is(err, x.becomes) || !strings.Contains(err.Error(), "lease of thread") {
						t.Errorf("%v, %+v", err, out)
					}
				case err != nil || out.Status != x.status:
					t.Errorf("%v, %+v", err, out)
				}
			})
		})
	}
}

// TestALeaseOutlivesNoSleeper: the machine sleeps for longer than the lease lasts, and somebody takes over. Whoever wakes
// up hears at the next heartbeat that the lease is gone, long before the program is through, and writes nothing.
func TestALeaseOutlivesNoSleeper(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorldOn(t, memory.New(memory.Options{}), newClock())
		w.o.Now, w.o.Sleep = nil, nil
		asleep := true
		sleeper := New(&tap{Store: w.store, on: func(call string, do func() error) error {
			if call == "Heartbeat" && asleep {
				time.Sleep(20 * time.Second)
				asleep = false
			}
			return do()
		}}, w.o)
		var calls atomic.Int32
		g := graph(node("work", func(ctx context.Context, _ *Call) (Result, error) {
			if calls.Add(1) > 1 {
				return Result{Updates: map[string]Value{"by": text("the second")}}, nil
			}
			return Result{Updates: map[string]Value{"by": text("the first")}}, sleep(ctx, time.Hour)
		}))
		request := w.request(g, nil)
		request.Thread = "t"
		began, ended := time.Now(), make(chan error)
		go func() {
			_, err := sleeper.Start(context.Background(), request)
			ended <- err
		}()
		time.Sleep(21 * time.Second)
		if out, err := w.engine(nil).Resume(t.Context(), ResumeRequest{Thread: "t"}); err != nil || out.Status != checkpoint.Done {
			t.Errorf("taking over: %v, %+v", err, out)
		}
		if err := <-ended; !errors.Is(err, checkpoint.ErrConflict) || time.Since(began) > 30*time.Second {
			t.Errorf("the sleeper after %s: %v", time.Since(began), err)
		}
		if got := w.state("t")["by"]; got != `"the second"` {
			t.Errorf("written by %s", got)
		}
	})
}
