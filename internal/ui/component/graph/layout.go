package graph

import (
	"fmt"
	"slices"
)

// row is one line of a drawing.
type row struct {
	boxes  []box  // of the lanes at the left: lane i is box 2i
	node   int    // that stands here, -1 without
	col    int    // its lane
	text   string // of an edge, behind the lanes
	bent   bool   // text goes on from the line
	taken  bool   // the edge
	back   []box  // of the lanes at the right
	tip    bool   // an edge from below arrives at the node
	fill   uint8  // weight of the line between the node and the lanes at the right
	looped bool   // note is of an edge that was taken
	note   string // of the edges that arrive from below
	again  string // of edges that lead up and found no lane
}

// canvas is the drawing as it grows downwards.
type canvas struct {
	*plan
	spaced bool
	width  int
	lanes  []lane
	rows   []row
	rowOf  []int // by node
	upward []int // edges that lead up

	planned []planned
}

// lane is a column in which a line goes down to its target.
type lane struct {
	to    int // -1: free
	taken bool
}

// maxRefs is how many edges of a node that found no lane are named.
const maxRefs = 5

// layout draws the left part: nodes, and the edges that lead down.
func layout(p *plan, w int, spaced bool) *canvas {
	c := &canvas{plan: p, spaced: spaced, width: w, rowOf: make([]int, len(p.nodes)), lanes: make([]lane, max(2, min((w-12)/5, 12)))}
	for i := range c.lanes {
		c.lanes[i].to = -1
	}
	for _, i := range p.order {
		c.place(i)
	}
	return c
}

// place draws a node and what leaves it.
func (c *canvas) place(i int) {
	col := slices.IndexFunc(c.lanes, func(l lane) bool { return l.to == i })
	if col < 0 {
		col = c.free(0)
	}
	if n := len(c.rows); c.spaced && n > 0 && c.rows[n-1].node >= 0 {
		c.add(row{node: -1})
	}
	if col < len(c.lanes) {
		c.lanes[col] = lane{to: -1}
	}
	c.rowOf[i] = len(c.rows)
	at := c.add(row{node: i, col: col})
	c.boxAt(at, col)
	c.leave(i, col)
}

// free is the free lane at or right of from, else left of it, else one more than there are.
func (c *canvas) free(from int) int {
	for i := range c.lanes {
		if at := (from + i) % len(c.lanes); c.lanes[at].to < 0 {
			return at
		}
	}
	return len(c.lanes)
}

// add adds a row through which all lanes pass.
func (c *canvas) add(r row) int {
	for i, l := range c.lanes {
		if l.to >= 0 {
			x := r.box(i * 2)
			x.arm(up, l.weight())
			x.arm(down, l.weight())
		}
	}
	c.rows = append(c.rows, r)
	return len(c.rows) - 1
}

func (c *canvas) boxAt(at, lane int) *box { return c.rows[at].box(lane * 2) }

func (r *row) box(x int) *box {
	for len(r.boxes) <= x {
		r.boxes = append(r.boxes, box{})
	}
	return &r.boxes[x]
}

func (l lane) weight() uint8 { return weight(l.taken) }

func weight(taken bool) uint8 {
	if taken {
		return heavy
	}
	return light
}

// branch is one row of edges that leave a node.
type branch struct {
	edges []int
	named bool // instead of lines ref says where they lead
	ref   string
}

// leave draws the edges that leave node i, which stands in lane col. One leads straight on; those with nothing written at
// them share a row; each other has one.
func (c *canvas) leave(i, col int) {
	var ways []int
	for _, e := range c.nodes[i].next {
		if c.at[c.edges[e].to] <= c.at[i] {
			c.upward = append(c.upward, e)
			continue
		}
		ways = append(ways, e)
	}
	var rows, on []branch // on: what goes straight on has its row right above its node
	if straight := c.straight(ways, col); straight >= 0 {
		c.lanes[col] = lane{c.edges[straight].to, c.edges[straight].taken}
		ways = slices.DeleteFunc(ways, func(e int) bool { return e == straight })
		if c.edges[straight].text != "" {
			on = []branch{{edges: []int{straight}}}
		}
	}
	fan := branch{}
	var single, refs []branch
	for _, e := range ways {
		switch {
		case !c.assign(e, col):
			refs = append(refs, c.refer(e))
		case c.edges[e].text == "":
			fan.edges = append(fan.edges, e)
		default:
			single = append(single, branch{edges: []int{e}})
		}
	}
	if len(fan.edges) > 0 {
		rows = append(rows, fan)
	}
	if n := len(refs); n > maxRefs {
		refs = append(refs[:maxRefs-1], branch{edges: refs[n-1].edges, named: true, ref: fmt.Sprintf("%d more", n-maxRefs+1)})
	}
	c.branches(slices.Concat(rows, single, refs, on), col)
}

