// Package wire holds the JSON that the command line and HTTP print. Within a major version fields are only added;
// absent is null; times are RFC 3339 in UTC, durations end in _ms, sizes in _bytes.
package wire

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/desk"
)

// Envelope is the answer of run and resume and of their HTTP twins, and of every refusal.
type Envelope struct {
	Success          bool            `json:"success"` // done, waiting as designed, or ended by a person
	Interrupted      bool            `json:"interrupted"`
	Status           *string         `json:"status"`
	ThreadID         *string         `json:"thread_id"`
	Step             *int64          `json:"step"`
	Workflow         *string         `json:"workflow"`
	InterruptMessage *string         `json:"interrupt_message"`
	Interrupts       []Interrupt     `json:"interrupts"`
	Outputs          json.RawMessage `json:"outputs"`
	Error            *Error          `json:"error"`
	AlreadyApplied   bool            `json:"already_applied"`
	DurationMS       int64           `json:"duration_ms"`
	Warnings         []string        `json:"warnings,omitempty"` // of a start: what was left out of its input
}

// Error is what went wrong.
type Error struct {
	Code    string         `json:"code"`
	Message string         `json:"message"`
	Details map[string]any `json:"details"`
}

// Interrupt is one open question.
type Interrupt struct {
	ID          string          `json:"id"`
	Key         string          `json:"key"`
	Address     string          `json:"address"`
	Node        string          `json:"node"`
	Kind        string          `json:"kind"`
	Content     json.RawMessage `json:"content"`
	ContentType *string         `json:"content_type"`
	Context     []Labelled      `json:"context"`
	Title       *string         `json:"title"`
	Message     *string         `json:"message"`
	Actions     []string        `json:"actions"`
	Options     []Option        `json:"options"`
	Schema      json.RawMessage `json:"schema"`
	Deadline    *time.Time      `json:"deadline"`
	Payload     json.RawMessage `json:"payload"`
}

// Labelled is a value shown beside a question.
type Labelled struct {
	Label string          `json:"label"`
	Value json.RawMessage `json:"value"`
}

// Option is one thing that can be chosen.
type Option struct {
	Value       json.RawMessage `json:"value"`
	Label       *string         `json:"label"`
	Description *string         `json:"description"`
}

// FromResult is the envelope of a thread that came to rest.
func FromResult(r *desk.Result) Envelope {
	e := Envelope{
		Status: text(r.Status), ThreadID: text(r.Thread), Step: &r.Step, Workflow: text(r.Workflow), Outputs: r.Outputs,
		AlreadyApplied: r.AlreadyApplied, DurationMS: r.Duration.Milliseconds(), Warnings: r.Warnings,
	}
	e.ask(r.Questions)
	e.Interrupted = e.Interrupted || r.Interrupted
	switch {
	case r.WasCancelled && r.Withdrawn:
		e.Error = &Error{Code: desk.CodeCancelled, Message: "the run was cancelled before anything was committed; the answers are withdrawn and the thread is as it was"}
	case r.WasCancelled:
		e.Error = &Error{Code: desk.CodeCancelled, Message: "the run was cancelled; `resume` without an action carries on from the last step"}
	case r.ErrMessage != "":
		e.Error = failure(r.ErrNode, r.ErrMessage)
	case r.Status == "stalled":
		e.Error = &Error{Code: desk.CodeCancelled, Message: "the program was told to end; what was decided is kept and `resume` without an action carries on"}
	}
	e.Success = !r.WasCancelled && succeeded(r.Status)
	return e
}

// FromError is the envelope of a refusal: the error, and where the thread stands that was meant; nil when that is unknown.
func FromError(err error, d *desk.Detail) Envelope {
	e := Envelope{Interrupts: []Interrupt{}, Error: errorOf(err)}
	if d == nil {
		return e
	}
	e.ThreadID, e.Workflow, e.Status, e.Step, e.Outputs = text(d.ID), text(d.Workflow), text(d.Status), &d.Step, d.Outputs
	e.ask(d.Questions)
	return e
}

// ask puts the open questions in.
func (e *Envelope) ask(questions []desk.Question) {
	e.Interrupted = len(questions) > 0
	e.Interrupts = Interrupts(questions)
	if len(questions) > 0 {
		e.InterruptMessage = text(first(questions[0].Message, questions[0].Title))
	}
}

func errorOf(err error) *Error {
	e := &Error{Code: desk.Code(err), Message: desk.Explain(err)}
	var known *desk.Error
	if errors.As(err, &known) {
		e.Details = known.Details
	}
	return e
}

func failure(node, message string) *Error {
	e := &Error{Code: desk.CodeWorkflowFailed, Message: message}
	if node != "" {
		e.Message = node + ": " + message
		e.Details = map[string]any{"node": node}
	}
	return e
}

// succeeded reports whether a status is no failure: done, waiting as designed, or ended by a person.
func succeeded(status string) bool {
	switch status {
	case "done", "interrupted", "sleeping", "rejected", "stopped", "cancelled", "running":
		return true
	default:
		return false
	}
}

// The exit codes of --exit-code, which tell a waiting thread and one that a person ended from a done one.
const (
	exitWaiting       = 10
	exitEndedByPerson = 11
)

// ExitCode is the exit code of the command that printed e. distinct is --exit-code.
func (e Envelope) ExitCode(distinct bool) int {
	if !e.Success {
		switch {
		case e.Error != nil:
			return desk.ExitCode(e.Error.Code)
		default:
			return desk.ExitFailed
		}
	}
	if !distinct || e.Status == nil {
		return desk.ExitOK
	}
	switch *e.Status {
	case "interrupted", "sleeping":
		return exitWaiting
	case "rejected", "stopped", "cancelled":
		return exitEndedByPerson
	default:
		return desk.ExitOK
	}
}

// Interrupts is never nil: no open question is an empty list.
func Interrupts(questions []desk.Question) []Interrupt {
	all := make([]Interrupt, len(questions))
	for i, q := range questions {
		all[i] = interrupt(q)
	}
	return all
}

func interrupt(q desk.Question) Interrupt {
	x := Interrupt{
		ID: q.ID, Key: q.Key, Address: q.Address, Node: q.Node, Kind: string(q.Kind), Content: q.Content,
		ContentType: text(q.ContentType), Context: []Labelled{}, Title: text(q.Title), Message: text(q.Message), Actions: []string{},
		Options: []Option{}, Schema: q.Schema, Deadline: moment(q.Due), Payload: q.Payload,
	}
	for _, c := range q.Context {
		x.Context = append(x.Context, Labelled{c.Label, c.Value})
	}
	for _, o := range q.Options {
		x.Options = append(x.Options, Option{o.Value, text(o.Label), text(o.Description)})
	}
	for _, c := range q.Choices {
		if c.Allowed {
			x.Actions = append(x.Actions, string(c.Action))
		}
	}
	return x
}

func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func first(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}

func moment(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
