package engine

import (
	"fmt"
	"maps"
	"math"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// reducer merges an update into a channel and says which operation on the stored channel does the same.
type reducer func(current, update Value) (merged Value, op checkpoint.OpKind, operand Value, err error)

// reducers is the table of all there are.
var reducers = map[Reducer]reducer{
	Replace: replace,
	Last:    replace,
	Append:  appendItems,
	Add:     add,
	Merge:   mergeKeys,
	Union:   union,
}

func replace(_, update Value) (Value, checkpoint.OpKind, Value, error) {
	return update, checkpoint.OpSet, update, nil
}

// appendItems adds a list item by item, anything else as one item. The tip of a list is extended in place beyond what
// older Values of it can see, so that a growing list costs what is added.
func appendItems(current, update Value) (Value, checkpoint.OpKind, Value, error) {
	list, err := listOf(current)
	if err != nil {
		return Value{}, 0, Value{}, err
	}
	items, ok := update.Any().([]any)
	if !ok {
		items = []any{update.Any()}
		update = known(items)
	}
	return known(append(list, items...)), checkpoint.OpAppend, update, nil
}

// union adds the items that are not there yet, compared as JSON.
func union(current, update Value) (Value, checkpoint.OpKind, Value, error) {
	list, err := listOf(current)
	if err != nil {
		return Value{}, 0, Value{}, err
	}
	items, ok := update.Any().([]any)
	if !ok {
		items = []any{update.Any()}
	}
	seen := make(map[string]bool, len(list))
	for _, item := range list {
		seen[string(encode(item))] = true
	}
	fresh := []any{}
	for _, item := range items {
		if key := string(encode(item)); !seen[key] {
			seen[key] = true
			fresh = append(fresh, item)
		}
	}
	return known(append(list, fresh...)), checkpoint.OpAppend, known(fresh), nil
}

func listOf(v Value) ([]any, error) {
	switch list := v.Any().(type) {
	case nil:
		return nil, nil
	case []any:
		return list, nil
	}
	return nil, fmt.Errorf("it holds %s, not a list", kindOf(v))
}

// add sums numbers; an integer sum that leaves the range of integers becomes a float.
func add(current, update Value) (Value, checkpoint.OpKind, Value, error) {
	sum, err := addNumbers(current, update)
	return sum, checkpoint.OpSet, sum, err
}

func addNumbers(current, update Value) (Value, error) {
	if current.IsNull() {
		current = known(0)
	}
	a, aInt := current.Any().(int)
	b, bInt := update.Any().(int)
	if aInt && bInt {
		if sum := a + b; (sum > a) == (b > 0) {
			return known(sum), nil
		}
	}
	x, xOK := float(current)
	y, yOK := float(update)
	switch {
	case !xOK:
		return Value{}, fmt.Errorf("it holds %s, not a number", kindOf(current))
	case !yOK:
		return Value{}, fmt.Errorf("%s cannot be added to a number", kindOf(update))
	case math.IsInf(x+y, 0):
		return Value{}, fmt.Errorf("%v + %v is too large", x, y)
	}
	return ValueOf(x + y)
}

func float(v Value) (float64, bool) {
	switch x := v.Any().(type) {
	case int:
		return float64(x), true
	case float64:
		return x, true
	}
	return 0, false
}

// mergeKeys sets the keys of an object.
func mergeKeys(current, update Value) (Value, checkpoint.OpKind, Value, error) {
	keys, ok := update.Any().(map[string]any)
	if !ok {
		return Value{}, 0, Value{}, fmt.Errorf("%s cannot be merged into an object", kindOf(update))
	}
	merged := map[string]any{}
	switch old := current.Any().(type) {
	case nil:
	case map[string]any:
		merged = maps.Clone(old)
	default:
		return Value{}, 0, Value{}, fmt.Errorf("it holds %s, not an object", kindOf(current))
	}
	maps.Copy(merged, keys)
	return known(merged), checkpoint.OpMerge, update, nil
}

// kindOf names the JSON type of v for messages.
func kindOf(v Value) string {
	switch v.Any().(type) {
	case nil:
		return "null"
	case bool:
		return "true or false"
	case int, float64:
		return "a number"
	case string:
		return "a text"
	case []any:
		return "a list"
	}
	return "an object"
}
