package actions

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseBody(t *testing.T) {
	for text, want := range map[string]Body{
		"":    {Answers: []Token{{}}},
		" {}": {Answers: []Token{{}}},
		`{"action":null,"data":null,"steal":null,"if_version":null}`: {Answers: []Token{{}}},
		`{"action":"APPROVE","data":{ "a" : 1 },"interrupt_id":"i","if_version":"5.1","reviewer":"ana","response_id":"r","steal":true}`: {
			Answers:   []Token{{Action: Approve, Data: []byte(`{"a":1}`), InterruptID: "i", ResponseID: "r", IfVersion: "5.1", Reviewer: "ana"}},
			IfVersion: "5.1", Reviewer: "ana", Steal: true,
		},
		`{"if_version":5,"answers":[{"interrupt_id":"a","action":"approve"},{"interrupt_id":"b","data":[1],"response_id":"r"}]}`: {
			Answers:   []Token{{Action: Approve, InterruptID: "a"}, {InterruptID: "b", Data: []byte(`[1]`), ResponseID: "r"}},
			IfVersion: "5",
		},
	} {
		got, err := ParseBody([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// TestParseBodyRefuses: whatever would lose something without a word is refused, by name.
func TestParseBodyRefuses(t *testing.T) {
	for text, want := range map[string]Fault{
		`{"action":"approve"`:                    BrokenJSON,
		`{"action":"approve"} x`:                 BrokenJSON,
		`{"data":NaN}`:                           BrokenJSON,
		`{"data":1e999}`:                         BrokenJSON,
		`{"data":` + strings.Repeat("[", 600):    BrokenJSON,
		"{\"data\":\"\xff\"}":                    NotUTF8,
		"\ufeff{}":                               BrokenJSON,
		`[]`:                                     WrongType,
		`"approve"`:                              WrongType,
		`null`:                                   WrongType,
		`{"action":"approve","action":"reject"}`: DuplicateKey,
		`{"data":{"a":1,"a":2}}`:                 DuplicateKey,
		`{"Action":"approve"}`:                   UnknownKey,
		`{"thread_id":"t"}`:                      UnknownKey,
		`{"action":""}`:                          EmptyAction,
		`{"action":1}`:                           WrongType,
		`{"steal":"yes"}`:                        WrongType,
		`{"if_version":5.1}`:                     BadVersion,
		`{"reviewer":"a\nb"}`:                    WrongType,
		`{"interrupt_id":7}`:                     WrongType,
		`{"answers":[]}`:                         WrongType,
		`{"answers":{}}`:                         WrongType,
		`{"answers":["approve"]}`:                WrongType,
		`{"answers":[{"steal":true}]}`:           UnknownKey,
		`{"answers":[{"action":"approve"}],"action":"reject"}`: WrongType,
		`{"answers":[{"action":"approve"}],"response_id":"r"}`: WrongType,
	} {
		_, err := ParseBody([]byte(text))
		var fault *TokenError
		if !errors.As(err, &fault) || fault.Fault != want {
			t.Errorf("%.60s: %v, want %s", text, err, want)
			continue
		}
		if strings.Contains(err.Error(), "token") {
			t.Errorf("%.60s: a body is no token: %v", text, err)
		}
	}
	var unknown *UnknownError
	if _, err := ParseBody([]byte(`{"action":"aprove"}`)); !errors.As(err, &unknown) {
		t.Errorf("an unknown action: %v", err)
	}
	var size *SizeError
	if _, err := ParseBody([]byte(`{"data":"` + strings.Repeat("x", MaxSize-11) + `"}`)); err != nil {
		t.Errorf("a body of just the limit: %v", err)
	}
	if _, err := ParseBody([]byte(`{"data":"` + strings.Repeat("x", MaxSize-10) + `"}`)); !errors.As(err, &size) {
		t.Errorf("a byte more: %v", err)
	}
}

func TestObject(t *testing.T) {
	got, err := Object([]byte(`{"a": [1, 2], "b": null}`))
	if err != nil || string(got["a"]) != "[1,2]" || string(got["b"]) != "null" || len(got) != 2 {
		t.Errorf("%s, %v", got, err)
	}
	var fault *TokenError
	if _, err := Object([]byte(`{"a":1,"a":2}`)); !errors.As(err, &fault) || !fault.Body {
		t.Errorf("a key twice: %v", err)
	}
}
