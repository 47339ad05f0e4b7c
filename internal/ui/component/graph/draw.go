// Package graph draws the workflow of a thread in text: a node a line, edges as lines that lead down at the left and back
// up at the right, with the way the thread took. It knows no theme: the caller paints by Class.
package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
)

// Class says what a piece of a drawing is.
type Class int

// The classes.
const (
	Line     Class = iota // an edge that was not taken, and its label
	Way                   // an edge that was taken, and its label
	Reached               // the name of a node that ran
	Ahead                 // of one that did not
	Waits                 // sign and note of a node that waits
	Fails                 // of one that failed
	Selected              // the name of the node that is selected
	Remark                // what is said beside
)

// Paint styles a piece. It must not change its width.
type Paint func(c Class, text string) string

// Plain paints nothing.
func Plain(_ Class, text string) string { return text }

// Drawing is a graph laid out for a width. Its lines are made as they are asked for.
type Drawing struct {
	*canvas
	w      int
	backAt int // column of the first lane at the right
	back   int // lanes there
}

// New lays a graph out in at most w cells a line, with room between the nodes where that fits into h lines; an h of 0 sets no
// bound.
func New(g *desk.Graph, w, h int) *Drawing {
	d := newDrawing(newPlan(g), w, true)
	if h > 0 && d.Len() > h {
		d = newDrawing(newPlan(g), w, false)
	}
	return d
}

func newDrawing(p *plan, w int, spaced bool) *Drawing {
	c := layout(p, w, spaced)
	c.loops()
	d := &Drawing{canvas: c, w: w}
	var names, labels, note int // the widest of the rows beside lanes at the right
	for i := range c.rows {
		r := &c.rows[i]
		if r.node >= 0 {
			r.note = joined(remark(c.nodes[r.node]), r.note, r.again)
		}
		if len(r.back) == 0 {
			continue
		}
		d.back, note = max(d.back, (len(r.back)+1)/2), max(note, cell.Width(r.note))
		if width := d.start(r) + d.textWidth(r); r.node >= 0 {
			names = max(names, width)
		} else {
			labels = max(labels, width)
		}
	}
	d.backAt = backAt(w-2*d.back, names, labels, note)
	return d
}

// backAt is the column of the lanes at the right: behind the names, and where there is room for what is said there, behind the
// labels of edges too.
func backAt(room, names, labels, note int) int {
	const tip, gap, fewest = 3, 2, 10
	names += tip
	at := max(names, min(labels+gap, room-note))
	least := min(names, room-min(note, room/4+2))
	return max(min(at, room-note), least, min(fewest, room), 1)
}

// Len is the number of lines.
func (d *Drawing) Len() int { return len(d.rows) }

// Row is the line on which a node stands, -1 when there is none of the name.
func (d *Drawing) Row(name string) int {
	for i, n := range d.nodes {
		if n.Name == name && !n.end {
			return d.rowOf[i]
		}
	}
	return -1
}

// Node is the name of the node on a line, "" without.
func (d *Drawing) Node(line int) string {
	if line < 0 || line >= len(d.rows) || d.rows[line].node < 0 {
		return ""
	}
	return d.nodes[d.rows[line].node].Name
}

// Names are the names of the nodes from top to bottom.
func (d *Drawing) Names() []string {
	names := make([]string, 0, len(d.order))
	for _, i := range d.order {
		if !d.nodes[i].end {
			names = append(names, d.nodes[i].Name)
		}
	}
	return names
}

// Focus is the line of what the thread waits for, else of what failed, comes next or was the last that ran.
func (d *Drawing) Focus() int {
	order := []desk.NodeState{desk.NodeDone, desk.NodeCancelled, desk.NodeNext, desk.NodeFailed, desk.NodeWaiting}
	best, rank := 0, -1
	for _, i := range d.order {
		if at := slices.Index(order, d.nodes[i].State); at > rank || at == rank && at == 0 {
			best, rank = d.rowOf[i], at
		}
	}
	return best
}

