package workflow

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/nearest"
	"github.com/hitl-tui/hitl-tui/internal/workflow/lang"
)

// checkState reports a reducer for a key that nothing writes: most likely that of another key. Where a part of the file
// could not be read, or a program may write any key there is, nothing is certain.
func (b *builder) checkState(open bool) {
	if open || b.unclear > 0 || !b.bundle.fresh {
		return
	}
	var written []string
	for _, k := range b.file.input.keys {
		written = append(written, k.text)
	}
	for _, n := range b.file.nodes.list {
		if n.doubtful || n.broken || n.protocol.text == "json" {
			return
		}
		written = append(written, n.writes()...)
	}
	for _, e := range b.file.state.list {
		if key := e.key.text; slices.Contains(reducerNames(), e.value.text) && !slices.Contains(written, key) {
			remedy := nearest.Hint(key, written)
			if remedy == "" {
				remedy = ": write it with output or set, or leave it out"
			}
			b.fault(e.key.at, "state: nothing in this file writes the key %q%s", key, remedy)
		}
	}
}

// writes are the keys that a node can write, one that speaks protocol: json apart.
func (n *nodeDef) writes() []string {
	var keys []string
	if n.output.key != nil {
		keys = append(keys, n.output.key.text)
	}
	for _, p := range slices.Concat(n.output.parts, n.failed.parts, n.set.list) {
		keys = append(keys, p.key.text)
	}
	for _, q := range n.asks() {
		if q.content.given() {
			keys = append(keys, strings.TrimSpace(q.content.v.text)) // written back, or added to by a conversation
		}
	}
	return keys
}

// checkItems reports a map over an input that can be no list.
func (b *builder) checkItems(n *nodeDef, items *lang.Expr) {
	if items == nil || !b.bundle.fresh {
		return
	}
	root := b
	for root.outer != nil {
		root = root.outer
	}
	key := items.Key()
	at := slices.IndexFunc(root.file.input.keys, func(k *value) bool { return k.text == key })
	if at < 0 || root.rewrites(key) {
		return
	}
	var p struct {
		Type any `json:"type"`
	}
	properties := root.file.input.v.get("properties")
	if json.Unmarshal(root.rawQuietly(properties.get(key)), &p) != nil {
		return
	}
	if name, ok := p.Type.(string); ok && name != "array" {
		b.fault(n.items.v.at, "map: the input %q is of type %s, and a map goes over a list", key, name)
	}
}

// rewrites reports whether anything but the input may write a key, as far as that is known.
func (b *builder) rewrites(key string) bool {
	return slices.ContainsFunc(b.file.nodes.list, func(n *nodeDef) bool {
		return n.vague || n.broken || n.protocol.text == "json" || slices.Contains(n.writes(), key)
	})
}

// checkConstants reports values written out in `in` that the child's input does not take.
func (b *builder) checkConstants(n *nodeDef, child *Loaded, given map[string]*lang.Expr) {
	if !b.bundle.fresh {
		return
	}
	for _, x := range n.in.list {
		input, known := child.Graph.Inputs[x.key.text]
		e := given[x.key.text]
		if !known || e == nil {
			continue
		}
		v, constant := e.Constant()
		if !constant || v.IsNull() {
			continue
		}
		if _, err := input.Take(v); err != nil {
			b.fault(x.expr.v.at, "%s: workflow %q does not take %s: %v", x.expr.path, child.Name, v.JSON(), err)
		}
	}
}
