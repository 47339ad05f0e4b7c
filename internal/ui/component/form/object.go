package form

import (
	"bytes"
	"encoding/json"
	"errors"
)

var errNoObject = errors.New("this is not a JSON object, so the form cannot show it")

// object is a JSON object that keeps the order of its keys.
type object struct {
	keys   []string
	values map[string]json.RawMessage
	inner  map[string]*object
}

func newObject() *object {
	return &object{values: map[string]json.RawMessage{}, inner: map[string]*object{}}
}

func (o *object) put(path []string, v json.RawMessage) {
	k := path[0]
	if _, isValue := o.values[k]; !isValue && o.inner[k] == nil {
		o.keys = append(o.keys, k)
	}
	if len(path) == 1 {
		o.values[k] = v
		return
	}
	if o.inner[k] == nil {
		o.inner[k] = newObject()
	}
	o.inner[k].put(path[1:], v)
}

// has tells whether something is at a path.
func (o *object) has(path []string) bool {
	k := path[0]
	if _, isValue := o.values[k]; isValue {
		return true
	}
	in := o.inner[k]
	return in != nil && (len(path) == 1 || in.has(path[1:]))
}

func (o *object) json() json.RawMessage {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, k := range o.keys {
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(quote(k))
		b.WriteByte(':')
		if in := o.inner[k]; in != nil {
			b.Write(in.json())
		} else {
			b.Write(o.values[k])
		}
	}
	b.WriteByte('}')
	return b.Bytes()
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

// keysInOrder lists the keys of an object as they stand in it.
func keysInOrder(raw json.RawMessage) []string {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if _, err := dec.Token(); err != nil {
		return nil
	}
	var keys []string
	for dec.More() {
		k, err := dec.Token()
		if err != nil {
			return keys
		}
		name, _ := k.(string)
		keys = append(keys, name)
		var skip json.RawMessage
		if dec.Decode(&skip) != nil {
			return keys
		}
	}
	return keys
}
