package ui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/textarea"
	"github.com/hitl-tui/hitl-tui/internal/ui/dialog"
	"github.com/hitl-tui/hitl-tui/internal/ui/keymap"
	"github.com/hitl-tui/hitl-tui/internal/ui/page/inbox"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// prompt is one line of text asked for at the bottom of the screen: a search, a filter. It is a dialog whose Confirmed
// means that the text was taken.
type prompt struct {
	theme *theme.Theme
	keys  *keymap.Map
	lead  string
	field *textarea.Area
	w     int
}

func (m *Model) newPrompt(lead, text, hint string) *prompt {
	p := &prompt{theme: m.theme, keys: m.keys, lead: lead, field: textarea.NewLine(m.theme)}
	p.field.SetPlaceholder(hint)
	p.field.SetFocused(true)
	p.field.SetValue(text)
	p.field.MoveToEnd()
	return p
}

// Scope is the scope of the keys.
func (p *prompt) Scope() command.Scope { return command.Prompt }

// SetSize tells the room.
func (p *prompt) SetSize(w, h int) { p.w = w }

// SetTheme changes the colours.
func (p *prompt) SetTheme(th *theme.Theme) {
	p.theme = th
	p.field.SetTheme(th)
}

// Update takes a key or a paste.
func (p *prompt) Update(msg tea.Msg) dialog.Result {
	if key, ok := msg.(tea.KeyPressMsg); ok {
		switch id, _ := p.keys.Resolve(key, command.Prompt); id {
		case command.PromptTake:
			return dialog.Confirmed{}
		case command.PromptBack:
			return dialog.Closed{}
		}
	}
	p.field.Update(msg)
	return dialog.Stay{}
}

// View is one line.
func (p *prompt) View() string {
	room := max(p.w-cell.Width(p.lead)-1, 1)
	p.field.SetSize(room, 1)
	return p.theme.Key.Render(p.lead) + cell.Fit(p.field.View(), room) + " "
}

// Cursor is the cursor in the field.
func (p *prompt) Cursor() (int, int, bool) {
	x, _, ok := p.field.Cursor()
	return cell.Width(p.lead) + x, 0, ok
}

// openPrompt asks for a search or a filter.
func (m *Model) openPrompt(id command.ID) tea.Cmd {
	if id == command.Filter {
		p := m.newPrompt(" filter: ", m.inbox.Filter(), "status:failed node:review older:2d claimed:none text")
		return m.open(p, func(m *Model, r dialog.Result) tea.Cmd {
			if _, ok := r.(dialog.Confirmed); !ok {
				return nil
			}
			m.moved = true
			return m.inbox.SetFilter(p.field.Value())
		})
	}
	if m.inbox.Focus() == inbox.Question {
		return m.searchQuestion()
	}
	p := m.newPrompt(" /", m.inbox.Search(), "text of a title, a workflow, a node")
	return m.open(p, func(m *Model, r dialog.Result) tea.Cmd {
		if _, ok := r.(dialog.Confirmed); !ok {
			return nil
		}
		m.moved = true
		return m.inbox.SetSearch(p.field.Value())
	})
}

// searchQuestion asks for a text to look for in the question.
func (m *Model) searchQuestion() tea.Cmd {
	p := m.newPrompt(" /", "", "text of the question")
	return m.open(p, func(m *Model, r dialog.Result) tea.Cmd {
		if _, ok := r.(dialog.Confirmed); !ok {
			return nil
		}
		n := m.inbox.SearchQuestion(p.field.Value())
		if n == 0 && p.field.Value() != "" {
			return m.warn("not found in this question: " + p.field.Value())
		}
		return nil
	})
}
