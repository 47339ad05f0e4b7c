package ui

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/editorpane"
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
		for _, info := range actions.Table() {
			x := b.alike(info.Action)
			if len(x.asks) > 0 && x.written() {
				x.draft = d.Draft(x.about)
			}
			b.offers = append(b.offers, x)
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
	offers    []alike // one for each action, in the order of their table
}

// apply offers the actions that take the same data everywhere, and how many questions allow each.
func (b bulkRead) apply(m *Model) tea.Cmd {
	for _, x := range b.unread {
		m.note("left out: "+x.text, x.thread)
	}
	var items []dialog.Item
	for _, x := range b.offers {
		id := command.ForAction(x.action)
		if keys := m.keys.Keys(id); len(x.asks) > 0 && len(keys) > 0 {
			items = append(items, dialog.Item{ID: string(x.action), Key: keys[0],
				Label: fmt.Sprintf("%-10s  %d of %d allow it", x.action, len(x.asks), len(b.questions))})
		}
	}
	if len(items) == 0 {
		return m.warn(fmt.Sprintf("no action fits several of the %d marked alike: answer these one by one", b.marked))
	}
	m.guard.Unsettle(m.now(), "a dialog opened")
	title := plural(b.marked, "marked thread asks ", "marked threads ask ") + plural(len(b.questions), "question", "questions")
	return m.openList(dialog.NewAsk(m.kit(), title, b.unseenText(), items...), func(m *Model, r dialog.Result) tea.Cmd {
		if p, ok := r.(dialog.Picked); ok {
			return m.answerBulk(b, b.offer(actions.Action(p.ID)))
		}
		return nil
	})
}

func (b bulkRead) offer(a actions.Action) alike {
	return b.offers[slices.IndexFunc(b.offers, func(x alike) bool { return x.action == a })]
}

func (b bulkRead) unseenText() string {
	if b.unseen == 0 {
		return ""
	}
	return plural(b.unseen, "of the marked was never opened here.", "of the marked were never opened here.")
}

// answerBulk takes the way of the action to its data, and from there to the question whether to answer.
func (m *Model) answerBulk(b bulkRead, x alike) tea.Cmd {
	if x.choice.Data == actions.Option && len(x.about.Options) > 0 {
		return m.open(dialog.NewChooser(m.kit(), x.about.Title, x.about.Options, x.about.Multiple), func(m *Model, r dialog.Result) tea.Cmd {
			chosen, ok := r.(dialog.Chosen)
			switch {
			case !ok:
				return nil
			case x.written():
				return m.openBulkPane(b, x, chosenData(x.about, chosen.Options))
			}
			return m.askBulk(b, x, chosenData(x.about, chosen.Options), nil)
		})
	}
	if x.written() {
		return m.openBulkPane(b, x, nil)
	}
	return m.askBulk(b, x, nil, nil)
}

// openBulkPane opens the pane in which the data for all are written. They are kept like those for one question.
func (m *Model) openBulkPane(b bulkRead, x alike, chosen json.RawMessage) tea.Cmd {
	if d, ok := m.bulkTyped[x.about.ID]; ok { // it may not be kept yet
		x.draft = &d
	}
	p := &pane{question: x.about, goesOn: m.keys.Key(command.ActOnMarked)}
	p.Pane = editorpane.New(m.theme, m.keys, editorpane.Config{Question: x.about, Choice: x.choice, Chosen: chosen, Draft: x.draft, Grace: m.opts.Grace,
		Heading: strings.ToUpper(string(x.action)) + " " + x.choice.Leads})
	p.send = func(m *Model, data json.RawMessage, _ guard.Ticket) tea.Cmd { return m.askBulk(b, x, data, p) }
	return m.showPane(p, nil)
}

// askBulk asks before the questions are answered. p is the pane in which that was written, nil without one.
func (m *Model) askBulk(b bulkRead, x alike, data json.RawMessage, p *pane) tea.Cmd {
	fits, leftOut := x.decisions(data)
	if len(fits) == 0 && p != nil {
		p.SetError(strings.TrimPrefix(leftOut[0].text, "left out: "))
		return nil
	}
	for _, x := range leftOut {
		m.note(x.text, x.thread)
	}
	text := plural(len(fits), "question is", "questions are") + " answered by this."
	if n := len(leftOut) + len(b.unread); n > 0 {
		text += fmt.Sprintf(" %s (%s says why).", plural(n, "of the marked is left out and stays marked", "of the marked are left out and stay marked"),
			m.keys.Key(command.Messages))
	}
	if unseen := b.unseenText(); unseen != "" {
		text += " " + unseen
	}
	do := fmt.Sprintf("%s %d", x.action, len(fits))
	return m.ask(confirmation{title: do + "?", text: text, yes: do, danger: x.action == actions.Stop,
		do: func(m *Model, t guard.Ticket) tea.Cmd { return m.respondAll(fits, p, t) }})
}

