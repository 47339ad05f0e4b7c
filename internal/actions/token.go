package actions

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hitl-tui/hitl-tui/internal/nearest"
)

// MaxThreadID is the greatest length of a thread id in bytes.
const MaxThreadID = 200

// Token is a response token: which thread is answered, and how.
type Token struct {
	ThreadID    string
	Action      Action          // Continue where the token names none
	Data        json.RawMessage // compact; nil where the token has none
	InterruptID string          // needed only when several questions are open
	IfVersion   string          // "STEP.REVISION" or "STEP": the version the answer was made for; "" for any
	Reviewer    string
	ResponseID  string // idempotency key
}

// Fault is one thing that can be wrong with a response token.
type Fault string

// The faults.
const (
	EmptyToken      Fault = "empty"
	NotUTF8         Fault = "not_utf8"
	ByteOrderMark   Fault = "byte_order_mark"
	BrokenJSON      Fault = "broken_json"
	UnknownKey      Fault = "unknown_key"
	DuplicateKey    Fault = "duplicate_key"
	WrongType       Fault = "wrong_type"
	EmptyAction     Fault = "empty_action"
	NoThread        Fault = "no_thread"
	EmptyThread     Fault = "empty_thread"
	LongThread      Fault = "long_thread"
	ControlInThread Fault = "control_in_thread"
	UnfitThread     Fault = "unfit_thread" // of a new thread
	BadVersion      Fault = "bad_version"
)

// TokenError says what is wrong with a response token, or with a body of HTTP that is read like one. The code of a token's is
// invalid_token, that of a body's usage.
type TokenError struct {
	Fault   Fault
	Key     string // the key of the token concerned, "" for the whole
	Message string
	Body    bool // it was the body of a request
}

// Error names the place and the remedy.
func (e *TokenError) Error() string {
	if e.Body {
		return "body: " + e.Message
	}
	return "response token: " + e.Message
}

// Code is the error code of the command line and of HTTP.
func (e *TokenError) Code() string {
	if e.Body {
		return "usage"
	}
	return "invalid_token"
}

func tokenError(fault Fault, key, format string, args ...any) *TokenError {
	return &TokenError{Fault: fault, Key: key, Message: fmt.Sprintf(format, args...)}
}

// ParseToken reads a response token in either of its forms. Text that begins with { is a JSON object with thread_id
// (text or number), response_action, response_data and, beyond AgentMap, interrupt_id, if_version, reviewer and
// response_id; a null counts as absent. Anything else is a plain thread id with the action continue. White space
// around a token, such as the final newline of a file, does not belong to it.
//
// Errors: *SizeError for a token over MaxSize; *UnknownError for an action that is none of the
// fifteen; *TokenError for every other fault.
func ParseToken(raw []byte) (Token, error) {
	if len(raw) > MaxSize {
		return Token{}, &SizeError{What: "response token", Size: len(raw), Limit: MaxSize}
	}
	if bytes.HasPrefix(raw, []byte("\ufeff")) {
		return Token{}, tokenError(ByteOrderMark, "", "begins with a byte order mark; save it as UTF-8 without one")
	}
	if !utf8.Valid(raw) {
		return Token{}, tokenError(NotUTF8, "", "is not valid UTF-8")
	}
	text := strings.Trim(string(raw), " \t\r\n")
	switch {
	case text == "":
		return Token{}, tokenError(EmptyToken, "", "is empty; give a thread id, or a JSON object with thread_id")
	case text[0] != '{':
		if err := checkThread(text); err != nil {
			return Token{}, err
		}
		return Token{ThreadID: text, Action: Continue}, nil
	}
	v, err := parse([]byte(text))
	switch {
	case errors.Is(err, errDuplicate):
		return Token{}, tokenError(DuplicateKey, "", "%v", err)
	case err != nil:
		return Token{}, tokenError(BrokenJSON, "", "begins with { but is not valid JSON: %v", err)
	}
	return readToken(v)
}

// field reads one key of a token, or of a body, into T.
type field[T any] struct {
	name string
	read func(t *T, key string, v *value) error
}

func tokenFields() []field[Token] {
	return []field[Token]{
		{"thread_id", readThread}, {"response_action", readAction}, {"response_data", readData}, questionField(), versionField(), reviewerField(), responseField(),
	}
}

func questionField() field[Token] {
	return field[Token]{"interrupt_id", func(t *Token, key string, v *value) error { return readTokenText(&t.InterruptID, key, v) }}
}

func versionField() field[Token] { return field[Token]{"if_version", readVersion} }

func reviewerField() field[Token] {
	return field[Token]{"reviewer", func(t *Token, key string, v *value) error { return readTokenText(&t.Reviewer, key, v) }}
}

func responseField() field[Token] {
	return field[Token]{"response_id", func(t *Token, key string, v *value) error { return readTokenText(&t.ResponseID, key, v) }}
}

// readFields reads an object by a table of its keys. A null counts as absent, but for thread_id.
func readFields[T any](t *T, v *value, fields []field[T]) error {
	known := make([]string, len(fields))
	for i, f := range fields {
		known[i] = f.name
	}
	for _, m := range v.members {
		i := slices.Index(known, m.name)
		if i < 0 {
			return tokenError(UnknownKey, m.name, "unknown key %s%s (the keys are %s)",
				quote(m.name), nearest.Hint(m.name, known), list(known))
		}
		if m.value.kind == isNull && m.name != "thread_id" {
			continue
		}
		if err := fields[i].read(t, m.name, m.value); err != nil {
			return err
		}
	}
	return nil
}

