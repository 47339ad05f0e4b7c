package jsontree

import (
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
)

// A text is read whole: what is under review is often a letter in an argument of a call. One of several lines unfolds into
// them; one of a single line is wrapped where it stands.

// folds says whether there is anything to unfold at a node at a width.
func (n *node) folds(w int) bool { return len(n.children) > 0 || n.hasLines() || n.isLong(w) }

// hasLines says whether a text has several lines.
func (n *node) hasLines() bool { return n.kind == isString && strings.Contains(n.full, "\n") }

// isLong says whether a text of one line has no room on its row.
func (n *node) isLong(w int) bool {
	return n.kind == isString && n.full != "" && !n.hasLines() && n.before()+cell.Width(n.text) > w
}

// before is how many cells stand before the value of a node.
func (n *node) before() int {
	name := 0
	switch {
	case n.parent == nil:
	case n.parent.kind == isObject:
		name = cell.Width(sanitize.Line(n.key)) + len(": ")
	default:
		name = len(n.step) + 1
	}
	return markWidth + min(2*n.depth, maxIndent) + foldWidth + name
}

// linesOf is the lines of a text of several, none of any other node.
func (n *node) linesOf() []*node {
	if n.lines == nil && n.hasLines() {
		for line := range strings.SplitSeq(strings.TrimSuffix(sanitize.Text(n.full), "\n"), "\n") {
			n.lines = append(n.lines, &node{kind: isLine, text: line, parent: n, depth: n.depth + 1})
		}
	}
	return n.lines
}

// rowsOf is the text of a node in rows of a width.
func (n *node) rowsOf(w int) []string {
	if n.wrapFor != w {
		n.wrapped, n.wrapFor = cell.Wrap(n.text, w), w
	}
	return n.wrapped
}

// leastWrap is the least width to which a text is wrapped, however deep it stands.
const leastWrap = 8
