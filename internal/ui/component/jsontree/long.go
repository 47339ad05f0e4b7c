package jsontree

import (
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
)

// folds says whether there is anything to unfold at a node: what is in it, or the lines of a text that has no room on one.
func (t *Tree) folds(n *node) bool { return len(n.children) > 0 || len(t.linesOf(n)) > 0 }

// linesOf is the lines of a text that does not fit on its row, none of any other node. What is under review has to be
// read, and an argument of a call is often a whole letter.
func (t *Tree) linesOf(n *node) []*node {
	if n.kind != isString || n.full == "" || t.w == 0 {
		return nil
	}
	if n.linesFor == t.w {
		return n.lines
	}
	n.lines, n.linesFor = nil, t.w
	before := 4 + min(2*n.depth, maxIndent) + cell.Width(sanitize.Line(n.key)) + len(": ")
	if !strings.Contains(n.full, "\n") && before+cell.Width(n.text) <= t.w {
		return nil
	}
	room := max(t.w-4-min(2*(n.depth+1), maxIndent), 8)
	for _, row := range cell.WrapText(strings.TrimSuffix(sanitize.Text(n.full), "\n"), room) {
		n.lines = append(n.lines, &node{kind: isLine, text: row, parent: n, depth: n.depth + 1})
	}
	return n.lines
}
