package engine

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// foreign are questions in the shapes of other systems.
func foreign() []Ask {
	return []Ask{
		{Key: "calls", Payload: json.RawMessage(`{"action_requests":[{"name":"pay","args":{"amount":12.50}},{"name":"mail","args":{}}],
			"review_configs":[{"action_name":"pay","allowed_decisions":["approve","edit"]},{"action_name":"mail","allowed_decisions":["approve","reject"]}]}`)},
		{Key: "user", Payload: json.RawMessage(`{"type":"ask_user","questions":[{"question":"Which day?"}],"tool_call_id":"c"}`)},
		{Key: "key", Payload: json.RawMessage(`{"id":"adk-1","name":"adk_request_credential","args":{"authConfig":{"authScheme":{"type":"apiKey"}}}}`)},
	}
}

// hearing is an agent that asks in foreign shapes and asks on until all are answered; heard is what it was told last.
func hearing(heard *map[string]AnswerRecord) *Node {
	n := node("agent", func(_ context.Context, c *Call) (Result, error) {
		*heard = c.Resume
		var open []Ask
		for _, x := range foreign() {
			if _, answered := c.Resume[x.Key]; !answered {
				open = append(open, x)
			}
		}
		return Result{Interrupts: open}, nil
	}, "after")
	n.RerunOnResume = true
	return n
}

// TestProgramsHearTheirOwnShape, also what they were told before a pause and by another process.
func TestProgramsHearTheirOwnShape(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		var heard map[string]AnswerRecord
		asked := w.start(graph(hearing(&heard), node("after", writes("after", true))), nil)
		w.answer(asked.Thread, to("calls", actions.Submit, map[string]any{"1": map[string]any{"decision": "edit", "args": json.RawMessage(`{"amount":10.00}`)},
			"2": map[string]any{"decision": "reject", "message": "no"}}))
		w.answer(asked.Thread, to("key", actions.Submit, map[string]any{"api_key": "s3cret"}))
		w.Engine = w.engine(nil)
		out := w.answer(asked.Thread, to("user", actions.Cancel))
		if out.Status != checkpoint.Done {
			t.Fatalf("status %s, %v", out.Status, out.Error)
		}
		got := map[string]string{}
		for key, a := range heard {
			got[key] = string(a.Own)
		}
		want := map[string]string{
			"calls": `{"decisions":[{"type":"edit","edited_action":{"name":"pay","args":{"amount":10.00}}},{"type":"reject","message":"no"}]}`,
			"user":  `{"type":"cancelled"}`,
			"key":   `{"id":"adk-1","name":"adk_request_credential","response":{"authScheme":{"type":"apiKey"},"exchangedAuthCredential":{"authType":"apiKey","apiKey":"s3cret"}}}`,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

// TestSecretsLeaveLengthAndHash: neither the record of decisions nor what workflows see of an answer holds a credential,
// and no checkpoint does once the program that asked has run with it and asks no more.
func TestSecretsLeaveLengthAndHash(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		var heard map[string]AnswerRecord
		n := hearing(&heard)
		run := n.Runner
		n.Runner = RunnerFunc(func(ctx context.Context, c *Call) (Result, error) {
			res, err := run.Run(ctx, c)
			if _, answered := c.Resume["key"]; answered {
				res.Interrupts = nil
			} else if len(res.Interrupts) > 0 {
				res.Interrupts = res.Interrupts[2:]
			}
			return res, err
		})
		asked := w.start(graph(n, node("after", writes("after", true))), nil)
		w.answer(asked.Thread, to("key", actions.Submit, map[string]any{"api_key": "s3cret"}))
		if !strings.Contains(string(heard["key"].Own), "s3cret") || !strings.Contains(string(heard["key"].Value), "s3cret") {
			t.Errorf("the program heard %s", heard["key"].Own)
		}
		const length = `{"api_key":{"length":6,"sha256":"`
		for d, err := range w.store.Decisions(t.Context(), asked.Thread) {
			if err != nil {
				t.Fatal(err)
			}
			if raw := string(js(d)); strings.Contains(raw, "s3cret") || !strings.HasPrefix(string(d.Data), length) {
				t.Errorf("the record holds %s", raw)
			}
		}
		head, err := w.store.Latest(t.Context(), asked.Thread)
		if err != nil {
			t.Fatal(err)
		}
		for step := int64(0); step <= head.Step; step++ {
			c, err := w.store.Get(t.Context(), asked.Thread, step)
			if err != nil {
				t.Fatal(err)
			}
			if raw := string(js(c)); strings.Contains(raw, "s3cret") {
				t.Errorf("step %d holds the credential: %s", step, raw)
			}
		}
	})
}

// TestASecretIsNotShownInTheNextRound: who is asked once more after a retry sees that there was an answer.
func TestASecretIsNotShownInTheNextRound(t *testing.T) {
	w := newWorld(t)
	var heard map[string]AnswerRecord
	asked := w.start(graph(hearing(&heard), node("after", passes)), nil)
	w.answer(asked.Thread, to("key", actions.Submit, map[string]any{"api_key": "s3cret"}))
	again := w.answer(asked.Thread, to("user", actions.Retry, "start over"))
	for _, q := range again.Questions {
		if q.Key != "key" {
			continue
		}
		if q.Previous == nil || q.Previous.Action != "submit" || strings.Contains(string(js(q.Previous)), "s3cret") {
			t.Errorf("the second round shows %s", js(q.Previous))
		}
		return
	}
	t.Errorf("open are %v", addressesOf(again))
}

// TestWhatAShapeCannotSayIsRefused before anything is written.
func TestWhatAShapeCannotSayIsRefused(t *testing.T) {
	w := newWorld(t)
	var heard map[string]AnswerRecord
	asked := w.start(graph(hearing(&heard), node("after", passes)), nil)
	before := w.history(asked.Thread)
	for _, a := range []Answer{
		to("calls", actions.Edit, []any{map[string]any{"name": "pay", "args": map[string]any{}}}),
		to("calls", actions.Edit, []any{map[string]any{"name": "pay"}, map[string]any{"name": "mail", "args": map[string]any{"to": "x"}}}),
	} {
		_, err := w.Resume(t.Context(), ResumeRequest{Thread: asked.Thread, Answers: []Answer{a}})
		var bad *actions.DataError
		if !errors.As(err, &bad) {
			t.Errorf("%s: %v", a.Data, err)
		}
	}
	if diff := cmp.Diff(before, w.history(asked.Thread)); diff != "" {
		t.Error(diff)
	}
	var refused *actions.NotAllowedError
	if _, err := w.Resume(t.Context(), ResumeRequest{Thread: asked.Thread, Answers: []Answer{to("calls", actions.Reject)}}); !errors.As(err, &refused) {
		t.Errorf("reject, which one call does not allow: %v", err)
	}
}

// TestCancelWithoutAWordWithdraws: a shape that has no word for cancel has the engine do what cancel means.
func TestCancelWithoutAWordWithdraws(t *testing.T) {
	w := newWorld(t)
	var heard map[string]AnswerRecord
	asked := w.start(graph(hearing(&heard), node("after", passes)), nil)
	for _, q := range asked.Questions {
		lead := q.Leads[actions.Cancel]
		if said := len(lead.To) > 0; said != (q.Key == "user") {
			t.Errorf("%s: cancel leads to %+v", q.Key, lead)
		}
	}
	if out := w.answer(asked.Thread, to("calls", actions.Cancel)); out.Status != checkpoint.Cancelled {
		t.Errorf("status %s", out.Status)
	}
}
