package jsontree

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/picture"
)

type kind byte

const (
	isObject kind = iota
	isList
	isString
	isNumber
	isWord // true, false, null
	isLine // a line of a long text, which is shown below it
)

// node is one value of the document.
type node struct {
	key      string // as it is in the document; "" in lists
	step     string // of the path: ".key" or "[3]"
	kind     kind
	text     string // of a scalar: safe, on one line
	parent   *node
	children []*node
	open     bool
	hidden   []*node         // while it is folded, what was shown below it before
	raw      json.RawMessage // of a scalar, as it is in the document
	full     string          // of a text
	lines    []*node         // of a text of several
	wrapped  []string        // rows of a text of one line that is longer than a row
	wrapFor  int             // their width
	depth    int
	order    int // among all values of the document
}

// Document is JSON that was read. Reading takes a while for a large one and needs no Tree, so that it can be done beside.
type Document struct {
	root  *node
	index *index
}

// Parse reads a document, keeping the order of keys. It shows unfolded at first, or where it is large its first two levels.
func Parse(raw json.RawMessage) (*Document, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	root := &node{step: "$"}
	count, err := fill(dec, root)
	if err != nil {
		return nil, fmt.Errorf("not valid JSON: %w", err)
	}
	depth := 2
	if count <= openAtFirst {
		depth = count
	}
	openTo(root, depth)
	root.number(0)
	return &Document{root, indexOf(root)}, nil
}

// number gives a node and what is in it their order, from one on, and says which comes next.
func (n *node) number(next int) int {
	n.order = next
	next++
	for _, c := range n.children {
		next = c.number(next)
	}
	return next
}

// openAtFirst is how many values are shown unfolded at the start.
const openAtFirst = 400

func openTo(n *node, depth int) {
	n.open, n.hidden = depth > 0, nil
	for _, c := range n.children {
		openTo(c, depth-1)
	}
}

// fill reads the next value into n and says how many nodes that made.
func fill(dec *json.Decoder, n *node) (int, error) {
	t, err := dec.Token()
	if err != nil {
		return 0, err
	}
	switch t := t.(type) {
	case json.Delim:
		n.kind = isObject
		if t == '[' {
			n.kind = isList
		}
		return fillChildren(dec, n)
	case string:
		n.kind, n.raw = isString, quote(t)
		if about, ok := picture.Of(t); ok {
			n.text = about
			break
		}
		n.full, n.text = t, sanitize.Line(string(n.raw))
	case json.Number:
		n.kind, n.raw, n.text = isNumber, json.RawMessage(t), sanitize.Line(t.String())
	case bool:
		n.kind, n.text = isWord, strconv.FormatBool(t)
		n.raw = json.RawMessage(n.text)
	default:
		n.kind, n.text, n.raw = isWord, "null", json.RawMessage("null")
	}
	return 1, nil
}

func fillChildren(dec *json.Decoder, n *node) (int, error) {
	count := 1
	for dec.More() {
		c := &node{parent: n, depth: n.depth + 1}
		if n.kind == isObject {
			t, err := dec.Token()
			if err != nil {
				return 0, err
			}
			name, _ := t.(string)
			c.key = name
			c.step = stepOf(name)
		} else {
			c.step = "[" + strconv.Itoa(len(n.children)) + "]"
		}
		n.children = append(n.children, c)
		made, err := fill(dec, c)
		if err != nil {
			return 0, err
		}
		count += made
	}
	_, err := dec.Token()
	return count, err
}

// stepOf is a key as it stands in a path.
func stepOf(name string) string {
	plain := name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") == "" &&
		!(name[0] >= '0' && name[0] <= '9')
	if plain {
		return "." + name
	}
	return "[" + sanitize.Line(string(quote(name))) + "]"
}

func quote(s string) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) != nil {
		return json.RawMessage(`""`)
	}
	return bytes.TrimSpace(b.Bytes())
}

// json writes the value again.
func (n *node) json(b *bytes.Buffer) {
	switch n.kind {
	case isObject, isList:
		open, end := byte('{'), byte('}')
		if n.kind == isList {
			open, end = '[', ']'
		}
		b.WriteByte(open)
		for i, c := range n.children {
			if i > 0 {
				b.WriteByte(',')
			}
			if n.kind == isObject {
				b.Write(quote(c.key))
				b.WriteByte(':')
			}
			c.json(b)
		}
		b.WriteByte(end)
	default:
		b.Write(n.raw)
	}
}
