package graph

import (
	"cmp"
	"slices"

	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
)

// loop is the edges that lead up to one node: they share a lane at the right.
type loop struct {
	to    int // row of the node
	last  int // row of the lowest from which one comes
	edges []int
}

// loops draws the edges that lead up, each in a lane at the right of what it spans.
func (c *canvas) loops() {
	byTarget := map[int]*loop{}
	var all []*loop
	for _, e := range c.upward {
		x := c.edges[e]
		if x.from == x.to {
			r := &c.rows[c.rowOf[x.to]]
			r.again, r.looped = joined(r.again, "↺", x.text), r.looped || x.taken
			continue
		}
		l := byTarget[x.to]
		if l == nil {
			l = &loop{to: c.rowOf[x.to]}
			byTarget[x.to] = l
			all = append(all, l)
		}
		l.last = max(l.last, c.rowOf[x.from])
		l.edges = append(l.edges, e)
	}
	slices.SortStableFunc(all, func(a, b *loop) int {
		return cmp.Or(cmp.Compare(a.last-a.to, b.last-b.to), cmp.Compare(a.to, b.to))
	})
	used := make([][]bool, min(max((c.width-16)/6, 1), 5))
	for _, l := range all {
		lane := slices.IndexFunc(used, func(rows []bool) bool { return rows == nil || !slices.Contains(rows[l.to:l.last+1], true) })
		if lane < 0 {
			c.unlooped(l)
			continue
		}
		if used[lane] == nil {
			used[lane] = make([]bool, len(c.rows))
		}
		for i := l.to; i <= l.last; i++ {
			used[lane][i] = true
		}
		c.loop(l, lane)
	}
}

// loop draws one lane.
func (c *canvas) loop(l *loop, lane int) {
	slices.SortFunc(l.edges, func(a, b int) int {
		return cmp.Compare(c.rowOf[c.edges[b].from], c.rowOf[c.edges[a].from])
	})
	from, w := l.last, uint8(none)
	for _, e := range l.edges {
		x := c.edges[e]
		at := c.rowOf[x.from]
		for ; from > at; from-- {
			c.backBox(from, lane).arm(up, w)
			c.backBox(from-1, lane).arm(down, w)
		}
		c.connect(at, lane, weight(x.taken))
		w = max(w, weight(x.taken))
		if len(l.edges) > 1 {
			c.rows[at].say(x)
		} else {
			c.rows[l.to].say(x)
		}
	}
	for ; from > l.to; from-- {
		c.backBox(from, lane).arm(up, w)
		c.backBox(from-1, lane).arm(down, w)
	}
	c.connect(l.to, lane, w)
	c.rows[l.to].tip = true
}

// connect draws the line from a node to a lane at the right.
func (c *canvas) connect(at, lane int, w uint8) {
	r := &c.rows[at]
	r.fill = max(r.fill, w)
	for i := range lane * 2 {
		r.backBox(i).arm(left, w)
		r.backBox(i).arm(right, w)
	}
	r.backBox(lane*2).arm(left, w)
}

func (c *canvas) backBox(at, lane int) *box { return c.rows[at].backBox(lane * 2) }

func (r *row) backBox(x int) *box {
	for len(r.back) <= x {
		r.back = append(r.back, box{})
	}
	return &r.back[x]
}

// say notes what is written at an edge.
func (r *row) say(e edge) {
	r.note = joined(r.note, e.text)
	r.looped = r.looped || e.taken && e.text != ""
}

// unlooped names where edges lead up that found no lane.
func (c *canvas) unlooped(l *loop) {
	for _, e := range l.edges {
		r := &c.rows[c.rowOf[c.edges[e].from]]
		r.again = joined(r.again, "▴", c.nodes[c.edges[e].to].name, c.edges[e].text)
	}
}

// joined puts texts one after the other, those that are empty left out.
func joined(texts ...string) string {
	all := ""
	for _, t := range texts {
		switch {
		case t == "":
		case all == "":
			all = t
		case cell.Width(all) == 1:
			all += " " + t
		default:
			all += "  " + t
		}
	}
	return all
}
