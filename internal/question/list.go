package question

import "encoding/json"

// list is a JSON object that is written in the order of its entries: a schema's properties are shown in that order, and
// an answer reads better in its asker's.
type list []entry

type entry struct {
	key   string
	value any
}

// MarshalJSON writes the entries in their order.
func (l list) MarshalJSON() ([]byte, error) {
	out := []byte{'{'}
	for i, e := range l {
		if i > 0 {
			out = append(out, ',')
		}
		value, err := marshal(e.value)
		if err != nil {
			return nil, err
		}
		out = append(append(append(out, quoted(e.key)...), ':'), value...)
	}
	return append(out, '}'), nil
}

// with adds an entry unless value is empty: "", nil or no JSON.
func (l list) with(key string, value any) list {
	switch v := value.(type) {
	case string:
		if v == "" {
			return l
		}
	case json.RawMessage:
		if v == nil {
			return l
		}
	}
	return append(l, entry{key, value})
}
