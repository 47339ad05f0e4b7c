package history

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/ago"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/graph"
)

// wide is the width from which graph, decisions and origin have a column of their own, of sideWidth.
const (
	wide      = 140
	sideWidth = 36
)

// fewestBelow is how many lines of a graph are worth drawing below the steps.
const fewestBelow = 4

// chart is the graph of the thread, and the node that is selected in it.
type chart struct {
	on    bool // it is to be shown in place of the steps
	graph *desk.Graph
	why   error // there is none
	node  string
	names []string // from top to bottom

	drawn  map[[2]int]drawn // by the size for which it was laid out
	laying *desk.Graph      // that is being laid out
}

// drawn is a graph laid out.
type drawn struct {
	of *desk.Graph
	*graph.Drawing
}

// set takes a graph that was read. What was laid out of the one before is shown until a large one is.
func (c *chart) set(g *desk.Graph, why error, names []string) {
	c.graph, c.why, c.names = g, why, names
}

// namesOf are the nodes of a graph, from top to bottom.
func namesOf(g *desk.Graph) []string {
	if g == nil {
		return nil
	}
	return graph.New(g, sideWidth, 0).Names()
}

// atOnce is how many nodes and edges are laid out while a frame is drawn, which takes less than a millisecond. More are laid
// out by a command.
const atOnce = 250

// large reports whether the graph is laid out by a command.
func (c *chart) large() bool { return c.graph != nil && len(c.graph.Nodes)+len(c.graph.Edges) > atOnce }

// shown reports whether the graph stands in place of the steps: while a thread is being read, and where it has none, the steps do.
func (c *chart) shown() bool { return c.on && c.graph != nil }

// drawing is the graph laid out for a size: a small one is laid out now, a large one is nil until a command has.
func (c *chart) drawing(size [2]int) *graph.Drawing {
	if c.drawn[size].of != c.graph && !c.large() {
		c.keep(size, graph.New(c.graph, size[0], size[1]))
	}
	return c.drawn[size].Drawing
}

// keep keeps a drawing: a graph is not laid out for each frame.
func (c *chart) keep(size [2]int, d *graph.Drawing) {
	if len(c.drawn) > 3 || c.drawn == nil { // the window was resized
		c.drawn = map[[2]int]drawn{}
	}
	c.drawn[size] = drawn{c.graph, d}
}

// laidMsg is a graph laid out for a size.
type laidMsg struct {
	graph   *desk.Graph
	size    [2]int
	drawing *graph.Drawing
}

// Lay lays a large graph out for the room it has now. It is nil when there is nothing to lay out, or while that is done.
func (p *Page) Lay() tea.Cmd {
	c := &p.graph
	if !c.large() || c.laying == c.graph {
		return nil
	}
	size, ok := p.graphSize()
	if !ok || c.drawn[size].of == c.graph {
		return nil
	}
	c.laying = c.graph
	g := c.graph
	return func() tea.Msg { return laidMsg{g, size, graph.New(g, size[0], size[1])} }
}

// laid takes in what Lay made.
func (p *Page) laid(msg laidMsg) {
	if p.graph.laying == msg.graph {
		p.graph.laying = nil
	}
	if p.graph.graph == msg.graph {
		p.graph.keep(msg.size, msg.drawing)
	}
}

// margin is what stands left of a graph: the mark of the node that is selected.
const margin = 2

// graphSize is the size for which the graph is laid out where the page draws it, false where it does not.
func (p *Page) graphSize() (size [2]int, ok bool) {
	h := max(p.h-1, 0)
	w := p.listWidth()
	switch {
	case p.graph.graph == nil || p.detail == nil || p.w < narrow && p.showRight:
		return size, false
	case p.graph.shown():
		return [2]int{w - margin, h - 1}, true
	case p.w >= wide:
		_, room := p.sideRoom(sideWidth, h)
		return [2]int{sideWidth - 1 - margin, room}, true
	}
	room := p.roomBelow(h)
	return [2]int{w - margin, room}, room > 0
}

// move is the node n below the one that is selected.
func (c *chart) move(n int) string {
	if len(c.names) == 0 {
		return ""
	}
	return c.names[max(min(slices.Index(c.names, c.node)+n, len(c.names)-1), 0)]
}

// NoGraph says why there is no graph, "" when there is one.
func (p *Page) NoGraph() string {
	switch {
	case p.graph.graph != nil:
		return ""
	case p.graph.why != nil:
		return sanitize.Line(p.graph.why.Error())
	}
	return "the thread is still being read"
}

// ToggleGraph shows the workflow as a graph in place of the steps, or the steps again.
func (p *Page) ToggleGraph() tea.Cmd {
	p.graph.on = !p.graph.on
	p.showRight = false
	if p.graph.shown() {
		p.follow()
	}
	return nil
}

// follow selects the node that ran in the selected step.
func (p *Page) follow() {
	s, ok := p.steps.Selected()
	if !ok || len(s.Nodes) == 0 {
		p.graph.node = ""
		return
	}
	p.graph.node = nodeOf(s.Nodes[len(s.Nodes)-1])
}

// nodeOf is the node of the thread's own graph of which a run is, or in which it is.
func nodeOf(run string) string {
	node, _, _ := strings.Cut(run, "/")
	node, _, _ = strings.Cut(node, "@")
	return node
}

