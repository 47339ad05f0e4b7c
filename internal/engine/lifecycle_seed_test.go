package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// TestCheckpointAndResumeLifecycle goes through the document of that name, from which the engine's resume was made,
// sentence by sentence: each is held by cases of ADK's list, by their numbers, or by a test here.
func TestCheckpointAndResumeLifecycle(t *testing.T) {
	tested := map[int]bool{}
	for _, cases := range adkCases() {
		for _, c := range cases {
			for _, n := range c.numbers {
				tested[n] = true
			}
		}
	}
	for _, x := range []struct {
		says string
		adk  []int
		run  func(t *testing.T, w *world)
	}{
		{"Interrupt: a node interrupts by asking, under an id", []int{1, 2, 16}, nil},
		{"each ancestor propagates the interrupt upward", nil, ancestorsWait},
		{"Persist: only the leaf node's interrupt is persisted", []int{50, 53, 55}, nil},
		{"a workflow's own interrupts are set directly, without an event", []int{55}, ancestorsWait},
		{"Resume: the answer is matched to what asked, and the rest", []int{27, 30, 31, 33}, nil},
		{"node state is reconstructed from what is persisted", []int{4, 34, 35, 45, 57, 60, 71, 83}, nil},
		{"Continue: the interrupted node receives the answer and continues", []int{3, 18, 19}, nil},
		{"downstream nodes receive the resumed node's output", []int{25, 37, 44, 52}, nil},
		{"resumed nodes reuse the same run id", []int{20}, nil},
		{"from the node's perspective the execution never paused: events before and after share the run id", nil, eventsShareTheRunID},
		{"fresh dispatches, first run or loop, get a new run id", []int{21, 22, 23, 40, 41}, nil},
		{"a node with several interrupts may receive some answers only", []int{6, 7, 51, 64, 86}, nil},
		{"rerun, some: runs again at once with partial inputs", []int{6, 74}, nil},
		{"rerun, some: a workflow dispatches resolved children and keeps unresolved waiting", []int{51, 61, 72}, nil},
		{"rerun, all: runs again with all inputs", []int{4, 65, 81}, nil},
		{"a workflow does not wait for all of its children's answers", []int{51, 64}, nil},
		{"no rerun, some: stays waiting", []int{7}, nil},
		{"no rerun, all: completes without running; the output is what was answered", []int{8, 48, 59}, nil},
		{"a node may produce output and interrupt in the same execution, as a workflow with one child done and one asking", []int{9, 36}, oneChildDoneAndOneAsking},
		{"resolved ids are provided in resume inputs", []int{3, 81}, nil},
		{"remaining ids carry forward as prior interrupts", []int{74}, nil},
		{"prior output carries forward", []int{9, 74}, nil},
		{"the context is filled before the node runs again, with the same input", []int{18, 19, 43, 74}, nil},
	} {
		if x.run == nil && len(x.adk) == 0 {
			t.Errorf("%s: nothing holds it", x.says)
		}
		for _, n := range x.adk {
			if !tested[n] {
				t.Errorf("%s: case %d is not tested", x.says, n)
			}
		}
		if x.run != nil {
			t.Run(x.says, func(t *testing.T) { eachStore(t, x.run) })
		}
	}
}

// ancestorsWait: all around a question waits, at every depth, and goes on with its answer, although none of it is stored
// as asking.
func ancestorsWait(t *testing.T, w *world) {
	var r ran
	const depth = 5
	g, address := graph(node("ask", asks(plainQuestion))), "ask"
	for i := range depth {
		name := fmt.Sprintf("level%d", i)
		g = graph(inside(name, g, nil, "after"), node("after", noted(&r, passes)))
		address = name + "/" + address
	}
	out := w.start(g, nil)
	w.open(out, address)
	c, err := w.store.Latest(t.Context(), out.Thread)
	if err != nil || c.Asks() != 1 || len(c.Next) != 0 {
		t.Fatalf("%v, %+v", err, c)
	}
	row, err := w.store.Thread(t.Context(), out.Thread)
	if err != nil || row.Status != checkpoint.Interrupted || row.Questions != 1 || row.Node != "ask" {
		t.Errorf("%v, %+v", err, row)
	}
	r.was(t)
	if out = w.elsewhere(out.Thread, to(address, "approve")); out.Status != checkpoint.Done || len(r.all()) != depth {
		t.Errorf("%s after %v", out.Status, r.all())
	}
}

// eventsShareTheRunID: what is told of a run before and after its question has one path, and of another run another.
func eventsShareTheRunID(t *testing.T, w *world) {
	var r ran
	x := watch(w)
	out, err := x.e.Start(t.Context(), w.request(graph(agent(&r, asker("q"), "agent")), nil))
	if err == nil {
		_, err = x.e.Resume(t.Context(), ResumeRequest{Thread: out.Thread, Answers: []Answer{say("approve")}, By: "ana"})
	}
	if err = errors.Join(err, x.e.Heard()); err != nil {
		t.Fatal(err)
	}
	heard := slices.DeleteFunc(x.heard.take(t), func(line string) bool { return !strings.Contains(line, "agent@") })
	want := []string{
		"1 node_started agent@1", "1 interrupted agent@1 at agent.q", "1 node_finished agent@1 WAITING",
		"2 answered agent@1 approve ana at agent.q", "2 node_started agent@1", "2 node_finished agent@1 COMPLETED",
		"3 node_started agent@2", "3 interrupted agent@2 at agent.q", "3 node_finished agent@2 WAITING",
	}
	if diff := cmp.Diff(want, heard); diff != "" {
		t.Error(diff)
	}
}

// oneChildDoneAndOneAsking: what the first child gave is kept beside the question of the second, is not made again, and
// is part of what the workflow gives once both are done.
func oneChildDoneAndOneAsking(t *testing.T, w *world) {
	var r ran
	child := graph(node("fan", passes, "a", "b"), node("a", noted(&r, writes("a", 1))), keysOf("b", "k"))
	out := w.start(graph(inside("sub", child, nil, "end"), node("end", inputs(&r))), nil)
	w.open(out, "sub/b.k")
	if _, given := w.state(out.Thread)["sub"]; given {
		t.Error("the workflow gave its output before it had ended")
	}
	if out = w.elsewhere(out.Thread, say("respond", "yes")); out.Status != checkpoint.Done {
		t.Errorf("%+v", out)
	}
	if got := r.all(); !slices.Equal(got, []string{"sub@1/a@1", `end@1 {"a":1,"b":{"k":"yes"}}`}) {
		t.Error(got)
	}
}
