package jsontree

import (
	"fmt"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// The cells of the mark of the cursor and of the sign of a fold. maxIndent keeps deep documents readable.
const (
	markWidth = 2
	foldWidth = 2
	maxIndent = 24
)

type pens struct{ plain, muted, name, text, number, word, selected theme.Pen }

func newPens(th *theme.Theme) pens {
	return pens{theme.Pen{}, theme.NewPen(th.Muted), theme.NewPen(th.Ident), theme.NewPen(th.String), theme.NewPen(th.Number),
		theme.NewPen(th.Keyword), theme.NewPen(th.Selected)}
}

// lines is the tree as a part of what is paged through.
type lines struct{ t *Tree }

func (l lines) Len() int { return len(l.t.rows) }

func (l lines) Line(i int) string {
	return l.Rows(i, l.t.w, false, func(text string) string { return text })[0]
}

// Rows draws a node: its own row, or where it is a text all of it.
func (l lines) Rows(i, w int, wrap bool, mark func(string) string) []string {
	n := l.t.rows[i]
	d := drawing{tree: l.t, node: n, w: w, mark: mark, selected: i == l.t.at}
	if !wrap || n.kind != isLine && !(n.open && n.isLong(w)) {
		return []string{d.row(n.label(), n.short(w), n.count())}
	}
	d.more = min(markWidth+min(2*n.depth, maxIndent)+foldWidth, max(w-leastWrap, 0))
	var rows []string
	name := n.label()
	if n.kind != isLine {
		if beside := n.before(); beside > w-leastWrap { // the name leaves no room beside it
			rows, name = []string{d.first().row(name, "", "")}, ""
		} else {
			d.more = beside
		}
	}
	for _, text := range n.rowsOf(max(w-d.more, 1)) {
		if len(rows) == 0 {
			rows = append(rows, d.first().row(name, text, ""))
		} else {
			rows = append(rows, d.row("", text, ""))
		}
	}
	return rows
}

// drawing draws the rows of one node. The mark of the cursor shows where colours do not.
type drawing struct {
	tree     *Tree
	node     *node
	w        int
	more     int // indent of a row after the first, 0 of the first
	mark     func(string) string
	selected bool
}

func (d drawing) first() drawing {
	d.more = 0
	return d
}

func (d drawing) row(name, value, count string) string {
	p, n := d.tree.pens, d.node
	lead, fold := "  ", "  "
	if d.selected {
		lead = "> "
	}
	switch {
	case !n.folds(d.w):
	case n.open:
		fold = "- "
	default:
		fold = "+ "
	}
	lead += strings.Repeat(" ", min(2*n.depth, maxIndent))
	if d.more > 0 {
		lead, fold = lead[:markWidth]+strings.Repeat(" ", max(d.more-markWidth, 0)), ""
	}
	if d.selected {
		line := p.selected.Render(lead+fold) + d.mark(p.selected.Render(name+value)) + p.selected.Render(count)
		if room := d.w - cell.Width(lead+fold+name+value+count); room > 0 {
			line += p.selected.Render(strings.Repeat(" ", room))
		}
		return cell.Clip(line, d.w)
	}
	namePen := p.name
	colon := ""
	if n.parent != nil && n.parent.kind != isObject {
		namePen = p.muted
	} else if name != "" {
		name, colon = strings.TrimSuffix(name, ": "), ": "
	}
	return cell.Clip(lead+p.muted.Render(fold)+d.mark(namePen.Render(name)+colon+d.valuePen().Render(value))+p.muted.Render(count), d.w)
}

func (d drawing) valuePen() theme.Pen {
	switch d.node.kind {
	case isString, isLine:
		return d.tree.pens.text
	case isNumber:
		return d.tree.pens.number
	case isWord:
		return d.tree.pens.word
	}
	return d.tree.pens.plain
}

// label is what stands before a value: its key, or its place in the list.
func (n *node) label() string {
	switch {
	case n.kind == isLine || n.parent == nil:
		return ""
	case n.parent.kind == isObject:
		return sanitize.Line(n.key) + ": "
	}
	return n.step + " "
}

// short is a value on one row, "" of what is told by count.
func (n *node) short(w int) string {
	if n.open && n.hasLines() {
		return ""
	}
	return cell.Clip(n.text, w)
}

// count says how much there is in an object, a list or a text that is unfolded.
func (n *node) count() string {
	switch {
	case n.kind == isObject:
		return count(len(n.children), "{", "}", "key")
	case n.kind == isList:
		return count(len(n.children), "[", "]", "item")
	case n.open && n.hasLines():
		return count(len(n.linesOf()), "", "", "line")
	}
	return ""
}

func count(n int, open, end, what string) string {
	switch n {
	case 0:
		return open + end
	case 1:
		return strings.TrimSpace(open + end + " 1 " + what)
	}
	return strings.TrimSpace(fmt.Sprintf("%s%s %d %ss", open, end, n, what))
}
