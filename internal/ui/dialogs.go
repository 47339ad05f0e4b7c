package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/content"
	"github.com/hitl-tui/hitl-tui/internal/ui/dialog"
	"github.com/hitl-tui/hitl-tui/internal/ui/guard"
)

// opened is a dialog on the stack and what the root does with its results. Stay keeps it; any other result closes it
// unless stays says otherwise.
type opened struct {
	dialog.Dialog
	on    func(m *Model, r dialog.Result) tea.Cmd // nil: results do nothing
	stays bool                                    // a list that is open until it is closed
	self  time.Time                               // when it opened by itself, zero: a key opened it
}

// openList puts a list on top in which no question is decided, though it had to be read first: the key that asked for it may
// be followed at once by the one that picks.
func (m *Model) openList(d dialog.Dialog, on func(*Model, dialog.Result) tea.Cmd) tea.Cmd {
	d.SetSize(m.width, m.height)
	m.dialogs = append(m.dialogs, opened{Dialog: d, on: on})
	return nil
}

// open puts a dialog on top.
func (m *Model) open(d dialog.Dialog, on func(*Model, dialog.Result) tea.Cmd) tea.Cmd {
	m.openList(d, on)
	if !m.pressing { // a reading came back, and what is typed meanwhile is not meant for it
		self := m.now()
		m.dialogs[len(m.dialogs)-1].self = self
		m.guard.Unsettle(self, "a dialog opened")
	}
	return nil
}

func (m *Model) kit() dialog.Kit {
	return dialog.Kit{Theme: m.theme, Keys: m.keys, Hides: m.hides, Still: m.opts.ReducedMotion}
}

// hides tells whether a command is not offered at all.
func (m *Model) hides(c command.Command) bool { return m.opts.ReadOnly && c.Changes() }

// dialogMsg gives a key or a paste to the dialog on top and acts on what comes of it.
func (m *Model) dialogMsg(msg tea.Msg) tea.Cmd {
	top := m.dialogs[len(m.dialogs)-1]
	if !top.self.IsZero() && m.now().Sub(top.self) < guard.SettleTime && m.press.String() != "esc" {
		return m.warn("dropped: a dialog opened just now, press it again")
	}
	r := top.Update(msg)
	switch r.(type) {
	case dialog.AtSend:
		return top.on(m, r)
	case dialog.Stay:
		if p, ok := top.Dialog.(*prompt); ok && p.completes && len(p.offers) == 0 {
			return m.readOffers(p)
		}
		return nil
	}
	if _, closed := r.(dialog.Closed); closed || !top.stays {
		m.dialogs = m.dialogs[:len(m.dialogs)-1]
	}
	if top.on == nil {
		return nil
	}
	return top.on(m, r)
}

// confirmation is a question with yes or no. A yes either decides something, and is then guarded like every decision,
// or runs a call.
type confirmation struct {
	title, text, yes string
	danger           bool
	do               func(*Model, guard.Ticket) tea.Cmd
	run              tea.Cmd
}

func (m *Model) ask(c confirmation) tea.Cmd {
	return m.open(dialog.NewConfirm(m.kit(), c.title, c.text, c.yes, c.danger), func(m *Model, r dialog.Result) tea.Cmd {
		if _, yes := r.(dialog.Confirmed); !yes {
			return nil
		}
		if c.do != nil {
			return m.guarded(func(t guard.Ticket) tea.Cmd { return c.do(m, t) })
		}
		return c.run
	})
}

// typeCount asks for a number to be typed before something that cannot be undone.
func (m *Model) typeCount(title, text string, n int64, do func(*Model) tea.Cmd) tea.Cmd {
	return m.open(dialog.NewTypeToConfirm(m.kit(), title, text, fmt.Sprint(n)), func(m *Model, r dialog.Result) tea.Cmd {
		if _, yes := r.(dialog.Confirmed); yes {
			return do(m)
		}
		return nil
	})
}

func (m *Model) openHelp() tea.Cmd { return m.open(dialog.NewHelp(m.kit(), m.stack()), nil) }

