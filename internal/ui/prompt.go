package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
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

	completes bool             // it is a filter: the desk offers how it can go on
	offers    []desk.Candidate // for the text as it is
	offer     int              // the one that Tab takes
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
		case command.PromptComplete, command.PromptNext, command.PromptPrevious:
			p.complete(id)
			return dialog.Stay{}
		}
	}
	if p.field.Update(msg) {
		p.offers = nil
	}
	return dialog.Stay{}
}

// complete goes through what is offered and takes it.
func (p *prompt) complete(id command.ID) {
	n := len(p.offers)
	switch {
	case n == 0:
	case id == command.PromptNext:
		p.offer = (p.offer + 1) % n
	case id == command.PromptPrevious:
		p.offer = (p.offer + n - 1) % n
	default:
		c := p.offers[p.offer]
		p.field.Replace(c.From, c.To, c.Insert)
		p.offers = nil
	}
}

// View is one line, and below it what is offered.
func (p *prompt) View() string {
	room := max(p.w-cell.Width(p.lead)-1, 1)
	p.field.SetSize(room, 1)
	line := p.theme.Key.Render(p.lead) + cell.Fit(p.field.View(), room) + " "
	if len(p.offers) == 0 {
		return line
	}
	return line + "\n" + cell.Fit(p.viewOffers(), p.w)
}

// viewOffers shows the offers from the chosen one on, which is in brackets, and says what it means.
func (p *prompt) viewOffers() string {
	var b strings.Builder
	b.WriteString(" " + p.theme.Key.Render(p.keys.Key(command.PromptComplete)) + " ")
	chosen := p.offers[p.offer]
	b.WriteString(p.theme.Selected.Render("[" + sanitize.Line(chosen.Insert) + "]"))
	if chosen.Hint != "" {
		b.WriteString(p.theme.Muted.Render(" " + sanitize.Line(chosen.Hint)))
	}
	for i := range len(p.offers) - 1 {
		b.WriteString("  " + sanitize.Line(p.offers[(p.offer+1+i)%len(p.offers)].Insert))
	}
	return b.String()
}

// readOffers asks the desk how the text of a filter can go on.
func (m *Model) readOffers(p *prompt) tea.Cmd {
	ctx, d := m.ctx, m.desk
	text, cursor := p.field.Value(), p.field.Offset()
	return func() tea.Msg {
		return offersRead{prompt: p, text: text, cursor: cursor, offers: d.Complete(ctx, text, cursor)}
	}
}

type offersRead struct {
	prompt *prompt
	text   string
	cursor int
	offers []desk.Candidate
}

// apply is nothing where the text has changed since.
func (o offersRead) apply(*Model) tea.Cmd {
	if p := o.prompt; p.field.Value() == o.text && p.field.Offset() == o.cursor {
		p.offers, p.offer = o.offers, 0
	}
	return nil
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
		p.completes = true
		m.open(p, func(m *Model, r dialog.Result) tea.Cmd {
			if _, ok := r.(dialog.Confirmed); !ok {
				return nil
			}
			m.moved = true
			return m.inbox.SetFilter(p.field.Value())
		})
		return m.readOffers(p)
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
