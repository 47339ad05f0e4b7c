package lang

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/builtin"
)

// clockName is the name under which the clock is handed to a program; no source can write it.
const clockName = "$now"

// exprCheck walks the tree as it was written, before the optimiser rewrites it, and collects faults and names.
type exprCheck struct {
	source string
	names  Names
	keys   map[string]bool
	lets   []string
	reads  []string
	paths  [][]string
	faults []Fault
}

func newExprCheck(source string, names Names) *exprCheck {
	keys := make(map[string]bool, len(names.Keys))
	for _, k := range names.Keys {
		keys[k] = true
	}
	return &exprCheck{source: source, names: names, keys: keys}
}

func (c *exprCheck) fault(n ast.Node, format string, args ...any) {
	c.faults = append(c.faults, Fault{Offset: byteOffset(c.source, n.Location().From), Message: fmt.Sprintf(format, args...)})
}

// identifier is the name that n is, "" when it is more than one.
func identifier(n ast.Node) string {
	if id, ok := n.(*ast.IdentifierNode); ok {
		return id.Value
	}
	return ""
}

// constant reports whether n is one value written out.
func constant(n ast.Node) bool {
	switch n.(type) {
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return true
	}
	return false
}

// root checks the whole expression. A single word that is no name is most likely a text without its quotes.
func (c *exprCheck) root(n ast.Node) {
	name := identifier(n)
	if name == "" || c.isName(name) || name == "null" {
		c.node(n)
		return
	}
	c.fault(n, "%s (a text needs quotes of its own: \"'%s'\")", c.unknown(name), name)
}

func (c *exprCheck) isName(name string) bool {
	return c.keys[name] || name == "answers" || name == "errors" || name == "run" || name == "output" && c.names.Output
}

func (c *exprCheck) unknown(name string) string {
	_, hint := c.names.resolve([]string{name})
	return fmt.Sprintf("unknown name %q%s", name, hint)
}

func (c *exprCheck) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		c.path(n, nil)
	case *ast.MemberNode:
		c.member(n)
	case *ast.UnaryNode:
		c.node(n.Node)
	case *ast.BinaryNode:
		c.node(n.Left)
		if n.Operator == "??" {
			c.paths = nil // a null there is provided for
		}
		c.node(n.Right)
	case *ast.ChainNode:
		c.node(n.Node)
	case *ast.SliceNode:
		c.nodes(n.Node, n.From, n.To)
	case *ast.CallNode:
		c.call(n)
	case *ast.BuiltinNode:
		c.builtin(n)
	case *ast.PredicateNode:
		c.node(n.Node)
	case *ast.VariableDeclaratorNode:
		c.let(n)
	case *ast.SequenceNode:
		c.nodes(n.Nodes...)
	case *ast.ConditionalNode:
		c.nodes(n.Cond, n.Exp1, n.Exp2)
	case *ast.ArrayNode:
		c.nodes(n.Nodes...)
	case *ast.MapNode:
		c.nodes(n.Pairs...)
	case *ast.PairNode:
		c.nodes(n.Key, n.Value)
	}
}

func (c *exprCheck) nodes(nodes ...ast.Node) {
	for _, n := range nodes {
		if n != nil {
			c.node(n)
		}
	}
}

// member follows a chain of fields down to its base, which it checks together with the fields.
func (c *exprCheck) member(n *ast.MemberNode) {
	var fields []*ast.StringNode
	var base ast.Node = n
	for {
		if chain, ok := base.(*ast.ChainNode); ok {
			base = chain.Node
			continue
		}
		m, ok := base.(*ast.MemberNode)
		if !ok {
			break
		}
		if field, ok := m.Property.(*ast.StringNode); ok {
			fields = append(fields, field)
		} else {
			c.node(m.Property)
			fields = nil
		}
		base = m.Node
	}
	slices.Reverse(fields)
	if id, ok := base.(*ast.IdentifierNode); ok {
		c.path(id, fields)
		return
	}
	c.node(base)
}

// path checks a name and the fields that follow it.
func (c *exprCheck) path(id *ast.IdentifierNode, fields []*ast.StringNode) {
	name := id.Value
	switch {
	case slices.Contains(c.lets, name):
		return
	case name == "null":
		c.fault(id, "null is written nil in an expression")
		return
	case !c.isName(name):
		c.fault(id, "%s", c.unknown(name))
		return
	}
	if !slices.Contains(c.reads, name) {
		c.reads = append(c.reads, name)
	}
	path := []string{name}
	for _, f := range fields {
		path = append(path, f.Value)
	}
	c.paths = append(c.paths, path)
	if bad, hint := c.names.resolve(path); bad > 0 {
		c.fault(fields[bad-1], "unknown field %q%s", path[bad], hint)
	}
}

func (c *exprCheck) call(n *ast.CallNode) {
	name := identifier(n.Callee)
	switch {
	case name == "":
		c.node(n.Callee)
	case c.isName(name):
		c.fault(n.Callee, "%q is a state key, not a function", name)
	default:
		c.fault(n.Callee, "unknown function %q%s", name, functionHint(name, builtin.Names))
	}
	c.nodes(n.Arguments...)
}

func (c *exprCheck) builtin(n *ast.BuiltinNode) {
	if c.keys[n.Name] {
		c.fault(n, "%q is a state key here, so the function %s cannot be called", n.Name, n.Name)
	}
	if n.Name == "now" {
		if len(n.Arguments) > 0 {
			c.fault(n, "now takes no arguments")
		}
		if !slices.Contains(c.reads, clockName) {
			c.reads = append(c.reads, clockName)
		}
	}
	c.nodes(n.Arguments...)
}

func (c *exprCheck) let(n *ast.VariableDeclaratorNode) {
	if c.isName(n.Name) {
		c.fault(n, "%q is a name of the workflow, which let cannot set anew", n.Name)
	}
	c.node(n.Value)
	c.lets = append(c.lets, n.Name)
	c.node(n.Expr)
	c.lets = c.lets[:len(c.lets)-1]
}

var placeholder = regexp.MustCompile(`\{\{-?\s*\$?\.([A-Za-z_][A-Za-z0-9_.]*)\s*-?\}\}`)

// withoutBraces is the fault of an expression that was written as a template.
func withoutBraces(source string) (message string, isTemplate bool) {
	if !strings.Contains(source, "{{") || !strings.Contains(source, "}}") {
		return "", false
	}
	plain := placeholder.ReplaceAllString(source, "$1")
	if plain == source {
		if strings.HasPrefix(strings.TrimSpace(source), "{{") {
			return "is an expression, not a template: names are written without braces and dots", true
		}
		return "", false
	}
	return fmt.Sprintf("is an expression, not a template: write %s, not %s", plain, source), true
}
