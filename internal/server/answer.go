package server

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
)

const (
	jsonType    = "application/json"
	problemType = "application/problem+json"
)

// reply is an answer in full. The zero reply is none: its handler has written one.
type reply struct {
	status int
	header http.Header // beyond the usual; may be nil
	body   []byte
}

// jsonReply is a reply with the JSON of a value.
func jsonReply(status int, v any) (reply, error) {
	body, err := encode(v)
	return reply{status: status, body: body}, err
}

// with adds a header.
func (p reply) with(name, value string) reply {
	header := p.header.Clone()
	if header == nil {
		header = make(http.Header)
	}
	header.Set(name, value)
	p.header = header
	return p
}

func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return b.Bytes(), err
}

// refusal is an error about a thread, and where that stands.
type refusal struct {
	error
	stands *desk.Detail
}

func (r *refusal) Unwrap() error { return r.error }

// statusError is an error that has a status of HTTP of its own, whatever its code.
type statusError struct {
	error
	status int
}

func (e *statusError) Unwrap() error { return e.error }

// statusOf is the status of HTTP for an error.
func statusOf(err error) int {
	var own *statusError
	if errors.As(err, &own) {
		return own.status
	}
	switch code := desk.Code(err); code {
	case desk.CodeUsage, desk.CodeInvalidToken:
		return http.StatusBadRequest
	case desk.CodeTooLarge:
		return http.StatusRequestEntityTooLarge
	case desk.CodeUnauthorised:
		return http.StatusUnauthorized
	case desk.CodeUnknownAction, desk.CodeActionNotAllowed, desk.CodeInvalidData, desk.CodeAmbiguous, desk.CodeWorkflowInvalid:
		return http.StatusUnprocessableEntity
	case desk.CodeCancelled, desk.CodeBusy:
		return http.StatusServiceUnavailable
	default:
		switch desk.ExitCode(code) {
		case desk.ExitNotFound:
			return http.StatusNotFound
		case desk.ExitConflict:
			return http.StatusConflict
		case desk.ExitStore:
			return http.StatusServiceUnavailable
		default:
			return http.StatusInternalServerError
		}
	}
}

// problem is the reply to a request that is refused.
func (s *Server) problem(err error) reply {
	status := statusOf(err)
	var about *refusal
	var stands *desk.Detail
	if errors.As(err, &about) {
		stands = about.stands
	}
	body, e := encode(s.reworded(wire.FromProblem(status, http.StatusText(status), err, stands)))
	if e != nil { // the facts of an error that are no JSON
		body, _ = encode(s.reworded(wire.FromProblem(status, http.StatusText(status), &desk.Error{Code: desk.Code(err), Message: desk.Explain(err)}, nil)))
	}
	p := reply{status: status, body: body}.with("Content-Type", problemType)
	switch status {
	case http.StatusUnauthorized:
		p = p.with("WWW-Authenticate", `Bearer realm="hitl-tui"`)
	case http.StatusServiceUnavailable:
		p = p.with("Retry-After", "5")
	}
	return p
}

// send writes a reply within the time an answer may take, however long it was waited for.
func (s *Server) send(w http.ResponseWriter, p reply) {
	s.writeWithin(w)
	header := w.Header()
	for name, values := range p.header {
		header[name] = values
	}
	if header.Get("Content-Type") == "" && len(p.body) > 0 {
		header.Set("Content-Type", jsonType)
	}
	if p.status != http.StatusNoContent {
		header.Set("Content-Length", strconv.Itoa(len(p.body)))
	}
	w.WriteHeader(p.status)
	// Whoever has left reads no error either.
	_, _ = w.Write(p.body)
}

// writeWithin gives the next writes the time that an answer may take.
func (s *Server) writeWithin(w http.ResponseWriter) {
	// A connection that knows no deadlines has none.
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.o.Times.Write))
}

// patiently lets a request be answered later than its time-outs: the client is waited with, not for.
func patiently(w http.ResponseWriter) {
	c := http.NewResponseController(w)
	_ = c.SetReadDeadline(time.Time{})
	_ = c.SetWriteDeadline(time.Time{})
}

// body reads the body of a request, at most actions.MaxSize bytes and no further.
func body(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if r.ContentLength > actions.MaxSize {
		hangUp(w)
		return nil, &actions.SizeError{What: "body", Size: int(min(r.ContentLength, 1<<30)), Limit: actions.MaxSize}
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, actions.MaxSize))
	var long *http.MaxBytesError
	switch {
	case errors.As(err, &long):
		hangUp(w)
		return nil, &desk.Error{Code: desk.CodeTooLarge, Message: "the body is larger than 65536 bytes", Remedy: "send less; `hitl-tui patch` changes large content"}
	case errors.Is(err, os.ErrDeadlineExceeded):
		hangUp(w)
		return nil, &statusError{&desk.Error{Code: desk.CodeUsage, Message: "the body did not come in time"}, http.StatusRequestTimeout}
	case err != nil:
		return nil, &desk.Error{Code: desk.CodeUsage, Message: "the body could not be read: " + err.Error(), Err: err}
	}
	return raw, nil
}

// hangUp reads nothing more of a request: net/http, too, would go on reading to keep the connection for another one.
func hangUp(w http.ResponseWriter) {
	w.Header().Set("Connection", "close")
	_ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0))
}
