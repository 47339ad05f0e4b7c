package textarea

import (
	"strings"
	"unicode/utf8"

	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
)

// span is one row of a line when wrapped: its bytes.
type span struct{ from, to int }

const tabWidth = 4

// glyph is how one cluster is drawn, and its width.
func (a *Area) glyph(cluster string, cells int) (string, int) {
	switch {
	case a.masked:
		return "*", 1
	case len(cluster) == 1 && cluster[0] >= 0x20 && cluster[0] < 0x7f:
		return cluster, 1
	case cluster == "\t":
		return strings.Repeat(" ", tabWidth), tabWidth
	}
	safe := sanitize.Line(cluster)
	if safe == cluster {
		return cluster, cells
	}
	return safe, cell.Width(safe)
}

// width is the width of a piece of a line as it is drawn.
func (a *Area) width(s string) int {
	n := 0
	for i := 0; i < len(s); {
		size, w := a.step(s, i)
		n += w
		i += size
	}
	return n
}

// drawn is a piece of a line as it is drawn, at most w cells.
func (a *Area) drawn(s string, w int) string {
	var b strings.Builder
	n := 0
	for i := 0; i < len(s); {
		size, cells := cell.Cluster(s[i:])
		g, gw := a.glyph(s[i:i+size], cells)
		if n+gw > w {
			break
		}
		b.WriteString(g)
		n += gw
		i += size
	}
	return b.String()
}

// layout gives the rows of a line, kept until the line or the width changes.
func (a *Area) layout(i int) []span {
	if s, ok := a.layouts[i]; ok {
		return s
	}
	if a.layouts == nil || len(a.layouts) > 4096 {
		a.layouts = map[int][]span{}
	}
	s := a.wrap(a.lines[i], max(a.w, 2))
	a.layouts[i] = s
	return s
}

// wrap breaks a line at spaces where it can. A row keeps the spaces at its end, and every byte is in one row, so
// that the cursor has a place everywhere.
func (a *Area) wrap(line string, w int) []span {
	var rows []span
	start, width := 0, 0
	brk, brkWidth := -1, 0 // behind the last space of the row, and the width up to there
	for i := 0; i < len(line); {
		size, gw := a.step(line, i)
		if width+gw > w && i > start {
			if line[i] == ' ' && size == 1 && width == w { // a space may hang over the edge
				i += size
				rows = append(rows, span{start, i})
				start, width, brk = i, 0, -1
				continue
			}
			if brk > start {
				rows = append(rows, span{start, brk})
				start, width = brk, width-brkWidth
			} else {
				rows = append(rows, span{start, i})
				start, width = i, 0
			}
			brk = -1
		}
		width += gw
		i += size
		if line[i-size] == ' ' && size == 1 {
			brk, brkWidth = i, width
		}
	}
	return append(rows, span{start, len(line)})
}

// step is the size in bytes and the width as drawn of the cluster at i. Most are plain ASCII, which needs no search.
func (a *Area) step(line string, i int) (size, width int) {
	if c := line[i]; c >= 0x20 && c < 0x7f && (i+1 == len(line) || line[i+1] < utf8.RuneSelf) {
		return 1, 1
	}
	size, cells := cell.Cluster(line[i:])
	_, width = a.glyph(line[i:i+size], cells)
	return size, width
}

// rowOf is the row in which a byte of the line is.
func rowOf(rows []span, col int) int {
	for i := len(rows) - 1; i > 0; i-- {
		if col >= rows[i].from {
			return i
		}
	}
	return 0
}

// follow moves the window so that the cursor is in it.
func (a *Area) follow() {
	if a.single || a.w == 0 || a.h == 0 {
		return
	}
	a.top = max(min(a.top, len(a.lines)-1), 0)
	sub := rowOf(a.layout(a.row), a.col)
	if a.row < a.top || a.row == a.top && sub < a.topSub {
		a.top, a.topSub = a.row, sub
		return
	}
	// The lowest top from which the cursor is still on screen.
	line, s, left := a.row, sub, a.h-1
	for left > 0 && (line > 0 || s > 0) {
		if s > 0 {
			step := min(s, left)
			s -= step
			left -= step
			continue
		}
		line--
		s = len(a.layout(line)) - 1
		left--
	}
	if a.top < line || a.top == line && a.topSub < s {
		a.top, a.topSub = line, s
	}
}

// jsonLen is the length of s inside a compact JSON string, as encoding/json writes it without HTML escapes.
func jsonLen(s string) int {
	n := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			n += asciiLen(c)
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1, r == '\u2028', r == '\u2029':
			n += len(`\ufffd`)
		default:
			n += size
		}
		i += size
	}
	return n
}

func asciiLen(c byte) int {
	switch {
	case c == '"', c == '\\', c == '\b', c == '\f', c == '\n', c == '\r', c == '\t':
		return 2
	case c < 0x20:
		return 6
	}
	return 1
}