// Around is the first of h lines that show a line with what is around it.
func (d *Drawing) Around(line, h int) int { return max(min(line-h/2, d.Len()-h), 0) }

// View draws at most h lines from top on, the node of the name selected as such. Where more nodes are above or below, the
// first or the last line tells how many.
func (d *Drawing) View(top, h int, selected string, paint Paint) []string {
	if h <= 0 {
		return nil
	}
	top = max(min(top, d.Len()-h), 0)
	bottom := min(top+h, d.Len())
	lines := make([]string, 0, bottom-top)
	for i := top; i < bottom; i++ {
		lines = append(lines, d.line(i, selected, paint))
	}
	more := func(from, to int, at int, where string) {
		n := 0
		for _, r := range d.rows[from:to] {
			if r.node >= 0 && !d.nodes[r.node].end {
				n++
			}
		}
		if n > 0 {
			lines[at] = paint(Remark, cell.Clip("… "+count(n)+" more nodes "+where, d.w))
		}
	}
	if top > 0 && h > 2 {
		more(0, top+1, 0, "above")
	}
	if bottom < d.Len() && h > 2 {
		more(bottom-1, d.Len(), len(lines)-1, "below")
	}
	return lines
}

// Lines draws everything.
func (d *Drawing) Lines(paint Paint) []string { return d.View(0, d.Len(), "", paint) }

// count is a number with its thousands apart.
func count(n int) string {
	if n >= 1000 {
		return fmt.Sprintf("%s,%03d", count(n/1000), n%1000)
	}
	return fmt.Sprint(n)
}

// start is the column of a row's text.
func (d *Drawing) start(r *row) int {
	width := len(r.boxes)
	if r.node >= 0 {
		width = max(width, r.col*2+1)
	}
	if r.bent {
		return width
	}
	return width + 1
}

func (d *Drawing) textWidth(r *row) int {
	if r.node < 0 {
		return cell.Width(r.text)
	}
	n := d.nodes[r.node]
	return cell.Width(n.name) + cell.Width(times(n))
}

// line draws one row.
func (d *Drawing) line(at int, selected string, paint Paint) string {
	r := &d.rows[at]
	room := d.w
	if len(r.back) > 0 {
		room = d.backAt - 1
	}
	var b strings.Builder
	width := d.lanesOf(&b, r, room, paint)
	width += d.textOf(&b, r, room-width, selected, paint)
	if len(r.back) > 0 {
		d.backOf(&b, r, width, paint)
		width = d.backAt + 2*d.back - 1
	}
	if r.note == "" {
		return b.String()
	}
	gap := 1
	if len(r.back) == 0 {
		gap = 2
	}
	if note := cell.Clip(r.note, d.w-width-gap); note != "" {
		b.WriteString(strings.Repeat(" ", gap))
		b.WriteString(paint(d.noteClass(r), note))
	}
	return b.String()
}

// blank reports whether nothing follows the lanes at the left.
func (r *row) blank() bool { return r.node < 0 && r.text == "" && len(r.back) == 0 }

// lanesOf draws the lanes at the left and the sign of the node, and says how wide that is.
func (d *Drawing) lanesOf(b *strings.Builder, r *row, room int, paint Paint) int {
	width := min(d.start(r), room)
	if r.blank() {
		width = min(len(r.boxes), room)
	}
	for i := range width {
		var x box
		if i < len(r.boxes) {
			x = r.boxes[i]
		}
		switch {
		case r.node >= 0 && i == r.col*2:
			n := d.nodes[r.node]
			b.WriteString(paint(classOf(n), sign(n, d.came[r.node])))
		case x == box{}:
			b.WriteByte(' ')
		case x.taken():
			b.WriteString(paint(Way, x.String()))
		default:
			b.WriteString(paint(Line, x.String()))
		}
	}
	return width
}

