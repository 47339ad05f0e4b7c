package agentmap

import (
	"slices"
	"strings"
	"unicode"
)

// maxName is the longest name of a workflow file in characters.
const maxName = 64

// reservedFields cannot be state keys: names that a workflow file gives a meaning, and functions that the expressions made
// here call.
func reservedFields() []string {
	return []string{
		"answers", "errors", "run", "output", "item", "index",
		"true", "false", "nil", "null", "not", "and", "or", "in", "let", "if", "else",
		"matches", "contains", "startsWith", "endsWith", "type", "get",
	}
}

// Key is the state key of a field: the field itself where it can be one, else with _ for what no key may have, and after a
// name that means something else.
func Key(field string) string {
	var b strings.Builder
	for i, r := range field {
		switch {
		case r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
			b.WriteRune(r)
		case r >= '0' && r <= '9':
			if i == 0 {
				b.WriteByte('_')
			}
			b.WriteRune(r)
		default:
			b.WriteByte('_')
		}
	}
	key := b.String()
	if len(key) > maxName {
		key = key[:maxName]
	}
	if slices.Contains(reservedFields(), key) {
		key += "_"
	}
	return key
}

// NodeNameOK reports whether a name can be that of a node: letters and digits of any script, _, - and blanks, which
// stand in the addresses of questions.
func NodeNameOK(name string) bool {
	n := 0
	for _, r := range name {
		if n++; !nodeRune(r) {
			return false
		}
	}
	return n > 0 && n <= maxName && name != "END" && name != "START" && name == strings.TrimSpace(name)
}

func nodeRune(r rune) bool {
	return r == '_' || r == '-' || r == ' ' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// nodeName is the name of a node, changed where it cannot be one.
func nodeName(name string) string {
	name = strings.Map(func(r rune) rune {
		if nodeRune(r) {
			return r
		}
		return '_'
	}, name)
	if r := []rune(name); len(r) > maxName {
		name = strings.TrimSpace(string(r[:maxName]))
	}
	if !NodeNameOK(name) {
		name += "_"
	}
	return name
}

// WorkflowName is the name of a graph as that of a workflow: letters, digits, . _ and -.
func WorkflowName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}, name)
	return name[:min(len(name), maxName)]
}
