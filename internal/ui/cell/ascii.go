package cell

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// ASCII draws a screen for a terminal that shows nothing else: lines, marks and signs become the nearest of its characters
// and every other character a question mark, each as wide as it was measured. Styles stay.
func ASCII(screen string) string {
	var b strings.Builder
	b.Grow(len(screen))
	for screen != "" {
		n := plainPrefix(screen)
		b.WriteString(screen[:n])
		if screen = screen[n:]; screen == "" {
			break
		}
		size, cells := Cluster(screen)
		b.WriteString(strings.Repeat(string(nearest(screen[:size])), cells))
		screen = screen[size:]
	}
	return b.String()
}

// plainPrefix is how much of a text can stay as it is: ASCII, styles among it, up to a character that has something else in
// it. A keycap begins with a digit, so that the last character before that is looked at with it.
func plainPrefix(s string) int {
	n := 0
	for n < len(s) && s[n] < utf8.RuneSelf {
		n++
	}
	if n == 0 || n == len(s) || s[n-1] < ' ' || isFinal(s[:n]) {
		return n
	}
	if size, _ := Cluster(s[n-1:]); size > 1 {
		return n - 1
	}
	return n
}

// isFinal tells whether a text ends with an escape sequence, whose last byte is no character.
func isFinal(s string) bool {
	at := strings.LastIndexByte(s, 0x1b)
	if at < 0 {
		return false
	}
	_, _, size, _ := ansi.DecodeSequence(s[at:], 0, nil)
	return at+size == len(s)
}

// nearest is the character that looks most like a cluster, a question mark for none.
func nearest(cluster string) byte {
	r, size := utf8.DecodeRuneInString(cluster)
	if size < len(cluster) {
		return '?'
	}
	if 0x2500 <= r && r <= 0x257f { // lines and their corners
		switch r {
		case '─', '━', '┄', '┅', '┈', '┉', '╌', '╍', '╴', '╶', '╸', '╺', '╼', '╾':
			return '-'
		case '═':
			return '='
		case '│', '┃', '┆', '┇', '┊', '┋', '╎', '╏', '║', '╵', '╷', '╹', '╻', '╽', '╿':
			return '|'
		}
		return '+'
	}
	if i := strings.IndexRune(drawn, r); i >= 0 {
		return like[utf8.RuneCountInString(drawn[:i])]
	}
	return '?'
}

// drawn are the signs that the desk draws or that texts are full of, and like what each becomes.
const (
	drawn = "…›‹→←↑↓·•●○✓✗×⏎◂▸▾▲▼△▽◆◇■□▪▁▂▃▄▅▆▇█▉▊▋▌▍▎▏░▒▓“”„‘’–—−" + "\u00a0"
	like  = `.><><^v.**ovxx$<>v^v^v**#.._.-=+*%####||||.:#"""''---` + " "
)
