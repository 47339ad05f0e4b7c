package engine

import "encoding/json"

// Value is one immutable JSON value of a workflow's state. It keeps the bytes or the decoded form, makes the other
// when it is first asked for, and never marshals anything twice. The zero Value is null. Values are safe for
// concurrent use.
type Value struct{ p *valueBox }

// valueBox is replaced by the engine's implementation.
type valueBox struct{}

// RawValue makes a Value of JSON bytes, which the caller must not change afterwards. The bytes are trusted to be
// valid compact JSON.
func RawValue(raw json.RawMessage) Value { panic("contract only") }

// ValueOf makes a Value of nil, bool, any integer or float, string, []any, map[string]any, json.RawMessage, a Value,
// or anything encoding/json can marshal. NaN and infinities are errors.
func ValueOf(v any) (Value, error) { panic("contract only") }

// JSON is the compact JSON of v, "null" for the zero Value.
func (v Value) JSON() json.RawMessage { panic("contract only") }

// Any is v decoded: nil, bool, int, float64, string, []any or map[string]any, shared and not to be changed. A number
// is an int when it is written as an integer that fits, else a float64.
func (v Value) Any() any { panic("contract only") }

// IsNull reports whether v is null.
func (v Value) IsNull() bool { panic("contract only") }
