package cell

import (
	"strings"
	"unicode/utf8"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
)

// Wrap breaks one line of text into rows of at most w cells, at spaces where it can and inside a word where it must.
// An empty line is one empty row. Styles are closed at the end of a row and opened again on the next.
func Wrap(s string, w int) []string {
	if w <= 0 {
		return nil
	}
	if Width(s) <= w {
		return []string{s}
	}
	if strings.IndexByte(s, '\x1b') >= 0 {
		return strings.Split(lipgloss.Wrap(s, w, ""), "\n")
	}
	return wrapPlain(s, w)
}

// WrapText wraps every line of a plain text.
func WrapText(s string, w int) []string {
	var rows []string
	for line := range strings.SplitSeq(s, "\n") {
		rows = append(rows, Wrap(line, w)...)
	}
	return rows
}

// wrapPlain walks the text once, remembering the last space of the row as the place to break.
func wrapPlain(s string, w int) []string {
	var rows []string
	start, width := 0, 0  // of the row
	space, after := -1, 0 // last space in the row, and the row's width up to behind it
	for i := 0; i < len(s); {
		size, cells := Cluster(s[i:])
		if width+cells > w && i > start {
			switch {
			case isSpace(s[i], size):
				rows = append(rows, s[start:i])
				start, width = i+1, 0
				i++
				space = -1
				continue
			case space >= start:
				rows = append(rows, s[start:space])
				start = space + 1
				width -= after
				space = -1
				continue // what stood behind the space may leave no room either
			default:
				rows = append(rows, s[start:i])
				start, width = i, 0
			}
			space = -1
		}
		width += cells
		if isSpace(s[i], size) {
			space, after = i, width
		}
		i += size
	}
	return append(rows, s[start:])
}

// isSpace says whether a cluster is a space alone; one that carries a combining character is no place to break.
func isSpace(first byte, size int) bool { return first == ' ' && size == 1 }

// Cluster gives the size in bytes and the width in cells of the first grapheme cluster of s.
func Cluster(s string) (size, cells int) {
	if s == "" {
		return 0, 0
	}
	if s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		if s[0] < 0x20 || s[0] == 0x7f {
			return 1, 0
		}
		return 1, 1
	}
	c, cells := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	return max(len(c), 1), cells
}
