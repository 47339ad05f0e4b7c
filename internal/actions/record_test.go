package actions_test

import (
	"encoding/json"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

func TestRecorded(t *testing.T) {
	const digest = `{"length":7,"sha256":"f52fbd32b2b3b86ff88ef6c490628285f482af15ddcb29541f94bcf526a3f6c7"}` // of hunter2
	const schema = `{"type":"object","properties":{"user":{"type":"string"},"pin":{"type":"string","writeOnly":true},"deep":{"type":"object","properties":{"pw":{"type":"string","format":"password"}}}}}`
	for _, c := range []struct{ schema, data, want string }{
		{schema, `{"user":"ann","pin":"hunter2","n":12345678901234567890}`, `{"n":12345678901234567890,"pin":` + digest + `,"user":"ann"}`},
		{schema, `{"edited":{"pin":"hunter2","deep":{"pw":"hunter2"}},"comment":"x"}`, `{"comment":"x","edited":{"deep":{"pw":` + digest + `},"pin":` + digest + `}}`},
		{schema, `{"pin":null}`, `{"pin":null}`},
		{schema, `"too long"`, `"too long"`},
		{schema, ``, ``},
		{`{"type":"string","format":"password"}`, `"hunter2"`, digest},
		{`{"type":"object","properties":{"user":{"type":"string"}}}`, `{ "user" : "ann" }`, `{ "user" : "ann" }`},
		{``, `{"pin":"hunter2"}`, `{"pin":"hunter2"}`},
	} {
		q := actions.Question{Schema: json.RawMessage(c.schema)}
		if got := actions.Recorded(q, json.RawMessage(c.data)); string(got) != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.data, got, c.want)
		}
	}
}
