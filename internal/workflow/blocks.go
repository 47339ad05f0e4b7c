package workflow

import (
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// blocks parses tokens block by block. The library's parser takes time and memory with the square of the length of a
// block mapping, minutes for a large file, so long mappings are cut at their keys and parsed in pieces.
type blocks struct {
	src   *source
	limit int // tokens up to which entries are parsed together
}

const (
	pieceTokens = 1000   // usual limit of a piece
	pieceLines  = 10_000 // longest single entry that cannot be cut
)

// parse makes a value of a run of tokens; nil when there is a fault of syntax.
func (b *blocks) parse(tokens token.Tokens, depth int) *value {
	if len(tokens) <= b.limit || !beginsMapping(tokens) {
		return b.piece(tokens, depth)
	}
	v := &value{at: scalar(tokens[0]).at}
	m := newMapping(b.src, v)
	starts := append(entryStarts(tokens), len(tokens))
	from := 0 // of the entries not yet parsed
	flush := func(to int) bool {
		if from == to {
			return true
		}
		piece := b.piece(tokens[from:to], depth)
		if piece == nil {
			return false
		}
		for _, e := range piece.entries {
			m.add(e.key, e.value)
		}
		from = to
		return true
	}
	for i, begin := range starts[:len(starts)-1] {
		end := starts[i+1]
		long := end-begin > b.limit && beginsMapping(tokens[begin+2:end]) && tokens[begin+2].Position.Column > tokens[begin].Position.Column
		if (long || end-from > b.limit) && !flush(begin) {
			return nil
		}
		if !long {
			continue
		}
		value := b.parse(tokens[begin+2:end], depth+1)
		if value == nil {
			return nil
		}
		m.add(scalar(tokens[begin]), value)
		from = end
	}
	if !flush(len(tokens)) {
		return nil
	}
	return v
}

// piece parses tokens with the library.
func (b *blocks) piece(tokens token.Tokens, depth int) *value {
	lines, last := 0, 0
	for _, t := range tokens {
		if t.Position.Line != last {
			lines, last = lines+1, t.Position.Line
		}
	}
	if lines > pieceLines {
		b.src.fault(scalar(tokens[0]).at, "more than %d lines in one list", pieceLines)
		return nil
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		syntaxFault(b.src, err)
		return nil
	}
	for _, doc := range file.Docs {
		if doc.Body != nil {
			return converter{b.src}.value(doc.Body, depth)
		}
	}
	b.src.fault(scalar(tokens[0]).at, "this cannot be read as YAML")
	return nil
}

// beginsMapping reports whether tokens begin with the key of a block mapping.
func beginsMapping(tokens token.Tokens) bool {
	if len(tokens) < 2 || tokens[1].Type != token.MappingValueType || tokens[0].Position.Line != tokens[1].Position.Line {
		return false
	}
	switch tokens[0].Type {
	case token.SequenceStartType, token.MappingStartType, token.SequenceEndType, token.MappingEndType, token.SequenceEntryType:
		return false
	}
	return true
}

// entryStarts are the indexes of the keys of the block mapping that tokens begin with.
func entryStarts(tokens token.Tokens) []int {
	var starts []int
	column, flow := tokens[0].Position.Column, 0
	for i, t := range tokens {
		fresh := i == 0 || t.Position.Line != tokens[i-1].Position.Line && tokens[i-1].Type != token.LiteralType && tokens[i-1].Type != token.FoldedType
		if fresh && flow == 0 && t.Position.Column == column && beginsMapping(tokens[i:]) {
			starts = append(starts, i)
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			flow++
		case token.SequenceEndType, token.MappingEndType:
			flow = max(0, flow-1)
		}
	}
	return starts
}
