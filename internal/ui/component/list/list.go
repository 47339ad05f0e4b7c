// Package list shows a long list through a window: only the rows on screen are drawn, so that a key costs the same
// at ten rows and at a hundred thousand.
package list

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// State is how a row stands in the list. The list itself draws the marker `>` of the selection and `*` of a mark.
type State struct {
	Selected, Marked, Focused bool
}

// Render draws the row of an item as lines of at most w cells. Text from outside in it has been made safe.
type Render[T any] func(item T, w int, s State) []string

// List is a windowed list with one selection and any number of marks. Selection and marks follow the items' keys:
// rows that come or go never move them.
type List[T any] struct {
	key    func(T) string
	render Render[T]
	theme  *theme.Theme

	items   []T
	at, top int
	w, h    int
	row     int
	focused bool
	marks   map[string]bool
	anchor  int
	empty   string
}

// gutter is the width of the markers before each row.
const gutter = 2

// New makes a list of one line a row. key names an item: it is what selection and marks follow.
func New[T any](th *theme.Theme, key func(T) string, render Render[T]) *List[T] {
	return &List[T]{key: key, render: render, theme: th, row: 1, focused: true, marks: map[string]bool{}, anchor: -1}
}

// SetTheme changes the styles.
func (l *List[T]) SetTheme(th *theme.Theme) { l.theme = th }

// SetSize sets the box.
func (l *List[T]) SetSize(w, h int) { l.w, l.h = max(w, 0), max(h, 0); l.clamp() }

// SetRowHeight sets the lines of a row, at least one.
func (l *List[T]) SetRowHeight(lines int) { l.row = max(lines, 1); l.clamp() }

// SetFocused dims the selection of a list whose pane has not the focus.
func (l *List[T]) SetFocused(on bool) { l.focused = on }

// SetEmpty is the sentence shown where there are no rows: it says what to do next.
func (l *List[T]) SetEmpty(text string) { l.empty = text }

// SetItems replaces the rows. The selection stays on the item of the same key, else at the same place; marks of items
// that are gone are dropped.
func (l *List[T]) SetItems(items []T) {
	old := ""
	if l.at < len(l.items) {
		old = l.key(l.items[l.at])
	}
	offset := l.at - l.top
	l.items = items
	if old != "" && !(l.at < len(items) && l.key(items[l.at]) == old) {
		if i := l.find(old); i >= 0 {
			l.at = i
			l.top = i - offset
		}
	}
	if len(l.marks) > 0 {
		kept := map[string]bool{}
		for _, it := range items {
			if k := l.key(it); l.marks[k] {
				kept[k] = true
			}
		}
		l.marks = kept
	}
	l.anchor = -1
	l.clamp()
}

func (l *List[T]) find(key string) int {
	for i, it := range l.items {
		if l.key(it) == key {
			return i
		}
	}
	return -1
}

// Items are the rows, in order.
func (l *List[T]) Items() []T { return l.items }

// Len is the number of rows.
func (l *List[T]) Len() int { return len(l.items) }

// Selected is the selected item; false without any.
func (l *List[T]) Selected() (item T, ok bool) {
	if l.at < 0 || l.at >= len(l.items) {
		return item, false
	}
	return l.items[l.at], true
}

// Index is the selected row, 0 in an empty list.
func (l *List[T]) Index() int { return l.at }

// Select selects a row; outside of the list, the nearest.
func (l *List[T]) Select(i int) { l.at = i; l.clamp() }

// SelectKey selects the item of that key and says whether there is one.
func (l *List[T]) SelectKey(key string) bool {
	i := l.find(key)
	if i < 0 {
		return false
	}
	l.Select(i)
	return true
}

// Move moves the selection by rows.
func (l *List[T]) Move(d int) { l.Select(l.at + d) }

// Page moves the selection by windows.
func (l *List[T]) Page(d int) { l.Move(d * max(l.rows()-1, 1)) }

// HalfPage moves the selection by half windows.
func (l *List[T]) HalfPage(d int) { l.Move(d * max(l.rows()/2, 1)) }

// First selects the first row.
func (l *List[T]) First() { l.Select(0) }

// Last selects the last row.
func (l *List[T]) Last() { l.Select(len(l.items) - 1) }

