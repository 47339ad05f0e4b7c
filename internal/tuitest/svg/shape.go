package svg

import (
	"fmt"
	"strings"
)

// rect is a filled rectangle.
type rect struct {
	x, y, w, h int
	fill       string
}

// mark draws above the backgrounds.
func (d *drawing) mark(x, y, w, h int, fill string) {
	d.marks = append(d.marks, rect{x, y, w, h, fill})
}

// arms are the directions in which the lines of a box character leave the middle of its cell.
const (
	up = 1 << iota
	down
	left
	right
)

// boxes are the characters of which frames and trees are made.
func boxes(r rune) int {
	switch r {
	case '─':
		return left | right
	case '│':
		return up | down
	case '┌':
		return down | right
	case '┐':
		return down | left
	case '└':
		return up | right
	case '┘':
		return up | left
	case '├':
		return up | down | right
	case '┤':
		return up | down | left
	case '┬':
		return down | left | right
	case '┴':
		return up | left | right
	case '┼':
		return up | down | left | right
	}
	return 0
}

// shape draws a character that must join its neighbours, or be as large as it says, and tells whether it is one.
func (d *drawing) shape(content string, x, y int, fill string) bool {
	rs := []rune(content)
	if len(rs) != 1 {
		return false
	}
	r := rs[0]
	switch {
	case boxes(r) != 0:
		d.box(boxes(r), x, y, fill)
	case strings.ContainsRune("╭╮╰╯", r):
		d.corner(r, x, y, fill)
	case r >= '▁' && r <= '█': // from one eighth of the height to all of it
		h := cellH * int(r-'▁'+1) / 8
		d.mark(x, y+cellH-h, cellW, h, fill)
	case r > '█' && r <= '▏': // from seven eighths of the width to one
		d.mark(x, y, max(cellW*int('▏'-r+1)/8, 1), cellH, fill)
	default:
		return false
	}
	return true
}

func (d *drawing) box(arms, x, y int, fill string) {
	cx, cy := x+cellW/2-stroke/2, y+cellH/2-stroke/2
	switch arms & (up | down) {
	case up | down:
		d.mark(cx, y, stroke, cellH, fill)
	case up:
		d.mark(cx, y, stroke, cellH/2+stroke/2, fill)
	case down:
		d.mark(cx, cy, stroke, cellH/2+stroke/2, fill)
	}
	switch arms & (left | right) {
	case left | right:
		d.mark(x, cy, cellW, stroke, fill)
	case left:
		d.mark(x, cy, cellW/2+stroke/2, stroke, fill)
	case right:
		d.mark(cx, cy, cellW/2+stroke/2, stroke, fill)
	}
}

// corner draws a round one.
func (d *drawing) corner(r rune, x, y int, fill string) {
	cx, cy := x+cellW/2, y+cellH/2
	fromY, toX := y, x
	if r == '╭' || r == '╮' {
		fromY = y + cellH
	}
	if r == '╭' || r == '╰' {
		toX = x + cellW
	}
	fmt.Fprintf(&d.text, `<path d="M%d %dQ%d %d %d %d" fill="none" stroke="%s" stroke-width="%d"/>`+"\n", cx, fromY, cx, cy, toX, cy, fill, stroke)
}

// merge joins rectangles of one colour that touch along a whole side: first those beside each other, then those below.
// None of them may overlap one of another colour, for what is joined is drawn early.
func merge(rects []rect) []rect {
	var rows []rect
	last := map[[2]int]int{} // by top and height
	for _, r := range rects {
		i, ok := last[[2]int{r.y, r.h}]
		if ok && rows[i].fill == r.fill && rows[i].x+rows[i].w == r.x {
			rows[i].w += r.w
			continue
		}
		last[[2]int{r.y, r.h}] = len(rows)
		rows = append(rows, r)
	}
	var out []rect
	below := map[[2]int]int{} // by left and width
	for _, r := range rows {
		i, ok := below[[2]int{r.x, r.w}]
		if ok && out[i].fill == r.fill && out[i].y+out[i].h == r.y {
			out[i].h += r.h
			continue
		}
		below[[2]int{r.x, r.w}] = len(out)
		out = append(out, r)
	}
	return out
}
