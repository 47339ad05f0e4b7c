package dialog

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/ago"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/list"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// moveList moves a list by the commands of the menu scope and says whether it was one of them.
func moveList[T any](l *list.List[T], id command.ID) bool {
	switch id {
	case command.MenuDown:
		l.Move(1)
	case command.MenuUp:
		l.Move(-1)
	case command.MenuPageDown:
		l.Page(1)
	case command.MenuPageUp:
		l.Page(-1)
	case command.MenuFirst:
		l.First()
	case command.MenuLast:
		l.Last()
	default:
		return false
	}
	return true
}

// Message is one line of the desk's memory of what it said.
type Message struct {
	At     time.Time
	Danger bool
	Text   string // raw
	Thread string // "" for none
}

// Messages lists what the desk said, newest first.
type Messages struct {
	frame
	list *list.List[Message]
}

// NewMessages shows messages that are given oldest first.
func NewMessages(k Kit, messages []Message) *Messages {
	m := &Messages{frame: frame{kit: k, most: 120}}
	newest := make([]Message, len(messages))
	for i, x := range messages {
		newest[len(messages)-1-i] = x
	}
	m.list = list.New(k.Theme, func(x Message) string { return x.At.String() + x.Text }, m.row)
	m.list.SetEmpty("No messages yet.")
	m.list.SetItems(newest)
	return m
}

func (m *Messages) row(x Message, w int, _ list.State) []string {
	th := m.kit.Theme
	text := sanitize.Line(x.Text)
	if x.Danger {
		text = th.Danger.Render("! " + text)
	}
	return []string{cell.Clip(th.Muted.Render(x.At.Format("15:04:05"))+" "+text, w)}
}

// Scope is the scope of the keys.
func (m *Messages) Scope() command.Scope { return command.Menu }

// Cursor is none.
func (m *Messages) Cursor() (int, int, bool) { return noCursor() }

// SetTheme changes the styles.
func (m *Messages) SetTheme(th *theme.Theme) { m.frame.SetTheme(th); m.list.SetTheme(th) }

// Update takes a key; Enter goes to the thread of the message.
func (m *Messages) Update(msg tea.Msg) Result {
	switch id := m.resolve(msg, command.Menu); id {
	case command.MenuBack:
		return Closed{}
	case command.MenuTake:
		if x, ok := m.list.Selected(); ok && x.Thread != "" {
			return GoTo{x.Thread}
		}
	default:
		moveList(m.list, id)
	}
	return closeOnQ(msg)
}

// View is the box: the list, and the selected message whole.
func (m *Messages) View() string {
	w, h := m.inner()
	var whole []string
	if x, ok := m.list.Selected(); ok && h > 8 {
		whole = cell.WrapText(sanitize.Text(x.Text), w)
		whole = append([]string{m.kit.Theme.Border.Render(rule(w))}, whole[:min(len(whole), h/3)]...)
	}
	m.list.SetSize(w, min(max(m.list.Len(), 1), h-len(whole)))
	return m.draw("Messages "+m.list.Position(), append(split(m.list.View()), whole...))
}

// OutboxList lists what is on its way.
type OutboxList struct {
	frame
	list *list.List[desk.Entry]
	now  time.Time
}

// NewOutboxList shows entries; Update them with SetEntries as they change and as time passes.
func NewOutboxList(k Kit, entries []desk.Entry, now time.Time) *OutboxList {
	o := &OutboxList{frame: frame{kit: k, most: 100}}
	o.list = list.New(k.Theme, func(e desk.Entry) string { return e.ID }, o.row)
	o.list.SetEmpty("Nothing is on its way. Decisions wait here for their grace time.")
	o.SetEntries(entries, now)
	return o
}

// SetEntries shows a newer state; the selection stays on its entry.
func (o *OutboxList) SetEntries(entries []desk.Entry, now time.Time) {
	o.now = now
	o.list.SetItems(entries)
}

func (o *OutboxList) row(e desk.Entry, w int, _ list.State) []string {
	th := o.kit.Theme
	state := string(e.State)
	if e.State == desk.Unsent {
		state = fmt.Sprintf("sends in %d s", ago.Left(o.now, e.SendAt))
		if o.kit.Still {
			state = "sends at " + ago.Clock(e.SendAt)
		}
	}
	title := e.Decision.Title
	if title == "" {
		title = e.Decision.Thread
	}
	left := cell.Fit(sanitize.Line(e.Decision.Action), 10) + " " + sanitize.Line(title)
	right := th.Muted.Render(state)
	if e.Err != "" {
		right = th.Danger.Render("! " + cell.Clip(sanitize.Line(e.Err), w/2))
	}
	return []string{cell.Between(left, right, w)}
}

// Scope is the scope of the keys.
func (o *OutboxList) Scope() command.Scope { return command.Outbox }

// Cursor is none.
func (o *OutboxList) Cursor() (int, int, bool) { return noCursor() }

// SetTheme changes the styles.
func (o *OutboxList) SetTheme(th *theme.Theme) { o.frame.SetTheme(th); o.list.SetTheme(th) }

// Update takes a key.
func (o *OutboxList) Update(msg tea.Msg) Result {
	id := o.resolve(msg, command.Outbox)
	e, ok := o.list.Selected()
	switch {
	case id == command.MenuBack:
		return Closed{}
	case moveList(o.list, id) || !ok:
	case id == command.OutboxSend && e.State == desk.Unsent:
		return SendEntry{e.ID}
	case id == command.OutboxTakeBack && (e.State == desk.Unsent || e.State == desk.Held):
		return TakeBackEntry{e.ID}
	case id == command.MenuTake:
		return GoTo{e.Decision.Thread}
	}
	return closeOnQ(msg)
}

// View is the box.
func (o *OutboxList) View() string {
	w, h := o.inner()
	o.list.SetSize(w, min(max(o.list.Len(), 1), max(h-2, 1)))
	lines := append(split(o.list.View()), "", o.hints(
		o.kit.Keys.Key(command.OutboxSend), "send now", o.kit.Keys.Key(command.OutboxTakeBack), "take back",
		o.kit.Keys.Key(command.MenuTake), "go there"))
	return o.draw("Outbox "+o.list.Position(), lines)
}
