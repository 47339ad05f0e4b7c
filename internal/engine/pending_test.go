package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/memory"
)

// tardy is a store that takes a second to keep a result, and writes down when it was asked to keep which.
type tardy struct {
	checkpoint.Store
	began time.Time
	mu    sync.Mutex
	asked []string
}

func (s *tardy) AddResult(ctx context.Context, thread, token string, r checkpoint.PendingResult) error {
	s.mu.Lock()
	s.asked = append(s.asked, fmt.Sprintf("%s %s", time.Since(s.began), strings.TrimPrefix(r.Path, rootPath+"/")))
	s.mu.Unlock()
	time.Sleep(time.Second)
	return s.Store.AddResult(ctx, thread, token, r)
}

// TestResultsThatEndTogetherAreStoredTogether: while one is being stored the others gather, and once the last has ended
// none is stored any more, for the commit holds them all.
func TestResultsThatEndTogetherAreStoredTogether(t *testing.T) {
	for _, x := range []struct {
		name string
		last time.Duration
		want []string
	}{
		{"a sibling runs on", 10 * time.Second, []string{"0s a@1", "1s b@1", "1s c@1"}},
		{"the last ends meanwhile", 900 * time.Millisecond, []string{"0s a@1"}},
		{"the last ends while they are stored", 1500 * time.Millisecond, []string{"0s a@1", "1s b@1", "1s c@1"}},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := &tardy{Store: memory.New(memory.Options{}), began: time.Now()}
				w := newWorldOn(t, store, newClock())
				after := func(d time.Duration) RunnerFunc {
					return func(ctx context.Context, _ *Call) (Result, error) { return Result{}, sleep(ctx, d) }
				}
				g := graph(node("fan", passes, "a", "b", "c", "d"), node("a", after(0)), node("b", after(time.Second/2)),
					node("c", after(time.Second/2)), node("d", after(x.last)))
				if out := w.start(g, nil); out.Status != checkpoint.Done {
					t.Fatal(out)
				}
				slices.Sort(store.asked)
				if diff := cmp.Diff(x.want, store.asked); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// TestAShutdownKeepsWhatHadFinished: also the result that waited to be stored with others, and that of the run which
// ended last, when a sibling was interrupted. Only that one is run again.
func TestAShutdownKeepsWhatHadFinished(t *testing.T) {
	for _, cause := range []error{errShutdown, ErrCancelledByPerson} {
		synctest.Test(t, func(t *testing.T) {
			var r ran
			store := &tardy{Store: memory.New(memory.Options{}), began: time.Now()}
			w := newWorldOn(t, store, newClock())
			ctx, end := context.WithCancelCause(t.Context())
			after := func(d time.Duration) RunnerFunc {
				return func(context.Context, *Call) (Result, error) { time.Sleep(d); return Result{}, nil }
			}
			g := graph(node("fan", passes, "a", "b", "c", "d"), node("a", noted(&r, after(0))),
				node("b", noted(&r, after(time.Second/2))), node("c", noted(&r, func(ctx context.Context, c *Call) (Result, error) {
					return Result{}, sleep(ctx, time.Hour)
				})), node("d", noted(&r, after(3*time.Second))))
			time.AfterFunc(700*time.Millisecond, func() { end(cause) })
			out, err := w.Start(ctx, w.request(g, nil))
			if err != nil || out.Status != checkpoint.Stalled {
				t.Fatal(err, out)
			}
			first := len(r.all())
			g.Nodes[3].Runner = RunnerFunc(noted(&r, passes))
			if out, err = w.Resume(t.Context(), ResumeRequest{Thread: out.Thread}); err != nil || out.Status != checkpoint.Done {
				t.Fatal(err, out)
			}
			if again := r.all()[first:]; !slices.Equal(again, []string{"c@1"}) {
				t.Errorf("%v: run again: %v", cause, again)
			}
		})
	}
}
