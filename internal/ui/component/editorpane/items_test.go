package editorpane_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/editorpane"
)

// TestItemsByKey: items of a list come and go by key, and the form goes to raw JSON and back without loss.
func TestItemsByKey(t *testing.T) {
	q := question(actions.FormKind)
	q.Schema = json.RawMessage(`{"type":"object","additionalProperties":true,"properties":{"lines":{"type":"array","items":
		{"type":"object","required":["n"],"properties":{"n":{"type":"integer"}}}},"note":{"type":"string","maxLength":9}}}`)
	q.Prefill = json.RawMessage(`{"z":1.0,"lines":[{"n":1}]}`)
	p := open(editorpane.Config{Question: q, Choice: choice(actions.Submit, false)}, 100, 30)
	if !strings.Contains(ansi.Strip(p.View()), "^G add item") {
		t.Errorf("the keys of items are not offered:\n%s", ansi.Strip(p.View()))
	}
	press(p, "ctrl+g")
	typeText(p, "2")
	press(p, "alt+k", "ctrl+g")
	typeText(p, "3")
	press(p, "alt+j", "alt+x", "alt+u", "ctrl+r", "ctrl+r")
	sent, ok := press(p, "ctrl+s").(editorpane.Send)
	if want := `{"z":1.0,"lines":[{"n":2},{"n":1},{"n":3}]}`; !ok || string(sent.Data) != want {
		t.Errorf("sent %s, want %s:\n%s", sent.Data, want, ansi.Strip(p.View()))
	}
	press(p, "tab", "ctrl+g") // at the note
	if view := ansi.Strip(p.View()); !strings.Contains(view, "! the focus is in no list") {
		t.Errorf("the key says nothing:\n%s", view)
	}
}
