package ui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/ui/ago"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/guard"
	"github.com/hitl-tui/hitl-tui/internal/ui/page/inbox"
)

// guarded runs what would decide, if the key that was pressed may decide now. What a held key decided beyond its
// first press is taken back.
func (m *Model) guarded(do func(guard.Ticket) tea.Cmd) tea.Cmd {
	v := m.guard.Press(m.now(), m.press.String(), m.press.IsRepeat)
	var cmds []tea.Cmd
	for _, t := range v.TakeBack {
		cmds = append(cmds, m.recall(t))
	}
	if !v.OK {
		if m.pane != nil {
			m.pane.SetError(v.Why) // it covers the status line
		}
		return tea.Batch(append(cmds, m.warn(v.Why))...)
	}
	return do(m.guard.Last())
}

// decide is what the key of a response action does: it fires, asks, or opens a pane or the chooser.
func (m *Model) decide(a actions.Action, t guard.Ticket) tea.Cmd {
	if m.opts.ReadOnly {
		return m.warn("read-only: nothing can be decided here")
	}
	q, ok := m.inbox.Drawn()
	if !ok {
		return m.notDrawn(a)
	}
	q = forWhole(q, a)
	c, ok := choiceOf(q, a)
	if !ok || !c.Allowed {
		return m.warn(fmt.Sprintf("%s: %s; %s", a, why(c), m.allowedHere(q)))
	}
	if e, ok := m.inbox.Answered(q.ID); ok && e.State != desk.Unsent && e.State != desk.Held {
		return m.warn("you have answered this: " + e.Decision.Action + " is on its way")
	}
	if m.inflight[q.ID] {
		return m.warn("an answer to this is on its way to the desk")
	}
	if who, ok := m.claimedByOther(q.Thread); ok {
		return m.ask(confirmation{
			title: who + " has claimed this", text: "Decide it all the same?", yes: "decide",
			do: func(m *Model, t guard.Ticket) tea.Cmd { return m.answer(q, c, true, t) },
		})
	}
	return m.answer(q, c, false, t)
}

// answer takes the way of the action to its data, and from there to the outbox.
func (m *Model) answer(q desk.Question, c desk.Choice, steal bool, t guard.Ticket) tea.Cmd {
	switch {
	case c.Action == actions.Choose:
		return m.openChooser(q, c, steal)
	case c.Action == actions.Skip:
		text := "The node completes without output and goes to: " + c.Leads
		if q.Of != nil {
			text = "It is left without an answer: " + c.Leads
		}
		return m.ask(confirmation{
			title: about("Skip", q.Title), text: text, yes: "skip",
			do: func(m *Model, t guard.Ticket) tea.Cmd { return m.give(q, c, nil, steal, nil, t) },
		})
	case (c.Action == actions.Approve || c.Action == actions.Continue) && !c.NeedsComment:
		return m.give(q, c, nil, steal, nil, t)
	}
	return m.openPane(q, c, steal)
}

// about asks whether to do something with what has a title, which may be a question itself.
func about(do, title string) string { return do + " " + strings.TrimSuffix(title, "?") + "?" }

// notDrawn says why nothing was decided and brings the question on the screen if it can.
func (m *Model) notDrawn(a actions.Action) tea.Cmd {
	t := m.inbox.Selected()
	switch {
	case t == nil:
		return m.warn("nothing is selected")
	case m.inbox.Detail() == nil:
		return m.warn("the question is still being read: nothing decided")
	case len(m.inbox.Detail().Questions) == 0:
		return m.warn("nothing is asked here: the thread is " + t.Status)
	}
	m.inbox.SetFocus(inbox.Question)
	m.moved = true
	key := m.keys.Key(command.ForAction(a))
	return m.warn(fmt.Sprintf("this is the question; %s again to %s", key, a))
}

// decision names what was on screen when it was taken.
func decision(q desk.Question, c desk.Choice, data json.RawMessage, steal bool) desk.Decision {
	return desk.Decision{
		Thread: q.Thread, Question: q.ID, Action: string(c.Action), Data: data, Version: q.Version, Shown: q.ShownHash,
		Title: q.Name(), Steal: steal,
	}
}

// respond hands a decision to the desk.
func (m *Model) respond(x desk.Decision, draft *desk.Draft, t guard.Ticket) tea.Cmd {
	x.DecidedAt = m.now()
	m.inflight[x.Question] = true
	m.tickets[t] = ""
	ctx, d := m.ctx, m.desk
	return tea.Batch(m.greeted(), func() tea.Msg {
		e, err := d.Respond(ctx, x, draft)
		return responded{decision: x, ticket: t, entry: e, err: err}
	})
}

// responded is the desk's word on a decision.
type responded struct {
	decision desk.Decision
	ticket   guard.Ticket
	entry    *desk.Entry
	err      error
}

func (r responded) apply(m *Model) tea.Cmd {
	delete(m.inflight, r.decision.Question)
	if r.err != nil {
		delete(m.tickets, r.ticket)
		if m.pane.isFor(r.decision.Question) {
			return m.pane.refused(m, r.err)
		}
		return tea.Batch(m.complain(r.decision.Action+" of "+r.decision.Title+": "+r.err.Error(), r.decision.Thread),
			m.inbox.Wake(r.decision.Thread))
	}
	m.tickets[r.ticket] = r.entry.ID
	m.inbox.Judged(r.decision.Question)
	if m.pane.isFor(r.decision.Question) {
		if !m.pane.claimed { // it may be sent before it is
			m.pane.gone = true
		}
		m.pane = nil
	}
	m.quiet()
	m.outbox = append(m.outbox, *r.entry)
	m.inbox.SetOutbox(m.outbox)
	cmds := []tea.Cmd{m.readOutbox()}
	if m.recalled[r.ticket] {
		return tea.Batch(append(cmds, m.recall(r.ticket))...)
	}
	if t := m.inbox.Selected(); t != nil && t.ID == r.decision.Thread {
		m.moved = false // the selection moves by itself
		cmds = append(cmds, m.inbox.Advance())
	}
	return tea.Batch(cmds...)
}

// recall takes a decision back that a held key made, as soon as the desk has it.
func (m *Model) recall(t guard.Ticket) tea.Cmd {
	id, known := m.tickets[t]
	switch {
	case !known:
		return nil
	case id == "":
		m.recalled[t] = true
		return nil
	}
	delete(m.tickets, t)
	return m.takeBack(id)
}

func choiceOf(q desk.Question, a actions.Action) (desk.Choice, bool) {
	i := slices.IndexFunc(q.Choices, func(c desk.Choice) bool { return c.Action == a })
	if i < 0 {
		return desk.Choice{}, false
	}
	return q.Choices[i], true
}

func why(c desk.Choice) string {
	if c.Why != "" {
		return c.Why
	}
	return "not allowed here"
}

// allowedHere names the actions a question takes.
func (m *Model) allowedHere(q desk.Question) string {
	var names []string
	for _, c := range q.Permitted() {
		names = append(names, m.keys.Key(command.ForAction(c.Action))+" "+string(c.Action))
	}
	if len(names) == 0 {
		return "nothing is allowed"
	}
	return "allowed: " + strings.Join(names, ", ")
}

func (m *Model) claimedByOther(thread string) (string, bool) {
	d := m.inbox.Detail()
	if d == nil || d.ID != thread || d.Claimed == "" || d.Claimed == m.reviewer || !d.ClaimedUntil.After(m.now()) {
		return "", false
	}
	return d.Claimed + " (for " + ago.Age(d.ClaimedUntil.Sub(m.now())) + " more)", true
}
