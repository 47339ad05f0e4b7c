// Package httpfail tells what a failed HTTP exchange means to somebody who may try again: whether another attempt can
// help, when it is welcome, and in one short line what the server said. It sends nothing.
package httpfail

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/sanitize"
)

const (
	maxRead = 64 << 10 // bytes of the body of a failure that are read
	maxSaid = 400      // characters of it that are told
)

// Error is an answer with a status that is a failure.
type Error struct {
	Status int
	Said   string        // by the server: one line, safe to show, at most 400 characters; "" when it said nothing
	After  time.Duration // how long it asks not to be called again; 0 when it does not
}

// Error is the status with its name, what the server asks for, and what it said.
func (e *Error) Error() string {
	s := strings.TrimSpace(fmt.Sprintf("%d %s", e.Status, http.StatusText(e.Status)))
	if e.After > 0 {
		s += fmt.Sprintf(" (asks to wait %s)", e.After.Round(time.Second))
	}
	if e.Said != "" {
		s += ": " + e.Said
	}
	return s
}

// Passing reports whether the failure may be over by the next attempt.
func (e *Error) Passing() bool { return Passing(e.Status) }

// Passing reports whether a status is worth another attempt: 408, 425, 429 and all 5xx.
func Passing(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusTooEarly, http.StatusTooManyRequests:
		return true
	}
	return status >= 500
}

// Read makes an Error of a response, of whose body it reads no more than 64 KiB. now is the time at which a date in
// Retry-After is read; hide takes secrets out of what the server said, which may be what it was sent. The body stays the
// caller's to close.
func Read(resp *http.Response, now time.Time, hide func(string) string) *Error {
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxRead))
	if err != nil {
		body = nil // half a sentence helps nobody, and the status says what is wrong
	}
	return &Error{Status: resp.StatusCode, Said: Said(body, hide), After: after(resp.Header.Get("Retry-After"), now)}
}

// after reads the value of Retry-After: seconds, or a date.
func after(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

var (
	title = regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)
	page  = regexp.MustCompile(`(?i)^\s*<(!doctype|html|head)`)
)

// Said is what the body of a failure says: the message in a JSON object of one of the usual forms, the title of a web
// page, else how the body begins. hide, which may be nil, takes out what nobody is to see.
func Said(body []byte, hide func(string) string) string {
	text := string(body)
	if message := messageIn(body); message != "" {
		text = message
	} else if m := title.FindStringSubmatch(text); m != nil && page.MatchString(text) {
		text = m[1]
	}
	if hide != nil {
		text = hide(text)
	}
	text = sanitize.Line(strings.Join(strings.Fields(text), " "))
	if r := []rune(text); len(r) > maxSaid {
		text = string(r[:maxSaid-1]) + "…"
	}
	return text
}

// messageIn is the message of {"error": {"message": TEXT}}, {"error": TEXT}, {"detail": TEXT} and the like.
func messageIn(body []byte) string {
	var o map[string]any
	if json.Unmarshal(body, &o) != nil {
		return ""
	}
	if inner, ok := o["error"].(map[string]any); ok {
		o = inner
	}
	for _, key := range []string{"message", "error", "error_description", "detail", "title"} {
		if s, ok := o[key].(string); ok && strings.TrimSpace(s) != "" {
			return s
		}
	}
	return ""
}

// Cause is an error of a client without the address that was called, which may hold a secret.
func Cause(err error) error {
	var address *url.Error
	if errors.As(err, &address) {
		return address.Err
	}
	return err
}
