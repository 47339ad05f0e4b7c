package node

import (
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/engine"
)

func FuzzReply(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"output":1,"state":{"a":[]},"route":"x","closed":["open"]}`, `{"interrupts":[{"key":"a","payload":null}]}`,
		`{"interrupts":[{"key":"a","kind":"text","message":"m","timeout":"1h"}]}`, `{"output":1}{}`, `[`, `null`, `{"state":{"b":1}}`, "\xff", `{"a":1,"a":2}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, stdout []byte) {
		r := reply{keys: []string{"a"}, open: []string{"open"}}
		result, err := r.read(stdout)
		if err != nil {
			return
		}
		for key := range result.Updates {
			if key != "a" {
				t.Errorf("%q writes %q", stdout, key)
			}
		}
		seen := map[string]bool{}
		for _, ask := range result.Interrupts {
			if ask.Key == "" || ask.Payload == nil || seen[ask.Key] {
				t.Errorf("%q asks %+v", stdout, ask)
			}
			seen[ask.Key] = true
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a\n", "a,b\n1,2\n", `{"a":[1e9]}`, "\"x", "\xff", "\uFEFFa\n", "a\r\nb", "1e999"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, output []byte) {
		for _, as := range []Parse{ParseText, ParseRaw, ParseLines, ParseJSON, ParseCSV} {
			v, err := parse(as, output)
			if err != nil {
				continue
			}
			if _, err := engine.ValueOf(v.Any()); err != nil {
				t.Errorf("%s %q: %s cannot be kept: %v", as, output, v.JSON(), err)
			}
		}
	})
}
