package ui

import (
	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/ui/ago"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
)

// runActivity does the commands of the activity page.
func (m *Model) runActivity(id command.ID) tea.Cmd {
	p := m.active
	switch id {
	case command.Down:
		p.Move(1)
	case command.Up:
		p.Move(-1)
	case command.PageDown, command.HalfDown:
		p.PageBy(1)
	case command.PageUp, command.HalfUp:
		p.PageBy(-1)
	case command.First:
		p.First()
	case command.Last:
		p.Last()
	case command.DecisionOf:
		return m.openHistory(p.Selected())
	case command.NextPeriod:
		read, what := p.NextPeriod()
		return tea.Batch(read, m.say(what))
	case command.ReadAgain:
		return p.Open()
	case command.WriteCSV:
		return m.writeCSV()
	}
	return nil
}

// writeCSV writes the decisions that are shown into a file of the present folder, which must not be there yet.
func (m *Model) writeCSV() tea.Cmd {
	write := m.active.CSV()
	name := "hitl-activity-" + m.now().Format("20060102-150405") + ".csv"
	return func() tea.Msg {
		n, err := writeNew(name, write)
		return called{what: "write CSV", done: "wrote " + name + ", " + ago.Bytes(n), err: err}
	}
}
