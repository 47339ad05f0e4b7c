package question_test

import (
	"bytes"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/question"
)

// TestWhatIsAddedToAPayloadIsShown: whatever a system may add to its payloads tomorrow, at whatever place, is shown too.
func TestWhatIsAddedToAPayloadIsShown(t *testing.T) {
	const strange = "something nobody has heard of"
	for _, s := range samples(t) {
		_, shape := question.Recognise(s.payload, nil)
		if shape == question.ADKCredential {
			continue // only what is known to be harmless is shown
		}
		var whole any
		if err := json.Unmarshal(s.payload, &whole); err != nil {
			t.Fatal(err)
		}
		for path, added := range additions(whole, "", strange) {
			payload, err := json.Marshal(added)
			if err != nil {
				t.Fatal(err)
			}
			q, still := question.Recognise(payload, nil)
			if strings.Contains(path, "chema") {
				continue // a keyword that nobody knows is left out of a schema, which is filled in and not read
			}
			if shown, _ := json.Marshal(q); !bytes.Contains(shown, []byte(strange)) {
				t.Errorf("%s: %s does not show what is added at %q", s.file, still, path)
			}
		}
	}
}

// additions yields copies of v with a member added to one object in it, and the path of that object.
func additions(v any, path string, strange string) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		switch t := v.(type) {
		case map[string]any:
			with := maps.Clone(t)
			with["x_added"] = strange
			if !yield(path, with) {
				return
			}
			for key, inner := range t {
				for at, a := range additions(inner, path+"/"+key, strange) {
					with := maps.Clone(t)
					with[key] = a
					if !yield(at, with) {
						return
					}
				}
			}
		case []any:
			for i, inner := range t {
				for at, a := range additions(inner, path+"/"+strconv.Itoa(i), strange) {
					with := slices.Clone(t)
					with[i] = a
					if !yield(at, with) {
						return
					}
				}
			}
		}
	}
}

// silent is the members of other systems' payloads that are neither shown nor answered: what a payload is known by, what
// names the question and its place there, when it was asked, and what is shown in other words, such as times.
func silent() []string {
	return []string{
		"type", "kind", "method", "mode", "jsonrpc", "state", "status", "resultType", "outcome", "role", "interaction_type", "request_type", "response_type",
		"id", "call_id", "run_id", "session_id", "thread_id", "tool_call_id", "messageId", "message_id", "elicitationId", "checkpoint_id", "ns", "when", "slack_message_ts",
		"timestamp", "created_at", "createdAt", "lastUpdatedAt", "pollInterval", "iteration_count", "ttl", "timeout_seconds", "expiresAt",
		"event", "task_id", "workflow_run_id", "form_id", "form_token", "node_id", "button_style", "selector", "form_content", "expiration_time",
	}
}

// TestNothingOfAPayloadIsLost: every text and number of a payload is shown, at the place where a person looks, or goes back
// in the answer, or is one that says nothing.
func TestNothingOfAPayloadIsLost(t *testing.T) {
	for _, s := range samples(t) {
		q, shape := question.Recognise(s.payload, nil)
		if shape == question.ADKCredential {
			continue
		}
		if len(q.Parts) > 0 {
			q.Content = nil // the payload whole, which nobody reads who goes through its parts
		}
		raw, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		all := s.section("heard")
		for _, leaf := range leaves(t, raw, "") {
			all += leaf.text + "\n"
		}
		for path, leaf := range leaves(t, s.payload, "") {
			if !strings.Contains(all, leaf.text) && !slices.Contains(silent(), leaf.name) {
				t.Errorf("%s: %s does not show %s, %q", s.file, shape, path, leaf.text)
			}
		}
	}
}

type leaf struct{ name, text string }

// leaves is the texts and numbers in raw by their paths, each with the name of the member it is, or is in the list of. JSON
// within a text counts as what it holds.
func leaves(t *testing.T, raw json.RawMessage, path string) map[string]leaf {
	t.Helper()
	out := map[string]leaf{}
	var object map[string]json.RawMessage
	var items []json.RawMessage
	var text string
	switch {
	case json.Unmarshal(raw, &object) == nil:
		for key, inner := range object {
			maps.Copy(out, leaves(t, inner, path+"/"+key))
		}
	case json.Unmarshal(raw, &items) == nil:
		for i, inner := range items {
			maps.Copy(out, leaves(t, inner, path+"/"+strconv.Itoa(i)))
		}
	case json.Unmarshal(raw, &text) == nil && strings.HasPrefix(text, "{") && json.Valid([]byte(text)):
		return leaves(t, json.RawMessage(text), path)
	case !slices.Contains([]string{"true", "false", `""`}, string(raw)):
		if text == "" {
			text = string(raw)
		}
		name := strings.TrimRight(path, "/0123456789")
		out[path] = leaf{name[strings.LastIndex(name, "/")+1:], text}
	}
	return out
}
