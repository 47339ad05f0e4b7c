package lang

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"text/template"
	"time"
	"unicode/utf8"
)

// internalFunctions are those that only the rewriter may name.
func internalFunctions() template.FuncMap {
	return template.FuncMap{fnGet: get, fnEmit: emit, fnIter: iter}
}

// templateFunctions are the functions of the documentation, but for and and or, which text/template itself knows.
// Those that work on a value take it last, so that it can be piped in.
func templateFunctions(names Names) template.FuncMap {
	return template.FuncMap{
		"not": func(v any) bool { truth, _ := template.IsTrue(v); return !truth },
		"len": length, "index": index, "slice": slice, "printf": printf,
		"eq": eq, "ne": ne,
		"lt": compared("lt", func(c int) bool { return c < 0 }),
		"le": compared("le", func(c int) bool { return c <= 0 }),
		"gt": compared("gt", func(c int) bool { return c > 0 }),
		"ge": compared("ge", func(c int) bool { return c >= 0 }),

		"lines": lines, "json": toJSON, "join": join,
		"trim":    onText("trim", strings.TrimSpace),
		"upper":   onText("upper", strings.ToUpper),
		"lower":   onText("lower", strings.ToLower),
		"replace": replace, "indent": indent, "truncate": truncate,
		"number": number, "first": first, "last": last, "date": date, "default": orDefault,

		"env": func(name string) (string, error) {
			if names.Getenv != nil {
				if v, ok := names.Getenv(name); ok {
					return v, nil
				}
			}
			return "", errorf("env: the environment variable %s is not set", name)
		},
	}
}

func onText(name string, f func(string) string) func(any) (string, error) {
	return func(v any) (string, error) {
		s, err := asText(name, v)
		if err != nil {
			return "", err
		}
		return f(s), nil
	}
}

// asText is v as a text: numbers and truth values as they are printed.
func asText(function string, v any) (string, error) {
	switch v.(type) {
	case nil, []any, map[string]any, *rendering:
		return "", errorf("%s: the value is %s, not text", function, typeName(v))
	}
	return printed(v)
}

func asList(function string, v any) ([]any, error) {
	if list, ok := v.([]any); ok {
		return list, nil
	}
	return nil, errorf("%s: the value is %s, not a list", function, typeName(v))
}

func length(v any) (int, error) {
	switch v := v.(type) {
	case string:
		return utf8.RuneCountInString(v), nil
	case []any:
		return len(v), nil
	case map[string]any:
		return len(v), nil
	}
	return 0, errorf("len: the value is %s; only texts, lists and objects have a length", typeName(v))
}

func asIndex(function string, v any, length int) (int, error) {
	f, ok := asNumber(v)
	if !ok || f != math.Trunc(f) {
		return 0, errorf("%s: an index is a whole number, not %s", function, typeName(v))
	}
	if f < 0 || f > float64(length) {
		return 0, errorf("%s: %v is out of range, the length is %d", function, f, length)
	}
	return int(f), nil
}

// index looks keys up one after the other, from 0 in lists. What an object does not hold is null.
func index(v any, keys ...any) (any, error) {
	for _, key := range keys {
		switch in := v.(type) {
		case []any:
			i, err := asIndex("index", key, len(in))
			if err != nil {
				return nil, err
			}
			if i == len(in) {
				return nil, errorf("index: %d is out of range, the length is %d", i, len(in))
			}
			v = in[i]
		case map[string]any:
			name, ok := key.(string)
			if !ok {
				return nil, errorf("index: the key of an object is text, not %s", typeName(key))
			}
			v = in[name]
		default:
			return nil, errorf("index: the value is %s, not a list or an object", typeName(v))
		}
	}
	return v, nil
}

// slice cuts a list or, by characters, a text: slice .x 1 3, slice .x 1.
func slice(v any, bounds ...any) (any, error) {
	var runes []rune
	list, isList := v.([]any)
	n := len(list)
	if !isList {
		s, ok := v.(string)
		if !ok {
			return nil, errorf("slice: the value is %s, not a list or a text", typeName(v))
		}
		runes = []rune(s)
		n = len(runes)
	}
	if len(bounds) > 2 {
		return nil, errorf("slice: takes a value, a beginning and an end")
	}
	ends := [2]int{0, n}
	for i, b := range bounds {
		var err error
		if ends[i], err = asIndex("slice", b, n); err != nil {
			return nil, err
		}
	}
	if ends[0] > ends[1] {
		return nil, errorf("slice: the end %d lies before the beginning %d", ends[1], ends[0])
	}
	if isList {
		return list[ends[0]:ends[1]:ends[1]], nil
	}
	return string(runes[ends[0]:ends[1]]), nil
}

func printf(format string, args ...any) (string, error) {
	for i, a := range args {
		switch a.(type) {
		case nil:
			return "", errorf("printf: value %d is null, and a null is not printed", i+1)
		case []any, map[string]any, *rendering:
			s, err := printed(a)
			if err != nil {
				return "", err
			}
			args[i] = s
		}
	}
	s := fmt.Sprintf(format, args...)
	if i := strings.Index(s, "%!"); i >= 0 && !strings.Contains(format, "%%!") {
		return "", errorf("printf: %q does not fit its values: %s", format, s[i:min(len(s), i+60)])
	}
	return bounded(s)
}