// pull draws an edge to a node whose lane is at the right of lane col, which is free: the lane comes over here, so that the
// way goes on at the left.
func (c *canvas) pull(at, col, from int, w uint8) {
	moved := c.lanes[from]
	was := moved.weight()
	c.lanes[col] = lane{moved.to, moved.taken || w == heavy}
	c.lanes[from].to = -1
	stem, corner := c.boxAt(at, col), c.boxAt(at, from)
	stem.arm(up, w)
	stem.arm(down, c.lanes[col].weight())
	stem.arm(right, was)
	*corner = box{up: was}
	corner.arm(left, was)
	c.across(at, col, from, was)
}

// across draws a line between two lanes, the first at the left.
func (c *canvas) across(at, from, to int, w uint8) {
	for i := from*2 + 1; i < to*2; i++ {
		x := c.rows[at].box(i)
		x.arm(left, w)
		x.arm(right, w)
	}
}

// straight is the edge that goes on in the node's own lane, -1 without: the first of those that lead to a node without a
// lane and stand highest.
func (c *canvas) straight(ways []int, col int) int {
	if col >= len(c.lanes) {
		return -1
	}
	best := -1
	for _, e := range ways {
		if c.laneTo(c.edges[e].to) < 0 && (best < 0 || c.before(e, best)) {
			best = e
		}
	}
	return best
}

// before reports whether edge a rather than b goes straight on: not what ends or fails, then what needs no condition, then
// what leads on where several ways come together, so that a detour is at the side.
func (c *canvas) before(a, b int) bool {
	rank := func(e int) int {
		x := c.edges[e]
		switch to := c.nodes[x.to]; {
		case to.end:
			return 0
		case x.fails:
			return 1
		case x.text != "" && !x.taken:
			return 2
		case to.into == 1:
			return 3
		}
		return 4
	}
	if ra, rb := rank(a), rank(b); ra != rb {
		return ra > rb
	}
	return rank(a) == 4 && c.at[c.edges[a].to] > c.at[c.edges[b].to]
}

func (c *canvas) laneTo(i int) int {
	return slices.IndexFunc(c.lanes, func(l lane) bool { return l.to == i })
}

// assign gives the target of an edge a lane, where it has none; false where there is none.
func (c *canvas) assign(e, col int) bool {
	to := c.edges[e].to
	if c.laneTo(to) >= 0 || slices.ContainsFunc(c.planned, func(l planned) bool { return l.to == to }) {
		return true
	}
	lane := c.freeBeside(col)
	if lane < 0 {
		return false
	}
	c.planned = append(c.planned, planned{to, lane})
	return true
}

// planned is a lane that the next rows begin.
type planned struct{ to, lane int }

// freeBeside is a free lane at the right of col, else at its left, -1 without.
func (c *canvas) freeBeside(col int) int {
	for i := 1; i <= len(c.lanes); i++ {
		at := (col + i) % len(c.lanes)
		if at != col && c.lanes[at].to < 0 && !slices.ContainsFunc(c.planned, func(l planned) bool { return l.lane == at }) {
			return at
		}
	}
	return -1
}

// refer names where an edge leads that found no lane.
func (c *canvas) refer(e int) branch {
	x := c.edges[e]
	ref := c.nodes[x.to].name
	if x.text != "" {
		ref += "  " + x.text
	}
	return branch{edges: []int{e}, named: true, ref: ref}
}

// branches draws the rows of edges below a node.
func (c *canvas) branches(rows []branch, col int) {
	for k, b := range rows {
		later := uint8(none)
		for _, x := range rows[k+1:] {
			later = max(later, c.heaviest(x.edges))
		}
		here := c.heaviest(b.edges)
		at := c.add(row{node: -1, taken: here == heavy, text: c.edges[b.edges[0]].text})
		stem := c.boxAt(at, col)
		stem.arm(up, max(here, later))
		if later > none {
			stem.arm(down, later)
		}
		if b.named {
			stem.arm(right, here)
			c.across(at, col, (len(c.rows[at].boxes)+1)/2, here)
			c.rows[at].text = "▸ " + b.ref
			c.rows[at].bent = true
			continue
		}
		for _, e := range b.edges {
			c.bend(at, col, e)
		}
	}
	c.planned = c.planned[:0]
}

func (c *canvas) heaviest(edges []int) uint8 {
	w := uint8(none)
	for _, e := range edges {
		w = max(w, weight(c.edges[e].taken))
	}
	return w
}

// bend draws an edge from lane col to the lane of its target, in one row.
func (c *canvas) bend(at, col, e int) {
	x := c.edges[e]
	to := c.laneTo(x.to)
	if to == col {
		return
	}
	w := weight(x.taken)
	if to < 0 {
		i := slices.IndexFunc(c.planned, func(l planned) bool { return l.to == x.to })
		to = c.planned[i].lane
		c.lanes[to] = lane{to: x.to}
	}
	if col < len(c.lanes) && c.lanes[col].to < 0 && to > col {
		c.pull(at, col, to, w)
		return
	}
	c.lanes[to].taken = c.lanes[to].taken || x.taken
	c.boxAt(at, to).arm(down, w)
	if to > col {
		c.boxAt(at, col).arm(right, w)
		c.boxAt(at, to).arm(left, w)
	} else {
		c.boxAt(at, col).arm(left, w)
		c.boxAt(at, to).arm(right, w)
	}
	c.across(at, min(to, col), max(to, col), w)
}
