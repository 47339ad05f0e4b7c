// Package textarea is a field of one or many lines to type in, made for texts of any length: it lays out only the
// lines on screen, so a key costs the same in a text of ten lines and of ten thousand.
//
// The text is kept exactly as typed and pasted (line ends become LF); what is not printable is made visible only
// where it is drawn. The cursor is the terminal's real one: its owner puts Cursor into the tea.View.
package textarea

import (
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// Area is the field. Make one with New.
type Area struct {
	theme  *theme.Theme
	single bool
	lines  []string // without line ends; at least one
	bytes  int      // of the text as a JSON string
	row    int      // of the cursor: line
	col    int      // byte in the line
	goal   int      // wanted column for up and down, -1 when not moving so

	w, h        int
	top         int // first line in the window
	topSub      int // and row of it
	focused     bool
	masked      bool
	placeholder string
	layouts     map[int][]span
}

// New makes an empty field of many lines.
func New(th *theme.Theme) *Area {
	return &Area{theme: th, lines: []string{""}, bytes: len(`""`), goal: -1, focused: true}
}

// NewLine makes an empty field of one line: line ends that are pasted become spaces and Enter is left to the owner.
func NewLine(th *theme.Theme) *Area {
	a := New(th)
	a.single = true
	return a
}

// SetTheme changes the styles.
func (a *Area) SetTheme(th *theme.Theme) { a.theme = th }

// SetFocused says whether keys come here.
func (a *Area) SetFocused(on bool) { a.focused = on }

// SetMask shows a star for each character: for what must not be read over a shoulder.
func (a *Area) SetMask(on bool) { a.masked = on; a.layouts = nil }

// SetPlaceholder is shown, muted, while the field is empty.
func (a *Area) SetPlaceholder(text string) { a.placeholder = text }

// SetSize sets the box.
func (a *Area) SetSize(w, h int) {
	if w != a.w {
		a.layouts = nil
		a.topSub = 0
	}
	a.w, a.h = max(w, 0), max(h, 0)
	a.follow()
}

// SetValue replaces the text; the cursor stands at its start.
func (a *Area) SetValue(s string) {
	a.lines = strings.Split(a.normal(s), "\n")
	a.bytes = len(`""`) + len(a.lines) - 1 + len(a.lines) - 1
	for _, l := range a.lines {
		a.bytes += jsonLen(l)
	}
	a.row, a.col, a.goal, a.top, a.topSub, a.layouts = 0, 0, -1, 0, 0, nil
}

// Value is the text.
func (a *Area) Value() string { return strings.Join(a.lines, "\n") }

// Empty says whether there is no text at all.
func (a *Area) Empty() bool { return len(a.lines) == 1 && a.lines[0] == "" }

// JSONSize is the size in bytes of the text as a compact JSON string, quotes included.
func (a *Area) JSONSize() int { return a.bytes }

// Lines is the number of lines.
func (a *Area) Lines() int { return len(a.lines) }

// Position is the line and column of the cursor, from 1; the column counts cells.
func (a *Area) Position() (line, column int) {
	return a.row + 1, a.width(a.lines[a.row][:a.col]) + 1
}

// Offset is the place of the cursor in its line, in bytes.
func (a *Area) Offset() int { return a.col }

// Replace puts a text in the place of the bytes from..to of the cursor's line, and the cursor behind it.
func (a *Area) Replace(from, to int, with string) {
	a.deleteRange(a.row, from, a.row, to)
	a.Insert(with)
}

func (a *Area) normal(s string) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	if a.single {
		s = strings.ReplaceAll(s, "\n", " ")
	}
	return s
}

// Insert puts text at the cursor, as typed or pasted.
func (a *Area) Insert(s string) {
	s = a.normal(s)
	line := a.lines[a.row]
	parts := strings.Split(line[:a.col]+s+line[a.col:], "\n")
	rest := len(line) - a.col
	a.replace(a.row, a.row+1, parts)
	a.row += len(parts) - 1
	a.col = len(a.lines[a.row]) - rest
	a.moved()
}

// replace puts other lines in the place of lines from..to, and keeps the size right.
func (a *Area) replace(from, to int, with []string) {
	for _, l := range a.lines[from:to] {
		a.bytes -= jsonLen(l)
	}
	for _, l := range with {
		a.bytes += jsonLen(l)
	}
	a.bytes += 2 * (len(with) - (to - from))
	if len(with) == to-from {
		copy(a.lines[from:to], with)
		for i := from; i < to; i++ {
			delete(a.layouts, i)
		}
		return
	}
	a.layouts = nil
	lines := make([]string, 0, len(a.lines)+len(with)-(to-from))
	lines = append(append(append(lines, a.lines[:from]...), with...), a.lines[to:]...)
	a.lines = lines
}

// deleteRange removes the text between two places, the first before the second, and puts the cursor there.
func (a *Area) deleteRange(row1, col1, row2, col2 int) {
	joined := a.lines[row1][:col1] + a.lines[row2][col2:]
	a.replace(row1, row2+1, []string{joined})
	a.row, a.col = row1, col1
	a.moved()
}

func (a *Area) moved() {
	a.goal = -1
	a.follow()
}

// Cursor is the cursor's cell in the box, and whether it is to be shown.
func (a *Area) Cursor() (x, y int, ok bool) {
	if !a.focused || a.w == 0 || a.h == 0 {
		return 0, 0, false
	}
	if a.single {
		return min(a.width(a.lines[0][a.left():a.col]), a.w-1), 0, true
	}
	y = -a.topSub
	for i := a.top; i < a.row; i++ {
		y += len(a.layout(i))
	}
	spans := a.layout(a.row)
	sub := rowOf(spans, a.col)
	y += sub
	x = min(a.width(a.lines[a.row][spans[sub].from:a.col]), a.w-1)
	return x, y, y >= 0 && y < a.h
}

// left is the first byte drawn of a single line: the cursor stays in the box.
func (a *Area) left() int {
	line := a.lines[0]
	from := 0
	for from < a.col && a.width(line[from:a.col]) > max(a.w-1, 0) {
		size, _ := cell.Cluster(line[from:])
		from += size
	}
	return from
}

// View is the box. What is typed is drawn in the terminal's own colours.
func (a *Area) View() string {
	if a.w == 0 || a.h == 0 {
		return ""
	}
	if a.Empty() && a.placeholder != "" {
		return cell.Block([]string{a.theme.Placeholder.Render(cell.Clip(a.placeholder, a.w))}, a.w, a.h)
	}
	rows := make([]string, 0, a.h)
	if a.single {
		rows = append(rows, a.drawn(a.lines[0][a.left():], a.w))
		return cell.Block(rows, a.w, a.h)
	}
	sub := a.topSub
	for i := a.top; i < len(a.lines) && len(rows) < a.h; i++ {
		for _, s := range a.layout(i)[min(sub, len(a.layout(i))-1):] {
			rows = append(rows, a.drawn(a.lines[i][s.from:s.to], a.w))
			if len(rows) == a.h {
				break
			}
		}
		sub = 0
	}
	return cell.Block(rows, a.w, a.h)
}
