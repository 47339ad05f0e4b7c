package history

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/keymap"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// archive is a desk with one thread.
type archive struct {
	Desk
	err   error
	steps []desk.Step
	graph *desk.Graph
}

func (a archive) Open(_ context.Context, id string) (*desk.Detail, error) {
	return &desk.Detail{Thread: desk.Thread{ID: id, Short: id, Workflow: "notes", Status: "interrupted"}, Origin: "t-41aa@2"}, a.err
}
func (a archive) History(context.Context, string) ([]desk.Step, error) { return a.steps, nil }
func (a archive) Graph(context.Context, string) (*desk.Graph, error)   { return a.graph, nil }
func (a archive) StateAt(context.Context, string, int64) (*desk.State, error) {
	return &desk.State{}, nil
}

func open(t *testing.T, a archive, keys *keymap.Map, w, h int) *Page {
	t.Helper()
	p := New(t.Context(), a, theme.Must("default", true), keys, time.Now)
	p.SetSize(w, h)
	if cmd := p.Update(p.Open("7f3k")()); cmd != nil {
		p.Update(cmd())
	}
	return p
}

// What went wrong with reading names the key that the reviewer has for reading again.
func TestErrorNamesTheKeyThatReadsAgain(t *testing.T) {
	own, problems := keymap.New(keymap.Overrides{"global": {"read_again": {"ctrl+g"}}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for want, keys := range map[string]*keymap.Map{"gone. R reads again": keymap.Default(), "gone. ^G reads again": own} {
		view := ansi.Strip(open(t, archive{err: errors.New("the disk is gone")}, keys, 80, 24).View())
		if !strings.Contains(strings.Join(strings.Fields(view), " "), want) {
			t.Errorf("%q is not in\n%s", want, view)
		}
	}
}

// Who looks at graphs goes on doing so with the next thread; until that is read, and where it cannot be or has no graph, the
// steps stand there.
func TestGraphOfTheNextThread(t *testing.T) {
	read := archive{steps: []desk.Step{{Nodes: []string{"draft@1"}}}, graph: &desk.Graph{Nodes: []desk.GraphNode{{Name: "draft", Start: true}}}}
	for name, next := range map[string]archive{
		"read": read, "without a graph": {steps: read.steps}, "cannot be read": {err: errors.New("the disk is gone")},
	} {
		for _, size := range tuitest.Sizes() {
			t.Run(fmt.Sprint(name, " ", size[0]), func(t *testing.T) {
				p := open(t, read, keymap.Default(), size[0], size[1])
				p.ToggleGraph()
				for _, reading := range []func(){
					func() {},
					func() { p.desk = next; p.Open("next") },
					func() { p.Update(p.read()()) },
					func() { p.desk = read; p.Update(p.Open("third")()) },
				} {
					reading()
					tuitest.CheckBox(t, p.View(), size[0], size[1])
				}
				if view := ansi.Strip(p.View()); strings.Contains(view, "step node") {
					t.Errorf("the third thread is not shown as a graph:\n%s", view)
				}
			})
		}
	}
}

// chain is a thread that went through many nodes, of whose items of a map some wait, and was decided often.
func chain() archive {
	a := archive{graph: &desk.Graph{}}
	for i := range 60 {
		n := desk.GraphNode{Name: fmt.Sprintf("node%02d", i), Start: i == 0}
		step := desk.Step{Step: int64(i), Nodes: []string{fmt.Sprintf("node%02d@1", i)}}
		if i < 30 {
			n.State = desk.NodeDone
			step.Decisions = []desk.DecisionRow{{Action: "approve", Reviewer: "ana", Waited: 14 * time.Minute, Comment: "good"}}
		}
		if i == 30 {
			n.State = desk.NodeWaiting
			step.Status, step.Nodes = "interrupted", []string{"node30/11/decide@2"}
		}
		a.graph.Nodes = append(a.graph.Nodes, n)
		a.graph.Edges = append(a.graph.Edges, desk.GraphEdge{From: n.Name, To: fmt.Sprintf("node%02d", min(i+1, 59)), Kind: desk.EdgeThen})
		if i <= 30 {
			a.steps = append(a.steps, step)
		}
	}
	return a
}

// A long thread at the three widths: what is around the step that is selected, what was decided last, from where it is forked.
func TestLongThread(t *testing.T) {
	for name, size := range map[string][2]int{"40x12": {40, 12}, "80x24": {80, 24}, "160x30": {160, 30}} {
		for _, graph := range []bool{false, true} {
			p := open(t, chain(), keymap.Default(), size[0], size[1])
			if graph {
				p.ToggleGraph()
				p.Move(-3)
			}
			file := "list_" + name
			if graph {
				file = "graph_" + name
			}
			t.Run(file, func(t *testing.T) {
				tuitest.CheckBox(t, p.View(), size[0], size[1])
				tuitest.Golden(t, file, tuitest.Layout(p.View()))
			})
		}
	}
}
