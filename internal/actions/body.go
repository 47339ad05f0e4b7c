package actions

import (
	"bytes"
	"encoding/json"
	"errors"
	"unicode/utf8"
)

// Body is the answer to a thread as HTTP takes it: a response token without the thread, which the address names. It holds
// one answer or several, all or none.
type Body struct {
	Answers   []Token // of each the action ("" where none is named), the data, the question and the response id
	IfVersion string
	Reviewer  string
	Steal     bool // answer although somebody else has claimed the thread
}

// ParseBody reads {action?, data?, interrupt_id?, response_id?} or {answers: [...]}, a list of such objects, and in both
// if_version?, reviewer? and steal?. A null counts as absent, and a body of white space is {}. The rules are those of
// ParseToken, and so are the errors.
func ParseBody(raw []byte) (Body, error) {
	v, err := parseBody(raw)
	var b bodyReader
	if err == nil {
		err = readFields(&b, v, bodyFields())
	}
	if err == nil && b.answers != nil && (b.own.Action != "" || b.own.Data != nil || b.own.InterruptID != "" || b.own.ResponseID != "") {
		err = tokenError(WrongType, "answers", "answers holds every answer; give action, data, interrupt_id and response_id in it")
	}
	if err != nil {
		return Body{}, inBody(err)
	}
	out := Body{Answers: b.answers, IfVersion: b.own.IfVersion, Reviewer: b.own.Reviewer, Steal: b.steal}
	if b.answers == nil {
		out.Answers = []Token{b.own}
	}
	return out, nil
}

// Object reads one JSON object as strictly as a token is read. Its members are compact; white space is {}.
// The errors are those of ParseToken.
func Object(raw []byte) (map[string]json.RawMessage, error) {
	v, err := parseBody(raw)
	if err != nil {
		return nil, inBody(err)
	}
	members := make(map[string]json.RawMessage, len(v.members))
	for _, m := range v.members {
		members[m.name] = m.value.compact()
	}
	return members, nil
}

func parseBody(raw []byte) (*value, error) {
	if len(raw) > MaxSize {
		return nil, &SizeError{What: "body", Size: len(raw), Limit: MaxSize}
	}
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return &value{kind: isObject}, nil
	}
	if !utf8.Valid(raw) {
		return nil, tokenError(NotUTF8, "", "is not valid UTF-8")
	}
	v, err := parse(raw)
	switch {
	case errors.Is(err, errDuplicate):
		return nil, tokenError(DuplicateKey, "", "%v", err)
	case err != nil:
		return nil, tokenError(BrokenJSON, "", "is not valid JSON: %v", err)
	case v.kind != isObject:
		return nil, tokenError(WrongType, "", "must be an object, not %s", v.kind)
	}
	return v, nil
}

// inBody makes the fault of a token one of a body.
func inBody(err error) error {
	var fault *TokenError
	if errors.As(err, &fault) {
		fault.Body = true
	}
	return err
}

// bodyReader is a body being read.
type bodyReader struct {
	own     Token
	steal   bool
	answers []Token // nil where the body has no list
}

func bodyFields() []field[bodyReader] {
	fields := []field[bodyReader]{{"steal", readSteal}, {"answers", readAnswers}}
	for _, f := range append(answerFields(), versionField(), reviewerField()) {
		fields = append(fields, field[bodyReader]{f.name, func(b *bodyReader, key string, v *value) error { return f.read(&b.own, key, v) }})
	}
	return fields
}

// answerFields are the keys of one answer.
func answerFields() []field[Token] {
	return []field[Token]{{"action", readAction}, {"data", readData}, questionField(), responseField()}
}

func readSteal(b *bodyReader, key string, v *value) error {
	if v.kind != isBoolean {
		return tokenError(WrongType, key, "%s must be true or false, not %s", key, v.kind)
	}
	b.steal = v.boolean
	return nil
}

func readAnswers(b *bodyReader, key string, v *value) error {
	if v.kind != isList || len(v.items) == 0 {
		return tokenError(WrongType, key, "%s must be a list of one answer or more", key)
	}
	b.answers = make([]Token, len(v.items))
	for i, item := range v.items {
		if item.kind != isObject {
			return tokenError(WrongType, key, "%s must hold objects, not %s", key, item.kind)
		}
		if err := readFields(&b.answers[i], item, answerFields()); err != nil {
			return err
		}
	}
	return nil
}
