package config_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hitl-tui/hitl-tui/internal/config"
	"github.com/hitl-tui/hitl-tui/internal/llm"
	"github.com/hitl-tui/hitl-tui/internal/redact"
)

func TestParse(t *testing.T) {
	got, err := config.Parse("/home/ann/.config/hitl-tui/config.yaml", "\ufeff"+`# mine
store: sqlite:~/desk.db   # at home
reviewer: 010
theme: "high-contrast"
workflows: [flows, ~/work, /srv/flows]
keys:
  inbox:
    approve: [a, "1"]
    reject: r
  pane: {send: ctrl+s, close: []}
grace: 1m30s
retention:
  older_than: 30d
  finished_before: 12w
`, "/home/ann")
	if err != nil {
		t.Fatal(err)
	}
	grace := 90 * time.Second
	want := &config.Config{
		File: "/home/ann/.config/hitl-tui/config.yaml", Store: "sqlite:/home/ann/desk.db", Reviewer: "010", Theme: "high-contrast",
		Workflows: []string{"/home/ann/.config/hitl-tui/flows", "/home/ann/work", "/srv/flows"},
		Keys:      config.Keys{"inbox": {"approve": {"a", "1"}, "reject": {"r"}}, "pane": {"send": {"ctrl+s"}, "close": {}}},
		Grace:     &grace,
		Retention: config.Retention{OlderThan: 30 * 24 * time.Hour, FinishedBefore: 12 * 7 * 24 * time.Hour},
	}
	if diff := cmp.Diff(want, got, sameRules()); diff != "" {
		t.Error(diff)
	}
}

// sameRules compares rules of redaction by what they were made of.
func sameRules() cmp.Option {
	return cmp.Comparer(func(a, b redact.Rules) bool { return reflect.DeepEqual(a, b) })
}

