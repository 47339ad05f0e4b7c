package engine

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// TestCredentialsAreNotRecorded: what a schema calls secret reaches the node that asked, and the record of decisions
// keeps its length and hash only.
func TestCredentialsAreNotRecorded(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		form := actions.Question{Kind: actions.FormKind, Title: "Log in", Schema: json.RawMessage(
			`{"type":"object","properties":{"user":{"type":"string"},"pin":{"type":"string","writeOnly":true}},"required":["pin"]}`)}
		var r ran
		asked := w.start(graph(node("ask", asks(form), "next"), node("next", inputs(&r))), nil)
		w.answer(asked.Thread, say(actions.Submit, map[string]any{"user": "ann", "pin": "hunter2"}))
		r.was(t, `next@1 {"pin":"hunter2","user":"ann"}`)
		for d, err := range w.store.Decisions(t.Context(), asked.Thread) {
			if err != nil {
				t.Fatal(err)
			}
			if data := string(d.Data); strings.Contains(data, "hunter2") || !strings.Contains(data, `"length":7`) || !strings.Contains(data, `"user":"ann"`) {
				t.Errorf("the record holds %s", data)
			}
		}
	})
}