// ToggleMark marks or unmarks the selected row and moves on.
func (l *List[T]) ToggleMark() {
	it, ok := l.Selected()
	if !ok {
		return
	}
	if k := l.key(it); l.marks[k] {
		delete(l.marks, k)
	} else {
		l.marks[k] = true
	}
	l.anchor = l.at
	l.Move(1)
}

// Mark marks the rows of keys.
func (l *List[T]) Mark(keys ...string) {
	for _, it := range l.items {
		if k := l.key(it); slices.Contains(keys, k) {
			l.marks[k] = true
		}
	}
}

// MarkRange marks from the row marked last to the selected one.
func (l *List[T]) MarkRange() {
	if _, ok := l.Selected(); !ok {
		return
	}
	from, to := l.anchor, l.at
	if from < 0 {
		from = to
	}
	if from > to {
		from, to = to, from
	}
	for _, it := range l.items[from : to+1] {
		l.marks[l.key(it)] = true
	}
	l.anchor = l.at
}

// UnmarkAll takes all marks away.
func (l *List[T]) UnmarkAll() { clear(l.marks); l.anchor = -1 }

// Unmark takes the marks of these items away.
func (l *List[T]) Unmark(keys ...string) {
	for _, k := range keys {
		delete(l.marks, k)
	}
}

// Marked are the marked items in the order of the list.
func (l *List[T]) Marked() []T {
	var out []T
	if len(l.marks) == 0 {
		return nil
	}
	for _, it := range l.items {
		if l.marks[l.key(it)] {
			out = append(out, it)
		}
	}
	return out
}

// Position is "8/12", or "0" without rows.
func (l *List[T]) Position() string {
	if len(l.items) == 0 {
		return "0"
	}
	return fmt.Sprintf("%d/%d", l.at+1, len(l.items))
}

// RowAt is the row drawn at a line of the box, for the mouse.
func (l *List[T]) RowAt(line int) (int, bool) {
	i := l.top + line/l.row
	return i, line >= 0 && line < l.rows()*l.row && i < len(l.items)
}

// rows is how many whole rows fit, at least one.
func (l *List[T]) rows() int { return max(l.h/l.row, 1) }

// clamp keeps the selection in the list and the window around the selection.
func (l *List[T]) clamp() {
	l.at = max(min(l.at, len(l.items)-1), 0)
	rows := l.rows()
	l.top = min(l.top, l.at)
	l.top = max(l.top, l.at-rows+1)
	l.top = max(min(l.top, len(l.items)-rows), 0)
}

// View is the box.
func (l *List[T]) View() string {
	if l.w == 0 || l.h == 0 {
		return ""
	}
	if len(l.items) == 0 {
		var lines []string
		for _, row := range cell.WrapText(l.empty, max(l.w-gutter, 1)) {
			lines = append(lines, strings.Repeat(" ", min(gutter, l.w))+l.theme.Muted.Render(row))
		}
		return cell.Block(lines, l.w, l.h)
	}
	lines := make([]string, 0, l.h)
	for i := l.top; i < len(l.items) && len(lines) < l.h; i++ {
		lines = append(lines, l.drawRow(i)...)
	}
	return cell.Block(lines, l.w, l.h)
}

func (l *List[T]) drawRow(i int) []string {
	it := l.items[i]
	st := State{Selected: i == l.at, Marked: len(l.marks) > 0 && l.marks[l.key(it)], Focused: l.focused}
	inner := max(l.w-gutter, 0)
	drawn := l.render(it, inner, st)
	rows := make([]string, l.row)
	for n := range rows {
		text := ""
		if n < len(drawn) {
			text = drawn[n]
		}
		rows[n] = l.line(text, n == 0, st, inner)
	}
	return rows
}

func (l *List[T]) line(text string, first bool, st State, inner int) string {
	mark := "  "
	if first {
		mark = marker(st)
	}
	if !st.Selected {
		if st.Marked {
			mark = l.theme.Accent.Render(mark)
		}
		return mark + cell.Fit(text, inner)
	}
	style := l.theme.Selected
	if !st.Focused {
		style = l.theme.SelectedDim
	}
	return style.Render(cell.Fit(mark+ansi.Strip(text), l.w))
}

func marker(st State) string {
	switch {
	case st.Selected && st.Marked:
		return ">*"
	case st.Selected:
		return "> "
	case st.Marked:
		return " *"
	}
	return "  "
}
