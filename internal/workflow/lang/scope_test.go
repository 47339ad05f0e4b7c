package lang_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/workflow/lang"
)

// state is a scope over a JSON object.
type state map[string]engine.Value

func (s state) Lookup(name string) (engine.Value, bool) {
	v, ok := s[name]
	return v, ok
}

// clocked is a scope with a clock.
type clocked struct {
	state
	at time.Time
}

func (c clocked) Now() time.Time { return c.at }

func stateOf(t testing.TB, object string) state {
	t.Helper()
	var raw map[string]json.RawMessage
	if err := json.Unmarshal([]byte(object), &raw); err != nil {
		t.Fatal(err)
	}
	s := state{}
	for k, v := range raw {
		s[k] = engine.RawValue(v)
	}
	return s
}

// keys are the names of the state that the tests use.
var keys = []string{
	"notes", "since", "amount", "price", "big", "tiny", "names", "items", "empty", "missing", "claim", "urgent",
	"talk", "limit", "value", "when", "html", "umlaut", "count", "text", "none",
}

func names() lang.Names {
	return lang.Names{
		Keys:    keys,
		Answers: map[string][]string{"review": nil, "confirm": {"change", "name"}, "agent": {lang.AnyQuestion}},
		Errors:  []string{"verify"},
	}
}

const object = `{"notes":"Hello","since":"v1","amount":240,"price":12.5,"big":1e21,"tiny":1e-7,"names":["a","b","c"],
"items":[{"n":1,"s":"x"},{"n":2.5,"s":"y"}],"empty":"","claim":{"person":"Ada","amount":"1900"},"urgent":true,
"talk":[{"role":"customer","text":"Hi"},{"role":"human","text":"Yo"}],"limit":100.0,"value":3,
"when":"2026-11-29T18:05:00Z","html":"<a&b>","umlaut":"Grüße","count":0,"text":"one\ntwo\n\nthree","none":[],
"answers":{"review":{"action":"retry","value":null,"comment":"Shorter","by":"ada","at":"2026-11-29T18:00:00Z"},"confirm":null,"agent":{"pay":{"action":"approve","comment":"yes"},"which one":{"comment":"no"}}},
"errors":{"verify":{"message":"exit code 1","ended":"failed","by":"","comment":"","attempts":3,"at":"2026-11-29T18:00:00Z"}},
"run":{"id":"t-1","workflow":"w","started":"2026-11-29T17:00:00Z"}}`

var time0 = time.Date(2026, 11, 29, 18, 0, 0, 0, time.UTC)
