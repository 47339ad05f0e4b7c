package history

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/keymap"
)

// long is a thread of a workflow of n nodes that waits in the middle.
func long(n int) archive {
	a := archive{graph: &desk.Graph{}, steps: []desk.Step{{Step: 1, Nodes: []string{"n00001@1"}}}}
	for i := range n {
		x := desk.GraphNode{Name: fmt.Sprintf("n%05d", i), Start: i == 0}
		if i == n/2 {
			x.State = desk.NodeWaiting
		}
		a.graph.Nodes = append(a.graph.Nodes, x)
		a.graph.Edges = append(a.graph.Edges, desk.GraphEdge{From: x.Name, To: fmt.Sprintf("n%05d", min(i+1, n-1)), Kind: desk.EdgeThen})
	}
	return a
}

// TestLargeGraphIsLaidOutByACommand: a frame never waits for it, wherever the graph stands, and says that it comes.
func TestLargeGraphIsLaidOutByACommand(t *testing.T) {
	for _, size := range tuitest.Sizes() {
		for _, instead := range []bool{false, true} {
			t.Run(fmt.Sprint(size, instead), func(t *testing.T) {
				p := open(t, long(5000), keymap.Default(), size[0], size[1])
				if instead {
					p.ToggleGraph()
				}
				drawsGraph := instead || size[0] >= narrow
				cmd := p.Lay()
				if (cmd != nil) != drawsGraph {
					t.Fatalf("lays out: %v", cmd != nil)
				}
				if cmd == nil {
					return
				}
				expect(t, p, "laying out 5000 nodes")
				if p.Lay() != nil {
					t.Error("lays out twice at a time")
				}
				p.Update(cmd())
				p.graph.node = ""
				expect(t, p, "n02500")
				if p.Lay() != nil {
					t.Error("lays out what is laid out")
				}
				p.SetSize(size[0]+1, size[1]-1)
				p.Update(run(t, p.Lay()))
				p.graph.node = ""
				expect(t, p, "n02500")
			})
		}
	}
}

// TestLargeGraphStaysWhileItIsReadAgain: what was laid out is shown until the thread's new state is.
func TestLargeGraphStaysWhileItIsReadAgain(t *testing.T) {
	p := open(t, long(5000), keymap.Default(), 80, 24)
	p.ToggleGraph()
	late := p.Lay()
	p.Update(late())
	p.desk = long(5000)
	p.Update(p.read()())
	p.graph.node = ""
	expect(t, p, "n02500")
	cmd := p.Lay()
	p.Update(run(t, cmd))
	if p.Lay() != nil {
		t.Error("what was read again is not laid out")
	}
	p.desk = long(5000)
	p.Update(p.Open("other")())
	expect(t, p, "laying out 5000 nodes")
	p.Update(cmd()) // of the thread before
	expect(t, p, "laying out 5000 nodes")
}

// TestSmallGraphNeedsNoCommand: a graph as people write them is there at once.
func TestSmallGraphNeedsNoCommand(t *testing.T) {
	p := open(t, chain(), keymap.Default(), 80, 24)
	p.ToggleGraph()
	if p.Lay() != nil {
		t.Error("a small graph is laid out by a command")
	}
	expect(t, p, "node30")
}

func expect(t *testing.T, p *Page, want string) {
	t.Helper()
	tuitest.CheckBox(t, p.View(), p.w, p.h)
	if view := ansi.Strip(p.View()); !strings.Contains(view, want) {
		t.Errorf("%q is not shown:\n%s", want, view)
	}
}

func run(t *testing.T, cmd tea.Cmd) tea.Msg {
	t.Helper()
	if cmd == nil {
		t.Fatal("nothing is laid out")
	}
	return cmd()
}
