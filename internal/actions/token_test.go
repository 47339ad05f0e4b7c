package actions_test

import (
	"errors"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

func TestParseToken(t *testing.T) {
	for raw, want := range map[string]actions.Token{
		"t-1":                {ThreadID: "t-1", Action: actions.Continue},
		"t-1\n":              {ThreadID: "t-1", Action: actions.Continue},
		"123":                {ThreadID: "123", Action: actions.Continue},
		`"abc"`:              {ThreadID: `"abc"`, Action: actions.Continue},
		"null":               {ThreadID: "null", Action: actions.Continue},
		`{"thread_id": 123}`: {ThreadID: "123", Action: actions.Continue},
		`{"thread_id":"t","response_action":"EDIT","response_data":{ "b":1, "a":"\u00e9" },"interrupt_id":"i","if_version":"5.1","reviewer":"ann","response_id":"r"}`: {
			ThreadID: "t", Action: actions.Edit, Data: raw2(`{"b":1,"a":"é"}`), InterruptID: "i", IfVersion: "5.1", Reviewer: "ann", ResponseID: "r"},
		`{"thread_id":"t","if_version":5}`:                           {ThreadID: "t", Action: actions.Continue, IfVersion: "5"},
		`{"thread_id":"t","response_data":null,"interrupt_id":null}`: {ThreadID: "t", Action: actions.Continue},
		strings.Repeat("x", actions.MaxThreadID):                     {ThreadID: strings.Repeat("x", actions.MaxThreadID), Action: actions.Continue},
	} {
		got, err := actions.ParseToken([]byte(raw))
		if err != nil {
			t.Errorf("%s: %v", raw, err)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", raw, diff)
		}
	}
}

func raw2(s string) []byte { return []byte(s) }

func TestParseTokenFaults(t *testing.T) {
	for raw, want := range map[string]actions.Fault{
		"": actions.EmptyToken, " \n": actions.EmptyToken,
		"\xff":                                  actions.NotUTF8,
		"\ufeffabc":                             actions.ByteOrderMark,
		"{":                                     actions.BrokenJSON,
		`{"thread_id":"t"}x`:                    actions.BrokenJSON,
		`{"thread_id":"t",}`:                    actions.BrokenJSON,
		`{thread_id:"t"}`:                       actions.BrokenJSON,
		`{"thread_id":"t","response_data":NaN}`: actions.BrokenJSON,
		`{"thread_id":"t","response_data":Infinity}`:      actions.BrokenJSON,
		`{"thread_id":"t","respons_action":"approve"}`:    actions.UnknownKey,
		`{"Thread_id":"t"}`:                               actions.UnknownKey,
		`{"thread_id":"t","thread_id":"u"}`:               actions.DuplicateKey,
		`{"thread_id":"t","response_data":{"a":1,"a":2}}`: actions.DuplicateKey,
		`{"thread_id":{"a":1}}`:                           actions.WrongType,
		`{"thread_id":true}`:                              actions.WrongType,
		`{"thread_id":"t","response_action":5}`:           actions.WrongType,
		`{"thread_id":"t","reviewer":5}`:                  actions.WrongType,
		`{"thread_id":"t","response_id":"a\u0000"}`:       actions.WrongType,
		`{"thread_id":"t","response_action":""}`:          actions.EmptyAction,
		"{}":                                              actions.NoThread,
		`{"thread_id":null}`:                              actions.NoThread,
		`{"thread_id":""}`:                                actions.EmptyThread,
		`{"thread_id":"  "}`:                              actions.EmptyThread,
		strings.Repeat("x", 201):                          actions.LongThread,
		"a\x00b":                                          actions.ControlInThread,
		"a\nb":                                            actions.ControlInThread,
		`{"thread_id":"a\u009bb"}`:                        actions.ControlInThread,
		`{"thread_id":"t","if_version":5.1}`:              actions.BadVersion,
		`{"thread_id":"t","if_version":"five"}`:           actions.BadVersion,
		`{"thread_id":"t","if_version":-1}`:               actions.BadVersion,
	} {
		_, err := actions.ParseToken([]byte(raw))
		var fault *actions.TokenError
		if !errors.As(err, &fault) || fault.Fault != want {
			t.Errorf("%q: %v, want %s", raw, err, want)
		}
	}
}

func TestParseTokenUnknownAction(t *testing.T) {
	for raw, suggestion := range map[string]actions.Action{"aprove": actions.Approve, " approve": actions.Approve, "text-input": actions.TextInput, "zzz": ""} {
		_, err := actions.ParseToken([]byte(`{"thread_id":"t","response_action":"` + raw + `"}`))
		var unknown *actions.UnknownError
		if !errors.As(err, &unknown) || unknown.Name != raw || unknown.Suggestion() != suggestion {
			t.Errorf("%q: %v", raw, err)
		}
		for _, a := range actions.All() {
			if !strings.Contains(err.Error(), string(a)) {
				t.Errorf("%v does not list %s", err, a)
			}
		}
	}
}

func TestParseTokenLimit(t *testing.T) {
	const frame = `{"thread_id":"t","response_data":""}`
	fits := strings.Replace(frame, `""`, `"`+strings.Repeat("x", actions.MaxSize-len(frame))+`"`, 1)
	if _, err := actions.ParseToken([]byte(fits)); err != nil {
		t.Errorf("%d bytes: %v", len(fits), err)
	}
	var size *actions.SizeError
	if _, err := actions.ParseToken([]byte(fits + " ")); !errors.As(err, &size) || size.Size != actions.MaxSize+1 {
		t.Errorf("%d bytes: %v", len(fits)+1, err)
	}
}

func FuzzParseToken(f *testing.F) {
	for _, s := range []string{"t", "{", `{"thread_id":"t","response_action":"approve","response_data":{"a":[1,"é"]}}`, `{"thread_id":1e5,"if_version":"1.2"}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		token, err := actions.ParseToken(raw)
		if err != nil {
			if token.ThreadID != "" {
				t.Fatalf("a refused token gives a thread: %+v", token)
			}
			return
		}
		if token.ThreadID == "" || len(token.ThreadID) > actions.MaxThreadID || strings.ContainsFunc(token.ThreadID, unicode.IsControl) {
			t.Fatalf("thread id %q", token.ThreadID)
		}
		if _, ok := actions.Describe(token.Action); !ok {
			t.Fatalf("action %q", token.Action)
		}
		if len(token.Data) > actions.MaxSize {
			t.Fatalf("%d bytes of data", len(token.Data))
		}
	})
}

// TestNewThreadIDs: what goes into a command line, a URL and a file name as it is, and nothing else.
func TestNewThreadIDs(t *testing.T) {
	for _, id := range []string{"a", "0197a2-b", "fix_1.2:rc@host+x", "Año", "発注7", "e\u0301t\u00e9"} {
		if err := actions.CheckNewThreadID(id); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
	for id, want := range map[string]actions.Fault{
		"": actions.EmptyThread, " ": actions.EmptyThread, strings.Repeat("a", 201): actions.LongThread, "a\nb": actions.ControlInThread,
		"a b": actions.UnfitThread, "a/b": actions.UnfitThread, `a\b`: actions.UnfitThread, ".": actions.UnfitThread, "..": actions.UnfitThread,
		".hidden": actions.UnfitThread, "-flag": actions.UnfitThread, "{json": actions.UnfitThread, "a'b": actions.UnfitThread,
		"a$b": actions.UnfitThread, "a\u202eb": actions.UnfitThread, "a\u00a0b": actions.UnfitThread, "\u0301a": actions.UnfitThread,
	} {
		var bad *actions.ThreadIDError
		if err := actions.CheckNewThreadID(id); !errors.As(err, &bad) || bad.Fault != want {
			t.Errorf("%q: %v, want %s", id, err, want)
		}
	}
}
