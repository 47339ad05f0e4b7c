// Package pager scrolls through any number of lines. It wraps and draws only what is on screen, so that a text of a
// megabyte or a hundred thousand lines costs no more than a page.
package pager

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// Source gives the lines to show. A line is safe and may carry styles; it is asked for only when it is on screen.
type Source interface {
	Len() int
	Line(i int) string
}

// Layout is a Source that breaks its lines into rows itself: one with a gutter before the text, or with two texts side
// by side.
type Layout interface {
	// Rows is line i as one or more rows of at most w cells, long text wrapped or cut. mark puts a style on what is
	// searched for in a piece of text, which may carry styles already.
	Rows(i, w int, wrap bool, mark func(string) string) []string
}

// rowsOf lays out a line of any Source.
func rowsOf(src Source, i, w int, wrap bool, mark func(string) string) []string {
	if l, ok := src.(Layout); ok {
		return l.Rows(i, w, wrap, mark)
	}
	return Break(mark(src.Line(i)), w, wrap)
}

// Break makes rows of at most w cells of a line: all of it wrapped, or its beginning.
func Break(line string, w int, wrap bool) []string {
	if wrap {
		return cell.Wrap(line, max(w, 1))
	}
	return []string{cell.Clip(line, w)}
}

// Lines is a Source of lines that are there already.
type Lines []string

// Len is the number of lines.
func (l Lines) Len() int { return len(l) }

// Line is line i.
func (l Lines) Line(i int) string { return l[i] }

// Text makes a Source of raw outside text.
func Text(raw string) Lines {
	return strings.Split(strings.TrimSuffix(sanitize.Text(raw), "\n"), "\n")
}

// Pager is a scrolling view of a Source.
type Pager struct {
	theme *theme.Theme
	src   Source
	w, h  int
	wrap  bool

	line, sub int // the row at the top: line of the source, row of it when wrapped
	x         int // cells hidden at the left, when not wrapped
	rows      map[int][]string
	rowsWidth int
	find      search
}

// New makes an empty pager that wraps.
func New(th *theme.Theme) *Pager { return &Pager{theme: th, src: Lines(nil), wrap: true} }

// SetTheme changes the styles of search matches; the owner gives a new Source for the rest.
func (p *Pager) SetTheme(th *theme.Theme) { p.theme = th; p.forget() }

// SetSize sets the box.
func (p *Pager) SetSize(w, h int) {
	if w != p.w {
		p.forget()
		p.sub = 0
	}
	p.w, p.h = max(w, 0), max(h, 0)
	p.clamp()
}

// SetSource shows something else, from its start. A running search is forgotten.
func (p *Pager) SetSource(src Source) {
	p.src, p.line, p.sub, p.x, p.find = src, 0, 0, 0, search{}
	p.forget()
}

// Replace shows a new version of the same thing and stays where it is.
func (p *Pager) Replace(src Source) {
	p.src = src
	p.forget()
	if p.find.query != "" && !p.find.outside {
		p.find.matches = matching(src, p.find.query)
		p.find.current = max(min(p.find.current, len(p.find.matches)-1), 0)
	}
	p.clamp()
}

// SetText shows raw outside text.
func (p *Pager) SetText(raw string) { p.SetSource(Text(raw)) }

// SetWrap wraps long lines, or cuts them and scrolls sideways.
func (p *Pager) SetWrap(on bool) {
	if on != p.wrap {
		p.wrap, p.sub, p.x = on, 0, 0
		p.forget()
		p.clamp()
	}
}

// Wrapped says whether long lines are wrapped.
func (p *Pager) Wrapped() bool { return p.wrap }

// Len is the number of lines of the source.
func (p *Pager) Len() int { return p.src.Len() }

func (p *Pager) forget() { p.rows = nil; p.rowsWidth = p.w }

// cacheLimit bounds the wrapped lines kept.
const cacheLimit = 4096

func (p *Pager) rowsOf(i int) []string {
	if p.rows == nil || p.rowsWidth != p.w || len(p.rows) > cacheLimit {
		p.rows, p.rowsWidth = map[int][]string{}, p.w
	}
	if r, ok := p.rows[i]; ok {
		return r
	}
	mark := func(text string) string { return p.find.highlight(p.theme, i, text) }
	var r []string
	if p.x > 0 && !p.wrap {
		r = []string{ansi.Cut(mark(p.src.Line(i)), p.x, p.x+p.w)}
	} else {
		r = rowsOf(p.src, i, p.w, p.wrap, mark)
	}
	p.rows[i] = r
	return r
}

// Scroll moves by rows.
func (p *Pager) Scroll(d int) {
	n := p.src.Len()
	for ; d > 0 && p.line < n; d-- {
		if p.sub+1 < len(p.rowsOf(p.line)) {
			p.sub++
		} else if p.line+1 < n {
			p.line, p.sub = p.line+1, 0
		} else {
			break
		}
	}
	for ; d < 0; d++ {
		if p.sub > 0 {
			p.sub--
		} else if p.line > 0 {
			p.line--
			p.sub = len(p.rowsOf(p.line)) - 1
		} else {
			break
		}
	}
	p.clamp()
}

