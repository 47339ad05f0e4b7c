// Package sanitize makes text from outside safe to put on a terminal. What could move the cursor, change colours,
// hide or reorder text is shown as a visible escape instead of being obeyed. It must run before text is measured or
// wrapped, since widths of what it changes mean nothing.
//
// It knows nothing of styles: callers sanitise first and style afterwards.
package sanitize

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// TabWidth is the distance of tab stops, in cells.
const TabWidth = 4

// Text makes s safe as text of several lines. Only \n stays of all control characters:
//
//   - CRLF, and a CR that ends the text, become \n; a CR within a line is shown, as it would overwrite the line
//   - tabs become spaces up to the next multiple of TabWidth characters
//   - other C0 controls are shown as ^[, DEL as ^?, C1 controls, bidi controls, zero-width and other invisible
//     characters as <U+202E>, bytes that are no UTF-8 as <\xff>
//   - a zero width joiner between two emoji and a variation selector after a visible character stay: they are part
//     of how emoji are written, and can neither hide nor reorder text; anywhere else they are shown
//
// Text(Text(s)) is Text(s). Clean text is returned as it is, without allocation.
func Text(s string) string {
	i := firstUnsafe(s, true)
	if i < 0 {
		return s
	}
	return rewrite(s, i, true)
}

// Line is Text for a place of one line: line ends are shown as a return sign.
func Line(s string) string {
	i := firstUnsafe(s, false)
	if i < 0 {
		return s
	}
	return rewrite(s, i, false)
}

// lineEnd stands for a line end in a text that must be one line.
const lineEnd = '⏎'

// firstUnsafe is the index of the first byte that may need rewriting, -1 for none.
func firstUnsafe(s string, lines bool) int {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\n' && lines:
		case c < 0x20 || c == 0x7f:
			return i
		case c >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n <= 1 || hidden(r) || joins(r) {
				return i
			}
			i += n - 1
		}
	}
	return -1
}

func rewrite(s string, from int, lines bool) string {
	var b strings.Builder
	b.Grow(len(s) + 16)
	b.WriteString(s[:from])
	column := utf8.RuneCountInString(s[strings.LastIndexByte(s[:from], '\n')+1 : from])
	last := lastRune(s[:from])
	write := func(r rune) { b.WriteRune(r); column++ }
	show := func(text string) { b.WriteString(text); column += len(text) }
	for i := from; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case r == '\r' && (i == len(s) || s[i] == '\n'):
			if i < len(s) {
				continue // the \n that follows ends the line
			}
			fallthrough
		case r == '\n':
			if lines {
				b.WriteByte('\n')
				column = 0
			} else {
				write(lineEnd)
			}
		case r == '\t':
			for k := TabWidth - column%TabWidth; k > 0; k-- {
				write(' ')
			}
		case r == utf8.RuneError && n == 1:
			show(fmt.Sprintf(`<\x%02x>`, s[i-1]))
		case r < 0x20:
			show("^" + string(r+'@'))
		case r == 0x7f:
			show("^?")
		case joins(r) && mayJoin(r, last, s[i:]):
			b.WriteRune(r)
		case hidden(r) || joins(r):
			show(fmt.Sprintf("<U+%04X>", r))
		default:
			write(r)
		}
		last = r
	}
	return b.String()
}

func lastRune(s string) rune {
	r, n := utf8.DecodeLastRuneInString(s)
	if n == 0 {
		return 0
	}
	return r
}

const (
	joiner = '\u200d' // zero width joiner
	textVS = '\ufe0e' // variation selectors: draw the character before as text,
	emojiV = '\ufe0f' // or as an emoji
)

// joins says whether r is allowed, but only in its place.
func joins(r rune) bool { return r == joiner || r == textVS || r == emojiV }

// mayJoin says whether r stands where it belongs: between two emoji, or after a character that can be drawn two ways.
func mayJoin(r, before rune, rest string) bool {
	if r != joiner {
		return emoji(before) || '0' <= before && before <= '9' || before == '#' || before == '*'
	}
	after, _ := utf8.DecodeRuneInString(rest)
	return (emoji(before) || before == emojiV) && emoji(after)
}

// emoji says whether r lies in one of the blocks that emoji come from. It includes symbols that are none; what
// matters is that letters, digits and punctuation of scripts are outside.
func emoji(r rune) bool {
	return 0x1f000 <= r && r <= 0x1faff || 0x2190 <= r && r <= 0x2bff || r == 0x00a9 || r == 0x00ae || r == 0x203c || r == 0x2049 ||
		r == 0x2122 || r == 0x2139 || r == 0x3030 || r == 0x303d || r == 0x3297 || r == 0x3299
}

// hidden says whether r shows nothing, or changes how its neighbours are shown, so that a person cannot see it. The
// replacement character is no such: it is visible.
func hidden(r rune) bool {
	switch {
	case r < 0x80:
		return false
	case 0xad < r && r < 0x300, 0x3001 <= r && r < 0xd800 && r != 0x3164: // most of what people write, told apart quickly
		return false
	case r < 0xa0: // C1 controls: some terminals obey them as escape sequences
		return true
	case r == 0xad, r == 0x34f, r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0: // soft hyphen, grapheme joiner, fillers
		return true
	case r == 0x17b4, r == 0x17b5, 0x180b <= r && r <= 0x180f: // inherent vowels, Mongolian selectors
		return true
	case r == 0x2028, r == 0x2029: // line and paragraph separator
		return true
	case 0x2000 <= r && r <= 0x200a, r == 0x205f, r == 0x3000, r == 0xa0, r == 0x202f: // spaces
		return false
	case 0xfe00 <= r && r <= 0xfe0d, 0xe0000 <= r && r <= 0xe0fff: // variation selectors, tags
		return true
	case r == joiner: // joins decides
		return false
	}
	// Cf holds the bidi controls, zero width characters, the byte order mark, interlinear annotation and shorthand
	// controls; Co and Cs have no agreed look.
	return unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs)
}
