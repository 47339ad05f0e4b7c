package redact_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/redact"
)

// defaults are the rules without any configuration.
var defaults redact.Rules

func TestSecret(t *testing.T) {
	for _, key := range []string{"authorization", "Authorization", "api_key", "apiKey", "API-KEY", "x-api-key", "APIKey", "apikey", "token", "access_token",
		"accessToken", "refresh-token", "secret", "client_secret", "password", "db_password", "PGPASSWORD_password", "cookie", "Set-Cookie",
		"session_id", "private_key", "aws_secret_access_key", "credentials", "auth_header", "token_value", "password_hash", "access_tokens", "HTTPAuthorization"} {
		if !defaults.Secret(key) {
			t.Errorf("%s is not taken for a secret", key)
		}
	}
	for _, key := range []string{"", "author", "authors", "authority", "tokens_used", "tokens", "total_tokens", "max_tokens", "token_count", "tokenizer", "key",
		"keys", "primary_key", "keyboard", "monkey", "secretary", "password_policy", "cookies_enabled", "passenger", "compass", "bypass_mode", "id", "pinned",
		"response_id", "state_key", "content_key", "secrets_found"} {
		if defaults.Secret(key) {
			t.Errorf("%s is taken for a secret", key)
		}
	}
}

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"nothing to hide: author=ann":                                            "nothing to hide: author=ann",
		"Authorization: Bearer abcdefghijklmnop":                                 "Authorization: Bearer [redacted]",
		"curl -u x https://ann:hunter2@example.com/a":                            "curl -u x https://ann:[redacted]@example.com/a",
		"postgres://app:s3cr3t@db/x":                                             "postgres://app:[redacted]@db/x",
		"PASSWORD=hunter2 make":                                                  "PASSWORD=[redacted] make",
		`api_key: "abc def" next`:                                                "api_key: [redacted] next",
		"Set-Cookie: sid=abc; theme=dark\nx":                                     "Set-Cookie: [redacted]\nx",
		`{'password': 'hunter2'}`:                                                `{'password': [redacted]}`,
		"tokens_used=12":                                                         "tokens_used=12",
		"key AKIAIOSFODNN7EXAMPLE.":                                              "key [redacted].",
		"ghp_" + strings.Repeat("a", 36):                                         "[redacted]",
		"eyJhbGciOiJI.eyJzdWIiOiIx.abc-def":                                      "[redacted]",
		"-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\nx": "[redacted]\nx",
		"https://example.com:8080/a":                                             "https://example.com:8080/a",
		`{"password": {"a": "hunter2"}, "user": "ann"}`:                          `{"password": "[redacted]", "user": "ann"}`,
		`said {"password":"a \" b"} then`:                                        `said {"password":[redacted]} then`,
		`"{\"password\":\"hunter2\"}" then`:                                      `"{\"password\":[redacted]}" then`,
		`password: "hunter2 and on`:                                              `password: [redacted]`,
		"Authorization: Token abc123":                                            "Authorization: Token [redacted]",
		"Authorization: Bearer short":                                            "Authorization: Bearer [redacted]",
		"authorization=abc def\nx":                                               "authorization=abc [redacted]\nx",
		"login --user ann --password hunter2 -v":                                 "login --user ann --password [redacted] -v",
		`["login", "--token", "hunter2"] ran`:                                    `["login", "--token", [redacted]] ran`,
		"https://example.com/a?user=ann&access_token=abc&x=1":                    "https://example.com/a?user=ann&access_token=[redacted]&x=1",
		"token := os.Args[1]":                                                    "token := [redacted]",
		"PASSWORD=[redacted]":                                                    "PASSWORD=[redacted]",
		"Authorization: Bearer [redacted]":                                       "Authorization: Bearer [redacted]",
		"password:":                                                              "password:",
		"a - b -- c --password":                                                  "a - b -- c --password",
	} {
		got := defaults.Text(in)
		if got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
		if again := defaults.Text(got); again != got {
			t.Errorf("%q is masked to %q, and that again to %q", in, got, again)
		}
	}
}

func TestValueLeavesItsArgumentAlone(t *testing.T) {
	source := `{"user":"ann","password":"x","deep":[{"api_key":{"a":1},"n":1}],"token":null,"secret":"","cookie":true,"note":"Bearer abcdefghijklmnop"}`
	var v, before any
	for _, to := range []*any{&v, &before} {
		if err := json.Unmarshal([]byte(source), to); err != nil {
			t.Fatal(err)
		}
	}
	got := defaults.Value(v)
	if diff := cmp.Diff(before, v); diff != "" {
		t.Error("the argument was altered:", diff)
	}
	want := map[string]any{"user": "ann", "password": redact.Mask, "deep": []any{map[string]any{"api_key": redact.Mask, "n": 1.0}}, "token": nil,
		"secret": "", "cookie": true, "note": "Bearer " + redact.Mask}
	if diff := cmp.Diff(any(want), got); diff != "" {
		t.Error(diff)
	}
}

func TestJSONKeepsOrderAndSpelling(t *testing.T) {
	in := `{ "z": 1.10, "password": [1,2], "a": {"big": 12345678901234567890, "Cookie": "x"}, "t": "<&>" }`
	before := in
	got := string(defaults.JSON(json.RawMessage(in)))
	if want := `{ "z": 1.10, "password": "[redacted]", "a": {"big": 12345678901234567890, "Cookie": "[redacted]"}, "t": "<&>" }`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if in != before {
		t.Error("the argument was altered")
	}
	for broken, want := range map[string]string{`{"password":"x"`: "", "PASSWORD=x": `"PASSWORD=[redacted]"`, `1 2`: `"1 2"`, `x`: `"x"`} {
		out := defaults.JSON(json.RawMessage(broken))
		if !json.Valid(out) || want != "" && string(out) != want {
			t.Errorf("%s became %s", broken, out)
		}
	}
	if out := string(defaults.JSON(json.RawMessage(`{"password":"hunter2"`))); strings.Contains(out, "hunter2") {
		t.Errorf("%s", out)
	}
}
