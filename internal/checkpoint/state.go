package checkpoint

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Apply gives the channels that follow from c by ops, in order; c stays as it is, values are shared. The result is
// the same to the byte however the operations are split over calls: a set is kept verbatim, an append keeps the bytes
// of the items on both sides, a merge keeps the order of the keys and the bytes of their values, new keys last. What is
// there never makes an operation fail, lest a committed step could not be read: append to what is no list makes it the
// first item of one, merge into what is no object begins a new one.
func Apply(c Channels, ops []Op) (Channels, error) {
	b := NewBuilder(c)
	if err := b.Apply(ops); err != nil {
		return nil, err
	}
	return b.Channels(), nil
}

// Builder applies many operations at the cost of what they hold, not of what is there: a list or an object is taken
// apart once and put together when it is asked for. It gives what Apply gives.
type Builder struct {
	cells map[string]*cell
}

// cell is one channel: raw, or a list without its closing bracket, or the members of an object.
type cell struct {
	raw    json.RawMessage
	list   []byte
	object *object
}

type object struct {
	members []member
	index   map[string]int
}

// member is one key of an object, as written and as meant, and its value as written.
type member struct {
	key   []byte
	name  string
	value []byte
}

// NewBuilder starts from c, whose values it shares and never changes.
func NewBuilder(c Channels) *Builder {
	b := &Builder{cells: make(map[string]*cell, len(c))}
	for name, raw := range c {
		b.cells[name] = &cell{raw: raw}
	}
	return b
}

// Apply applies ops in order. After an error the builder is not to be used.
func (b *Builder) Apply(ops []Op) error {
	for i := range ops {
		if err := b.apply(&ops[i]); err != nil {
			return fmt.Errorf("operation %d on channel %q: %w", i+1, ops[i].Channel, err)
		}
	}
	return nil
}

func (b *Builder) apply(op *Op) error {
	switch op.Kind {
	case OpDelete:
		delete(b.cells, op.Channel)
		return nil
	case OpSet:
		if len(op.Value) == 0 {
			return fmt.Errorf("set without a value")
		}
		b.cells[op.Channel] = &cell{raw: op.Value}
		return nil
	case OpAppend, OpMerge:
		c := b.cells[op.Channel]
		if c == nil {
			c = new(cell)
			b.cells[op.Channel] = c
		}
		if op.Kind == OpAppend {
			return c.append(op.Value)
		}
		return c.merge(op.Value)
	default:
		return fmt.Errorf("unknown kind %q", op.Kind)
	}
}

// Channels gives the state so far. The builder can go on afterwards.
func (b *Builder) Channels() Channels {
	c := make(Channels, len(b.cells))
	for name, cell := range b.cells {
		c[name] = cell.value()
	}
	return c
}

func (c *cell) value() json.RawMessage {
	switch {
	case c.list != nil:
		return append(bytes.Clone(c.list), ']')
	case c.object != nil:
		return c.object.encode()
	default:
		return c.raw
	}
}

func (c *cell) append(items json.RawMessage) error {
	more, err := unwrap(items, '[', ']')
	if err != nil {
		return err
	}
	if c.list == nil {
		*c = cell{list: openList(c.value())}
	}
	if len(more) == 0 {
		return nil
	}
	if len(c.list) > 1 {
		c.list = append(c.list, ',')
	}
	c.list = append(c.list, more...)
	return nil
}

// openList gives a list without its closing bracket: raw itself, or one with raw as its only item, or an empty one.
func openList(raw []byte) []byte {
	if isNull(raw) {
		return []byte("[")
	}
	inner, err := unwrap(raw, '[', ']')
	if err != nil {
		inner = trimSpace(raw)
	}
	return append(append(make([]byte, 0, 2*len(inner)+1), '['), inner...)
}

func (c *cell) merge(keys json.RawMessage) error {
	more, err := scanObject(keys)
	if err != nil {
		return err
	}
	if c.object == nil {
		have := &object{}
		if raw := trimSpace(c.value()); len(raw) > 0 && raw[0] == '{' {
			members, err := scanObject(raw)
			if err != nil {
				return err
			}
			have.index = make(map[string]int, len(members)+len(more))
			have.set(members)
		}
		*c = cell{object: have}
	}
	c.object.set(more)
	return nil
}

func (o *object) set(members []member) {
	if o.index == nil {
		o.index = make(map[string]int, len(members))
	}
	for _, m := range members {
		if i, ok := o.index[m.name]; ok {
			o.members[i].value = m.value
			continue
		}
		o.index[m.name] = len(o.members)
		o.members = append(o.members, m)
	}
}

func (o *object) encode() json.RawMessage {
	size := 2
	for _, m := range o.members {
		size += len(m.key) + len(m.value) + 2
	}
	out := append(make([]byte, 0, size), '{')
	for i, m := range o.members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, m.key...)
		out = append(out, ':')
		out = append(out, m.value...)
	}
	return append(out, '}')
}

func isNull(raw []byte) bool {
	trimmed := trimSpace(raw)
	return len(trimmed) == 0 || string(trimmed) == "null"
}
