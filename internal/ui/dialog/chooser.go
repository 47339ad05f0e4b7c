package dialog

import (
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/list"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/textarea"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// Chooser offers the options of a question. A digit picks the row that shows it, and decides at once where one
// answer is asked for. Enter and Space pick but never decide; ctrl+s and Enter on [Send] do. Where one answer is asked
// for, Enter picks and goes on to [Send], so that it is pressed twice.
type Chooser struct {
	frame
	title    string
	options  []actions.OptionItem
	multiple bool
	list     *list.List[int] // places in options
	picked   map[int]bool
	narrow   *textarea.Area
	typing   bool
	onSend   bool
	note     string
}

// NewChooser makes one. title is the question's.
func NewChooser(k Kit, title string, options []actions.OptionItem, multiple bool) *Chooser {
	c := &Chooser{frame: frame{kit: k, most: 96}, title: title, options: options, multiple: multiple,
		picked: map[int]bool{}, narrow: textarea.NewLine(k.Theme)}
	c.narrow.SetPlaceholder("narrow by text")
	c.list = list.New(k.Theme, func(i int) string { return fmt.Sprint(i) }, c.row)
	c.list.SetEmpty("No option has this text.")
	c.show()
	return c
}

// show lists the options that have the narrowing text.
func (c *Chooser) show() {
	want := strings.ToLower(c.narrow.Value())
	var places []int
	for i, o := range c.options {
		if strings.Contains(strings.ToLower(optionText(o)+" "+o.Description), want) {
			places = append(places, i)
		}
	}
	c.list.SetItems(places)
}

func (c *Chooser) row(i, w int, _ list.State) []string {
	th := c.kit.Theme
	digit := " "
	if n := slices.Index(c.list.Items(), i); n < 9 {
		digit = fmt.Sprint(n + 1)
	}
	box := "( )"
	switch {
	case c.multiple && c.picked[i]:
		box = "[x]"
	case c.multiple:
		box = "[ ]"
	case c.picked[i]:
		box = "(x)"
	}
	o := c.options[i]
	text := th.Key.Render(digit) + " " + box + " " + optionText(o)
	if o.Description != "" {
		text += th.Muted.Render("  " + sanitize.Line(o.Description))
	}
	return []string{cell.Clip(text, w)}
}

// Scope is the scope of the keys.
func (c *Chooser) Scope() command.Scope {
	if c.typing {
		return command.Prompt
	}
	return command.Chooser
}

// SetTheme changes the styles.
func (c *Chooser) SetTheme(th *theme.Theme) {
	c.frame.SetTheme(th)
	c.list.SetTheme(th)
	c.narrow.SetTheme(th)
}

// Update takes a key or, while narrowing, a paste.
func (c *Chooser) Update(msg tea.Msg) Result {
	c.note = ""
	if c.typing {
		return c.updateNarrow(msg)
	}
	key, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return Stay{}
	}
	switch c.resolve(msg, command.Chooser) {
	case command.ChooserBack:
		return Closed{}
	case command.ChooserDown:
		c.move(1)
	case command.ChooserUp:
		c.move(-1)
	case command.ChooserPick:
		return c.digit(key.String())
	case command.ChooserToggle:
		c.toggle()
	case command.ChooserTake:
		return c.enter()
	case command.ChooserSend:
		return c.send()
	case command.ChooserNarrow:
		c.typing, c.onSend = true, false
	case command.ChooserFocus:
		c.onSend = !c.onSend
	}
	return Stay{}
}

func (c *Chooser) updateNarrow(msg tea.Msg) Result {
	switch c.resolve(msg, command.Prompt) {
	case command.PromptTake:
		c.typing = false
		return Stay{}
	case command.PromptBack:
		c.typing = false
		c.narrow.SetValue("")
		c.show()
		return Stay{}
	}
	if c.narrow.Update(msg) {
		c.show()
	} else if key, ok := msg.(tea.KeyPressMsg); ok {
		switch key.String() {
		case "down":
			c.list.Move(1)
		case "up":
			c.list.Move(-1)
		}
	}
	return Stay{}
}

func (c *Chooser) digit(s string) Result {
	n := slices.Index(c.kit.Keys.Keys(command.ChooserPick), s)
	if n < 0 || n >= c.list.Len() {
		c.note = "there is no option " + s
		return Stay{}
	}
	place := c.list.Items()[n]
	c.list.Select(n)
	if !c.multiple {
		return Chosen{[]int{place}}
	}
	c.flip(place)
	return Stay{}
}

// enter sends on [Send]. On an option it toggles where several may be picked; else it picks, and [Send] is next.
func (c *Chooser) enter() Result {
	place, ok := c.list.Selected()
	switch {
	case c.onSend:
		return c.send()
	case c.multiple:
		c.toggle()
	case ok:
		clear(c.picked)
		c.picked[place], c.onSend = true, true
		return AtSend{}
	}
	return Stay{}
}

// move goes back from [Send] to the options.
func (c *Chooser) move(n int) {
	c.onSend = false
	c.list.Move(n)
}

func (c *Chooser) toggle() {
	if place, ok := c.list.Selected(); ok && !c.onSend {
		c.flip(place)
	}
}

func (c *Chooser) flip(place int) {
	on := !c.picked[place]
	if !c.multiple {
		clear(c.picked)
	}
	if on {
		c.picked[place] = true
	} else {
		delete(c.picked, place)
	}
}

func (c *Chooser) send() Result {
	if len(c.picked) == 0 && !c.multiple {
		c.note = "nothing is picked: Space picks the selected option"
		return Stay{}
	}
	chosen := []int{}
	for i := range c.options {
		if c.picked[i] {
			chosen = append(chosen, i)
		}
	}
	return Chosen{chosen}
}

// Cursor is the cursor in the narrowing field.
func (c *Chooser) Cursor() (int, int, bool) {
	x, _, ok := c.narrow.Cursor()
	return 2 + 2 + x, 1, ok && c.typing
}

// View is the box.
func (c *Chooser) View() string {
	w, h := c.inner()
	var lines []string
	if c.typing || !c.narrow.Empty() {
		c.narrow.SetSize(max(w-2, 1), 1)
		lines = append(lines, c.kit.Theme.Key.Render("/ ")+c.narrow.View())
	}
	c.list.SetFocused(!c.onSend)
	c.list.SetSize(w, min(max(c.list.Len(), 1), max(h-len(lines)-2, 1)))
	lines = append(lines, split(c.list.View())...)
	last := button(c.kit.Theme, "Send", c.onSend, false)
	switch {
	case c.note != "":
		last += "  " + c.kit.Theme.Warning.Render("! "+c.note)
	case c.multiple:
		last += "  " + c.kit.Theme.Muted.Render(fmt.Sprintf("%d picked", len(c.picked))) + "  " +
			c.hints(c.kit.Keys.Key(command.ChooserSend), "send", "1-9", "toggle")
	default:
		last += "  " + c.hints("1-9", "sends at once", "Enter", "picks, again sends")
	}
	return c.draw(c.title, append(lines, "", last))
}
