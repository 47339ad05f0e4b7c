package lang

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"
)

// controlFunctions are those that text/template itself must know, since they do not evaluate all their arguments.
var controlFunctions = []string{"and", "or"}

// dot is what "." stands for at a place of a template: a path from the root, or, when it is not known, anything.
type dot struct {
	known bool
	path  []string
}

// templateCheck walks a parse tree before it is rewritten and collects the faults.
type templateCheck struct {
	names     Names
	source    string
	functions template.FuncMap
	faults    []Fault
}

func (c *templateCheck) fault(offset int, format string, args ...any) {
	c.faults = append(c.faults, Fault{Offset: min(max(offset, 0), len(c.source)), Message: fmt.Sprintf(format, args...)})
}

var definition = regexp.MustCompile(`\{\{-?\s*(define|block)\b`)

func (c *templateCheck) refuseDefinitions() {
	for _, m := range definition.FindAllStringSubmatchIndex(c.source, -1) {
		c.refuseWord(m[2], c.source[m[2]:m[3]])
	}
}

func (c *templateCheck) refuseWord(offset int, word string) {
	c.fault(offset, "%s is not allowed: a text of a workflow is one template", word)
}

func (c *templateCheck) list(list *parse.ListNode, d dot) {
	if list == nil {
		return
	}
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.ActionNode:
			c.pipe(n.Pipe, d)
		case *parse.IfNode:
			c.branch(&n.BranchNode, d, d)
		case *parse.WithNode:
			c.branch(&n.BranchNode, d, c.pathOf(n.Pipe, d))
		case *parse.RangeNode:
			c.branch(&n.BranchNode, d, dot{})
		case *parse.TemplateNode:
			// A block leaves such a node too; its definition is reported already.
			before := c.source[:n.Position()]
			if at := strings.LastIndex(before, "template"); at > strings.LastIndex(before, "block") {
				c.refuseWord(at, "template")
			}
		}
	}
}

func (c *templateCheck) branch(b *parse.BranchNode, outside, inside dot) {
	c.pipe(b.Pipe, outside)
	c.list(b.List, inside)
	c.list(b.ElseList, outside)
}

// pathOf is what "." is inside a with: the path of its pipeline, when that is nothing but one.
func (c *templateCheck) pathOf(pipe *parse.PipeNode, d dot) dot {
	if len(pipe.Cmds) != 1 || len(pipe.Cmds[0].Args) != 1 {
		return dot{}
	}
	switch n := pipe.Cmds[0].Args[0].(type) {
	case *parse.FieldNode:
		if d.known {
			return dot{known: true, path: slices.Concat(d.path, n.Ident)}
		}
	case *parse.VariableNode:
		if n.Ident[0] == "$" {
			return dot{known: true, path: n.Ident[1:]}
		}
	}
	return dot{}
}

func (c *templateCheck) pipe(pipe *parse.PipeNode, d dot) {
	for _, v := range pipe.Decl {
		if v.Ident[0] == "$" {
			c.fault(int(v.Position()), `"$" is the whole state and cannot be set: give the variable a name`)
		}
	}
	for i, cmd := range pipe.Cmds {
		c.command(cmd, d, i > 0)
	}
}

func (c *templateCheck) command(cmd *parse.CommandNode, d dot, piped bool) {
	_, function := cmd.Args[0].(*parse.IdentifierNode)
	if !function && (piped || len(cmd.Args) > 1) {
		c.fault(int(cmd.Args[0].Position()), "%s is a value and takes no arguments", cmd.Args[0])
		return
	}
	for i, arg := range cmd.Args {
		c.arg(arg, d)
		if id, ok := arg.(*parse.IdentifierNode); ok && i > 0 && c.known(id.Ident) {
			c.fault(int(id.Position()), "the function %s needs brackets of its own here: (%s ...)", id.Ident, id.Ident)
		}
	}
}

func (c *templateCheck) arg(arg parse.Node, d dot) {
	switch n := arg.(type) {
	case *parse.FieldNode:
		if d.known {
			c.path(start(n, n.Ident), "", d.path, n.Ident)
		}
	case *parse.VariableNode:
		switch {
		case n.Ident[0] != "$":
		case len(n.Ident) == 1:
			c.fault(int(n.Position()), `"$" alone is the whole state: name what you mean, as in $.%s`, c.example())
		default:
			c.path(start(n, n.Ident), "$", nil, n.Ident[1:])
		}
	case *parse.DotNode:
		if d.known && len(d.path) == 0 {
			c.fault(int(n.Position()), `"." alone is the whole state: name what you mean, as in {{.%s}}`, c.example())
		}
	case *parse.ChainNode:
		c.arg(n.Node, d)
	case *parse.PipeNode:
		c.pipe(n, d)
	case *parse.IdentifierNode:
		c.function(n)
	}
}

func (c *templateCheck) example() string {
	if len(c.names.Keys) > 0 {
		return c.names.Keys[0]
	}
	return "name"
}

// start is the offset at which a path begins: the parser gives a longer one the place of its second segment.
func start(n parse.Node, ident []string) int {
	offset := int(n.Position())
	if len(ident) > 1 {
		offset -= len(ident[0])
		if ident[0][0] != '$' {
			offset--
		}
	}
	return offset
}

// path checks the names of ident, which follow base. The fault shows them as written, up to the wrong one.
func (c *templateCheck) path(offset int, prefix string, base, ident []string) {
	bad, hint := c.names.resolve(slices.Concat(base, ident))
	if bad < 0 || bad < len(base) {
		return
	}
	written := ident[:bad-len(base)+1]
	c.fault(offset, "unknown name %q%s", prefix+"."+strings.Join(written, "."), hint)
}

func (c *templateCheck) known(name string) bool {
	_, ok := c.functions[name]
	return ok || slices.Contains(controlFunctions, name)
}

func (c *templateCheck) function(n *parse.IdentifierNode) {
	if c.known(n.Ident) {
		if n.Ident == "env" && !c.names.Env {
			c.fault(int(n.Position()), "env is allowed only under env and headers and in an http URL, so that no secret reaches the state")
		}
		return
	}
	if bad, _ := c.names.resolve([]string{n.Ident}); bad < 0 {
		c.fault(int(n.Position()), "unknown function %q; a value is written with a dot: {{.%s}}", n.Ident, n.Ident)
		return
	}
	names := append(slices.Sorted(maps.Keys(c.functions)), controlFunctions...)
	c.fault(int(n.Position()), "unknown function %q%s", n.Ident, functionHint(n.Ident, names))
}
