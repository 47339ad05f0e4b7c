package workflow

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/token"
)

// Limits of a file.
const (
	maxBytes = 1 << 20
	maxDepth = 64
)

// shape is what a value is.
type shape int

const (
	emptyShape shape = iota
	scalarShape
	listShape
	mappingShape
)

func (s shape) String() string {
	return [...]string{"nothing", "a text", "a list", "a mapping"}[s]
}

// style is how a scalar is written.
type style int

const (
	plainStyle style = iota
	singleStyle
	doubleStyle
	literalStyle
	foldedStyle
)

// value is a YAML value as it is written: a scalar is its characters, and nobody has guessed yet what they mean.
type value struct {
	shape   shape
	style   style
	text    string
	at      position
	list    []*value
	entries []entry
}

// entry is one line of a mapping.
type entry struct {
	key   *value // a scalar
	value *value
}

// get is the value of a key, nil when it is not there.
func (v *value) get(key string) *value {
	for _, e := range v.entries {
		if e.key.text == key {
			return e.value
		}
	}
	return nil
}

// String is v for messages.
func (v *value) String() string {
	if v.shape != scalarShape {
		return v.shape.String()
	}
	text := v.text
	if utf8.RuneCountInString(text) > 40 {
		text = string([]rune(text)[:40]) + "…"
	}
	if v.style == plainStyle {
		return text
	}
	return fmt.Sprintf("the text %q", text)
}

// parseYAML reads the strict subset of YAML that workflow files are written in: one document without anchors, merge
// keys, tags, directives, complex or duplicate keys. nil when there are faults that leave nothing to go on with.
func parseYAML(src *source, text string) (root *value) {
	if !checkText(src, text) {
		return nil
	}
	defer func() {
		if r := recover(); r != nil { // a defect of the library is still only a file that cannot be read
			src.fault(position{1, 1}, "this file cannot be read as YAML: %v", r)
			root = nil
		}
	}()
	tokens, ok := checkTokens(src, lexer.Tokenize(text))
	if !ok {
		return nil
	}
	if len(tokens) == 0 {
		src.fault(position{1, 1}, "the file is empty: a workflow begins with workflow: NAME")
		return nil
	}
	return (&blocks{src, pieceTokens}).parse(tokens, 0)
}

func syntaxFault(src *source, err error) {
	var syntax *yaml.SyntaxError
	if !errors.As(err, &syntax) || syntax.Token == nil || syntax.Token.Position == nil {
		src.fault(position{1, 1}, "this file cannot be read as YAML: %v", err)
		return
	}
	at := position{syntax.Token.Position.Line, syntax.Token.Position.Column}
	message := plainer(syntax.Message)
	if at.line >= 1 && at.line <= len(src.lines) {
		line := src.lines[at.line-1]
		switch {
		case at.column > 1 && strings.HasPrefix(afterRunes(line, at.column-2), "{{"):
			at.column--
			message = `a text that begins with "{{" needs quotes`
		case strings.HasPrefix(afterRunes(line, at.column-1), "{{"):
			message = `a text that begins with "{{" needs quotes`
		case strings.HasPrefix(syntax.Message, "mapping value is not allowed"):
			message = `a text with ": " in it needs quotes`
		}
	}
	src.fault(at, "%s", message)
}

// plainer is a message of the library with the remedy, where it names none.
func plainer(message string) string {
	switch {
	case strings.Contains(message, "'\t'"):
		return "a tab cannot stand here: indent with spaces"
	case strings.HasPrefix(message, "value is not allowed in this context"):
		return "this line is indented unlike those around it: the keys of one mapping begin in one column"
	case strings.Contains(message, "must be specified"), strings.HasSuffix(message, "not found"):
		return message + ": is a quote or a bracket before it left open?"
	}
	return message
}

// checkText refuses what is no text before anything reads it.
func checkText(src *source, text string) bool {
	for n, line := range src.lines {
		column := 0
		for i, c := range line {
			column++
			switch {
			case c == utf8.RuneError && !strings.HasPrefix(line[i:], "\uFFFD"):
				src.fault(position{n + 1, column}, "this is not UTF-8 text")
				return false
			case c < ' ' && c != '\t' || c >= 0x7f && c < 0xa0 && c != 0x85:
				src.fault(position{n + 1, column}, `a control character (U+%04X) is not allowed; in double quotes write "\x%02x"`, c, c)
				return false
			}
		}
	}
	return true
}

