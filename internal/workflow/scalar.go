package workflow

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var (
	jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
	// What some reader of YAML 1.1 or 1.2 takes for a number and JSON does not.
	oddNumber = regexp.MustCompile(`^[-+]?(\.[0-9][0-9_]*([eE][+-]?[0-9]+)?|[0-9][0-9_]*(\.[0-9_]*)?([eE][+-]?[0-9]+)?|0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+|\.(inf|Inf|INF))$|^\.(nan|NaN|NAN)$`)
)

// plainJSON is what a plain scalar means in a place for plain JSON: numbers are JSON numbers, true, false and null
// are themselves, all else is text. trap, when not empty, says why it is neither: what other readers of YAML take for
// something else is an error.
func plainJSON(text string) (v any, trap string) {
	switch text {
	case "true":
		return true, ""
	case "false":
		return false, ""
	case "null":
		return nil, ""
	case "True", "TRUE", "False", "FALSE", "Null", "NULL":
		return nil, text + " means different things to different readers of YAML: write " + strings.ToLower(text) + ", or put a text in quotes"
	case "~":
		return nil, `~ means different things to different readers of YAML: write null, or put a text in quotes`
	}
	if jsonNumber.MatchString(text) {
		return json.Number(text), ""
	}
	if oddNumber.MatchString(text) {
		return nil, text + " means different numbers to different readers of YAML: write a plain decimal number, or put a text in quotes"
	}
	return text, ""
}

// object is a JSON object that keeps the order of its keys.
type object []member

type member struct {
	key   string
	value any
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := json.Marshal(m.key)
		if err != nil {
			return nil, err
		}
		text, err := marshal(m.value)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(text)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// marshal is json.Marshal without the escapes for HTML.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// toJSON is a value of a file as plain JSON.
func (s *source) toJSON(v *value) any {
	switch v.shape {
	case listShape:
		list := make([]any, len(v.list))
		for i, item := range v.list {
			list[i] = s.toJSON(item)
		}
		return list
	case mappingShape:
		o := make(object, 0, len(v.entries))
		for _, e := range v.entries {
			o = append(o, member{e.key.text, s.toJSON(e.value)})
		}
		return o
	case scalarShape:
		if v.style != plainStyle {
			return v.text
		}
		x, trap := plainJSON(v.text)
		if trap != "" {
			s.fault(v.at, "%s", trap)
		}
		return x
	}
	s.fault(v.at, `an empty value: write null, or "" for the empty text`)
	return nil
}

// toRaw is a value of a file as compact JSON.
func (s *source) toRaw(v *value) json.RawMessage { return s.rawOf(v, s.toJSON(v)) }

func (s *source) rawOf(v *value, plain any) json.RawMessage {
	raw, err := marshal(plain)
	if err != nil {
		s.fault(v.at, "this cannot be written as JSON: %v", err)
		return json.RawMessage("null")
	}
	return raw
}

var (
	durationPart = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d|w)`)
	bareNumber   = regexp.MustCompile(`^[0-9]+(\.[0-9]+)?$`)
	sizeForm     = regexp.MustCompile(`^([0-9]+)(B|KiB|MiB|GiB)$`)
)

// parseDuration reads a duration such as 90s, 1h30m or 2d.
func parseDuration(text string) (time.Duration, bool) {
	units := map[string]time.Duration{
		"ms": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour,
	}
	if text == "" {
		return 0, false
	}
	var sum float64
	for text != "" {
		m := durationPart.FindStringSubmatch(text)
		if m == nil {
			return 0, false
		}
		n, err := strconv.ParseFloat(m[1], 64)
		if err != nil {
			return 0, false
		}
		sum += n * float64(units[m[2]])
		text = text[len(m[0]):]
	}
	if sum > float64(100*365*24*time.Hour) {
		return 0, false
	}
	return time.Duration(sum), true
}

// parseSize reads a size in bytes such as 64KiB or 16MiB.
func parseSize(text string) (int64, bool) {
	m := sizeForm.FindStringSubmatch(text)
	if m == nil {
		return 0, false
	}
	n, err := strconv.ParseInt(m[1], 10, 32)
	if err != nil || n == 0 {
		return 0, false
	}
	shift := map[string]uint{"B": 0, "KiB": 10, "MiB": 20, "GiB": 30}[m[2]]
	return n << shift, true
}
