package checkpoint

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint/verbatim"
)

// The engine keeps each open question of a thread in a channel of its own, so that a step writes those that it asked,
// changed or closed, and none of those that merely wait beside. The record of a step tells the first, and how many there
// are. A checkpoint that was put, or that an earlier version wrote, has them all in its record and none in channels.
const questionPrefix = "@ask:"

// Channel names the channel of an open question, which is that of its run and of its key.
func (q *Interrupt) Channel() string { return questionPrefix + q.Path + ":" + q.Key }

// IsQuestion reports whether a channel of that name holds an open question.
func IsQuestion(channel string) bool { return strings.HasPrefix(channel, questionPrefix) }

// Asks is how many questions are open. It needs no state.
func (c *Checkpoint) Asks() int { return max(c.Open, len(c.Interrupts)) }

// Questions lists all open questions, oldest first, wherever they are kept. It needs the state of a checkpoint whose record
// holds only the first of them. What does not fit together is a *CorruptError.
func (c *Checkpoint) Questions() ([]Interrupt, error) {
	held := c.held()
	if err := c.counts(held); err != nil {
		return nil, err
	}
	if held == 0 {
		return c.Interrupts, nil
	}
	all := make([]Interrupt, 0, held)
	for name, raw := range c.Channels {
		if !IsQuestion(name) {
			continue
		}
		q, err := DecodeInterrupt(raw)
		if err == nil && q.Channel() != name {
			err = errors.New("it holds the question of another")
		}
		if err != nil {
			return nil, c.questionsHurt(fmt.Errorf("channel %s: %w", name, err))
		}
		all = append(all, q)
	}
	slices.SortFunc(all, func(a, b Interrupt) int { return cmp.Or(cmp.Compare(a.Place, b.Place), strings.Compare(a.ID, b.ID)) })
	return all, nil
}

// CheckQuestions is an error where the record counts other questions than the state holds. It reads none of them.
func (c *Checkpoint) CheckQuestions() error { return c.counts(c.held()) }

// held is how many questions are in channels.
func (c *Checkpoint) held() (n int) {
	for name := range c.Channels {
		if IsQuestion(name) {
			n++
		}
	}
	return n
}

// counts compares that with the record. One that an earlier version took in from an export has lost the number.
func (c *Checkpoint) counts(held int) error {
	if c.Open == 0 || c.Open == held {
		return nil
	}
	return c.questionsHurt(fmt.Errorf("%d are open, its state holds %d", c.Open, held))
}

func (c *Checkpoint) questionsHurt(err error) error {
	return &CorruptError{Thread: c.Thread, Step: c.Step, Where: "open questions", Err: err}
}

// What writes a question leaves out what is JSON from outside.
type (
	hidden        struct{}
	interruptPage struct {
		*Interrupt
		Payload  *hidden `json:"payload,omitempty"`
		Previous *hidden `json:"previous,omitempty"`
	}
	previousPage struct {
		*Previous
		Value   *hidden `json:"value,omitempty"`
		Content *hidden `json:"content,omitempty"`
	}
)

// Encode writes a question as one JSON object, in which payload, answer and content stand as they came.
func (q *Interrupt) Encode() (json.RawMessage, error) {
	b, err := verbatim.Marshal(interruptPage{Interrupt: q}, "")
	if err != nil {
		return nil, err
	}
	b = inside(b, "payload", q.Payload)
	if q.Previous == nil {
		return b, nil
	}
	before, err := verbatim.Marshal(previousPage{Previous: q.Previous}, "")
	if err != nil {
		return nil, err
	}
	before = inside(inside(before, "value", q.Previous.Value), "content", q.Previous.Content)
	o := verbatim.Object{B: b, Line: true}
	o.Raw("previous", before)
	return o.B, nil
}

// inside adds a field with JSON from outside to an object, if there is any.
func inside(b []byte, name string, raw json.RawMessage) []byte {
	if len(raw) == 0 {
		return b
	}
	o := verbatim.Object{B: b, Line: true}
	o.Raw(name, verbatim.Append(nil, raw, false))
	return o.B
}

// DecodeInterrupt reads what Encode writes.
func DecodeInterrupt(b []byte) (Interrupt, error) {
	var f struct {
		Interrupt
		Payload  verbatim.JSON `json:"payload"`
		Previous *struct {
			Previous
			Value   verbatim.JSON `json:"value"`
			Content verbatim.JSON `json:"content"`
		} `json:"previous"`
	}
	if err := json.Unmarshal(b, &f); err != nil {
		return Interrupt{}, err
	}
	q := f.Interrupt
	q.Payload = json.RawMessage(f.Payload)
	if f.Previous != nil {
		q.Previous = new(f.Previous.Previous)
		q.Previous.Value, q.Previous.Content = json.RawMessage(f.Previous.Value), json.RawMessage(f.Previous.Content)
	}
	return q, nil
}
