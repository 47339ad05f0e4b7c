package question

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// readUnknown takes any payload: it becomes the content, all fifteen actions are allowed. For a list of questions to
// have something to show, a text or the first of a few usual keys serves as title.
func readUnknown(p payload) (asked, bool) { return record{unknown(p.raw)}, true }

func unknown(payload json.RawMessage) actions.Question {
	q := actions.Question{Kind: actions.Unknown, Content: payload, ContentType: "json"}
	if len(bytes.TrimSpace(payload)) == 0 || !json.Valid(payload) {
		// Not JSON, or nothing at all: still shown, as the text it is.
		text, err := json.Marshal(string(payload))
		if err != nil || len(payload) == 0 {
			text = json.RawMessage("null")
		}
		q.Content, q.ContentType = text, "text"
		return q
	}
	var text string
	if json.Unmarshal(payload, &text) == nil && payload[0] == '"' {
		q.Title, q.ContentType = firstLine(text), "text"
		return q
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(payload, &object) != nil {
		return q
	}
	for _, key := range []string{"title", "message", "question", "prompt", "description"} {
		if json.Unmarshal(object[key], &text) == nil && strings.TrimSpace(text) != "" {
			q.Title = firstLine(text)
			break
		}
	}
	return q
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(line)
}
