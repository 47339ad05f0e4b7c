package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/codec"
)

// inFormat1 writes the head of a thread over, as the first version of the engine would have written it.
func (w *world) inFormat1(t *testing.T, thread string) {
	t.Helper()
	c, err := w.store.Latest(t.Context(), thread)
	if err != nil {
		t.Fatal(err)
	}
	if c.Interrupts, err = c.Questions(); err != nil {
		t.Fatal(err)
	}
	c.Open = 0
	for i := range c.Interrupts {
		c.Interrupts[i].Place = 0
	}
	for name := range c.Channels {
		if checkpoint.IsQuestion(name) {
			delete(c.Channels, name)
		}
	}
	w.format(t, c, 1)
}

// format puts a checkpoint with another format of the engine's channels.
func (w *world) format(t *testing.T, c *checkpoint.Checkpoint, format int) {
	t.Helper()
	var rec map[string]any
	if err := json.Unmarshal(c.Channels[threadChannel], &rec); err != nil {
		t.Fatal(err)
	}
	rec["format"] = format
	c.Channels[threadChannel] = encode(rec)
	if _, err := w.store.Put(t.Context(), *c, nil); err != nil {
		t.Fatal(err)
	}
}

// asked are the questions of a step as the store has them: how many in channels, and all of them.
func (w *world) asked(t *testing.T, thread string, step int64) (held int, all []checkpoint.Interrupt) {
	t.Helper()
	c, err := w.store.Get(t.Context(), thread, step)
	if err == nil {
		all, err = c.Questions()
	}
	if err != nil {
		t.Fatal(err)
	}
	for name := range c.Channels {
		if checkpoint.IsQuestion(name) {
			held++
		}
	}
	return held, all
}

// withoutPlace has questions of the two formats compared.
func withoutPlace(list []checkpoint.Interrupt) []checkpoint.Interrupt {
	list = slices.Clone(list)
	for i := range list {
		list[i].Place = 0
	}
	return list
}

// TestEarlierQuestions goes on with threads whose questions the first version kept in the records of steps: they are
// shown, answered, edited beside, forked, and the next step keeps them in channels.
func TestEarlierQuestions(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		g := graph(node("fan", passes, "one", "two"), node("one", asks(plainQuestion)), node("two", several("a", "b")))
		for name, goOn := range map[string]func(thread string) (*Outcome, error){
			"answer": func(thread string) (*Outcome, error) {
				return w.Resume(t.Context(), ResumeRequest{Thread: thread, Answers: []Answer{to("two.a", actions.Approve)}, By: "ana"})
			},
			"edit": func(thread string) (*Outcome, error) {
				return w.Edit(t.Context(), EditRequest{Thread: thread, Updates: map[string]json.RawMessage{"k": []byte("1")}, By: "ana"})
			},
			"fork": func(thread string) (*Outcome, error) {
				out, err := w.Open(t.Context(), thread)
				if err != nil {
					return nil, err
				}
				return w.Fork(t.Context(), thread, out.Version.Step, thread+"-fork", "ana")
			},
		} {
			asked := w.start(g, nil)
			step := asked.Version.Step
			w.inFormat1(t, asked.Thread)
			held, before := w.asked(t, asked.Thread, step)
			if held != 0 || len(before) != 3 {
				t.Fatalf("%s: %d in channels, %d in all", name, held, len(before))
			}
			open, err := w.Open(t.Context(), asked.Thread)
			if err != nil || !slices.Equal(addressesOf(open), []string{"one", "two.a", "two.b"}) {
				t.Fatalf("%s: %v, %+v", name, err, open)
			}
			out, err := goOn(asked.Thread)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			held, after := w.asked(t, out.Thread, out.Version.Step)
			if want := len(out.Questions); held != want || len(after) != want || want < 2 {
				t.Errorf("%s: of %d questions %d are in channels, %d in all", name, want, held, len(after))
			}
			if name == "edit" {
				if diff := cmp.Diff(before, withoutPlace(after)); diff != "" {
					t.Errorf("%s changes the questions:\n%s", name, diff)
				}
			}
			if held, again := w.asked(t, asked.Thread, step); held != 0 || cmp.Diff(before, again) != "" {
				t.Errorf("%s changes the step before", name)
			}
			for _, q := range out.Questions {
				if out, err = w.Resume(t.Context(), ResumeRequest{Thread: out.Thread, Answers: []Answer{to(q.Address, actions.Approve)}, By: "ana"}); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
			}
			if held, _ := w.asked(t, out.Thread, out.Version.Step); out.Status != checkpoint.Done || held != 0 {
				t.Errorf("%s ends %s with %d questions", name, out.Status, held)
			}
		}
	})
}

// TestNewerFormat refuses what a later version wrote, and calls it no damage.
func TestNewerFormat(t *testing.T) {
	w := newWorld(t)
	asked := w.start(graph(node("one", asks(plainQuestion))), nil)
	c, err := w.store.Latest(t.Context(), asked.Thread)
	if err != nil {
		t.Fatal(err)
	}
	w.format(t, c, formatVersion+1)
	_, err = w.Open(t.Context(), asked.Thread)
	if !errors.Is(err, checkpoint.ErrNewerSchema) || errors.Is(err, checkpoint.ErrCorrupt) || !strings.Contains(err.Error(), fmt.Sprint("its format is ", formatVersion+1)) {
		t.Error(err)
	}
}

// TestStepsWriteWhatChanged holds a loop beside many questions against one beside few: a step costs the same.
func TestStepsWriteWhatChanged(t *testing.T) {
	written := func(questions int) (bytes int) {
		store := &weighed{}
		w := newWorld(t)
		store.Store = w.store
		var keys []string
		for i := range questions {
			keys = append(keys, fmt.Sprintf("key%03d", i))
		}
		n := 0
		loop := node("loop", passes)
		loop.When = []Branch{{Then: []string{"loop"}, If: func(Scope, Value) (bool, error) { n++; return n < 20, nil }}}
		g := graph(node("fan", passes, "form", "loop"), node("form", several(keys...)), loop)
		if _, err := New(store, w.o).Start(t.Context(), w.request(g, nil)); err != nil {
			t.Fatal(err)
		}
		return store.last
	}
	if few, many := written(3), written(300); many > few+20 {
		t.Errorf("a step writes %d bytes beside 3 questions, %d beside 300", few, many)
	}
}

// weighed tells how many bytes the last commit was.
type weighed struct {
	checkpoint.Store
	last int
}

// Commit implements checkpoint.Store.
func (s *weighed) Commit(ctx context.Context, c checkpoint.Commit) (checkpoint.Version, error) {
	record, err := codec.EncodeRecord(&c.Checkpoint)
	if err != nil {
		return checkpoint.Version{}, err
	}
	s.last = len(record) + len(codec.EncodeOps(c.Ops))
	return s.Store.Commit(ctx, c)
}
