//go:build linux

package e2e

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/tuitest"
)

// askingAgent asks in the shapes of three other systems, and writes down what it hears.
const askingAgent = `import json, sys

QUESTIONS = {
    "calls": {
        "action_requests": [
            {"name": "transfer", "args": {"amount": 12}, "description": "Transfer money"},
            {"name": "mail", "args": {"to": "ana"}, "description": "Tell Ana"},
        ],
        "review_configs": [
            {"action_name": "transfer", "allowed_decisions": ["approve", "reject"]},
            {"action_name": "mail", "allowed_decisions": ["approve", "reject"]},
        ],
    },
    "colour": {"type": "ask_user", "tool_call_id": "c2", "questions": [
        {"question": "Which colour?", "type": "multiple_choice", "choices": [{"value": "red"}, {"value": "blue"}]}]},
    "key": {"id": "adk-1", "name": "adk_request_credential", "args": {
        "functionCallId": "c1", "message": "The weather service wants a key", "authConfig": {"authScheme": {"type": "apiKey"}}}},
}

heard = json.load(sys.stdin)["resume_inputs"]
with open("heard.json", "w") as f:
    json.dump(heard, f, sort_keys=True)
for key in QUESTIONS:
    if key not in heard:
        json.dump({"interrupts": [{"key": key, "payload": QUESTIONS[key]}]}, sys.stdout)
        break
else:
    json.dump({"output": "done"}, sys.stdout)
`

const askingWorkflow = `workflow: asking
nodes:
  agent:
    exec: [python3, agent.py]
    protocol: json
    output: result
`

// choose picks an option by its digit. A key that came too soon after the screen had moved is dropped, so what is pressed
// next depends on what is shown.
func choose(x *tuitest.Tmux, digit string) {
	again := time.Now()
	x.AwaitFunc("a choice on its way", patience, func(screen string) bool {
		if strings.Contains(screen, "sends in") {
			return true
		}
		if time.Now().Before(again) {
			return false
		}
		key := "c"
		if strings.Contains(screen, "1-9 sends at once") {
			key = digit
		}
		x.Keys(key)
		again = time.Now().Add(time.Second)
		return false
	})
}

// TestDeskAnswersPayloadsOfOthers: a verdict for each of two calls in a form, a choice by its digit, and a credential
// that no screen and no file of the desk ever shows.
func TestDeskAnswersPayloadsOfOthers(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("python3"); err != nil && os.Getenv("CI") != "true" {
		t.Skip("python3 is missing")
	}
	w := deskWorld(t, 0)
	w.file("agent.py", askingAgent)
	w.must(0, "run", w.file("asking.yaml", askingWorkflow), "--thread", "thread-0", "-q")
	x := w.desk(100, 40)
	x.Await("2 tool calls: transfer, mail", patience)
	press(t, x, "s", "SUBMIT, then")
	x.Keys("Right", "Tab", "Tab", "Right", "Right", "Tab") // approve; reject
	x.Type("not yet")
	press(t, x, "C-s", "sends")
	x.Await("Which colour?", patience)
	choose(x, "2")
	x.Await("The weather service wants a key", patience)
	press(t, x, "s", "SUBMIT, then")
	x.Type("my-s3cret-value")
	screen := x.AwaitFunc("the key typed", patience, func(s string) bool { return strings.Contains(s, "••") || strings.Contains(s, "**") })
	if strings.Contains(screen, "s3cret") {
		t.Errorf("the screen shows the credential:\n%s", screen)
	}
	press(t, x, "C-s", "sends")
	if screen := x.Screen(); strings.Contains(screen, "s3cret") {
		t.Errorf("the screen shows the credential on its way:\n%s", screen)
	}
	if out, _ := exec.Command("grep", "-rl", "s3cret", w.dir+"/../home").Output(); len(out) > 0 {
		t.Errorf("files of the desk hold the credential: %s", out)
	}
	w.awaitDone("thread-0", "done")
	want := `{"calls": {"decisions": [{"type": "approve"}, {"message": "not yet", "type": "reject"}]}, ` +
		`"colour": {"answers": ["blue"], "type": "answered"}, "key": {"id": "adk-1", "name": "adk_request_credential", ` +
		`"response": {"authScheme": {"type": "apiKey"}, "exchangedAuthCredential": {"apiKey": "my-s3cret-value", "authType": "apiKey"}}}}`
	if got := w.content("heard.json"); got != want {
		t.Errorf("heard %s\nwant  %s", got, want)
	}
}
