package actions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds the nesting of JSON that is read here; encoding/json itself stops at 10 000 levels.
const maxDepth = 512

// value is a JSON value that keeps what encoding/json drops: the order of members and the spelling of numbers.
type value struct {
	kind    jsonKind
	text    string   // of a text the decoded text, of a number its spelling
	boolean bool     // of a boolean
	items   []*value // of a list
	members []member // of an object, in source order, names unique
}

type member struct {
	name  string
	value *value
}

type jsonKind int

const (
	isNull jsonKind = iota
	isBoolean
	isNumber
	isText
	isList
	isObject
)

func (k jsonKind) String() string {
	return [...]string{"null", "true or false", "a number", "a text", "a list", "an object"}[k]
}

// errDuplicate is wrapped by the error about an object that has a key twice.
var errDuplicate = errors.New("key given twice")

// parse reads one JSON value. Unlike encoding/json it refuses duplicate keys, invalid UTF-8, deep nesting and numbers
// that no program could hold, since each of them would otherwise lose data without a word.
func parse(raw []byte) (*value, error) {
	if !utf8.Valid(raw) {
		return nil, errors.New("not valid UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	v, err := parseNext(dec, 0)
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("ends too early")
		}
		return nil, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("something follows the value, at byte %d", dec.InputOffset())
	}
	return v, nil
}

func parseNext(dec *json.Decoder, depth int) (*value, error) {
	tok, err := dec.Token()
	if err != nil {
		return nil, err
	}
	switch t := tok.(type) {
	case nil:
		return &value{}, nil
	case bool:
		return &value{kind: isBoolean, boolean: t}, nil
	case json.Number:
		if f, err := t.Float64(); err != nil || math.IsInf(f, 0) {
			return nil, fmt.Errorf("the number %.40s is too large", t)
		}
		return &value{kind: isNumber, text: t.String()}, nil
	case string:
		return &value{kind: isText, text: t}, nil
	case json.Delim:
		if depth >= maxDepth {
			return nil, fmt.Errorf("nested deeper than %d levels", maxDepth)
		}
		if t == '[' {
			return parseList(dec, depth+1)
		}
		return parseObject(dec, depth+1)
	}
	return nil, fmt.Errorf("unexpected %v", tok)
}

func parseList(dec *json.Decoder, depth int) (*value, error) {
	v := &value{kind: isList}
	for dec.More() {
		item, err := parseNext(dec, depth)
		if err != nil {
			return nil, err
		}
		v.items = append(v.items, item)
	}
	_, err := dec.Token()
	return v, err
}

func parseObject(dec *json.Decoder, depth int) (*value, error) {
	v := &value{kind: isObject}
	seen := map[string]bool{}
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, ok := tok.(string)
		if !ok {
			return nil, fmt.Errorf("%v where a key belongs", tok)
		}
		if seen[name] {
			return nil, fmt.Errorf("%w: %s", errDuplicate, quote(name))
		}
		seen[name] = true
		item, err := parseNext(dec, depth)
		if err != nil {
			return nil, err
		}
		v.members = append(v.members, member{name, item})
	}
	_, err := dec.Token()
	return v, err
}

// get is the member called name, nil when v has none or is no object.
func (v *value) get(name string) *value {
	if v == nil {
		return nil
	}
	for _, m := range v.members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// keys is the names of the members in source order.
func (v *value) keys() []string {
	out := make([]string, len(v.members))
	for i, m := range v.members {
		out[i] = m.name
	}
	return out
}

// without is a copy of the object v that lacks the member called name.
func (v *value) without(name string) *value {
	c := *v
	c.members = slices.DeleteFunc(slices.Clone(v.members), func(m member) bool { return m.name == name })
	return &c
}

// plain is v as the JSON Schema library wants it: maps, slices and json.Number.
func (v *value) plain() any {
	switch v.kind {
	case isBoolean:
		return v.boolean
	case isNumber:
		return json.Number(v.text)
	case isText:
		return v.text
	case isList:
		out := make([]any, len(v.items))
		for i, item := range v.items {
			out[i] = item.plain()
		}
		return out
	case isObject:
		out := make(map[string]any, len(v.members))
		for _, m := range v.members {
			out[m.name] = m.value.plain()
		}
		return out
	default:
		return nil
	}
}

// compact is v as compact UTF-8 JSON: no white space, members in their order, nothing escaped that need not be.
func (v *value) compact() json.RawMessage { return v.append(nil) }

func (v *value) append(b []byte) []byte {
	switch v.kind {
	case isBoolean:
		if v.boolean {
			return append(b, "true"...)
		}
		return append(b, "false"...)
	case isNumber:
		return append(b, v.text...)
	case isText:
		return appendText(b, v.text)
	case isList:
		b = append(b, '[')
		for i, item := range v.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = item.append(b)
		}
		return append(b, ']')
	case isObject:
		b = append(b, '{')
		for i, m := range v.members {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendText(b, m.name), ':')
			b = m.value.append(b)
		}
		return append(b, '}')
	default:
		return append(b, "null"...)
	}
}

// appendText differs from encoding/json in that < > & and the line separators U+2028 and U+2029 stay as they are:
// the limit counts UTF-8, not escapes.
func appendText(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c == '\n':
			b = append(b, '\\', 'n')
		case c == '\t':
			b = append(b, '\\', 't')
		case c == '\r':
			b = append(b, '\\', 'r')
		case c == '\b':
			b = append(b, '\\', 'b')
		case c == '\f':
			b = append(b, '\\', 'f')
		case c < 0x20:
			b = append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}

// equal compares as JSON Schema does: numbers by what they are worth, objects without regard to order.
func (v *value) equal(w *value) bool {
	if v.kind != w.kind {
		return false
	}
	switch v.kind {
	case isBoolean:
		return v.boolean == w.boolean
	case isNumber:
		return sameNumber(v.text, w.text)
	case isText:
		return v.text == w.text
	case isList:
		return slices.EqualFunc(v.items, w.items, (*value).equal)
	case isObject:
		return len(v.members) == len(w.members) && !slices.ContainsFunc(v.members, func(m member) bool {
			other := w.get(m.name)
			return other == nil || !m.value.equal(other)
		})
	default:
		return true
	}
}

func sameNumber(a, b string) bool {
	if a == b {
		return true
	}
	// A huge exponent would make an exact rational fill the memory; such numbers are equal only when written alike.
	if len(a) > 64 || len(b) > 64 || hugeExponent(a) || hugeExponent(b) {
		return false
	}
	x, ok1 := new(big.Rat).SetString(a)
	y, ok2 := new(big.Rat).SetString(b)
	return ok1 && ok2 && x.Cmp(y) == 0
}

func hugeExponent(s string) bool {
	_, exp, ok := strings.Cut(strings.ToLower(s), "e")
	return ok && len(strings.TrimLeft(exp, "+-0")) > 3
}

// display is v as a person would write it: a text without quotes, everything else as JSON.
func (v *value) display() string {
	if v.kind == isText {
		return v.text
	}
	return string(v.compact())
}

func textValue(s string) *value { return &value{kind: isText, text: s} }
