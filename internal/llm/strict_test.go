package llm

import (
	"encoding/json"
	"testing"
)

func TestStrict(t *testing.T) {
	for schema, want := range map[string]bool{
		`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"],"additionalProperties":false}`:                                                               true,
		`{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}`:                                                                                            false,
		`{"type":"object","properties":{"n":{"type":"integer"}},"additionalProperties":false}`:                                                                                false,
		`{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"required":["n"],"additionalProperties":false}`:                                                   false,
		`{"type":"object","properties":{"l":{"type":"array","items":{"enum":["a"]}}},"required":["l"],"additionalProperties":false}`:                                          true,
		`{"type":"object","properties":{"l":{"type":"array","items":{"type":"object"}}},"required":["l"],"additionalProperties":false}`:                                       false,
		`{"type":"object","properties":{"p":{"anyOf":[{"$ref":"#/$defs/p"},{"type":"null"}]}},"required":["p"],"additionalProperties":false,"$defs":{"p":{"type":"string"}}}`: true,
		`{"type":"object"}`: false,
		`true`:              false,
		`{`:                 false,
	} {
		if got := strict(json.RawMessage(schema)); got != want {
			t.Errorf("%s: got %t", schema, got)
		}
	}
}
