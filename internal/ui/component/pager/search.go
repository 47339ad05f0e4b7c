package pager

import (
	"fmt"
	"sort"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// search is what is looked for and the lines where it is.
type search struct {
	query   string
	matches []int // lines, ascending
	current int   // index in matches
}

// Plain is a Source that can give a line without styles faster than by stripping them.
type Plain interface{ Plain(i int) string }

func plainLine(src Source, i int) string {
	if p, ok := src.(Plain); ok {
		return p.Plain(i)
	}
	line := src.Line(i)
	if strings.IndexByte(line, 0x1b) < 0 {
		return line
	}
	return ansi.Strip(line)
}

func matching(src Source, query string) []int {
	fold := foldCase(query)
	var found []int
	for i := range src.Len() {
		line := plainLine(src, i)
		if fold {
			line = strings.ToLower(line)
		}
		if strings.Contains(line, query) {
			found = append(found, i)
		}
	}
	return found
}

// foldCase: a query without capitals matches both.
func foldCase(query string) bool { return query == strings.ToLower(query) }

// Search looks for a text, shows the first line at or after the top of the window that has it, and tells how many
// lines do. "" ends the search. A query in lower case matches capitals too.
func (p *Pager) Search(query string) int {
	p.find = search{query: query}
	p.forget()
	if query == "" {
		return 0
	}
	p.find.matches = matching(p.src, query)
	if len(p.find.matches) == 0 {
		return 0
	}
	p.find.current = sort.SearchInts(p.find.matches, p.line) % len(p.find.matches)
	p.show()
	return len(p.find.matches)
}

// Next goes to the next match, round the end; d -1 to the one before.
func (p *Pager) Next(d int) {
	n := len(p.find.matches)
	if n == 0 {
		return
	}
	p.find.current = ((p.find.current+d)%n + n) % n
	p.show()
}

func (p *Pager) show() {
	p.forget()
	at := p.find.matches[p.find.current]
	if at < p.line || at > p.lastVisible() {
		p.ScrollTo(max(at-p.h/3, 0))
	}
}

// SearchState is `"text" 2/7`, "" without a search.
func (p *Pager) SearchState() string {
	switch {
	case p.find.query == "":
		return ""
	case len(p.find.matches) == 0:
		return fmt.Sprintf("%q not found", p.find.query)
	}
	return fmt.Sprintf("%q %d/%d", p.find.query, p.find.current+1, len(p.find.matches))
}

// highlight marks the matches in a line.
func (s *search) highlight(th *theme.Theme, i int, line string) string {
	if s.query == "" {
		return line
	}
	plain := ansi.Strip(line)
	hay := plain
	if foldCase(s.query) {
		hay = strings.ToLower(plain)
	}
	if len(hay) != len(plain) {
		hay = plain
	}
	style := th.Match
	if len(s.matches) > 0 && s.matches[s.current] == i {
		style = th.CurrentMatch
	}
	var ranges []lipgloss.Range
	for from := 0; ; {
		at := strings.Index(hay[from:], s.query)
		if at < 0 {
			break
		}
		start := cell.Width(plain[:from+at])
		ranges = append(ranges, lipgloss.NewRange(start, start+cell.Width(s.query), style))
		from += at + len(s.query)
	}
	if len(ranges) == 0 {
		return line
	}
	return lipgloss.StyleRanges(line, ranges...)
}
