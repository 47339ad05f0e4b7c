package question

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// partsSchema is the form of several parts, a verdict each under the number of the part. argsTitle is what the arguments
// of a decision are called.
func partsSchema(parts []actions.Question, argsTitle string) json.RawMessage {
	properties := make(list, len(parts))
	required := make([]string, len(parts))
	for i, part := range parts {
		required[i] = actions.PartKey(i)
		properties[i] = entry{required[i], partSchema(part, required[i]+" "+part.Title, argsTitle)}
	}
	return must(list{{"type", "object"}, {"properties", properties}, {"required", required}})
}

// partSchema is the form of one verdict. It says what there is to fill in; actions.Verdicts holds it against the part.
func partSchema(part actions.Question, title, argsTitle string) list {
	var options []list
	args := false
	for _, a := range part.Actions {
		info, _ := actions.Describe(a)
		options = append(options, list{{"const", a}, {"title", info.Title}})
		switch info.Data {
		case actions.Option, actions.Content, actions.OptionalContent, actions.Form, actions.AnyJSON:
			args = true
		}
	}
	properties := list{{"decision", list{{"title", "Verdict"}, {"oneOf", options}}}}
	if args {
		properties = append(properties, entry{"args", argsSchema(part, argsTitle)})
	}
	properties = append(properties, entry{"message", list{{"type", "string"}, {"title", "Message"}}})
	return list{{"type", "object"}, {"title", title}, {"properties", properties}, {"required", []string{"decision"}}, {"additionalProperties", false}}
}

// argsSchema is what the arguments of a decision must be: a form where that is all there is to fill in, so that its
// fields are shown and its secrets are known.
func argsSchema(part actions.Question, title string) any {
	if slices.Contains(part.Actions, actions.Edit) {
		return list{{"title", title}, {"default", orNull(part.Content)}}
	}
	if slices.Contains(part.Actions, actions.Submit) && standsAlone(part.Schema) {
		return part.Schema
	}
	return list{{"title", title}}
}

// standsAlone tells whether a schema can be put into another: a reference in it would lead elsewhere from there.
func standsAlone(schema json.RawMessage) bool {
	return len(schema) > 0 && !bytes.Contains(schema, []byte(`"$`))
}
