package ui

import (
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
)

// readOutbox reads what is on its way.
func (m *Model) readOutbox() tea.Cmd {
	d := m.desk
	return func() tea.Msg { return outboxRead(d.Outbox()) }
}

type outboxRead []desk.Entry

func (o outboxRead) apply(m *Model) tea.Cmd {
	before := map[string]desk.EntryState{}
	for _, e := range m.outbox {
		before[e.ID] = e.State
	}
	m.outbox = o
	m.inbox.SetOutbox(o)
	m.forgetBulks()
	var cmds []tea.Cmd
	for _, e := range o {
		if e.State == before[e.ID] {
			continue
		}
		switch e.State {
		case desk.Refused:
			cmds = append(cmds, m.complain(e.Decision.Title+": "+e.Err, e.Decision.Thread), m.inbox.Wake(e.Decision.Thread))
		case desk.Sent:
			if e.Result != nil && e.Result.ErrMessage == "" { // a failure is told by its run
				m.note(e.Decision.Title+": "+doneWord(e.Decision.Action)+byRule(e.Decision)+", the thread is "+e.Result.Status, e.Decision.Thread)
			}
		}
	}
	m.refreshOutboxList()
	if m.quitting {
		cmds = append(cmds, m.quitWhenAtRest())
	}
	return tea.Batch(cmds...)
}

// unsent lists the entries that can be taken back, in the order opposite to that in which they are.
func (m *Model) unsent() []desk.Entry {
	var out []desk.Entry
	for _, e := range m.outbox {
		if e.State == desk.Unsent || e.State == desk.Held {
			out = append(out, e)
		}
	}
	// Those of people last, as they are taken back first.
	slices.SortStableFunc(out, func(a, b desk.Entry) int {
		_, x := desk.ByRule(a.Decision.Reviewer)
		_, y := desk.ByRule(b.Decision.Reviewer)
		switch {
		case x && !y:
			return -1
		case y && !x:
			return 1
		}
		return 0
	})
	return out
}

// takeBack takes an unsent answer back, "" the newest.
func (m *Model) takeBack(id string) tea.Cmd {
	d := m.desk
	return func() tea.Msg {
		e, err := d.TakeBack(id)
		return takenBack{entry: e, err: err}
	}
}

type takenBack struct {
	entry *desk.Entry
	err   error
}

func (t takenBack) apply(m *Model) tea.Cmd {
	if t.err != nil {
		return tea.Batch(m.warn(t.err.Error()), m.readOutbox())
	}
	x := t.entry.Decision
	taken := 0
	for i := range m.outbox {
		e := &m.outbox[i]
		if e.ID == t.entry.ID || e.Bulk != "" && e.Bulk == t.entry.Bulk && (e.State == desk.Unsent || e.State == desk.Held) {
			e.State = desk.TakenBack
			taken++
		}
	}
	m.inbox.SetOutbox(m.outbox)
	text := "taken back: " + x.Action + byRule(x) + " of " + x.Title
	if taken > 1 {
		text += fmt.Sprintf(" and %d more", taken-1)
	}
	if byRule(x) == "" && t.entry.Draft != nil && t.entry.Draft.Text != "" {
		if t.entry.Bulk != "" {
			text += "; " + m.keys.Key(command.ActOnMarked) + " goes on with your text"
		} else {
			text += "; your text is kept, " + m.actionKey(x.Action) + " goes on with it"
		}
	}
	cmds := []tea.Cmd{m.say(text), m.readOutbox(), m.inbox.Wake(x.Thread)}
	if t.entry.Bulk != "" {
		cmds = append(cmds, m.bulkBack(t.entry.Bulk))
	}
	if m.place == atInbox && m.pane == nil {
		m.moved = false // the selection moves by itself
		cmds = append(cmds, m.inbox.Select(x.Thread, x.Question))
	}
	return tea.Batch(cmds...)
}

// sendNow ends the grace time of an entry, "" of all.
func (m *Model) sendNow(id string) tea.Cmd {
	d := m.desk
	return func() tea.Msg { return called{what: "send now", err: d.SendNow(id)} }
}

// countdown keeps one clock going while an answer waits for the end of its grace time or a run is watched, once a
// second on the second of the youngest; at rest, and with reduced motion, there is none.
func (m *Model) countdown() tea.Cmd {
	if m.ticking || m.opts.ReducedMotion {
		return nil
	}
	unsent := m.unsent()
	running := m.place == atThread && m.thread.Live()
	if len(unsent) == 0 && !running {
		return nil
	}
	wait := time.Second
	if len(unsent) > 0 {
		if left := unsent[len(unsent)-1].SendAt.Sub(m.now()); left > 0 {
			wait = left % time.Second
			if wait < 20*time.Millisecond {
				wait += time.Second
			}
		}
	}
	m.ticking = true
	return m.after(wait, second{})
}

type second struct{}

func (second) apply(m *Model) tea.Cmd {
	m.ticking = false
	m.refreshOutboxList()
	return nil
}

// after gives a message when a time has passed, or nothing when the desk ends before.
func (m *Model) after(d time.Duration, msg tea.Msg) tea.Cmd {
	ctx := m.ctx
	return func() tea.Msg {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			return msg
		case <-ctx.Done():
			return nil
		}
	}
}

// minute wakes the screen once a minute, for the ages on it.
func (m *Model) minute() tea.Cmd {
	return m.after(time.Minute, minutePassed{})
}

type minutePassed struct{}

func (minutePassed) apply(m *Model) tea.Cmd { return m.minute() }

// byRule says that a rule decided, "" for a person.
func byRule(x desk.Decision) string {
	if name, is := desk.ByRule(x.Reviewer); is {
		return " by rule " + name
	}
	return ""
}

func doneWord(action string) string {
	if info, ok := actions.Describe(actions.Action(action)); ok {
		return info.Done
	}
	return action
}
