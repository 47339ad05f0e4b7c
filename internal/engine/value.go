package engine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// Value is one immutable JSON value of a workflow's state. It keeps the bytes or the decoded form, makes the other
// when it is first asked for, and never marshals anything twice. The zero Value is null. Values are safe for
// concurrent use.
type Value struct{ p *valueBox }

// valueBox is made with one of its forms; the other appears under its Once.
type valueBox struct {
	encode, decode sync.Once
	raw            json.RawMessage
	any            any
	isRaw          bool // made of raw; else of any
}

const null = "null"

// RawValue makes a Value of JSON bytes, which the caller must not change afterwards. The bytes are trusted to be
// valid compact JSON.
func RawValue(raw json.RawMessage) Value {
	if len(raw) == 0 || string(raw) == null {
		return Value{}
	}
	return Value{&valueBox{raw: raw, isRaw: true}}
}

// ValueOf makes a Value of nil, bool, any integer or float, string, []any, map[string]any, json.RawMessage, a Value,
// or anything encoding/json can marshal. NaN and infinities are errors.
func ValueOf(v any) (Value, error) {
	switch x := v.(type) {
	case Value:
		return x, nil
	case json.RawMessage:
		if len(x) == 0 {
			return Value{}, nil
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, x); err != nil {
			return Value{}, fmt.Errorf("not JSON: %w", err)
		}
		if number := tooLarge(compact.Bytes()); number != "" {
			return Value{}, fmt.Errorf("the number %.40s is too large", number)
		}
		return RawValue(compact.Bytes()), nil
	}
	plain, err := normal(v)
	if err != nil {
		return Value{}, err
	}
	return known(plain), nil
}

// known wraps a value that is in normal form and shared with nobody who changes it.
func known(v any) Value {
	if v == nil {
		return Value{}
	}
	return Value{&valueBox{any: v}}
}

// text wraps a string.
func text(s string) Value { return known(s) }

// JSON is the compact JSON of v, "null" for the zero Value.
func (v Value) JSON() json.RawMessage {
	if v.p == nil {
		return json.RawMessage(null)
	}
	if !v.p.isRaw {
		v.p.encode.Do(func() { v.p.raw = encode(v.p.any) })
	}
	return v.p.raw
}

// Any is v decoded: nil, bool, int, float64, string, []any or map[string]any, shared and not to be changed. A number
// is an int when it is written as an integer that fits, else a float64.
func (v Value) Any() any {
	if v.p == nil {
		return nil
	}
	if v.p.isRaw {
		v.p.decode.Do(func() { v.p.any = decode(v.p.raw) })
	}
	return v.p.any
}

// IsNull reports whether v is null.
func (v Value) IsNull() bool { return v.p == nil }

// MarshalJSON implements json.Marshaler.
func (v Value) MarshalJSON() ([]byte, error) { return v.JSON(), nil }

// UnmarshalJSON implements json.Unmarshaler.
func (v *Value) UnmarshalJSON(raw []byte) error {
	value, err := ValueOf(json.RawMessage(raw))
	*v = value
	return err
}

// normal brings v into the form Any promises, in copies of its lists and objects, so that a value is the same before
// it was stored and after it was read again.
func normal(v any) (any, error) {
	switch x := v.(type) {
	case nil, bool, string, int:
		return x, nil
	case float64:
		return normalFloat(x)
	case float32:
		return normalFloat(float64(x))
	case json.Number:
		return number(string(x))
	case Value:
		return x.Any(), nil
	case json.RawMessage:
		value, err := ValueOf(x)
		return value.Any(), err
	case []any:
		return normalList(x)
	case map[string]any:
		return normalObject(x)
	}
	return normalOther(v)
}

func normalList(list []any) (any, error) {
	out := make([]any, len(list))
	for i, item := range list {
		v, err := normal(item)
		if err != nil {
			return nil, err
		}
		out[i] = v
	}
	return out, nil
}

func normalObject(object map[string]any) (any, error) {
	out := make(map[string]any, len(object))
	for key, item := range object {
		v, err := normal(item)
		if err != nil {
			return nil, err
		}
		out[key] = v
	}
	return out, nil
}

// normalOther handles the rarer integers by their kind, and everything else by way of encoding/json.
func normalOther(v any) (any, error) {
	if _, ok := v.(json.Marshaler); !ok {
		r := reflect.ValueOf(v)
		switch {
		case r.CanInt():
			return int(r.Int()), nil
		case r.CanUint():
			if u := r.Uint(); u > math.MaxInt {
				return float64(u), nil
			}
			return int(r.Uint()), nil
		case r.Kind() == reflect.String:
			return r.String(), nil
		}
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("not JSON: %w", err)
	}
	return decode(raw), nil
}

func normalFloat(f float64) (any, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("%v is no JSON number", f)
	}
	// Below this a float without a fraction is written, and so read again, as an integer.
	if f == math.Trunc(f) && math.Abs(f) < 1<<62 {
		return int(f), nil
	}
	return f, nil
}

func number(s string) (any, error) {
	if i, err := strconv.ParseInt(s, 10, 64); err == nil {
		return int(i), nil
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return nil, fmt.Errorf("%s is no number this system can hold", s)
	}
	return f, nil
}

// tooLarge is the first number in valid JSON that no float64 can hold, "" without one: decoded, it would be lost.
func tooLarge(raw []byte) string {
	for i := 0; i < len(raw); i++ {
		switch c := raw[i]; {
		case c == '"':
			for i++; raw[i] != '"'; i++ {
				if raw[i] == '\\' {
					i++
				}
			}
		case c >= '0' && c <= '9':
			end := i
			for end < len(raw) && strings.IndexByte("0123456789+-.eE", raw[end]) >= 0 {
				end++
			}
			if token := raw[i:end]; len(token) > 300 || bytes.ContainsAny(token, "eE") {
				if _, err := strconv.ParseFloat(string(token), 64); err != nil {
					return string(token)
				}
			}
			i = end - 1
		}
	}
	return ""
}

// encode is compact JSON without the HTML escapes that would make a stored text unlike the text.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return json.RawMessage(null) // normal form always encodes
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

func decode(raw json.RawMessage) any {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil // RawValue's caller vouched for the bytes
	}
	return numbers(v)
}

// numbers replaces the json.Numbers in v, in place.
func numbers(v any) any {
	switch x := v.(type) {
	case json.Number:
		n, err := number(string(x))
		if err != nil {
			return nil
		}
		return n
	case []any:
		for i := range x {
			x[i] = numbers(x[i])
		}
	case map[string]any:
		for key := range x {
			x[key] = numbers(x[key])
		}
	}
	return v
}