// toNode selects a node, and the latest step in which it ran.
func (p *Page) toNode(name string) tea.Cmd {
	p.graph.node = name
	steps := p.steps.Items()
	for i := len(steps) - 1; i >= 0; i-- {
		if slices.ContainsFunc(steps[i].Nodes, func(run string) bool { return nodeOf(run) == name }) {
			p.steps.Select(i)
			return p.state(false)
		}
	}
	return nil
}

// paint gives a drawing the colours of the theme.
func (p *Page) paint(c graph.Class, text string) string {
	t := p.theme
	switch c {
	case graph.Way, graph.Waits:
		return t.Accent.Render(text)
	case graph.Fails:
		return t.Danger.Render(text)
	case graph.Reached:
		return t.Strong.Render(text)
	case graph.Selected:
		return t.Selected.Render(text)
	case graph.Line:
		return t.Border.Render(text)
	}
	return t.Muted.Render(text)
}

// graphLines draws the part of the graph that matters now in at most w by h cells.
func (p *Page) graphLines(w, h int) []string {
	d := p.graph.drawing([2]int{w - margin, h})
	if d == nil {
		return []string{p.theme.Muted.Render(cell.Clip(fmt.Sprintf("  laying out %d nodes ...", len(p.graph.graph.Nodes)), w))}
	}
	line, node := d.Focus(), p.graph.node
	if at := d.Row(node); at >= 0 {
		line = at
	}
	top := d.Around(line, h)
	lines := d.View(top, h, node, p.paint)
	for i, l := range lines {
		mark := "  "
		if node != "" && top+i == d.Row(node) {
			mark = p.theme.Accent.Render(">") + " "
		}
		lines[i] = mark + l
	}
	return lines
}

// viewGraph draws the graph in place of the steps.
func (p *Page) viewGraph(w, h int) string {
	lines := []string{p.theme.Muted.Render(cell.Fit("  "+graph.Legend(w-2), w))}
	return cell.Block(append(lines, p.graphLines(w, h-1)...), w, h)
}

// graphBelow is the graph below the steps, where there is room for it and no column of its own.
func (p *Page) graphBelow(w, h int) []string {
	room := p.roomBelow(h)
	if p.graph.graph == nil || room == 0 {
		return nil
	}
	return append([]string{" " + p.theme.Heading.Render("GRAPH")}, p.graphLines(w, room)...)
}

// roomBelow is how many lines of a graph are drawn below the steps, 0 for none.
func (p *Page) roomBelow(h int) int {
	room := min(h-p.steps.Len()-3, h*2/3)
	if p.w < narrow || p.w >= wide || room < fewestBelow {
		return 0
	}
	return room
}

// sideRoom is what stands below the graph in the column at the right, and how many lines that leaves for it.
func (p *Page) sideRoom(w, h int) (below []string, room int) {
	forks := p.origin(w)
	below = append(p.decisions(w, h/2-len(forks)), forks...)
	return below, max(h-len(below)-2, h/2)
}

// viewSide draws the column at the right: graph, decisions, origin.
func (p *Page) viewSide(w, h int) string {
	if p.detail == nil {
		return cell.Block(nil, w, h)
	}
	below, room := p.sideRoom(w, h)
	var lines []string
	if p.graph.graph != nil && !p.graph.shown() {
		lines = append(lines, " "+p.theme.Heading.Render("GRAPH"))
		lines = append(lines, p.graphLines(w-1, room)...)
		lines = append(lines, "")
	}
	return cell.Block(append(lines, below...), w, h)
}

// decisions lists the latest decisions, as many as fit into h lines: step, action, who, how long after asking.
func (p *Page) decisions(w, h int) []string {
	t := p.theme
	lines := []string{" " + t.Heading.Render("DECISIONS")}
	n, most := 0, max((h-3)/2, 1)
	for _, s := range slices.Backward(p.steps.Items()) {
		for _, d := range slices.Backward(s.Decisions) {
			if n++; n > most {
				continue
			}
			what := fmt.Sprintf("  step %d  ", s.Step) + t.Accent.Render(sanitize.Line(d.Action)) + "  " + sanitize.Line(d.Reviewer)
			lines = append(lines, cell.Clip(what, w))
			if said := aside(d); said != "" {
				lines = append(lines, t.Muted.Render(cell.Clip("    "+said, w)))
			}
		}
	}
	switch {
	case n == 0:
		lines = append(lines, t.Muted.Render("  none yet"))
	case n > most:
		lines = append(lines, t.Muted.Render(fmt.Sprintf("  … %d before", n-most)))
	}
	return append(lines, "")
}

// aside is how long after the question a decision came, and what was said with it.
func aside(d desk.DecisionRow) string {
	var parts []string
	if d.Waited >= time.Second {
		parts = append(parts, ago.Took(d.Waited.Round(time.Second))+" after asking")
	}
	if d.Comment != "" {
		parts = append(parts, sanitize.Line(d.Comment))
	}
	return strings.Join(parts, ": ")
}

// origin says of which thread this one is a fork.
func (p *Page) origin(w int) []string {
	lines := []string{" " + p.theme.Heading.Render("FORKS")}
	thread, step, fork := strings.Cut(p.detail.Origin, "@")
	if !fork {
		return append(lines, p.theme.Muted.Render(cell.Clip("  not a fork", w)))
	}
	return append(lines, cell.Clip(fmt.Sprintf("  from %s at step %s", sanitize.Line(thread), sanitize.Line(step)), w))
}
