package plain

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/content"
)

// data asks for what an action takes: the data, and what was typed for it.
func (f *face) data(q desk.Question, c desk.Choice) (json.RawMessage, string, error) {
	switch c.Data {
	case actions.OptionalText:
		return f.textData(q, c, !c.NeedsComment)
	case actions.RequiredText, actions.AnyText:
		return f.textData(q, c, c.Data == actions.AnyText)
	case actions.AnyJSON:
		return f.anything(c)
	case actions.Option:
		value, err := f.options(q.Whole().Options, q.Multiple)
		return f.commented(c, value, "", err, func(value json.RawMessage, comment string) (json.RawMessage, error) {
			return json.Marshal(map[string]any{"choice": value, "comment": comment})
		})
	case actions.Content, actions.OptionalContent:
		value, typed, err := f.edited(q, c)
		return f.commented(c, value, typed, err, func(value json.RawMessage, comment string) (json.RawMessage, error) {
			return actions.WrapContent(q.Whole().Question, value, comment)
		})
	case actions.Form:
		value, err := f.form(q)
		return f.commented(c, value, "", err, func(value json.RawMessage, comment string) (json.RawMessage, error) {
			object, err := actions.Object(value)
			if err != nil {
				return nil, err
			}
			object["comment"], err = json.Marshal(comment)
			if err != nil {
				return nil, err
			}
			return json.Marshal(object)
		})
	}
	return nil, "", nil
}

// commented asks for the comment that an action requires beside its data.
func (f *face) commented(c desk.Choice, value json.RawMessage, typed string, err error,
	join func(json.RawMessage, string) (json.RawMessage, error)) (json.RawMessage, string, error) {
	if err != nil || !c.NeedsComment {
		return value, typed, err
	}
	comment, err := f.text("Comment, required", false)
	if err != nil {
		return nil, typed, err
	}
	value, err = join(value, comment)
	return value, typed, err
}

// textData asks for a text, or offers the one that was typed before.
func (f *face) textData(q desk.Question, c desk.Choice, optional bool) (json.RawMessage, string, error) {
	if d := f.draft(q, c); d != "" {
		f.say("A draft is kept:")
		if err := f.long(d); err != nil {
			return nil, "", err
		}
		use, err := f.confirmed("Use it")
		if err != nil {
			return nil, "", err
		}
		if use {
			data, err := json.Marshal(d)
			return data, d, err
		}
	}
	what := "Text"
	if c.Data == actions.OptionalText {
		what = "Comment"
	}
	text, err := f.text(what, optional)
	if err != nil || text == "" && c.Data != actions.AnyText {
		return nil, text, err
	}
	data, err := json.Marshal(text)
	return data, text, err
}

func (f *face) draft(q desk.Question, c desk.Choice) string {
	if q.Of != nil {
		return ""
	}
	if d := f.desk.Draft(q); d != nil && d.Action == string(c.Action) && !d.Raw {
		return d.Text
	}
	return ""
}

// text asks for a text of any number of lines, which a line with a dot alone ends. What was typed before the input ended
// comes with the error.
func (f *face) text(what string, optional bool) (string, error) {
	how := "a line with only a dot ends it"
	if optional {
		how += ", at once for none"
	}
	for {
		f.say("%s; %s:", what, how)
		var lines []string
		for {
			line, err := f.line()
			if err != nil {
				return strings.Join(lines, "\n"), err
			}
			if line == "." {
				break
			}
			lines = append(lines, line)
		}
		text := strings.Join(lines, "\n")
		if optional || strings.TrimSpace(text) != "" {
			return text, nil
		}
		again, err := f.confirmed("It must not be empty. Type it now")
		if err != nil {
			return "", err
		}
		if !again {
			return "", errBack
		}
	}
}

// anything asks for data of any kind: JSON, else a text.
func (f *face) anything(c desk.Choice) (json.RawMessage, string, error) {
	text, err := f.text("Data as JSON or as a text", !c.NeedsComment)
	switch {
	case err != nil || text == "":
		return nil, text, err
	case json.Valid([]byte(text)):
		return json.RawMessage(text), text, nil
	}
	data, err := json.Marshal(text)
	return data, text, err
}

// edited asks for the content anew: a text as it is, all else as JSON.
func (f *face) edited(q desk.Question, c desk.Choice) (json.RawMessage, string, error) {
	now := bytes.TrimSpace(q.Whole().Content)
	isText := len(now) == 0 || now[0] == '"'
	what := "The new text, whole"
	if !isText {
		what = "The new value, whole, as JSON"
	}
	for {
		text, err := f.text(what, c.Data == actions.OptionalContent)
		switch {
		case err != nil || text == "" && c.Data == actions.OptionalContent:
			return nil, text, err
		case isText:
			data, err := json.Marshal(text)
			return data, text, err
		case json.Valid([]byte(text)):
			return json.RawMessage(text), text, nil
		}
		f.say("That is no JSON.")
	}
}

// options asks for one option, or several, by number.
func (f *face) options(options []actions.OptionItem, several bool) (json.RawMessage, error) {
	for i, o := range options {
		text := sanitize.Line(o.Label)
		if text == "" {
			text = content.Short(o.Value)
		}
		if o.Description != "" {
			text += ": " + sanitize.Line(o.Description)
		}
		f.say("%d. %s", i+1, text)
	}
	what := "Number of an option"
	if several {
		what = "Numbers of options, with spaces between them"
	}
	for {
		line, err := f.ask(what + ", back to leave")
		if err != nil {
			return nil, err
		}
		if line == "back" || line == "b" {
			return nil, errBack
		}
		values, ok := picked(options, strings.Fields(strings.ReplaceAll(line, ",", " ")))
		switch {
		case !ok || len(values) == 0 || !several && len(values) > 1:
			f.say("%q is no choice from 1 to %d.", sanitize.Line(line), len(options))
		case several:
			return json.Marshal(values)
		default:
			return values[0], nil
		}
	}
}

