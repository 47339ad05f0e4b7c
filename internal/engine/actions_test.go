package engine

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// all fifteen, for questions that are to allow whatever the table tries.
var everyAction = actions.All()

// reviewGraph is draft -> review -> done, where review asks q, keeps its output in "out" and may fail over to "failed".
func reviewGraph(q actions.Question, change func(review *Node)) *Graph {
	review := node("review", asks(q), "after")
	review.Output = keeps("out")
	if change != nil {
		change(review)
	}
	g := graph(
		node("draft", writes("drafts", 1), "review"),
		review,
		node("after", writes("after", true)),
		node("elsewhere", writes("elsewhere", true)),
		node("onfailure", writes("onfailure", true)),
	)
	g.Channels["drafts"], g.Channels["talk"] = Add, Append
	return g
}

func routed(action actions.Action, target ...string) func(*Node) {
	return func(n *Node) { n.Routes = map[string][]string{string(action): target} }
}

func withFailure(n *Node) { n.Failure, n.HasFailure = []string{"onfailure"}, true }

// TestActions is the table of actions.md and of workflows.md: each action, on the kinds of question it belongs to,
// plain, routed, and with a failure route.
func TestActions(t *testing.T) {
	message := actions.Question{Kind: actions.Approval, Message: "Well?", Actions: everyAction}
	content := message
	content.ContentKey = "notes"
	choice := actions.Question{Kind: actions.Choice, Message: "Which?", Actions: everyAction, Options: []actions.OptionItem{
		{Value: js("a"), Label: "First"}, {Value: js("b"), Label: "Second"}}}
	form := actions.Question{Kind: actions.FormKind, Message: "Fill in", Actions: everyAction,
		Schema: js(map[string]any{"type": "object", "properties": map[string]any{"n": map[string]any{"type": "integer"}}})}
	talk := actions.Question{Kind: actions.Conversation, ContentKey: "talk", Actions: everyAction}

	said := func(texts ...string) string {
		s := `[{"role":"customer","text":"hello"}`
		for _, x := range texts {
			s += `,{"at":"2026-01-02T03:04:05Z","by":"ana","role":"human","text":"` + x + `"}`
		}
		return s + "]"
	}
	const asksAgain = checkpoint.Interrupted
	tests := []struct {
		name   string
		q      actions.Question
		change func(*Node)
		answer Answer
		status checkpoint.Status
		state  map[string]string // besides notes and talk where they are as they were
		path   string            // of the question then open
	}{
		{"approve gives true", message, nil, say("approve"), checkpoint.Done, map[string]string{"out": "true", "after": "true"}, ""},
		{"approve gives the content", content, nil, say("approve", map[string]any{"comment": "good"}), checkpoint.Done, map[string]string{"out": `"text"`, "after": "true"}, ""},
		{"approve routed", message, routed("approve", "elsewhere"), say("approve"), checkpoint.Done, map[string]string{"out": "true", "elsewhere": "true"}, ""},
		{"approve routed to END", message, routed("approve"), say("approve"), checkpoint.Done, map[string]string{"out": "true"}, ""},
		{"reject ends", message, nil, say("reject", "no"), checkpoint.Rejected, nil, ""},
		{"reject fails over", message, withFailure, say("reject", "no"), checkpoint.Done, map[string]string{"onfailure": "true"}, ""},
		{"reject routed gives false", message, routed("reject", "elsewhere"), say("reject"), checkpoint.Done, map[string]string{"out": "false", "elsewhere": "true"}, ""},
		{"reject of content routed gives null", content, routed("reject", "elsewhere"), say("reject"), checkpoint.Done, map[string]string{"out": "null", "elsewhere": "true"}, ""},
		{"choose by value", choice, nil, say("choose", "b"), checkpoint.Done, map[string]string{"out": `"b"`, "after": "true"}, ""},
		{"choose by label", choice, nil, say("choose", "First"), checkpoint.Done, map[string]string{"out": `"a"`, "after": "true"}, ""},
		{"choose by number", choice, nil, say("choose", 2), checkpoint.Done, map[string]string{"out": `"b"`, "after": "true"}, ""},
		{"choose routed", choice, routed("choose", "elsewhere"), say("choose", "a"), checkpoint.Done, map[string]string{"out": `"a"`, "elsewhere": "true"}, ""},
		{"respond", message, nil, say("respond", "words"), checkpoint.Done, map[string]string{"out": `"words"`, "after": "true"}, ""},
		{"edit writes back", content, nil, say("edit", "better"), checkpoint.Done, map[string]string{"out": `"better"`, "notes": `"better"`, "after": "true"}, ""},
		{"edit routed", content, routed("edit", "elsewhere"), say("edit", "better"), checkpoint.Done, map[string]string{"out": `"better"`, "notes": `"better"`, "elsewhere": "true"}, ""},
		{"continue with data", message, nil, say("continue", map[string]any{"any": 1}), checkpoint.Done, map[string]string{"out": `{"any":1}`, "after": "true"}, ""},
		{"no action is continue", message, nil, say(""), checkpoint.Done, map[string]string{"out": "null", "after": "true"}, ""},
		{"stop", message, nil, say("stop"), checkpoint.Stopped, nil, ""},
		{"stop cannot be routed", message, routed("stop", "elsewhere"), say("stop"), checkpoint.Stopped, nil, ""},
		{"retry asks again", message, nil, say("retry", "once more"), asksAgain, nil, "review@2"},
		{"retry routed", message, routed("retry", "draft"), say("retry", "once more"), asksAgain, map[string]string{"drafts": "2"}, "review@2"},
		{"skip writes no output", message, nil, say("skip"), checkpoint.Done, map[string]string{"after": "true"}, ""},
		{"skip routed", message, routed("skip", "elsewhere"), say("skip"), checkpoint.Done, map[string]string{"elsewhere": "true"}, ""},
		{"submit", form, nil, say("submit", map[string]any{"n": "7"}), checkpoint.Done, map[string]string{"out": `{"n":7}`, "after": "true"}, ""},
		{"cancel ends", message, nil, say("cancel"), checkpoint.Cancelled, nil, ""},
		{"cancel fails over", message, withFailure, say("cancel"), checkpoint.Done, map[string]string{"onfailure": "true"}, ""},
		{"cancel routed", message, routed("cancel", "elsewhere"), say("cancel"), checkpoint.Done, map[string]string{"elsewhere": "true"}, ""},
		{"text_input may be empty", message, nil, say("text_input", ""), checkpoint.Done, map[string]string{"out": `""`, "after": "true"}, ""},
		{"save without content keeps it", content, nil, say("save"), checkpoint.Done, map[string]string{"out": `"text"`, "after": "true"}, ""},
		{"save stores", content, nil, say("save", "kept"), checkpoint.Done, map[string]string{"out": `"kept"`, "notes": `"kept"`, "after": "true"}, ""},
		{"reply asks again", talk, nil, say("reply", "more"), asksAgain, map[string]string{"talk": said("more")}, "review@2"},
		{"reply routed", talk, routed("reply", "draft"), say("reply", "more"), asksAgain, map[string]string{"talk": said("more"), "drafts": "2", "out": `"more"`}, "review@2"},
		{"end gives the transcript", talk, nil, say("end"), checkpoint.Done, map[string]string{"out": said(), "after": "true"}, ""},
		{"end with a text", talk, nil, say("end", "bye"), checkpoint.Done, map[string]string{"talk": said("bye"), "out": said("bye"), "after": "true"}, ""},
	}
	for _, x := range tests {
		t.Run(x.name, func(t *testing.T) {
			w := newWorld(t)
			out := w.start(reviewGraph(x.q, x.change), map[string]any{
				"notes": "text", "talk": []any{map[string]any{"role": "customer", "text": "hello"}}})
			if out.Status != checkpoint.Interrupted || len(out.Questions) != 1 || out.Questions[0].Path != "main@1/review@1" {
				t.Fatalf("not asked: %+v", out)
			}
			out = w.answer(out.Thread, x.answer)
			if out.Status != x.status {
				t.Fatalf("status %s (%+v), want %s", out.Status, out.Error, x.status)
			}
			want := map[string]string{"notes": `"text"`, "talk": said(), "drafts": "1"}
			for key, v := range x.state {
				want[key] = v
			}
			if diff := cmp.Diff(want, w.state(out.Thread)); diff != "" {
				t.Errorf("state (-want +got):\n%s", diff)
			}
			path := ""
			if len(out.Questions) > 0 {
				path = out.Questions[0].Path
			}
			if x.path != "" {
				x.path = rootPath + "/" + x.path
			}
			if path != x.path {
				t.Errorf("open is %q, want %q", path, x.path)
			}
			stored, err := w.Open(t.Context(), out.Thread)
			if err != nil {
				t.Fatal(err)
			}
			stored.Steps = out.Steps
			if diff := cmp.Diff(out, stored); diff != "" {
				t.Errorf("what was returned is not what is stored (-returned +stored):\n%s", diff)
			}
		})
	}
}
