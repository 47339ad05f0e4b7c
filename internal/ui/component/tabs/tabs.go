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
// Where not all fit, labels are shortened; then, as one that is narrow, the line has no keys and tells the active tab by
// its whole name in capitals, and an alarm by capitals; then tabs go from the right, but never the active one or an alarm.
func View(th *theme.Theme, items []Tab, active int, note string, w int) string {
	if w <= 0 {
		return ""
	}
	right := ""
	if note != "" {
		right = th.BarMuted.Render(" " + cell.Clip(sanitize.Line(note), max(w/3, 1)) + " ")
	}
	shown := make([]bool, len(items))
	for i := range shown {
		shown[i] = true
	}
	for _, form := range []style{{keys: true}, {keys: true, short: true}, {narrow: true}} {
		if text := draw(th, items, shown, active, form); cell.Width(text)+cell.Width(right) <= w {
			return fill(th, text, right, w)
		}
	}
	for i := len(items) - 1; i >= 0; i-- {
		if i == active || items[i].Alarm {
			continue
		}
		shown[i] = false
		if text := draw(th, items, shown, active, style{narrow: true}); cell.Width(text)+cell.Width(right) <= w {
			return fill(th, text, right, w)
		}
	}
	return cell.Fit(draw(th, items, shown, active, style{narrow: true}), w)
}

func fill(th *theme.Theme, text, right string, w int) string {
	return text + th.Bar.Render(strings.Repeat(" ", w-cell.Width(text)-cell.Width(right))) + right
}

// style is how much of each tab is drawn.
type style struct{ keys, short, narrow bool }

func draw(th *theme.Theme, items []Tab, shown []bool, active int, form style) string {
	var b strings.Builder
	for i, t := range items {
		if !shown[i] {
			continue
		}
		text := t.Label
		if (form.short || form.narrow && i != active) && t.Short != "" {
			text = t.Short
		}
		if form.narrow {
			text = strings.ToLower(text)
			if i == active || t.Alarm && t.Count > 0 {
				text = strings.ToUpper(text)
			}
		}
		if form.keys && t.Key != "" {
			text = t.Key + " " + text
		}
		if t.Count >= 0 {
			text += fmt.Sprintf(" %d", t.Count)
		}
		switch {
		case form.narrow && i == active:
			b.WriteString(th.TabActive.Render(" " + text + " "))
		case form.narrow && t.Alarm && t.Count > 0:
			b.WriteString(th.BarDanger.Render(" " + text + " "))
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
