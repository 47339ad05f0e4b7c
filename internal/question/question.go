// Package question turns an interrupt payload of any known shape into one view that a person can be shown, and an
// answer back into the shape its asker understands.
//
// It draws nothing and stores nothing. A payload of a shape it does not know is still a question: all fifteen
// actions are allowed and the payload itself is the content.
package question

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// Given is a validated answer with who gave it and when, which some shapes tell their asker.
type Given struct {
	actions.Answer
	By string
	At time.Time
}

// asked is a payload that was understood.
type asked interface {
	question() actions.Question
	// answer is what the asker hears: something that json.Marshal writes. An answer that fits the question and yet
	// cannot be said in the shape is an *actions.DataError.
	answer(Given) (any, error)
}

// ErrNoWord says that a payload's shape has no word for an action. The engine then does what the action means.
var ErrNoWord = errors.New("the payload's shape has no word for this action")

// Recognise reads a payload. It never fails: what is not a known shape is Unknown, with the payload as content.
// content, when not nil, is the present value of the state key under review and replaces Question.Content.
func Recognise(payload, content json.RawMessage) (actions.Question, Shape) {
	x, f := recognise(payload)
	q := x.question()
	if content != nil {
		q.Content = content
	}
	return q, f.Shape
}

func recognise(raw json.RawMessage) (asked, Format) {
	p := newPayload(raw)
	all := Formats()
	for _, f := range all {
		if x, ok := f.read(p); ok {
			return x, f
		}
	}
	x, _ := readUnknown(p)
	return x, all[len(all)-1]
}

// HasWord reports whether a payload of a shape can say an action to its asker.
func HasWord(shape Shape, payload json.RawMessage, action actions.Action) bool {
	f, ok := formatOf(shape)
	if !ok {
		return false
	}
	if f.wraps {
		x, ok := f.read(newPayload(payload))
		around, is := x.(wrapper)
		return ok && is && around.says(action)
	}
	return f.says(action)
}

func (f Format) says(action actions.Action) bool {
	return f.Words == nil || slices.ContainsFunc(f.Words, func(w Word) bool { return w.Action == action })
}

// Encode writes an answer in the asker's own shape: for Native and Unknown the answer record itself, to which the
// engine adds who answered and when. Errors: ErrNoWord, *actions.DataError for what the shape cannot say.
func Encode(shape Shape, payload json.RawMessage, given Given) (json.RawMessage, error) {
	f, ok := formatOf(shape)
	if !ok {
		return nil, fmt.Errorf("no answer can be written in the shape %q, which this program does not know", shape)
	}
	if !HasWord(shape, payload, given.Action) {
		return nil, fmt.Errorf("%w: %s to %s", ErrNoWord, given.Action, f.Title)
	}
	x, ok := f.read(newPayload(payload))
	if !ok {
		return nil, fmt.Errorf("the payload is not of the shape %q", shape)
	}
	out, err := x.answer(given)
	if err != nil {
		return nil, err
	}
	return marshal(out)
}

// record answers with the answer record of the json program protocol: action, value, comment.
type record struct{ q actions.Question }

func (r record) question() actions.Question { return r.q }

func (r record) answer(given Given) (any, error) {
	if given.Value == nil {
		given.Value = json.RawMessage("null")
	}
	return given.Answer, nil
}
