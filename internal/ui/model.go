package ui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/ui/bridge"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/guard"
	"github.com/hitl-tui/hitl-tui/internal/ui/keymap"
	"github.com/hitl-tui/hitl-tui/internal/ui/page/activity"
	"github.com/hitl-tui/hitl-tui/internal/ui/page/history"
	"github.com/hitl-tui/hitl-tui/internal/ui/page/inbox"
	"github.com/hitl-tui/hitl-tui/internal/ui/page/retention"
	"github.com/hitl-tui/hitl-tui/internal/ui/page/thread"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// Model is the root: it owns the pages, the dialogs and the open pane, and routes messages to them.
type Model struct {
	ctx      context.Context
	desk     Desk
	reviewer string
	opts     Options
	now      func() time.Time

	width, height int
	laid          [4]int // what the pages were laid out for
	themeFile     *theme.File
	theme         *theme.Theme
	dark          bool
	darkChosen    bool // by the reviewer: the terminal's own answer no longer counts
	mouse         bool
	clusters      bool // the terminal draws what reads as one character in one place, however many code points it has
	focused       bool // the window
	focusedAt     time.Time
	clickFocuses  bool // a click right behind the focus only gave it to the window

	keys     *keymap.Map
	press    tea.KeyPressMsg // the key being handled
	pressing bool            // one is being handled, or the mouse
	guard    guard.Guard
	moved    bool // the reviewer moved the selection since the question drawn last changed
	drawn    string

	place   place // which page is shown
	from    place // from which the history of a thread was opened
	inbox   *inbox.Page
	history *history.Page
	prune   *retention.Page
	thread  *thread.Page
	active  *activity.Page

	dialogs []opened
	pane    *pane

	outbox    []desk.Entry
	tickets   map[guard.Ticket]string // entry of a decision, "" until the desk has taken it
	recalled  map[guard.Ticket]bool   // to be taken back as soon as it has
	bulks     map[string]desk.Draft   // what was typed for a bulk that may be taken back
	bulkTyped map[string]desk.Draft   // what was typed for many, by what it is for

	inflight map[string]bool       // questions whose decision is on its way to the desk
	progress map[string]desk.Event // latest of each thread that runs here
	started  map[string]time.Time  // when that run was first heard of
	restedAt map[string]time.Time  // when the latest run of a thread ended

	info   desk.StoreInfo
	status status
	log    []message
	unseen int // failures not looked at

	greeting bool // the keys to know are told

	stopPrune context.CancelFunc // of a running prune

	revealed bool // secrets are shown
	reveals  int  // how often that changed

	ticking   bool
	interrupt time.Time // of the last ctrl+c
	quitting  bool
	lastWait  int64 // number waiting when last counted, to hear of new ones
	counted   bool
	reloadDue bool
	wakes     map[string]bool // threads that changed since the last reading
}

// place is the page that is shown.
type place int

const (
	atInbox place = iota
	atHistory
	atRetention
	atThread
	atActivity
)

// New makes the root model. What is not in o is as Run has it.
func New(ctx context.Context, d Desk, o Options) *Model {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Grace == 0 {
		o.Grace = 5 * time.Second
	}
	m := &Model{
		ctx: ctx, desk: d, opts: o, now: o.Now, dark: true, mouse: !o.NoMouse, focused: true,
		tickets: map[guard.Ticket]string{}, recalled: map[guard.Ticket]bool{}, inflight: map[string]bool{},
		bulks: map[string]desk.Draft{}, bulkTyped: map[string]desk.Draft{},
		progress: map[string]desk.Event{}, started: map[string]time.Time{}, restedAt: map[string]time.Time{}, wakes: map[string]bool{},
	}
	var problems []keymap.Problem
	m.keys, problems = keymap.New(o.Keys)
	for _, p := range problems {
		m.complain(p.Error(), "")
	}
	file, err := o.Themes.Load(o.Theme)
	if err != nil {
		m.complain(err.Error(), "")
		if file, err = theme.Load(theme.Default); err != nil {
			panic(err) // a build without its own default theme
		}
	}
	m.themeFile = file
	m.theme = theme.New(file, m.dark)
	m.reviewer = d.Reviewer()
	m.inbox = inbox.New(ctx, d, m.theme, m.keys, o.Now, m.reviewer)
	m.inbox.SetReadOnly(o.ReadOnly)
	m.inbox.SetStill(o.ReducedMotion)
	m.history = history.New(ctx, d, m.theme, m.keys, o.Now)
	m.prune = retention.New(ctx, d, m.theme, m.keys, o.Now)
	m.thread = thread.New(ctx, d, m.theme, m.keys, o.Now)
	m.active = activity.New(ctx, d, m.theme, o.Now)
	return m
}