func TestRedact(t *testing.T) {
	got, err := config.Parse("c.yaml", `redact:
  keys: [iban, "customer number"]
  except: pin
  patterns:
    - '\bDE\d{20}\b'
`, "/home/ann")
	if err != nil {
		t.Fatal(err)
	}
	r := got.Redact
	if !r.Secret("customer_iban") || r.Secret("pin") || !r.Secret("password") || r.Text("to DE12345678901234567890") != "to [redacted]" {
		t.Errorf("%+v", r)
	}
	got, err = config.Parse("c.yaml", "redact: off\n", "/home/ann")
	if err != nil || !got.Redact.IsOff() {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestModels(t *testing.T) {
	got, err := config.Parse("c.yaml", `models:
  default: small
  small: {wire: openai, url: "http://localhost:11434/v1", model: "llama3.2:1b"}
  large:
    wire: anthropic
    model: claude-sonnet-4-5
    key_env: ANTHROPIC_API_KEY
    max_tokens: 8000
`, "/home/ann")
	if err != nil {
		t.Fatal(err)
	}
	small := llm.Model{Name: "small", Wire: llm.OpenAI, URL: "http://localhost:11434/v1", Model: "llama3.2:1b"}
	large := llm.Model{Name: "large", Wire: llm.Anthropic, Model: "claude-sonnet-4-5", KeyEnv: "ANTHROPIC_API_KEY", MaxTokens: 8000}
	if diff := cmp.Diff(map[string]llm.Model{"default": small, "small": small, "large": large}, got.Models); diff != "" {
		t.Error(diff)
	}
	got, err = config.Parse("c.yaml", "models: {default: {wire: openai, model: gpt, key_env: K}}", "/home/ann")
	if want := (llm.Model{Name: "default", Wire: llm.OpenAI, Model: "gpt", KeyEnv: "K"}); err != nil || got.Models["default"] != want {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestAKeyInTheFileIsNotRepeated: what a fault says goes to terminals and logs.
func TestAKeyInTheFileIsNotRepeated(t *testing.T) {
	const key = "sk-proj-0123456789abcdef"
	for member, fault := range map[string]string{
		"key: " + key:                      "c.yaml:4:5: models.a.key: a key does not stand in a file: give key_env, the name of the environment variable that holds it",
		"api_key: " + key:                  "c.yaml:4:5: models.a.api_key: a key does not stand in a file",
		"key_env: " + key:                  "c.yaml:4:14: models.a.key_env must be the name of an environment variable, such as OPENAI_API_KEY",
		"url: https://x/v1?key=" + key:     "c.yaml:4:10: models.a.url: an address ends with its path: a key stands in no file and is named by key_env",
		"url: https://me:" + key + "@x/v1": "models.a.url: an address ends with its path",
		"openai_api_key: " + key:           `c.yaml:4:5: unknown key "openai_api_key"`,
	} {
		_, err := config.Parse("c.yaml", "models:\n  a:\n    wire: openai\n    "+member+"\n    model: m\n", "/home/ann")
		if err == nil || !strings.Contains(err.Error(), fault) || strings.Contains(err.Error(), key) {
			t.Errorf("%s: %v\nwants %s", member, err, fault)
		}
	}
}

func TestParseNothing(t *testing.T) {
	for _, text := range []string{"", "\n", "# only a comment\n", "---\n"} {
		got, err := config.Parse("c.yaml", text, "/home/ann")
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if diff := cmp.Diff(&config.Config{File: "c.yaml"}, got, sameRules()); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}

func TestRulesHooksAndViews(t *testing.T) {
	got, err := config.Parse("/etc/c.yaml", `rules:
  - name: small
    when: workflow == "expenses" && content.amount < 50
    action: Approve
    grace: 30s
  - name: pick
    when: kind == "choice"
    action: choose
    data: {choice: 2, why: "2", deep: [true, 1.50, x]}
hooks:
  - {name: tell, run: [~/bin/tell, --loud]}
  - {name: urgent, when: priority == "urgent", run: [notify-send, asked], timeout: 5s}
views:
  - {name: mine, filter: "assignee:ann older:1d", tab: waiting, sort: updated}
`, "/home/ann")
	if err != nil {
		t.Fatal(err)
	}
	want := &config.Config{
		File: "/etc/c.yaml",
		Rules: []config.Rule{
			{Name: "small", When: config.Expression{Text: `workflow == "expenses" && content.amount < 50`, Line: 3, Column: 11}, Action: "approve", Grace: 30 * time.Second},
			{Name: "pick", When: config.Expression{Text: `kind == "choice"`, Line: 7, Column: 11}, Action: "choose",
				Data: json.RawMessage(`{"choice":2,"deep":[true,1.50,"x"],"why":"2"}`)},
		},
		Hooks: []config.Hook{
			{Name: "tell", Run: []string{"/home/ann/bin/tell", "--loud"}, Timeout: config.DefaultHookTimeout},
			{Name: "urgent", When: config.Expression{Text: `priority == "urgent"`, Line: 12, Column: 26}, Run: []string{"notify-send", "asked"}, Timeout: 5 * time.Second},
		},
		Views: []config.View{{Name: "mine", Filter: "assignee:ann older:1d", Tab: "waiting", Sort: "updated"}},
	}
	if diff := cmp.Diff(want, got, sameRules(), cmpopts.IgnoreUnexported(config.Expression{})); diff != "" {
		t.Error(diff)
	}
}

// A fault in a condition is told at its place, however the condition is written.
func TestExpressionFault(t *testing.T) {
	for text, want := range map[string]string{
		"rules: [{name: r, action: skip, when: kind == bad}]":                                      "1:47",
		"rules: [{name: r, action: skip, when: \"kind == bad\"}]":                                  "1:48",
		"rules: [{name: r, action: skip, when: 'kind == bad'}]":                                    "1:48",
		"rules:\n  - name: r\n    action: skip\n    when: é == bad\n":                              "4:16",
		"rules:\n  - name: r\n    action: skip\n    when: |\n      kind ==\n        bad\n":         "6:9",
		"rules:\n  - name: r\n    action: skip\n    when: \"kind\\t== bad\"\n":                     "4:11",
		"rules:\n  - name: r\n    action: skip\n    when: >\n      kind ==\n      bad and so on\n": "",
	} {
		c, err := config.Parse("c.yaml", text, "/home/ann")
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		e := c.Rules[0].When
		f := e.Fault(strings.Index(e.Text, "bad"), "unknown")
		if got := fmt.Sprintf("%d:%d", f.Line, f.Column); want != "" && got != want {
			t.Errorf("%s: at %s, want %s", text, got, want)
		}
		if f.Excerpt == "" || f.Line < 1 {
			t.Errorf("%s: no line is shown: %+v", text, f)
		}
	}
}

func TestScreen(t *testing.T) {
	c, err := config.Parse("c.yaml", "mouse: false\nbell: true\nreduced_motion: true\n", "/home/ann")
	if err != nil {
		t.Fatal(err)
	}
	s := c.Screen
	if s.Mouse == nil || *s.Mouse || s.Bell == nil || !*s.Bell || s.ReducedMotion == nil || !*s.ReducedMotion || s.Notify != nil || s.Accessible != nil {
		t.Errorf("%+v", s)
	}
	if _, err := config.Parse("c.yaml", "mouse: off", "/home/ann"); err == nil || !strings.Contains(err.Error(), `1:8: mouse must be true or false, not "off"`) {
		t.Error(err)
	}
}

func TestParseFaults(t *testing.T) {
	for text, fault := range map[string]string{
		"them: dark":                   `c.yaml:1:1: unknown key "them"; did you mean "theme"?`,
		"theme:":                       "1:1: theme has no value",
		"theme: ~":                     "theme has no value",
		"theme: ''":                    "1:8: theme is empty",
		"theme: [a]":                   "theme must be a text, not a list",
		"- theme":                      "the configuration must be a mapping, not a list",
		"just text":                    "the configuration must be a mapping, not a text",
		"grace: 5":                     `grace: "5" needs a unit: 5s, 5m or 5h`,
		"grace: {a: 1}":                "grace must be a text",
		"retention: 30d":               "retention must be a mapping",
		"retention: {older_then: 30d}": `did you mean "older_than"?`,
		"retention: {older_than: 0s}":  "longer than nothing",
		"keys: {inbox: a}":             "keys.inbox must be a mapping of commands",
		"keys: {inbox: {approve: {}}}": "keys.inbox.approve must be a text",
		"rules: {a: b}":                "rules must be a list, not a mapping",
		"rules: [{name: a}]":           "rules[0] needs when",
		"rules: [{name: a b, when: x, action: approve}]":                                   `"a b" cannot be a name`,
		"rules: [{name: a, when: x, action: aprove}]":                                      `unknown action "aprove"; did you mean "approve"?`,
		"rules: [{name: a, when: x, action: approve}, {name: a, when: y, action: reject}]": `another one is called "a"`,
		"rules: [{name: a, when: x, action: approve, grace: 0s}]":                          "grace must be longer than nothing",
		"rules: [{name: a, wehn: x, action: approve}]":                                     `did you mean "when"?`,
		"rules: [{name: a, when: x, action: choose, data: 0x1F}]":                          "no number that JSON has",
		"hooks: [{name: a, run: notify-send}]":                                             "the program, then its arguments",
		"hooks: [{name: a, run: []}]":                                                      "the program, then its arguments",
		"hooks: [a]":                                                                       "hooks[0] must be a mapping, not a text",
		"views: [{name: a, tab: wating}]":                                                  `did you mean "waiting"?`,
		"views: [{filter: x}]":                                                             "views[0] needs name",
		"redact: on":                                                                       `1:9: redact must be a mapping {keys, except, patterns}, or off, not "on"`,
		"redact: [iban]":                                                                   "redact must be a mapping",
		"redact: {key: [iban]}":                                                            `did you mean "keys"? (the keys are keys, except, patterns)`,
		"redact: {keys: [iban, '--']}":                                                     `1:23: redact.keys: "--" is no name of a key`,
		"redact:\n  patterns:\n  - a\n  - 'b('":                                            "c.yaml:4:5: redact.patterns: error parsing regexp: missing closing ): `b(`",
		"redact: {patterns: 'x*'}":                                                         `the pattern "x*" matches the empty text`,
		"redact: {except: {a: b}}":                                                         "redact.except must be a text, not a mapping",
		"hooks: {a: b}":                                                                    "hooks must be a list, not a mapping",
		"models: [a]":                                                                      "models must be a mapping of names, not a list",
		"models: {default: x}":                                                             `1:19: models.default: no model is called "x"`,
		"models: {a: x}":                                                                   "1:13: models.a must be a mapping {wire, model, ...}, not a text",
		"models: {a: {wire: openai}}":                                                      "1:14: models.a needs model",
		"models: {a: {model: m}}":                                                          "models.a needs wire",
		"models: {\"a b\": {}}":                                                            `"a b" cannot be the name of a model`,
		"models: {a: {wire: opnai, model: m}}":                                             `1:20: models.a.wire: unknown wire "opnai"; did you mean "openai"? (known are openai, anthropic)`,
		"models: {a: {wire: openai, modle: m}}":                                            `unknown key "modle"; did you mean "model"? (the keys are wire, url, model, key_env, max_tokens)`,
		"models: {a: {wire: openai, model: m, max_tokens: many}}":                          `models.a.max_tokens must be a whole number from 1, not "many"`,
		"models: {a: {wire: openai, model: m, url: localhost:11434}}":                      "1:43: models.a.url: it must be an address such as http://localhost:11434/v1",
		"models: {a: {wire: openai, model: m, url: \"https://x/v1/chat/completions\"}}": "write https://x/v1",
		"models: {smal: {wire: openai, model: m}, default: small}":                      `no model is called "small"; did you mean "smal"?`,
		"theme: a\ntheme: b":                 "already defined",
		"theme: &x a\nreviewer: *x":          "anchors",
		"theme: !!str a":                     "tags are not read",
		"theme: a\n---\ntheme: b":            "3:1: a file holds one configuration",
		"theme: [":                           "c.yaml:1:",
		"theme: " + strings.Repeat("[", 100): "nested deeper than 64 levels",
		"# " + strings.Repeat("x", 1<<20):    "the limit is 1048576",
	} {
		_, err := config.Parse("c.yaml", text, "/home/ann")
		var bad *config.Error
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), fault) {
			t.Errorf("%.60q: %v\nwants %q", text, err, fault)
		}
	}
}

func TestAllFaultsAreReportedWithTheirLines(t *testing.T) {
	_, err := config.Parse("c.yaml", "reviewer: ann\ngrace: soon\nkeys: 5\n  # end\nthem: d\x1bark\n", "/home/ann")
	if err == nil {
		t.Fatal("no error")
	}
	want := `c.yaml:2:8: grace: "soon" is no duration: write 90s, 1h30m or 2d
  2 | grace: soon
    |        ^
c.yaml:3:7: keys must be a mapping of scopes, not a text
  3 | keys: 5
    |       ^
c.yaml:5:1: unknown key "them"; did you mean "theme"? (the keys are store, reviewer, theme, mouse, bell, notify, reduced_motion, ascii, accessible, workflows, keys, grace, retention, redact, models, rules, hooks, views)
  5 | them: d^[ark
    | ^`
	if diff := cmp.Diff(want, err.Error()); diff != "" {
		t.Error(diff)
	}
}

func TestLoad(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "config.yaml")
	if got, err := config.Load(missing, "/home/ann", false); err != nil || got.File != "" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err := config.Load(missing, "/home/ann", true); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if err := os.WriteFile(missing, []byte("theme: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := config.Load(missing, "/home/ann", true); err != nil || got.Theme != "x" {
		t.Errorf("%+v, %v", got, err)
	}
}

func env(pairs map[string]string) config.Env {
	return func(name string) (string, bool) { v, ok := pairs[name]; return v, ok }
}

func TestFindPaths(t *testing.T) {
	got, err := config.FindPaths(env(map[string]string{"HOME": "/home/ann", "XDG_DATA_HOME": "/data", "XDG_STATE_HOME": "relative", "XDG_CONFIG_HOME": ""}))
	if err != nil {
		t.Fatal(err)
	}
	want := config.Paths{Home: "/home/ann", Config: "/home/ann/.config/hitl-tui", Data: "/data/hitl-tui", State: "/home/ann/.local/state/hitl-tui"}
	if got != want {
		t.Errorf("got %+v", got)
	}
	if got.Store() != "sqlite:/data/hitl-tui/desk.db" || got.ConfigFile() != "/home/ann/.config/hitl-tui/config.yaml" {
		t.Errorf("%s, %s", got.Store(), got.ConfigFile())
	}
	if _, err := config.FindPaths(env(nil)); err == nil || !strings.Contains(err.Error(), "HOME") {
		t.Errorf("%v", err)
	}
	all := map[string]string{"XDG_DATA_HOME": "/d", "XDG_STATE_HOME": "/s", "XDG_CONFIG_HOME": "/c"}
	if _, err := config.FindPaths(env(all)); err != nil {
		t.Error("a home is asked for although none is needed:", err)
	}
}

func TestResolve(t *testing.T) {
	e := env(map[string]string{"HITL_TUI_THEME": "env", "HITL_TUI_EMPTY": ""})
	for _, tc := range []struct {
		setting config.Setting
		value   string
		origin  config.Origin
	}{
		{config.Setting{Flag: "flag", EnvName: "HITL_TUI_THEME", File: "file", Default: "default"}, "flag", config.FromFlag},
		{config.Setting{EnvName: "HITL_TUI_THEME", File: "file", Default: "default"}, "env", config.FromEnv},
		{config.Setting{EnvName: "HITL_TUI_EMPTY", File: "file", Default: "default"}, "file", config.FromFile},
		{config.Setting{EnvName: "HITL_TUI_STORE", Default: "default"}, "default", config.FromDefault},
	} {
		if value, origin := config.Resolve(e, tc.setting); value != tc.value || origin != tc.origin {
			t.Errorf("%+v: %s from %s", tc.setting, value, origin)
		}
	}
}

func TestMakePrivate(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := config.MakePrivate(dir); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if info, err := os.Stat(d); err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", d, info.Mode(), err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var loose *config.LooseError
	if err := config.MakePrivate(dir); !errors.As(err, &loose) || loose.Mode != 0o755 {
		t.Errorf("%v", err)
	}
}

func TestSystemUser(t *testing.T) {
	name, err := config.SystemUser(env(map[string]string{"USER": "ann"}))
	if err != nil || name == "" {
		t.Errorf("%q, %v", name, err)
	}
}

func TestResolveSwitch(t *testing.T) {
	yes, no := true, false
	for _, tc := range []struct {
		env    string
		file   *bool
		start  bool
		want   bool
		origin config.Origin
		fails  bool
	}{
		{"", nil, false, false, config.FromDefault, false},
		{"", nil, true, true, config.FromDefault, false},
		{"", &no, true, false, config.FromFile, false},
		{"1", &no, false, true, config.FromEnv, false},
		{"Off", &yes, true, false, config.FromEnv, false},
		{"perhaps", &yes, true, false, config.FromEnv, true},
	} {
		env := func(name string) (string, bool) { return tc.env, name == "HITL_TUI_X" && tc.env != "" }
		got, origin, err := config.ResolveSwitch(env, config.Switch{EnvName: "HITL_TUI_X", File: tc.file, Default: tc.start})
		if got != tc.want || origin != tc.origin || (err != nil) != tc.fails {
			t.Errorf("%+v: %v from %s, %v", tc, got, origin, err)
		}
	}
}
