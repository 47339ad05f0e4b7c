// Package question turns an interrupt payload of any known shape into one view that a person can be shown, and an
// answer back into the shape its asker understands.
//
// It draws nothing and stores nothing. A payload of a shape it does not know is still a question: all fifteen
// actions are allowed and the payload itself is the content.
package question

import (
	"encoding/json"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// Shape names the format a payload was recognised as.
type Shape string

// The shapes known so far.
const (
	Native  Shape = "native"  // actions.Question, as human nodes and programs with `kind` write it
	Unknown Shape = "unknown" // anything else
)

// Recognise reads a payload. It never fails: what is not a known shape is Unknown, with the payload as content.
// content, when not nil, is the present value of the state key under review and replaces Question.Content.
func Recognise(payload, content json.RawMessage) (actions.Question, Shape) {
	panic("contract only")
}

// Encode writes an answer in the asker's own shape: for Native the answer record itself.
func Encode(shape Shape, payload json.RawMessage, answer actions.Answer) (json.RawMessage, error) {
	panic("contract only")
}
