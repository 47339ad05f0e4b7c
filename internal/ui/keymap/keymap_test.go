package keymap

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"pgregory.net/rapid"
)

func TestEveryDefaultKeyResolves(t *testing.T) {
	m := Default()
	for _, c := range command.Table() {
		for _, k := range c.Keys {
			if got, ok := m.Resolve(tuitest.Key(k), c.Scope()); !ok || got != c.ID {
				t.Errorf("%s in %s gives %q, want %s", k, c.Scope(), got, c.ID)
			}
			if n, err := Normalise(k); err != nil || n != k {
				t.Errorf("Normalise(%q) = %q, %v", k, n, err)
			}
		}
	}
}

func TestInnerScopeWins(t *testing.T) {
	m := Default()
	for _, tc := range []struct {
		key   string
		focus command.Scope
		want  command.ID
	}{
		{"enter", command.Review, command.OpenQuestion}, {"enter", command.Question, command.ActionsMenu},
		{"a", command.Question, command.ForAction("approve")}, {"q", command.Question, command.Close},
		{"a", command.Editor, ""}, {"q", command.Editor, ""}, {"a", command.Dialog, ""}, {"a", command.History, ""},
		{"x", command.Running, command.CancelRun}, {"o", command.Failed, command.CarryOn}, {"u", command.Outbox, command.OutboxTakeBack},
		{"D", command.Review, ""}, {"O", command.Review, command.CarryOnBeside}, {"A", command.Review, command.ActOnMarked},
	} {
		if got, _ := m.In(tuitest.Key(tc.key), tc.focus); got != tc.want {
			t.Errorf("%s in %s: %q, want %q", tc.key, tc.focus, got, tc.want)
		}
	}
}

// TestLayoutsNeverCallTwoCommands: on AZERTY the key that types "a" lies where "q" does on a US keyboard, and
// terminals that report the place make Keystroke "q" of it.
func TestLayoutsNeverCallTwoCommands(t *testing.T) {
	m := Default()
	azerty := tea.KeyPressMsg{Text: "a", Code: 'a', BaseCode: 'q'}
	if got, _ := m.In(azerty, command.Review); got != command.ForAction("approve") {
		t.Errorf("a of AZERTY gives %q", got)
	}
	typed := tea.KeyPressMsg{Text: "é", Code: 'é', BaseCode: 'a'}
	if got, ok := m.In(typed, command.Review); ok {
		t.Errorf("é gives %q", got)
	}
	cyrillic := tea.KeyPressMsg{Code: 'ы', BaseCode: 's', Mod: tea.ModCtrl}
	if got, _ := m.In(cyrillic, command.Editor); got != command.EditorSend {
		t.Errorf("ctrl and the key at s gives %q", got)
	}
}

func TestOverrides(t *testing.T) {
	m, problems := New(Overrides{"review": {"approve": {"ctrl+a"}, "reject": {"Shift+g"}}, "global": {"theme": {"f2"}}})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	for key, want := range map[string]command.ID{
		"ctrl+a": command.ForAction("approve"), "G": command.ForAction("reject"), "a": "", "r": "",
	} {
		if got, _ := m.In(tuitest.Key(key), command.Review); got != want {
			t.Errorf("%s gives %q, want %q", key, got, want)
		}
	}
	if got := m.Key(command.ForAction("approve")); got != "^A" {
		t.Errorf("shown as %q", got)
	}
}

func TestMistakesInOverrides(t *testing.T) {
	for _, tc := range []struct {
		name string
		o    Overrides
		want string
	}{
		{"scope", Overrides{"reveiw": {"approve": {"b"}}}, `keys.reveiw: no such scope; did you mean "review"?`},
		{"command", Overrides{"review": {"aprove": {"b"}}}, `did you mean "approve"?`},
		{"key", Overrides{"review": {"approve": {"contrl+b"}}}, `keys.review.approve: "contrl+b" is not a key`},
		{"named key", Overrides{"review": {"approve": {"pageupp"}}}, `is not a key`},
		{"clash of two own", Overrides{"review": {"approve": {"b"}, "reject": {"b"}}}, "b is also given to"},
		{"takes a default", Overrides{"review": {"approve": {"r"}}}, "r was the key of reject"},
		{"enter decides", Overrides{"review": {"approve": {"enter"}}}, "enter never decides"},
		{"space decides", Overrides{"review": {"continue": {" "}}}, "space never decides"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, problems := New(tc.o)
			if len(problems) != 1 {
				t.Fatalf("problems %v, want one", problems)
			}
			if !strings.Contains(problems[0].Error(), tc.want) {
				t.Errorf("%q does not say %q", problems[0].Error(), tc.want)
			}
		})
	}
}

func TestAMistakeLeavesTheRestUsable(t *testing.T) {
	m, _ := New(Overrides{"review": {"approve": {"contrl+b", "b"}}, "nonsense": {"x": {"y"}}})
	if got, _ := m.In(tuitest.Key("b"), command.Review); got != command.ForAction("approve") {
		t.Errorf("b gives %q", got)
	}
	if got, _ := m.In(tuitest.Key("e"), command.Review); got != command.ForAction("edit") {
		t.Errorf("e gives %q", got)
	}
}

// TestNoMapIsEverAmbiguous: whatever a user writes, a key in a scope has one command, and the keys that the map shows
// for a command do call it.
func TestNoMapIsEverAmbiguous(t *testing.T) {
	table := command.Table()
	rapid.Check(t, func(t *rapid.T) {
		o := Overrides{}
		for range rapid.IntRange(0, 6).Draw(t, "n") {
			c := rapid.SampledFrom(table).Draw(t, "command")
			s := string(c.Scope())
			if o[s] == nil {
				o[s] = map[string][]string{}
			}
			o[s][c.ID.Name()] = rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "ctrl+x", "enter", "G", "r", "f5"}), 0, 3).Draw(t, "keys")
		}
		m, _ := New(o)
		for _, c := range table {
			for _, k := range m.Keys(c.ID) {
				if k == "f5" {
					continue
				}
				if got, _ := m.Resolve(tuitest.Key(k), c.Scope()); got != c.ID {
					t.Fatalf("%s shows %s, which calls %q", c.ID, k, got)
				}
			}
		}
	})
}

func TestNormalise(t *testing.T) {
	for in, want := range map[string]string{
		"Shift+g": "G", "shift+G": "G", "Escape": "esc", "alt+ctrl+x": "ctrl+alt+x", " ": "space", "PageUp": "pgup",
		"Return": "enter", "+": "+", "ctrl++": "ctrl++", "é": "é", "CTRL+S": "ctrl+s", "shift+tab": "shift+tab",
	} {
		if got, err := Normalise(in); err != nil || got != want {
			t.Errorf("Normalise(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
	for _, bad := range []string{"", "\x1b", "ctrl+", "foo", "hyper-x", "ctrl+foo"} {
		if got, err := Normalise(bad); err == nil {
			t.Errorf("Normalise(%q) = %q", bad, got)
		}
	}
}

func TestShow(t *testing.T) {
	for in, want := range map[string]string{
		"ctrl+s": "^S", "enter": "Enter", "alt+up": "Alt-Up", "a": "a", "G": "G", "pgdown": "PgDn", "shift+tab": "Shift-Tab",
	} {
		if got := Show(in); got != want {
			t.Errorf("Show(%q) = %q, want %q", in, got, want)
		}
	}
}
