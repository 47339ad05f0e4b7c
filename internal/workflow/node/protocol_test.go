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
	n.JSON, n.Keys = true, []string{"name", "amount"}
	return n
}

func TestRequest(t *testing.T) {
	call, _ := callOn(t, `{"name":"Ada","list":[1]}`)
	call.Input = engine.RawValue([]byte(`"before"`))
	call.PriorOutput = engine.RawValue([]byte(`{"n":1}`))
	call.PriorInterrupts = []string{"other"}
	call.Resume = map[string]engine.AnswerRecord{
		"ok": {Action: actions.Approve, Comment: "fine", By: "ada", At: start},
	}
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
			"resume_inputs":{"ok":{"action":"approve","value":null,"comment":"fine","by":"ada","at":"2026-11-29T18:00:00Z"}},
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
	for _, want := range []string{`"resume_inputs":{}`, `"prior_interrupt_ids":[]`, `"prior_output":null`, `"input":null`} {
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

func TestReplyFaults(t *testing.T) {
	call, _ := callOn(t, `{}`)
	call.PriorInterrupts = []string{"open"}
	for reply, want := range map[string]string{
		"":                                       "is empty; with protocol: json a program prints one object",
		"hello":                                  `is not one JSON object: invalid character 'h' looking for beginning of value, at byte 0: "hello"`,
		"[1]":                                    "is not an object: [1]",
		`{"output":1} {}`:                        "is not one JSON object: invalid character '{' after top-level value",
		`{"output":1}garbage`:                    "is not one JSON object: invalid character 'g' after top-level value",
		`{"output":1`:                            "is not one JSON object: unexpected end of JSON input",
		`{"outptu":1}`:                           `has the unknown key "outptu"; did you mean "output"?`,
		`{"output":1,"output":2}`:                `has the key "output" twice`,
		`{"output":1e999}`:                       "is wrong in output: is not one JSON value",
		`{"route":1}`:                            "is wrong in route: must be a text, not 1",
		`{"state":[]}`:                           "is wrong in state: is not an object: []",
		`{"state":{"nmae":1}}`:                   `writes the state key "nmae", which the workflow does not know; did you mean "name"?`,
		`{"state":{"name":1,"name":2}}`:          `is wrong in state: has the key "name" twice`,
		`{"closed":"open"}`:                      "is wrong in closed: must be a list of keys",
		`{"closed":["opne"]}`:                    `is wrong in closed: "opne" is no question that this run asked; did you mean "open"?`,
		`{"interrupts":{}}`:                      "is wrong in interrupts: must be a list",
		`{"interrupts":[1]}`:                     "is wrong in interrupts[0]: is not an object: 1",
		`{"interrupts":[{"payload":1}]}`:         "is wrong in interrupts[0]: key is required",
		`{"interrupts":[{"key":1,"payload":1}]}`: "is wrong in interrupts[0]: key must be a text, not 1",
		`{"interrupts":[{"key":"a"}]}`:           "is wrong in interrupts[0]: payload or kind is required",
		`{"interrupts":[{"key":"a","payload":1,"kind":"text"}]}`:           `is wrong in interrupts[0]: beside payload only key is allowed, not "kind"`,
		`{"interrupts":[{"key":"a","payload":1},{"key":"a","payload":1}]}`: `is wrong in interrupts[1]: the key "a" is used twice`,
		`{"interrupts":[{"key":"a","kind":"chioce","message":"x"}]}`:       `is wrong in interrupts[0]: kind: unknown kind "chioce"; did you mean "choice"?`,
		`{"interrupts":[{"key":"a","kind":"text","mesage":"x"}]}`:          `is wrong in interrupts[0]: unknown key "mesage"; did you mean "message"?`,
		`{"interrupts":[{"key":"open","payload":1}],"closed":["open"]}`:    `asks and closes "open" at once`,
		"{\"output\":\"\xff\"}": "is not UTF-8 text (byte 0xff at offset 11)",
	} {
		_, err := run(t, jsonProgram(t, "print", "--", reply), call)
		if err == nil || !strings.Contains(err.Error(), ": the answer on stdout "+want) {
			t.Errorf("%s\n got %v\nwant %s", reply, err, want)
		}
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
