package ui

import (
	"cmp"
	"encoding/json"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/ui/ago"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/editorpane"
	"github.com/hitl-tui/hitl-tui/internal/ui/guard"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// saveAfter is how soon what is typed is on disk.
const saveAfter = 400 * time.Millisecond

// pane is the editor pane while it is open, and what its text is for.
type pane struct {
	*editorpane.Pane
	question desk.Question // "" id: not an answer, no draft is kept
	send     func(m *Model, data json.RawMessage, t guard.Ticket) tea.Cmd
	goesOn   string // the key by which a draft is gone on with, "" that of the action
	saving   bool   // a save of the draft is due
	claimed  bool   // the desk was asked for the claim of its thread, and said something
	gone     bool   // closed, and nothing of it stays for which the claim would
}

// openPane opens the pane in which an answer is written.
func (m *Model) openPane(q desk.Question, c desk.Choice, steal bool) tea.Cmd {
	draft, notice := m.usableDraft(q, c)
	p := &pane{question: q}
	grace := m.opts.Grace
	if q.Of != nil {
		grace = 0 // a verdict goes nowhere yet
	}
	p.Pane = editorpane.New(m.theme, m.keys, editorpane.Config{
		Question: q, Choice: c, Draft: draft, Grace: grace, Body: m.inbox.Body(q),
	})
	p.SetNotice(notice, false)
	p.send = func(m *Model, data json.RawMessage, t guard.Ticket) tea.Cmd {
		kept := p.Draft()
		do := func(m *Model, t guard.Ticket) tea.Cmd { return m.give(q, c, data, steal, &kept, t) }
		if c.Action != actions.Stop {
			return do(m, t)
		}
		return m.ask(confirmation{title: "Stop the thread?", text: "It ends as stopped and nothing further runs.", yes: "stop it",
			danger: true, do: do})
	}
	return m.showPane(p, m.beginWriting(p))
}

// showPane makes a pane the screen.
func (m *Model) showPane(p *pane, cmd tea.Cmd) tea.Cmd {
	p.SetSize(m.width, m.height)
	m.pane = p
	return cmd
}

// usableDraft is what was typed before for this action. A comment is a comment whatever it was typed for; what does
// not fit is announced, so that nobody types over it unawares.
func (m *Model) usableDraft(q desk.Question, c desk.Choice) (*desk.Draft, string) {
	if q.Of != nil {
		return m.partDraft(q, c), ""
	}
	d := m.inbox.Draft(q)
	switch {
	case d == nil:
		return nil, ""
	case d.Action == string(c.Action):
		return d, ""
	}
	if old, ok := choiceOf(q, actions.Action(d.Action)); ok && isText(old) && isText(c) {
		return d, ""
	}
	return nil, "a draft of " + d.Action + " is kept; typing here takes its place"
}

func isText(c desk.Choice) bool {
	switch c.Data {
	case actions.OptionalText, actions.RequiredText, actions.AnyText:
		return true
	}
	return false
}

// isFor tells whether the pane is open for a question.
func (p *pane) isFor(question string) bool {
	return p != nil && question != "" && p.question.ID == question
}

func (p *pane) scope() command.Scope { return p.Scope() }

func (p *pane) setTheme(th *theme.Theme) {
	if p != nil {
		p.SetTheme(th)
	}
}

func (p *pane) setSize(w, h int) {
	if p != nil {
		p.SetSize(w, h)
	}
}

func (p *pane) cursor() *tea.Cursor { return at(p, 0, 0) }

// refused shows why the desk did not take the answer; the text stays.
func (p *pane) refused(m *Model, err error) tea.Cmd {
	p.SetError(err.Error())
	return m.saveDraft(p)
}

// paneMsg gives a key or a paste to the pane and acts on what comes of it.
func (m *Model) paneMsg(msg tea.Msg) tea.Cmd {
	p := m.pane
	switch r := p.Update(msg).(type) {
	case editorpane.Send:
		if m.inflight[p.question.ID] {
			p.SetNotice("it is on its way to the desk already", false)
			return nil
		}
		return m.guarded(func(t guard.Ticket) tea.Cmd { return p.send(m, r.Data, t) })
	case editorpane.Back, editorpane.Interrupt: // a second ctrl+c meets the desk, and is as q there
		return m.closePane()
	case editorpane.Suspend:
		return tea.Batch(m.saveDraft(p), m.suspend())
	case editorpane.External:
		return m.external(r)
	case editorpane.Copy:
		return m.copy(characters(r.Text), r.Text)
	case editorpane.Discard:
		return m.ask(confirmation{title: "Discard what is typed?", text: "The draft is deleted.", yes: "discard", danger: true,
			run: func() tea.Msg { return discard{} }})
	}
	if p.question.ID == "" || p.saving {
		return nil
	}
	p.saving = true
	return m.after(saveAfter, saveDue{p})
}

// closePane goes back; what is typed stays as a draft.
func (m *Model) closePane() tea.Cmd {
	p := m.pane
	m.pane = nil
	m.moved = true
	if p.question.ID == "" {
		return nil
	}
	x := m.typed(p)
	cmd := m.saveTyped(p, x)
	if m.nothingStays(p, x) {
		return m.endWriting(p)
	}
	if p.Dirty() {
		return tea.Batch(cmd, m.say("kept as a draft: "+cmp.Or(p.goesOn, m.actionKey(string(p.Choice().Action)))+" goes on with it"))
	}
	return cmd
}

type discard struct{}

func (discard) apply(m *Model) tea.Cmd {
	p := m.pane
	if p == nil {
		return nil
	}
	m.pane = nil
	m.moved = true
	x := p.Draft()
	x.Text = ""
	if p.question.Of != nil {
		x = m.withoutTyped(p.question, x)
	}
	m.inbox.Judged(x.Question)
	delete(m.bulkTyped, x.Question)
	d := m.desk
	cmd := func() tea.Msg { return saved{draft: x, err: d.SaveDraft(x)} }
	if x.Text == "" {
		return tea.Batch(m.say("the draft is discarded"), cmd, m.endWriting(p))
	}
	return tea.Batch(m.say("the draft is discarded"), cmd)
}

// saveDue is when what was typed in a pane is to be kept.
type saveDue struct{ p *pane }

func (s saveDue) apply(m *Model) tea.Cmd {
	s.p.saving = false
	if m.pane != s.p {
		return nil
	}
	return m.saveDraft(s.p)
}

// saveDraft keeps what is typed. An untouched pane keeps nothing and discards nothing.
func (m *Model) saveDraft(p *pane) tea.Cmd { return m.saveTyped(p, m.typed(p)) }

// typed is what a pane holds, as a draft: without text when that is nothing.
func (m *Model) typed(p *pane) desk.Draft {
	if p.question.Of != nil {
		return m.typedForPart(p, p.Draft())
	}
	return p.Draft()
}

func (m *Model) saveTyped(p *pane, x desk.Draft) tea.Cmd {
	if x.Text == "" {
		return nil
	}
	x.Saved = m.now()
	if p.question.Thread == "" {
		m.bulkTyped[x.Question] = x
	}
	d := m.desk
	return func() tea.Msg { return saved{draft: x, pane: p, err: d.SaveDraft(x)} }
}

type saved struct {
	draft desk.Draft
	pane  *pane
	err   error
}

func (s saved) apply(m *Model) tea.Cmd {
	if s.err != nil {
		if m.pane != nil && m.pane == s.pane {
			m.pane.SetError("the draft cannot be kept: " + s.err.Error())
		}
		return m.complain("the draft cannot be kept: "+s.err.Error(), s.draft.Thread)
	}
	if m.pane != nil && m.pane == s.pane {
		m.pane.SetSaved(s.draft.Saved)
		return nil
	}
	if s.draft.Thread == "" { // typed for many
		return nil
	}
	return m.inbox.Wake(s.draft.Thread)
}

// checkPane looks whether the question of the open pane is still open.
func (m *Model) checkPane(changed []string) tea.Cmd {
	if m.pane == nil || m.pane.question.Thread == "" {
		return nil
	}
	q := m.pane.question
	here := false
	for _, t := range changed {
		here = here || t == q.Thread || t == ""
	}
	if !here {
		return nil
	}
	ctx, d := m.ctx, m.desk
	return func() tea.Msg {
		detail, err := d.Open(ctx, q.Thread)
		if err != nil {
			return paneChecked{question: q.ID, notice: "the thread cannot be read any more: " + err.Error()}
		}
		for _, open := range detail.Questions {
			if open.ID == q.ID {
				return paneChecked{question: q.ID, open: true}
			}
		}
		c := paneChecked{question: q.ID, notice: "this is no longer asked; the thread is " + detail.Status}
		if rows, err := d.Decisions(ctx, q.Thread, 1); err == nil && len(rows) > 0 {
			c.who = &rows[0]
		}
		return c
	}
}

type paneChecked struct {
	question string
	open     bool
	notice   string
	who      *desk.DecisionRow
}

func (c paneChecked) apply(m *Model) tea.Cmd {
	if !m.pane.isFor(c.question) || c.open || m.inflight[c.question] {
		return nil
	}
	if c.who != nil {
		c.notice = fmt.Sprintf("%s %s this %s", c.who.Reviewer, doneWord(c.who.Action), ago.Ago(m.now(), c.who.DecidedAt))
	}
	m.pane.SetNotice(c.notice+". Your text is kept; nothing to send", true)
	return m.saveDraft(m.pane)
}
