package lang

import (
	"strconv"
	"text/template/parse"
)

// The functions that the rewriter puts into a tree. A source that names one is refused: they are in no list of names.
const (
	internalPrefix = "hitl_"
	fnGet          = internalPrefix + "get"
	fnEmit         = internalPrefix + "emit"
	fnIter         = internalPrefix + "iter"
)

// rewriter changes a checked tree so that a field of a null is null, so that printing goes through emit and ranging
// through iter. text/template alone prints "<no value>" for a null, numbers with exponents, and lists in Go's way.
type rewriter struct{}

func (r *rewriter) list(list *parse.ListNode) {
	if list == nil {
		return
	}
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.ActionNode:
			source := n.Pipe.String()
			r.pipe(n.Pipe)
			if len(n.Pipe.Decl) == 0 {
				r.pipeInto(n.Pipe, fnEmit, text(source))
			}
		case *parse.IfNode:
			r.branch(&n.BranchNode)
		case *parse.WithNode:
			r.branch(&n.BranchNode)
		case *parse.RangeNode:
			source := &parse.PipeNode{NodeType: parse.NodePipe, Cmds: n.Pipe.Cmds}
			written := text(source.String())
			r.branch(&n.BranchNode)
			r.pipeInto(n.Pipe, fnIter, root(), written)
		}
	}
}

func (r *rewriter) branch(b *parse.BranchNode) {
	r.pipe(b.Pipe)
	r.list(b.List)
	r.list(b.ElseList)
}

func (r *rewriter) pipe(pipe *parse.PipeNode) {
	for _, cmd := range pipe.Cmds {
		for i, arg := range cmd.Args[1:] {
			if call := r.get(arg); call != nil {
				cmd.Args[i+1] = brackets(arg.Position(), call)
			}
		}
		if call := r.get(cmd.Args[0]); call != nil {
			cmd.Args = call // a path is all there is to its command
		}
	}
}

// get is the call that takes the place of a path, nil for a node that is none.
func (r *rewriter) get(n parse.Node) []parse.Node {
	switch n := n.(type) {
	case *parse.FieldNode:
		return call(fnGet, text(n.String()), &parse.DotNode{NodeType: parse.NodeDot, Pos: n.Pos}, n.Ident)
	case *parse.VariableNode:
		if len(n.Ident) > 1 {
			base := &parse.VariableNode{NodeType: parse.NodeVariable, Pos: n.Pos, Ident: n.Ident[:1]}
			return call(fnGet, text(n.String()), base, n.Ident[1:])
		}
	case *parse.ChainNode:
		source, base := text(n.String()), n.Node
		if inner := r.get(base); inner != nil {
			base = brackets(n.Pos, inner)
		}
		return call(fnGet, source, base, n.Field)
	case *parse.PipeNode:
		r.pipe(n)
	}
	return nil
}

func (r *rewriter) pipeInto(pipe *parse.PipeNode, function string, args ...parse.Node) {
	pipe.Cmds = append(pipe.Cmds, command(pipe.Pos, append([]parse.Node{parse.NewIdentifier(function)}, args...)...))
}

func call(function string, source, base parse.Node, path []string) []parse.Node {
	args := []parse.Node{parse.NewIdentifier(function), source, base}
	for _, name := range path {
		args = append(args, text(name))
	}
	return args
}

// brackets makes an argument of a call.
func brackets(pos parse.Pos, call []parse.Node) *parse.PipeNode {
	return &parse.PipeNode{NodeType: parse.NodePipe, Pos: pos, Cmds: []*parse.CommandNode{command(pos, call...)}}
}

func command(pos parse.Pos, args ...parse.Node) *parse.CommandNode {
	return &parse.CommandNode{NodeType: parse.NodeCommand, Pos: pos, Args: args}
}

func text(s string) *parse.StringNode {
	return &parse.StringNode{NodeType: parse.NodeString, Quoted: strconv.Quote(s), Text: s}
}

func root() *parse.VariableNode {
	return &parse.VariableNode{NodeType: parse.NodeVariable, Ident: []string{"$"}}
}
