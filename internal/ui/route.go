package ui

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/guard"
	"github.com/hitl-tui/hitl-tui/internal/ui/page/inbox"
)

// key routes a key press: to the dialog on top, else to the open pane, else through the keymap to a command.
func (m *Model) key(msg tea.KeyPressMsg) tea.Cmd {
	m.press = msg
	m.clickFocuses = false
	switch {
	case len(m.dialogs) > 0:
		if id, _ := m.keys.Resolve(msg, command.Global); id == command.Interrupt && m.now().Sub(m.interrupt) < twice {
			return m.interrupted()
		}
		return m.dialogMsg(msg)
	case m.pane != nil:
		return m.paneMsg(msg)
	}
	id, ok := m.keys.Resolve(msg, m.stack()...)
	if !ok {
		m.guard.Other()
		return nil
	}
	return m.run(id)
}

// stack is the scopes whose keys are live. The tabs other than Waiting keep what the list can do everywhere.
func (m *Model) stack() []command.Scope {
	s := m.scope()
	switch s {
	case command.Running, command.Failed, command.Finished:
		return []command.Scope{s, command.Review, command.Global}
	}
	return command.Stack(s)
}

// run does a command, whoever asked for it: a key, the palette or a menu.
func (m *Model) run(id command.ID) tea.Cmd {
	c, _ := command.Find(id)
	if m.hides(c) {
		return m.warn("read-only: " + c.Title + " changes something")
	}
	if c.Effect == command.Fires && c.Scope() == command.Review {
		return m.guarded(func(t guard.Ticket) tea.Cmd { return m.decide(c.Action, t) })
	}
	m.guard.Other()
	if c.Action != "" && c.Scope() == command.Review {
		return m.decide(c.Action, 0)
	}
	if why := m.whyNot(id); why != "" {
		return m.warn(why)
	}
	if cmd, ok := m.runGlobal(id); ok {
		return cmd
	}
	switch m.place {
	case atHistory:
		return m.runHistory(id)
	case atRetention:
		return m.runRetention(id)
	case atThread:
		return m.runThread(id)
	case atActivity:
		return m.runActivity(id)
	}
	return m.runInbox(id)
}

// runGlobal does what is the same on every page.
func (m *Model) runGlobal(id command.ID) (tea.Cmd, bool) {
	switch id {
	case command.Help:
		return m.openHelp(), true
	case command.OpenPalette:
		return m.openPalette(), true
	case command.Close:
		return m.close(), true
	case command.Back:
		return tea.Batch(m.greeted(), m.back()), true
	case command.Interrupt:
		return m.interrupted(), true
	case command.SuspendDesk:
		return m.suspend(), true
	case command.Redraw:
		return tea.ClearScreen, true
	case command.TakeBack:
		return m.takeBack(""), true
	case command.OpenOutbox:
		return m.openOutbox(), true
	case command.Messages:
		return m.openMessages(), true
	case command.Copy:
		return m.openCopy(), true
	case command.Reveal:
		return m.toggleReveal(), true
	case command.NewThread:
		return m.newThread(), true
	case command.NextTheme:
		return m.nextTheme(), true
	case command.LightDark:
		return m.lightDark(), true
	case command.Rules:
		return m.openRules(), true
	case command.SwitchRules:
		return m.switchRules(), true
	case command.ToggleMouse:
		m.mouse = !m.mouse
		if m.mouse {
			return m.say("the mouse selects and scrolls; hold Shift to select text"), true
		}
		return m.say("the mouse is the terminal's"), true
	}
	if tab, ok := tabOf[id]; ok {
		return m.goTab(tab), true
	}
	return nil, false
}

var tabOf = map[command.ID]desk.Tab{
	command.TabWaiting: desk.Waiting, command.TabRunning: desk.Running, command.TabFailed: desk.Failed,
	command.TabFinished: desk.Finished, command.TabAll: desk.All, command.TabActivity: activityTab, command.TabRetention: retentionTab,
	command.TabNext: nextTab, command.TabPrevious: previousTab,
}

// Tabs that are no groups of threads.
const (
	activityTab  desk.Tab = "activity"
	retentionTab desk.Tab = "retention"
	nextTab      desk.Tab = ">"
	previousTab  desk.Tab = "<"
)

func tabOrder() []desk.Tab {
	return []desk.Tab{desk.Waiting, desk.Running, desk.Failed, desk.Finished, desk.All, activityTab, retentionTab}
}

// goTab shows a tab.
func (m *Model) goTab(tab desk.Tab) tea.Cmd {
	order := tabOrder()
	if tab == nextTab || tab == previousTab {
		step := 1
		if tab == previousTab {
			step = -1
		}
		tab = order[(slices.Index(order, m.currentTab())+step+len(order))%len(order)]
	}
	m.moved, m.from = true, atInbox
	if tab == desk.Failed {
		m.seen()
	}
	switch tab {
	case retentionTab:
		m.place = atRetention
		m.layout()
		return m.prune.Open()
	case activityTab:
		m.place = atActivity
		m.layout()
		return m.active.Open()
	}
	away := m.place == atRetention || m.place == atActivity
	m.place = atInbox
	m.layout()
	if away && tab == m.inbox.Tab() {
		return m.inbox.Clear() // the tab was left: what was decided in it goes
	}
	return m.inbox.SetTab(tab)
}

func (m *Model) currentTab() desk.Tab {
	switch m.place {
	case atRetention:
		return retentionTab
	case atActivity:
		return activityTab
	}
	return m.inbox.Tab()
}