// picked is the values of the options with these numbers.
func picked(options []actions.OptionItem, numbers []string) ([]json.RawMessage, bool) {
	var values []json.RawMessage
	for _, word := range numbers {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 || n > len(options) {
			return nil, false
		}
		value := options[n-1].Value
		if len(value) == 0 {
			value, err = json.Marshal(options[n-1].Label)
		}
		if err != nil {
			return nil, false
		}
		values = append(values, value)
	}
	return values, true
}

// form asks for the fields of a schema one by one.
func (f *face) form(q desk.Question) (json.RawMessage, error) {
	whole := q.Whole()
	schema, err := actions.CompileSchema(actions.MendSchema(whole.Schema))
	if err != nil || len(schema.Fields()) == 0 {
		text, err := f.text("The form as a JSON object", false)
		return json.RawMessage(text), err
	}
	var prefill map[string]json.RawMessage
	if len(whole.Prefill) > 0 {
		if prefill, err = actions.Object(whole.Prefill); err != nil {
			prefill = nil
		}
	}
	return f.object(schema.Fields(), prefill, "")
}

// object asks for each field of an object.
func (f *face) object(fields []actions.Field, prefill map[string]json.RawMessage, in string) (json.RawMessage, error) {
	out := map[string]json.RawMessage{}
	for _, field := range fields {
		if p, ok := prefill[field.Name]; ok {
			field.Default = p
		}
		value, err := f.field(field, in)
		if err != nil {
			return nil, err
		}
		if value != nil {
			out[field.Name] = value
		}
	}
	return json.Marshal(out)
}

// field asks for the value of one field; nil leaves it out.
func (f *face) field(x actions.Field, in string) (json.RawMessage, error) {
	name := in + sanitize.Line(x.Title)
	if x.Description != "" {
		f.say("%s: %s", name, sanitize.Line(x.Description))
	}
	if x.Kind == actions.ObjectField && x.Recursive {
		x.Kind = actions.RawField // without an end: as far as somebody writes
	}
	if x.Kind == actions.ObjectField {
		inner, err := actions.Object(x.Default)
		if len(x.Default) == 0 || err != nil {
			inner = nil
		}
		return f.object(x.Properties(), inner, name+", ")
	}
	for i, o := range x.Options {
		f.say("%d. %s", i+1, sanitize.Line(o.Label))
	}
	for {
		line, err := f.fieldLine(x, name)
		switch {
		case err != nil:
			return nil, err
		case line == "" && len(x.Default) > 0:
			return x.Default, nil
		case line == "" && x.Required:
			f.say("%s is required; back leaves the form.", name)
			continue
		case line == "":
			return nil, nil
		case line == "back" && !x.Secret:
			return nil, errBack
		}
		value, why := fieldValue(x, line)
		if why == "" {
			return value, nil
		}
		f.say("%s: %s.", name, why)
	}
}

// fieldLine asks for a field's line; of a secret one it is not shown.
func (f *face) fieldLine(x actions.Field, name string) (string, error) {
	what := name + ", " + kindWord(x)
	if x.Required {
		what += ", required"
	}
	if len(x.Default) > 0 && !x.Secret {
		what += ", Enter for " + content.Short(x.Default)
	}
	if !x.Secret || f.Secret == nil {
		return f.ask(what)
	}
	if _, err := fmt.Fprint(f.Out, what+", not shown: "); err != nil {
		return "", err
	}
	line, err := f.Secret()
	f.say("")
	return line, err
}

func kindWord(x actions.Field) string {
	switch x.Kind {
	case actions.BooleanField:
		return "y or n"
	case actions.SelectField:
		return "number of an option"
	case actions.ManyField:
		return "numbers of options"
	case actions.ListField, actions.ItemsField:
		return "a JSON list"
	case actions.RawField, actions.VariantField:
		return "JSON"
	case actions.TextField:
		if x.Format != "" {
			return sanitize.Line(x.Format)
		}
	}
	return string(x.Kind)
}

// fieldValue is a line as the value of a field, or why it is none. What the schema says of it is for the desk to check.
func fieldValue(x actions.Field, line string) (json.RawMessage, string) {
	switch x.Kind {
	case actions.BooleanField:
		switch strings.ToLower(line) {
		case "y", "yes", "true":
			return json.RawMessage("true"), ""
		case "n", "no", "false":
			return json.RawMessage("false"), ""
		}
		return nil, "y or n"
	case actions.SelectField, actions.ManyField:
		values, ok := picked(x.Options, strings.Fields(strings.ReplaceAll(line, ",", " ")))
		if !ok || x.Kind == actions.SelectField && len(values) != 1 {
			return nil, fmt.Sprintf("a number from 1 to %d", len(x.Options))
		}
		if x.Kind == actions.SelectField {
			return values[0], ""
		}
		value, err := json.Marshal(values)
		if err != nil {
			return nil, err.Error()
		}
		return value, ""
	case actions.NumberField, actions.IntegerField, actions.ListField, actions.ItemsField, actions.VariantField, actions.RawField:
		if !json.Valid([]byte(line)) {
			return nil, "that is no " + kindWord(x)
		}
		if isNumber := x.Kind == actions.NumberField || x.Kind == actions.IntegerField; isNumber && !slices.Contains([]byte("-0123456789"), line[0]) {
			return nil, "that is no number"
		}
		return json.RawMessage(line), ""
	}
	value, err := json.Marshal(line)
	if err != nil {
		return nil, err.Error()
	}
	return value, ""
}
