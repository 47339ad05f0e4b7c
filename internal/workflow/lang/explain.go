package lang

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/expr-lang/expr/file"
)

var (
	fetchFailure = regexp.MustCompile(`^cannot fetch (.+) from (.+)$`)
	conversion   = regexp.MustCompile(`^interface conversion: interface \{\} is (.+), not (.+)$`)
	goTypes      = regexp.MustCompile(`<nil>|\bnil\b|map\[string\](?:interface \{\}|any)|\[\](?:interface \{\}|any)|\bfloat64\b|\bint\b|\bstring\b|\bbool\b|\bunknown\b`)
)

// plainTypes says in the words of the documentation what a message says in those of Go.
func plainTypes(message string) string {
	return goTypes.ReplaceAllStringFunc(message, func(s string) string {
		switch s {
		case "<nil>", "nil":
			return "null"
		case "float64", "int":
			return "number"
		case "string":
			return "text"
		case "bool":
			return "true or false"
		case "unknown":
			return "any"
		}
		if s[0] == 'm' {
			return "object"
		}
		return "list"
	})
}

// explain makes the error of an evaluation one that a writer of workflows can act on: it says what failed, in which
// expression, and which name was null.
func (e *Expr) explain(err error, env map[string]any) error {
	message := err.Error()
	var fe *file.Error
	if errors.As(err, &fe) {
		message = fe.Message
	}
	aboutNull := strings.Contains(message, "nil") || strings.Contains(message, "zero Value")
	switch {
	case errors.Is(err, errTooLong):
		message = errTooLong.Error()
	case fetchFailure.MatchString(message):
		m := fetchFailure.FindStringSubmatch(message)
		message = fmt.Sprintf("there is no field %q in %s", m[1], plainTypes(m[2]))
	case conversion.MatchString(message):
		m := conversion.FindStringSubmatch(message)
		message = fmt.Sprintf("%s stands where %s is needed", plainTypes(m[1]), plainTypes(m[2]))
	case message == "invalid operation: int(string)":
		message = "a text or a list has no named fields"
	case strings.Contains(message, "zero Value"):
		message = "null stands where a value is needed"
	default:
		message = plainTypes(message)
	}
	if aboutNull {
		for _, path := range e.paths {
			if null := firstNull(env, path); null != "" {
				return e.fail("%s: %s is null", message, null)
			}
		}
	}
	return e.fail("%s", message)
}

// firstNull is the beginning of path that is null in env, "" when the whole path is there.
func firstNull(env map[string]any, path []string) string {
	var v any = env
	for i, name := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return ""
		}
		if v = m[name]; v == nil {
			return strings.Join(path[:i+1], ".")
		}
	}
	return ""
}
