package redact_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/redact"
	"pgregory.net/rapid"
)

func rules(t *testing.T, o redact.Options) redact.Rules {
	t.Helper()
	r, err := redact.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestRulesOfOnesOwn(t *testing.T) {
	r := rules(t, redact.Options{
		Keys: []string{"iban", "customer number"}, Except: []string{"pin", "cookie"},
		Patterns: []*regexp.Regexp{regexp.MustCompile(`\b\d{16}\b`)},
	})
	for key, want := range map[string]bool{
		"iban": true, "customer_iban": true, "ownerIBAN": true, "iban_value": true, "ibans": false, "iban_count": false,
		"customerNumber": true, "number": false, "pin": false, "PIN": false, "card_pin": true, "cookie": false, "cookies": true, "token": true,
	} {
		if got := r.Secret(key); got != want {
			t.Errorf("%s: secret is %v", key, got)
		}
	}
	in := `{"iban":{"a":1},"pin":"x","card":4111111111111111,"note":"card 4111111111111111, IBAN=DE02"}`
	want := `{"iban":"[redacted]","pin":"x","card":"[redacted]","note":"card [redacted], IBAN=[redacted]"}`
	if got := string(r.JSON(json.RawMessage(in))); got != want {
		t.Errorf("got %s", got)
	}
	off := redact.Off()
	if got := string(off.JSON(json.RawMessage(in))); got != in || off.Text("PASSWORD=x") != "PASSWORD=x" || off.Secret("password") || !off.IsOff() {
		t.Errorf("rules that are off mask: %s", got)
	}
}

func TestRulesRefuseWhatMasksAllOrNothing(t *testing.T) {
	if _, err := redact.New(redact.Options{Keys: []string{"--"}}); err == nil {
		t.Error("a key without a letter is taken")
	}
	if _, err := redact.New(redact.Options{Except: []string{""}}); err == nil {
		t.Error("an empty exception is taken")
	}
	for _, p := range []string{`x*`, `(`, ``} {
		if _, err := redact.Pattern(p); err == nil {
			t.Errorf("the pattern %q is taken", p)
		}
	}
}

func TestSchemasStayReadable(t *testing.T) {
	in := `{"type":"object","required":["password"],"properties":{"password":{"type":"string","minLength":8,"default":"hunter2","examples":["hunter2"]},"token":"hunter2","name":{"default":"ann"}}}`
	want := `{"type":"object","required":["password"],"properties":{"password":{"type":"string","minLength":8,"default":"[redacted]","examples":"[redacted]"},"token":"[redacted]","name":{"default":"ann"}}}`
	if got := string(redact.Rules{}.JSON(json.RawMessage(in))); got != want {
		t.Errorf("got %s", got)
	}
}

func TestNamedValues(t *testing.T) {
	for in, want := range map[string]string{
		`{"name":"API_KEY","value":"hunter2"}`:                               `{"name":"API_KEY","value":"[redacted]"}`,
		`[{"value":{"password":"a","b":["c"]},"x":"token=y","label":"pin"}]`: `[{"value":"[redacted]","x":"token=[redacted]","label":"pin"}]`,
		`{"key":"author","value":"ann"}`:                                     `{"key":"author","value":"ann"}`,
		`{"name":"pin","value":true}`:                                        `{"name":"pin","value":true}`,
		`{"name":{"a":"pin"},"value":"x"}`:                                   `{"name":{"a":"pin"},"value":"x"}`,
	} {
		if got := string(defaults.JSON(json.RawMessage(in))); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		var v, wanted any
		if json.Unmarshal([]byte(in), &v) != nil || json.Unmarshal([]byte(want), &wanted) != nil || !reflect.DeepEqual(defaults.Value(v), wanted) {
			t.Errorf("%s became %v", in, defaults.Value(v))
		}
	}
}

func TestFields(t *testing.T) {
	var r redact.Rules
	state := map[string]json.RawMessage{"password": json.RawMessage(`["x"]`), "note": json.RawMessage(`"token=x"`), "n": json.RawMessage(`1`)}
	got := r.Fields(state)
	if string(got["password"]) != `"[redacted]"` || string(got["note"]) != `"token=[redacted]"` || string(got["n"]) != `1` {
		t.Errorf("%s", got)
	}
	if string(state["password"]) != `["x"]` {
		t.Error("the argument was altered")
	}
}

// TestNoSecretSurvives plants a secret under a secret key at any depth of any JSON, and says that what is left is JSON
// that differs in nothing else.
func TestNoSecretSurvives(t *testing.T) {
	const planted = "hunter2-planted"
	rapid.Check(t, func(t *rapid.T) {
		var build func(depth int) any
		build = func(depth int) any {
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0:
				return rapid.String().Draw(t, "text")
			case 1:
				return rapid.Float64Range(-1e9, 1e9).Draw(t, "number")
			case 2:
				return nil
			}
			if depth > 3 {
				return true
			}
			if rapid.Bool().Draw(t, "list") {
				return []any{build(depth + 1), build(depth + 1)}
			}
			key := rapid.SampledFrom([]string{"a", "author", "properties", "tokens_used", "weird\"\\key"}).Draw(t, "key")
			return map[string]any{key: build(depth + 1), "db_password": planted, "more": map[string]any{"apiKey": []any{planted}}}
		}
		raw, err := json.Marshal(map[string]any{"root": build(0), "token": planted})
		if err != nil {
			t.Fatal(err)
		}
		out := redact.Rules{}.JSON(raw)
		if !json.Valid(out) || bytes.Contains(out, []byte(planted)) {
			t.Fatalf("%s became %s", raw, out)
		}
		if again := (redact.Rules{}).JSON(out); !bytes.Equal(again, out) {
			t.Fatalf("%s became %s", out, again)
		}
		var whole any
		if err := json.Unmarshal(raw, &whole); err != nil {
			t.Fatal(err)
		}
		value, err := json.Marshal(redact.Rules{}.Value(whole))
		if err != nil || bytes.Contains(value, []byte(planted)) {
			t.Fatalf("%s, %v", value, err)
		}
	})
}

