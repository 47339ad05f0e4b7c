package dialog

import (
	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/list"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// Item is one answer of an Ask.
type Item struct {
	ID    string
	Key   string // the key that picks it; "" only in a Pick
	Label string
}

// Ask offers a few answers, each with a key: what to do at quitting, what to do with marked threads.
type Ask struct {
	frame
	title, text string
	items       []Item
}

// NewAsk makes one. esc is always there and picks nothing.
func NewAsk(k Kit, title, text string, items ...Item) *Ask {
	return &Ask{frame: frame{kit: k, most: widthOf(items)}, title: title, text: text, items: items}
}

// widthOf is the width at which items are whole, within reason.
func widthOf(items []Item) int {
	w := 64
	for _, it := range items {
		w = max(w, cell.Width(sanitize.Line(it.Label))+10)
	}
	return min(w, 120)
}

// Scope is the scope of the keys.
func (a *Ask) Scope() command.Scope { return command.Dialog }

// Cursor is none.
func (a *Ask) Cursor() (int, int, bool) { return noCursor() }

// Update takes a key: that of an item, or esc.
func (a *Ask) Update(msg tea.Msg) Result {
	if it, ok := keyed(a.items, msg); ok {
		return Picked{it.ID}
	}
	if a.resolve(msg, command.Dialog) == command.DialogNo {
		return Closed{}
	}
	return Stay{}
}

// keyed is the item whose key was pressed.
func keyed(items []Item, msg tea.Msg) (Item, bool) {
	key, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return Item{}, false
	}
	for _, it := range items {
		if it.Key != "" && key.String() == it.Key {
			return it, true
		}
	}
	return Item{}, false
}

// line draws an item.
func (f *frame) line(it Item) string {
	return f.kit.Theme.Key.Render(cell.Fit(it.Key, 3)) + " " + sanitize.Line(it.Label)
}

// View is the box.
func (a *Ask) View() string {
	w, _ := a.inner()
	var lines []string
	if a.text != "" {
		lines = append(cell.WrapText(sanitize.Text(a.text), w), "")
	}
	for _, it := range a.items {
		lines = append(lines, a.line(it))
	}
	lines = append(lines, a.kit.Theme.Key.Render("Esc")+" "+a.kit.Theme.Muted.Render("back"))
	return a.draw(a.title, lines)
}

// Pick offers any number of things that decide nothing, by their keys, or by arrows and Enter: workflows, views.
type Pick struct {
	frame
	title string
	list  *list.List[Item]
}

// NewPick makes one with the first item selected.
func NewPick(k Kit, title string, items ...Item) *Pick {
	p := &Pick{frame: frame{kit: k, most: widthOf(items)}, title: title}
	p.list = list.New(k.Theme, func(it Item) string { return it.ID }, func(it Item, w int, _ list.State) []string { return []string{cell.Clip(p.line(it), w)} })
	p.list.SetItems(items)
	return p
}

// Scope is the scope of the keys.
func (p *Pick) Scope() command.Scope { return command.Menu }

// Cursor is none.
func (p *Pick) Cursor() (int, int, bool) { return noCursor() }

// SetTheme changes the styles.
func (p *Pick) SetTheme(th *theme.Theme) { p.frame.SetTheme(th); p.list.SetTheme(th) }

// Update takes a key: that of an item, one that moves, Enter, or one that closes.
func (p *Pick) Update(msg tea.Msg) Result {
	if it, ok := keyed(p.list.Items(), msg); ok {
		return Picked{it.ID}
	}
	switch id := p.resolve(msg, command.Menu); id {
	case command.MenuBack:
		return Closed{}
	case command.MenuTake:
		if it, ok := p.list.Selected(); ok {
			return Picked{it.ID}
		}
	default:
		moveList(p.list, id)
	}
	return closeOnQ(msg)
}

// View is the box: as many items as have room, and the keys.
func (p *Pick) View() string {
	w, h := p.inner()
	title := p.title
	rows := min(p.list.Len(), max(h-1, 1))
	if rows < p.list.Len() {
		title += " " + p.list.Position()
	}
	p.list.SetSize(w, rows)
	return p.draw(title, append(split(p.list.View()), p.hints(p.kit.Keys.Key(command.MenuTake), "take", p.kit.Keys.Key(command.MenuBack), "back")))
}
