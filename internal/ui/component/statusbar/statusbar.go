// Package statusbar draws one line of what is going on: what just happened at the left, what needs attention at the
// right.
package statusbar

import (
	"strings"

	"charm.land/lipgloss/v2"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// Level is how loud a part is.
type Level int

// The levels. Danger parts are drawn with a leading "! ".
const (
	Plain Level = iota
	Muted
	Good
	Warning
	Danger
)

// Part is a piece of the line. Text is raw; it is made safe here.
type Part struct {
	Text  string
	Level Level
}

// View draws one line of exactly w cells. Right is kept whole as long as it takes no more than half of it.
func View(th *theme.Theme, left, right []Part, w int) string {
	if w <= 0 {
		return ""
	}
	r := join(th, right)
	if len(right) > 0 {
		r = cell.Clip(r, max(w/2, w-cell.Width(join(th, left))-2)) + th.Bar.Render(" ")
	}
	l := th.Bar.Render(" ") + join(th, left)
	gap := min(len(right), 1)
	l = cell.Clip(l, max(w-cell.Width(r)-gap, 0))
	return cell.Clip(l+th.Bar.Render(strings.Repeat(" ", max(w-cell.Width(l)-cell.Width(r), 0)))+r, w)
}

func join(th *theme.Theme, parts []Part) string {
	var b strings.Builder
	for i, p := range parts {
		if i > 0 {
			b.WriteString(th.Bar.Render("  "))
		}
		text := sanitize.Line(p.Text)
		if p.Level == Danger {
			text = "! " + text
		}
		b.WriteString(style(th, p.Level).Render(text))
	}
	return b.String()
}

func style(th *theme.Theme, l Level) lipgloss.Style {
	switch l {
	case Muted:
		return th.BarMuted
	case Good:
		return th.BarSuccess
	case Warning:
		return th.BarWarning
	case Danger:
		return th.BarDanger
	}
	return th.Bar
}
