package actions_test

import (
	"encoding/json"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

func TestIsSecret(t *testing.T) {
	for schema, want := range map[string]bool{
		`{"properties":{"key":{"type":"string","writeOnly":true}}}`:                                                                    true,
		`{"properties":{"key":{"type":"string","format":"password"}}}`:                                                                 true,
		`{"properties":{"a":{"type":"object","properties":{"b":{"type":"string","writeOnly":true}}}}}`:                                 true,
		`{"properties":{"a":{"$ref":"#/$defs/k"}},"$defs":{"k":{"type":"string","format":"password"}}}`:                                true,
		`{"properties":{"keys":{"type":"array","items":{"type":"object","properties":{"k":{"type":"string","writeOnly":true}}}}}}`:     true,
		`{"properties":{"keys":{"type":"array","items":{"type":"string","format":"password"}}}}`:                                       true,
		`{"properties":{"by":{"oneOf":[{"type":"object","properties":{"k":{"type":"string","writeOnly":true}}},{"type":"integer"}]}}}`: true,
		`{"properties":{"key":{"anyOf":[{"type":"string","writeOnly":true},{"type":"null"}]}}}`:                                        true,
		`{"properties":{"next":{"$ref":"#"}}}`:                                                                                         false,
		`{"properties":{"key":{"type":"string"}}}`:                                                                                     false,
		`{"type":"string","writeOnly":true}`:                                                                                           true,
		`{"properties":{"writeOnly":{"type":"string"}}}`:                                                                               false,
		`{"broken`: false,
		``:         false,
	} {
		q := actions.Question{Kind: actions.FormKind, Schema: json.RawMessage(schema)}
		if q.IsSecret() != want {
			t.Errorf("%s: secret %v", schema, !want)
		}
	}
}

func TestMendSchema(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"string","enum":["a","b"],"enumNames":["A","B"]}`:                                                    `{"type":"string","oneOf":[{"const":"a","title":"A"},{"const":"b","title":"B"}]}`,
		`{"type":"string","enum":["a","b"],"enumNames":["A"]}`:                                                        `{"type":"string","enum":["a","b"]}`,
		`{"properties":{"n":{"type":"number","nullable":true,"x-y":1}},"anyOf":[{"discriminator":{}}],"not":{"z":1}}`: `{"properties":{"n":{"type":"number","x-y":1}},"anyOf":[{}],"not":{}}`,
		`{"properties":{"nullable":{"type":"string"}},"allOf":5,"items":true}`:                                        `{"properties":{"nullable":{"type":"string"}},"allOf":5,"items":true}`,
		`{broken`: `{broken`,
		`[1]`:     `[1]`,
	} {
		if got := string(actions.MendSchema(json.RawMessage(schema))); got != want {
			t.Errorf("%s\n  becomes %s\nwant      %s", schema, got, want)
		}
	}
}
