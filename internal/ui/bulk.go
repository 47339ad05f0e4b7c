package ui

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/guard"
)

// startBulk is A: the next action key is meant for all marked threads.
func (m *Model) startBulk() tea.Cmd {
	marked, _ := m.inbox.Marked()
	switch {
	case m.opts.ReadOnly:
		return m.warn("read-only: nothing can be decided here")
	case len(marked) == 0:
		return m.warn("nothing is marked: Space marks")
	}
	m.quiet()
	m.bulk = marked
	return nil
}

// bulkAction reads what the marked threads ask before it offers anything.
func (m *Model) bulkAction(a actions.Action) tea.Cmd {
	threads, unseen := m.inbox.Marked()
	m.bulk = nil
	info, ok := actions.Describe(a)
	if !ok {
		return nil
	}
	if !takesSame(info) {
		return m.warn(string(a) + " takes other data at every question: answer these one by one")
	}
	ctx, d := m.ctx, m.desk
	return func() tea.Msg {
		b := bulkRead{action: a, unseen: unseen, marked: len(threads)}
		for _, t := range threads {
			detail, err := d.Open(ctx, t.ID)
			if err != nil {
				b.refused = append(b.refused, t.Title+": "+err.Error())
				continue
			}
			for _, q := range detail.Questions {
				c, _ := choiceOf(q, a)
				switch {
				case !c.Allowed:
					b.refused = append(b.refused, q.Title+": "+string(a)+" is not allowed there")
				case c.NeedsComment:
					b.refused = append(b.refused, q.Title+": "+string(a)+" needs a comment there")
				default:
					b.decisions = append(b.decisions, decision(q, c, nil, false))
				}
			}
		}
		return b
	}
}

// takesSame tells whether one answer fits many questions.
func takesSame(info actions.Info) bool {
	switch info.Data {
	case actions.NoData, actions.OptionalText, actions.AnyJSON:
		return true
	}
	return false
}

// bulkRead is what the marked threads ask.
type bulkRead struct {
	action    actions.Action
	marked    int
	unseen    int
	decisions []desk.Decision
	refused   []string
}

func (b bulkRead) apply(m *Model) tea.Cmd {
	for _, r := range b.refused {
		m.note("left out: "+r, "")
	}
	if len(b.decisions) == 0 {
		return m.warn(fmt.Sprintf("%s fits none of the %d marked: ! says why", b.action, b.marked))
	}
	text := fmt.Sprintf("%s by this.", plural(len(b.decisions), "question is answered", "questions are answered"))
	if len(b.refused) > 0 {
		text += fmt.Sprintf(" %d of the marked are left out and stay marked (! says why).", len(b.refused))
	}
	if b.unseen > 0 {
		text += fmt.Sprintf(" %d of the marked were never opened here.", b.unseen)
	}
	return m.ask(confirmation{
		title: fmt.Sprintf("%s %d?", b.action, len(b.decisions)), text: text, yes: fmt.Sprintf("%s %d", b.action, len(b.decisions)),
		do: func(m *Model, t guard.Ticket) tea.Cmd { return m.respondAll(b.decisions, t) },
	})
}

// respondAll hands the decisions to the desk as one bulk, which is taken back as a whole, and reports each.
func (m *Model) respondAll(all []desk.Decision, t guard.Ticket) tea.Cmd {
	now := m.now()
	ctx, d := m.ctx, m.desk
	return func() tea.Msg {
		for i := range all {
			all[i].DecidedAt = now
		}
		var r bulkDone
		_, errs := d.RespondAll(ctx, all)
		for i, x := range all {
			switch err := errs[i]; {
			case err == nil:
				r.done = append(r.done, x)
			case !errors.Is(err, context.Canceled):
				r.failed = append(r.failed, message{text: x.Title + ": " + err.Error(), thread: x.Thread})
			}
		}
		return r
	}
}

type bulkDone struct {
	done   []desk.Decision
	failed []message
}

func (b bulkDone) apply(m *Model) tea.Cmd {
	for _, f := range b.failed {
		m.complain(f.text, f.thread)
	}
	answered := make([]string, len(b.done))
	for i, x := range b.done {
		answered[i] = x.Thread
	}
	m.inbox.Unmark(answered...)
	text := fmt.Sprintf("%d answered, %s takes them back", len(b.done), m.keys.Key(command.TakeBack))
	if len(b.failed) > 0 {
		text = fmt.Sprintf("%d answered, %d refused and still marked: ! says why", len(b.done), len(b.failed))
	}
	return tea.Batch(m.say(text), m.readOutbox())
}

// chosenData is what the chosen options answer: one value, or a list where several may be chosen.
func chosenData(q desk.Question, options []int) json.RawMessage {
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