// Init asks the terminal for its background, reads the first page and begins to listen.
func (m *Model) Init() tea.Cmd {
	return tea.Batch(tea.RequestBackgroundColor, m.inbox.Init(), m.readInfo(), m.readOutbox(),
		bridge.Listen(m.ctx, m.desk), m.minute(), m.readGreeting())
}

// result is a message that says itself what it changes: the outcome of a call of the desk.
type result interface{ apply(*Model) tea.Cmd }

// Update routes one message.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		m.pressing = true
		cmd = m.key(msg)
	case tea.PasteMsg:
		cmd = m.paste(msg)
	case tea.MouseMsg:
		m.pressing = true
		cmd = m.mouseEvent(msg)
	case bridge.Batch:
		cmd = m.heard(msg)
	case result:
		cmd = msg.apply(m)
	default:
		if c, ok := m.terminal(msg); ok {
			cmd = c
			break
		}
		cmd = tea.Batch(m.inbox.Update(msg), m.history.Update(msg), m.prune.Update(msg), m.thread.Update(msg), m.active.Update(msg))
	}
	m.pressing = false
	m.watchDrawn()
	if m.laid != m.room() {
		m.layout()
	}
	switch m.place {
	case atInbox:
		cmd = tea.Batch(cmd, m.inbox.Lay())
	case atHistory:
		cmd = tea.Batch(cmd, m.history.Lay())
	}
	return m, tea.Batch(cmd, m.countdown())
}

// watchDrawn notices that another question is drawn than before. Unless the reviewer moved there, no decision counts
// for a moment. An open pane is about a question of its own, whatever is drawn below it.
func (m *Model) watchDrawn() {
	if m.place != atInbox || m.pane != nil {
		return
	}
	key := m.inbox.DrawnKey()
	if key == m.drawn || key == "" { // a question that is read again comes back as the same
		if !m.inbox.Reading() { // the move led nowhere else: it excuses no later change
			m.moved = false
		}
		return
	}
	if !m.moved {
		m.guard.Unsettle(m.now(), "the question changed")
	}
	m.moved = false
	m.drawn = key
}

// scope is where the keys go now.
func (m *Model) scope() command.Scope {
	switch {
	case len(m.dialogs) > 0:
		return m.dialogs[len(m.dialogs)-1].Scope()
	case m.pane != nil:
		return m.pane.scope()
	case m.place == atHistory:
		return command.History
	case m.place == atRetention:
		return command.Retention
	case m.place == atThread:
		return command.Thread
	case m.place == atActivity:
		return command.Activity
	}
	return m.inboxScope()
}

// inboxScope depends on the tab and on what the selected thread is.
func (m *Model) inboxScope() command.Scope {
	if m.inbox.Focus() == inbox.Question {
		if _, ok := m.inbox.Drawn(); ok {
			return command.Question
		}
	}
	t := m.inbox.Selected()
	if t == nil {
		return command.Review
	}
	switch m.inbox.Status() {
	case "running":
		return command.Running
	case "failed", "stalled":
		return command.Failed
	case "done", "rejected", "stopped", "cancelled":
		return command.Finished
	}
	return command.Review
}
