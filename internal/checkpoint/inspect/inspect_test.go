package inspect_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/inspect"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/memory"
)

// filled is a store of two threads of five steps, one a day.
func filled(t *testing.T, clock *checkpointtest.Clock) *memory.Store {
	t.Helper()
	s := memory.New(memory.Options{Now: clock.Now})
	t.Cleanup(func() { s.Close() })
	for step := range int64(5) {
		for _, thread := range []string{"left", "right"} {
			_, err := s.Put(t.Context(), checkpoint.Checkpoint{
				Thread: thread, Step: step, TS: clock.Now(), Next: []string{"a"}, Channels: checkpoint.Channels{"a": []byte(`"` + strings.Repeat("x", 100) + `"`)},
			}, nil)
			if err != nil {
				t.Fatal(err)
			}
		}
		clock.Advance(24 * time.Hour)
	}
	return s
}

func TestWhole(t *testing.T) {
	clock := checkpointtest.NewClock()
	s := filled(t, clock)
	var told []string
	r, err := inspect.Run(t.Context(), s, inspect.Options{States: true, Window: 36 * time.Hour,
		Progress: func(done, total int64) { told = append(told, fmt.Sprintf("%d of %d", done, total)) }})
	if err != nil {
		t.Fatal(err)
	}
	if r.Threads != 2 || r.Steps != 10 || len(r.Faults) > 0 || r.Window != 36*time.Hour {
		t.Errorf("%+v", r)
	}
	if each := r.Growth / 2; each < 100 || each > 200 {
		t.Errorf("%d bytes of one step of each thread are counted within the window", r.Growth)
	}
	if strings.Join(told, ", ") != "1 of 2, 2 of 2" {
		t.Error(told)
	}
	if r, err = inspect.Run(t.Context(), s, inspect.Options{Window: 1000 * time.Hour}); err != nil || r.Window != 120*time.Hour {
		t.Errorf("a store that is five days old was measured over %v (%v)", r.Window, err)
	}
}

// hurt is a store with something wrong in one place.
type hurt struct {
	checkpoint.Store
	thread func(*checkpoint.ThreadInfo)
	step   func(*checkpoint.Checkpoint) (*checkpoint.Checkpoint, error)
	medium []string
	list   error
}

func (h *hurt) Check(context.Context) ([]string, error) { return h.medium, nil }

func (h *hurt) Threads(ctx context.Context, q checkpoint.Query) (checkpoint.Page, error) {
	if h.list != nil {
		return checkpoint.Page{}, h.list
	}
	page, err := h.Store.Threads(ctx, q)
	for i := range page.Threads {
		if t := &page.Threads[i]; t.Thread == "left" && h.thread != nil {
			h.thread(t)
		}
	}
	return page, err
}

func (h *hurt) Thread(ctx context.Context, thread string) (*checkpoint.ThreadInfo, error) {
	t, err := h.Store.Thread(ctx, thread)
	if err == nil && thread == "left" && h.thread != nil {
		h.thread(t)
	}
	return t, err
}

func (h *hurt) History(ctx context.Context, thread string, withState bool) iter.Seq2[*checkpoint.Checkpoint, error] {
	return func(yield func(*checkpoint.Checkpoint, error) bool) {
		for c, err := range h.Store.History(ctx, thread, withState) {
			if thread == "left" && c != nil && h.step != nil {
				if c, err = h.step(c); c == nil && err == nil {
					continue
				}
			}
			if !yield(c, err) {
				return
			}
		}
	}
}

func TestFaultsAreNamed(t *testing.T) {
	type steps = func(*checkpoint.Checkpoint) (*checkpoint.Checkpoint, error)
	corrupt := &checkpoint.CorruptError{Thread: "left", Step: 2, Where: "state", Err: errors.New("cut off")}
	for name, c := range map[string]struct {
		hurt hurt
		want string
	}{
		"a step": {hurt{step: steps(func(c *checkpoint.Checkpoint) (*checkpoint.Checkpoint, error) {
			if c.Step == 2 {
				return nil, corrupt
			}
			return c, nil
		})}, "corrupt: thread left, step 2 (state): cut off"},
		"all steps": {hurt{step: steps(func(c *checkpoint.Checkpoint) (*checkpoint.Checkpoint, error) { return nil, corrupt })}, "step 2"},
		"the head": {hurt{step: steps(func(c *checkpoint.Checkpoint) (*checkpoint.Checkpoint, error) {
			if c.Step == 4 {
				return nil, nil
			}
			return c, nil
		})}, "its last step 4 is missing"},
		"the order": {hurt{step: steps(func(c *checkpoint.Checkpoint) (*checkpoint.Checkpoint, error) {
			if c.Step == 1 {
				c.Step = 3
			}
			return c, nil
		})}, "step 2 follows step 3"},
		"the revision":   {hurt{thread: func(t *checkpoint.ThreadInfo) { t.Revision = 7 }}, "has revision 1, its thread says 7"},
		"the chain":      {hurt{thread: func(t *checkpoint.ThreadInfo) { t.Decisions = 1 }}, "the thread counts 1 decisions, 0 are there"},
		"the definition": {hurt{thread: func(t *checkpoint.ThreadInfo) { t.Fingerprint = "abc" }}, "its definition abc is missing"},
		"the changed definition of an ended thread": {hurt{thread: func(t *checkpoint.ThreadInfo) { t.Fingerprint, t.Status = "changed", checkpoint.Done }},
			"the files of definition changed were changed"},
		"the medium": {hurt{medium: []string{"page 7 is torn"}}, "page 7 is torn"},
		"the list":   {hurt{list: fmt.Errorf("page 9: %w", checkpoint.ErrCorrupt)}, "cannot be looked at: page 9"},
	} {
		t.Run(name, func(t *testing.T) {
			h := c.hurt
			h.Store = filled(t, checkpointtest.NewClock())
			if err := h.Store.PutDefinition(t.Context(), checkpoint.Definition{Fingerprint: "changed"}); err != nil {
				t.Fatal(err)
			}
			r, err := inspect.Run(t.Context(), &h, inspect.Options{States: true})
			if err != nil || len(r.Faults) == 0 || len(r.Faults) > 6 || !strings.Contains(r.Faults[0].Text, c.want) {
				t.Fatalf("%+v, %v", r, err)
			}
			if onThread := name != "the medium" && name != "the list"; onThread && (r.Faults[0].Thread != "left" || r.Threads != 2) {
				t.Errorf("%+v", r)
			}
		})
	}
}
