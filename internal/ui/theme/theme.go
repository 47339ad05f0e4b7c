// Package theme turns the colour tokens of a theme file into the styles with which the desk draws.
//
// Every style is made in one function, New, so that no component knows a colour. Styles only repeat what a word or a
// marker says: without colours (NO_COLOR, a dumb terminal) nothing is lost. Bubble Tea reduces the colours to what
// the terminal can show.
package theme

import (
	"charm.land/lipgloss/v2"
)

// Theme is a theme made ready for one kind of terminal. Components hold a pointer and are told of a new one with
// SetTheme.
type Theme struct {
	Name string
	Dark bool

	Text, Muted, Border                 lipgloss.Style // on the terminal's own background
	Title, Strong, Emphasis, Strike     lipgloss.Style
	Accent, Danger, Warning, Success    lipgloss.Style
	Selected, SelectedDim               lipgloss.Style // whole row; Dim: its pane has not the focus
	Match, CurrentMatch                 lipgloss.Style // of a search
	Bar, BarMuted, BarKey               lipgloss.Style // title line, footer
	BarDanger, BarWarning, BarSuccess   lipgloss.Style
	Tab, TabActive                      lipgloss.Style
	Key                                 lipgloss.Style // a key's name in help and menus
	Disabled                            lipgloss.Style // what cannot be done, beside the reason
	Input, InputFocused, Placeholder    lipgloss.Style
	Button, ButtonFocused, ButtonDanger lipgloss.Style
	Heading, Link, Quote, Code          lipgloss.Style // markdown
	Added, Removed, Hunk                lipgloss.Style // diffs
	Keyword, String, Number             lipgloss.Style // code and JSON
	Comment, Ident                      lipgloss.Style
}

// New derives all styles from the tokens.
func New(f *File, dark bool) *Theme {
	t := &f.Tokens
	fg := func(p Pair) lipgloss.Style { return lipgloss.NewStyle().Foreground(lipgloss.Color(p.Of(dark))) }
	on := func(p, behind Pair) lipgloss.Style { return fg(p).Background(lipgloss.Color(behind.Of(dark))) }
	th := &Theme{
		Name: f.Name, Dark: dark,
		Text: fg(t.Text), Muted: fg(t.Muted), Border: fg(t.Border),
		Title: fg(t.Text).Bold(true), Strong: fg(t.Text).Bold(true), Emphasis: fg(t.Text).Italic(true),
		Strike: fg(t.Muted).Strikethrough(true),
		Accent: fg(t.Accent), Danger: fg(t.Danger), Warning: fg(t.Warning), Success: fg(t.Success),
		Selected: on(t.OnSelection, t.Selection), SelectedDim: on(t.Text, t.Surface),
		Match: on(t.OnMatch, t.Match), CurrentMatch: on(t.OnSelection, t.Selection).Bold(true),
		Bar: on(t.Text, t.Surface), BarMuted: on(t.Muted, t.Surface), BarKey: on(t.Accent, t.Surface).Bold(true),
		BarDanger: on(t.Danger, t.Surface).Bold(true), BarWarning: on(t.Warning, t.Surface),
		BarSuccess: on(t.Success, t.Surface),
		Tab:        on(t.Muted, t.Surface), TabActive: on(t.Accent, t.Surface).Bold(true).Underline(true),
		Key: fg(t.Accent).Bold(true), Disabled: fg(t.Muted),
		Input: fg(t.Text), InputFocused: fg(t.Text).Underline(true), Placeholder: fg(t.Muted),
		Button: on(t.Text, t.Surface), ButtonFocused: on(t.OnSelection, t.Selection).Bold(true),
		ButtonDanger: on(t.Danger, t.Surface).Bold(true),
		Heading:      fg(t.Heading).Bold(true), Link: fg(t.Link).Underline(true), Quote: fg(t.Muted), Code: fg(t.String),
		Added: fg(t.Added), Removed: fg(t.Removed), Hunk: fg(t.Accent),
		Keyword: fg(t.Keyword), String: fg(t.String), Number: fg(t.Number), Comment: fg(t.Comment), Ident: fg(t.Name),
	}
	return th
}

// Must loads a bundled theme for tests and start-up, where a missing bundled file is a fault of the build; it falls
// back to the default for any other name.
func Must(name string, dark bool) *Theme {
	f, err := Load(name)
	if err != nil {
		if f, err = Load(Default); err != nil {
			panic(err)
		}
	}
	return New(f, dark)
}
