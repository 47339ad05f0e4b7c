package ui

import (
	"encoding/json"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/dialog"
	"github.com/hitl-tui/hitl-tui/internal/ui/guard"
)

// startBulk reads what the marked threads ask, to offer what can be answered for all of them at once.
func (m *Model) startBulk() tea.Cmd {
	marked, unseen := m.inbox.Marked()
	ctx, d := m.ctx, m.desk
	return func() tea.Msg {
		b := bulkRead{marked: len(marked), unseen: unseen}
		for _, t := range marked {
			detail, err := d.Open(ctx, t.ID)
			if err != nil {
				b.unread = append(b.unread, message{text: t.Title + ": " + err.Error(), thread: t.ID})
				continue
			}
			b.questions = append(b.questions, detail.Questions...)
		}
		return b
	}
}

// bulkRead is what the marked threads ask.
type bulkRead struct {
	marked    int
	unseen    int // of them, never opened here
	questions []desk.Question
	unread    []message
}

// apply offers the actions that take the same data everywhere, and how many questions allow each.
func (b bulkRead) apply(m *Model) tea.Cmd {
	for _, x := range b.unread {
		m.note("left out: "+x.text, x.thread)
	}
	var items []dialog.Item
	for _, info := range actions.Table() {
		id := command.ForAction(info.Action)
		fits, _ := b.split(info.Action)
		if keys := m.keys.Keys(id); len(fits) > 0 && len(keys) > 0 {
			items = append(items, dialog.Item{ID: string(info.Action), Key: keys[0],
				Label: fmt.Sprintf("%-10s  %d of %d allow it", info.Action, len(fits), len(b.questions))})
		}
	}
	if len(items) == 0 {
		return m.warn(fmt.Sprintf("no action fits several of the %d marked alike: answer these one by one", b.marked))
	}
	m.guard.Unsettle(m.now(), "a dialog opened")
	title := plural(b.marked, "marked thread asks ", "marked threads ask ") + plural(len(b.questions), "question", "questions")
	return m.openList(dialog.NewAsk(m.kit(), title, b.unseenText(), items...), func(m *Model, r dialog.Result) tea.Cmd {
		if p, ok := r.(dialog.Picked); ok {
			return m.askBulk(b, actions.Action(p.ID))
		}
		return nil
	})
}

func (b bulkRead) unseenText() string {
	if b.unseen == 0 {
		return ""
	}
	return plural(b.unseen, "of the marked was never opened here.", "of the marked were never opened here.")
}

// split parts the questions into decisions that answer them with an action and no data, and reasons why others cannot
// be answered so.
func (b bulkRead) split(a actions.Action) (fits []desk.Decision, leftOut []message) {
	for _, q := range b.questions {
		c, _ := choiceOf(q, a)
		why := ""
		switch {
		case !c.Allowed:
			why = " is not allowed there"
		case !takesNothing(c):
			why = " takes data of its own there"
		case c.NeedsComment:
			why = " needs a comment there"
		default:
			fits = append(fits, decision(q, c, nil, false))
			continue
		}
		leftOut = append(leftOut, message{text: "left out: " + q.Title + ": " + string(a) + why, thread: q.Thread})
	}
	return fits, leftOut
}

// takesNothing tells whether an answer needs nothing but the action, so that one fits many questions.
func takesNothing(c desk.Choice) bool {
	switch c.Data {
	case actions.NoData, actions.OptionalText, actions.AnyJSON:
		return true
	}
	return false
}

// askBulk asks before the questions that allow an action are answered with it.
func (m *Model) askBulk(b bulkRead, a actions.Action) tea.Cmd {
	fits, leftOut := b.split(a)
	for _, x := range leftOut {
		m.note(x.text, x.thread)
	}
	text := plural(len(fits), "question is", "questions are") + " answered by this."
	if n := len(leftOut) + len(b.unread); n > 0 {
		text += fmt.Sprintf(" %d of the marked are left out and stay marked (%s says why).", n, m.keys.Key(command.Messages))
	}
	if unseen := b.unseenText(); unseen != "" {
		text += " " + unseen
	}
	do := fmt.Sprintf("%s %d", a, len(fits))
	return m.ask(confirmation{title: do + "?", text: text, yes: do,
		do: func(m *Model, t guard.Ticket) tea.Cmd { return m.respondAll(fits, t) }})
}

// respondAll hands the decisions to the desk as one bulk and reports each.
func (m *Model) respondAll(all []desk.Decision, t guard.Ticket) tea.Cmd {
	for i := range all {
		all[i].DecidedAt = m.now()
		m.inflight[all[i].Question] = true
	}
	m.tickets[t] = ""
	ctx, d := m.ctx, m.desk
	return tea.Batch(m.greeted(), func() tea.Msg {
		entries, errs := d.RespondAll(ctx, all)
		return bulkDone{decisions: all, ticket: t, entries: entries, errs: errs}
	})
}

// bulkDone is the desk's word on each decision of a bulk: of each index an entry or an error.
type bulkDone struct {
	decisions []desk.Decision
	ticket    guard.Ticket
	entries   []*desk.Entry
	errs      []error
}

func (b bulkDone) apply(m *Model) tea.Cmd {
	var answered []string
	first := ""
	for i, x := range b.decisions {
		delete(m.inflight, x.Question)
		if err := b.errs[i]; err != nil {
			m.complain(x.Title+": "+err.Error(), x.Thread)
			continue
		}
		answered = append(answered, x.Thread)
		m.outbox = append(m.outbox, *b.entries[i])
		if first == "" {
			first = b.entries[i].ID
		}
	}
	if len(answered) == 0 {
		delete(m.tickets, b.ticket)
		return m.warn(fmt.Sprintf("none of the %d was taken: %s says why", len(b.decisions), m.keys.Key(command.Messages)))
	}
	m.inbox.SetOutbox(m.outbox)
	m.inbox.Unmark(answered...)
	m.tickets[b.ticket] = first // the bulk is taken back as a whole
	cmds := []tea.Cmd{m.readOutbox()}
	if m.recalled[b.ticket] {
		cmds = append(cmds, m.recall(b.ticket))
	}
	m.quiet()
	if n := len(b.decisions) - len(answered); n > 0 {
		cmds = append(cmds, m.warn(fmt.Sprintf("%d answered, %d refused and still marked: %s says why", len(answered), n, m.keys.Key(command.Messages))))
	}
	return tea.Batch(cmds...)
}

// chosenData is what the chosen options answer: one value, or a list where several may be chosen.
func chosenData(q desk.Question, options []int) json.RawMessage {
	q = q.Whole()
	values := make([]json.RawMessage, len(options))
	for i, n := range options {
		values[i] = q.Options[n].Value
		if len(values[i]) == 0 {
			values[i], _ = json.Marshal(q.Options[n].Label)
		}
	}
	if !q.Multiple && len(values) == 1 {
		return values[0]
	}
	out, _ := json.Marshal(values)
	return out
}
