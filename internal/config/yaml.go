package config

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

const (
	maxSize  = 1 << 20 // bytes of a configuration
	maxDepth = 64      // levels of nesting
)

// node is a value of the file as it is written, with its place. The library's own decoder is not used: it stops at the
// first fault and rewrites scalars (1.10 in a text becomes 1.1).
type node struct {
	kind         nodeKind
	text         string // of a scalar, as written
	bare         bool   // a number or a boolean, not a text
	members      []member
	items        []*node
	line, column int
}

type member struct {
	name         string
	value        *node
	line, column int
}

type nodeKind int

const (
	isScalar nodeKind = iota
	isMapping
	isList
	isEmpty
)

func (k nodeKind) String() string {
	return [...]string{"a text", "a mapping", "a list", "nothing"}[k]
}

// reader turns the tree of the YAML library into nodes and gathers faults.
type reader struct {
	faults []Fault
}

func (r *reader) fault(line, column int, format string, args ...any) {
	r.faults = append(r.faults, Fault{Line: line, Column: column, Message: fmt.Sprintf(format, args...)})
}

// read parses text; nil when it is empty or cannot be parsed.
func (r *reader) read(text string) *node {
	if len(text) > maxSize {
		r.fault(1, 1, "the file is %d bytes; the limit is %d", len(text), maxSize)
		return nil
	}
	text = strings.TrimPrefix(text, "\ufeff")
	// Depth is limited on the tokens, since the parser takes time quadratic in it.
	tokens := lexer.Tokenize(text)
	if !r.shallow(tokens) {
		return nil
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		r.syntax(err)
		return nil
	}
	var docs []*ast.DocumentNode
	for _, doc := range file.Docs {
		if doc.Body != nil && doc.Body.Type() != ast.CommentType && doc.Body.Type() != ast.CommentGroupType {
			docs = append(docs, doc)
		}
	}
	if len(docs) == 0 {
		return nil
	}
	if len(docs) > 1 {
		second := new(reader).convert(docs[1].Body, 0)
		r.fault(second.line, second.column, "a file holds one configuration; a second document begins here")
	}
	return r.convert(docs[0].Body, 0)
}

func (r *reader) shallow(tokens token.Tokens) bool {
	depth := 0
	for _, t := range tokens {
		switch t.Type {
		case token.MappingStartType, token.SequenceStartType:
			depth++
		case token.MappingEndType, token.SequenceEndType:
			depth--
		}
		if depth > maxDepth || t.Position.IndentLevel > maxDepth {
			r.fault(t.Position.Line, t.Position.Column, "nested deeper than %d levels", maxDepth)
			return false
		}
	}
	return true
}

func (r *reader) syntax(err error) {
	var bad yaml.Error
	if errors.As(err, &bad) && bad.GetToken() != nil {
		pos := bad.GetToken().Position
		r.fault(pos.Line, pos.Column, "%s", bad.GetMessage())
		return
	}
	r.fault(1, 1, "%v", err)
}

func (r *reader) convert(n ast.Node, depth int) *node {
	pos := n.GetToken().Position
	out := &node{line: pos.Line, column: pos.Column}
	if depth > maxDepth {
		r.fault(pos.Line, pos.Column, "nested deeper than %d levels", maxDepth)
		return out
	}
	switch t := n.(type) {
	case *ast.MappingNode:
		out.kind = isMapping
		for _, v := range t.Values {
			r.addMember(out, v, depth)
		}
	case *ast.MappingValueNode:
		out.kind = isMapping
		r.addMember(out, t, depth)
	case *ast.SequenceNode:
		out.kind = isList
		for _, v := range t.Values {
			out.items = append(out.items, r.convert(v, depth+1))
		}
	case *ast.NullNode:
		// The library makes the same node of an empty value and of ~ and null, all of which are mistakes here.
		out.kind = isEmpty
	case *ast.StringNode:
		out.text = t.Value
	case *ast.LiteralNode:
		out.text = t.Value.Value
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		out.text, out.bare = n.GetToken().Value, true
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		r.fault(pos.Line, pos.Column, "anchors, aliases and merge keys are not read: write the value out")
	case *ast.TagNode:
		r.fault(pos.Line, pos.Column, "tags are not read: write the plain value")
	default:
		r.fault(pos.Line, pos.Column, "a %s is not read here", strings.ToLower(n.Type().String()))
	}
	if len(out.members) > 0 { // the library gives the colon as the place of a mapping
		out.line, out.column = out.members[0].line, out.members[0].column
	}
	return out
}

func (r *reader) addMember(to *node, v *ast.MappingValueNode, depth int) {
	key := v.Key.GetToken()
	if _, merge := v.Key.(*ast.MergeKeyNode); merge {
		r.fault(key.Position.Line, key.Position.Column, "anchors, aliases and merge keys are not read: write the value out")
		return
	}
	m := member{name: key.Value, line: key.Position.Line, column: key.Position.Column, value: r.convert(v.Value, depth+1)}
	if m.value.kind == isEmpty { // its own place may be the line after
		m.value.line, m.value.column = m.line, m.column
	}
	to.members = append(to.members, m)
}
