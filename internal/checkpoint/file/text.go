package file

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"unicode/utf8"
)

// text is a string that comes back to the byte: one that is no UTF-8 is written as {"base64": ...}.
type text string

type base64Text struct {
	Base64 []byte `json:"base64"`
}

// MarshalJSON implements json.Marshaler.
func (t text) MarshalJSON() ([]byte, error) {
	if !utf8.ValidString(string(t)) {
		return json.Marshal(base64Text{[]byte(t)})
	}
	return marshal(string(t), "")
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *text) UnmarshalJSON(b []byte) error {
	if b[0] == '{' {
		var raw base64Text
		err := json.Unmarshal(b, &raw)
		*t = text(raw.Base64)
		return err
	}
	return json.Unmarshal(b, (*string)(t))
}

// foreign is JSON from outside, which stands in a file as it came, white space and all, so that it can be read there and
// comes back to the byte. What cannot stand in a file (because it is no JSON, nests too deep, or is not alone on its line
// where it has to be) is written as {"#text": ...} or {"#base64": ...}, and so is what looks like these.
type foreign []byte

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
func (f *foreign) UnmarshalJSON(b []byte) error {
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
		*f = foreign(*fields.Text)
	}
	return nil
}

// appendForeign writes raw, on one line if need be.
func appendForeign(b, raw []byte, oneLine bool) []byte {
	if embeddable(raw, oneLine) {
		return append(b, raw...)
	}
	// Strings and bytes always marshal.
	if utf8.Valid(raw) {
		value, _ := marshal(map[string]string{foreignText: string(raw)}, "")
		return append(b, value...)
	}
	value, _ := marshal(map[string][]byte{foreignBase64: raw}, "")
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

// marshal writes v without escapes that only HTML needs.
func marshal(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// object is a JSON object to which what json.Marshal would rewrite can be added. One of a line is all on that line.
type object struct {
	b    []byte
	line bool
}

// pageOf and lineOf begin with the fields of v, a struct that has some.
func pageOf(v any) (*object, error) {
	b, err := marshal(v, "  ")
	return &object{b: b}, err
}

func lineOf(v any) (*object, error) {
	b, err := marshal(v, "")
	return &object{b: b, line: true}, err
}

// name begins a further field.
func (o *object) name(name string) {
	if o.line {
		o.b = append(bytes.TrimSuffix(o.b, []byte("}")), ',')
		o.b = append(append(o.b, '"'), name...)
		o.b = append(o.b, `":`...)
		return
	}
	o.b = append(bytes.TrimSuffix(o.b, []byte("\n}")), ",\n  \""...)
	o.b = append(append(o.b, name...), `": `...)
}

func (o *object) end() {
	if !o.line {
		o.b = append(o.b, '\n')
	}
	o.b = append(o.b, '}')
}

// foreign adds a field with JSON from outside.
func (o *object) foreign(name string, raw []byte) {
	o.name(name)
	o.b = appendForeign(o.b, raw, o.line)
	o.end()
}

// raw adds a field whose value is written already.
func (o *object) raw(name string, value []byte) {
	o.name(name)
	o.b = append(o.b, value...)
	o.end()
}

// list adds a list, one item a line.
func (o *object) list(name string, items [][]byte) { o.raw(name, block('[', items, ']')) }

// block puts items between brackets, one a line, for a field of a page.
func block(open byte, items [][]byte, shut byte) []byte {
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
	pageSeal = ",\n  \"sum\": \"crc32c:%08x\"\n}\n"
	lineSeal = ",\"sum\":\"crc32c:%08x\"}\n"
)

var (
	errCut   = errors.New("it is cut off, or something was added to it")
	errBytes = errors.New("it does not match its checksum: a byte of it was changed")
)

// seal gives the bytes of a file, or of a line of one.
func (o *object) seal() []byte {
	if o.line {
		return sealed(bytes.TrimSuffix(o.b, []byte("}")), lineSeal)
	}
	return sealed(bytes.TrimSuffix(o.b, []byte("\n}")), pageSeal)
}

func sealed(body []byte, format string) []byte {
	return fmt.Appendf(body, format, sumOf(body))
}

func sumOf(b []byte) uint32 { return crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)) }

// open checks the seal of a file, or of a line, and reads it.
func open(b []byte, format string, v any) error {
	if err := intact(b, format); err != nil {
		return err
	}
	return json.Unmarshal(b, v)
}

// intact checks the seal of a file, or of a line.
func intact(b []byte, format string) error {
	at := len(b) - (len(format) - len("%08x") + 8)
	if at <= 0 {
		return errCut
	}
	var room [64]byte
	if bytes.Equal(fmt.Appendf(room[:0], format, sumOf(b[:at])), b[at:]) {
		return nil
	}
	if before, _, _ := bytes.Cut([]byte(format), []byte("%")); bytes.HasPrefix(b[at:], before) {
		return errBytes
	}
	return errCut
}
