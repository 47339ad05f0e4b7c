package ui

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/footer"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/tabs"
	"github.com/hitl-tui/hitl-tui/internal/ui/page/inbox"
)

// The smallest screen on which the desk is drawn, and from where on two lines of keys are shown.
const (
	minWidth, minHeight = 24, 6
	tallHeight          = 18
)

// top is the number of lines above the page. A question that fills a small screen needs them more than the tabs do.
func (m *Model) top() int {
	if m.height < tallHeight && m.place == atInbox && m.inbox.OnePane() && m.inbox.Focus() == inbox.Question {
		return 0
	}
	return 1
}

// bottom is the number of lines below it: the status and the keys, on two lines where there is room and so many.
func (m *Model) bottom() int {
	if m.height < tallHeight {
		return 2
	}
	if items, ok := m.pageItems(); ok && footer.Fits(m.theme, m.keys, items, m.lastItems(), m.width) {
		return 2
	}
	return 3
}

// room is what a layout depends on.
func (m *Model) room() [4]int { return [4]int{m.width, m.height, m.top(), m.bottom()} }

// layout gives every page and dialog its room.
func (m *Model) layout() {
	m.laid = m.room()
	h := max(m.height-m.top()-m.bottom(), 1)
	m.inbox.SetSize(m.width, h)
	m.history.SetSize(m.width, h)
	m.prune.SetSize(m.width, h)
	m.thread.SetSize(m.width, h)
	m.active.SetSize(m.width, h)
	m.pane.setSize(m.width, m.height)
	for _, d := range m.dialogs {
		d.SetSize(m.width, m.height)
	}
}

// View draws the frame and declares the state of the terminal.
func (m *Model) View() tea.View {
	v := tea.NewView("")
	v.AltScreen = true
	v.ReportFocus = true
	v.KeyboardEnhancements.ReportEventTypes = true // a held key is then reported as a repeat
	if m.mouse {
		v.MouseMode = tea.MouseModeCellMotion
	}
	v.WindowTitle = m.title()
	v.ProgramStatus = m.programStatus()
	switch {
	case m.width == 0 || m.height == 0:
	case m.width < minWidth || m.height < minHeight:
		v.SetContent(cell.Block([]string{"too small:", fmt.Sprintf("%dx%d", m.width, m.height), fmt.Sprintf("of %dx%d", minWidth, minHeight)}, m.width, m.height))
	default:
		content, cursor := m.frame()
		switch {
		case m.opts.ASCII:
			content = cell.ASCII(content)
		case !m.clusters:
			content = cell.ByRune(content)
		}
		v.SetContent(content)
		v.Cursor = cursor
	}
	return v
}

// frame is the screen, and the cursor where text is typed.
func (m *Model) frame() (string, *tea.Cursor) {
	var base string
	var cursor *tea.Cursor
	if m.pane != nil {
		base = m.pane.View()
		cursor = m.pane.cursor()
	} else {
		if m.top() > 0 {
			base = m.tabLine() + "\n"
		}
		base += m.page() + "\n" + m.statusLine(m.width) + "\n" + strings.Join(m.footer(), "\n")
	}
	for _, d := range m.dialogs {
		if d, ok := d.Dialog.(*prompt); ok {
			y := m.height - m.bottom()
			for i, line := range strings.Split(d.View(), "\n") {
				base = replaceLine(base, y+i, line)
			}
			cursor = at(d, 0, y)
			continue
		}
		box := d.View()
		w, h := boxSize(box)
		x, y := max((m.width-w)/2, 0), max((m.height-h)/3, 0)
		base = cell.Overlay(base, box, x, y)
		cursor = at(d, x, y)
	}
	return base, cursor
}

func at(d interface{ Cursor() (int, int, bool) }, x, y int) *tea.Cursor {
	cx, cy, ok := d.Cursor()
	if !ok {
		return nil
	}
	return tea.NewCursor(x+cx, y+cy)
}

func (m *Model) page() string {
	switch m.place {
	case atHistory:
		return m.history.View()
	case atRetention:
		return m.prune.View()
	case atThread:
		return m.thread.View()
	case atActivity:
		return m.active.View()
	}
	return m.inbox.View()
}

// tabLine is the first line: the tabs with their counts, and the store.
func (m *Model) tabLine() string {
	names := map[desk.Tab]tabs.Tab{
		desk.Waiting: {Label: "Waiting", Short: "Wait"}, desk.Running: {Label: "Running", Short: "Run"},
		desk.Failed: {Label: "Failed", Short: "Fail", Alarm: true}, desk.Finished: {Label: "Finished", Short: "Done"},
		desk.All: {Label: "All"}, activityTab: {Label: "Activity", Short: "Log"}, retentionTab: {Label: "Retention", Short: "Keep"},
	}
	keys := map[desk.Tab]string{}
	for id, tab := range tabOf {
		keys[tab] = m.keys.Key(id)
	}
	counts := m.inbox.Counts()
	var items []tabs.Tab
	active := 0
	for i, tab := range tabOrder() {
		t := names[tab]
		t.Key, t.Count = keys[tab], -1
		if n, ok := counts[tab]; ok {
			t.Count = n
		}
		if tab == m.currentTab() {
			active = i
		}
		items = append(items, t)
	}
	note := m.info.Name
	if m.width >= 120 {
		scheme, _, _ := strings.Cut(m.info.URL, ":")
		note = m.reviewer + "   " + scheme + " " + m.info.Name
	}
	return tabs.View(m.theme, items, active, note, m.width)
}

// title is the window's: how many wait.
func (m *Model) title() string {
	if n := m.inbox.Counts()[desk.Waiting]; n > 0 {
		return fmt.Sprintf("(%d) hitl-tui", n)
	}
	return "hitl-tui"
}

// programStatus tells a terminal that shows it whether a person is asked something.
func (m *Model) programStatus() *tea.ProgramStatus {
	s := &tea.ProgramStatus{ID: "hitl-tui", App: "hitl-tui", State: tea.ProgramStateIdle}
	switch n := m.inbox.Counts()[desk.Waiting]; {
	case n > 0:
		s.State, s.Kind = tea.ProgramStateBlocked, tea.ProgramStatusKindQuestion
		s.Message = plural(int(n), "question waits", "questions wait")
	case len(m.progress) > 0:
		s.State = tea.ProgramStateWorking
	}
	return s
}

func boxSize(box string) (w, h int) {
	for l := range strings.SplitSeq(box, "\n") {
		w, h = max(w, cell.Width(l)), h+1
	}
	return w, h
}

func replaceLine(base string, y int, line string) string {
	lines := strings.Split(base, "\n")
	if y >= 0 && y < len(lines) {
		lines[y] = line
	}
	return strings.Join(lines, "\n")
}

func clip(s string, n int) string { return cell.Clip(s, n) }
