package redact

import (
	"bytes"
	"encoding/json"
	"slices"
)

var masked = json.RawMessage(`"` + Mask + `"`)

// Value masks secrets in a decoded JSON value. The result shares nothing with v that was changed; v stays as it is.
// Under a secret key everything but null, true, false and the empty text is masked, whole.
func (r Rules) Value(v any) any {
	switch t := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(t))
		label := r.labelled(t)
		for k, item := range t {
			if r.Secret(k) || label && k == valueKey {
				out[k] = mask(item)
			} else {
				out[k] = r.Value(item)
			}
		}
		return out
	case []any:
		out := make([]any, len(t))
		for i, item := range t {
			out[i] = r.Value(item)
		}
		return out
	case string:
		return r.Text(t)
	default:
		return v
	}
}

// valueKey holds the value of an object that names it in another member, as {"name": "API_KEY", "value": ...} does.
const valueKey = "value"

func isLabel(key string) bool {
	return key == "name" || key == "key" || key == "label" || key == "channel"
}

func (r Rules) labelled(object map[string]any) bool {
	for k, v := range object {
		if name, ok := v.(string); ok && isLabel(k) && r.Secret(name) {
			return true
		}
	}
	return false
}

func mask(v any) any {
	switch t := v.(type) {
	case nil, bool:
		return v
	case string:
		if t == "" {
			return v
		}
	}
	return Mask
}

// Field masks the value of a key: whole when the key is a secret, else as JSON does.
func (r Rules) Field(key string, raw json.RawMessage) json.RawMessage {
	if !r.Secret(key) {
		return r.JSON(raw)
	}
	if harmless(bytes.TrimSpace(raw)) {
		return raw
	}
	return slices.Clone(masked)
}

// Fields masks the values of an object's keys. Without a secret the object itself is returned.
func (r Rules) Fields(object map[string]json.RawMessage) map[string]json.RawMessage {
	var out map[string]json.RawMessage
	for key, raw := range object {
		safe := r.Field(key, raw)
		if bytes.Equal(safe, raw) {
			continue
		}
		if out == nil {
			out = make(map[string]json.RawMessage, len(object))
			for k, v := range object {
				out[k] = v
			}
		}
		out[key] = safe
	}
	if out == nil {
		return object
	}
	return out
}

// harmless is a value that a secret key may show: it tells no more than whether there is a secret.
func harmless(raw []byte) bool {
	switch string(raw) {
	case "", "null", "true", "false", `""`, `"` + Mask + `"`:
		return true
	}
	return false
}

// JSON masks secrets in raw JSON and keeps order, space and spelling of all else; without a secret raw itself is
// returned. Raw bytes that are no JSON are treated as text, so that something is returned for the log whatever
// happens; the result is then a JSON text. The properties of a JSON Schema are no values: of one with a secret name
// only defaults, examples and the like are masked.
func (r Rules) JSON(raw json.RawMessage) json.RawMessage {
	if r.off || len(raw) == 0 {
		return raw
	}
	if !json.Valid(raw) {
		return text(r.plain(string(raw)))
	}
	s := scan{rules: r, in: raw, known: map[string]bool{}}
	s.value(data)
	if len(s.edits) == 0 {
		return raw
	}
	return s.edited()
}

// scan walks through valid JSON and notes what is to be masked.
type scan struct {
	rules Rules
	in    []byte
	at    int
	edits []edit          // in their order, none within another
	known map[string]bool // keys seen: whether they are secrets
}

// edit puts something in the place of a part of the input.
type edit struct {
	from, to int
	with     []byte
}

func (s *scan) edited() json.RawMessage {
	out := make([]byte, 0, len(s.in)+64)
	done := 0
	for _, e := range s.edits {
		out = append(append(out, s.in[done:e.from]...), e.with...)
		done = e.to
	}
	return append(out, s.in[done:]...)
}

// place is what the members of an object are.
type place int

const (
	data    place = iota
	schemas       // the properties of a JSON Schema, by name
	schema        // one such, of a secret
)

// describes are the keywords of a schema that tell nothing of a value.
var describes = []string{"type", "title", "description", "format", "minLength", "maxLength", "minimum", "maximum", "pattern",
	"required", "readOnly", "writeOnly", "items", "properties", "additionalProperties", "minItems", "maxItems", "$ref"}

