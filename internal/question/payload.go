package question

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// payload is what every recogniser is given: the text, and its members or items, read once for all of them.
type payload struct {
	raw     json.RawMessage
	members []member
	items   []json.RawMessage // of a list that is not empty
}

func newPayload(raw json.RawMessage) payload {
	p := payload{raw: raw}
	switch trimmed := bytes.TrimSpace(raw); {
	case bytes.HasPrefix(trimmed, []byte("{")):
		p.members, _ = members(raw)
	case bytes.HasPrefix(trimmed, []byte("[")):
		if json.Unmarshal(raw, &p.items) != nil {
			p.items = nil
		}
	}
	return p
}

// object is the payload's object, none of whose members is read yet; without members when it is no object.
func (p payload) object() *object { return &object{members: p.members} }

// objects is the one object that the payload is, or those in its list. One item that is none makes it nil.
func (p payload) objects() []*object {
	if p.members != nil {
		return []*object{p.object()}
	}
	var out []*object
	for _, item := range p.items {
		o := objectIn(item)
		if o.members == nil {
			return nil
		}
		out = append(out, o)
	}
	return out
}

// object is a JSON object that knows which of its members were read, so that the rest can be shown too: what nothing
// shows is lost to the reader.
type object struct {
	members []member
	read    []string
}

func objectIn(raw json.RawMessage) *object {
	m, err := members(raw)
	if err != nil {
		m = nil
	}
	return &object{members: m}
}

// raw is the first member there is under one of the names; nil when there is none, or null. JSON of the wild is
// written in camelCase and in snake_case.
func (o *object) raw(names ...string) json.RawMessage {
	for _, m := range o.members {
		if slices.Contains(names, m.name) && !isNull(m.value) {
			o.read = append(o.read, m.name)
			return m.value
		}
	}
	return nil
}

func (o *object) has(name string) bool {
	return slices.ContainsFunc(o.members, func(m member) bool { return m.name == name })
}

// text is a member that is a text, and "" for any other, which then counts as not read.
func (o *object) text(names ...string) string {
	was := len(o.read)
	raw := o.raw(names...)
	var s string
	if raw == nil || json.Unmarshal(raw, &s) != nil {
		o.read = o.read[:was]
		return ""
	}
	return s
}

// object is a member that is an object with members, else an empty one, which then counts as not read.
func (o *object) object(names ...string) *object {
	was := len(o.read)
	inner := objectIn(o.raw(names...))
	if inner.members == nil {
		o.read = o.read[:was]
	}
	return inner
}

// list is a member that is a list, else nil, which then counts as not read.
func (o *object) list(names ...string) []json.RawMessage {
	was := len(o.read)
	var out []json.RawMessage
	if raw := o.raw(names...); raw == nil || json.Unmarshal(raw, &out) != nil {
		o.read = o.read[:was]
		return nil
	}
	return out
}

// deadline is a member that is a time with its zone, as RFC 3339 writes it; nil for any other, which then counts as not
// read: without a zone nobody can tell when it is.
func (o *object) deadline(names ...string) *time.Time {
	was := len(o.read)
	if at, err := time.Parse(time.RFC3339Nano, o.text(names...)); err == nil {
		if is := instant(at); is != nil {
			return is
		}
	}
	o.read = o.read[:was]
	return nil
}

// instant is a time as questions hold it; nil for one that no store and no JSON could.
func instant(at time.Time) *time.Time {
	at = at.UTC().Truncate(time.Microsecond)
	if at.Year() < 1 || at.Year() > 9999 {
		return nil
	}
	return &at
}

// drop counts members as read that say nothing to a person.
func (o *object) drop(names ...string) { o.read = append(o.read, names...) }

// rest is the members that were not read and hold something, under their own names.
func (o *object) rest() []actions.Labelled {
	var out []actions.Labelled
	for _, m := range o.members {
		if !slices.Contains(o.read, m.name) && !isEmpty(m.value) {
			out = append(out, actions.Labelled{Label: m.name, Value: m.value})
		}
	}
	return out
}

// restOf is rest of an object within another one, which its labels name.
func (o *object) restOf(what string) []actions.Labelled {
	out := o.rest()
	for i := range out {
		out[i].Label = what + " " + out[i].Label
	}
	return out
}

// label is one line of context; none for nothing.
func label(name string, value json.RawMessage) []actions.Labelled {
	if isEmpty(value) {
		return nil
	}
	return []actions.Labelled{{Label: name, Value: value}}
}

func labelText(name, value string) []actions.Labelled {
	if value == "" {
		return nil
	}
	return label(name, quoted(value))
}

func isNull(raw json.RawMessage) bool { return string(bytes.TrimSpace(raw)) == "null" }

func isEmpty(raw json.RawMessage) bool {
	return slices.Contains([]string{"", "null", `""`, "{}", "[]"}, string(bytes.TrimSpace(raw)))
}

func isObject(raw json.RawMessage) bool { return bytes.HasPrefix(bytes.TrimSpace(raw), []byte("{")) }

// textIn is raw as a text, or as the JSON it is.
func textIn(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil && !isNull(raw) {
		return s
	}
	return string(raw)
}

func quoted(s string) json.RawMessage {
	raw, err := marshal(s)
	if err != nil {
		return json.RawMessage(`""`)
	}
	return raw
}

// marshal is json.Marshal without the escapes that only HTML needs, so that a text is answered as it is.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// must is marshal of what cannot fail: texts, maps of them and JSON that was read.
func must(v any) json.RawMessage {
	raw, err := marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}

// contentType is how content is shown that does not say it.
func contentType(raw json.RawMessage) string {
	if bytes.HasPrefix(bytes.TrimSpace(raw), []byte(`"`)) {
		return "text"
	}
	return "json"
}

// offer lists the actions of a question: the words its shape has for it, and what the engine does whatever the shape.
func offer(words ...actions.Action) []actions.Action {
	for _, a := range []actions.Action{actions.Retry, actions.Stop, actions.Cancel} {
		if !slices.Contains(words, a) {
			words = append(words, a)
		}
	}
	return words
}

// cannotSay is the refusal of an answer that the shape has no form for.
func cannotSay(a actions.Action, message string) error {
	return &actions.DataError{Action: a, Problems: []actions.Problem{{Message: message}}}
}

// firstOf is the first text that is not blank.
func firstOf(texts ...string) string {
	for _, t := range texts {
		if strings.TrimSpace(t) != "" {
			return t
		}
	}
	return ""
}
