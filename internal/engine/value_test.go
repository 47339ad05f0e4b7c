package engine

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzValue: any JSON keeps its meaning through decoding and encoding, and is then at rest.
func FuzzValue(f *testing.F) {
	for _, seed := range []string{`null`, `-0`, `1.50`, `1e400`, `9223372036854775808`, `"\u003c<"`, `{"a":[1,2.0,{"b":null}]}`, `[]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		v, err := ValueOf(json.RawMessage(raw))
		if err != nil {
			return
		}
		again, err := ValueOf(v.Any())
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		if diff := cmp.Diff(string(encode(v.Any())), string(again.JSON())); diff != "" {
			t.Fatalf("%s changes: %s", raw, diff)
		}
		third := RawValue(again.JSON())
		if !bytes.Equal(encode(third.Any()), again.JSON()) {
			t.Fatalf("%s is %s, then %s", raw, again.JSON(), encode(third.Any()))
		}
	})
}

// TestNumbersNothingCanHold: decoded they would be null without a word.
func TestNumbersNothingCanHold(t *testing.T) {
	long := strings.Repeat("9", 400)
	for raw, ok := range map[string]bool{
		`1e400`: false, `[{"a":-1e999}]`: false, long: false, `"1e400"`: true, `["\"",1e308,"\\"]`: true, `1e-400`: true,
		`{"1e400":12345678901234567890123}`: true, `{"a\"1e400":[1e400]}`: false,
	} {
		if v, err := ValueOf(json.RawMessage(raw)); (err == nil) != ok {
			t.Errorf("%s: %v, %v", raw, v.Any(), err)
		}
	}
}

func TestAValueMayBeReadFromManySides(t *testing.T) {
	raw, plain := RawValue(json.RawMessage(`{"a":[1,2]}`)), known(map[string]any{"a": []any{1, 2}})
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if !cmp.Equal(raw.Any(), plain.Any()) || string(raw.JSON()) != string(plain.JSON()) {
				t.Error("they differ")
			}
		})
	}
	all.Wait()
}
