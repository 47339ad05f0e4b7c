package command

import (
	"flag"
	"os"
	"slices"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

var update = flag.Bool("update", false, "write docs/keys.md anew")

func TestNoTwoCommandsShareAKeyInOneScope(t *testing.T) {
	type place struct {
		scope Scope
		key   string
	}
	holders := map[place]ID{}
	ids := map[ID]bool{}
	for _, c := range Table() {
		if ids[c.ID] {
			t.Errorf("%s is twice in the table", c.ID)
		}
		ids[c.ID] = true
		for _, k := range c.Keys {
			p := place{c.Scope(), k}
			if other, ok := holders[p]; ok {
				t.Errorf("%s: %s and %s both have %q", c.Scope(), other, c.ID, k)
			}
			holders[p] = c.ID
		}
	}
}

// TestDecisionKeysAreNotShadowed: in the stack of a focus, the innermost scope may take a key from an outer one only
// where that outer command is no decision.
func TestDecisionKeysAreNotShadowed(t *testing.T) {
	for _, focus := range []Scope{Review, Question} {
		seen := map[string]ID{}
		for _, s := range Stack(focus) {
			for _, c := range In(s) {
				for _, k := range c.Keys {
					if inner, ok := seen[k]; ok && c.Action != "" {
						t.Errorf("focus %s: %s hides %s on %q", focus, inner, c.ID, k)
					}
					seen[k] = c.ID
				}
			}
		}
	}
}

func TestOnlyApproveAndContinueFireInReview(t *testing.T) {
	for _, focus := range []Scope{Review, Question, Failed, Running, Finished, Thread, History, Retention} {
		for _, s := range Stack(focus) {
			for _, c := range In(s) {
				if c.Effect == Fires && c.Action != actions.Approve && c.Action != actions.Continue {
					t.Errorf("%s fires with one key", c.ID)
				}
			}
		}
	}
}

func TestFifteenActions(t *testing.T) {
	want := map[actions.Action]string{
		"approve": "a", "continue": "o", "edit": "e", "reject": "r", "choose": "c", "respond": "m", "retry": "t",
		"text_input": "i", "reply": "p", "submit": "s", "save": "w", "cancel": "x", "skip": "S", "end": "E", "stop": "X",
	}
	for a, key := range want {
		c, ok := Find(ForAction(a))
		if !ok || !slices.Equal(c.Keys, []string{key}) || c.Action != a {
			t.Errorf("%s: %+v, want key %s", a, c, key)
		}
	}
	if len(want) != len(actions.Table()) {
		t.Errorf("the table of actions has %d rows, this test knows %d", len(actions.Table()), len(want))
	}
}

func TestTextScopesShutOutEverythingElse(t *testing.T) {
	for _, s := range []Scope{Editor, Chooser, Dialog, Prompt, Menu} {
		if got := Stack(s); len(got) != 1 || got[0] != s {
			t.Errorf("Stack(%s) = %v lets outer keys in", s, got)
		}
	}
}

func TestEveryCommandIsExplained(t *testing.T) {
	for _, c := range Table() {
		if c.Title == "" || c.Help == "" || c.ID.Name() == "" || !slices.Contains(Scopes(), c.Scope()) {
			t.Errorf("%+v lacks title, help, name or scope", c)
		}
		if len(c.Keys) == 0 && c.Hidden {
			t.Errorf("%s can be reached neither by key nor by palette", c.ID)
		}
	}
}

func TestKeysPageIsFresh(t *testing.T) {
	const file = "../../../docs/keys.md"
	got := Markdown(nil)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Error("docs/keys.md is not what the table says: go test ./internal/ui/command -update")
	}
}