// checkTokens refuses what is left out of YAML here, and bounds the depth: the parser takes minutes for what the
// lexer reads in milliseconds. It returns the tokens of the one document, without comments.
func checkTokens(src *source, tokens token.Tokens) (token.Tokens, bool) {
	before := len(src.faults)
	depth := depthMeter{}
	kept := make(token.Tokens, 0, len(tokens))
	documents, ended, colonLine := 0, false, 0
	for _, t := range tokens {
		at := position{t.Position.Line, t.Position.Column}
		switch t.Type {
		case token.CommentType:
			continue
		case token.DocumentHeaderType:
			if documents++; documents > 1 || len(kept) > 0 || ended {
				src.fault(at, "a file holds one workflow; a second document begins here")
				return nil, false
			}
			continue
		case token.DocumentEndType:
			ended = true
			continue
		case token.AnchorType, token.AliasType:
			src.fault(at, "anchors and aliases (& and *) are not allowed: write the value out, or put a text in quotes")
		case token.MergeKeyType:
			src.fault(at, "merge keys (<<) are not allowed: write the keys out")
		case token.TagType:
			src.fault(at, "tags (!) are not allowed: put a text in quotes")
		case token.DirectiveType:
			src.fault(at, "directives (%%) are not allowed")
			return nil, false
		case token.MappingKeyType:
			src.fault(at, "keys with a question mark are not allowed: write key: value")
		}
		if ended {
			src.fault(at, "a file holds one workflow; a second document begins here")
			return nil, false
		}
		if colon := t.Type == token.MappingValueType && depth.flow == 0; colon && t.Position.Line == colonLine && len(kept) > 0 {
			before := kept[len(kept)-1].Position
			src.fault(position{before.Line, before.Column}, `a text with ": " in it needs quotes`)
			return nil, false
		} else if colon {
			colonLine = t.Position.Line
		}
		kept = append(kept, t)
		if depth.add(t) > maxDepth {
			src.fault(at, "more than %d levels deep", maxDepth)
			return nil, false
		}
	}
	return kept, len(src.faults) == before
}

// depthMeter bounds the depth of what a run of tokens will be parsed into, from brackets and from the columns at
// which lines and list entries begin.
type depthMeter struct {
	flow    int
	columns []int
	line    int
	dash    bool // the token before was a list entry's dash
}

func (d *depthMeter) add(t *token.Token) int {
	if d.flow == 0 && (t.Position.Line != d.line || d.dash) {
		for len(d.columns) > 0 && d.columns[len(d.columns)-1] >= t.Position.Column {
			d.columns = d.columns[:len(d.columns)-1]
		}
		d.columns = append(d.columns, t.Position.Column)
	}
	d.line, d.dash = t.Position.Line, t.Type == token.SequenceEntryType
	switch t.Type {
	case token.SequenceStartType, token.MappingStartType:
		d.flow++
	case token.SequenceEndType, token.MappingEndType:
		d.flow = max(0, d.flow-1)
	}
	return len(d.columns) + d.flow
}

// converter makes values of the parser's tree. The parser's own guesses at numbers and dates are ignored: a token
// still has the characters.
type converter struct{ src *source }

func (c converter) value(n ast.Node, depth int) *value {
	t := n.GetToken()
	v := &value{at: position{t.Position.Line, t.Position.Column}}
	if depth > maxDepth {
		c.src.fault(v.at, "more than %d levels deep", maxDepth)
		return v
	}
	switch n := n.(type) {
	case *ast.MappingNode:
		c.mapping(v, n.Values, depth)
	case *ast.MappingValueNode:
		c.mapping(v, []*ast.MappingValueNode{n}, depth)
	case *ast.SequenceNode:
		v.shape = listShape
		for _, item := range n.Values {
			v.list = append(v.list, c.value(item, depth+1))
		}
	case *ast.LiteralNode:
		v.shape, v.text, v.style = scalarShape, n.Value.Value, literalStyle
		if t.Type == token.FoldedType {
			v.style = foldedStyle
		}
	case *ast.NullNode:
		if t.Type != token.ImplicitNullType {
			v.shape, v.text = scalarShape, t.Value
		}
	default:
		return scalar(t)
	}
	return v
}

// scalar is a token as a value.
func scalar(t *token.Token) *value {
	v := &value{shape: scalarShape, text: t.Value, at: position{t.Position.Line, t.Position.Column}}
	switch t.Type {
	case token.SingleQuoteType:
		v.style = singleStyle
	case token.DoubleQuoteType:
		v.style = doubleStyle
	}
	return v
}

func (c converter) mapping(v *value, values []*ast.MappingValueNode, depth int) {
	m := newMapping(c.src, v)
	for i, e := range values {
		key := c.value(e.Key, depth+1)
		if i == 0 && v.at.column > key.at.column && v.at.line >= key.at.line {
			v.at = key.at // the parser gives the colon
		}
		m.add(key, c.value(e.Value, depth+1))
	}
}

// mapping is a value being filled with entries.
type mapping struct {
	src  *source
	v    *value
	seen map[string]position
}

func newMapping(src *source, v *value) *mapping {
	v.shape = mappingShape
	return &mapping{src, v, map[string]position{}}
}

func (m *mapping) add(key, value *value) {
	if key.shape != scalarShape {
		m.src.fault(key.at, "a key must be a name, not %v", key)
		return
	}
	if first, ok := m.seen[key.text]; ok {
		m.src.fault(key.at, "the key %q is there already, in line %d: rename or remove one", key.text, first.line)
		return
	}
	m.seen[key.text] = key.at
	if value.shape == emptyShape {
		value.at = key.at
	}
	m.v.entries = append(m.v.entries, entry{key, value})
}
