package diffview

import (
	"github.com/hitl-tui/hitl-tui/internal/ui/component/pager"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// Source draws a diff as a pager's Source.
func Source(th *theme.Theme, d Diff) pager.Source { return source{th, d.Lines} }

type source struct {
	theme *theme.Theme
	lines []Line
}

func (s source) Len() int { return len(s.lines) }

func (s source) Plain(i int) string {
	l := s.lines[i]
	if l.Kind == Hunk {
		return "~ " + l.Text
	}
	return string(l.Kind) + " " + l.Text
}

func (s source) Line(i int) string {
	text := s.Plain(i)
	switch s.lines[i].Kind {
	case Added:
		return s.theme.Added.Render(text)
	case Removed:
		return s.theme.Removed.Render(text)
	case Hunk:
		return s.theme.Hunk.Render(text)
	}
	return text
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
