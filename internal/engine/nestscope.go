package engine

import "github.com/hitl-tui/hitl-tui/internal/checkpoint"

// defaultItem is what a map body calls its item where the map does not say.
const defaultItem = "item"

// itemScope is a scope with an item of a map in it.
type itemScope struct {
	Scope
	as     string
	item   Value
	index  int
	output *Value // of the item's workflow, once it ended
}

// Lookup implements Scope.
func (s itemScope) Lookup(name string) (Value, bool) {
	switch {
	case name == "index":
		return known(s.index), true
	case name == s.as || s.as == "" && name == defaultItem:
		return s.item, true
	case name == "output" && s.output != nil:
		return *s.output, true
	}
	return s.Scope.Lookup(name)
}

// lookup is what a frame of a map's body sees beside its own state: the item, and the state around the map as it was
// when the map began. What nodes were answered, and how they failed, is that of both.
func (n *nest) lookup(f *frame, name string) (Value, bool) {
	switch name {
	case "answers":
		return n.both(f.answersValue, name), true
	case "errors":
		return n.both(f.errorsValue, name), true
	case "run":
		return f.runValue, true
	}
	s := itemScope{Scope: n, as: n.run.node.Map.As, item: known(n.items[f.item]), index: f.item}
	return s.Lookup(name)
}

// Lookup implements Scope over what is around the map.
func (n *nest) Lookup(name string) (Value, bool) {
	if v, ok := n.before[name]; ok {
		return v, true
	}
	return n.run.frame.Lookup(name)
}

// both joins the object of a frame with that around the map; names of nodes are not used twice.
func (n *nest) both(inner Value, name string) Value {
	outer, _ := n.Lookup(name)
	in, _ := inner.Any().(map[string]any)
	out, _ := outer.Any().(map[string]any)
	switch {
	case len(out) == 0:
		return inner
	case len(in) == 0:
		return outer
	}
	all := make(map[string]any, len(in)+len(out))
	for key, v := range out {
		all[key] = v
	}
	for key, v := range in {
		all[key] = v
	}
	return known(all)
}

// result is what an item gives that ended.
func (n *nest) result(scope overlay, status checkpoint.Status) (Value, error) {
	spec := n.run.node.Map
	if n.open() {
		if spec.Result == nil {
			return scope.written(scope), nil
		}
		return spec.Result(scope)
	}
	var out Value
	if status == checkpoint.Done {
		var err error
		if out, err = scope.output(scope); err != nil {
			return Value{}, err
		}
	}
	if spec.Result == nil {
		return out, nil
	}
	item := scope.item
	return spec.Result(itemScope{Scope: n, as: spec.As, item: known(n.items[item]), index: item, output: &out})
}

// preserve keeps what a name meant for the maps at work in the frame, before it changes.
func (f *frame) preserve(name string, v Value) {
	for _, r := range f.runs {
		if f.nests == 0 {
			return
		}
		if r == nil || r.nest == nil || !r.nest.isMap() {
			continue
		}
		n := r.nest
		if _, ok := n.before[name]; ok {
			continue
		}
		if n.before == nil {
			n.before = map[string]Value{}
		}
		n.before[name] = v
		n.write(checkpoint.OpMerge, n.channel("before"), object(map[string]Value{name: v}))
	}
}
