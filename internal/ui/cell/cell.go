// Package cell makes text fit boxes of terminal cells: cut, pad, wrap and join, always to an exact width.
//
// Its functions keep SGR styles and never measure by bytes or runes. They take text that is already safe: control
// characters, escape sequences and the like have been made visible by package sanitize before.
package cell

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

const ellipsis = "…"

// Width is the number of cells s takes on one line.
func Width(s string) int {
	if isPlain(s) {
		return len(s)
	}
	return ansi.StringWidth(s)
}

func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// Fit cuts or pads s to exactly w cells. What is cut shows as an ellipsis.
func Fit(s string, w int) string {
	if w <= 0 {
		return ""
	}
	s = cut(s, w)
	if n := w - Width(s); n > 0 {
		return s + strings.Repeat(" ", n)
	}
	return s
}

// Clip cuts s to at most w cells and pads nothing.
func Clip(s string, w int) string {
	if w <= 0 {
		return ""
	}
	return cut(s, w)
}

func cut(s string, w int) string {
	if strings.ContainsAny(s, "\n\t\r") {
		s = strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", "    ").Replace(s)
	}
	s = stand(s)
	if Width(s) <= w {
		return s
	}
	return ansi.Truncate(s, w, ellipsis)
}

// stand gives a text that starts with a combining character a carrier; without one it would merge with what is drawn
// before it, and the line would be a cell too short.
func stand(s string) string {
	const carrier, longest = "◌", 16
	if s == "" || s[0] < utf8.RuneSelf {
		return s
	}
	if size, _ := Cluster(" " + s[:min(len(s), longest)]); size > 1 {
		return carrier + s
	}
	return s
}

// Right pads s on the left to exactly w cells.
func Right(s string, w int) string {
	s = Clip(s, w)
	if n := w - Width(s); n > 0 {
		return strings.Repeat(" ", n) + s
	}
	return s
}

// Between puts left and right at the two ends of exactly w cells; where both do not fit, left is cut first, down to
// a third of the width, then right.
func Between(left, right string, w int) string {
	if w <= 0 {
		return ""
	}
	if right == "" {
		return Fit(left, w)
	}
	right = Clip(right, max(w-min(Width(left), w/3)-1, 0))
	if right == "" {
		return Fit(left, w)
	}
	return Fit(left, w-Width(right)-1) + " " + right
}

// Block makes exactly h lines of exactly w cells of lines.
func Block(lines []string, w, h int) string {
	if w <= 0 || h <= 0 {
		return ""
	}
	var b strings.Builder
	b.Grow(h * (w + 1))
	blank := ""
	for i := range h {
		if i > 0 {
			b.WriteByte('\n')
		}
		if i < len(lines) {
			b.WriteString(Fit(lines[i], w))
			continue
		}
		if blank == "" {
			blank = strings.Repeat(" ", w)
		}
		b.WriteString(blank)
	}
	return b.String()
}

// Columns joins blocks of the same height side by side, sep between them.
func Columns(sep string, blocks ...string) string {
	if len(blocks) == 0 {
		return ""
	}
	split := make([][]string, len(blocks))
	height := 0
	for i, b := range blocks {
		split[i] = strings.Split(b, "\n")
		height = max(height, len(split[i]))
	}
	var b strings.Builder
	for row := range height {
		if row > 0 {
			b.WriteByte('\n')
		}
		for i, lines := range split {
			if i > 0 {
				b.WriteString(sep)
			}
			if row < len(lines) {
				b.WriteString(lines[row])
			} else if len(lines) > 0 {
				b.WriteString(strings.Repeat(" ", Width(lines[0])))
			}
		}
	}
	return b.String()
}

// Overlay lays a box over a screen with its upper left corner at x, y. What is under it is hidden; what reaches over
// the edge is cut.
func Overlay(screen, box string, x, y int) string {
	lines := strings.Split(screen, "\n")
	for i, row := range strings.Split(box, "\n") {
		if at := y + i; at >= 0 && at < len(lines) {
			lines[at] = overlayLine(lines[at], row, x)
		}
	}
	return strings.Join(lines, "\n")
}

func overlayLine(line, row string, x int) string {
	width, n := Width(line), Width(row)
	if x >= width {
		return line
	}
	const plain = "\x1b[m"
	left := Fit(ansi.Cut(line, 0, x), x) + plain
	if x+n >= width {
		return left + Fit(ansi.Truncate(row, width-x, ""), width-x)
	}
	// A wide character cut in half at the right edge leaves a cell to fill.
	return left + row + plain + Right(ansi.Cut(line, x+n, width), width-x-n)
}

// Centre lays a box over the middle of a screen of w by h cells.
func Centre(screen, box string, w, h int) string {
	rows := strings.Split(box, "\n")
	return Overlay(screen, box, max((w-Width(rows[0]))/2, 0), max((h-len(rows))/2, 0))
}
