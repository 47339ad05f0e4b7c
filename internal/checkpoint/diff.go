package checkpoint

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
)

// Diff gives operations that make next of c, to the byte, by name of the channel. A list that grew is appended to; any
// other channel that changed is set.
func Diff(c, next Channels) []Op {
	var ops []Op
	for _, name := range slices.Sorted(maps.Keys(next)) {
		old, there := c[name]
		value := next[name]
		switch items := grown(old, value); {
		case there && bytes.Equal(old, value):
		case items != nil:
			ops = append(ops, Op{Kind: OpAppend, Channel: name, Value: items})
		default:
			ops = append(ops, Op{Kind: OpSet, Channel: name, Value: value})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c)) {
		if _, there := next[name]; !there {
			ops = append(ops, Op{Kind: OpDelete, Channel: name})
		}
	}
	return ops
}

// grown gives the list of items that were added to a list, nil where an append would not give next to the byte.
func grown(old, next json.RawMessage) json.RawMessage {
	n := len(old) - 1
	if n < 1 || len(next) <= n || old[0] != '[' || old[n] != ']' || !bytes.HasPrefix(next, old[:n]) {
		return nil
	}
	more := next[n:]
	if more[0] == ',' {
		more = more[1:]
	} else if n > 1 {
		return nil
	}
	items := append(append(make([]byte, 0, len(more)+1), '['), more...)
	if !json.Valid(items) {
		return nil
	}
	// An append trims what stands around, as a rebuilt state then would.
	c := cell{raw: old}
	if err := c.append(items); err != nil || !bytes.Equal(c.value(), next) {
		return nil
	}
	return items
}
