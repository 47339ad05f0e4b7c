package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/nearest"
	"github.com/hitl-tui/hitl-tui/internal/question"
	"github.com/hitl-tui/hitl-tui/internal/workflow/lang"
)

// Question is one question as a file writes it.
type Question struct {
	Name           string // "" for the only question of a human node
	Kind           actions.Kind
	Title          *lang.Template
	Message        *lang.Template
	Content        *lang.Expr // one with a Key is written back by edit and save, unless
	ReadOnly       bool       // it is none of the keys that the node may write
	ContentType    string
	Context        []Named
	Options        []Option   // literal options, or
	OptionsExpr    *lang.Expr // one that makes the list
	Multiple       bool
	Schema         *lang.Expr // a literal is lang.Literal
	Prefill        *lang.Expr
	Actions        []actions.Action
	RequireComment []actions.Action
	Timeout        time.Duration
	DefaultAction  actions.Action
	DefaultData    *lang.Expr
	PeopleOnly     bool
	Assignee       *lang.Template
	Group          *lang.Template
	Priority       *lang.Template
}

// Option is one literal option.
type Option struct {
	Value       engine.Value
	Label       *lang.Template
	Description *lang.Template
}

// Human asks: one question (human) or several (questions).
type Human struct{ Questions []Question }

// Run implements engine.Runner. It asks; the engine completes the node with the answer.
func (n *Human) Run(_ context.Context, call *engine.Call) (engine.Result, error) {
	scope := newScope(call)
	asks := make([]engine.Ask, len(n.Questions))
	for i := range n.Questions {
		q := &n.Questions[i]
		ask, err := q.ask(scope)
		if err != nil {
			if q.Name != "" {
				err = fmt.Errorf("questions.%s: %w", q.Name, err)
			}
			return engine.Result{}, engine.Permanent(err)
		}
		asks[i] = ask
	}
	return engine.Result{Interrupts: asks}, nil
}

func (q *Question) ask(scope *callScope) (engine.Ask, error) {
	asked := actions.Question{
		Kind: q.Kind, Multiple: q.Multiple, Actions: q.Actions, RequireComment: q.RequireComment,
		TimeoutMS: q.Timeout.Milliseconds(), DefaultAction: q.DefaultAction, PeopleOnly: q.PeopleOnly,
	}
	steps := []func(*callScope, *actions.Question) error{q.texts, q.content, q.context, q.options, q.data}
	for _, step := range steps {
		if err := step(scope, &asked); err != nil {
			return engine.Ask{}, err
		}
	}
	if err := errors.Join(question.Check(asked)...); err != nil {
		return engine.Ask{}, err
	}
	payload, err := marshal(asked)
	if err != nil {
		return engine.Ask{}, err
	}
	return engine.Ask{Key: q.Name, Payload: payload, ContentKey: asked.ContentKey, Timeout: q.Timeout}, nil
}

func (q *Question) texts(scope *callScope, asked *actions.Question) error {
	for _, t := range []struct {
		place string
		from  *lang.Template
		to    *string
	}{
		{"title", q.Title, &asked.Title},
		{"message", q.Message, &asked.Message},
		{"assignee", q.Assignee, &asked.Assignee},
		{"group", q.Group, &asked.Group},
		{"priority", q.Priority, &asked.Priority},
	} {
		text, err := scope.render(t.place, t.from)
		if err != nil {
			return err
		}
		*t.to = strings.TrimSpace(text)
	}
	if asked.Title == "" {
		asked.Title = firstLine(asked.Message)
	}
	return nil
}

// content sets what is under review: by its key, where it can be written back, else by its value.
func (q *Question) content(scope *callScope, asked *actions.Question) error {
	if q.Content == nil {
		asked.ContentType = q.ContentType
		return nil
	}
	v, err := scope.eval("content", q.Content)
	if err != nil {
		return err
	}
	key := q.Content.Key()
	if q.ReadOnly {
		key = ""
	}
	_, isList := v.Any().([]any)
	switch {
	case q.Kind == actions.Conversation && key == "":
		return fmt.Errorf("content: a conversation needs a state key, to which replies are added, not %s", q.Content.Source())
	case q.Kind == actions.Conversation && !isList && !v.IsNull():
		return fmt.Errorf("content: %s is no list of messages", key)
	case v.IsNull() && q.Kind != actions.Conversation:
		return fmt.Errorf("content: %s is null: there is nothing to review", q.Content.Source())
	}
	if asked.ContentKey = key; key == "" {
		asked.Content = v.JSON()
	}
	if asked.ContentType = q.ContentType; asked.ContentType == "" {
		asked.ContentType = contentType(v.JSON())
	}
	return nil
}

