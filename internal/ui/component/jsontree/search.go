package jsontree

import (
	"fmt"
	"slices"

	"github.com/hitl-tui/hitl-tui/internal/ui/component/pager"
)

// finder is what is looked for and where it is.
type finder struct {
	query   string
	hits    []hit // from above to below
	current int   // index in hits, -1 for none
}

// hit is a row of the tree, a line of a text in it, or a line above or below the tree.
type hit struct {
	node *node // nil above and below
	line int   // of the text of the node, -1 for its row; above or below, the line there
	past bool  // below the tree
}

// Search finds keys and scalars that have a text, folded away or not, and lines above and below the tree, and shows the
// first from the cursor, or from the top of the window, on. A query in lower case matches capitals too. "" ends the search.
func (t *Tree) Search(query string) int {
	t.find = finder{query: query, current: -1}
	if query == "" || t.root == nil {
		t.find.query = ""
		t.mark()
		return 0
	}
	t.collect()
	if len(t.find.hits) > 0 {
		t.Go(t.firstHit())
	} else {
		t.mark()
	}
	return len(t.find.hits)
}

// searchAgain looks for the same in what was laid out anew, and keeps the place.
func (t *Tree) searchAgain() {
	if t.find.query == "" {
		return
	}
	var was hit
	if t.find.current >= 0 {
		was = t.find.hits[t.find.current]
	}
	t.collect()
	if i := slices.Index(t.find.hits, was); i >= 0 && t.find.current >= 0 {
		t.find.current = i
	}
	t.find.current = min(t.find.current, len(t.find.hits)-1)
	t.mark()
}

func (t *Tree) collect() {
	t.find.hits = t.find.hits[:0]
	for _, i := range pager.Matching(t.above, t.find.query) {
		t.find.hits = append(t.find.hits, hit{line: i})
	}
	t.find.hits = t.index.find(t.find.query, t.find.hits)
	for _, i := range pager.Matching(t.below, t.find.query) {
		t.find.hits = append(t.find.hits, hit{line: i, past: true})
	}
}

// firstHit is the first from the cursor on, or where that is off the screen or nobody has moved it, from the top of the
// window; round the end.
func (t *Tree) firstHit() int {
	first := -1
	if top := t.pager.Offset(); t.at == 0 || !t.seen() {
		first = slices.IndexFunc(t.find.hits, func(x hit) bool {
			switch {
			case x.past:
				return t.above.Len()+len(t.rows)+x.line >= top
			case x.node != nil:
				return top < t.above.Len()+len(t.rows)
			}
			return x.line >= top
		})
	} else {
		here := t.selected()
		if here.kind == isLine {
			here = here.parent
		}
		first = slices.IndexFunc(t.find.hits, func(x hit) bool { return x.past || x.node != nil && x.node.order >= here.order })
	}
	return max(first, 0)
}

// Next shows the next match, round the end; d -1 the one before.
func (t *Tree) Next(d int) {
	if n := len(t.find.hits); n > 0 {
		t.Go(((t.find.current+d)%n + n) % n)
	}
}

// Match is the index of the match that is shown, -1 for none, and how many there are.
func (t *Tree) Match() (current, found int) {
	if len(t.find.hits) == 0 {
		return -1, 0
	}
	return t.find.current, len(t.find.hits)
}

// Go shows match k and unfolds what hides it; with -1 none is the one that was gone to.
func (t *Tree) Go(k int) {
	if k >= len(t.find.hits) {
		return
	}
	t.find.current = k
	if k >= 0 && t.find.hits[k].node != nil {
		t.show(t.find.hits[k])
	}
	if line := t.mark(); line >= 0 {
		t.pager.ShowMatch(line)
	}
}

// show unfolds what hides a hit and moves the cursor there.
func (t *Tree) show(x hit) {
	row := 0
	var way []*node
	for n := x.node; n != nil; n = n.parent {
		way = append(way, n)
	}
	for _, n := range slices.Backward(way) {
		row += slices.Index(t.rows[row:], n)
		if n != x.node || x.line >= 0 || n.isLong(t.w) {
			t.fold(row, true)
		}
	}
	t.moveTo(row+1+x.line, false)
}

// mark marks what is looked for in what is drawn, and gives the line that was gone to, -1 where it is folded away.
func (t *Tree) mark() int {
	line := -1
	if k := t.find.current; k >= 0 && k < len(t.find.hits) {
		switch x := t.find.hits[k]; {
		case x.past:
			line = t.above.Len() + len(t.rows) + x.line
		case x.node == nil:
			line = x.line
		default:
			if row := slices.Index(t.rows, x.node); row >= 0 && (x.line < 0 || x.node.open) {
				line = t.above.Len() + row + 1 + x.line
			}
		}
	}
	t.pager.Mark(t.find.query, line)
	return line
}

// SearchState is `"text" 2/7`, "" without a search.
func (t *Tree) SearchState() string {
	switch {
	case t.find.query == "":
		return ""
	case len(t.find.hits) == 0:
		return fmt.Sprintf("%q not found", t.find.query)
	}
	return fmt.Sprintf("%q %d/%d", t.find.query, t.find.current+1, len(t.find.hits))
}
