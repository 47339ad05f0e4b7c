package workflow

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Fault is one mistake in a file.
type Fault struct {
	File    string `json:"file"`
	Line    int    `json:"line"`   // from 1
	Column  int    `json:"column"` // in characters, from 1
	Message string `json:"message"`
	Excerpt string `json:"excerpt,omitempty"` // the line, with a caret line below it
}

// String is the fault as a compiler would print it: file:line:column: message, and below it the excerpt.
func (f Fault) String() string {
	s := fmt.Sprintf("%s:%d:%d: %s", f.File, f.Line, f.Column, f.Message)
	if f.Excerpt == "" {
		return s
	}
	return s + "\n    " + strings.ReplaceAll(f.Excerpt, "\n", "\n    ")
}

// Faults are all mistakes of a file and of those it names, in order of place. As an error it prints them all.
type Faults []Fault

// Error prints every fault, each with its place and excerpt.
func (f Faults) Error() string {
	parts := make([]string, len(f))
	for i, x := range f {
		parts[i] = x.String()
	}
	return strings.Join(parts, "\n")
}

// sorted returns the faults in order of place, each once.
func (f Faults) sorted() Faults {
	slices.SortStableFunc(f, func(a, b Fault) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return slices.Compact(f)
}

// excerptWidth is how much of a long line an excerpt shows.
const excerptWidth = 100

// excerpt is the line with a caret under column. Control characters are replaced, since it is printed on terminals;
// of a long line only the part around the column is shown.
func excerpt(line string, column int) string {
	runes := []rune(line)
	for i, c := range runes {
		if c < ' ' || c >= 0x7f && c < 0xa0 {
			runes[i] = ' '
		}
	}
	at := min(max(column-1, 0), len(runes))
	lead, tail := "", ""
	if from := at - excerptWidth*2/3; from > 0 && len(runes) > excerptWidth {
		runes, at, lead = runes[from:], at-from, "…"
	}
	if len(runes) > excerptWidth {
		runes, tail = runes[:excerptWidth], "…"
	}
	shown := lead + string(runes) + tail
	return shown + "\n" + strings.Repeat(" ", ansi.StringWidth(lead+string(runes[:at]))) + "^"
}
