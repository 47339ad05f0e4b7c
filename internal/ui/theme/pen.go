package theme

import (
	"strings"

	"charm.land/lipgloss/v2"
)

// Pen draws pieces of one line as a style without width, border or padding does, for loops that draw hundreds of
// them a frame: what the style puts around a text is worked out once.
type Pen struct{ before, after string }

// NewPen makes the pen of a style.
func NewPen(s lipgloss.Style) Pen {
	const probe = "x"
	before, after, _ := strings.Cut(s.Render(probe), probe)
	return Pen{before, after}
}

// Render draws a piece.
func (p Pen) Render(s string) string {
	if s == "" {
		return ""
	}
	return p.before + s + p.after
}
