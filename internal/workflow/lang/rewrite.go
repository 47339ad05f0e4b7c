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
		if call := r.get(cmd.Args[0]); call != nil {
			cmd.Args = call
			continue
		}
		for i, arg := range cmd.Args {
			if call := r.get(arg); call != nil {
				cmd.Args[i] = &parse.PipeNode{NodeType: parse.NodePipe, Pos: arg.Position(), Cmds: []*parse.CommandNode{command(arg.Position(), call...)}}
			}
		}
	}
}

// get is the call that takes the place of a path, nil for a node that is none.
func (r *rewriter) get(n parse.Node) []parse.Node {
	source := text(n.String())
	switch n := n.(type) {
	case *parse.FieldNode:
		return call(fnGet, source, &parse.DotNode{NodeType: parse.NodeDot, Pos: n.Pos}, n.Ident)
	case *parse.VariableNode:
		if len(n.Ident) > 1 {
			base := &parse.VariableNode{NodeType: parse.NodeVariable, Pos: n.Pos, Ident: n.Ident[:1]}
			return call(fnGet, source, base, n.Ident[1:])
		}
	case *parse.ChainNode:
		base := n.Node
		if inner := r.get(base); inner != nil {
			base = &parse.PipeNode{NodeType: parse.NodePipe, Pos: n.Pos, Cmds: []*parse.CommandNode{command(n.Pos, inner...)}}
		} else if pipe, ok := base.(*parse.PipeNode); ok {
			r.pipe(pipe)
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

func command(pos parse.Pos, args ...parse.Node) *parse.CommandNode {
	return &parse.CommandNode{NodeType: parse.NodeCommand, Pos: pos, Args: args}
}

func text(s string) *parse.StringNode {
	return &parse.StringNode{NodeType: parse.NodeString, Quoted: strconv.Quote(s), Text: s}
}

func root() *parse.VariableNode {
	return &parse.VariableNode{NodeType: parse.NodeVariable, Ident: []string{"$"}}
}
