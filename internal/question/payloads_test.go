package question_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/question"
)

var update = flag.Bool("update", false, "rewrite what is generated from the code")

// sample is a payload of testdata/payloads with answers to it: what it is shown as, and what its asker hears.
type sample struct {
	file    string
	archive *txtar.Archive
	payload json.RawMessage
	answers []string // "ACTION DATA"
	refused []string
}

func samples(t testing.TB) []sample {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "payloads", "*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no payloads: %v", err)
	}
	var all []sample
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s := sample{file: file, archive: archive}
		s.payload = json.RawMessage(s.section("payload.json"))
		s.answers, s.refused = lines(s.section("answers")), lines(s.section("refused"))
		all = append(all, s)
	}
	return all
}

func lines(text string) []string {
	return slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return l == "" })
}

func (s *sample) section(name string) string {
	for _, f := range s.archive.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func (s *sample) set(name, text string) {
	i := slices.IndexFunc(s.archive.Files, func(f txtar.File) bool { return f.Name == name })
	if i < 0 {
		i = len(s.archive.Files)
		s.archive.Files = append(s.archive.Files, txtar.File{Name: name})
	}
	s.archive.Files[i].Data = []byte(text)
}

var noon = time.Date(2027, 3, 4, 12, 0, 0, 0, time.UTC)

// answer gives an answer the way a person does: validated, then encoded.
func answer(q actions.Question, shape question.Shape, payload json.RawMessage, line string) (json.RawMessage, error) {
	name, data, _ := strings.Cut(line, " ")
	valid, err := actions.Validate(q, actions.Action(name), json.RawMessage(data))
	if err != nil {
		return nil, err
	}
	return question.Encode(shape, payload, question.Given{Answer: valid, By: "ana", At: noon})
}

// view is a question as a person is shown it, one line a member.
func view(t *testing.T, shape question.Shape, q actions.Question) string {
	t.Helper()
	raw, err := json.Marshal(q)
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "shape: %s\n", shape)
	for _, name := range []string{"kind", "title", "message", "content", "content_type", "context", "options", "multiple", "schema", "actions", "require_comment", "timeout_ms", "deadline", "people_only", "parts"} {
		if members[name] != nil {
			fmt.Fprintf(&b, "%s: %s\n", name, members[name])
			delete(members, name)
		}
	}
	if len(members) > 0 {
		t.Errorf("members that this test does not show: %v", members)
	}
	return b.String()
}

