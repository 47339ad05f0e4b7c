// Package rule makes conditions about questions of the expressions in a configuration: the same language as in workflow
// files, over what is known of a question.
//
// It answers nothing: what is done where a condition holds is the desk's.
package rule

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/nearest"
	"github.com/hitl-tui/hitl-tui/internal/workflow/lang"
)

// Fact is one name that an expression can mention.
type Fact struct {
	Name    string
	Summary string
	of      func(f desk.Facts) any
}

// Facts lists the names, in the order in which they are explained.
func Facts() []Fact {
	text := func(get func(q desk.Question) string) func(desk.Facts) any {
		return func(f desk.Facts) any { return get(f.Question) }
	}
	return []Fact{
		{"workflow", "name of the workflow", text(func(q desk.Question) string { return q.Workflow })},
		{"node", "name of the node that asks", text(func(q desk.Question) string { return q.Node })},
		{"address", "where it stands, as in `triage/2/decide`", text(func(q desk.Question) string { return q.Address })},
		{"kind", "`approval`, `choice`, `text`, `edit`, `form`, `conversation`, `suspend` or `unknown`",
			text(func(q desk.Question) string { return string(q.Kind) })},
		{"title", "title of the question", text(func(q desk.Question) string { return q.Title })},
		{"message", "its message", text(func(q desk.Question) string { return q.Message })},
		{"content", "what is under review, whole and with its types", func(f desk.Facts) any { return f.Question.Content }},
		{"context", "what stands beside it, by label", func(f desk.Facts) any { return contextOf(f.Question) }},
		{"options", "the values of the options", func(f desk.Facts) any { return optionsOf(f.Question) }},
		{"priority", "`low`, `normal`, `high` or `urgent`; normal where none is given", text(func(q desk.Question) string {
			if q.Priority == "" {
				return "normal"
			}
			return q.Priority
		})},
		{"group", "group that is asked, or the empty text", text(func(q desk.Question) string { return q.Group })},
		{"assignee", "who is asked, or the empty text", text(func(q desk.Question) string { return q.Assignee })},
		{"round", "how often it was asked, from 1", func(f desk.Facts) any { return max(f.Question.Round, 1) }},
		{"allowed", "the actions that are allowed", func(f desk.Facts) any { return actionsOf(f.Question) }},
		{"payload", "the payload as its asker wrote it", func(f desk.Facts) any { return f.Question.Payload }},
		{"thread", "id of the thread", func(f desk.Facts) any { return f.Thread }},
	}
}

func contextOf(q desk.Question) map[string]any {
	all := make(map[string]any, len(q.Context))
	for _, c := range q.Context {
		all[c.Label] = orNull(c.Value)
	}
	return all
}

func optionsOf(q desk.Question) []any {
	all := make([]any, len(q.Options))
	for i, o := range q.Options {
		all[i] = orNull(o.Value)
	}
	return all
}

func actionsOf(q desk.Question) []any {
	var all []any
	for _, a := range actions.Allowed(q.Question) {
		all = append(all, string(a))
	}
	return all
}

func orNull(v json.RawMessage) json.RawMessage {
	if len(v) == 0 {
		return json.RawMessage("null")
	}
	return v
}

// Condition is a checked expression. It is safe for concurrent use.
type Condition struct{ expr *lang.Expr }

// Fault is one mistake in an expression: where, in bytes, and what.
type Fault = lang.Fault

// Compile checks an expression; with faults there is no condition.
func Compile(source string) (*Condition, []Fault) {
	var names lang.Names
	for _, f := range Facts() {
		names.Keys = append(names.Keys, f.Name)
	}
	e, faults := lang.ParseExpr(source, names)
	if len(faults) > 0 {
		return nil, faults
	}
	for _, name := range e.Reads() {
		if !slices.Contains(names.Keys, name) { // what workflows know beside their state
			return nil, []Fault{{Offset: max(strings.Index(source, name), 0), Message: fmt.Sprintf("unknown name %q%s (the names are %s)",
				name, nearest.Hint(name, names.Keys), strings.Join(names.Keys, ", "))}}
		}
	}
	if v, constant := e.Constant(); constant && v.Any() != true { // true on its own means every question
		return nil, []Fault{{Message: fmt.Sprintf("is always %s: write a condition such as workflow == \"expenses\" && content.amount < 50", v.JSON())}}
	}
	return &Condition{e}, nil
}

// Holds computes the condition for a question.
func (c *Condition) Holds(f desk.Facts) (bool, error) {
	s := scope{f: f, facts: Facts()}
	yes, err := c.expr.Bool(&s, engine.Value{})
	return yes && s.err == nil, errors.Join(err, s.err)
}

// scope gives an expression its facts.
type scope struct {
	f     desk.Facts
	facts []Fact
	err   error
}

// Lookup implements engine.Scope.
func (s *scope) Lookup(name string) (engine.Value, bool) {
	i := slices.IndexFunc(s.facts, func(x Fact) bool { return x.Name == name })
	if i < 0 {
		return engine.Value{}, false
	}
	v, err := engine.ValueOf(s.facts[i].of(s.f))
	if err != nil {
		s.err = fmt.Errorf("%s: %w", name, err)
	}
	return v, err == nil
}

// Markdown is the table of the names.
func Markdown() string {
	var b strings.Builder
	b.WriteString("| name | is |\n|---|---|\n")
	for _, f := range Facts() {
		fmt.Fprintf(&b, "| `%s` | %s |\n", f.Name, f.Summary)
	}
	return b.String()
}
