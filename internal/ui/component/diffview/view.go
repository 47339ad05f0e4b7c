package diffview

import (
	"fmt"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/pager"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// Source draws a diff as a pager's Source, with the numbers of its lines where the pager is wide enough.
func Source(th *theme.Theme, d Diff) pager.Source {
	return source{theme: th, lines: d.Lines, digits: digits(d.Lines)}
}

// leastBesideNumbers is how many cells of text have to be left for the numbers of lines to be shown.
const leastBesideNumbers = 50

// digits is the length of the largest number of a line, 0 where none is known.
func digits(lines []Line) int {
	largest := 0
	for _, l := range lines {
		largest = max(largest, l.Old, l.New)
	}
	if largest == 0 {
		return 0
	}
	return len(strconv.Itoa(largest))
}

// numberOf is the number of a line at the right of n cells.
func numberOf(line, n int) string {
	if line == 0 {
		return strings.Repeat(" ", n)
	}
	return fmt.Sprintf("%*d", n, line)
}

type source struct {
	theme  *theme.Theme
	lines  []Line
	digits int
}

func (s source) Len() int { return len(s.lines) }

// Plain is the text of a line, which alone is searched.
func (s source) Plain(i int) string { return s.lines[i].Text }

// Line is line i without numbers.
func (s source) Line(i int) string {
	l := s.lines[i]
	sign := string(l.Kind) + " "
	if l.Kind == Hunk {
		sign = hunkSign
	}
	return styleOf(s.theme, l.Kind).Render(sign + l.Text)
}

const hunkSign = "~ "

func styleOf(th *theme.Theme, k Kind) lipgloss.Style {
	switch k {
	case Added:
		return th.Added
	case Removed:
		return th.Removed
	case Hunk:
		return th.Hunk
	}
	return th.Text
}

func (s source) Rows(i, w int, wrap bool, mark func(string) string) []string {
	gutter, l := 2*s.digits+2, s.lines[i]
	if s.digits == 0 || l.Kind == Hunk || w-gutter < leastBesideNumbers {
		return pager.Break(mark(s.Line(i)), w, wrap)
	}
	style, sign := styleOf(s.theme, l.Kind), string(l.Kind)+" "
	rows := pager.Break(mark(style.Render(l.Text)), w-gutter-len(sign), wrap)
	numbers := numberOf(l.Old, s.digits) + " " + numberOf(l.New, s.digits) + " "
	for n := range rows {
		rows[n] = s.theme.Muted.Render(numbers) + style.Render(sign) + rows[n]
		numbers, sign = strings.Repeat(" ", gutter), "  "
	}
	return rows
}

// View is a scrolling view of a diff.
type View struct {
	*pager.Pager
	theme *theme.Theme
	diff  Diff
}

// New makes an empty view.
func New(th *theme.Theme) *View { return &View{Pager: pager.New(th), theme: th} }

// SetDiff shows a diff from its start.
func (v *View) SetDiff(d Diff) { v.diff = d; v.SetSource(Source(v.theme, d)) }

// UpdateDiff shows a newer state of the same diff and stays where it is.
func (v *View) UpdateDiff(d Diff) { v.diff = d; v.Replace(Source(v.theme, d)) }

// Summary says how much changed.
func (v *View) Summary() string { return v.diff.Summary() }

// SetTheme changes the colours.
func (v *View) SetTheme(th *theme.Theme) {
	v.theme = th
	v.Pager.SetTheme(th)
	v.Replace(Source(th, v.diff))
}
