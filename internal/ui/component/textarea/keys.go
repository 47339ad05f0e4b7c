package textarea

import (
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
)

// Update takes a key or a paste and says whether it was one of the field's own. Keys that mean something else to the
// owner (ctrl+s, esc, tab) must be looked for before.
func (a *Area) Update(msg tea.Msg) bool {
	switch msg := msg.(type) {
	case tea.PasteMsg:
		a.Insert(msg.Content)
		return true
	case tea.KeyPressMsg:
		return a.key(msg)
	}
	return false
}

func (a *Area) key(msg tea.KeyPressMsg) bool {
	if msg.Text != "" && msg.Mod&(tea.ModCtrl|tea.ModAlt|tea.ModMeta) == 0 {
		a.Insert(msg.Text)
		return true
	}
	return a.moveKey(msg.String()) || a.editKey(msg.String())
}

func (a *Area) moveKey(key string) bool {
	switch key {
	case "left", "ctrl+b":
		a.row, a.col = a.before(a.row, a.col)
	case "right", "ctrl+f":
		a.row, a.col = a.after(a.row, a.col)
	case "alt+left", "ctrl+left", "alt+b":
		a.row, a.col = a.wordBefore()
	case "alt+right", "ctrl+right", "alt+f":
		a.row, a.col = a.wordAfter()
	case "home", "ctrl+a":
		a.col = 0
	case "end", "ctrl+e":
		a.col = len(a.lines[a.row])
	case "ctrl+home", "alt+<":
		a.row, a.col = 0, 0
	case "ctrl+end", "alt+>":
		a.MoveToEnd()
	case "up", "ctrl+p":
		return a.vertical(-1)
	case "down", "ctrl+n":
		return a.vertical(1)
	case "pgup":
		return a.vertical(-max(a.h-1, 1))
	case "pgdown":
		return a.vertical(max(a.h-1, 1))
	default:
		return false
	}
	a.moved()
	return true
}

func (a *Area) editKey(key string) bool {
	row, col := a.row, a.col
	switch key {
	case "enter", "ctrl+j", "shift+enter":
		if a.single {
			return false
		}
		a.Insert("\n")
	case "backspace", "ctrl+h", "shift+backspace":
		r, c := a.before(row, col)
		a.deleteRange(r, c, row, col)
	case "delete", "ctrl+d":
		r, c := a.after(row, col)
		a.deleteRange(row, col, r, c)
	case "ctrl+w", "alt+backspace":
		r, c := a.wordBefore()
		a.deleteRange(r, c, row, col)
	case "alt+d", "alt+delete":
		r, c := a.wordAfter()
		a.deleteRange(row, col, r, c)
	case "ctrl+u":
		a.deleteRange(row, 0, row, col)
	case "ctrl+k":
		if r, c := row, len(a.lines[row]); c > col {
			a.deleteRange(row, col, r, c)
		} else {
			r, c := a.after(row, col)
			a.deleteRange(row, col, r, c)
		}
	default:
		return false
	}
	return true
}

// MoveToEnd puts the cursor behind the last character.
func (a *Area) MoveToEnd() {
	a.row = len(a.lines) - 1
	a.col = len(a.lines[a.row])
	a.moved()
}

// vertical moves by rows of the screen and keeps the column it started from. It says whether it moved or is a field
// of many lines.
func (a *Area) vertical(d int) bool {
	if a.single {
		return false
	}
	spans := a.layout(a.row)
	sub := rowOf(spans, a.col)
	goal := a.goal
	if goal < 0 {
		goal = a.width(a.lines[a.row][spans[sub].from:a.col])
	}
	for ; d > 0; d-- {
		if sub+1 < len(a.layout(a.row)) {
			sub++
		} else if a.row+1 < len(a.lines) {
			a.row, sub = a.row+1, 0
		}
	}
	for ; d < 0; d++ {
		if sub > 0 {
			sub--
		} else if a.row > 0 {
			a.row--
			sub = len(a.layout(a.row)) - 1
		}
	}
	a.col = a.columnAt(sub, goal)
	a.goal = goal
	a.follow()
	return true
}

// columnAt is the byte in the row nearest to a wanted cell.
func (a *Area) columnAt(sub, goal int) int {
	spans := a.layout(a.row)
	s := spans[sub]
	line := a.lines[a.row]
	x, at := 0, s.from
	for at < s.to {
		size, cells := cell.Cluster(line[at:])
		_, w := a.glyph(line[at:at+size], cells)
		if x+w > goal {
			break
		}
		if at+size >= s.to && sub+1 < len(spans) {
			break // behind the last of a wrapped row is the start of the next
		}
		x += w
		at += size
	}
	return at
}

func (a *Area) before(row, col int) (int, int) {
	if col == 0 {
		if row == 0 {
			return 0, 0
		}
		return row - 1, len(a.lines[row-1])
	}
	// Clusters can only be found from the front; a few hundred bytes back is far enough for any of them.
	line := a.lines[row]
	from := max(col-256, 0)
	for from > 0 && !utf8.RuneStart(line[from]) {
		from--
	}
	last := from
	for at := from; at < col; {
		last = at
		size, _ := cell.Cluster(line[at:])
		at += size
	}
	return row, last
}

func (a *Area) after(row, col int) (int, int) {
	line := a.lines[row]
	if col >= len(line) {
		if row+1 < len(a.lines) {
			return row + 1, 0
		}
		return row, col
	}
	size, _ := cell.Cluster(line[col:])
	return row, col + size
}

func (a *Area) wordBefore() (int, int) {
	if a.col == 0 {
		return a.before(a.row, 0)
	}
	s := strings.TrimRightFunc(a.lines[a.row][:a.col], notWord)
	return a.row, len(strings.TrimRightFunc(s, isWord))
}

func (a *Area) wordAfter() (int, int) {
	line := a.lines[a.row]
	if a.col == len(line) {
		return a.after(a.row, a.col)
	}
	s := strings.TrimLeftFunc(line[a.col:], notWord)
	return a.row, len(line) - len(strings.TrimLeftFunc(s, isWord))
}

func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) || r == '_'
}
func notWord(r rune) bool { return !isWord(r) }
