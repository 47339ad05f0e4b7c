// Package jsontree shows a JSON document as a tree that folds, between what is said before and after it, with search and
// the path of what is selected. Only the rows on screen are drawn, and a fold costs what it hides or shows.
package jsontree

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/ui/component/pager"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// Tree is the view. A cursor is in the tree; moving beyond its ends, or while it is off the screen, scrolls.
type Tree struct {
	theme        *theme.Theme
	pens         pens
	pager        *pager.Pager
	root         *node
	index        *index
	rows         []*node // what is not folded away
	at           int     // the cursor
	above, below pager.Source
	w, h         int
	find         finder
}

// New makes an empty tree.
func New(th *theme.Theme) *Tree {
	t := &Tree{pager: pager.New(th), above: pager.Lines(nil), below: pager.Lines(nil)}
	t.SetTheme(th)
	return t
}

// SetTheme changes the styles; the owner gives what stands around the tree anew.
func (t *Tree) SetTheme(th *theme.Theme) {
	t.theme = th
	t.pens = newPens(th)
	t.pager.SetTheme(th)
}

// SetSize sets the box.
func (t *Tree) SetSize(w, h int) {
	w, h = max(w, 0), max(h, 0)
	if w == t.w && h == t.h {
		return
	}
	seen := t.seen()
	t.w, t.h = w, h
	t.pager.SetSize(w, h)
	if seen {
		t.pager.Reveal(t.line(), false)
	}
}

// SetWrap wraps long lines, or cuts them.
func (t *Tree) SetWrap(on bool) { t.pager.SetWrap(on) }

// SetJSON shows a document from its start.
func (t *Tree) SetJSON(raw json.RawMessage) error {
	d, err := Parse(raw)
	if err != nil {
		return err
	}
	t.Open(d, nil, nil)
	return nil
}

// Open shows a document from its start, with what stands above and below it, either of which may be nil. A running search
// is forgotten.
func (t *Tree) Open(d *Document, above, below pager.Source) {
	t.root, t.index, t.at, t.find = d.root, d.index, 0, finder{}
	t.rows = t.root.shown(t.rows[:0])
	t.setAround(above, below)
	t.pager.SetSource(t.source())
}

// SetAround gives what stands above and below the same document anew, laid out for another width or with other styles.
// Folds, cursor and search stay.
func (t *Tree) SetAround(above, below pager.Source) {
	seen := t.seen()
	t.setAround(above, below)
	t.pager.Replace(t.source())
	if seen {
		t.pager.Reveal(t.line(), false)
	}
	t.searchAgain()
}

func (t *Tree) setAround(above, below pager.Source) {
	t.above, t.below = pager.Lines(nil), pager.Lines(nil)
	if above != nil {
		t.above = above
	}
	if below != nil {
		t.below = below
	}
}

func (t *Tree) source() pager.Source { return pager.Join(t.above, lines{t}, t.below) }

// line is where the cursor is among all lines.
func (t *Tree) line() int { return t.above.Len() + t.at }

// seen says whether any of the row of the cursor is on screen.
func (t *Tree) seen() bool {
	if t.w == 0 || t.h == 0 || len(t.rows) == 0 {
		return false
	}
	first, last := t.pager.Shows(t.line())
	return first || last
}

// shown appends a node and what is not folded away below it.
func (n *node) shown(rows []*node) []*node {
	rows = append(rows, n)
	if n.open {
		for _, c := range n.children {
			rows = c.shown(rows)
		}
		rows = append(rows, n.linesOf()...)
	}
	return rows
}

// fold opens or closes the node at a row.
func (t *Tree) fold(row int, open bool) {
	n := t.rows[row]
	if n.open == open {
		return
	}
	n.open = open
	if open {
		if n.hidden == nil {
			n.hidden = n.shown(nil)[1:]
		}
		t.rows = slices.Insert(t.rows, row+1, n.hidden...)
		n.hidden = nil
	} else {
		end := row + 1
		for end < len(t.rows) && t.rows[end].depth > n.depth {
			end++
		}
		n.hidden = slices.Clone(t.rows[row+1 : end])
		t.rows = slices.Delete(t.rows, row+1, end)
	}
	t.changed()
}

// changed draws what there is after rows came or went.
func (t *Tree) changed() {
	t.at = max(min(t.at, len(t.rows)-1), 0)
	t.pager.Replace(t.source())
	t.mark()
	t.pager.Reveal(t.line(), false)
}

