package content

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/pager"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// Talk draws a conversation as it is read: who speaks, and below it the whole of what is said. What else a turn
// holds stands beside the speaker, so that nothing of it is hidden. ok is false for what is no list of turns.
func Talk(t *theme.Theme, value json.RawMessage, w int) (src pager.Source, ok bool) {
	turns, ok := turnsOf(value)
	if !ok {
		return nil, false
	}
	var parts []pager.Source
	for i, x := range turns {
		if i > 0 {
			parts = append(parts, Blank())
		}
		head := t.Heading.Render(sanitize.Line(x.role))
		for _, k := range slices.Sorted(maps.Keys(x.rest)) {
			head += t.Muted.Render("  " + sanitize.Line(k) + " " + Short(x.rest[k]))
		}
		parts = append(parts, pager.Lines{head}, Markdown(t, x.text, w))
	}
	return pager.Join(parts...), true
}

// IsTalk tells whether Talk can draw the value.
func IsTalk(value json.RawMessage) bool {
	_, ok := turnsOf(value)
	return ok
}

// turn is one thing said.
type turn struct {
	role, text string
	rest       map[string]json.RawMessage
}

// turnsOf reads turns as the engine and the providers of models write them: role, and text or content.
func turnsOf(value json.RawMessage) ([]turn, bool) {
	var list []map[string]json.RawMessage
	if json.Unmarshal(value, &list) != nil || len(list) == 0 {
		return nil, false
	}
	turns := make([]turn, len(list))
	for i, rest := range list {
		x := &turns[i]
		key := "text"
		if _, ok := rest[key]; !ok {
			key = "content"
		}
		if !isText(rest["role"], &x.role) || !isText(rest[key], &x.text) {
			return nil, false
		}
		delete(rest, "role")
		delete(rest, key)
		x.rest = rest
	}
	return turns, true
}

func isText(value json.RawMessage, into *string) bool {
	return len(value) > 0 && value[0] == '"' && json.Unmarshal(value, into) == nil
}
