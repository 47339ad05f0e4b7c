package ui

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/ui/dialog"
)

// savedView begins the id of a view of the configuration among the orders of the list.
const savedView = "view "

// openViews offers the views of the configuration and the orders of the list.
func (m *Model) openViews() tea.Cmd {
	var items []dialog.Item
	for i, v := range m.opts.Views {
		key := "" // from the tenth on by the arrows
		if i < 9 {
			key = strconv.Itoa(i + 1)
		}
		about := v.Filter
		if about == "" {
			about = "everything"
		}
		items = append(items, dialog.Item{ID: savedView + strconv.Itoa(i), Key: key, Label: v.Name + ": " + about})
	}
	items = append(items,
		dialog.Item{ID: "due", Key: "d", Label: "overdue and due first, then oldest"},
		dialog.Item{ID: "waiting", Key: "w", Label: "longest waiting first"},
		dialog.Item{ID: "updated", Key: "u", Label: "last changed first"},
		dialog.Item{ID: "name", Key: "n", Label: "by workflow and title"},
	)
	title := "Order of the list"
	if len(m.opts.Views) > 0 {
		title = "Views, and the order of the list"
	}
	return m.open(dialog.NewPick(m.kit(), title, items...), func(m *Model, r dialog.Result) tea.Cmd {
		p, ok := r.(dialog.Picked)
		if !ok {
			return nil
		}
		m.moved = true
		if n, ok := strings.CutPrefix(p.ID, savedView); ok {
			i, _ := strconv.Atoi(n)
			return m.showView(m.opts.Views[i])
		}
		return m.inbox.SetSort(p.ID)
	})
}

// showView filters the list as a view says.
func (m *Model) showView(v View) tea.Cmd {
	var cmds []tea.Cmd
	if v.Tab != "" && v.Tab != m.currentTab() {
		cmds = append(cmds, m.goTab(v.Tab))
	}
	if v.Sort != "" {
		cmds = append(cmds, m.inbox.SetSort(v.Sort))
	}
	return tea.Batch(append(cmds, m.inbox.SetFilter(v.Filter), m.say("view "+v.Name))...)
}
