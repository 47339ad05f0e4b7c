// Package tabs draws the line of tabs at the top of the desk.
package tabs

import (
	"fmt"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// Tab is one tab. Alarm marks a count that wants to be seen.
type Tab struct {
	Key   string // the key that goes there
	Label string
	Short string // for narrow screens; "" is Label
	Count int64  // below 0: none shown
	Alarm bool
}

// View draws one line of exactly w cells with a note (the store's name) at the right. The active tab is in brackets.
// Where not all fit, keys are left out, then labels are shortened, then tabs far from the active one go.
func View(th *theme.Theme, items []Tab, active int, note string, w int) string {
	if w <= 0 {
		return ""
	}
	note = sanitize.Line(note)
	for _, form := range []struct{ keys, short, alone, note bool }{
		{true, false, false, true}, {true, true, false, true}, {false, true, false, true}, {false, true, true, true},
		{false, true, true, false},
	} {
		text := draw(th, items, active, form.keys, form.short, form.alone)
		right := ""
		if form.note && note != "" {
			right = th.BarMuted.Render(" " + cell.Clip(note, w/3) + " ")
		}
		if gap := w - cell.Width(text) - cell.Width(right); gap >= 0 {
			return text + th.Bar.Render(strings.Repeat(" ", gap)) + right
		}
	}
	return cell.Fit(draw(th, items, active, false, true, true), w)
}

func draw(th *theme.Theme, items []Tab, active int, keys, short, alone bool) string {
	var b strings.Builder
	for i, t := range items {
		if alone && i != active && !t.Alarm {
			continue
		}
		text := t.Label
		if short && t.Short != "" {
			text = t.Short
		}
		if keys && t.Key != "" {
			text = t.Key + " " + text
		}
		if t.Count >= 0 {
			text += fmt.Sprintf(" %d", t.Count)
		}
		switch {
		case i == active:
			b.WriteString(th.TabActive.Render("[" + text + "]"))
		case t.Alarm && t.Count > 0:
			b.WriteString(th.BarDanger.Render(" " + text + "!"))
		default:
			b.WriteString(th.Tab.Render(" " + text + " "))
		}
	}
	return b.String()
}
