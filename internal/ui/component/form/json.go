package form

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// member is a key of an object and its value.
type member struct {
	name  string
	value json.RawMessage
}

// membersOf reads an object in the order of its source. An object that has a key twice is refused: a form would lose one.
func membersOf(raw json.RawMessage) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	seen := map[string]bool{}
	var out []member
	for dec.More() {
		tok, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, _ := tok.(string)
		if seen[name] {
			return nil, fmt.Errorf("the key %q is given twice", name)
		}
		seen[name] = true
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			return nil, err
		}
		out = append(out, member{name, v})
	}
	_, err := dec.Token()
	return out, err
}

// itemsOf reads a list; false for anything else.
func itemsOf(raw json.RawMessage) ([]json.RawMessage, bool) {
	var items []json.RawMessage
	if json.Unmarshal(raw, &items) != nil || items == nil {
		return nil, false
	}
	return items, true
}

// writeObject is members as JSON.
func writeObject(members []member) json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range members {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(quote(m.name))
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// writeList is items as JSON.
func writeList(items []json.RawMessage) json.RawMessage {
	out := append([]byte("["), bytes.Join(asBytes(items), []byte(","))...)
	return append(out, ']')
}

func asBytes(items []json.RawMessage) [][]byte {
	out := make([][]byte, len(items))
	for i, v := range items {
		out[i] = v
	}
	return out
}

// quote writes a JSON string without the escapes that only HTML needs.
func quote(s string) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return json.RawMessage(`""`)
	}
	return bytes.TrimSpace(b.Bytes())
}