// contentType is the default: text for a text, else json.
func contentType(content json.RawMessage) string {
	switch {
	case len(content) == 0:
		return ""
	case content[0] == '"':
		return "text"
	}
	return "json"
}

func (q *Question) context(scope *callScope, asked *actions.Question) error {
	for _, c := range q.Context {
		v, err := scope.eval("context."+c.Name, c.Expr)
		if err != nil {
			return err
		}
		asked.Context = append(asked.Context, actions.Labelled{Label: c.Name, Value: v.JSON()})
	}
	return nil
}

func (q *Question) options(scope *callScope, asked *actions.Question) (err error) {
	if q.OptionsExpr != nil {
		v, err := scope.eval("options", q.OptionsExpr)
		if err != nil {
			return err
		}
		if asked.Options, err = optionsOf(v); err != nil {
			return fmt.Errorf("options: %w", err)
		}
	}
	for i, o := range q.Options {
		item := actions.OptionItem{Value: o.Value.JSON()}
		place := fmt.Sprintf("options[%d]", i)
		if item.Label, err = scope.render(place+".label", o.Label); err != nil {
			return err
		}
		if item.Description, err = scope.render(place+".description", o.Description); err != nil {
			return err
		}
		asked.Options = append(asked.Options, item)
	}
	seen := make(map[string]bool, len(asked.Options))
	for i, o := range asked.Options {
		if value := string(o.Value); seen[value] {
			return fmt.Errorf("options[%d]: the value %.60s is there twice", i, value)
		} else if value == "null" {
			return fmt.Errorf("options[%d]: the value is null", i)
		}
		seen[string(o.Value)] = true
	}
	return nil
}

// optionsOf reads the options that an expression made: texts, numbers and truth values, or objects with a value.
func optionsOf(v engine.Value) ([]actions.OptionItem, error) {
	list, ok := v.Any().([]any)
	switch {
	case !ok:
		return nil, fmt.Errorf("the result is no list: %.60s", v.JSON())
	case len(list) == 0:
		return nil, errors.New("the list is empty, so that nothing could be chosen")
	}
	options := make([]actions.OptionItem, len(list))
	for i, item := range list {
		var err error
		if options[i], err = optionOf(item); err != nil {
			return nil, fmt.Errorf("item %d: %w", i, err)
		}
	}
	return options, nil
}

func optionOf(item any) (actions.OptionItem, error) {
	var option actions.OptionItem
	value := item
	switch item := item.(type) {
	case []any:
		return option, errors.New("is a list; an option is a text or {value, label, description}")
	case map[string]any:
		known := []string{"value", "label", "description"}
		for key, v := range item {
			s, isText := v.(string)
			switch {
			case key == "value":
			case key == "label" && isText:
				option.Label = s
			case key == "description" && isText:
				option.Description = s
			case key == "label" || key == "description":
				return option, fmt.Errorf("%s must be a text", key)
			default:
				return option, fmt.Errorf("unknown key %q%s", key, nearest.Hint(key, known))
			}
		}
		var ok bool
		if value, ok = item["value"]; !ok {
			return option, errors.New("has no value")
		}
	}
	v, err := engine.ValueOf(value)
	option.Value = v.JSON()
	return option, err
}

// data sets what is JSON: schema, prefill and the data of the default answer. Null is none.
func (q *Question) data(scope *callScope, asked *actions.Question) error {
	for _, d := range []struct {
		place string
		from  *lang.Expr
		to    *json.RawMessage
	}{
		{"schema", q.Schema, &asked.Schema},
		{"prefill", q.Prefill, &asked.Prefill},
		{"default_data", q.DefaultData, &asked.DefaultData},
	} {
		v, err := scope.eval(d.place, d.from)
		switch {
		case err != nil:
			return err
		case !v.IsNull():
			*d.to = v.JSON()
		case d.place == "schema" && d.from != nil:
			return fmt.Errorf("schema: %s is null", d.from.Source())
		}
	}
	return nil
}

// firstLine is the title of a question that has none: the first line of the message that says something.
func firstLine(message string) string {
	for line := range strings.Lines(message) {
		if line = strings.TrimSpace(strings.TrimLeft(strings.TrimSpace(line), "#")); line != "" {
			return line
		}
	}
	return ""
}
