package lang

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// printed is v as a template prints it: a text as it is, a number without exponent, a list or object as JSON. Null
// is an error, which the caller completes with what was null.
func printed(v any) (string, error) {
	switch v := v.(type) {
	case nil:
		return "", errNull
	case string:
		return v, nil
	case bool:
		return strconv.FormatBool(v), nil
	case int:
		return strconv.Itoa(v), nil
	case int64:
		return strconv.FormatInt(v, 10), nil
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64), nil
	case []any, map[string]any:
		return compactJSON(v)
	case *rendering:
		return "", errorf("the whole state cannot be printed")
	}
	return "", errorf("%s cannot be printed", typeName(v))
}

var errNull = errorf("is null")

// compactJSON writes v without escaping what only HTML minds.
func compactJSON(v any) (string, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "", errorf("cannot be written as JSON: %v", err)
	}
	return strings.TrimSuffix(b.String(), "\n"), nil
}

// emit ends every printing pipeline; source is what the file wrote there.
func emit(source string, v any) (string, error) {
	s, err := printed(v)
	if err == errNull {
		if strings.HasPrefix(source, ".") && !strings.ContainsAny(source, " |(") && source != "." {
			return "", errorf(`%s is null, and a null is not printed; {{default "-" %s}} prints another text in its place`, source, source)
		}
		return "", errorf("%s is null, and a null is not printed", source)
	}
	return s, err
}

// get follows path from base, the root or any value; a field of a null is null.
func get(source string, base any, path ...string) (any, error) {
	v := base
	for i, name := range path {
		switch in := v.(type) {
		case *rendering:
			value, _ := in.scope.Lookup(name)
			v = value.Any()
		case nil:
			return nil, nil
		case map[string]any:
			v = in[name]
		default:
			return nil, errorf("%s: there is no field %q in %s%s", source, name, typeName(v), fieldHint(path[:i]))
		}
	}
	return v, nil
}

func fieldHint(path []string) string {
	if len(path) == 0 {
		return ""
	}
	return fmt.Sprintf(" (.%s)", strings.Join(path, "."))
}

// iter ends the pipeline of every range: it refuses what is not a collection and counts the turns, which nested
// ranges multiply.
func iter(r *rendering, source string, v any) (any, error) {
	turns := 0
	switch v := v.(type) {
	case nil:
	case []any:
		turns = len(v)
	case map[string]any:
		turns = len(v)
	default:
		return nil, errorf("range %s: it is %s, not a list", source, typeName(v))
	}
	if r.iterations += turns; r.iterations > maxIterations {
		return nil, errorf("range %s: more than %d turns in one text", source, maxIterations)
	}
	return v, nil
}
