package engine

import (
	"reflect"
	"slices"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// asked is, by thread and step, what the engine that came to commit the step held open, in its own order. Steps that run
// nothing, such as an edit, are not in it.
type asked map[string]map[int64][]checkpoint.Interrupt

// noteAsked notes what the threads that e runs ask, as they are about to commit. What a process that dies there noted of a
// step is noted anew by whoever makes that step.
func (m *machine) noteAsked(e *Engine) {
	e.running.mu.Lock()
	defer e.running.mu.Unlock()
	for s := range e.running.threads {
		var open []checkpoint.Interrupt
		for _, a := range s.tree.asks {
			open = append(open, a.Interrupt)
		}
		if m.asked[s.tree.thread] == nil {
			m.asked[s.tree.thread] = map[int64][]checkpoint.Interrupt{}
		}
		m.asked[s.tree.thread][s.head.Step+1] = open
	}
}

// checkQuestions demands of the open questions that a step tells that they are those of the engine that made it; of a step
// that ran nothing, that they are those of the step before, some of them overdue.
func (m *machine) checkQuestions(a *account, c *checkpoint.Checkpoint) {
	got, err := c.Questions()
	if err != nil {
		m.Fatalf("%v", err)
	}
	want, ran := m.asked[c.Thread][c.Step]
	if !ran && c.Step > 0 {
		want = slices.Clone(a.steps[c.Step-1].questions())
		for i := range want {
			want[i].Overdue = want[i].Overdue || i < len(got) && got[i].Overdue
		}
	}
	if ran || c.Step > 0 {
		if len(got) != len(want) || len(got) > 0 && !reflect.DeepEqual(got, want) {
			m.Fatalf("step %d of %s does not ask what was asked (-asked +told):\n%s", c.Step, c.Thread, cmp.Diff(want, got))
		}
	}
	if c.Asks() != len(got) || len(got) > 0 && (len(c.Interrupts) != 1 || c.Interrupts[0].ID != got[0].ID) {
		m.Fatalf("step %d of %s tells of %d questions, of which %+v is the first; it asks %+v", c.Step, c.Thread, c.Asks(), c.Interrupts, got)
	}
	if info := a.steps[c.Step].summary; info.Questions != len(got) {
		m.Fatalf("step %d of %s is listed with %d questions, it asks %d", c.Step, c.Thread, info.Questions, len(got))
	}
}

// forgetAsked drops what was noted of steps that nobody made.
func (m *machine) forgetAsked(thread string, head int64) {
	for step := range m.asked[thread] {
		if step > head {
			delete(m.asked[thread], step)
		}
	}
}
