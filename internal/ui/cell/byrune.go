package cell

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// ByRune makes a screen whose lines were measured by what reads as one character fit a terminal that counts every code point
// by itself, so that a joined emoji there takes six cells for its two. An emoji is drawn as the first of its parts and as
// wide as it was measured; of letters nothing is lost, and what they take more is taken from the spaces behind them.
func ByRune(screen string) string {
	if !mayDiffer(screen) {
		return screen
	}
	lines := strings.Split(screen, "\n")
	for i, l := range lines {
		if mayDiffer(l) && ansi.StringWidthWc(l) != ansi.StringWidth(l) {
			lines[i] = lineByRune(l)
		}
	}
	return strings.Join(lines, "\n")
}

// mayDiffer tells quickly that a text has no character of several code points.
func mayDiffer(s string) bool {
	for i := 0; i < len(s); {
		if s[i] < utf8.RuneSelf {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case 0x300 <= r && r < 0x2000, r == 0x200d, r == 0x20e3, 0xa000 <= r && r < 0xac00, 0xd7b0 <= r && r < 0xe000,
			0xfe00 <= r && r <= 0xfe0f, 0x1f1e6 <= r && r <= 0x1f1ff, 0x1f3fb <= r && r <= 0x1f3ff, 0x10000 <= r && r < 0x1f000:
			return true
		}
		i += n
	}
	return false
}

func lineByRune(l string) string {
	var b strings.Builder
	debt := 0 // cells drawn beyond those measured
	for l != "" {
		size, cells := Cluster(l)
		if l[0] == 0x1b { // a style
			_, cells, size, _ = ansi.DecodeSequence(l, 0, nil)
		}
		seq := l[:size]
		l = l[size:]
		wide := ansi.StringWidthWc(seq)
		switch {
		case cells == 0:
			b.WriteString(seq)
		case seq == " " && debt > 0 && strings.HasPrefix(l, " "): // one space stays between two words
			debt--
		case wide == cells:
			b.WriteString(seq)
		case pictured(seq):
			r, _ := utf8.DecodeRuneInString(seq)
			b.WriteRune(r)
			b.WriteString(strings.Repeat(" ", max(cells-ansi.StringWidthWc(string(r)), 0)))
		default:
			b.WriteString(seq)
			if debt += wide - cells; debt < 0 {
				b.WriteString(strings.Repeat(" ", -debt))
				debt = 0
			}
		}
	}
	return b.String()
}

// pictured tells whether a character of several code points is an emoji, whose parts are no letters.
func pictured(cluster string) bool {
	r, _ := utf8.DecodeRuneInString(cluster)
	return r < utf8.RuneSelf || 0x2000 <= r && r < 0x3300 || r >= 0x1f000
}