// Page moves by windows.
func (p *Pager) Page(d int) { p.Scroll(d * max(p.h-1, 1)) }

// HalfPage moves by half windows.
func (p *Pager) HalfPage(d int) { p.Scroll(d * max(p.h/2, 1)) }

// Top goes to the start.
func (p *Pager) Top() { p.line, p.sub = 0, 0 }

// Bottom goes to the end.
func (p *Pager) Bottom() { p.line, p.sub = p.end() }

// ScrollTo shows a line of the source at the top, or as far up as it can be.
func (p *Pager) ScrollTo(line int) { p.line, p.sub = line, 0; p.clamp() }

// ScrollX moves sideways by cells, when not wrapped.
func (p *Pager) ScrollX(d int) {
	if x := max(p.x+d, 0); !p.wrap && x != p.x {
		p.x = x
		p.forget()
	}
}

// Redraw has lines drawn again that have changed.
func (p *Pager) Redraw(lines ...int) {
	for _, i := range lines {
		delete(p.rows, i)
	}
}

// Shows tells whether the first and the last row of a line are on screen.
func (p *Pager) Shows(line int) (first, last bool) {
	row := -p.sub // of the window
	for i := p.line; i < p.src.Len() && row < p.h; i++ {
		n := len(p.rowsOf(i))
		if i == line {
			return row >= 0, row+n <= p.h
		}
		row += n
	}
	return false, false
}

// Reveal scrolls no farther than it takes to have a line on screen; of one that has no room its first rows, or its last.
func (p *Pager) Reveal(line int, last bool) {
	if first, end := p.Shows(line); first && end {
		return
	}
	switch n := len(p.rowsOf(line)); {
	case n >= p.h && last:
		p.line, p.sub = line, n-p.h
	case n >= p.h, line < p.line, line == p.line && p.sub > 0:
		p.line, p.sub = line, 0
	default:
		p.scrollToEnd(line)
	}
	p.clamp()
}

// scrollToEnd has the last row of a line at the bottom of the window.
func (p *Pager) scrollToEnd(line int) {
	left := p.h
	for i := line; i >= 0; i-- {
		n := len(p.rowsOf(i))
		if n >= left {
			p.line, p.sub = i, n-left
			return
		}
		left -= n
	}
	p.line, p.sub = 0, 0
}

// Offset is the line of the source at the top of the window.
func (p *Pager) Offset() int { return p.line }

// end is the top row of the last full window, found from the end backwards.
func (p *Pager) end() (line, sub int) {
	left := p.h
	for i := p.src.Len() - 1; i >= 0; i-- {
		n := len(p.rowsOf(i))
		if n >= left {
			return i, n - left
		}
		left -= n
	}
	return 0, 0
}

func (p *Pager) clamp() {
	n := p.src.Len()
	p.line = max(min(p.line, n-1), 0)
	if n == 0 || p.w == 0 || p.h == 0 {
		p.sub = 0
		return
	}
	p.sub = max(min(p.sub, len(p.rowsOf(p.line))-1), 0)
	if n-p.line > p.h {
		return
	}
	if line, sub := p.end(); p.line > line || p.line == line && p.sub > sub {
		p.line, p.sub = line, sub
	}
}

// AtBottom says whether the last row is on screen.
func (p *Pager) AtBottom() bool { return p.lastVisible() >= p.src.Len()-1 }

func (p *Pager) lastVisible() int {
	rows := -p.sub
	for i := p.line; i < p.src.Len(); i++ {
		rows += len(p.rowsOf(i))
		if rows > p.h || rows == p.h {
			if rows == p.h {
				return i
			}
			return max(i-1, p.line)
		}
	}
	return p.src.Len() - 1
}

// Position is "lines 1-14/48  29%": what is on screen and how much has been seen up to its end.
func (p *Pager) Position() string {
	n := p.src.Len()
	if n == 0 || p.h == 0 {
		return "empty"
	}
	last := p.lastVisible() + 1
	return fmt.Sprintf("lines %d-%d/%d  %d%%", p.line+1, last, n, last*100/n)
}

// View is the box.
func (p *Pager) View() string {
	if p.w == 0 || p.h == 0 {
		return ""
	}
	lines := make([]string, 0, p.h)
	sub := p.sub
	for i := p.line; i < p.src.Len() && len(lines) < p.h; i++ {
		rows := p.rowsOf(i)
		rows = rows[min(sub, len(rows)):]
		sub = 0
		lines = append(lines, rows[:min(len(rows), p.h-len(lines))]...)
	}
	return cell.Block(lines, p.w, p.h)
}