func bounded(s string) (string, error) {
	if len(s) > MaxText {
		return "", errTooLong
	}
	return s, nil
}

// equal compares any two values; numbers by value, whatever their types.
func equal(a, b any) bool {
	if x, ok := asNumber(a); ok {
		y, ok := asNumber(b)
		return ok && x == y
	}
	switch a := a.(type) {
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !equal(a[i], b[i]) {
				return false
			}
		}
		return true
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, v := range a {
			if w, ok := b[k]; !ok || !equal(v, w) {
				return false
			}
		}
		return true
	}
	return reflect.TypeOf(a) == reflect.TypeOf(b) && a == b
}

// eq reports whether a equals one of the others.
func eq(a any, others ...any) (bool, error) {
	if len(others) == 0 {
		return false, errorf("eq: takes two values or more")
	}
	for _, b := range others {
		if equal(a, b) {
			return true, nil
		}
	}
	return false, nil
}

func ne(a, b any) bool { return !equal(a, b) }

func compared(name string, holds func(int) bool) func(a, b any) (bool, error) {
	return func(a, b any) (bool, error) {
		if x, ok := asNumber(a); ok {
			if y, ok := asNumber(b); ok {
				return holds(cmp.Compare(x, y)), nil
			}
		}
		if x, ok := a.(string); ok {
			if y, ok := b.(string); ok {
				return holds(cmp.Compare(x, y)), nil
			}
		}
		return false, errorf("%s: %s cannot be compared with %s", name, typeName(a), typeName(b))
	}
}

// lines splits a text into its lines, and writes a list one item a line.
func lines(v any) (any, error) {
	if list, ok := v.([]any); ok {
		return join("\n", list)
	}
	s, err := asText("lines", v)
	if err != nil {
		return nil, err
	}
	out := []any{}
	for line := range strings.Lines(s) {
		out = append(out, strings.TrimRight(line, "\r\n"))
	}
	return out, nil
}

func toJSON(v any) (string, error) {
	if _, ok := v.(*rendering); ok {
		return "", errorf("json: the whole state cannot be printed")
	}
	return compactJSON(v)
}

func join(separator string, v any) (string, error) {
	list, err := asList("join", v)
	if err != nil {
		return "", err
	}
	var b limitedText
	for i, item := range list {
		s, err := printed(item)
		if err == errNull {
			return "", errorf("join: item %d is null, and a null is not printed", i)
		}
		if err != nil {
			return "", err
		}
		if i > 0 {
			s = separator + s
		}
		if _, err := b.Write([]byte(s)); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

func replace(old, with string, v any) (string, error) {
	s, err := asText("replace", v)
	if err != nil {
		return "", err
	}
	if grows := len(with) - len(old); grows > 0 && len(s)+grows*strings.Count(s, old) > MaxText {
		return "", errTooLong
	}
	return strings.ReplaceAll(s, old, with), nil
}

// indent puts n blanks before every line that is not empty.
func indent(n int, v any) (string, error) {
	s, err := asText("indent", v)
	if err != nil {
		return "", err
	}
	if n < 0 || n > 1000 {
		return "", errorf("indent: %d is not between 0 and 1000", n)
	}
	blanks := strings.Repeat(" ", n)
	var b limitedText
	for line := range strings.Lines(s) {
		if strings.TrimRight(line, "\r\n") != "" {
			line = blanks + line
		}
		if _, err := b.Write([]byte(line)); err != nil {
			return "", err
		}
	}
	return b.String(), nil
}

// truncate shortens a text to n characters, the last of which is then an ellipsis.
func truncate(n int, v any) (string, error) {
	s, err := asText("truncate", v)
	if err != nil {
		return "", err
	}
	if n < 1 {
		return "", errorf("truncate: %d is not a number of characters above 0", n)
	}
	if utf8.RuneCountInString(s) <= n {
		return s, nil
	}
	return string([]rune(s)[:n-1]) + "…", nil
}

// number writes a number with so many decimals.
func number(decimals int, v any) (string, error) {
	f, ok := asNumber(v)
	if !ok {
		return "", errorf("number: the value is %s, not a number", typeName(v))
	}
	if decimals < 0 || decimals > 20 {
		return "", errorf("number: %d decimals are not between 0 and 20", decimals)
	}
	return strconv.FormatFloat(f, 'f', decimals, 64), nil
}

func first(v any) (any, error) { return end("first", v, func([]any) int { return 0 }) }

func last(v any) (any, error) {
	return end("last", v, func(list []any) int { return len(list) - 1 })
}

// end is one end of a list, null for an empty one.
func end(name string, v any, at func([]any) int) (any, error) {
	list, err := asList(name, v)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return list[at(list)], nil
}

// date writes a time (RFC 3339, or a day) in a layout of Go: date "2 January 2006" .at.
func date(layout string, v any) (string, error) {
	s, err := asText("date", v)
	if err != nil {
		return "", err
	}
	for _, form := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", time.DateTime, time.DateOnly} {
		if t, err := time.Parse(form, s); err == nil {
			return t.Format(layout), nil
		}
	}
	return "", errorf("date: %q is not a time like 2006-01-02T15:04:05Z or 2006-01-02", s)
}

// orDefault is v, or d in place of null and the empty text.
func orDefault(d, v any) any {
	if v == nil || v == "" {
		return d
	}
	return v
}
