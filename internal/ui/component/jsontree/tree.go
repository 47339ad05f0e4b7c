// Package jsontree shows a JSON document as a tree that folds, with search and the path of what is selected. Only the
// rows on screen are drawn.
package jsontree

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// Tree is the view.
type Tree struct {
	theme   *theme.Theme
	pens    pens
	root    *node
	rows    []*node // what is not folded away
	at, top int
	w, h    int
	query   string
	matches []*node
	match   int
}

// openAtFirst is how many nodes are shown unfolded at the start; of a larger document only the first two levels are.
const openAtFirst = 400

// New makes an empty tree.
func New(th *theme.Theme) *Tree {
	t := &Tree{}
	t.SetTheme(th)
	return t
}

type pens struct{ muted, name, text, number, word theme.Pen }

// SetTheme changes the styles.
func (t *Tree) SetTheme(th *theme.Theme) {
	t.theme = th
	t.pens = pens{theme.NewPen(th.Muted), theme.NewPen(th.Ident), theme.NewPen(th.String), theme.NewPen(th.Number),
		theme.NewPen(th.Keyword)}
}

// SetSize sets the box.
func (t *Tree) SetSize(w, h int) {
	wider := w != t.w
	t.w, t.h = max(w, 0), max(h, 0)
	if wider {
		t.flatten() // long texts have other lines
	}
	t.clamp()
}

// SetJSON shows a document from its start.
func (t *Tree) SetJSON(raw json.RawMessage) error {
	root, count, err := parse(raw)
	if err != nil {
		return err
	}
	depth := 2
	if count <= openAtFirst {
		depth = count
	}
	t.root, t.at, t.top, t.query, t.matches = root, 0, 0, "", nil
	openTo(root, depth)
	t.flatten()
	return nil
}

func openTo(n *node, depth int) {
	n.open = depth > 0
	for _, c := range n.children {
		openTo(c, depth-1)
	}
}

// flatten lists the rows anew and keeps the selection on its node.
func (t *Tree) flatten() {
	var selected *node
	if t.at < len(t.rows) {
		selected = t.rows[t.at]
	}
	t.rows = t.rows[:0]
	if t.root != nil {
		t.collect(t.root)
	}
	for n := selected; n != nil; n = n.parent {
		if i := slices.Index(t.rows, n); i >= 0 {
			t.at = i
			break
		}
	}
	t.clamp()
}

func (t *Tree) collect(n *node) {
	t.rows = append(t.rows, n)
	if n.open {
		for _, c := range n.children {
			t.collect(c)
		}
		t.rows = append(t.rows, t.linesOf(n)...)
	}
}

func (t *Tree) clamp() {
	t.at = max(min(t.at, len(t.rows)-1), 0)
	t.top = min(t.top, t.at)
	t.top = max(t.top, t.at-t.h+1)
	t.top = max(min(t.top, len(t.rows)-t.h), 0)
}

func (t *Tree) selected() *node {
	if t.at < len(t.rows) {
		return t.rows[t.at]
	}
	return nil
}

// Toggle folds or unfolds the selected node.
func (t *Tree) Toggle() {
	if n := t.selected(); n != nil && t.folds(n) {
		n.open = !n.open
		t.flatten()
	}
}

// Open unfolds the selected node; of an open one it selects the first child. It says whether it did anything.
func (t *Tree) Open() bool {
	n := t.selected()
	if n == nil || !t.folds(n) {
		return false
	}
	if n.open {
		t.Scroll(1)
		return true
	}
	n.open = true
	t.flatten()
	return true
}

// Fold folds the selected node; of a folded one it selects the parent. It says whether it did anything.
func (t *Tree) Fold() bool {
	n := t.selected()
	if n == nil {
		return false
	}
	if n.open && t.folds(n) {
		n.open = false
		t.flatten()
		return true
	}
	if n.parent == nil {
		return false
	}
	t.at = slices.Index(t.rows, n.parent)
	t.clamp()
	return true
}

// OpenAll unfolds everything.
func (t *Tree) OpenAll() { t.setAll(1 << 30) }

// FoldAll folds everything but the root.
func (t *Tree) FoldAll() { t.setAll(1) }

func (t *Tree) setAll(depth int) {
	if t.root != nil {
		openTo(t.root, depth)
		t.flatten()
	}
}

// Scroll moves the selection by rows.
func (t *Tree) Scroll(d int) { t.at += d; t.clamp() }

// Page moves the selection by windows.
func (t *Tree) Page(d int) { t.Scroll(d * max(t.h-1, 1)) }

