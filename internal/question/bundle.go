package question

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// wrapper is a payload that holds questions of other shapes and says what they say.
type wrapper interface{ says(actions.Action) bool }

// inner is one question within a wrapper.
type inner struct {
	asked
	words Format           // whose words it has
	raw   json.RawMessage  // as it came
	q     actions.Question // what it asks, made once
}

func newInner(raw json.RawMessage, x asked, words Format) inner {
	return inner{x, words, raw, x.question()}
}

func (x inner) question() actions.Question { return x.q }

// within reads what a wrapper holds: any shape but another wrapper, so that nothing nests without end.
func within(raw json.RawMessage) inner {
	p := newPayload(raw)
	for _, f := range Formats() {
		if f.wraps {
			continue
		}
		if x, ok := f.read(p); ok {
			return newInner(raw, x, f)
		}
	}
	return newInner(raw, record{unknown(raw)}, Format{Shape: Unknown})
}

// bundle is one payload with one or several questions. One is asked as it is. Several are the parts of a form, with an
// answer each.
type bundle struct {
	parts    []inner
	title    string             // of several
	context  []actions.Labelled // of the payload around them
	deadline *time.Time         // of the payload around them
	join     func(answers []any) any
}

func (b bundle) question() actions.Question {
	if len(b.parts) == 1 {
		q := b.parts[0].question()
		q.Context = append(slices.Clone(q.Context), b.context...)
		q.Deadline = earlier(q.Deadline, b.deadline)
		return q
	}
	parts := make([]actions.Question, len(b.parts))
	names, lines, content := make([]string, len(b.parts)), make([]string, len(b.parts)), make([]json.RawMessage, len(b.parts))
	for i, one := range b.parts {
		parts[i], content[i] = one.part(), orNull(one.raw)
		names[i] = firstOf(parts[i].Title, fmt.Sprintf("question %d", i+1))
		parts[i].Title = names[i]
		lines[i] = fmt.Sprintf("%d. %s", i+1, names[i])
	}
	return actions.Question{
		TimeoutMS: shortest(parts), Deadline: b.soonest(),
		Kind: actions.FormKind, Title: fmt.Sprintf("%s: %s", b.title, strings.Join(names, ", ")), Message: strings.Join(lines, "\n"), Context: b.context,
		Content: must(content), ContentType: "json",
		Schema: partsSchema(parts, "Answer"), Actions: offer(append([]actions.Action{actions.Submit}, b.common()...)...), Parts: parts,
	}
}

// shortest is the least time for an answer that one of several has, and so all of them; 0 for none.
func shortest(parts []actions.Question) int64 {
	var least int64
	for _, q := range parts {
		if ms := q.TimeoutMS; ms > 0 && (least == 0 || ms < least) {
			least = ms
		}
	}
	return least
}

// soonest is the first deadline among the parts and around them.
func (b bundle) soonest() *time.Time {
	first := b.deadline
	for _, one := range b.parts {
		first = earlier(first, one.question().Deadline)
	}
	return first
}

// earlier is the earlier of two times, either of which may be none.
func earlier(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.Before(*a) {
		return b
	}
	return a
}

// part is the question as one among others: without what no shape has to say, which concerns all of them.
func (x inner) part() actions.Question {
	q := x.question()
	q.Actions = slices.DeleteFunc(actions.Allowed(q), func(a actions.Action) bool {
		return !x.words.says(a) || a == actions.Retry || a == actions.Stop
	})
	return q
}

// common is what takes no data and all parts allow.
func (b bundle) common() []actions.Action {
	var out []actions.Action
	for _, a := range []actions.Action{actions.Approve, actions.Reject, actions.Skip, actions.Cancel} {
		if !slices.ContainsFunc(b.parts, func(x inner) bool { return !slices.Contains(x.part().Actions, a) }) {
			out = append(out, a)
		}
	}
	return out
}

func (b bundle) says(a actions.Action) bool {
	if len(b.parts) == 1 {
		return b.parts[0].words.says(a)
	}
	return a == actions.Submit || slices.Contains(b.common(), a)
}

func (b bundle) answer(given Given) (any, error) {
	answers := make([]any, len(b.parts))
	each, err := b.answers(given)
	if err != nil {
		return nil, err
	}
	for i, one := range b.parts {
		g := given
		g.Answer = each[i]
		if answers[i], err = one.answer(g); err != nil {
			return nil, err
		}
	}
	return b.join(answers), nil
}

// answers is the answer to each part.
func (b bundle) answers(given Given) ([]actions.Answer, error) {
	if len(b.parts) == 1 {
		return []actions.Answer{given.Answer}, nil
	}
	if given.Action == actions.Submit {
		return b.question().Verdicts(given.Value)
	}
	out := make([]actions.Answer, len(b.parts))
	for i, one := range b.parts {
		a, err := actions.Validate(one.part(), given.Action, comment(given.Comment))
		if err != nil {
			return nil, err
		}
		out[i] = a
	}
	return out, nil
}

func several(n int, what string) string { return fmt.Sprintf("%d %s", n, what) }

func comment(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return quoted(text)
}

// secretAmongOthers tells whether one of several questions asks for a secret. A form of many parts does not keep it as
// one, so such a payload is not taken apart.
func (b bundle) secretAmongOthers() bool {
	return len(b.parts) > 1 && slices.ContainsFunc(b.parts, func(x inner) bool { return x.question().IsSecret() })
}
