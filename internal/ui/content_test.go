package ui

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/charmbracelet/x/ansi"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/question"
	"github.com/hitl-tui/hitl-tui/internal/tuitest"
	"github.com/hitl-tui/hitl-tui/internal/ui/desktest"
)

// pixel is a PNG of one by one.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg=="

const shortDiff = "--- a/deploy.yaml\n+++ b/deploy.yaml\n@@ -1,4 +1,5 @@\n replicas:\n-  web: 2\n+  web: 4\n+  worker: 1\n image: app:1.7\n-timeout: 30s\n+timeout: 60s\n"

// contents is a question for each way in which content is shown, and the keys that lead to it from the list.
func contents() map[string]struct {
	q    actions.Question
	keys []string
} {
	type shown = struct {
		q    actions.Question
		keys []string
	}
	several, _ := question.Recognise(json.RawMessage(threeCalls), nil)
	letter := `{"to": "ana@example.org", "subject": "Your order", "urgent": true, "copies": 2, "cc": [], "body": "Dear Ana,\n\nyour order has left our house today and will be with you by Friday evening at the latest.\n\nYours, 日本の店", "logo": "` + pixel + `", "list": [1, 2.50, null]}`
	return map[string]shown{
		"text":     {actions.Question{Content: text("A plain text.\nA long line of it that has no room on a narrow screen and is wrapped between its words: 日本語 too."), ContentType: "text"}, nil},
		"markdown": {actions.Question{Content: text("# Notes\n\nSome **bold** and `code`, a [link](https://example.org).\n\n- one\n- two\n\n| name | size |\n|---|---|\n| a | 1 |\n\n```go\nfunc f() int { return 1 }\n```\n\n![logo](data:image/png;base64," + pixel + ")\n"), ContentType: "markdown"}, nil},
		"code":     {actions.Question{Content: text("package main\n\n// main says hello.\nfunc main() { println(\"hello\", 42) }\n"), ContentType: "code/go"}, nil},
		"diff":     {actions.Question{Content: text(shortDiff), ContentType: "diff"}, nil},
		"sides":    {actions.Question{Content: text(shortDiff), ContentType: "diff"}, []string{"d", "d"}},
		"table":    {actions.Question{Content: json.RawMessage(`[{"id": 1, "name": "Ana", "amount": 12.50, "paid": true}, {"id": 2, "name": "Ben", "amount": 1200, "paid": false}, {"id": 30, "name": "日本", "amount": 7, "paid": true}]`)}, nil},
		"records":  {actions.Question{Content: json.RawMessage(`[{"id": 1, "name": "Ana"}, {"id": 2, "name": "Ben"}]`)}, []string{"d", "j", "j"}},
		"json":     {actions.Question{Content: json.RawMessage(letter), ContentType: "json"}, []string{"j", "j"}},
		"image":    {actions.Question{Content: text("data:image/png;base64," + pixel)}, nil},
		"options":  {actions.Question{Kind: actions.Choice, Content: text("Which one?"), Options: []actions.OptionItem{{Value: text("a"), Label: "The first", Description: "as always"}, {Value: json.RawMessage("2")}}}, nil},
		"parts":    {several, nil},
		"part":     {several, []string{".", "a", "r", "n", "o", "ctrl+s", ","}},
	}
}

// contentDesk is a desk with one question, whose content is read.
func contentDesk(t testing.TB, q actions.Question) *desktest.Desk {
	d := desktest.New(t)
	if q.Kind == "" {
		q.Kind = actions.Approval
	}
	if q.Title == "" {
		q.Title, q.Message = "Is this good?", "Look at it **closely**."
	}
	d.Add(desk.Detail{Thread: desk.Thread{ID: "t-content-01", Workflow: "notes", Node: "review", WaitingSince: d.Now()},
		Questions: []desk.Question{{ID: "q-content", Address: "review", Asked: d.Now(), ResumesNow: true, ShownHash: "aabb", Question: q}}})
	return d
}

// The layout of each kind of content at three sizes.
func TestContentIsShownAsWhatItIs(t *testing.T) {
	for name := range contents() {
		for _, size := range tuitest.Sizes() {
			file := fmt.Sprintf("content_%s_%dx%d", name, size[0], size[1])
			t.Run(file, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					l := scenes()["content_"+name].show(t, size[0], size[1], true)
					tuitest.CheckBox(t, l.View(), size[0], size[1])
					tuitest.Golden(t, file, tuitest.Layout(l.View()))
				})
			})
		}
	}
}

// TestCopyFromATree: what is copied is what the cursor is at.
func TestCopyFromATree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := start(t, contentDesk(t, contents()["json"].q), 160, 50)
		for _, k := range []string{"enter", "j", "j", "y"} {
			l.Keys(k)
			l.View()
		}
		if view := ansi.Strip(l.View()); !strings.Contains(view, "path of the value at the cursor: $.subject") {
			t.Errorf("the path at the cursor is not offered:\n%s", view)
		}
		if path, value, ok := l.Model.(*Model).inbox.TreeAt(); !ok || path != "$.subject" || string(value) != `"Your order"` {
			t.Errorf("at the cursor is %s %s %v", path, value, ok)
		}
	})
}