// HalfPage moves the selection by half windows.
func (t *Tree) HalfPage(d int) { t.Scroll(d * max(t.h/2, 1)) }

// Top selects the root.
func (t *Tree) Top() { t.at = 0; t.clamp() }

// Bottom selects the last row.
func (t *Tree) Bottom() { t.at = len(t.rows) - 1; t.clamp() }

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

// Position is "row 3/48  $.claims[3]".
func (t *Tree) Position() string {
	if len(t.rows) == 0 {
		return "empty"
	}
	return fmt.Sprintf("row %d/%d  %s", t.at+1, len(t.rows), t.Path())
}

// Search finds keys and scalars that have a text, folded away or not, and selects the first at or after the
// selection. A query in lower case matches capitals too. "" ends the search.
func (t *Tree) Search(query string) int {
	t.query, t.matches, t.match = query, nil, 0
	if query == "" || t.root == nil {
		return 0
	}
	fold := query == strings.ToLower(query)
	here, passed := t.selected(), false
	var walk func(n *node)
	walk = func(n *node) {
		if n == here {
			passed = true
			t.match = len(t.matches)
		}
		text := n.key + "\x00" + n.text
		if fold {
			text = strings.ToLower(text)
		}
		if strings.Contains(text, query) {
			t.matches = append(t.matches, n)
		}
		for _, c := range n.children {
			walk(c)
		}
	}
	walk(t.root)
	if !passed || t.match >= len(t.matches) {
		t.match = 0
	}
	t.show()
	return len(t.matches)
}

// Next selects the next match, round the end; d -1 the one before.
func (t *Tree) Next(d int) {
	if n := len(t.matches); n > 0 {
		t.match = ((t.match+d)%n + n) % n
		t.show()
	}
}

func (t *Tree) show() {
	if len(t.matches) == 0 {
		return
	}
	target := t.matches[t.match]
	for n := target.parent; n != nil; n = n.parent {
		n.open = true
	}
	t.flatten()
	if i := slices.Index(t.rows, target); i >= 0 {
		t.at = i
	}
	t.clamp()
}

// SearchState is `"text" 2/7`, "" without a search.
func (t *Tree) SearchState() string {
	switch {
	case t.query == "":
		return ""
	case len(t.matches) == 0:
		return fmt.Sprintf("%q not found", t.query)
	}
	return fmt.Sprintf("%q %d/%d", t.query, t.match+1, len(t.matches))
}

// View is the box.
func (t *Tree) View() string {
	if t.w == 0 || t.h == 0 {
		return ""
	}
	lines := make([]string, 0, t.h)
	for i := t.top; i < len(t.rows) && len(lines) < t.h; i++ {
		line := "  " + t.line(t.rows[i])
		if i == t.at { // the mark shows where colours do not
			line = t.theme.Selected.Render(cell.Fit("> "+ansi.Strip(line[2:]), t.w))
		}
		lines = append(lines, line)
	}
	return cell.Block(lines, t.w, t.h)
}

// maxIndent keeps deep documents readable.
const maxIndent = 24

func (t *Tree) line(n *node) string {
	fold := "  "
	switch {
	case !t.folds(n):
	case n.open:
		fold = "- "
	default:
		fold = "+ "
	}
	var b strings.Builder
	b.WriteString(strings.Repeat(" ", min(2*n.depth, maxIndent)))
	b.WriteString(t.pens.muted.Render(fold))
	switch {
	case n.kind == isLine:
		return b.String() + t.pens.text.Render(n.text)
	case n.parent == nil:
	case n.parent.kind == isObject:
		b.WriteString(t.pens.name.Render(sanitize.Line(n.key)) + ": ")
	default:
		b.WriteString(t.pens.muted.Render(n.step) + " ")
	}
	b.WriteString(t.valueText(n))
	return b.String()
}

func (t *Tree) valueText(n *node) string {
	if n.open && t.folds(n) && n.kind == isString {
		return t.pens.muted.Render(count(len(t.linesOf(n)), "", "", "line"))
	}
	text := cell.Clip(n.text, t.w)
	switch n.kind {
	case isString:
		return t.pens.text.Render(text)
	case isNumber:
		return t.pens.number.Render(text)
	case isWord:
		return t.pens.word.Render(text)
	case isObject:
		return t.pens.muted.Render(count(len(n.children), "{", "}", "key"))
	}
	return t.pens.muted.Render(count(len(n.children), "[", "]", "item"))
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
