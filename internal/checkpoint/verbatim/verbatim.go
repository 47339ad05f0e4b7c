// Package verbatim writes JSON for files that people can read and programs read back to the byte: JSON from outside stands
// in them as it came, and a checksum at the end of each object shows whether a byte of it was changed.
package verbatim

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"unicode/utf8"
)

// Text is a string that comes back to the byte: one that is no UTF-8 is written as {"base64": ...}.
type Text string

type base64Text struct {
	Base64 []byte `json:"base64"`
}

// MarshalJSON implements json.Marshaler.
func (t Text) MarshalJSON() ([]byte, error) {
	if !utf8.ValidString(string(t)) {
		return json.Marshal(base64Text{[]byte(t)})
	}
	return Marshal(string(t), "")
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Text) UnmarshalJSON(b []byte) error {
	if b[0] == '{' {
		var raw base64Text
		err := json.Unmarshal(b, &raw)
		*t = Text(raw.Base64)
		return err
	}
	return json.Unmarshal(b, (*string)(t))
}

// JSON is JSON from outside, which stands in a file as it came, white space and all, so that it can be read there and
// comes back to the byte. What cannot stand in a file (because it is no JSON, nests too deep, or is not alone on its line
// where it has to be) is written as {"#text": ...} or {"#base64": ...}, and so is what looks like these.
type JSON []byte

const (
	wrapped       = `{"#`
	foreignDepth  = 1000 // encoding/json reads ten times that
	foreignText   = "#text"
	foreignBase64 = "#base64"
)

type foreignFields struct {
	Text   *string `json:"#text"`
	Base64 []byte  `json:"#base64"`
}

// UnmarshalJSON implements json.Unmarshaler.
func (f *JSON) UnmarshalJSON(b []byte) error {
	if !bytes.HasPrefix(b, []byte(wrapped)) {
		*f = bytes.Clone(b)
		return nil
	}
	var fields foreignFields
	if err := json.Unmarshal(b, &fields); err != nil {
		return err
	}
	*f = fields.Base64
	if fields.Text != nil {
		*f = JSON(*fields.Text)
	}
	return nil
}

// Append writes JSON from outside, on one line if need be.
func Append(b, raw []byte, oneLine bool) []byte {
	if embeddable(raw, oneLine) {
		return append(b, raw...)
	}
	// Strings and bytes always marshal.
	if utf8.Valid(raw) {
		value, _ := Marshal(map[string]string{foreignText: string(raw)}, "")
		return append(b, value...)
	}
	value, _ := Marshal(map[string][]byte{foreignBase64: raw}, "")
	return append(b, value...)
}

func embeddable(raw []byte, oneLine bool) bool {
	if len(raw) == 0 || bytes.HasPrefix(raw, []byte(wrapped)) || len(bytes.TrimSpace(raw)) != len(raw) {
		return false
	}
	return !(oneLine && bytes.ContainsAny(raw, "\n\r")) && shallow(raw) && json.Valid(raw)
}

// shallow reports whether raw, if it is JSON, nests no deeper than a file takes.
func shallow(raw []byte) bool {
	depth := 0
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			for i++; i < len(raw) && raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			if depth++; depth > foreignDepth {
				return false
			}
		case '}', ']':
			depth--
		}
	}
	return true
}

// Marshal writes v without escapes that only HTML needs.
func Marshal(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Object is a JSON object to which what json.Marshal would rewrite can be added. One of a line is all on that line.
type Object struct {
	B    []byte
	Line bool
}

// PageOf begins an object of many lines with the fields of v, a struct that has some.
func PageOf(v any) (*Object, error) {
	b, err := Marshal(v, "  ")
	return &Object{B: b}, err
}

// LineOf is PageOf for an object on one line.
func LineOf(v any) (*Object, error) {
	b, err := Marshal(v, "")
	return &Object{B: b, Line: true}, err
}

// name begins a further field.
func (o *Object) name(name string) {
	if o.Line {
		o.B = append(bytes.TrimSuffix(o.B, []byte("}")), ',')
		o.B = append(append(o.B, '"'), name...)
		o.B = append(o.B, `":`...)
		return
	}
	o.B = append(bytes.TrimSuffix(o.B, []byte("\n}")), ",\n  \""...)
	o.B = append(append(o.B, name...), `": `...)
}

func (o *Object) end() {
	if !o.Line {
		o.B = append(o.B, '\n')
	}
	o.B = append(o.B, '}')
}

// JSON adds a field with JSON from outside.
func (o *Object) JSON(name string, raw []byte) {
	o.name(name)
	o.B = Append(o.B, raw, o.Line)
	o.end()
}

// Raw adds a field whose value is written already.
func (o *Object) Raw(name string, value []byte) {
	o.name(name)
	o.B = append(o.B, value...)
	o.end()
}

// List adds a list, one item a line.
func (o *Object) List(name string, items [][]byte) { o.Raw(name, Block('[', items, ']')) }

// Block puts items between brackets, one a line, for a field of a page.
func Block(open byte, items [][]byte, shut byte) []byte {
	b := []byte{open}
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, "\n    "...), item...)
	}
	if len(items) > 0 {
		b = append(b, "\n  "...)
	}
	return append(b, shut)
}

// A sealed object ends in the CRC-32C of all that stands before its last field, so that a change of any byte is seen.
const (
	PageSeal = ",\n  \"sum\": \"crc32c:%08x\"\n}\n"
	LineSeal = ",\"sum\":\"crc32c:%08x\"}\n"
)

// What a seal shows.
var (
	ErrCut   = errors.New("it is cut off, or something was added to it")
	ErrBytes = errors.New("it does not match its checksum: a byte of it was changed")
)

// Seal gives the bytes of a file, or of a line of one.
func (o *Object) Seal() []byte {
	if o.Line {
		return Sealed(bytes.TrimSuffix(o.B, []byte("}")), LineSeal)
	}
	return Sealed(bytes.TrimSuffix(o.B, []byte("\n}")), PageSeal)
}

// Sealed ends what was written of an object in its checksum.
func Sealed(body []byte, format string) []byte {
	return fmt.Appendf(body, format, Sum(body))
}

// Sum is the CRC-32C.
func Sum(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// Open checks the seal of a file, or of a line, and reads it.
func Open(b []byte, format string, v any) error {
	if err := Intact(b, format); err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}

// Intact checks the seal of a file, or of a line.
func Intact(b []byte, format string) error {
	at := len(b) - (len(format) - len("%08x") + 8)
	if at <= 0 {
		return ErrCut
	}
	var room [64]byte
	if bytes.Equal(fmt.Appendf(room[:0], format, Sum(b[:at])), b[at:]) {
		return nil
	}
	if before, _, _ := bytes.Cut([]byte(format), []byte("%")); bytes.HasPrefix(b[at:], before) {
		return ErrBytes
	}
	return ErrCut
}
