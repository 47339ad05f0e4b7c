package agentmap

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Shape is what a value is.
type Shape int

// The shapes.
const (
	Text    Shape = iota // a text
	Bare                 // a number, true, false or null
	List                 // of values
	Mapping              // of keys and values, in order
)

// Value is a value of a workflow file, with the place in the CSV that it comes from.
type Value struct {
	Shape   Shape
	Text    string // of Text and Bare
	At      Place
	Items   []*Value
	Entries []Entry
}

// Entry is a key of a mapping and its value.
type Entry struct{ Key, Value *Value }

func text(at Place, s string) *Value { return &Value{Shape: Text, Text: s, At: at} }

func bare(at Place, s string) *Value { return &Value{Shape: Bare, Text: s, At: at} }

func list(at Place, items ...*Value) *Value { return &Value{Shape: List, At: at, Items: items} }

func mapping(at Place) *Value { return &Value{Shape: Mapping, At: at} }

// put adds a key, which stands where its value does.
func (v *Value) put(key string, value *Value) {
	v.Entries = append(v.Entries, Entry{text(value.At, key), value})
}

// get is the value of a key, nil when it is not there.
func (v *Value) get(key string) *Value {
	for _, e := range v.Entries {
		if e.Key.Text == key {
			return e.Value
		}
	}
	return nil
}

// isText reports whether v is there and a text that is not empty.
func (v *Value) isText() bool { return v != nil && v.Shape == Text && v.Text != "" }

// words is v as a person would write it in a line.
func (v *Value) words() string {
	switch v.Shape {
	case List:
		parts := make([]string, len(v.Items))
		for i, item := range v.Items {
			parts[i] = item.words()
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case Mapping:
		parts := make([]string, len(v.Entries))
		for i, e := range v.Entries {
			parts[i] = e.Key.Text + ": " + e.Value.words()
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return v.Text
}

// expression is v written out in the expression language.
func (v *Value) expression() string {
	switch v.Shape {
	case List:
		parts := make([]string, len(v.Items))
		for i, item := range v.Items {
			parts[i] = item.expression()
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case Mapping:
		parts := make([]string, len(v.Entries))
		for i, e := range v.Entries {
			parts[i] = quoted(e.Key.Text) + ": " + e.Value.expression()
		}
		return "{" + strings.Join(parts, ", ") + "}"
	case Bare:
		if v.Text == "null" {
			return "nil"
		}
		return v.Text
	}
	return quoted(v.Text)
}

// quoted is a text as the expression and the template language write it.
func quoted(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return strconv.Quote(s)
	}
	return strings.TrimSuffix(b.String(), "\n")
}
