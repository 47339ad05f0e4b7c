package pager

import (
	"fmt"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// search is what is looked for and the lines where it is.
type search struct {
	query   string
	matches []int // lines, ascending
	current int   // index in matches, -1 for none
	outside bool  // the owner searches; matches is the line that it has found now
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

// Contains tells whether a text has a query. A query in lower case matches capitals too.
func Contains(text, query string) bool {
	if strings.Contains(text, query) {
		return true
	}
	return FoldsCase(query) && containsFolded(text, query)
}

// containsFolded is for a query in lower case. Of a hundred thousand lines none is copied that is ASCII.
func containsFolded(text, query string) bool {
	capitals := false
	for i := range len(text) {
		if text[i] >= utf8.RuneSelf {
			return strings.Contains(strings.ToLower(text), query)
		}
		capitals = capitals || text[i] >= 'A' && text[i] <= 'Z'
	}
	for i := 0; capitals && i+len(query) <= len(text); i++ {
		n := 0
		for n < len(query) && lowered(text[i+n]) == query[n] {
			n++
		}
		if n == len(query) {
			return true
		}
	}
	return false
}

func lowered(c byte) byte {
	if c >= 'A' && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}

// Matching lists the lines of a source that contain a query.
func Matching(src Source, query string) []int {
	if query == "" {
		return nil
	}
	return matching(src, query)
}

func matching(src Source, query string) []int {
	var found []int
	if j, ok := src.(joined); ok {
		for k, part := range j.parts {
			for _, i := range matching(part, query) {
				found = append(found, j.from[k]+i)
			}
		}
		return found
	}
	for i := range src.Len() {
		if Contains(plainLine(src, i), query) {
			found = append(found, i)
		}
	}
	return found
}

// FoldsCase tells whether a query matches capitals too: one that has none itself.
func FoldsCase(query string) bool { return query == strings.ToLower(query) }

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
	p.Go(sort.SearchInts(p.find.matches, p.line) % len(p.find.matches))
	return len(p.find.matches)
}

// Next goes to the next match, round the end; d -1 to the one before.
func (p *Pager) Next(d int) {
	if n := len(p.find.matches); n > 0 {
		p.Go(((p.find.current+d)%n + n) % n)
	}
}

// Match is the index of the match that is shown, -1 for none, and how many there are.
func (p *Pager) Match() (current, found int) {
	if len(p.find.matches) == 0 {
		return -1, 0
	}
	return p.find.current, len(p.find.matches)
}

// Go shows match k; with -1 none is the one that was gone to.
func (p *Pager) Go(k int) {
	if k >= len(p.find.matches) {
		return
	}
	p.find.current = k
	p.forget()
	if k >= 0 {
		p.show(p.find.matches[k])
	}
}

// Mark marks a query in all lines, and in one of them, -1 for none, as what was found now. It is for an owner that
// searches by itself, because some of what it finds is on no line.
func (p *Pager) Mark(query string, line int) {
	p.find = search{query: query, matches: []int{line}, outside: true}
	if line < 0 {
		p.find.matches, p.find.current = nil, -1
	}
	p.forget()
}

// ShowMatch has the row of a line on screen that has what is marked; where it was not, with what stands before it.
func (p *Pager) ShowMatch(line int) { p.show(line) }

func (p *Pager) show(at int) {
	sub := 0
	for i, row := range p.rowsOf(at) {
		if Contains(ansi.Strip(row), p.find.query) {
			sub = i
			break
		}
	}
	if p.hasRow(at, sub) {
		return
	}
	p.line, p.sub = at, sub
	p.Scroll(-p.h / 3)
}

// hasRow tells whether a row of a line is on screen.
func (p *Pager) hasRow(line, sub int) bool {
	y := -p.sub
	for i := p.line; i < line && y < p.h; i++ {
		y += len(p.rowsOf(i))
	}
	return line >= p.line && y+sub >= 0 && y+sub < p.h
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
	current := s.current >= 0 && s.current < len(s.matches) && s.matches[s.current] == i
	return Highlight(th, line, s.query, current)
}
