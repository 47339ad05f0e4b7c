package desk

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/redact"
)

// Whole is the question as its asker wrote it, secrets and all: what is edited, chosen from and sent. A question from
// which nothing was masked is whole itself.
func (q Question) Whole() Question {
	if q.Unmasked != nil {
		return *q.Unmasked
	}
	return q
}

// Whole is the state as it is stored.
func (s *State) Whole() *State {
	if s.Unmasked != nil {
		return s.Unmasked
	}
	return s
}

// mask makes copies of what a desk shows with the secrets in them masked. What it is given it never alters: the same
// values are in the outbox and on their way to the engine.
type mask struct {
	redact.Rules
	lines redact.Rules // for what goes into lists, messages and the status line, and is there longer than a reveal lasts
}

func each[T any](all []T, one func(T) T) []T {
	if all == nil {
		return nil
	}
	out := make([]T, len(all))
	for i, x := range all {
		out[i] = one(x)
	}
	return out
}

func (m mask) thread(t Thread) Thread {
	t.Title, t.Error = m.lines.Text(t.Title), m.lines.Text(t.Error)
	return t
}

func (m mask) detail(d *Detail) *Detail {
	if d == nil {
		return nil
	}
	x := *d
	x.Thread = m.thread(d.Thread)
	x.Questions, x.Accepted = each(d.Questions, m.question), each(d.Accepted, m.row)
	x.Outputs, x.Failure = m.JSON(d.Outputs), m.Text(d.Failure)
	return &x
}

// question masks whatever of a question can be shown. It keeps the whole one where that differs.
func (m mask) question(q Question) Question {
	x := q
	x.Title, x.Message, x.Feedback = m.lines.Text(q.Title), m.Text(q.Message), m.Text(q.Feedback)
	x.Content, x.Former = m.Field(q.ContentKey, q.Content), m.Field(q.ContentKey, q.Former)
	x.FormerValue = m.Field(q.Key, q.FormerValue)
	x.Payload, x.Schema, x.Prefill, x.DefaultData = m.JSON(q.Payload), m.JSON(q.Schema), m.JSON(q.Prefill), m.JSON(q.DefaultData)
	x.Context = each(q.Context, func(c actions.Labelled) actions.Labelled {
		return actions.Labelled{Label: m.Text(c.Label), Value: m.Field(c.Label, c.Value)}
	})
	x.Options = each(q.Options, func(o actions.OptionItem) actions.OptionItem {
		return actions.OptionItem{Value: m.JSON(o.Value), Label: m.Text(o.Label), Description: m.Text(o.Description)}
	})
	x.Parts = each(q.Parts, func(part actions.Question) actions.Question { return m.question(Question{Question: part}).Question })
	if !shownAlike(x, q) {
		x.Unmasked = &q
	}
	return x
}

// shownAlike reports whether nothing was masked.
func shownAlike(a, b Question) bool {
	return a.Title == b.Title && a.Message == b.Message && a.Feedback == b.Feedback && bytes.Equal(a.Content, b.Content) &&
		bytes.Equal(a.Former, b.Former) && bytes.Equal(a.FormerValue, b.FormerValue) && bytes.Equal(a.Payload, b.Payload) && bytes.Equal(a.Schema, b.Schema) &&
		bytes.Equal(a.Prefill, b.Prefill) && bytes.Equal(a.DefaultData, b.DefaultData) &&
		slices.EqualFunc(a.Context, b.Context, func(x, y actions.Labelled) bool { return x.Label == y.Label && bytes.Equal(x.Value, y.Value) }) &&
		slices.EqualFunc(a.Options, b.Options, func(x, y actions.OptionItem) bool {
			return x.Label == y.Label && x.Description == y.Description && bytes.Equal(x.Value, y.Value)
		}) &&
		slices.EqualFunc(a.Parts, b.Parts, func(x, y actions.Question) bool { return shownAlike(Question{Question: x}, Question{Question: y}) })
}

func (m mask) row(r DecisionRow) DecisionRow {
	r.Data, r.Comment, r.Response, r.Title = m.JSON(r.Data), m.Text(r.Comment), m.Text(r.Response), m.lines.Text(r.Title)
	return r
}

func (m mask) step(s Step) Step {
	s.Error, s.Decisions = m.Text(s.Error), each(s.Decisions, m.row)
	return s
}

func (m mask) state(s *State) *State {
	if s == nil {
		return nil
	}
	x := *s
	x.State, x.Questions, x.Unmasked = m.Fields(s.State), each(s.Questions, m.question), s
	return &x
}

func (m mask) diff(d KeyDiff) KeyDiff {
	d.Before, d.After = m.Field(d.Key, d.Before), m.Field(d.Key, d.After)
	return d
}

// entry masks what is shown of a decision on its way. Its draft is what the person goes on typing, and stays.
func (m mask) entry(e Entry) Entry {
	e.Decision.Data, e.Decision.Title = m.JSON(e.Decision.Data), m.lines.Text(e.Decision.Title)
	e.Err, e.Result = m.lines.Text(e.Err), m.result(e.Result)
	return e
}

func (m mask) entryAt(e *Entry) *Entry {
	if e == nil {
		return nil
	}
	x := m.entry(*e)
	return &x
}

func (m mask) result(r *Result) *Result {
	if r == nil {
		return nil
	}
	x := *r
	x.Questions, x.Outputs, x.ErrMessage = each(r.Questions, m.question), m.JSON(r.Outputs), m.lines.Text(r.ErrMessage)
	x.Warnings = each(r.Warnings, m.Text)
	return &x
}

func (m mask) workflow(w Workflow) Workflow {
	w.Description, w.Input, w.Err = m.Text(w.Description), m.JSON(w.Input), m.Text(w.Err)
	return w
}

func (m mask) rule(r RuleState) RuleState {
	r.LastError = m.lines.Text(r.LastError)
	return r
}

func (m mask) trial(x RuleTrial) RuleTrial {
	x.Question = m.question(x.Question)
	return x
}

// MaskQuestion is a question for whoever is only told of it: masked, and without what it was masked from.
func MaskQuestion(rules redact.Rules, q Question) Question {
	q = mask{rules, rules}.question(q)
	q.Unmasked = nil
	return q
}

func (m mask) event(e Event) Event {
	e.Text = m.lines.Text(e.Text)
	return e
}

// err masks the text of an error; its code and what it is stay.
func (m mask) err(err error) error {
	var own *Error
	if !errors.As(err, &own) {
		return m.lines.Error(err)
	}
	safe := *own
	safe.Message, safe.Remedy = m.lines.Text(own.Message), m.lines.Text(own.Remedy)
	details, changed := m.details(own.Details)
	if changed {
		safe.Details = details
	}
	if !changed && safe.Message == own.Message && safe.Remedy == own.Remedy && m.lines.Text(err.Error()) == err.Error() {
		return err
	}
	safe.Err = m.lines.Error(err)
	return &safe
}

// details masks the facts of an error, which go out as JSON.
func (m mask) details(facts map[string]any) (map[string]any, bool) {
	raw, err := json.Marshal(facts)
	if err != nil || bytes.Equal(m.lines.JSON(raw), raw) {
		return nil, false
	}
	var safe map[string]any
	return safe, json.Unmarshal(m.lines.JSON(raw), &safe) == nil
}
