package actions

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// Recorded is the data of an answer as the record of decisions keeps it: of what the schema of q calls secret
// (writeOnly, or format password) only length in bytes and SHA-256, so that one can tell whether two answers were the
// same. Any other data is returned as it is.
func Recorded(q Question, data json.RawMessage) json.RawMessage {
	if len(q.Schema) == 0 || len(data) == 0 {
		return data
	}
	schema, err := CompileSchema(q.Schema)
	if err != nil {
		return data
	}
	if schema.Root().Secret {
		return digest(data)
	}
	names := schema.secretNames()
	if len(names) == 0 {
		return data
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return data
	}
	out, err := json.Marshal(digestNamed(v, names))
	if err != nil {
		return digest(data)
	}
	return out
}

// digestNamed puts digests in the place of the named members at any depth: an answer may wrap its object.
func digestNamed(v any, names map[string]bool) any {
	switch t := v.(type) {
	case map[string]any:
		for k, item := range t {
			if names[k] && item != nil {
				raw, err := json.Marshal(item)
				if err == nil {
					t[k] = digest(raw)
					continue
				}
			}
			t[k] = digestNamed(item, names)
		}
	case []any:
		for i, item := range t {
			t[i] = digestNamed(item, names)
		}
	}
	return v
}

// digest is length and hash of a value: of a text its own, of anything else that of its JSON.
func digest(raw json.RawMessage) json.RawMessage {
	value := []byte(raw)
	var text string
	if json.Unmarshal(raw, &text) == nil {
		value = []byte(text)
	}
	sum := sha256.Sum256(value)
	out, _ := json.Marshal(struct {
		Length int    `json:"length"`
		SHA256 string `json:"sha256"`
	}{len(value), hex.EncodeToString(sum[:])})
	return out
}
