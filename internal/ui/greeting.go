package ui

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
)

// greetedFile is in the state folder of a user who knows the keys.
const greetedFile = "greeted"

// readGreeting finds out whether the user is new to the desk. Where nothing can be kept nobody is.
func (m *Model) readGreeting() tea.Cmd {
	dir := m.opts.StateDir
	if !m.opts.Greet || dir == "" {
		return nil
	}
	return func() tea.Msg {
		_, err := os.Stat(filepath.Join(dir, greetedFile))
		return greeting(errors.Is(err, fs.ErrNotExist))
	}
}

// greeting says whether the keys to know are told.
type greeting bool

func (g greeting) apply(m *Model) tea.Cmd {
	m.greeting = bool(g)
	return nil
}

// greeted ends the greeting for good.
func (m *Model) greeted() tea.Cmd {
	if !m.greeting {
		return nil
	}
	m.greeting = false
	dir := m.opts.StateDir
	return func() tea.Msg {
		err := os.MkdirAll(dir, 0o700)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, greetedFile), nil, 0o600)
		}
		if err != nil {
			return notGreeted{err}
		}
		return nil
	}
}

// notGreeted is why the next start greets again.
type notGreeted struct{ err error }

func (n notGreeted) apply(m *Model) tea.Cmd {
	m.note(fmt.Sprintf("the first keys are told again at the next start: %v", n.err), "")
	return nil
}

// greetingText is the handful of keys with which one gets along: as many as have room, the most important first.
func (m *Model) greetingText(w int) string {
	approve := command.ForAction(actions.Approve)
	type hint struct {
		id   command.ID
		does string
	}
	hints := []hint{{command.OpenQuestion, "read"}, {approve, "approve"}, {command.TakeBack, "take back"}, {command.Help, "keys"}, {command.OpenPalette, "commands"}}
	if w < 60 {
		hints[2].does = "undo"
	}
	counts := m.inbox.Counts()
	empty := counts != nil && counts[desk.All] == 0
	switch {
	case empty && m.opts.ReadOnly:
		hints = hints[3:]
	case empty:
		hints = append([]hint{{command.NewThread, "start a workflow"}}, hints[3:]...)
	case m.opts.ReadOnly:
		hints = append([]hint{hints[0], {command.Search, "search"}, {command.OpenHistory, "history"}}, hints[3:]...)
	}
	if w >= 100 {
		hints = append(hints, hint{command.Back, "hides this"})
	}
	var parts []string
	room := w - 2
	for _, h := range hints {
		key := m.keys.Key(h.id)
		text := key + " " + h.does
		if need := cell.Width(text) + 3; key != "" && need <= room+3 {
			parts = append(parts, text)
			room -= need
		}
	}
	return strings.Join(parts, " · ")
}
