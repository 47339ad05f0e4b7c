package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/ui/command"
)

// revealFor is how long secrets stay on the screen that were asked for.
const revealFor = 30 * time.Second

// toggleReveal shows for a while what is masked, or masks it again.
func (m *Model) toggleReveal() tea.Cmd {
	if m.revealed {
		return tea.Batch(m.reveal(false), m.say("secrets are masked again"))
	}
	return tea.Batch(m.reveal(true), m.say("secrets are shown for 30 s; "+m.keys.Key(command.Reveal)+" masks them at once"),
		m.after(revealFor, revealOver(m.reveals)))
}

// reveal has everything read again that is on a page, and drops what was read the other way.
func (m *Model) reveal(on bool) tea.Cmd {
	m.revealed = on
	m.reveals++
	m.desk.Reveal(on)
	return tea.Batch(m.inbox.Forget(), m.history.Forget(), m.thread.Forget(), m.readOutbox())
}

// revealOver is when the secrets of one reveal are masked again.
type revealOver int

func (r revealOver) apply(m *Model) tea.Cmd {
	if int(r) != m.reveals {
		return nil
	}
	return m.reveal(false)
}
