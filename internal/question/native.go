package question

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/duration"
	"github.com/hitl-tui/hitl-tui/internal/nearest"
)

// readNative reads what human nodes store, and what programs write with `kind`.
func readNative(p payload) (asked, bool) {
	if !p.object().has("kind") {
		return nil, false
	}
	q, ok := readStored(p.raw)
	if !ok {
		var err error
		if q, err = ParseNative(p.raw); err != nil {
			return nil, false
		}
	}
	if q.Title == "" {
		q.Title = firstLine(q.Message)
	}
	return record{q}, true
}

// readStored reads the JSON form of actions.Question and nothing else.
func readStored(payload json.RawMessage) (actions.Question, bool) {
	var q actions.Question
	dec := json.NewDecoder(bytes.NewReader(payload))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&q); err != nil || !slices.Contains(actions.Kinds(), q.Kind) {
		return actions.Question{}, false
	}
	if q.ContentKey == "" && len(checkKind(q)) > 0 {
		return actions.Question{}, false
	}
	for _, a := range slices.Concat(q.Actions, q.RequireComment) {
		if _, ok := actions.Describe(a); !ok {
			return actions.Question{}, false
		}
	}
	if q.Deadline != nil { // a program may have written it, with any zone
		q.Deadline = instant(*q.Deadline)
	}
	return q, true
}

// member is a member of a JSON object in source order.
type member struct {
	name  string
	value json.RawMessage
}

// members reads the object in raw. A key given twice is an error.
func members(raw json.RawMessage) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nil, errors.New("must be an object")
	}
	var out []member
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, err
		}
		m := member{name: tok.(string)}
		if slices.ContainsFunc(out, func(o member) bool { return o.name == m.name }) {
			return nil, fmt.Errorf("the key %q is given twice", m.name)
		}
		if err := dec.Decode(&m.value); err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the object")
	}
	return out, nil
}

// field reads one key of a native question into q.
type field struct {
	name string
	read func(q *actions.Question, raw json.RawMessage) error
}

// fields is the keys of a question as a program writes them, literal: those of workflow files.
func fields() []field {
	return []field{
		{"key", func(*actions.Question, json.RawMessage) error { return nil }}, // read by whoever reads the interrupt
		{"kind", func(q *actions.Question, raw json.RawMessage) error { return readKind(&q.Kind, raw) }},
		{"title", func(q *actions.Question, raw json.RawMessage) error { return readText(&q.Title, raw) }},
		{"message", func(q *actions.Question, raw json.RawMessage) error { return readText(&q.Message, raw) }},
		{"content", func(q *actions.Question, raw json.RawMessage) error { q.Content = raw; return nil }},
		{"content_type", func(q *actions.Question, raw json.RawMessage) error { return readText(&q.ContentType, raw) }},
		{"context", readContext},
		{"options", readOptions},
		{"multiple", func(q *actions.Question, raw json.RawMessage) error { return readBool(&q.Multiple, raw) }},
		{"schema", func(q *actions.Question, raw json.RawMessage) error { q.Schema = raw; return nil }},
		{"prefill", func(q *actions.Question, raw json.RawMessage) error { q.Prefill = raw; return nil }},
		{"actions", func(q *actions.Question, raw json.RawMessage) error { return readActions(&q.Actions, raw) }},
		{"require_comment", func(q *actions.Question, raw json.RawMessage) error { return readActions(&q.RequireComment, raw) }},
		{"timeout", readTimeout},
		{"timeout_ms", readTimeout},
		{"default_action", readDefaultAction},
		{"default_data", func(q *actions.Question, raw json.RawMessage) error { q.DefaultData = raw; return nil }},
		{"people_only", func(q *actions.Question, raw json.RawMessage) error { return readBool(&q.PeopleOnly, raw) }},
		{"assignee", func(q *actions.Question, raw json.RawMessage) error { return readText(&q.Assignee, raw) }},
		{"group", func(q *actions.Question, raw json.RawMessage) error { return readText(&q.Group, raw) }},
		{"priority", func(q *actions.Question, raw json.RawMessage) error { return readText(&q.Priority, raw) }},
	}
}