func TestError(t *testing.T) {
	var r redact.Rules
	err := r.Error(&fs.PathError{Op: "open", Path: "token=abc", Err: fs.ErrNotExist})
	if strings.Contains(err.Error(), "abc") || !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	if plain := errors.New("plain"); r.Error(plain) != plain || r.Error(nil) != nil {
		t.Error("an error without a secret is not itself")
	}
}

func TestHandler(t *testing.T) {
	const secret = "hunter2"
	var b bytes.Buffer
	log := slog.New(redact.Rules{}.Handler(slog.NewTextHandler(&b, nil)))
	log.With("token", secret).WithGroup("g").Error("login with password="+secret, "password", secret, "text", "PIN: "+secret,
		"err", errors.New("token="+secret), "raw", json.RawMessage(`{"secret":"`+secret+`"}`), "bytes", []byte("api_key="+secret),
		"struct", struct{ Password string }{secret}, slog.Group("deep", "cookie", secret, "n", 1), "ok", true)
	if got := b.String(); strings.Contains(got, secret) || !strings.Contains(got, "deep.n=1") || !strings.Contains(got, "g.ok=true") {
		t.Error(got)
	}
}

func BenchmarkJSON(b *testing.B) {
	text := strings.Repeat("A line of prose, as it stands in a draft: with a colon, a sum (a = b) and so on.\n", 12000)
	raw, err := json.Marshal(map[string]any{"content": text, "author": "ann"})
	if err != nil {
		b.Fatal(err)
	}
	var rows []any
	for range 8000 {
		rows = append(rows, map[string]any{"id": 12345, "title": "A title: short", "author": "ann", "url": "https://example.com/a?b=c", "tokens_used": 17})
	}
	table, err := json.Marshal(rows)
	if err != nil {
		b.Fatal(err)
	}
	for name, raw := range map[string][]byte{"prose": raw, "table": table} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				redact.Rules{}.JSON(raw)
			}
		})
	}
}
