// Package footer draws the keys that fit on the last lines of a screen, from the table of commands.
package footer

import (
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/keymap"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// Item is one command in the footer.
type Item struct {
	ID    command.ID
	Label string // "" is the table's label
	Leads string // where an action leads, shown where there is room: "a approve > publish"
}

// Of makes items of commands with the labels of the table.
func Of(ids ...command.ID) []Item {
	items := make([]Item, len(ids))
	for i, id := range ids {
		items[i] = Item{ID: id}
	}
	return items
}

// Lines draws items on at most rows lines of exactly w cells, the most important first; what does not fit is left
// out whole. last is drawn at the right end of the last line whatever else must give way.
func Lines(th *theme.Theme, km *keymap.Map, items, last []Item, w, rows int) []string {
	if rows <= 0 || w <= 0 {
		return nil
	}
	end := one(th, km, last, w, true)
	lines := make([]string, 0, rows)
	for _, leads := range []bool{true, false} {
		lines = lines[:0]
		left := items
		for n := range rows {
			room := w
			if n == rows-1 && end != "" {
				room = w - cell.Width(end) - 2
			}
			var text string
			text, left = fill(th, km, left, room, leads)
			if n == rows-1 {
				text = between(th, text, end, w)
			}
			lines = append(lines, bar(th, text, w))
		}
		if len(left) == 0 {
			break
		}
	}
	return lines
}

// Fits tells whether all items have room on one line beside last.
func Fits(th *theme.Theme, km *keymap.Map, items, last []Item, w int) bool {
	_, left := fill(th, km, items, w-cell.Width(one(th, km, last, w, true))-2, true)
	return len(left) == 0
}

func between(th *theme.Theme, left, right string, w int) string {
	gap := w - cell.Width(left) - cell.Width(right) - 1
	if right == "" || gap < 0 {
		return left
	}
	return left + th.Bar.Render(strings.Repeat(" ", gap)) + right
}

func bar(th *theme.Theme, text string, w int) string {
	text = cell.Clip(text, w)
	return text + th.Bar.Render(strings.Repeat(" ", max(w-cell.Width(text), 0)))
}

// fill draws as many items as have room and gives back the rest.
func fill(th *theme.Theme, km *keymap.Map, items []Item, w int, leads bool) (string, []Item) {
	var b strings.Builder
	b.WriteString(th.Bar.Render(" "))
	used := 1
	for i, it := range items {
		text := draw(th, km, it, leads)
		if text == "" {
			continue
		}
		n := cell.Width(text)
		gap := 0
		if used > 1 {
			gap = 2
		}
		if used+gap+n > w {
			return b.String(), items[i:]
		}
		b.WriteString(th.Bar.Render(strings.Repeat(" ", gap)))
		b.WriteString(text)
		used += gap + n
	}
	return b.String(), nil
}

func one(th *theme.Theme, km *keymap.Map, items []Item, w int, leads bool) string {
	if len(items) == 0 {
		return ""
	}
	text, _ := fill(th, km, items, w, leads)
	return strings.TrimPrefix(text, th.Bar.Render(" "))
}

// draw is one item, "" for a command that has neither key nor label.
func draw(th *theme.Theme, km *keymap.Map, it Item, leads bool) string {
	key := km.Key(it.ID)
	label := it.Label
	if label == "" {
		label = km.Command(it.ID).Footer
	}
	if key == "" || label == "" {
		return ""
	}
	text := th.BarKey.Render(key) + th.Bar.Render(" "+label)
	if leads && it.Leads != "" {
		text += th.BarMuted.Render(">" + it.Leads)
	}
	return text
}
