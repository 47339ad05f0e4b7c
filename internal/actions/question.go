package actions

import (
	"encoding/json"
	"math"
	"time"
)

// Kind is the kind of a question; it decides the default actions and the shape of the answer.
type Kind string

// The seven kinds a workflow file can ask, and Unknown for a payload of a shape nobody recognised.
const (
	Approval     Kind = "approval"
	Choice       Kind = "choice"
	Text         Kind = "text"
	EditKind     Kind = "edit"
	FormKind     Kind = "form"
	Conversation Kind = "conversation"
	Suspend      Kind = "suspend"
	Unknown      Kind = "unknown"
)

// OptionItem is one thing that can be chosen.
type OptionItem struct {
	Value       json.RawMessage `json:"value"`
	Label       string          `json:"label,omitempty"`
	Description string          `json:"description,omitempty"`
}

// Labelled is a value shown beside a question under a label.
type Labelled struct {
	Label string          `json:"label"`
	Value json.RawMessage `json:"value"`
}

// Question is what a person is asked, in the one form in which this project keeps questions: the payload of an
// interrupt made by a human node, and what package question makes of the payloads of other systems.
//
// Content is the literal content under review. Where ContentKey names a state key instead, the content is read from
// the state at the head whenever the question is shown or answered, so Content is empty in the stored payload and
// filled in by whoever reads it.
type Question struct {
	Kind           Kind            `json:"kind"`
	Title          string          `json:"title,omitempty"`
	Message        string          `json:"message,omitempty"`
	Content        json.RawMessage `json:"content,omitempty"`
	ContentKey     string          `json:"content_key,omitempty"`
	ContentType    string          `json:"content_type,omitempty"`
	Context        []Labelled      `json:"context,omitempty"`
	Options        []OptionItem    `json:"options,omitempty"`
	Multiple       bool            `json:"multiple,omitempty"`
	Schema         json.RawMessage `json:"schema,omitempty"`
	Prefill        json.RawMessage `json:"prefill,omitempty"`
	Actions        []Action        `json:"actions,omitempty"`
	RequireComment []Action        `json:"require_comment,omitempty"`
	TimeoutMS      int64           `json:"timeout_ms,omitempty"`
	DefaultAction  Action          `json:"default_action,omitempty"`
	DefaultData    json.RawMessage `json:"default_data,omitempty"`
	PeopleOnly     bool            `json:"people_only,omitempty"`
	Assignee       string          `json:"assignee,omitempty"`
	Group          string          `json:"group,omitempty"`
	Priority       string          `json:"priority,omitempty"`

	// Deadline is a time by which its asker must have the answer, in UTC and whole microseconds, as stores keep times;
	// nil for none. It is the outside world's and, unlike Timeout, does not count from the asking.
	Deadline *time.Time `json:"deadline,omitempty"`

	// Parts is what one submit answers with a verdict each (see Verdicts): the calls of an agent that asks about
	// several at once. Empty for a question that is one.
	Parts []Question `json:"parts,omitempty"`
}

// Timeout is the time for an answer, zero for none. One too long to count is the longest there is.
func (q Question) Timeout() time.Duration {
	return time.Duration(min(q.TimeoutMS, math.MaxInt64/int64(time.Millisecond))) * time.Millisecond
}

// Due is when an answer is due to a question that is asked now, with a time for the answer that may be another than its
// own, 0 for none: then, or by its deadline where that is earlier. nil for never.
func (q Question) Due(now time.Time, timeout time.Duration) *time.Time {
	due := q.Deadline
	if at := now.Add(timeout); timeout > 0 && (due == nil || at.Before(*due)) {
		due = &at
	}
	return due
}

// Answer is a validated answer: the action, the value it gives the node in its canonical form (an option's value,
// an edited content, a form with defaults filled in and scalars coerced, null where the action gives none), and the
// comment that came with it.
type Answer struct {
	Action  Action          `json:"action"`
	Value   json.RawMessage `json:"value"`
	Comment string          `json:"comment,omitempty"`
}
