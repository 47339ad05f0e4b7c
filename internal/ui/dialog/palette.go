package dialog

import (
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/list"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/textarea"
	"github.com/hitl-tui/hitl-tui/internal/ui/keymap"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
	"github.com/sahilm/fuzzy"
)

// searchable is a text field over a list: palette and help.
type searchable struct {
	frame
	all   []command.Command
	list  *list.List[command.Command]
	field *textarea.Area
}

func (s *searchable) init(k Kit, most int, row list.Render[command.Command]) {
	s.frame = frame{kit: k, most: most}
	s.field = textarea.NewLine(k.Theme)
	s.list = list.New(k.Theme, func(c command.Command) string { return string(c.ID) }, row)
}

// Scope is the scope of the keys.
func (s *searchable) Scope() command.Scope { return command.Prompt }

// SetTheme changes the styles.
func (s *searchable) SetTheme(th *theme.Theme) {
	s.frame.SetTheme(th)
	s.list.SetTheme(th)
	s.field.SetTheme(th)
}

// Cursor is the cursor in the field.
func (s *searchable) Cursor() (int, int, bool) {
	x, _, ok := s.field.Cursor()
	return 2 + 2 + x, 1, ok
}

// update moves the list or changes the text; it gives back the command of keys that are neither.
func (s *searchable) update(msg tea.Msg) command.ID {
	key, isKey := msg.(tea.KeyPressMsg)
	if isKey && key.Text == "" {
		id := s.resolve(msg, command.Menu)
		if id == command.MenuBack || id == command.MenuTake || moveList(s.list, id) {
			return id
		}
	}
	if s.field.Update(msg) {
		s.narrow()
	}
	return ""
}

func (s *searchable) narrow() {
	query := strings.TrimSpace(s.field.Value())
	if query == "" {
		s.list.SetItems(s.all)
		s.list.First()
		return
	}
	words := make([]string, len(s.all))
	for i, c := range s.all {
		words[i] = c.Title + " " + c.ID.Name() + " " + c.Help
	}
	var found []command.Command
	for _, m := range fuzzy.Find(query, words) {
		found = append(found, s.all[m.Index])
	}
	s.list.SetItems(found)
	s.list.First()
}

func (s *searchable) view(title string) string {
	w, h := s.inner()
	s.field.SetSize(max(w-2, 1), 1)
	s.list.SetSize(w, max(min(len(s.all), h-2), 1))
	lines := append([]string{s.kit.Theme.Key.Render("> ") + s.field.View(), s.kit.Theme.Border.Render(rule(w))},
		split(s.list.View())...)
	return s.draw(title, lines)
}

// Palette finds a command by a few of its letters and runs it.
type Palette struct {
	searchable
	why  func(command.ID) string
	note string
}

// NewPalette lists the commands of the scopes, innermost first, keyless ones too. why says why a command cannot run
// now, "" when it can; nil: all can.
func NewPalette(k Kit, scopes []command.Scope, why func(command.ID) string) *Palette {
	p := &Palette{why: why}
	p.init(k, 90, p.row)
	for _, s := range scopes {
		for _, c := range command.In(s) {
			if !c.Hidden && k.shows(c) {
				p.all = append(p.all, c)
			}
		}
	}
	p.field.SetPlaceholder("a few letters of a command")
	p.list.SetEmpty("No command has these letters.")
	p.narrow()
	return p
}

func (p *Palette) disabled(id command.ID) string {
	if p.why == nil {
		return ""
	}
	return p.why(id)
}

func (p *Palette) row(c command.Command, w int, _ list.State) []string {
	th := p.kit.Theme
	key := th.Key.Render(p.kit.Keys.Key(c.ID))
	if why := p.disabled(c.ID); why != "" {
		return []string{cell.Between(th.Disabled.Render(c.Title+"  - "+sanitize.Line(why)), key, w)}
	}
	return []string{cell.Between(c.Title+th.Muted.Render("  "+c.Help), key, w)}
}

// Update takes a key or a paste.
func (p *Palette) Update(msg tea.Msg) Result {
	p.note = ""
	switch p.update(msg) {
	case command.MenuBack:
		return Closed{}
	case command.MenuTake:
		c, ok := p.list.Selected()
		if !ok {
			return Stay{}
		}
		if p.note = p.disabled(c.ID); p.note == "" {
			return Run{c.ID}
		}
		p.note = c.Title + ": " + p.note
	}
	return Stay{}
}

// View is the box.
func (p *Palette) View() string {
	title := "Command"
	if p.note != "" {
		title = "! " + p.note
	}
	return p.view(title)
}

// Help explains the keys that are live.
type Help struct{ searchable }

// NewHelp lists every key of the scopes, innermost first. Typing narrows it.
func NewHelp(k Kit, scopes []command.Scope) *Help {
	h := &Help{}
	h.init(k, 100, h.row)
	for _, s := range scopes {
		for _, c := range command.In(s) {
			if len(k.Keys.Keys(c.ID)) > 0 && k.shows(c) {
				h.all = append(h.all, c)
			}
		}
	}
	h.field.SetPlaceholder("type to narrow")
	h.list.SetEmpty("No key does this.")
	h.narrow()
	return h
}

func (h *Help) row(c command.Command, w int, _ list.State) []string {
	th := h.kit.Theme
	var keys []string
	for _, k := range h.kit.Keys.Keys(c.ID) {
		keys = append(keys, keymap.Show(k))
	}
	column := min(16, max(w/3, 8))
	text := th.Key.Render(cell.Fit(strings.Join(keys, " "), column)) + " "
	if c.Action != "" {
		text += c.Title + ": "
	}
	text += c.Help
	if c.Effect != command.Plain {
		return []string{cell.Between(text, th.Muted.Render(string(c.Effect)), w)}
	}
	return []string{text}
}

// Update takes a key or a paste.
func (h *Help) Update(msg tea.Msg) Result {
	if id := h.update(msg); id == command.MenuBack || id == command.MenuTake {
		return Closed{}
	}
	return Stay{}
}

// View is the box.
func (h *Help) View() string { return h.view("Keys " + h.list.Position()) }