func (m *Model) openPalette() tea.Cmd {
	return m.open(dialog.NewPalette(m.kit(), m.stack(), m.whyNot), func(m *Model, r dialog.Result) tea.Cmd {
		if run, ok := r.(dialog.Run); ok {
			return m.runNamed(run.ID)
		}
		return nil
	})
}

// runNamed runs a command picked by its name. One that would fire opens its pane instead: Enter never decides.
func (m *Model) runNamed(id command.ID) tea.Cmd {
	c, _ := command.Find(id)
	if c.Effect == command.Fires && c.Action != "" {
		return m.takeAction(c.Action)
	}
	return m.run(id)
}

// openActions is the menu of all fifteen.
func (m *Model) openActions() tea.Cmd {
	q, ok := m.inbox.Drawn()
	if !ok {
		return m.warn("no question is drawn")
	}
	return m.open(dialog.NewMenu(m.kit(), append(q.Permitted(), refused(q)...)), func(m *Model, r dialog.Result) tea.Cmd {
		if a, ok := r.(dialog.TakeAction); ok {
			return m.takeAction(a.Action)
		}
		return nil
	})
}

// refused is the actions that a question does not allow, each with the reason.
func refused(q desk.Question) []desk.Choice {
	return slices.DeleteFunc(slices.Clone(q.Choices), func(c desk.Choice) bool { return c.Allowed })
}

// takeAction opens an action's way to its data, and for those that fire with one key a pane too.
func (m *Model) takeAction(a actions.Action) tea.Cmd {
	q, ok := m.inbox.Drawn()
	if !ok || m.opts.ReadOnly {
		return m.decide(a, 0)
	}
	q = forWhole(q, a)
	c, _ := choiceOf(q, a)
	if _, claimed := m.claimedByOther(q.Thread); !claimed && c.Allowed && (a == actions.Approve || a == actions.Continue) {
		return m.openPane(q, c, false)
	}
	return m.decide(a, 0)
}

// openChooser offers the options; a digit in it decides.
func (m *Model) openChooser(q desk.Question, c desk.Choice, steal bool) tea.Cmd {
	if len(q.Options) == 0 {
		return m.openPane(q, c, steal)
	}
	d := dialog.NewChooser(m.kit(), q.Title, q.Options, q.Multiple)
	var atSend time.Time
	var take func(m *Model, r dialog.Result) tea.Cmd
	take = func(m *Model, r dialog.Result) tea.Cmd {
		if r == (dialog.AtSend{}) {
			atSend = m.now()
		}
		chosen, ok := r.(dialog.Chosen)
		if !ok {
			return nil
		}
		if m.press.String() == "enter" && m.now().Sub(atSend) < guard.SettleTime {
			m.guard.Unsettle(atSend, "[Send] got the focus")
		}
		passed := false
		cmd := m.guarded(func(t guard.Ticket) tea.Cmd {
			passed = true
			return m.give(q, c, chosenData(q, chosen.Options), steal, nil, t)
		})
		if !passed { // a dropped key leaves the list as it was
			m.open(d, take)
		}
		return cmd
	}
	return m.open(d, take)
}

// openOutbox lists what is on its way.
func (m *Model) openOutbox() tea.Cmd {
	m.open(dialog.NewOutboxList(m.kit(), m.outbox, m.now()), func(m *Model, r dialog.Result) tea.Cmd {
		switch r := r.(type) {
		case dialog.SendEntry:
			return m.sendNow(r.ID)
		case dialog.TakeBackEntry:
			return m.takeBack(r.ID)
		case dialog.GoTo:
			m.dialogs = nil
			return m.goTo(r.Thread)
		}
		return nil
	})
	m.dialogs[len(m.dialogs)-1].stays = true
	return nil
}

// refreshOutboxList keeps an open outbox list true.
func (m *Model) refreshOutboxList() {
	for _, d := range m.dialogs {
		if list, ok := d.Dialog.(*dialog.OutboxList); ok {
			list.SetEntries(m.outbox, m.now())
		}
	}
}

