package workflow

import (
	"slices"
)

// defaultItem is what a map calls its item where the file does not say.
const defaultItem = "item"

// itemT is a place for the name of a map's item.
type itemT struct{ v *value }

func (p *itemT) take(r *reader, name string, v *value) {
	if _, ok := r.scalar(name, "a name", v); !ok {
		return
	}
	if r.identifier(v, "the name of an item", v.text != defaultItem && slices.Contains(reservedKeys, v.text)) {
		p.v = v
	}
}

func (p *itemT) schema() schema { return ref("identifier") }

func (p *itemT) name() string {
	if p.v == nil {
		return defaultItem
	}
	return p.v.text
}

// childT is a place for the reference to another workflow.
type childT struct {
	v       *value   // nil: none, or not understood
	asks    bool     // that workflow may wait for a person; known once it is read
	outputs []string // the fields of its output, likewise; nil: any
}

func (p *childT) take(r *reader, name string, v *value) {
	if _, ok := r.scalar(name, "a workflow file", v); ok {
		p.v = v
	}
}

func (p *childT) schema() schema { return schema{"type": "string"} }
