package question

import (
	"encoding/json"
	"slices"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// lenient is a schema of another system as far as it can be used here: with the titles of its enum where other keywords
// hold them, and without keywords that nobody knows. nil when there is none, or it is beyond that.
func lenient(schema json.RawMessage) json.RawMessage {
	if !isObject(schema) {
		return nil
	}
	if _, err := actions.CompileSchema(schema); err == nil {
		return schema
	}
	schema = actions.MendSchema(schema)
	if _, err := actions.CompileSchema(schema); err != nil {
		return nil
	}
	return schema
}

// schemaType is the one type that a schema names, else "".
func schemaType(schema json.RawMessage) string {
	o := objectIn(schema)
	if t := o.text("type"); t != "" {
		return t
	}
	if o.has("properties") {
		return "object"
	}
	return ""
}

// optionsIn is what a schema lists as its only values, by enum or by oneOf with titles, or true and false.
func optionsIn(schema json.RawMessage) []actions.OptionItem {
	wrapped := must(list{{"properties", list{{"value", schema}}}})
	compiled, err := actions.CompileSchema(wrapped)
	if err != nil {
		return nil
	}
	fields := compiled.Fields()
	switch {
	case len(fields) != 1:
		return nil
	case fields[0].Kind == actions.SelectField:
		return fields[0].Options
	case fields[0].Kind == actions.BooleanField && !fields[0].Nullable:
		return yesOrNo()
	}
	return nil
}

func yesOrNo() []actions.OptionItem {
	return []actions.OptionItem{{Value: json.RawMessage("true"), Label: "yes"}, {Value: json.RawMessage("false"), Label: "no"}}
}

// bySchema makes q ask for a value under a schema, with the actions that can give one: a choice, a form, a text or
// number, else any JSON. Without a schema it asks for a text, or any JSON.
func bySchema(q *actions.Question, schema json.RawMessage) []actions.Action {
	q.Kind, q.Schema = actions.Text, schema
	options, t := optionsIn(schema), schemaType(schema)
	switch {
	case schema == nil:
		return []actions.Action{actions.Respond, actions.TextInput, actions.Continue}
	case len(options) > 0:
		q.Kind, q.Schema, q.Options = actions.Choice, nil, options
		return []actions.Action{actions.Choose}
	case t == "object":
		q.Kind = actions.FormKind
		return []actions.Action{actions.Submit}
	case slices.Contains([]string{"string", "number", "integer"}, t):
		return []actions.Action{actions.Respond, actions.TextInput}
	}
	q.Kind = actions.Suspend
	return []actions.Action{actions.Continue}
}
