package ui

import (
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/hitl-tui/hitl-tui/internal/ui/guard"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// terminal takes the facts of the terminal: its size, its colours, its focus, its return from a suspension.
func (m *Model) terminal(msg tea.Msg) (tea.Cmd, bool) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		m.layout()
	case tea.BackgroundColorMsg:
		if !m.darkChosen && m.dark != msg.IsDark() {
			m.setTheme(m.themeFile, msg.IsDark())
		}
	case tea.FocusMsg:
		m.focused = true
		m.clickFocuses, m.focusedAt = true, m.now()
		m.guard.Unsettle(m.now(), "the window got its focus")
		return m.readTheme(m.themeFile.Name), true
	case tea.ModeReportMsg:
		// As Bubble Tea itself decides how to count cells.
		if v := msg.Value; msg.Mode == ansi.ModeUnicodeCore && (v == ansi.ModeReset || v == ansi.ModeSet || v == ansi.ModePermanentlySet) {
			m.clusters = true
		}
	case tea.BlurMsg:
		m.focused = false
	case tea.ResumeMsg:
		m.guard.Unsettle(m.now(), "the desk came back")
		return tea.Batch(tea.RequestBackgroundColor, m.inbox.Wake(""), m.readOutbox()), true
	default:
		return nil, false
	}
	return nil, true
}

func (m *Model) setTheme(f *theme.File, dark bool) {
	m.themeFile, m.dark = f, dark
	m.theme = theme.New(f, dark)
	m.inbox.SetTheme(m.theme)
	m.history.SetTheme(m.theme)
	m.prune.SetTheme(m.theme)
	m.thread.SetTheme(m.theme)
	m.active.SetTheme(m.theme)
	m.pane.setTheme(m.theme)
	for _, d := range m.dialogs {
		d.SetTheme(m.theme)
	}
}

// nextTheme goes to the next theme.
func (m *Model) nextTheme() tea.Cmd {
	names := m.opts.Themes.Names
	now, load := m.themeFile.Name, m.readTheme
	return func() tea.Msg {
		all := names()
		return load(all[(slices.Index(all, now)+1)%len(all)])()
	}
}

// readTheme reads a theme from its file: of a user's own what it now says.
func (m *Model) readTheme(name string) tea.Cmd {
	shelf := m.opts.Themes
	return func() tea.Msg {
		f, err := shelf.Load(name)
		return themeRead{f, err}
	}
}

// themeRead is a theme as its file has it.
type themeRead struct {
	file *theme.File
	err  error
}

func (r themeRead) apply(m *Model) tea.Cmd {
	switch {
	case r.err != nil:
		return m.complain(r.err.Error(), "")
	case *r.file == *m.themeFile:
		return nil
	}
	again := r.file.Name == m.themeFile.Name
	m.setTheme(r.file, m.dark)
	if again {
		return m.say("theme " + r.file.Name + " read again")
	}
	return m.say("theme " + r.file.Name)
}

func (m *Model) lightDark() tea.Cmd {
	m.darkChosen = true
	m.setTheme(m.themeFile, !m.dark)
	if m.dark {
		return m.say("dark form of the theme")
	}
	return m.say("light form of the theme")
}

// paste goes to a text field and is otherwise nothing: never keys.
func (m *Model) paste(msg tea.PasteMsg) tea.Cmd {
	switch {
	case len(m.dialogs) > 0:
		return m.dialogMsg(msg)
	case m.pane != nil:
		return m.paneMsg(msg)
	}
	return m.say("pasted text is ignored outside of a text field")
}

// mouseEvent selects and scrolls. A click never decides, and the click that gives the window its focus does nothing.
func (m *Model) mouseEvent(msg tea.MouseMsg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.MouseClickMsg:
		if m.clickFocuses {
			m.clickFocuses = false
			if m.now().Sub(m.focusedAt) < guard.SettleTime {
				return nil
			}
		}
		if msg.Button != tea.MouseLeft {
			return nil
		}
		return m.click(msg.X, msg.Y)
	case tea.MouseWheelMsg:
		m.clickFocuses = false
		d := 3
		if msg.Button == tea.MouseWheelUp {
			d = -3
		} else if msg.Button != tea.MouseWheelDown {
			return nil
		}
		return m.wheel(msg.X, d)
	case tea.MouseReleaseMsg:
		m.clickFocuses = false
	}
	return nil
}

func (m *Model) click(x, y int) tea.Cmd {
	if len(m.dialogs) > 0 || m.pane != nil {
		return nil
	}
	if y < m.top() || m.place != atInbox {
		return nil
	}
	m.guard.Other()
	m.moved = true
	return m.inbox.ClickRow(x, y-m.top())
}

func (m *Model) wheel(x, d int) tea.Cmd {
	if len(m.dialogs) > 0 {
		return nil
	}
	if m.pane != nil {
		m.pane.ScrollSide(d)
		return nil
	}
	switch m.place {
	case atHistory:
		m.history.Scroll(d)
	case atThread:
		m.thread.Scroll(d)
	case atRetention:
		return m.prune.Move(d)
	case atActivity:
		m.active.Move(d)
	default:
		if m.inbox.InQuestion(x) {
			m.inbox.ScrollQuestion(d)
			return nil
		}
		m.moved = true
		return m.inbox.Move(d)
	}
	return nil
}
