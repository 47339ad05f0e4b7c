package ui

import (
	"slices"

	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/footer"
	"github.com/hitl-tui/hitl-tui/internal/ui/page/inbox"
)

// footer is the last lines: what can be done now, the most important first.
func (m *Model) footer() []string {
	rows := m.bottom() - 1
	last := footer.Of(command.Help)
	if m.width >= 60 {
		last = footer.Of(command.Help, command.OpenPalette)
	}
	switch m.place {
	case atHistory:
		items := footer.Of(command.StateAtStep, command.DiffSteps, command.MarkStep, command.Fork, command.EditState, command.ExportHistory, command.HistoryDown, command.Copy)
		return footer.Lines(m.theme, m.keys, m.shown(items), last, m.width, rows)
	case atRetention:
		items := footer.Of(command.Bounds, command.GroupThreads, command.Prune, command.DeleteMarked, command.MarkThread, command.SortThreads)
		if m.prune.Busy() {
			items = footer.Of(command.StopPrune)
		}
		return footer.Lines(m.theme, m.keys, m.shown(items), last, m.width, rows)
	case atThread:
		items := append([]footer.Item{{ID: command.Back}}, footer.Of(command.ThreadCancel, command.ThreadCarryOn, command.ThreadHistory)...)
		return footer.Lines(m.theme, m.keys, m.shown(items), last, m.width, rows)
	}
	decide, list := m.inboxItems()
	if rows == 1 {
		return footer.Lines(m.theme, m.keys, m.shown(append(decide, list...)), last, m.width, 1)
	}
	var more []footer.Item
	room := 2
	if m.inbox.Focus() == inbox.Question && m.scope() == command.Question {
		more, room = footer.Of(command.ActionsMenu), 12
	}
	first := footer.Lines(m.theme, m.keys, m.withLeads(m.shown(decide), m.width-room), more, m.width, 1)
	return append(first, footer.Lines(m.theme, m.keys, m.shown(list), last, m.width, 1)...)
}

// shown leaves out what read-only mode hides.
func (m *Model) shown(items []footer.Item) []footer.Item {
	return slices.DeleteFunc(items, func(it footer.Item) bool {
		c, _ := command.Find(it.ID)
		return m.hides(c)
	})
}

// inboxItems are the actions of the drawn question, and the keys of the list.
func (m *Model) inboxItems() (decide, list []footer.Item) {
	q, drawn := m.inbox.Drawn()
	if drawn && !m.opts.ReadOnly {
		for _, c := range q.Permitted() {
			decide = append(decide, footer.Item{ID: command.ForAction(c.Action), Leads: sanitize.Line(c.Leads)})
		}
	}
	switch m.scope() {
	case command.Running:
		decide = footer.Of(command.WatchThread, command.CancelRun)
	case command.Failed:
		decide = footer.Of(command.CarryOn, command.ReadError, command.DeleteFailed)
	case command.Finished:
		decide = footer.Of(command.Outputs, command.DeleteDone)
	}
	if len(decide) == 0 {
		decide = footer.Of(command.OpenQuestion)
	}
	if marked, _ := m.inbox.Marked(); len(marked) > 0 {
		list = footer.Of(command.ActOnMarked, command.Unmark)
	}
	list = append(list, footer.Of(command.Mark, command.Filter, command.Search, command.OpenHistory, command.Claim, command.NewThread,
		command.DisplayMode, command.Views, command.Zoom, command.Copy, command.Close)...)
	if t := m.inbox.Selected(); t != nil && t.Halted() {
		list = append(footer.Of(command.CarryOnBeside), list...)
	}
	if d := m.inbox.Detail(); d != nil && len(d.Questions) > 1 {
		list = append(footer.Of(command.NextQuestion), list...)
	}
	return decide, list
}

// withLeads keeps as many actions as fit with where they lead: rather fewer than ones that do not say it.
func (m *Model) withLeads(items []footer.Item, w int) []footer.Item {
	used := 0
	for i, it := range items {
		c, _ := command.Find(it.ID)
		used += cell.Width(m.keys.Key(it.ID)) + cell.Width(c.Footer) + cell.Width(it.Leads) + 4
		if used > w {
			return items[:max(i, 1)]
		}
	}
	return items
}
