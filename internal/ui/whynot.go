package ui

import (
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/page/inbox"
)

// whyNot says why a command cannot run now, "" when it can.
func (m *Model) whyNot(id command.ID) string {
	c, _ := command.Find(id)
	switch {
	case m.hides(c):
		return "read-only"
	case id == command.TakeBack && len(m.unsent()) == 0:
		return "no answer is unsent"
	}
	switch m.place {
	case atInbox:
		return m.whyNotInbox(c)
	case atHistory:
		return m.whyNotHistory(id)
	case atRetention:
		return m.whyNotRetention(id)
	}
	if m.place == atActivity {
		return m.whyNotActivity(id)
	}
	return m.whyNotThread(id)
}

func (m *Model) whyNotActivity(id command.ID) string {
	if (id == command.DecisionOf || id == command.WriteCSV) && m.active.Selected() == "" {
		return "nothing was decided in this time"
	}
	return ""
}

func (m *Model) whyNotInbox(c command.Command) string {
	marked, _ := m.inbox.Marked()
	q, drawn := m.inbox.Drawn()
	switch {
	case c.Scope() != command.Global && c.ID != command.Filter && c.ID != command.Views && m.inbox.Selected() == nil:
		return "nothing is selected"
	case c.Action != "" && c.Scope() == command.Review:
		if !drawn {
			return "no question is drawn"
		}
		if choice, _ := choiceOf(q, c.Action); !choice.Allowed {
			return why(choice)
		}
	}
	switch c.ID {
	case command.ActOnMarked, command.Unmark:
		if len(marked) == 0 {
			return "nothing is marked: " + m.keys.Key(command.Mark) + " marks"
		}
	case command.NextQuestion, command.PrevQuestion:
		if m.inbox.Pages() < 2 {
			return "the thread asks no other question"
		}
	case command.CarryOnBeside:
		if t := m.inbox.Selected(); t != nil && !t.Halted() {
			return "nothing failed there"
		}
	case command.ActionsMenu, command.DisplayMode:
		if !drawn {
			return "no question is drawn"
		}
	case command.SearchNext, command.SearchPrev:
		if m.inbox.Search() == "" && m.inbox.Focus() == inbox.List {
			return "nothing is searched for"
		}
	case command.Copy:
		if m.inbox.Selected() == nil {
			return "nothing is selected"
		}
	}
	return ""
}

func (m *Model) whyNotHistory(id command.ID) string {
	switch id {
	case command.Fork:
		if _, ok := m.history.Selected(); !ok {
			return "no step is selected"
		}
	case command.StepsOrGraph:
		return m.history.NoGraph()
	case command.EditState:
		if !m.history.AtHead() {
			return "only the state at the last step can be edited"
		}
	}
	return ""
}

func (m *Model) whyNotRetention(id command.ID) string {
	switch id {
	case command.Prune:
		if _, err := m.prune.Bounds(); err != nil {
			return err.Error()
		}
	case command.DeleteMarked:
		if len(m.prune.Chosen()) == 0 {
			return "no thread is selected"
		}
	case command.StopPrune:
		if m.stopPrune == nil {
			return "no prune runs"
		}
	}
	return ""
}

func (m *Model) whyNotThread(id command.ID) string {
	d := m.thread.Detail()
	if d == nil {
		return ""
	}
	switch id {
	case command.ThreadCancel:
		if d.Status != "running" && !m.thread.Live() {
			return "it does not run: it is " + d.Status
		}
	case command.ThreadCarryOn:
		if d.Status != "failed" && d.Status != "stalled" && !d.Halted() {
			return "there is nothing to carry on: it is " + d.Status
		}
	}
	return ""
}
