package ui

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/guard"
)

// give hands an answer to the desk, or keeps it as the verdict on a part until all parts have one.
func (m *Model) give(q desk.Question, c desk.Choice, data json.RawMessage, steal bool, draft *desk.Draft, t guard.Ticket) tea.Cmd {
	if q.Of == nil {
		return m.respond(decision(q, c, data, steal), draft, t)
	}
	answer, err := actions.Validate(q.Whole().Question, c.Action, data)
	if err != nil {
		return m.refuseVerdict(q, err)
	}
	whole := *q.Of
	verdicts, ok := m.inbox.Verdicts(whole)
	if !ok {
		return m.refuseVerdict(q, m.otherDraft(whole))
	}
	verdicts[actions.PartKey(q.Part-1)] = actions.VerdictOf(answer)
	x, err := m.verdictDraft(whole, verdicts)
	if err != nil {
		return m.refuseVerdict(q, err)
	}
	if next := undecided(whole, verdicts, q.Part); next > 0 {
		m.pane = nil
		m.inbox.Judge(x)
		m.moved = false // the next part comes by itself
		m.inbox.ShowPart(next)
		left := fmt.Sprintf("part %d: %s; %s", q.Part, c.Action, plural(openParts(whole, verdicts), "part is open", "parts are open"))
		return tea.Batch(m.keepVerdicts(x), m.say(left))
	}
	if _, err := actions.Validate(whole.Whole().Question, actions.Submit, json.RawMessage(x.Text)); err != nil {
		m.inbox.Judge(x)
		return tea.Batch(m.keepVerdicts(x), m.refuseVerdict(q, err))
	}
	submit, _ := choiceOf(whole, actions.Submit)
	return m.respond(decision(whole, submit, json.RawMessage(x.Text), steal), &x, t)
}

// refuseVerdict says why a verdict was not taken: in the pane where that is open, whose text stays.
func (m *Model) refuseVerdict(q desk.Question, err error) tea.Cmd {
	if m.pane.isFor(q.ID) {
		return m.pane.refused(m, err)
	}
	return m.warn(err.Error())
}

// otherDraft says that something else was typed for a question, which a verdict would take the place of.
func (m *Model) otherDraft(q desk.Question) error {
	x := m.inbox.Draft(q)
	if x == nil {
		return fmt.Errorf("verdicts are on their way that cannot be read: %s takes them back", m.keys.Key(command.TakeBack))
	}
	return fmt.Errorf("a draft of %s is kept in the place of verdicts: %s goes on with it", x.Action, m.actionKey(x.Action))
}

// verdictDraft is the verdicts as a draft of the form that holds them.
func (m *Model) verdictDraft(q desk.Question, verdicts map[string]actions.Verdict) (desk.Draft, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(verdicts); err != nil {
		return desk.Draft{}, fmt.Errorf("the verdicts cannot be kept: %w", err)
	}
	x := desk.NewDraft(q)
	x.Action, x.Raw, x.Text, x.Saved = string(actions.Submit), true, strings.TrimSpace(b.String()), m.now()
	return x, nil
}

// keepVerdicts has the desk keep them, so that nothing decided is lost.
func (m *Model) keepVerdicts(x desk.Draft) tea.Cmd {
	d := m.desk
	return func() tea.Msg { return saved{draft: x, err: d.SaveDraft(x)} }
}

// undecided is the part after a part, round the end, that has no verdict; 0 for none.
func undecided(q desk.Question, verdicts map[string]actions.Verdict, after int) int {
	for step := range len(q.Parts) {
		if i := (after + step) % len(q.Parts); verdicts[actions.PartKey(i)].Decision == "" {
			return i + 1
		}
	}
	return 0
}

func openParts(q desk.Question, verdicts map[string]actions.Verdict) int {
	n := 0
	for i := range q.Parts {
		if verdicts[actions.PartKey(i)].Decision == "" {
			n++
		}
	}
	return n
}

// forWhole is the question that an action is about: of a part the question it is one of, where it takes no such verdict.
func forWhole(q desk.Question, a actions.Action) desk.Question {
	if q.Of != nil && !slices.Contains(actions.Allowed(q.Question), a) {
		if c, ok := choiceOf(q, a); ok && c.Allowed {
			return *q.Of
		}
	}
	return q
}

// partDraft is what was typed for a part before, or decided: nil for nothing.
func (m *Model) partDraft(q desk.Question, c desk.Choice) *desk.Draft {
	verdicts, _ := m.inbox.Verdicts(*q.Of)
	v, ok := verdicts[actions.PartKey(q.Part-1)]
	if !ok {
		return nil
	}
	x := desk.NewDraft(q)
	x.Action = string(c.Action)
	if isText(c) {
		x.Text = v.Message
		return &x
	}
	x.Text, x.Raw = string(v.Args), true
	var text string
	if json.Unmarshal(v.Args, &text) == nil && bytes.HasPrefix(v.Args, []byte(`"`)) {
		// A text is content that is one, or what was typed as JSON and is none yet.
		content := bytes.TrimSpace(q.Whole().Content)
		x.Text, x.Raw = text, c.Data != actions.Content && c.Data != actions.OptionalContent || !bytes.HasPrefix(content, []byte(`"`))
	}
	return &x
}

// typedForPart is what is typed in the pane of a part, as the draft of the question: without a verdict, which it becomes
// when it is sent.
func (m *Model) typedForPart(p *pane, x desk.Draft) desk.Draft {
	whole := *p.question.Of
	verdicts, ok := m.inbox.Verdicts(whole)
	if !ok || x.Text == "" {
		x.Text = ""
		return x
	}
	key := actions.PartKey(p.question.Part - 1)
	v := verdicts[key]
	v.Decision = ""
	switch {
	case isText(p.Choice()):
		v.Message = x.Text
	case x.Raw && json.Valid([]byte(x.Text)):
		v.Args = json.RawMessage(x.Text)
	default:
		v.Args, _ = json.Marshal(x.Text)
	}
	verdicts[key] = v
	draft, err := m.verdictDraft(whole, verdicts)
	if err != nil {
		x.Text = ""
		return x
	}
	m.inbox.Judge(draft)
	return draft
}

// withoutTyped is the draft of the question without what was typed or decided about a part.
func (m *Model) withoutTyped(q desk.Question, x desk.Draft) desk.Draft {
	verdicts, ok := m.inbox.Verdicts(*q.Of)
	delete(verdicts, actions.PartKey(q.Part-1))
	if !ok || len(verdicts) == 0 {
		return x
	}
	if kept, err := m.verdictDraft(*q.Of, verdicts); err == nil {
		return kept
	}
	return x
}
