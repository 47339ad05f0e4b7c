package dialog

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/textarea"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// Confirm asks yes or no. No has the focus at the start, so that a key too many harms nothing.
type Confirm struct {
	frame
	title, text string
	yes, no     string
	danger      bool
	onYes       bool
}

// NewConfirm asks whether to do what text says. yes names what is done then ("delete 3 threads"); danger colours it.
func NewConfirm(k Kit, title, text, yes string, danger bool) *Confirm {
	return &Confirm{frame: frame{kit: k, most: 72}, title: title, text: text, yes: yes, no: "no", danger: danger}
}

// Scope is the scope of the keys.
func (c *Confirm) Scope() command.Scope { return command.Dialog }

// Cursor is none.
func (c *Confirm) Cursor() (int, int, bool) { return noCursor() }

// Update takes a key. y confirms, n and esc close, Enter does what has the focus.
func (c *Confirm) Update(msg tea.Msg) Result {
	switch c.resolve(msg, command.Dialog) {
	case command.DialogYes:
		return Confirmed{}
	case command.DialogNo:
		return Closed{}
	}
	if key, ok := msg.(tea.KeyPressMsg); ok {
		switch key.String() {
		case "tab", "shift+tab", "left", "right", "h", "l":
			c.onYes = !c.onYes
		case "enter":
			if c.onYes {
				return Confirmed{}
			}
			return Closed{}
		}
	}
	return Stay{}
}

// View is the box.
func (c *Confirm) View() string {
	w, h := c.inner()
	lines := cell.WrapText(sanitize.Text(c.text), w)
	if len(lines) > h-2 {
		lines = append(lines[:max(h-3, 0)], c.kit.Theme.Muted.Render("..."))
	}
	yes := button(c.kit.Theme, c.kit.Keys.Key(command.DialogYes)+" "+sanitize.Line(c.yes), c.onYes, c.danger)
	no := button(c.kit.Theme, c.kit.Keys.Key(command.DialogNo)+" "+c.no, !c.onYes, false)
	lines = append(lines, "", no+"  "+yes)
	return c.draw(c.title, lines)
}

// button draws a button; brackets show the focus.
func button(th *theme.Theme, text string, focused, danger bool) string {
	switch {
	case focused:
		return th.ButtonFocused.Render("[" + text + "]")
	case danger:
		return th.ButtonDanger.Render(" " + text + " ")
	}
	return th.Button.Render(" " + text + " ")
}

// TypeToConfirm asks for a word or a count to be typed before something that cannot be undone.
type TypeToConfirm struct {
	frame
	title, text, want string
	field             *textarea.Area
	wrong             bool
}

// NewTypeToConfirm confirms only when want is typed ("1204"). Spaces between digits are allowed.
func NewTypeToConfirm(k Kit, title, text, want string) *TypeToConfirm {
	return &TypeToConfirm{frame: frame{kit: k, most: 72}, title: title, text: text, want: want,
		field: textarea.NewLine(k.Theme)}
}

// Scope is the scope of the keys.
func (c *TypeToConfirm) Scope() command.Scope { return command.Prompt }

// Update takes a key or a paste.
func (c *TypeToConfirm) Update(msg tea.Msg) Result {
	switch c.resolve(msg, command.Prompt) {
	case command.PromptBack:
		return Closed{}
	case command.PromptTake:
		if strings.ReplaceAll(c.field.Value(), " ", "") == c.want {
			return Confirmed{}
		}
		c.wrong = true
		return Stay{}
	}
	if c.field.Update(msg) {
		c.wrong = false
	}
	return Stay{}
}

func (c *TypeToConfirm) body() []string {
	w, h := c.inner()
	lines := cell.WrapText(sanitize.Text(c.text), w)
	return lines[:min(len(lines), max(h-3, 0))]
}

func (c *TypeToConfirm) prompt() string { return "Type " + c.want + " to confirm: " }

// Cursor is the cursor in the field.
func (c *TypeToConfirm) Cursor() (int, int, bool) {
	x, _, ok := c.field.Cursor()
	return 2 + cell.Width(c.prompt()) + x, 1 + len(c.body()), ok
}

// View is the box.
func (c *TypeToConfirm) View() string {
	w, _ := c.inner()
	c.field.SetSize(max(w-cell.Width(c.prompt()), 1), 1)
	lines := append(c.body(), c.kit.Theme.Danger.Render(c.prompt())+c.field.View())
	note := c.hints("Enter", "do it", "Esc", "do nothing")
	if c.wrong {
		note = c.kit.Theme.Warning.Render("! that is not " + c.want + "; nothing was done")
	}
	return c.draw(c.title, append(lines, "", note))
}
