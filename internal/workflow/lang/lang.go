// Package lang holds the two small languages of workflow files: templates, in which texts are written, and
// expressions, in which data are. Both read state through engine.Scope; both are checked whole when a file is loaded.
package lang

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/nearest"
)

// MaxText is the limit in bytes of a text that a template or an expression makes.
const MaxText = 16 << 20

// Names are what a template or expression may mention at one place in a file.
type Names struct {
	Keys    []string                         // state keys, in a map also the item's name and "index"
	Answers map[string][]string              // human nodes -> nil, questions nodes -> names of their questions, programs -> AnyQuestion
	Errors  []string                         // nodes
	Output  bool                             // "output" is known here
	Outputs []string                         // the fields it may have; nil: any
	Env     bool                             // the template function env is allowed here
	Getenv  func(name string) (string, bool) // serves env, as os.LookupEnv does; nil means that nothing is set
}

// AnyQuestion stands for the names of the questions of a node whose program alone knows them.
const AnyQuestion = "*"

// fields lists what may follow path; open is true where anything may.
func (n Names) fields(path []string) (names []string, open bool) {
	if len(path) == 0 {
		names = append(slices.Clone(n.Keys), "answers", "errors", "run")
		if n.Output {
			names = append(names, "output")
		}
		return names, false
	}
	switch rest := path[1:]; path[0] {
	case "answers":
		return n.answerFields(rest)
	case "errors":
		switch len(rest) {
		case 0:
			return n.Errors, false
		case 1:
			return namesOf(ErrorFields()), false
		}
		return nil, false
	case "run":
		if len(rest) == 0 {
			return namesOf(RunFields()), false
		}
		return nil, false
	case "output":
		return n.Outputs, n.Outputs == nil || len(rest) > 0
	}
	return nil, true
}

func (n Names) answerFields(path []string) (names []string, open bool) {
	if len(path) == 0 {
		return slices.Sorted(maps.Keys(n.Answers)), false
	}
	questions := n.Answers[path[0]]
	path = path[1:]
	if len(path) == 0 && slices.Contains(questions, AnyQuestion) {
		return nil, true
	}
	if questions != nil {
		if len(path) == 0 {
			return questions, false
		}
		path = path[1:]
	}
	if len(path) == 0 {
		return namesOf(AnswerFields()), false
	}
	return nil, path[0] == "value"
}

// resolve follows path from the root. bad is the index of the first segment that does not exist, -1 when all do;
// hint names the nearest one that does, if there is one.
func (n Names) resolve(path []string) (bad int, hint string) {
	for i, name := range path {
		names, open := n.fields(path[:i])
		if open {
			return -1, ""
		}
		if !slices.Contains(names, name) {
			if i == 0 {
				return i, nearest.Hint(name, names)
			}
			return i, hintOf(name, names)
		}
	}
	return -1, ""
}

// Fault is one mistake in a source text.
type Fault struct {
	Offset  int    // in bytes from its beginning
	Message string // without the place: `unknown name ".sinse"; did you mean "since"?`
}

// At is the whole message of a fault in the text written under place: `if: unknown field "valu"`, but `if is an
// expression, not a template`.
func (f Fault) At(place string) string {
	if strings.HasPrefix(f.Message, "is ") {
		return place + " " + f.Message
	}
	return place + ": " + f.Message
}

// typeName says what v is in the words of the documentation.
func typeName(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case string:
		return "text"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	if _, ok := asNumber(v); ok {
		return "a number"
	}
	return fmt.Sprintf("%T", v)
}

func asNumber(v any) (float64, bool) {
	switch v := v.(type) {
	case int:
		return float64(v), true
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}
