package dialog

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/list"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// Menu lists all fifteen actions of a question: where each leads, or why it cannot be taken. A key or Enter opens
// the action's pane; nothing is decided here.
type Menu struct {
	frame
	list *list.List[desk.Choice]
	note string
}

// NewMenu makes the menu of a question's choices. The allowed ones stand first.
func NewMenu(k Kit, choices []desk.Choice) *Menu {
	m := &Menu{frame: frame{kit: k, most: 96}}
	m.list = list.New(k.Theme, func(c desk.Choice) string { return string(c.Action) }, m.row)
	var sorted, refused []desk.Choice
	for _, c := range choices {
		if c.Allowed {
			sorted = append(sorted, c)
		} else {
			refused = append(refused, c)
		}
	}
	m.list.SetItems(append(sorted, refused...))
	return m
}

func (m *Menu) row(c desk.Choice, w int, _ list.State) []string {
	th := m.kit.Theme
	key := m.kit.Keys.Key(command.ForAction(c.Action))
	name := cell.Fit(key, 3) + cell.Fit(string(c.Action), 11)
	if !c.Allowed {
		return []string{th.Disabled.Render(cell.Clip(name+"- "+sanitize.Line(c.Why), w))}
	}
	text := th.Key.Render(cell.Fit(key, 3)) + cell.Fit(string(c.Action), 11)
	if c.Leads != "" {
		text += th.Accent.Render("> " + sanitize.Line(c.Leads))
	}
	if c.NeedsComment {
		text += th.Muted.Render("  comment required")
	}
	return []string{text}
}

// Scope is the scope of the keys.
func (m *Menu) Scope() command.Scope { return command.Menu }

// Cursor is none.
func (m *Menu) Cursor() (int, int, bool) { return noCursor() }

// SetTheme changes the styles.
func (m *Menu) SetTheme(th *theme.Theme) { m.frame.SetTheme(th); m.list.SetTheme(th) }

// Update takes a key: that of an action, Enter, or one that moves. Arrows move; letters are actions.
func (m *Menu) Update(msg tea.Msg) Result {
	key, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return Stay{}
	}
	m.note = ""
	if id, ok := m.kit.Keys.Resolve(key, command.Review); ok {
		for i, c := range m.list.Items() {
			if command.ForAction(c.Action) == id {
				m.list.Select(i)
				return m.take(c)
			}
		}
	}
	switch id := m.resolve(msg, command.Menu); id {
	case command.MenuBack:
		return Closed{}
	case command.MenuTake:
		if c, ok := m.list.Selected(); ok {
			return m.take(c)
		}
	default:
		moveList(m.list, id)
	}
	return closeOnQ(msg)
}

func (m *Menu) take(c desk.Choice) Result {
	if !c.Allowed {
		m.note = string(c.Action) + ": " + c.Why
		return Stay{}
	}
	return TakeAction{c.Action}
}

// View is the box: the list and one line about the selected action.
func (m *Menu) View() string {
	w, h := m.inner()
	var about []string
	if c, ok := m.list.Selected(); ok {
		text := c.Summary
		if !c.Allowed {
			text = c.Why
		}
		about = cell.WrapText(sanitize.Line(text), w)
	}
	if m.note != "" {
		about = []string{m.kit.Theme.Warning.Render("! " + cell.Clip(sanitize.Line(m.note), w-2))}
	}
	about = about[:min(len(about), 2)]
	rows := min(m.list.Len(), max(h-len(about)-1, 1))
	m.list.SetSize(w, rows)
	lines := append(split(m.list.View()), m.kit.Theme.Border.Render(rule(w)))
	return m.draw("Actions "+m.list.Position(), append(lines, about...))
}

func rule(w int) string { return strings.Repeat("─", max(w, 0)) }

func split(block string) []string {
	if block == "" {
		return nil
	}
	return strings.Split(block, "\n")
}

// closeOnQ lets q close a list, as it closes everything.
func closeOnQ(msg tea.Msg) Result {
	if key, ok := msg.(tea.KeyPressMsg); ok && key.String() == "q" {
		return Closed{}
	}
	return Stay{}
}

// optionText is the label of an option, or its value where it has none.
func optionText(o actions.OptionItem) string {
	if o.Label != "" {
		return sanitize.Line(o.Label)
	}
	return sanitize.Line(strings.Trim(string(o.Value), `"`))
}