func (t *Tree) selected() *node {
	if t.at < len(t.rows) {
		return t.rows[t.at]
	}
	return nil
}

// Toggle folds or unfolds the selected node.
func (t *Tree) Toggle() {
	if n := t.selected(); n != nil && n.folds(t.w) {
		t.fold(t.at, !n.open)
	}
}

// Unfold unfolds the selected node; of an open one it selects the first child. It says whether it did anything.
func (t *Tree) Unfold() bool {
	n := t.selected()
	switch {
	case n == nil || !n.folds(t.w):
		return false
	case !t.seen():
		t.pager.Reveal(t.line(), false)
	case n.open:
		t.Scroll(1)
	default:
		t.fold(t.at, true)
	}
	return true
}

// Fold folds the selected node; of a folded one it selects the parent. It says whether it did anything: not where the
// cursor is off the screen.
func (t *Tree) Fold() bool {
	n := t.selected()
	switch {
	case n == nil || !t.seen():
		return false
	case n.open && n.folds(t.w):
		t.fold(t.at, false)
	case n.parent == nil:
		return false
	default:
		t.moveTo(slices.Index(t.rows, n.parent), false)
	}
	return true
}

// OpenAll unfolds everything.
func (t *Tree) OpenAll() { t.setAll(1 << 30) }

// FoldAll folds everything but the root.
func (t *Tree) FoldAll() { t.setAll(1) }

func (t *Tree) setAll(depth int) {
	if t.root == nil {
		return
	}
	n := t.selected()
	openTo(t.root, depth)
	t.rows = t.root.shown(t.rows[:0])
	for t.at = -1; t.at < 0; n = n.parent {
		t.at = slices.Index(t.rows, n)
	}
	t.changed()
}

// moveTo puts the cursor at a row; from below its last rows come on screen first.
func (t *Tree) moveTo(row int, up bool) {
	t.pager.Redraw(t.line())
	t.at = row
	t.pager.Redraw(t.line())
	t.pager.Reveal(t.line(), up)
}

// Scroll moves the cursor by rows, and the window where that is as far as there is something to see.
func (t *Tree) Scroll(d int) {
	if t.w == 0 || t.h == 0 {
		t.at = max(min(t.at+d, len(t.rows)-1), 0)
		return
	}
	for ; d > 0; d-- {
		if _, last := t.pager.Shows(t.line()); last && t.at+1 < len(t.rows) {
			t.moveTo(t.at+1, false)
		} else {
			t.pager.Scroll(1)
		}
	}
	for ; d < 0; d++ {
		if first, _ := t.pager.Shows(t.line()); first && t.at > 0 {
			t.moveTo(t.at-1, true)
		} else {
			t.pager.Scroll(-1)
		}
	}
}

// Page moves by windows.
func (t *Tree) Page(d int) { t.Scroll(d * max(t.h-1, 1)) }

// HalfPage moves by half windows.
func (t *Tree) HalfPage(d int) { t.Scroll(d * max(t.h/2, 1)) }

// Top goes to the beginning, and selects the root.
func (t *Tree) Top() {
	t.moveTo(0, false)
	t.pager.Top()
}

// Bottom goes to the end, and selects the last row.
func (t *Tree) Bottom() {
	t.moveTo(max(len(t.rows)-1, 0), true)
	t.pager.Bottom()
}

// Seen tells whether the cursor is on screen.
func (t *Tree) Seen() bool { return t.seen() }

// Path is the path of the selected node: $.claims[3].amount
func (t *Tree) Path() string {
	var steps []string
	for n := t.selected(); n != nil; n = n.parent {
		steps = append(steps, n.step)
	}
	slices.Reverse(steps)
	return strings.Join(steps, "")
}

// Value is the JSON of the selected node.
func (t *Tree) Value() json.RawMessage {
	n := t.selected()
	if n == nil {
		return nil
	}
	if n.kind == isLine {
		n = n.parent
	}
	var b bytes.Buffer
	n.json(&b)
	return b.Bytes()
}

// Position is "row 3/48  $.claims[3]", and while the cursor is off the screen which lines are on it.
func (t *Tree) Position() string {
	if len(t.rows) == 0 {
		return "empty"
	}
	if t.w > 0 && t.h > 0 && !t.seen() {
		return t.pager.Position()
	}
	return fmt.Sprintf("row %d/%d  %s", t.at+1, len(t.rows), t.Path())
}

// View is the box.
func (t *Tree) View() string { return t.pager.View() }
