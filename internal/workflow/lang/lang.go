// Package lang holds the two small languages of workflow files: templates, in which texts are written, and
// expressions, in which data are. Both read state through engine.Scope; both are checked whole when a file is loaded.
package lang

import "github.com/hitl-tui/hitl-tui/internal/engine"

// Names are what a template or expression may mention at one place in a file.
type Names struct {
	Keys    []string            // state keys, in a map also the item's name and "index"
	Answers map[string][]string // human nodes -> nil, questions nodes -> names of their questions
	Errors  []string            // nodes
	Output  bool                // "output" is known here
	Env     bool                // the template function env is allowed here
}

// Fault is one mistake in a source text.
type Fault struct {
	Offset  int    // in bytes from its beginning
	Message string // without the place: `unknown name ".sinse"; did you mean "since"?`
}

// Template is a checked template, safe for concurrent use.
type Template struct{}

// ParseTemplate checks a template. Getenv serves env; nil means none is set.
func ParseTemplate(source string, names Names) (*Template, []Fault) { panic("contract only") }

// Source is the text it was made of.
func (t *Template) Source() string { panic("contract only") }

// Render fills the template in. Printing a null is an error that names it. The error is engine.Permanent.
func (t *Template) Render(scope engine.Scope) (string, error) { panic("contract only") }

// Expr is a checked expression, safe for concurrent use.
type Expr struct{}

// ParseExpr checks an expression.
func ParseExpr(source string, names Names) (*Expr, []Fault) { panic("contract only") }

// Literal makes an expression of a value written in plain JSON.
func Literal(v engine.Value) *Expr { panic("contract only") }

// Source is the text it was made of.
func (e *Expr) Source() string { panic("contract only") }

// Key is the state key that e is, when it is nothing but one; else "".
func (e *Expr) Key() string { panic("contract only") }

// Eval computes e; output is what "output" means. The error is engine.Permanent.
func (e *Expr) Eval(scope engine.Scope, output engine.Value) (engine.Value, error) {
	panic("contract only")
}

// Bool computes a condition; a result that is neither true nor false is an error that names the null or the type.
func (e *Expr) Bool(scope engine.Scope, output engine.Value) (bool, error) { panic("contract only") }
