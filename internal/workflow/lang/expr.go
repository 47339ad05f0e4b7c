package lang

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"

	"github.com/hitl-tui/hitl-tui/internal/engine"
)

// Bounds of an expression.
const (
	maxExprSource = 64 << 10  // bytes; the parser recurses once for each bracket
	maxExprNodes  = 10_000    // of its tree
	maxExprMemory = 5_000_000 // elements of lists and objects that one evaluation makes
)

// Clock is what a scope implements so that now() is the engine's clock. Without it now() is the system's.
type Clock interface{ Now() time.Time }

// Expr is a checked expression, safe for concurrent use.
type Expr struct {
	source   string
	literal  *engine.Value
	name     string      // the one name that e is, when it is nothing else
	isKey    bool        // name is a state key
	program  *vm.Program // nil: literal or name
	constant bool        // it is one value written out
	reads    []string    // top-level names
	paths    [][]string  // what it reads, as far as it is written out; to find the null that made it fail
}

// ParseExpr checks an expression of expr-lang, with the names and functions it mentions.
func ParseExpr(source string, names Names) (e *Expr, faults []Fault) {
	if len(source) > maxExprSource {
		return nil, []Fault{{Message: fmt.Sprintf("is an expression of %d bytes; the limit is %d", len(source), maxExprSource)}}
	}
	defer func() {
		if r := recover(); r != nil {
			e, faults = nil, []Fault{{Message: fmt.Sprintf("cannot be read as an expression: %v", r)}}
		}
	}()
	switch strings.TrimSpace(source) {
	case "":
		return nil, []Fault{{Message: "is an empty expression"}}
	case "null": // alone it stands for itself; within an expression it is nil
		return &Expr{source: source, literal: new(engine.Value)}, nil
	case "true", "false": // which most nodes of a converted file write
		v := engine.RawValue([]byte(strings.TrimSpace(source)))
		return &Expr{source: source, literal: &v}, nil
	}
	tree, err := parser.Parse(source)
	if err != nil {
		return nil, []Fault{exprFault(source, err)}
	}
	c := newExprCheck(source, names)
	c.root(tree.Node)
	if len(c.faults) > 0 {
		return nil, c.faults
	}
	e = &Expr{source: source, reads: c.reads, paths: c.paths, constant: constant(tree.Node)}
	if e.name = identifier(tree.Node); e.name != "" {
		e.isKey = c.keys[e.name]
		return e, nil
	}
	env := types.Map{}
	for _, name := range e.reads {
		env[name] = types.Any
	}
	env[clockName] = types.TypeOf(time.Time{})
	options := append([]expr.Option{expr.Env(env), expr.MaxNodes(maxExprNodes)}, boundedFunctions()...)
	if e.program, err = expr.Compile(source, options...); err != nil {
		return nil, []Fault{exprFault(source, err)}
	}
	return e, nil
}

// Literal makes an expression of a value written in plain JSON.
func Literal(v engine.Value) *Expr { return &Expr{source: string(v.JSON()), literal: &v} }

// Reads lists the names that it mentions, without what follows them.
func (e *Expr) Reads() []string { return slices.Clone(e.reads) }

// Source is the text it was made of.
func (e *Expr) Source() string { return e.source }

// Key is the state key that e is, when it is nothing but one; else "".
func (e *Expr) Key() string {
	if !e.isKey {
		return ""
	}
	return e.name
}

// Constant is the value that e is whatever the state: one written out, as 'x', 5 or true.
func (e *Expr) Constant() (v engine.Value, ok bool) {
	switch {
	case e.literal != nil:
		return *e.literal, true
	case !e.constant:
		return v, false
	}
	v, err := e.Eval(nil, v)
	return v, err == nil
}

// Eval computes e; output is what "output" means. The error is engine.Permanent.
func (e *Expr) Eval(scope engine.Scope, output engine.Value) (engine.Value, error) {
	if e.literal != nil {
		return *e.literal, nil
	}
	if e.name != "" {
		return lookup(scope, e.name, output), nil
	}
	v, err := e.run(scope, output)
	if err != nil {
		return engine.Value{}, err
	}
	size := MaxText
	if !measure(v, &size) {
		return engine.Value{}, e.fail("the result is larger than %d MiB", MaxText>>20)
	}
	value, err := engine.ValueOf(v)
	if err != nil {
		return engine.Value{}, e.fail("the result is no JSON: %w", err)
	}
	return value, nil
}

// Bool computes a condition; a result that is neither true nor false is an error that names the null or the type.
func (e *Expr) Bool(scope engine.Scope, output engine.Value) (bool, error) {
	var v any
	switch {
	case e.literal != nil:
		v = e.literal.Any()
	case e.name != "":
		v = lookup(scope, e.name, output).Any()
	default:
		var err error
		if v, err = e.run(scope, output); err != nil {
			return false, err
		}
	}
	switch v := v.(type) {
	case bool:
		return v, nil
	case nil:
		remedy := "say what null means with ??"
		if e.name != "" || len(e.paths) == 1 && strings.Join(e.paths[0], ".") == e.source {
			remedy = fmt.Sprintf("%s ?? false", e.source)
		}
		return false, e.fail("is null, which is neither true nor false (%s)", remedy)
	}
	return false, e.fail("is %s, not true or false", typeName(v))
}

func lookup(scope engine.Scope, name string, output engine.Value) engine.Value {
	if name == "output" {
		return output
	}
	v, _ := scope.Lookup(name)
	return v
}

// run evaluates the program over the names it reads, and no others: the state may be large.
func (e *Expr) run(scope engine.Scope, output engine.Value) (any, error) {
	env := make(map[string]any, len(e.reads))
	for _, name := range e.reads {
		if name == clockName {
			env[name] = now(scope)
		} else {
			env[name] = lookup(scope, name, output).Any()
		}
	}
	machine := vm.VM{MemoryBudget: maxExprMemory}
	v, err := machine.Run(e.program, env)
	if err != nil {
		return nil, e.explain(err, env)
	}
	return v, nil
}

func now(scope engine.Scope) time.Time {
	if c, ok := scope.(Clock); ok {
		return c.Now()
	}
	return time.Now()
}

// fail makes a permanent error that begins with the expression, or says "EXPR is ..." where the message begins so.
func (e *Expr) fail(format string, args ...any) error {
	source := strings.Join(strings.Fields(e.source), " ")
	if r := []rune(source); len(r) > 80 {
		source = string(r[:79]) + "…"
	}
	if !strings.HasPrefix(format, "is ") {
		source += ":"
	}
	return engine.Permanent(fmt.Errorf("%s "+format, append([]any{source}, args...)...))
}

// exprFault places an error of the expression parser or checker.
func exprFault(source string, err error) Fault {
	if plain, isTemplate := withoutBraces(source); isTemplate {
		return Fault{Message: plain}
	}
	var fe *file.Error
	if !errors.As(err, &fe) {
		return Fault{Message: err.Error()}
	}
	message := reworded(plainTypes(fe.Message), exprSyntax)
	return Fault{Offset: byteOffset(source, fe.From), Message: message}
}

// byteOffset turns an offset in characters into one in bytes.
func byteOffset(source string, runes int) int {
	for i := range source {
		if runes == 0 {
			return i
		}
		runes--
	}
	return len(source)
}