// openMessages lists what was said; the failures count as seen.
func (m *Model) openMessages() tea.Cmd {
	m.seen()
	lines := make([]dialog.Message, len(m.log))
	for i, x := range m.log {
		lines[i] = dialog.Message{At: x.at, Danger: x.bad, Text: x.text, Thread: x.thread}
	}
	return m.open(dialog.NewMessages(m.kit(), lines), func(m *Model, r dialog.Result) tea.Cmd {
		if to, ok := r.(dialog.GoTo); ok {
			return m.goTo(to.Thread)
		}
		return nil
	})
}

// goTo selects a thread where it is listed, else shows it by itself.
func (m *Model) goTo(thread string) tea.Cmd {
	m.moved = true
	if m.place == atInbox && m.inbox.Has(thread) {
		return m.inbox.Select(thread, "")
	}
	return m.openThread(thread)
}

// openCopy offers what can be copied.
func (m *Model) openCopy() tea.Cmd {
	t := m.inbox.Selected()
	if t == nil {
		return m.warn("nothing is selected")
	}
	values := map[string]string{
		"id": t.ID, "path": t.Workflow + "/" + t.Node, "cli": "hitl-tui resume " + t.ID + " approve",
	}
	items := []dialog.Item{{ID: "id", Key: "i", Label: "id of the thread"}, {ID: "path", Key: "p", Label: "workflow and node"},
		{ID: "cli", Key: "c", Label: "the command line that answers"}}
	if q, ok := m.inbox.Current(); ok {
		values["path"] = q.Path
		values["text"] = strings.TrimSpace(q.Title + "\n\n" + q.Message)
		values["value"] = content.Of(q.Content, q.ContentType).Text()
		under := "what is under review"
		if path, value, ok := m.inbox.TreeAt(); ok {
			values["path"], values["value"] = path, content.Of(value, "").Text()
			items[1].Label, under = "path of the value at the cursor: "+path, "the value at the cursor"
		}
		items = append(items, dialog.Item{ID: "text", Key: "t", Label: "text of the question"},
			dialog.Item{ID: "value", Key: "v", Label: under})
	}
	return m.open(dialog.NewPick(m.kit(), "Copy", items...), func(m *Model, r dialog.Result) tea.Cmd {
		p, ok := r.(dialog.Picked)
		if !ok {
			return nil
		}
		return m.copy(characters(values[p.ID]), values[p.ID])
	})
}

// openQuit asks what becomes of that which is on its way.
func (m *Model) openQuit(b busy) tea.Cmd {
	var items []dialog.Item
	if b.unsent > 0 {
		items = append(items, dialog.Item{ID: "send", Key: "s", Label: "send now, then leave"},
			dialog.Item{ID: "drafts", Key: "d", Label: "keep as drafts, marked not sent"})
	}
	if b.verb == "Quit" {
		items = append(items, dialog.Item{ID: "wait", Key: "w", Label: "send now and wait until all have come to rest"})
	}
	if b.unsent == 0 {
		items = append(items, dialog.Item{ID: "leave", Key: "l", Label: "leave: runs are interrupted, their answers are kept"})
	}
	return m.openList(dialog.NewAsk(m.kit(), b.verb+"?", b.text(), items...), func(m *Model, r dialog.Result) tea.Cmd {
		p, ok := r.(dialog.Picked)
		if !ok {
			return nil
		}
		switch p.ID {
		case "send":
			return tea.Sequence(m.sendNow(""), b.leave)
		case "drafts":
			return tea.Sequence(m.keepAsDrafts(), b.leave)
		case "wait":
			return m.waitThenQuit()
		}
		return b.leave
	})
}

// claim claims the selected thread for half an hour, or releases it.
func (m *Model) claim() tea.Cmd {
	t, d, ctx := m.inbox.Selected(), m.desk, m.ctx
	switch {
	case t == nil:
		return m.warn("nothing is selected")
	case m.opts.ReadOnly:
		return m.warn("read-only: nothing is claimed from here")
	case t.Claimed == m.reviewer && t.ClaimedUntil.After(m.now()):
		return func() tea.Msg {
			return called{what: "release", thread: t.ID, done: "released: " + t.Title, err: d.Release(ctx, t.ID)}
		}
	}
	return func() tea.Msg {
		return called{what: "claim", thread: t.ID, done: "claimed for 30 minutes: " + t.Title, err: d.Claim(ctx, t.ID, 30*time.Minute)}
	}
}
