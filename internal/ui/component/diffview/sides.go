package diffview

import (
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/pager"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// LeastForSides is the width from which before and after stand beside each other with room to be read.
const LeastForSides = 70

// leastHalfBesideNumbers is how many cells of text have to be left on each side for the numbers of lines to be shown.
const leastHalfBesideNumbers = 32

// Sides draws a diff with before at the left and after at the right, each change beside what it takes the place of, with
// the numbers of lines where there is room. What is too narrow for that is drawn one below the other.
func Sides(th *theme.Theme, d Diff, w int) pager.Source {
	if w < LeastForSides {
		return Source(th, d)
	}
	s := sides{theme: th, lines: d.Lines, digits: digits(d.Lines), w: w}
	for i := 0; i < len(d.Lines); {
		if k := d.Lines[i].Kind; k == Hunk || k == Same {
			s.pairs = append(s.pairs, pair{i, i})
			i++
			continue
		}
		removed := i
		for i < len(d.Lines) && d.Lines[i].Kind == Removed {
			i++
		}
		added := i
		for i < len(d.Lines) && d.Lines[i].Kind == Added {
			i++
		}
		for n := range max(added-removed, i-added) {
			p := pair{removed + n, added + n}
			if p.left >= added {
				p.left = none
			}
			if p.right >= i {
				p.right = none
			}
			s.pairs = append(s.pairs, p)
		}
	}
	return s
}

// pair is what stands beside each other: indexes of lines, or none.
type pair struct{ left, right int }

const none = -1

// sides lays out its pairs when they are on screen.
type sides struct {
	theme  *theme.Theme
	lines  []Line
	pairs  []pair
	digits int
	w      int
}

func (s sides) Len() int { return len(s.pairs) }

func (s sides) Plain(i int) string {
	p := s.pairs[i]
	switch {
	case p.left == none:
		return s.lines[p.right].Text
	case p.right == none || p.left == p.right:
		return s.lines[p.left].Text
	}
	return s.lines[p.left].Text + between + s.lines[p.right].Text
}

func (s sides) Line(i int) string {
	return s.Rows(i, s.w, false, func(text string) string { return text })[0]
}

const between = " │ "

func (s sides) Rows(i, w int, wrap bool, mark func(string) string) []string {
	p := s.pairs[i]
	if p.left != none && s.lines[p.left].Kind == Hunk {
		return []string{mark(s.theme.Hunk.Render(cell.Clip(hunkSign+s.lines[p.left].Text, w)))}
	}
	half := max((w-cell.Width(between))/2, 1)
	var rows []string
	l, r := s.half(p.left, half, true, wrap, mark), s.half(p.right, half, false, wrap, mark)
	for n := range max(len(l), len(r)) {
		rows = append(rows, rowOf(l, n, half)+s.theme.Border.Render(between)+strings.TrimRight(rowOf(r, n, half), " "))
	}
	return rows
}

func rowOf(rows []string, n, w int) string {
	if n < len(rows) {
		return cell.Fit(rows[n], w)
	}
	return strings.Repeat(" ", w)
}

// half is a line on its side in rows of w cells, each with its mark.
func (s sides) half(i, w int, before, wrap bool, mark func(string) string) []string {
	if i == none {
		return nil
	}
	l := s.lines[i]
	style, sign, number := styleOf(s.theme, l.Kind), string(l.Kind)+" ", ""
	gutter := s.digits + 1
	if s.digits > 0 && w-gutter-len(sign) >= leastHalfBesideNumbers {
		number = numberOf(l.New, s.digits) + " "
		if before {
			number = numberOf(l.Old, s.digits) + " "
		}
	}
	rows := pager.Break(mark(style.Render(l.Text)), max(w-len(number)-len(sign), 1), wrap)
	for n := range rows {
		rows[n] = s.theme.Muted.Render(number) + style.Render(sign) + rows[n]
		number = strings.Repeat(" ", len(number))
	}
	return rows
}