func (s *scan) value(p place) {
	s.space()
	start := s.at
	switch s.in[s.at] {
	case '{':
		s.object(p)
	case '[':
		s.list()
	case '"':
		s.skipText()
		s.text(start)
	default:
		s.skipWord()
		if c := s.in[start]; c == '-' || c >= '0' && c <= '9' {
			s.number(start)
		}
	}
}

func (s *scan) object(p place) {
	var value edit // of the member so called
	label := false // another member says that it is a secret
	for s.at++; ; s.at++ {
		s.space()
		if s.in[s.at] == '}' {
			break
		}
		start := s.at
		s.skipText()
		name := s.in[start:s.at]
		s.space()
		s.at++ // the colon
		s.space()
		start = s.at
		s.member(p, name)
		switch key := string(name[1 : len(name)-1]); {
		case key == valueKey:
			value = edit{start, s.at, masked}
		case isLabel(key) && s.in[start] == '"':
			label = label || s.secret(s.in[start:s.at])
		}
		s.space()
		if s.in[s.at] == '}' {
			break
		}
	}
	s.at++
	if label && value.to > 0 && !harmless(s.in[value.from:value.to]) {
		s.edits = slices.DeleteFunc(s.edits, func(e edit) bool { return e.from >= value.from && e.to <= value.to })
		i, _ := slices.BinarySearchFunc(s.edits, value.from, func(e edit, from int) int { return e.from - from })
		s.edits = slices.Insert(s.edits, i, value)
	}
}

// member masks the value of one key.
func (s *scan) member(p place, name []byte) {
	isObject := s.in[s.at] == '{'
	switch {
	case p == schema:
		if !slices.Contains(describes, string(name[1:len(name)-1])) {
			s.mask()
			return
		}
	case s.secret(name):
		if p == schemas && isObject {
			s.value(schema)
		} else {
			s.mask()
		}
		return
	}
	if isObject && string(name) == `"properties"` {
		s.value(schemas)
		return
	}
	s.value(data)
}

func (s *scan) secret(name []byte) bool {
	is, ok := s.known[string(name)]
	if !ok {
		var key string
		is = json.Unmarshal(name, &key) == nil && s.rules.Secret(key)
		s.known[string(name)] = is
	}
	return is
}

func (s *scan) list() {
	for s.at++; ; s.at++ {
		s.space()
		if s.in[s.at] == ']' {
			s.at++
			return
		}
		s.value(data)
		s.space()
		if s.in[s.at] == ']' {
			s.at++
			return
		}
	}
}

// mask passes over a value and masks it whole.
func (s *scan) mask() {
	start := s.at
	switch s.in[s.at] {
	case '"':
		s.skipText()
	case '{', '[':
		depth := 0
		for {
			switch s.in[s.at] {
			case '"':
				s.skipText()
				continue
			case '{', '[':
				depth++
			case '}', ']':
				depth--
			}
			s.at++
			if depth == 0 {
				break
			}
		}
	default:
		s.skipWord()
	}
	if !harmless(s.in[start:s.at]) {
		s.replace(start, masked)
	}
}

// text masks within the text that begins at start.
func (s *scan) text(start int) {
	literal := s.in[start:s.at]
	var t string
	if bytes.IndexByte(literal, '\\') < 0 {
		t = string(literal[1 : len(literal)-1])
	} else if json.Unmarshal(literal, &t) != nil {
		return
	}
	if safe := s.rules.Text(t); safe != t {
		s.replace(start, text(safe))
	}
}

// number masks a number that one of the patterns matches.
func (s *scan) number(start int) {
	for _, p := range s.rules.patterns {
		if p.Match(s.in[start:s.at]) {
			s.replace(start, masked)
			return
		}
	}
}

// replace puts something in the place of what begins at start and ends here.
func (s *scan) replace(start int, with []byte) {
	s.edits = append(s.edits, edit{start, s.at, with})
}

func (s *scan) space() {
	for s.at < len(s.in) && (s.in[s.at] == ' ' || s.in[s.at] == '\n' || s.in[s.at] == '\t' || s.in[s.at] == '\r') {
		s.at++
	}
}

func (s *scan) skipText() {
	for s.at++; s.in[s.at] != '"'; s.at++ {
		if s.in[s.at] == '\\' {
			s.at++
		}
	}
	s.at++
}

func (s *scan) skipWord() {
	for s.at < len(s.in) && bytes.IndexByte([]byte(",]} \t\r\n"), s.in[s.at]) < 0 {
		s.at++
	}
}

// text is s as JSON.
func text(s string) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil {
		return masked
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}