// respondAll hands the decisions to the desk as one bulk and reports each.
func (m *Model) respondAll(all []desk.Decision, p *pane, t guard.Ticket) tea.Cmd {
	for i := range all {
		all[i].DecidedAt = m.now()
		m.inflight[all[i].Question] = true
	}
	var draft *desk.Draft
	if p != nil {
		m.inflight[p.question.ID] = true
		if x := p.Draft(); x.Text != "" {
			draft = &x
		}
	}
	m.tickets[t] = ""
	ctx, d := m.ctx, m.desk
	return tea.Batch(m.greeted(), func() tea.Msg {
		entries, errs := d.RespondAll(ctx, all, draft)
		return bulkDone{decisions: all, ticket: t, entries: entries, errs: errs, pane: p, draft: draft}
	})
}

// bulkDone is the desk's word on each decision of a bulk: of each index an entry or an error.
type bulkDone struct {
	decisions []desk.Decision
	ticket    guard.Ticket
	entries   []*desk.Entry
	errs      []error
	pane      *pane       // in which it was written, nil without one
	draft     *desk.Draft // what was typed, nil for nothing
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
	if b.pane != nil {
		delete(m.inflight, b.pane.question.ID)
	}
	if len(answered) == 0 {
		delete(m.tickets, b.ticket)
		if b.pane != nil && m.pane == b.pane {
			b.pane.SetError(b.errs[0].Error())
		}
		return m.warn(fmt.Sprintf("none of the %d was taken: %s says why", len(b.decisions), m.keys.Key(command.Messages)))
	}
	m.inbox.SetOutbox(m.outbox)
	m.inbox.Unmark(answered...)
	m.tickets[b.ticket] = first // the bulk is taken back as a whole
	cmds := []tea.Cmd{m.readOutbox(), b.putAway(m)}
	if m.recalled[b.ticket] {
		cmds = append(cmds, m.recall(b.ticket))
	}
	m.quiet()
	if n := len(b.decisions) - len(answered); n > 0 {
		cmds = append(cmds, m.warn(fmt.Sprintf("%d answered, %d refused and still marked: %s says why", len(answered), n, m.keys.Key(command.Messages))))
	}
	return tea.Batch(cmds...)
}

// putAway closes the pane of a bulk that was taken. What was typed stays for what was refused, and for taking it back.
func (b bulkDone) putAway(m *Model) tea.Cmd {
	if b.pane == nil {
		return nil
	}
	if m.pane == b.pane {
		m.pane = nil
	}
	if b.draft == nil {
		return nil
	}
	for _, e := range b.entries {
		if e != nil {
			m.bulks[e.Bulk] = *b.draft
		}
	}
	x := *b.draft
	if slices.ContainsFunc(b.errs, func(err error) bool { return err != nil }) {
		return m.keepBulk(x)
	}
	x.Text = ""
	return m.keepBulk(x)
}

// keepBulk keeps what was typed for many, or with an empty text discards it.
func (m *Model) keepBulk(x desk.Draft) tea.Cmd {
	m.bulkTyped[x.Question] = x
	if x.Text != "" {
		x.Saved = m.now()
	}
	d := m.desk
	return func() tea.Msg { return saved{draft: x, err: d.SaveDraft(x)} }
}

// forgetBulks drops what was typed for bulks that are sent. One that is not in the outbox was taken after it was read.
func (m *Model) forgetBulks() {
	maps.DeleteFunc(m.bulks, func(bulk string, _ desk.Draft) bool {
		sent := false
		for _, e := range m.outbox {
			if e.Bulk == bulk && e.State != desk.Sent {
				return false
			}
			sent = sent || e.Bulk == bulk
		}
		return sent
	})
}

// bulkBack marks again what a bulk answered that was taken back, and keeps what was typed for it.
func (m *Model) bulkBack(bulk string) tea.Cmd {
	var threads []string
	for _, e := range m.outbox {
		if e.Bulk == bulk && e.State == desk.TakenBack {
			threads = append(threads, e.Decision.Thread)
		}
	}
	m.inbox.MarkAll(threads...)
	x, ok := m.bulks[bulk]
	if !ok {
		return nil
	}
	delete(m.bulks, bulk)
	return m.keepBulk(x)
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
