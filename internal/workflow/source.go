package workflow

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/hitl-tui/hitl-tui/internal/nearest"
)

// position is a place in a file: line and column from 1, the column in characters.
type position struct{ line, column int }

// source is the text of one file, and the faults found in it so far.
type source struct {
	path   string
	lines  []string
	faults Faults

	warnings Faults
	lenient  bool // AgentMap's rules hold

	suggestions int // nearest names looked for so far
	unclear     int // faults that leave open where a node leads
	doubts      int // faults that leave open what else a node says
}

func newSource(path, text string) *source {
	return &source{path: path, lines: strings.Split(text, "\n")}
}

// maxFaults bounds what is reported of one file; an excerpt of a long line for each of its words would take minutes.
const maxFaults = 1000

// fault notes a mistake.
func (s *source) fault(at position, format string, args ...any) {
	if len(s.faults) < maxFaults {
		s.faults = append(s.faults, s.told(at, format, args...))
	}
}

// warn notes what is no mistake, and yet worth knowing.
func (s *source) warn(at position, format string, args ...any) {
	if len(s.warnings) < maxFaults {
		s.warnings = append(s.warnings, s.told(at, format, args...))
	}
}

// told is a message with its place.
func (s *source) told(at position, format string, args ...any) Fault {
	f := Fault{File: s.path, Line: at.line, Column: at.column, Message: fmt.Sprintf(format, args...)}
	if at.line >= 1 && at.line <= len(s.lines) {
		f.Excerpt = excerpt(s.lines[at.line-1], at.column)
	}
	return f
}

// maxSuggestions bounds the search for nearest names, whose cost grows with the number of names: a large file whose
// every line is wrong is still answered at once.
const maxSuggestions = 200

// didYouMean is `; did you mean "x"?`, or nothing when no candidate is near.
func (s *source) didYouMean(name string, candidates []string) string {
	if s.suggestions++; s.suggestions > maxSuggestions {
		return ""
	}
	return nearest.Hint(name, candidates)
}

// place is where byte offset of a scalar's text stands in the file; where folding or escapes over several lines make
// that unclear, the beginning of the scalar.
func (s *source) place(v *value, offset int) position {
	if v.at.line < 1 || v.at.line > len(s.lines) || offset < 0 || offset > len(v.text) {
		return v.at
	}
	line := afterRunes(s.lines[v.at.line-1], v.at.column-1)
	switch v.style {
	case plainStyle:
		if strings.HasPrefix(line, v.text) {
			return position{v.at.line, v.at.column + utf8.RuneCountInString(v.text[:offset])}
		}
	case singleStyle, doubleStyle:
		if n, ok := quotedColumn(line, v.style, offset); ok {
			return position{v.at.line, v.at.column + n}
		}
	case literalStyle:
		return s.literalPlace(v, offset)
	}
	return v.at
}

func (s *source) literalPlace(v *value, offset int) position {
	before := v.text[:offset]
	down := strings.Count(before, "\n")
	start := strings.LastIndexByte(before, '\n') + 1
	text, _, _ := strings.Cut(v.text[start:], "\n")
	n := v.at.line + down // index of the line after the one with the bar
	if n >= len(s.lines) || !strings.HasSuffix(s.lines[n], text) {
		return v.at
	}
	indent := utf8.RuneCountInString(s.lines[n]) - utf8.RuneCountInString(text)
	return position{n + 1, indent + 1 + utf8.RuneCountInString(before[start:])}
}

// quotedColumn walks a quoted scalar, which begins line, and counts the characters written up to byte offset of the
// text they mean.
func quotedColumn(line string, style style, offset int) (columns int, ok bool) {
	quote := byte('\'')
	if style == doubleStyle {
		quote = '"'
	}
	if line == "" || line[0] != quote {
		return 0, false
	}
	rest, columns := line[1:], 1
	for offset > 0 {
		if rest == "" || rest[0] == quote && style == doubleStyle {
			return 0, false
		}
		written, meant := 1, 0
		switch {
		case rest[0] == '\\' && style == doubleStyle:
			written, meant = escapeLength(rest)
		case rest[0] == quote:
			written, meant = 2, 1
		default:
			_, meant = utf8.DecodeRuneInString(rest)
			written = meant
		}
		if written > len(rest) {
			return 0, false
		}
		columns += utf8.RuneCountInString(rest[:written])
		rest, offset = rest[written:], offset-meant
	}
	return columns, true
}

// escapeLength is how many bytes the escape at the beginning of s takes, and how many it stands for.
func escapeLength(s string) (written, meant int) {
	if len(s) < 2 {
		return len(s), 1
	}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}[s[1]]
	if digits == 0 || len(s) < 2+digits {
		return 2, 1
	}
	var r rune
	if _, err := fmt.Sscanf(s[2:2+digits], "%x", &r); err != nil {
		return 2, 1
	}
	return 2 + digits, max(utf8.RuneLen(r), 1)
}

func afterRunes(s string, n int) string {
	for i := range s {
		if n <= 0 {
			return s[i:]
		}
		n--
	}
	return ""
}
