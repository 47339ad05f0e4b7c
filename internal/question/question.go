// Package question turns an interrupt payload of any known shape into one view that a person can be shown, and an
// answer back into the shape its asker understands.
//
// It draws nothing and stores nothing. A payload of a shape it does not know is still a question: all fifteen
// actions are allowed and the payload itself is the content.
package question

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// Shape names the format a payload was recognised as.
type Shape string

// The shapes known so far.
const (
	Native  Shape = "native"  // actions.Question, as human nodes and programs with `kind` write it
	Unknown Shape = "unknown" // anything else
)

// recogniser knows one shape: one file each, in the order of recognisers.
type recogniser struct {
	shape Shape
	// read is the question in a payload, and false when the payload is of another shape. It must not be quick to say
	// true: what it does not show is lost to the reader.
	read func(payload json.RawMessage) (actions.Question, bool)
	// write is the answer as the asker expects it.
	write func(payload json.RawMessage, answer actions.Answer) (json.RawMessage, error)
}

// recognisers is the table of known shapes, the most telling first. The last takes everything.
func recognisers() []recogniser {
	return []recogniser{
		{Native, readNative, writeRecord},
		{Unknown, readUnknown, writeRecord},
	}
}

// Recognise reads a payload. It never fails: what is not a known shape is Unknown, with the payload as content.
// content, when not nil, is the present value of the state key under review and replaces Question.Content.
func Recognise(payload, content json.RawMessage) (actions.Question, Shape) {
	for _, r := range recognisers() {
		if q, ok := r.read(payload); ok {
			if content != nil {
				q.Content = content
			}
			return q, r.shape
		}
	}
	q, _ := readUnknown(payload)
	return q, Unknown
}

// Encode writes an answer in the asker's own shape: for Native and Unknown the answer record itself, to which the
// engine adds who answered and when.
func Encode(shape Shape, payload json.RawMessage, answer actions.Answer) (json.RawMessage, error) {
	all := recognisers()
	i := slices.IndexFunc(all, func(r recogniser) bool { return r.shape == shape })
	if i < 0 {
		return nil, fmt.Errorf("no answer can be written in the shape %q, which this program does not know", shape)
	}
	return all[i].write(payload, answer)
}

// writeRecord writes the answer record of the json program protocol: action, value, comment.
func writeRecord(_ json.RawMessage, answer actions.Answer) (json.RawMessage, error) {
	if answer.Value == nil {
		answer.Value = json.RawMessage("null")
	}
	return json.Marshal(answer)
}
