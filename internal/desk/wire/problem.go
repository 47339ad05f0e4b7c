package wire

import "github.com/hitl-tui/hitl-tui/internal/desk"

// Problem is a refusal over HTTP (RFC 9457): the envelope of the refusal, in which status is that of the answer, and that
// of the thread is thread_status.
type Problem struct {
	Type         string  `json:"type"`
	Title        string  `json:"title"`
	Status       int     `json:"status"` // of HTTP
	Detail       string  `json:"detail"`
	ThreadStatus *string `json:"thread_status"`
	Envelope
}

// FromProblem is the problem of a refusal that is answered with a status of HTTP, and where the thread stands that was
// meant; nil when that is unknown.
func FromProblem(status int, title string, err error, d *desk.Detail) Problem {
	e := FromError(err, d)
	return Problem{Type: "about:blank", Title: title, Status: status, Detail: e.Error.Message, ThreadStatus: e.Status, Envelope: e}
}
