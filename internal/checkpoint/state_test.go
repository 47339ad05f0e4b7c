package checkpoint_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

const (
	set    = checkpoint.OpSet
	list   = checkpoint.OpAppend
	merge  = checkpoint.OpMerge
	remove = checkpoint.OpDelete
)

func TestApply(t *testing.T) {
	for name, c := range map[string]struct {
		have string // "" for no channel
		kind checkpoint.OpKind
		with string
		want string
	}{
		"set is verbatim":               {`1`, set, ` { "a" :1 } `, ` { "a" :1 } `},
		"delete":                        {`1`, remove, ``, ``},
		"delete nothing":                {``, remove, ``, ``},
		"append to nothing":             {``, list, `[1]`, `[1]`},
		"append to null":                {` null `, list, `[1]`, `[1]`},
		"append to an empty list":       {`[ ]`, list, `[ 1 ]`, `[1]`},
		"append nothing":                {`[1 ]`, list, `[ ]`, `[1]`},
		"append nothing to nothing":     {``, list, `[]`, `[]`},
		"append keeps bytes":            {`[ 1.0 , "a" ]`, list, `[ {"b" : [ ]} ,2]`, `[1.0 , "a",{"b" : [ ]} ,2]`},
		"append to a scalar":            {` "a" `, list, `[1]`, `["a",1]`},
		"append to an object":           {`{"a":1}`, list, `[1]`, `[{"a":1},1]`},
		"merge into nothing":            {``, merge, `{ "a" : 1 }`, `{"a":1}`},
		"merge into null":               {`null`, merge, `{}`, `{}`},
		"merge keeps order and values":  {`{ "b" : [ 1 ], "a": {"x":"}"} }`, merge, `{"b": "\"," , "c":2}`, `{"b":"\",","a":{"x":"}"},"c":2}`},
		"merge knows keys by meaning":   {`{"a":1}`, merge, `{"\u0061":2}`, `{"a":2}`},
		"the last of equal keys counts": {`{"a":1,"a":2}`, merge, `{"b":3,"b":4}`, `{"a":2,"b":4}`},
		"merge into a list":             {`[1]`, merge, `{"a":1}`, `{"a":1}`},
		"merge into a scalar":           {`"a"`, merge, `{"a":1}`, `{"a":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			have := checkpoint.Channels{"other": json.RawMessage("0")}
			if c.have != "" {
				have["c"] = json.RawMessage(c.have)
			}
			before := have.Clone()
			got, err := checkpoint.Apply(have, []checkpoint.Op{{Kind: c.kind, Channel: "c", Value: json.RawMessage(c.with)}})
			if err != nil {
				t.Fatal(err)
			}
			if string(got["c"]) != c.want {
				t.Errorf("%s, want %s", got["c"], c.want)
			}
			if string(got["other"]) != "0" || !same(have, before) {
				t.Error("something else changed")
			}
		})
	}
}

func TestApplyRefuses(t *testing.T) {
	for _, op := range []checkpoint.Op{
		{Kind: set}, {Kind: 'x'}, {Kind: list, Value: []byte(`1`)}, {Kind: list, Value: []byte(`{}`)}, {Kind: list}, {Kind: merge, Value: []byte(`[]`)},
		{Kind: merge, Value: []byte(`{"a"}`)}, {Kind: merge, Value: []byte(`{"a":1,}`)}, {Kind: merge, Value: []byte(`{"a":{}`)}, {Kind: merge, Value: []byte(`{a:1}`)},
	} {
		if got, err := checkpoint.Apply(nil, []checkpoint.Op{op}); err == nil {
			t.Errorf("%c %s gave %s", op.Kind, op.Value, got)
		}
	}
}

func same(a, b checkpoint.Channels) bool {
	return maps.EqualFunc(a, b, func(x, y json.RawMessage) bool { return bytes.Equal(x, y) })
}

// FuzzApply splits operations over calls in two ways and wants the same bytes, and JSON where JSON went in.
func FuzzApply(f *testing.F) {
	f.Add(`[1, 2]`, `[3 ]`, `{"a": 1}`, uint8(0))
	f.Add(`{"a" : {"b":"}"}}`, `[]`, `{"\u0061":[]}`, uint8(5))
	f.Add(` null`, `[{"a":"]"}]`, `{}`, uint8(9))
	f.Fuzz(func(t *testing.T, value, items, keys string, order uint8) {
		for _, s := range []string{value, items, keys} {
			if !json.Valid([]byte(s)) {
				t.Skip()
			}
		}
		ops := []checkpoint.Op{{Kind: list, Channel: "c", Value: []byte(items)}, {Kind: merge, Channel: "c", Value: []byte(keys)}}
		var chosen []checkpoint.Op
		for i := range 6 {
			chosen = append(chosen, ops[order>>i&1])
		}
		have := checkpoint.Channels{"c": json.RawMessage(value)}
		whole, err := checkpoint.Apply(have, chosen)
		step := have
		for _, op := range chosen {
			if err != nil {
				break
			}
			var err2 error
			if step, err2 = checkpoint.Apply(step, []checkpoint.Op{op}); err2 != nil {
				t.Fatalf("one by one: %v", err2)
			}
		}
		if err != nil {
			return
		}
		if !same(whole, step) {
			t.Errorf("at once %s, one by one %s", whole["c"], step["c"])
		}
		if !json.Valid(whole["c"]) {
			t.Errorf("%s is no JSON", whole["c"])
		}
	})
}
