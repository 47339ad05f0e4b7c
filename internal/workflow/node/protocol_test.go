package node_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/question"
	"github.com/hitl-tui/hitl-tui/internal/workflow/node"
)

func jsonProgram(t *testing.T, mode string, args ...string) *node.Exec {
	t.Helper()
	n := self(t, mode, args...)
	n.JSON, n.Keys, n.Sees = true, []string{"name", "amount"}, []string{"name", "amount"}
	return n
}

func TestRequest(t *testing.T) {
	call, _ := callOn(t, `{"name":"Ada","list":[1]}`)
	call.Input = engine.RawValue([]byte(`"before"`))
	call.PriorOutput = engine.RawValue([]byte(`{"n":1}`))
	call.PriorInterrupts = []string{"other"}
	call.Resume = map[string]engine.AnswerRecord{
		"ok":      {Action: actions.Approve, Comment: "fine", By: "ada", At: start},
		"foreign": {Action: actions.Approve, By: "ada", At: start, Own: json.RawMessage(`{"decisions":[{"type":"approve"}]}`)},
	}
	call.Feedback = map[string]engine.AnswerRecord{"draft.why": {Action: actions.Retry, Comment: "shorter", By: "bob", At: start}}
	call.Discarded = map[string]engine.AnswerRecord{"old": {Action: actions.Choose, Value: json.RawMessage(`"x"`), By: "bob", At: start}}
	n := jsonProgram(t, "echo")
	for _, c := range []struct {
		in   []node.Named
		want string
	}{
		{nil, `"before"`},
		{[]node.Named{}, `{}`},
		{[]node.Named{{Name: "who", Expr: expr(t, "name")}, {Name: "n", Expr: expr(t, "len(list)")}}, `{"who":"Ada","n":1}`},
	} {
		n.In = c.in
		result, err := run(t, n, call)
		if err != nil {
			t.Fatal(err)
		}
		want := `{"node":"n","run_id":"main@1/n@2","attempt":3,"idempotency_key":"key","input":` + c.want + `,
			"state":{"name":"Ada","amount":null},
			"resume_inputs":{"ok":{"action":"approve","value":null,"comment":"fine","by":"ada","at":"2026-11-29T18:00:00Z"},
				"foreign":{"decisions":[{"type":"approve"}]}},
			"feedback":{"draft.why":{"action":"retry","value":null,"comment":"shorter","by":"bob","at":"2026-11-29T18:00:00Z"}},
			"discarded":{"old":{"action":"choose","value":"x","comment":"","by":"bob","at":"2026-11-29T18:00:00Z"}},
			"prior_output":{"n":1},"prior_interrupt_ids":["other"]}`
		if diff := cmp.Diff(decoded(t, want), decoded(t, string(result.Output.JSON()))); diff != "" {
			t.Errorf("in %v (-want +got):\n%s", c.in, diff)
		}
	}
}

func decoded(t *testing.T, raw string) (v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(raw), &v); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	return v
}

func TestFirstRequestHasNoNulls(t *testing.T) {
	call, _ := callOn(t, `{}`)
	result, err := run(t, jsonProgram(t, "echo"), call)
	if err != nil {
		t.Fatal(err)
	}
	got := string(result.Output.JSON())
	for _, want := range []string{`"resume_inputs":{}`, `"feedback":{}`, `"discarded":{}`, `"prior_interrupt_ids":[]`, `"prior_output":null`, `"input":null`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
}

func TestReply(t *testing.T) {
	call, _ := callOn(t, `{}`)
	call.PriorInterrupts = []string{"old"}
	result, err := run(t, jsonProgram(t, "print", "--", `{"output":[1, 2],"state":{"name":"Bob"},"route":"next",
		"interrupts":[{"key":"a","payload":{"x": [1]}},{"key":"b","kind":"choice","message":"Which?\nNow.","options":["x","y"],"timeout":"2h"}],
		"closed":["old"]}`), call)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(result.Output.JSON()); got != "[1,2]" {
		t.Errorf("output %s", got)
	}
	if got := result.Updates["name"].Any(); got != "Bob" || len(result.Updates) != 1 {
		t.Errorf("updates %v", result.Updates)
	}
	if result.Route != "next" || !cmp.Equal(result.Closed, []string{"old"}) || len(result.Interrupts) != 2 {
		t.Fatalf("got %+v", result)
	}
	if a := result.Interrupts[0]; a.Key != "a" || string(a.Payload) != `{"x":[1]}` || a.Timeout != 0 {
		t.Errorf("payload of any shape: %+v", a)
	}
	b := result.Interrupts[1]
	q, shape := question.Recognise(b.Payload, nil)
	if b.Key != "b" || b.Timeout != 2*time.Hour || shape != question.Native || q.Title != "Which?" || q.Kind != actions.Choice || len(q.Options) != 2 {
		t.Errorf("native question: %+v, %+v", b, q)
	}
}

func TestRouteOfAProgram(t *testing.T) {
	call, _ := callOn(t, `{}`)
	for reply, want := range map[string]string{
		`{}`:                          "0",
		`{"route":null,"state":null}`: "0",
		`{"route":"x"}`:               "x",
		`{"interrupts":[{"key":"a","payload":1}]}`: "",
	} {
		result, err := run(t, jsonProgram(t, "print", "--", reply), call)
		if err != nil || result.Route != want {
			t.Errorf("%s: route %q, %v; want %q", reply, result.Route, err, want)
		}
	}
}

func TestAWrongReplyNamesTheProgram(t *testing.T) {
	call, _ := callOn(t, `{}`)
	n := jsonProgram(t, "print", "--", `{"outptu":1}`)
	_, err := run(t, n, call)
	if err == nil || !strings.Contains(err.Error(), `: the answer on stdout has the unknown key "outptu"; did you mean "output"?`) || permanent(err) {
		t.Errorf("got %v", err)
	}
}

func TestAFailedProgramIsNotHeard(t *testing.T) {
	n := &node.Exec{Args: texts(t, "/bin/sh", "-c", `echo '{"output":1}'; echo why >&2; exit 4`), JSON: true}
	script(t, "") // skips where there is no /bin/sh
	call, _ := callOn(t, `{}`)
	if _, err := run(t, n, call); err == nil || err.Error() != "/bin/sh: exit code 4: why" {
		t.Errorf("got %v", err)
	}
}
