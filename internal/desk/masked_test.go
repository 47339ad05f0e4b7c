package desk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/redact"
)

const planted = "hunter2"

// names are the fields that a secret cannot stand in: what a workflow's author or the program itself named.
var names = []string{"ID", "Short", "Workflow", "Node", "Status", "Cursor", "Claimed", "Holder", "Assignee", "Group", "Priority", "Fingerprint",
	"Workdir", "StartedBy", "FailedNode", "Next", "Origin", "Run", "Decision", "Thread", "Key", "Address", "Path", "Shape", "Version", "FeedbackBy",
	"ShownHash", "ContentKey", "ContentType", "Kind", "Actions", "RequireComment", "DefaultAction", "Action", "Leads", "Why", "Reviewer", "Outcome",
	"Hash", "Question", "ErrNode", "Code", "Bulk", "State", "Source", "Nodes", "FormerAction", "ResponseID", "Shown", "Name", "File", "Summary", "Done", "Data", "Rule", "When"}

// plant fills every text and every JSON of a value, at any depth, with a secret.
func plant(v reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[json.RawMessage]():
		v.Set(reflect.ValueOf(json.RawMessage(`{"password":"` + planted + `"}`)))
	case v.Type() == reflect.TypeFor[time.Time]():
	case v.Kind() == reflect.String:
		v.SetString("token=" + planted)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.Name != "Unmasked" && f.Name != "Of" && f.IsExported() {
				plant(v.Field(i))
			}
		}
	case v.Type() == reflect.TypeFor[[]actions.Question](): // the parts of a question, which have none
		part := reflect.New(v.Type().Elem()).Elem()
		for i := range part.NumField() {
			if part.Type().Field(i).Name != "Parts" {
				plant(part.Field(i))
			}
		}
		v.Set(reflect.Append(v, part))
	case v.Kind() == reflect.Slice && v.Len() == 0:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		plant(v.Index(0))
	case v.Kind() == reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		item := reflect.New(v.Type().Elem()).Elem()
		plant(item)
		v.SetMapIndex(reflect.ValueOf("password"), item)
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		plant(v.Elem())
	}
}

// leaks names the fields in which a secret is left.
func leaks(v reflect.Value, at string) []string {
	var found []string
	switch {
	case v.Type() == reflect.TypeFor[json.RawMessage](), v.Kind() == reflect.String:
		if strings.Contains(fmt.Sprintf("%s", v.Interface()), planted) {
			found = append(found, at)
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			plain := f.Type.Kind() == reflect.String || f.Type.Kind() == reflect.Slice && f.Type.Elem().Kind() == reflect.String
			if f.Name == "Unmasked" || f.Name == "Draft" || !f.IsExported() || plain && slices.Contains(names, f.Name) {
				continue
			}
			if f.Type == reflect.TypeFor[Choice]() || f.Type == reflect.TypeFor[[]Choice]() || f.Type == reflect.TypeFor[[]PathStep]() {
				continue
			}
			found = append(found, leaks(v.Field(i), at+"."+f.Name)...)
		}
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			found = append(found, leaks(v.Index(i), at)...)
		}
	case v.Kind() == reflect.Map:
		for _, k := range v.MapKeys() {
			found = append(found, leaks(v.MapIndex(k), at)...)
		}
	case v.Kind() == reflect.Pointer && !v.IsNil():
		found = append(found, leaks(v.Elem(), at)...)
	}
	return found
}

// masks applies m to a value of one type with a secret in each of its fields and names those where it is left.
func masks[T any](t *testing.T, do func(T) T) {
	t.Helper()
	var x T
	v := reflect.ValueOf(&x).Elem()
	plant(v)
	var before T
	plant(reflect.ValueOf(&before).Elem())
	if len(leaks(v, v.Type().Name())) == 0 {
		t.Fatalf("%T: nothing was planted", x)
	}
	got := do(x)
	if left := leaks(reflect.ValueOf(&got).Elem(), v.Type().Name()); len(left) > 0 {
		t.Errorf("a secret is left in %s", left)
	}
	if diff := cmp.Diff(before, x); diff != "" {
		t.Errorf("%T: the argument was altered: %s", x, diff)
	}
}

func TestNoFieldShowsASecret(t *testing.T) {
	var m mask
	masks(t, m.thread)
	masks(t, m.detail)
	masks(t, m.question)
	masks(t, m.row)
	masks(t, m.step)
	masks(t, m.state)
	masks(t, m.entry)
	masks(t, m.result)
	masks(t, m.workflow)
	masks(t, m.event)
	masks(t, m.diff)
	masks(t, m.trial)
	masks(t, m.rule)
}