func (d *Drawing) textOf(b *strings.Builder, r *row, room int, selected string, paint Paint) int {
	if r.node < 0 {
		text := cell.Clip(r.text, room)
		if text != "" {
			b.WriteString(paint(lineClass(r.taken), text))
		}
		return cell.Width(text)
	}
	n := d.nodes[r.node]
	class := Reached
	if n.State == "" && !n.end || n.end && !d.came[r.node] {
		class = Ahead
	}
	if n.Name == selected && !n.end {
		class = Selected
	}
	more := times(n)
	name := cell.Clip(n.name, max(room-cell.Width(more), min(room, 4)))
	more = cell.Clip(more, room-cell.Width(name))
	if name != "" {
		b.WriteString(paint(class, name))
	}
	if more != "" {
		b.WriteString(paint(Remark, more))
	}
	return cell.Width(name) + cell.Width(more)
}

// backOf draws the lanes at the right, and the line to them.
func (d *Drawing) backOf(b *strings.Builder, r *row, width int, paint Paint) {
	gap := max(d.backAt-width, 0)
	class := lineClass(r.fill == heavy)
	dash := box{left: r.fill, right: r.fill}.String()
	switch {
	case r.fill == none || gap == 0:
		b.WriteString(strings.Repeat(" ", gap))
	case r.tip && gap > 1:
		b.WriteString(" " + paint(class, "◂"+strings.Repeat(dash, gap-2)))
	default:
		b.WriteString(" " + paint(class, strings.Repeat(dash, gap-1)))
	}
	for i := range 2*d.back - 1 {
		var x box
		if i < len(r.back) {
			x = r.back[i]
		}
		b.WriteString(paint(lineClass(x.taken()), x.String()))
	}
}

func lineClass(taken bool) Class {
	if taken {
		return Way
	}
	return Line
}

func (d *Drawing) noteClass(r *row) Class {
	switch class := classOf(d.nodes[max(r.node, 0)]); {
	case class == Waits, class == Fails:
		return class
	case r.looped:
		return Way
	}
	return Remark
}

func classOf(n node) Class {
	switch n.State {
	case desk.NodeWaiting:
		return Waits
	case desk.NodeFailed:
		return Fails
	case "":
		return Line
	}
	return Way
}

// sign is the state of a node as one character.
func sign(n node, came bool) string {
	switch {
	case n.end && came:
		return "■"
	case n.end:
		return "□"
	case n.unknown:
		return "?"
	}
	switch n.State {
	case desk.NodeDone:
		return "✓"
	case desk.NodeWaiting:
		return "●"
	case desk.NodeFailed:
		return "✗"
	case desk.NodeNext:
		return "○"
	case desk.NodeCancelled:
		return "⊘"
	}
	return "·"
}

// Legend tells the signs in at most w cells, those that matter most first.
func Legend(w int) string {
	text := ""
	for _, part := range []string{"✓ done", "● waits", "✗ failed", "· not reached", "○ next", "⊘ ended", "━ way taken"} {
		next := strings.TrimPrefix(text+"  "+part, "  ")
		if cell.Width(next) > w {
			break
		}
		text = next
	}
	return text
}

// times is how often a node ran.
func times(n node) string {
	text := ""
	if n.Runs > 1 {
		text = fmt.Sprintf(" ×%d", n.Runs)
	}
	switch {
	case n.Items == 1:
		text += " (1 item)"
	case n.Items > 1:
		text += fmt.Sprintf(" (%s items)", count(n.Items))
	}
	return text
}

// remark is the state of a node in words, where the way alone does not tell it.
func remark(n node) string {
	switch {
	case n.unknown:
		return "is not in the file"
	case n.State == desk.NodeWaiting && n.Waiting > 1:
		return count(n.Waiting) + " wait here"
	case n.State == desk.NodeWaiting:
		return "waits here"
	case n.State == desk.NodeFailed:
		return "failed here"
	case n.State == desk.NodeCancelled:
		return "ended here"
	case n.State == desk.NodeNext:
		return "next"
	}
	return ""
}