func readToken(v *value) (Token, error) {
	t := Token{Action: Continue}
	if err := readFields(&t, v, tokenFields()); err != nil {
		return Token{}, err
	}
	if t.ThreadID == "" {
		return Token{}, tokenError(NoThread, "thread_id", "thread_id is required")
	}
	return t, nil
}

func readThread(t *Token, key string, v *value) error {
	switch v.kind {
	case isNull:
		return tokenError(NoThread, key, "thread_id is null; it must be a text or a number")
	case isText, isNumber:
		t.ThreadID = v.text
		return checkThread(v.text)
	}
	return tokenError(WrongType, key, "thread_id must be a text or a number, not %s", v.kind)
}

// ThreadIDError says why a text cannot name a thread. Its code is usage; within a token it is a *TokenError.
type ThreadIDError struct {
	Fault   Fault
	Message string
}

// Error says what is wrong.
func (e *ThreadIDError) Error() string { return e.Message }

// Code is the error code of the command line and of HTTP.
func (e *ThreadIDError) Code() string { return "usage" }

// CheckThreadID refuses what cannot be the id of a thread: what is empty, longer than MaxThreadID, not UTF-8, or holds
// control characters. The error is a *ThreadIDError.
func CheckThreadID(id string) error {
	switch {
	case strings.TrimSpace(id) == "":
		return &ThreadIDError{EmptyThread, "the thread id is empty"}
	case len(id) > MaxThreadID:
		return &ThreadIDError{LongThread, fmt.Sprintf("the thread id is %d bytes; the limit is %d", len(id), MaxThreadID)}
	case !utf8.ValidString(id):
		return &ThreadIDError{NotUTF8, "the thread id is not valid UTF-8"}
	}
	if i := strings.IndexFunc(id, unicode.IsControl); i >= 0 {
		r, _ := utf8.DecodeRuneInString(id[i:])
		return &ThreadIDError{ControlInThread, fmt.Sprintf("the thread id has the control character %U at byte %d", r, i)}
	}
	return nil
}

// CheckNewThreadID refuses an id that a new thread may not be given: whatever CheckThreadID refuses, and what does not go as
// it is into a command line, a URL and the name of a file. An id begins with a letter or a digit, which are those of any
// script, and goes on with these or with one of . _ - : @ +. Threads that have another id already keep it. The error is a
// *ThreadIDError.
func CheckNewThreadID(id string) error {
	if err := CheckThreadID(id); err != nil {
		return err
	}
	for i, r := range id {
		plain := unicode.IsLetter(r) || unicode.IsDigit(r)
		if !plain && (i == 0 || !unicode.IsMark(r) && !strings.ContainsRune("._-:@+", r)) {
			return &ThreadIDError{UnfitThread, fmt.Sprintf("%q cannot be the id of a new thread because of %q at byte %d: "+
				"it begins with a letter or a digit and goes on with letters, digits and . _ - : @ +", id, r, i)}
		}
	}
	return nil
}

func checkThread(id string) error {
	var bad *ThreadIDError
	if !errors.As(CheckThreadID(id), &bad) {
		return nil
	}
	return tokenError(bad.Fault, "thread_id", "%s", bad.Message)
}

func readAction(t *Token, key string, v *value) error {
	switch {
	case v.kind != isText:
		return tokenError(WrongType, key, "%s must be a text, not %s", key, v.kind)
	case v.text == "":
		return tokenError(EmptyAction, key, "%s is empty; leave it out to continue", key)
	}
	var err error
	t.Action, err = Parse(v.text)
	return err
}

func readData(t *Token, _ string, v *value) error {
	t.Data = v.compact() // never longer than it was in the token, so the limit holds for it too
	return nil
}

// readTokenText reads an identifier: like a thread id, but a number is a mistake.
func readTokenText(to *string, key string, v *value) error {
	switch {
	case v.kind != isText:
		return tokenError(WrongType, key, "%s must be a text, not %s", key, v.kind)
	case strings.TrimSpace(v.text) == "" || len(v.text) > MaxThreadID || strings.ContainsFunc(v.text, unicode.IsControl):
		return tokenError(WrongType, key, "%s must be a text of 1 to %d bytes without control characters", key, MaxThreadID)
	}
	*to = v.text
	return nil
}

// readVersion reads "STEP.REVISION", "STEP" or a whole number. A number with a fraction is refused: 5.10 and 5.1
// would be the same.
func readVersion(t *Token, key string, v *value) error {
	step, revision, both := strings.Cut(v.text, ".")
	ok := isDigits(step) && (!both || isDigits(revision)) && (v.kind == isText || v.kind == isNumber && !both)
	if !ok {
		return tokenError(BadVersion, key, `%s must be a text "STEP.REVISION", or a step, not %s`, key, quote(v.display()))
	}
	t.IfVersion = v.text
	return nil
}

func isDigits(s string) bool {
	return s != "" && len(s) <= 18 && strings.Trim(s, "0123456789") == ""
}