// runInbox does the commands of the list and the question.
func (m *Model) runInbox(id command.ID) tea.Cmd {
	p := m.inbox
	switch id {
	case command.Down, command.Up, command.PageDown, command.PageUp, command.First, command.Last:
		return m.moveInbox(id)
	case command.HalfDown:
		p.HalfPage(1)
	case command.HalfUp:
		p.HalfPage(-1)
	case command.ScrollDown:
		p.ScrollQuestion(1)
	case command.ScrollUp:
		p.ScrollQuestion(-1)
	case command.OpenQuestion:
		if p.Focus() == inbox.Question {
			p.Unfold(1)
			return nil
		}
		m.moved = true
		p.SetFocus(inbox.Question)
	case command.BackToList:
		if p.Focus() != inbox.Question || !p.Unfold(-1) {
			p.SetFocus(inbox.List)
		}
	case command.Unfold:
		p.Unfold(0)
	case command.FocusNext, command.FocusPrev:
		if _, asks := p.Current(); !asks && p.Focus() == inbox.List && !p.OnePane() {
			return m.say("nothing is asked here: there is nothing to go into")
		}
		m.moved = true
		p.SetFocus(inbox.Question - p.Focus())
	case command.Zoom:
		p.ToggleZoom()
	case command.NextQuestion:
		return m.turn(1)
	case command.PrevQuestion:
		return m.turn(-1)
	case command.DisplayMode:
		return m.say("display: " + p.NextMode())
	case command.Wrap:
		return m.say(p.ToggleWrap())
	case command.ReadAgain:
		m.quiet()
		return tea.Batch(p.Clear(), m.readInfo(), m.readOutbox())
	case command.Search, command.Filter:
		return m.openPrompt(id)
	case command.SearchNext:
		return m.find(1)
	case command.SearchPrev:
		return m.find(-1)
	case command.ActionsMenu:
		return m.openActions()
	case command.Views:
		return m.openViews()
	default:
		return m.runMarks(id)
	}
	return nil
}

// runMarks does what concerns the marked rows.
func (m *Model) runMarks(id command.ID) tea.Cmd {
	switch id {
	case command.Mark:
		m.moved = true
		return m.inbox.Mark()
	case command.MarkTo:
		m.inbox.MarkRange()
	case command.Unmark:
		m.inbox.Unmark()
	case command.ActOnMarked:
		return m.startBulk()
	default:
		return m.runSelected(id)
	}
	return nil
}

// find goes to the next match, in the question where that has the focus and is searched, else in the list.
func (m *Model) find(dir int) tea.Cmd {
	if m.inbox.Focus() == inbox.Question && m.inbox.FindInQuestion(dir) {
		return nil
	}
	m.moved = true
	return m.inbox.Find(dir)
}

// runSelected does what concerns the selected thread as a whole.
func (m *Model) runSelected(id command.ID) tea.Cmd {
	t := m.inbox.Selected()
	if t == nil {
		return m.warn("nothing is selected")
	}
	switch id {
	case command.Claim:
		return m.claim()
	case command.OpenHistory, command.RunHistory, command.FailHistory, command.DoneHistory:
		return m.openHistory(t.ID)
	case command.WatchThread, command.ReadError, command.Outputs:
		return m.openThread(t.ID)
	case command.CancelRun:
		return m.askCancelRun(*t)
	case command.CarryOn, command.CarryOnBeside:
		return m.askCarryOn(*t)
	case command.DeleteFailed, command.DeleteDone:
		return m.askDelete([]string{t.ID})
	}
	return nil
}

func (m *Model) moveInbox(id command.ID) tea.Cmd {
	p := m.inbox
	if p.Focus() == inbox.Question {
		p.MoveInQuestion(id)
		return nil
	}
	m.moved = true
	switch id {
	case command.Down:
		return p.Move(1)
	case command.Up:
		return p.Move(-1)
	case command.PageDown:
		return p.MovePage(1)
	case command.PageUp:
		return p.MovePage(-1)
	case command.First:
		return p.First()
	}
	return p.Last()
}

func (m *Model) turn(n int) tea.Cmd {
	m.moved = true
	if !m.inbox.TurnQuestion(n) {
		return m.say("the thread asks one question")
	}
	return nil
}

// back goes one level back; it never decides, cancels or quits.
func (m *Model) back() tea.Cmd {
	switch {
	case m.quitting:
		m.quitting = false
		return m.say("stays")
	case m.place == atHistory:
		if !m.history.Back() {
			m.leave()
		}
	case m.place == atThread:
		m.leave()
	case m.place == atRetention:
		m.prune.Back()
	case m.place == atActivity:
	case m.inbox.Focus() == inbox.Question:
		m.inbox.SetFocus(inbox.List)
	case m.inbox.Search() != "":
		return m.inbox.SetSearch("")
	case m.inbox.Filter() != "":
		return m.inbox.SetFilter("")
	}
	return nil
}

// leave shows again what was left for a thread: a page of its own, else the inbox.
func (m *Model) leave() {
	m.place, m.from = m.from, atInbox
	m.moved = true
	m.layout()
}

// close closes what is open, and at the top quits.
func (m *Model) close() tea.Cmd {
	switch {
	case m.place == atHistory || m.place == atThread:
		m.leave()
		return nil
	case m.place == atInbox && m.inbox.Focus() == inbox.Question && m.inbox.OnePane():
		m.inbox.SetFocus(inbox.List)
		return nil
	}
	return m.quit()
}

// twice is how soon a second ctrl+c has to come to quit at once.
const twice = 2 * time.Second

// interrupted is ctrl+c: as close, and a second one within 2 s quits.
func (m *Model) interrupted() tea.Cmd {
	now := m.now()
	again := now.Sub(m.interrupt) < twice
	m.interrupt = now
	if again {
		return tea.Sequence(m.keepAsDrafts(), tea.Quit)
	}
	return m.close()
}
