package codec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// verbatim is JSON from outside, written as a JSON string of its text, so that it comes back to the byte: what a person
// was shown is known by its hash, and a RawMessage would come back compacted and with other escapes. Text that is no
// UTF-8 is written as {"base64": ...}.
type verbatim []byte

type encoded struct {
	Base64 []byte `json:"base64"`
}

// MarshalJSON implements json.Marshaler.
func (v verbatim) MarshalJSON() ([]byte, error) {
	if !utf8.Valid(v) {
		return json.Marshal(encoded{v})
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(string(v)); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// UnmarshalJSON implements json.Unmarshaler.
func (v *verbatim) UnmarshalJSON(b []byte) error {
	var text string
	if len(b) > 0 && b[0] == '{' {
		var e encoded
		if err := json.Unmarshal(b, &e); err != nil {
			return fmt.Errorf("verbatim JSON: %w", err)
		}
		*v = e.Base64
		return nil
	}
	if err := json.Unmarshal(b, &text); err != nil {
		return fmt.Errorf("verbatim JSON: %w", err)
	}
	*v = verbatim(text)
	return nil
}