func TestPayloadsAreShownAndAnsweredInTheirShape(t *testing.T) {
	for _, s := range samples(t) {
		t.Run(strings.TrimSuffix(filepath.Base(s.file), ".txtar"), func(t *testing.T) {
			q, shape := question.Recognise(s.payload, nil)
			var heard strings.Builder
			for _, line := range s.answers {
				out, err := answer(q, shape, s.payload, line)
				if err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				fmt.Fprintf(&heard, "%s\n=> %s\n", line, out)
				if _, mistaken := question.Recognise(out, nil); mistaken != question.Unknown {
					t.Errorf("the answer %s is itself taken for %s", out, mistaken)
				}
			}
			for _, line := range s.refused {
				out, err := answer(q, shape, s.payload, line)
				var bad *actions.DataError
				if !errors.As(err, &bad) {
					t.Errorf("%s: %s, %v; want a *DataError", line, out, err)
				}
			}
			got := map[string]string{"view": view(t, shape, q), "heard": heard.String()}
			for _, name := range []string{"view", "heard"} {
				if *update {
					s.set(name, got[name])
				} else if diff := cmp.Diff(s.section(name), got[name]); diff != "" {
					t.Errorf("%s: %s", name, diff)
				}
			}
			if *update {
				if err := os.WriteFile(s.file, txtar.Format(s.archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// TestEveryActionIsSaidOrRefused: an action is offered exactly where the shape has a word for it, or the engine means it
// alike for every shape; each that is offered has an answer among the samples, and each word is used by some of them.
func TestEveryActionIsSaidOrRefused(t *testing.T) {
	engines := []actions.Action{actions.Retry, actions.Stop, actions.Cancel}
	used := map[string]bool{}
	for _, s := range samples(t) {
		q, shape := question.Recognise(s.payload, nil)
		offered := actions.Allowed(q)
		for _, a := range actions.All() {
			answered := slices.ContainsFunc(s.answers, func(line string) bool { return strings.Fields(line)[0] == string(a) })
			switch {
			case !slices.Contains(offered, a):
				var refused *actions.NotAllowedError
				if _, err := actions.Validate(q, a, nil); !errors.As(err, &refused) || answered {
					t.Errorf("%s: %s is not offered and yet not refused: %v", s.file, a, err)
				}
			case question.HasWord(shape, s.payload, a):
				used[string(shape)+" "+string(a)] = true
				if !answered {
					t.Errorf("%s: %s is offered, but nothing shows what its asker hears", s.file, a)
				}
			case !slices.Contains(engines, a):
				t.Errorf("%s: %s is offered, but %s has no word for it", s.file, a, shape)
			}
			if _, err := question.Encode(shape, s.payload, question.Given{Answer: actions.Answer{Action: a, Value: json.RawMessage("null")}}); !question.HasWord(shape, s.payload, a) && !errors.Is(err, question.ErrNoWord) {
				t.Errorf("%s: %s is said without a word: %v", s.file, a, err)
			}
		}
		for _, a := range engines {
			if !slices.Contains(offered, a) {
				t.Errorf("%s: %s is not offered", s.file, a)
			}
		}
	}
	for _, f := range question.Formats() {
		for _, w := range f.Words {
			if !used[string(f.Shape)+" "+string(w.Action)] {
				t.Errorf("%s has a word for %s, which no sample uses", f.Shape, w.Action)
			}
		}
	}
}

// TestForeignPayloadsAreNotMistaken: payloads that only look alike are shown whole, as what they are.
func TestForeignPayloadsAreNotMistaken(t *testing.T) {
	for _, payload := range []string{
		`{"action_request": "send", "config": {"allow_accept": true}}`,
		`{"action_request": {"action": "send", "args": {}}, "config": {}}`,
		`{"action_request": {"action": "send", "args": {}}, "config": {"allow_accept": "yes"}}`,
		`[{"action_request": {"action": "send", "args": {}}, "config": {"allow_accept": true}}, 5]`,
		`[]`, `{}`, `[{}]`, `[null]`, `{"type": null}`,
		`{"action_requests": [{"name": "a", "args": {}}]}`,
		`{"action_requests": [{"name": "a", "args": {}}], "review_configs": [{"action_name": "b", "allowed_decisions": ["approve"]}]}`,
		`{"action_requests": [{"name": "a", "args": {}}], "review_configs": [{"action_name": "a", "allowed_decisions": ["launch"]}]}`,
		`{"action_requests": [], "review_configs": []}`,
		`{"type": "ask_user", "questions": []}`,
		`{"type": "ask_user", "questions": [{"question": "Which?", "type": "multiple_choice"}]}`,
		`{"type": "ask_user", "questions": [{"question": "Which?", "type": "slider"}]}`,
		`{"name": "adk_request_input"}`,
		`{"name": "adk_request_something", "args": {"message": "m"}}`,
		`{"name": "adk_request_confirmation", "args": {"toolConfirmation": {}}}`,
		`{"name": "adk_request_credential", "args": {"authConfig": "x"}}`,
		`{"message": "m", "response_schema": {"type": "string"}}`,
		`{"id": "1", "thread_id": "t", "interaction_type": "approval"}`,
		`{"id": "1", "thread_id": "t", "node_name": "n", "interaction_type": "vote"}`,
		`{"type": "suspend"}`,
		`{"type": "tool_approval_item", "tool_name": "x"}`,
		`{"type": "tool_approval_item", "raw_item": {"type": "function_call", "name": "x"}}`,
		`{"message": "m", "requestedSchema": {"type": "string"}}`,
		`{"message": "m", "mode": "voice", "requestedSchema": {"type": "object"}}`,
		`{"mode": "url", "message": "m"}`,
		`{"method": "sampling/createMessage", "params": {"message": "m", "requestedSchema": {"type": "object"}}}`,
		`{"id": "t", "contextId": "c", "status": {"state": "working"}}`,
		`{"id": "t", "status": {"state": "input-required"}}`,
		`{"kind": "message", "id": "t", "contextId": "c", "status": {"state": "input-required"}}`,
		`{"run_id": "r", "call_id": "c", "spec": {"fn": "f"}}`,
		`{"run_id": "r", "call_id": "c", "spec": {"fn": "f", "kwargs": {}}, "status": {"responded_at": "2027-01-01T00:00:00Z", "approved": true}}`,
		`{"id": "a", "session_id": "s", "tool_name": "t", "tool_input": {}, "status": "approved"}`,
		`{"form_content": "x", "user_actions": [{"id": "a"}]}`, `{"form_content": "x", "inputs": [], "user_actions": []}`,
		`{"form_content": "x", "inputs": [{"output_variable_name": "a"}, {"output_variable_name": "a"}], "user_actions": [{"id": "a"}]}`,
		`{"event": "human_input_required", "data": {"form_token": "x"}}`,
		`{"type": "quality_gate"}`, `{"type": "clarification"}`,
		`{"id": "p", "tool": "shell"}`, `{"id": "p", "tool": "shell", "options": [5]}`, `{"id": "p", "tool": "shell", "options": [{"name": "x"}]}`,
	} {
		if q, shape := question.Recognise(json.RawMessage(payload), nil); shape != question.Unknown || string(q.Content) != payload {
			t.Errorf("%s is taken for %s", payload, shape)
		}
	}
}

// TestOnlyOneShapeTakesAPayload: the order of the table decides nothing but speed, so a new row takes nothing away.
func TestOnlyOneShapeTakesAPayload(t *testing.T) {
	for _, s := range samples(t) {
		var takers []question.Shape
		for _, f := range question.Formats() {
			if f.Shape != question.Unknown && question.Takes(f, s.payload) {
				takers = append(takers, f.Shape)
			}
		}
		if len(takers) != 1 {
			t.Errorf("%s is taken by %v", s.file, takers)
		}
	}
}

func TestCredentialsAreSecret(t *testing.T) {
	n := 0
	for _, s := range samples(t) {
		name := filepath.Base(s.file)
		secret := strings.Contains(name, "credential") || strings.Contains(name, "_auth")
		q, _ := question.Recognise(s.payload, nil)
		if q.IsSecret() != secret {
			t.Errorf("%s: secret %v", name, !secret)
		}
		if shown, _ := json.Marshal(q); bytes.Contains(shown, []byte("hidden")) {
			t.Errorf("%s shows a secret of its asker: %s", name, shown)
		}
		if secret {
			n++
		}
	}
	if n == 0 {
		t.Error("no sample asks for a credential")
	}
}

// TestDamagedPayloads: whatever value in a payload is missing or of another type, the question can be asked and stored,
// and every answer to it is said or refused.
func TestDamagedPayloads(t *testing.T) {
	for _, s := range samples(t) {
		var whole any
		if err := json.Unmarshal(s.payload, &whole); err != nil {
			t.Fatal(err)
		}
		for damaged := range damages(whole) {
			payload, err := json.Marshal(damaged)
			if err != nil {
				t.Fatal(err)
			}
			checkPayload(t, payload, s.answers)
		}
	}
}

// damages yields copies of v with one value in it left out or replaced.
func damages(v any) iter.Seq[any] {
	others := []any{nil, 5, "x", []any{}, []any{"y"}, map[string]any{"z": 1}}
	return func(yield func(any) bool) {
		for _, other := range others {
			if !yield(other) {
				return
			}
		}
		switch t := v.(type) {
		case map[string]any:
			for key, inner := range t {
				without := maps.Clone(t)
				delete(without, key)
				if !yield(without) {
					return
				}
				for d := range damages(inner) {
					with := maps.Clone(t)
					with[key] = d
					if !yield(with) {
						return
					}
				}
			}
		case []any:
			for i, inner := range t {
				for d := range damages(inner) {
					with := slices.Clone(t)
					with[i] = d
					if !yield(with) {
						return
					}
				}
			}
		}
	}
}

// checkPayload holds a payload to what is true of any: nothing panics, the question can be asked, stored and read back as
// our own, what is offered is what the shape has words for, and an answer is said in JSON or refused.
func checkPayload(t *testing.T, payload json.RawMessage, answers []string) {
	t.Helper()
	q, shape := question.Recognise(payload, nil)
	foreign := shape != question.Unknown && shape != question.Native && q.Kind != actions.Unknown // which may stand in another
	for _, a := range actions.Allowed(q) {
		if engines := []actions.Action{actions.Retry, actions.Stop, actions.Cancel}; !question.HasWord(shape, payload, a) && !slices.Contains(engines, a) {
			t.Fatalf("%s: %s offers %s and has no word for it", payload, shape, a)
		}
	}
	if faults := question.Check(q); foreign && len(faults) > 0 {
		t.Fatalf("%s: %s makes a question that cannot be asked: %v", payload, shape, faults)
	}
	stored, err := json.Marshal(q)
	if err != nil {
		t.Fatalf("%s: %s: %v", payload, shape, err)
	}
	if again, own := question.Recognise(stored, nil); foreign && own != question.Native {
		t.Fatalf("our own question %s is taken for %s: %v", stored, own, again)
	}
	for _, line := range answers {
		out, err := answer(q, shape, payload, line)
		var bad *actions.DataError
		var refused *actions.NotAllowedError
		var size *actions.SizeError
		var unknown *actions.UnknownError
		switch {
		case err == nil && !json.Valid(out):
			t.Fatalf("%s, %s: the answer %s is not JSON", payload, line, out)
		case err != nil && !errors.As(err, &bad) && !errors.As(err, &refused) && !errors.As(err, &size) && !errors.As(err, &unknown) && !errors.Is(err, question.ErrNoWord):
			t.Fatalf("%s: %s, %s: %v", payload, shape, line, err)
		}
	}
}

// FuzzRecognise: what checkPayload says holds for any payload and any answer.
func FuzzRecognise(f *testing.F) {
	for _, s := range samples(f) {
		f.Add([]byte(s.payload), "approve", []byte(`"x"`))
		for _, line := range s.answers {
			name, data, _ := strings.Cut(line, " ")
			f.Add([]byte(s.payload), name, []byte(data))
		}
	}
	f.Fuzz(func(t *testing.T, payload []byte, action string, data []byte) {
		checkPayload(t, payload, []string{action + " " + string(data)})
	})
}