// ParseNative reads the question of a program, `{key, kind, ...}` with the keys of workflow files, literal. The form
// is free where nothing can be misread: options as plain values or as objects, context as an object or a list,
// names of actions in any case, a key that is null counts as absent. The meaning is strict: an unknown key, a kind
// that lacks what it needs, an action nobody knows or a default answer that would be refused is an error, and all
// of them are reported.
func ParseNative(raw json.RawMessage) (actions.Question, error) {
	given, err := members(raw)
	if err != nil {
		return actions.Question{}, err
	}
	known := fields()
	names := make([]string, len(known))
	for i, f := range known {
		names[i] = f.name
	}
	var q actions.Question
	var faults []error
	for _, m := range given {
		i := slices.Index(names, m.name)
		switch {
		case i < 0:
			faults = append(faults, fmt.Errorf("unknown key %q%s", m.name, nearest.Hint(m.name, names)))
		case string(m.value) == "null":
		default:
			if err := known[i].read(&q, m.value); err != nil {
				faults = append(faults, fmt.Errorf("%s: %w", m.name, err))
			}
		}
	}
	if len(faults) == 0 {
		faults = Check(q)
	}
	if len(faults) > 0 {
		return actions.Question{}, errors.Join(faults...)
	}
	return q, nil
}

func readText(to *string, raw json.RawMessage) error {
	if json.Unmarshal(raw, to) != nil {
		return errors.New("must be a text")
	}
	return nil
}

func readBool(to *bool, raw json.RawMessage) error {
	if json.Unmarshal(raw, to) != nil {
		return errors.New("must be true or false")
	}
	return nil
}

func readKind(to *actions.Kind, raw json.RawMessage) error {
	var name string
	if err := readText(&name, raw); err != nil {
		return err
	}
	kind := actions.Kind(strings.ToLower(name))
	if !slices.Contains(actions.Kinds(), kind) {
		names := kindNames()
		return fmt.Errorf("unknown kind %q%s (the kinds are %s)", name, nearest.Hint(name, names), strings.Join(names, ", "))
	}
	*to = kind
	return nil
}

func kindNames() []string {
	var out []string
	for _, k := range actions.Kinds() {
		out = append(out, string(k))
	}
	return out
}

// readContext takes {label: value} or [{label, value}].
func readContext(q *actions.Question, raw json.RawMessage) error {
	if err := json.Unmarshal(raw, &q.Context); err == nil {
		return nil
	}
	given, err := members(raw)
	if err != nil {
		return err
	}
	q.Context = nil
	for _, m := range given {
		q.Context = append(q.Context, actions.Labelled{Label: m.name, Value: m.value})
	}
	return nil
}

// readOptions takes a list of plain values, or of {value, label, description}.
func readOptions(q *actions.Question, raw json.RawMessage) error {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return errors.New("must be a list")
	}
	for i, item := range list {
		option := actions.OptionItem{Value: item}
		if bytes.HasPrefix(bytes.TrimSpace(item), []byte("{")) {
			option.Value = nil
			dec := json.NewDecoder(bytes.NewReader(item))
			dec.DisallowUnknownFields()
			if err := dec.Decode(&option); err != nil {
				return fmt.Errorf("option %d: must be {value, label, description}: %w", i+1, err)
			}
			if option.Value == nil {
				return fmt.Errorf("option %d has no value", i+1)
			}
		}
		q.Options = append(q.Options, option)
	}
	return nil
}

// readActions takes a list of names, or one name.
func readActions(to *[]actions.Action, raw json.RawMessage) error {
	var names []string
	var one string
	if json.Unmarshal(raw, &one) == nil {
		names = []string{one}
	} else if json.Unmarshal(raw, &names) != nil {
		return errors.New("must be a list of actions")
	}
	for _, name := range names {
		a, err := actions.Parse(name)
		if err != nil {
			return err
		}
		if slices.Contains(*to, a) {
			return fmt.Errorf("%s is listed twice", a)
		}
		*to = append(*to, a)
	}
	if len(*to) == 0 {
		return errors.New("must name at least one action")
	}
	return nil
}

func readDefaultAction(q *actions.Question, raw json.RawMessage) error {
	var one []actions.Action
	if err := readActions(&one, raw); err != nil {
		return err
	}
	if len(one) != 1 {
		return errors.New("must be one action")
	}
	q.DefaultAction = one[0]
	return nil
}

// readTimeout takes a duration with a unit, or milliseconds as a number.
func readTimeout(q *actions.Question, raw json.RawMessage) error {
	if q.TimeoutMS != 0 {
		return errors.New("timeout and timeout_ms mean the same; give one of them")
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		d, err := duration.Parse(text)
		q.TimeoutMS = d.Milliseconds()
		return err
	}
	if json.Unmarshal(raw, &q.TimeoutMS) != nil || q.TimeoutMS <= 0 {
		return errors.New("must be a duration such as 90s, or a number of milliseconds")
	}
	return nil
}