func TestMaskKeepsTheWholeQuestion(t *testing.T) {
	var m mask
	q := Question{ID: "q", Payload: json.RawMessage(`{"password":"hunter2"}`)}
	q.ContentKey, q.Content = "api_key", json.RawMessage(`{"a":"hunter2"}`)
	shown := m.question(q)
	if string(shown.Content) != `"[redacted]"` || string(shown.Whole().Content) != `{"a":"hunter2"}` {
		t.Errorf("%s, whole %s", shown.Content, shown.Whole().Content)
	}
	if a, b := NewDraft(q), NewDraft(shown); a != b {
		t.Errorf("a draft is for another question once it is masked: %+v, %+v", a, b)
	}
	if plain := m.question(Question{ID: "q", Payload: json.RawMessage(`{}`)}); plain.Unmasked != nil {
		t.Error("a question without a secret is kept twice")
	}
}

func TestMaskedErrorsKeepTheirCode(t *testing.T) {
	var m mask
	err := m.err(fmt.Errorf("answer: %w", &Error{Code: CodeInvalidData, Message: "token=hunter2", Remedy: "no", Details: map[string]any{"password": "hunter2"}, Err: ErrClosed}))
	var own *Error
	if !errors.As(err, &own) || own.Code != CodeInvalidData || !errors.Is(err, ErrClosed) {
		t.Fatalf("%v", err)
	}
	if text := fmt.Sprint(Explain(err), err, own.Details, own.Err); strings.Contains(text, planted) {
		t.Error(text)
	}
	plain := &Error{Code: CodeUsage, Message: "plain"}
	if m.err(plain) != error(plain) || m.err(nil) != nil {
		t.Error("an error without a secret is not itself")
	}
}

// TestMaskedDesk: what is answered goes out whole, what is shown of it is masked, and a reveal is for what is read then.
func TestMaskedDesk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		thread := f.add("t-1", 1)
		thread.open[0].Payload = json.RawMessage(`{"password":"hunter2"}`)
		thread.open[0].Message = "PASSWORD=hunter2"
		thread.open[0].Title = "token=hunter2"
		whole, err := New(f, Options{Reviewer: "ann", Grace: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		defer whole.Close(t.Context())
		d := whole.Masked(redact.Rules{})
		detail, err := d.Open(t.Context(), "t-1")
		if err != nil {
			t.Fatal(err)
		}
		q := detail.Questions[0]
		if q.Message != "PASSWORD=[redacted]" || q.Whole().Message != "PASSWORD=hunter2" {
			t.Errorf("%q, whole %q", q.Message, q.Whole().Message)
		}
		sent := json.RawMessage(`"the token=hunter2 is wrong"`)
		e, err := d.Respond(t.Context(), Decision{Thread: "t-1", Question: q.ID, Action: "reject", Data: sent, Version: q.Version}, &Draft{Text: "token=hunter2"})
		if err != nil {
			t.Fatal(err)
		}
		for _, shown := range append(d.Outbox(), *e) {
			if strings.Contains(string(shown.Decision.Data)+shown.Decision.Title, planted) {
				t.Errorf("shown: %+v", shown.Decision)
			}
		}
		if kept := whole.Outbox()[0]; !bytes.Equal(kept.Decision.Data, sent) {
			t.Errorf("%s is sent, not what was given", kept.Decision.Data)
		}
		back, err := d.TakeBack("")
		if err != nil || back.Draft.Text != "token=hunter2" {
			t.Errorf("what was typed came back as %+v, %v", back, err)
		}
		d.Reveal(true)
		if detail, err = d.Open(t.Context(), "t-1"); err != nil || detail.Questions[0].Message != "PASSWORD=hunter2" || detail.Questions[0].Title != "token=[redacted]" {
			t.Errorf("revealed: %+v, %v", detail, err)
		}
		d.Reveal(false)
		if detail, err = d.Open(t.Context(), "t-1"); err != nil || detail.Questions[0].Message != "PASSWORD=[redacted]" {
			t.Errorf("masked again: %+v, %v", detail, err)
		}
		events := d.Subscribe(t.Context())
		whole.hub.publish(Event{Kind: Progress, Thread: "t-1", Text: "PASSWORD=hunter2"})
		synctest.Wait()
		for batch := range events {
			for _, e := range batch {
				if e.Kind != Progress {
					continue
				}
				if e.Text != "PASSWORD=[redacted]" {
					t.Errorf("heard %+v", e)
				}
				return
			}
		}
		t.Error("nothing was heard")
	})
}
