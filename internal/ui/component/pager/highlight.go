package pager

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// Highlight marks a query in a line that may carry styles; current is the line that was gone to. It takes time in proportion
// to the line, which may be a megabyte and have the query at every word.
func Highlight(th *theme.Theme, line, query string, current bool) string {
	if query == "" {
		return line
	}
	plain := ansi.Strip(line)
	found := wholeClusters(plain, occurrences(plain, query))
	if len(found) == 0 {
		return line
	}
	style := th.Match
	if current {
		style = th.CurrentMatch
	}
	return paint(line, found, theme.NewPen(style))
}

// span is a part of a text, in bytes.
type span struct{ from, to int }

// occurrences is where a query is in a text.
func occurrences(plain, query string) []span {
	hay := plain
	if FoldsCase(query) {
		hay = strings.ToLower(plain)
	}
	if len(hay) != len(plain) {
		hay = plain
	}
	var found []span
	for from := 0; ; {
		at := strings.Index(hay[from:], query)
		if at < 0 {
			return found
		}
		found = append(found, span{from + at, from + at + len(query)})
		from += at + len(query)
	}
}

// wholeClusters widens spans, which ascend, to whole characters as they are seen: an accent is not cut from its letter.
func wholeClusters(plain string, found []span) []span {
	if strings.IndexFunc(plain, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return found
	}
	whole := found[:0]
	start, end := 0, 0 // of a cluster
	next := func() {
		size, _ := cell.Cluster(plain[end:])
		start, end = end, end+size
	}
	for _, s := range found {
		for end <= s.from {
			next()
		}
		s.from = start
		for end < s.to {
			next()
		}
		s.to = end
		if n := len(whole); n > 0 && s.from < whole[n-1].to { // both are in one cluster
			whole[n-1].to = s.to
			continue
		}
		whole = append(whole, s)
	}
	return whole
}

// paint draws spans of the text of a line with a pen, in place of the styles that they have, and the rest as it is.
func paint(line string, found []span, pen theme.Pen) string {
	var b strings.Builder
	b.Grow(len(line) + 16*len(found))
	styles, at := "", 0 // those in force, and where in the text
	for line != "" {
		if line[0] == ansi.ESC {
			_, _, n, _ := ansi.DecodeSequence(line, ansi.NormalState, nil)
			b.WriteString(line[:n])
			styles = restyled(styles, line[:n])
			line = line[n:]
			continue
		}
		text := line
		if n := strings.IndexByte(line, ansi.ESC); n >= 0 {
			text = line[:n]
		}
		line = line[len(text):]
		for text != "" {
			if len(found) > 0 && found[0].to <= at {
				found = found[1:]
				continue
			}
			n, marked := len(text), len(found) > 0 && found[0].from <= at
			if marked {
				n = min(n, found[0].to-at)
			} else if len(found) > 0 {
				n = min(n, found[0].from-at)
			}
			if marked && styles != "" {
				b.WriteString(ansi.ResetStyle + pen.Render(text[:n]) + styles)
			} else if marked {
				b.WriteString(pen.Render(text[:n]))
			} else {
				b.WriteString(text[:n])
			}
			text, at = text[n:], at+n
		}
	}
	return b.String()
}

// restyled is the styles in force after a sequence.
func restyled(styles, sequence string) string {
	body, is := strings.CutPrefix(sequence, "\x1b[")
	if body, is = strings.CutSuffix(body, "m"); !is {
		return styles
	}
	switch {
	case body == "", body == "0":
		return ""
	case strings.HasPrefix(body, "0;"):
		return sequence
	}
	return styles + sequence
}
