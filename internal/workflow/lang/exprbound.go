package lang

import (
	"fmt"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/vm/runtime"
)

// addName is the function that takes the place of + where texts may be joined; no source can write it.
const addName = "$add"

// boundedFunctions replaces what expr-lang would let grow without bound, its memory budget counting elements and not
// the bytes of texts, and now, which would read a clock of its own.
func boundedFunctions() []expr.Option {
	return []expr.Option{
		expr.Patch(patcher{}),
		expr.Function(addName, add),
		expr.Function("repeat", repeat, new(func(string, int) string), new(func(string, float64) string), new(func(any, any) string)),
		expr.Function("replace", boundedReplace, new(func(string, string, string) string), new(func(any, any, any) string)),
		expr.Function("join", boundedJoin, new(func(any) string), new(func(any, string) string), new(func(any, any) string)),
		expr.Function("toJSON", measured("toJSON"), new(func(any) string)),
		expr.Function("string", measured("string"), new(func(any) string)),
		expr.Function("flatten", measured("flatten"), new(func(any) []any)),
	}
}

// patcher puts the bounded functions and the engine's clock into a tree.
type patcher struct{}

func (patcher) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.BuiltinNode:
		if n.Name == "now" {
			ast.Patch(node, &ast.IdentifierNode{Value: clockName})
		}
	case *ast.BinaryNode:
		if n.Operator == "+" && !isNumber(n.Left) && !isNumber(n.Right) {
			ast.Patch(node, &ast.CallNode{Callee: &ast.IdentifierNode{Value: addName}, Arguments: []ast.Node{n.Left, n.Right}})
		}
	}
}

func isNumber(n ast.Node) bool {
	switch n.(type) {
	case *ast.IntegerNode, *ast.FloatNode:
		return true
	}
	switch n.Type().Kind() {
	case reflect.Int, reflect.Float64, reflect.Struct, reflect.Int64: // time.Time and time.Duration too
		return true
	}
	return false
}

func add(args ...any) (any, error) {
	if a, ok := args[0].(string); ok {
		if b, ok := args[1].(string); ok {
			if len(a)+len(b) > MaxText {
				return nil, errTooLong
			}
			return a + b, nil
		}
	}
	return runtime.Add(args[0], args[1]), nil
}

func textArg(function string, v any) (string, error) {
	s, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("%s takes text, not %s", function, typeName(v))
	}
	return s, nil
}

func repeat(args ...any) (any, error) {
	s, err := textArg("repeat", args[0])
	if err != nil {
		return nil, err
	}
	f, ok := asNumber(args[1])
	if !ok || f < 0 {
		return nil, fmt.Errorf("repeat takes a number that is not negative, not %v", args[1])
	}
	if f*float64(len(s)) > MaxText {
		return nil, errTooLong
	}
	if s == "" {
		return "", nil
	}
	return strings.Repeat(s, int(f)), nil
}

func boundedReplace(args ...any) (any, error) {
	var s [3]string
	for i := range s {
		var err error
		if s[i], err = textArg("replace", args[i]); err != nil {
			return nil, err
		}
	}
	count := strings.Count(s[0], s[1])
	if s[1] == "" {
		count = utf8.RuneCountInString(s[0]) + 1
	}
	if grows := len(s[2]) - len(s[1]); grows > 0 && len(s[0])+grows*count > MaxText {
		return nil, errTooLong
	}
	return strings.ReplaceAll(s[0], s[1], s[2]), nil
}

func boundedJoin(args ...any) (any, error) {
	separator := ""
	if len(args) == 2 {
		var err error
		if separator, err = textArg("join", args[1]); err != nil {
			return nil, err
		}
	}
	v := reflect.ValueOf(args[0])
	if v.Kind() != reflect.Slice {
		return nil, fmt.Errorf("join takes a list, not %s", typeName(args[0]))
	}
	var b limitedText
	for i := range v.Len() {
		s, err := textArg("join", v.Index(i).Interface())
		if err != nil {
			return nil, err
		}
		if i > 0 {
			s = separator + s
		}
		if _, err := b.Write([]byte(s)); err != nil {
			return nil, err
		}
	}
	return b.String(), nil
}

// measured is a function of expr-lang that refuses an argument whose written form would be too long: values may
// share parts, so that a small program can make a huge one.
func measured(name string) func(...any) (any, error) {
	var original *builtin.Function
	for _, f := range builtin.Builtins {
		if f.Name == name {
			original = f
		}
	}
	return func(args ...any) (any, error) {
		size := MaxText
		for _, a := range args {
			if !measure(a, &size) {
				return nil, errTooLong
			}
		}
		switch {
		case original.Fast != nil:
			return original.Fast(args[0]), nil
		case original.Safe != nil:
			v, _, err := original.Safe(args...)
			return v, err
		}
		return original.Func(args...)
	}
}

// measure takes the length of v as JSON, roughly, from left, and reports whether there was enough.
func measure(v any, left *int) bool {
	*left -= 2
	switch v := v.(type) {
	case string:
		*left -= len(v)
	case []any:
		for _, item := range v {
			if !measure(item, left) {
				return false
			}
		}
	case map[string]any:
		for k, item := range v {
			*left -= len(k)
			if !measure(item, left) {
				return false
			}
		}
	default:
		if r := reflect.ValueOf(v); r.Kind() == reflect.Slice || r.Kind() == reflect.Map {
			*left -= r.Len() * 8
		}
	}
	return *left >= 0
}
