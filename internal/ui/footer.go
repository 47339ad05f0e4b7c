package ui

import (
	"slices"

	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/footer"
	"github.com/hitl-tui/hitl-tui/internal/ui/page/inbox"
)

// footer is the last lines: what can be done now, the most important first.
func (m *Model) footer() []string {
	rows, last := m.bottom()-1, m.lastItems()
	if items, ok := m.pageItems(); ok {
		return footer.Lines(m.theme, m.keys, items, last, m.width, rows)
	}
	decide, list := m.inboxItems()
	var more []footer.Item
	if m.inbox.Focus() == inbox.Question && m.scope() == command.Question {
		more = footer.Of(command.ActionsMenu)
	}
	switch {
	case rows == 1 && more != nil:
		return []string{footer.Actions(m.theme, m.keys, m.shown(decide), more, m.width)}
	case rows == 1:
		return footer.Lines(m.theme, m.keys, m.shown(append(decide, list...)), last, m.width, 1)
	}
	first := footer.Actions(m.theme, m.keys, m.shown(decide), more, m.width)
	return append([]string{first}, footer.Lines(m.theme, m.keys, m.shown(list), last, m.width, 1)...)
}

// lastItems are always at the end of the last line.
func (m *Model) lastItems() []footer.Item {
	if m.width >= 60 {
		return footer.Of(command.Help, command.OpenPalette)
	}
	return footer.Of(command.Help)
}

// pageItems are the keys of a page beside the inbox, and false at the inbox.
func (m *Model) pageItems() ([]footer.Item, bool) {
	var items []footer.Item
	switch m.place {
	case atHistory:
		items = footer.Of(command.StateAtStep, command.DiffSteps, command.MarkStep, command.StepsOrGraph, command.Fork, command.EditState, command.ExportHistory, command.HistoryDown, command.Copy)
	case atRetention:
		items = footer.Of(command.Bounds, command.GroupThreads, command.Prune, command.DeleteMarked, command.MarkThread, command.SortThreads)
		if m.prune.Busy() {
			items = footer.Of(command.StopPrune)
		}
	case atActivity:
		items = footer.Of(command.DecisionOf, command.NextPeriod, command.WriteCSV, command.Close)
	case atThread:
		items = append([]footer.Item{{ID: command.Back}}, footer.Of(command.ThreadCancel, command.ThreadCarryOn, command.ThreadHistory)...)
		items = slices.DeleteFunc(items, func(it footer.Item) bool { return m.whyNotThread(it.ID) != "" }) // x and o only where they do something
	default:
		return nil, false
	}
	return m.shown(items), true
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
	if m.inbox.Selected() == nil {
		return footer.Of(command.NewThread), footer.Of(command.Filter, command.Search, command.Views, command.Close)
	}
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
	if m.inbox.Pages() > 1 {
		list = append(footer.Of(command.NextQuestion), list...)
	}
	return decide, list
}
