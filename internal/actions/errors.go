package actions

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/hitl-tui/hitl-tui/internal/nearest"
)

// UnknownError says that a name is none of the fifteen actions. Its code is unknown_action.
type UnknownError struct {
	Name string // as it was given
}

// Error names the nearest action and all valid ones.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("unknown action %s%s (the actions are %s)", quote(e.Name), e.hint(), list(All()))
}

func (e *UnknownError) hint() string { return nearest.Hint(e.Name, names(All())) }

// Suggestion is the action that was probably meant, or "".
func (e *UnknownError) Suggestion() Action {
	name, _ := nearest.Name(e.Name, names(All()))
	return Action(name)
}

// Code is the error code of the command line and of HTTP.
func (e *UnknownError) Code() string { return "unknown_action" }

// NotAllowedError says that the question does not allow a known action. Its code is action_not_allowed.
type NotAllowedError struct {
	Action  Action
	Allowed []Action
}

// Error names the refused action and the allowed ones.
func (e *NotAllowedError) Error() string {
	return fmt.Sprintf("this question does not allow %s; it allows %s", e.Action, list(e.Allowed))
}

// Code is the error code of the command line and of HTTP.
func (e *NotAllowedError) Code() string { return "action_not_allowed" }

// Problem is one fault of a value.
type Problem struct {
	Pointer string // RFC 6901 pointer into the value, "" for the whole
	Message string // what is wrong, in words a person understands: "must be at most 1900"
}

// String is the message behind the place, where there is one.
func (p Problem) String() string {
	if p.Pointer == "" {
		return p.Message
	}
	return p.Pointer + ": " + p.Message
}

// DataError says that the data do not fit the action or the question. Its code is invalid_data. All faults found are
// reported together, so that a form can show each at its field.
type DataError struct {
	Action   Action
	Problems []Problem // at least one
}

// Error lists all problems. Keys, labels and values of others are in them, so what does not print is escaped.
func (e *DataError) Error() string {
	parts := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		parts[i] = p.String()
	}
	text := printable(strings.Join(parts, "; "))
	if e.Action == "" {
		return text
	}
	return string(e.Action) + ": " + text
}

// Code is the error code of the command line and of HTTP.
func (e *DataError) Code() string { return "invalid_data" }

// SizeError says that a response token, or response data, is over the limit. Its code is too_large.
type SizeError struct {
	What   string // "response token", "response data" or "the content under review"
	Size   int    // bytes
	Limit  int    // bytes, inclusive
	Remedy string // what to do instead, "" where there is nothing but to send less
}

// Error gives both sizes.
func (e *SizeError) Error() string {
	text := fmt.Sprintf("%s is %d bytes; the limit is %d bytes", e.What, e.Size, e.Limit)
	if e.Remedy != "" {
		text += "; " + e.Remedy
	}
	return text
}

// Code is the error code of the command line and of HTTP.
func (e *SizeError) Code() string { return "too_large" }

func dataError(a Action, format string, args ...any) *DataError {
	return &DataError{Action: a, Problems: []Problem{{Message: fmt.Sprintf(format, args...)}}}
}

func names[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, a := range list {
		out[i] = string(a)
	}
	return out
}

func list[T ~string](items []T) string { return strings.Join(names(items), ", ") }

// printable escapes what does not print, so that a message can be shown on a terminal.
func printable(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unicode.IsPrint(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}

// quote shows outside text in a message: escaped, and cut where it would drown the message.
func quote(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return strconv.Quote(string(r[:most])) + "..."
	}
	return strconv.Quote(s)
}
