package diffview

import (
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/pager"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// LeastForSides is the width from which before and after stand beside each other with room to be read.
const LeastForSides = 70

// mostForSides bounds the lines that are laid out beside each other, for which all must be wrapped at once.
const mostForSides = 5000

// Sides draws a diff with before at the left and after at the right, each change beside what it takes the place of. What
// is too narrow or too long for that is drawn one below the other.
func Sides(th *theme.Theme, d Diff, w int) pager.Source {
	if w < LeastForSides || len(d.Lines) > mostForSides {
		return Source(th, d)
	}
	s := sides{theme: th, w: (w - 3) / 2}
	for i := 0; i < len(d.Lines); {
		from := i
		switch d.Lines[i].Kind {
		case Hunk:
			s.rows = append(s.rows, th.Hunk.Render(cell.Clip("~ "+d.Lines[i].Text, w)))
			i++
		case Same:
			s.pair(d.Lines[i:i+1], d.Lines[i:i+1])
			i++
		default:
			for i < len(d.Lines) && d.Lines[i].Kind == Removed {
				i++
			}
			removed := d.Lines[from:i]
			from = i
			for i < len(d.Lines) && d.Lines[i].Kind == Added {
				i++
			}
			s.pair(removed, d.Lines[from:i])
		}
	}
	return s.rows
}

type sides struct {
	theme *theme.Theme
	w     int // of one side
	rows  pager.Lines
}

// pair puts lines beside each other, one by one; a line that takes more rows than the other leaves empty ones there.
func (s *sides) pair(left, right []Line) {
	for i := range max(len(left), len(right)) {
		l, r := s.half(left, i), s.half(right, i)
		for n := range max(len(l), len(r)) {
			s.rows = append(s.rows, rowOf(l, n, s.w)+s.theme.Border.Render(" │ ")+strings.TrimRight(rowOf(r, n, s.w), " "))
		}
	}
}

func rowOf(rows []string, n, w int) string {
	if n < len(rows) {
		return cell.Fit(rows[n], w)
	}
	return strings.Repeat(" ", w)
}

// half is line i of a side, wrapped, each row with its mark.
func (s *sides) half(lines []Line, i int) []string {
	if i >= len(lines) {
		return nil
	}
	style := s.theme.Text
	switch lines[i].Kind {
	case Added:
		style = s.theme.Added
	case Removed:
		style = s.theme.Removed
	}
	rows := cell.Wrap(lines[i].Text, max(s.w-2, 1))
	for n := range rows {
		rows[n] = style.Render(string(lines[i].Kind) + " " + rows[n])
	}
	return rows
}
