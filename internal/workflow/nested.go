package workflow

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/workflow/lang"
	"github.com/hitl-tui/hitl-tui/internal/workflow/node"
)

// within makes the builder of what a map runs for each item: its nodes see everything around the map and the item, and
// have keys of their own.
func (b *builder) within(n *nodeDef) *builder {
	inner := &builder{
		source: b.source, file: &file{name: b.file.name, nodes: n.do}, bundle: b.bundle, name: b.name,
		outer: b, owner: n, env: b.env, workdir: b.workdir,
		nodes: map[string]*nodeDef{}, keys: map[string]bool{}, channels: map[string]engine.Reducer{},
	}
	inner.collect()
	inner.checkItem()
	if b.inner == nil {
		b.inner = map[*nodeDef]*builder{}
	}
	b.inner[n] = inner
	return inner
}

// visible are all names that may be mentioned here: those of this builder, and in a map those around it and the item.
func (b *builder) visible() lang.Names {
	if b.outer == nil {
		return b.own
	}
	if b.seen == nil {
		around := b.outer.visible()
		seen := lang.Names{
			Keys:    append(slices.Concat(b.own.Keys, around.Keys), b.owner.as.name(), "index"),
			Errors:  slices.Concat(b.own.Errors, around.Errors),
			Answers: maps.Clone(around.Answers), Getenv: b.own.Getenv,
		}
		maps.Copy(seen.Answers, b.own.Answers)
		b.seen = &seen
	}
	return *b.seen
}

// asked are the names of the questions of a node that asks, here or around; ok is false for one that does not.
func (b *builder) asked(name string) (questions []string, ok bool) {
	for o := b; o != nil && !ok; o = o.outer {
		questions, ok = o.own.Answers[name]
	}
	return questions, ok
}

// checkItem reports a name of an item that means something else already.
func (b *builder) checkItem() {
	name, at := b.owner.as.name(), b.owner.at
	if v := b.owner.as.v; v != nil {
		at = v.at
	}
	for o := b.outer; o != nil; o = o.outer {
		switch {
		case o.keys[name]:
			b.fault(at, "as: %q is a key of the workflow; give the item a name of its own", name)
			return
		case o.owner != nil && o.owner.as.name() == name:
			b.fault(at, "node %q: %q is the item of the map around it; give this one another name with as", b.owner.name, name)
			return
		}
	}
}

// writes notes a key that the nodes of this builder write. Those of a map's body write only keys of their own.
func (b *builder) writes(v *value) {
	for o := b; o.outer != nil; o = o.outer {
		switch {
		case o.outer.keys[v.text]:
			b.fault(v.at, "%q is a key of the workflow; a map body writes only keys of its own", v.text)
			return
		case o.owner.as.name() == v.text:
			b.fault(v.at, "%q is the item of the map; a map body writes only keys of its own", v.text)
			return
		}
	}
	b.addKey(v.text)
}

// known reports whether a name is a state key here, or the item of a map around.
func (b *builder) known(name string) bool {
	for o := b; o != nil; o = o.outer {
		if o.keys[name] || o.owner != nil && (name == "index" || o.owner.as.name() == name) {
			return true
		}
	}
	return false
}

// nodeNamed is a node of this name, here or around.
func (b *builder) nodeNamed(name string) *nodeDef {
	for o := b; o != nil; o = o.outer {
		if n := o.nodes[name]; n != nil {
			return n
		}
	}
	return nil
}

// taken notes the name of a node, and reports whether another one has it.
func (b *builder) taken(name string) bool {
	for b.outer != nil {
		b = b.outer
	}
	if b.names == nil {
		b.names = map[string]bool{}
	}
	was := b.names[name]
	b.names[name] = true
	return was
}

// isNode reports whether a node of the file has this name, wherever it is.
func (b *builder) isNode(name string) bool {
	for b.outer != nil {
		b = b.outer
	}
	return b.names[name]
}

// sub makes a nested workflow of a workflow node.
func (b *builder) sub(n *nodeDef) *engine.SubGraph {
	child := b.childOf(n)
	if child == nil {
		b.named(scope{node: n.name}, n.in.list)
		return nil
	}
	return &engine.SubGraph{Graph: child.Graph, In: b.input(n, child)}
}

// mapping makes the map of a map node.
func (b *builder) mapping(n *nodeDef) *engine.MapSpec {
	items := b.expr(scope{node: n.name}, n.items.code)
	b.checkItems(n, items)
	inner := b.within(n)
	child := b.childOf(n)
	spec := &engine.MapSpec{As: n.as.name(), MaxParallel: n.maxParallel.n, MaxWaiting: n.maxWaiting.n}
	if items != nil {
		spec.Items = func(s engine.Scope) (engine.Value, error) {
			v, err := items.Eval(s, engine.Value{})
			if err != nil {
				return v, fmt.Errorf("map %s: %w", items.Source(), err)
			}
			return v, nil
		}
	}
	switch {
	case len(n.do.list) > 0:
		spec.Body = inner.graph()
	case child != nil:
		spec.Body, spec.In = child.Graph, inner.input(n, child)
	}
	if x := inner.expr(scope{node: n.name, output: n.child.v != nil, outputs: n.child.outputs}, n.result.code); x != nil {
		spec.Result = func(s engine.Scope) (engine.Value, error) {
			output, _ := s.Lookup("output")
			v, err := x.Eval(s, output)
			if err != nil {
				return v, fmt.Errorf("%s.result: %w", n.name, err)
			}
			return v, nil
		}
	}
	return spec
}

// input makes what a child workflow gets: the expressions of in, else the keys that are called as its own. Null is
// nothing, so that the child's default holds.
func (b *builder) input(n *nodeDef, child *Loaded) func(engine.Scope) (map[string]engine.Value, error) {
	list := b.named(scope{node: n.name}, n.in.list)
	if n.in.given {
		b.checkInputs(n, child)
		given := make(map[string]*lang.Expr, len(list))
		for _, x := range list {
			given[x.Name] = x.Expr
		}
		b.checkConstants(n, child, given)
	} else {
		list = b.sameNamed(n, child)
	}

	return func(s engine.Scope) (map[string]engine.Value, error) {
		in := make(map[string]json.RawMessage, len(list))
		for _, x := range list {
			v, err := x.Expr.Eval(s, engine.Value{})
			if err != nil {
				return nil, atKey(n.name+".in", x.Name, err)
			}
			if !v.IsNull() {
				in[x.Name] = v.JSON()
			}
		}
		whole, err := child.CheckInput(in)
		if err != nil {
			return nil, err
		}
		values := make(map[string]engine.Value, len(whole))
		for key, raw := range whole {
			if values[key], err = engine.ValueOf(raw); err != nil {
				return nil, atKey(n.name+".in", key, err)
			}
		}
		return values, nil
	}
}

// checkInputs reports inputs that the child does not have, and those it needs and does not get.
func (b *builder) checkInputs(n *nodeDef, child *Loaded) {
	given := map[string]bool{}
	for _, x := range n.in.list {
		given[x.key.text] = true
		if !slices.Contains(child.InputKeys, child.keyOf(x.key.text)) && !child.openInput() {
			report := b.fault
			if child.lenient {
				report = b.warn
			}
			report(x.key.at, "workflow %q has no input %q%s", child.Name, x.key.text, b.didYouMean(x.key.text, child.InputKeys))
		}
	}
	for _, key := range child.required() {
		if !given[key] {
			b.fault(n.in.at, "workflow %q needs the input %q", child.Name, key)
		}
	}
}

// sameNamed reads every input of the child from the key of its name.
func (b *builder) sameNamed(n *nodeDef, child *Loaded) []node.Named {
	var list []node.Named
	for _, key := range child.InputKeys {
		if !b.known(key) {
			continue
		}
		if x, faults := lang.ParseExpr(key, lang.Names{Keys: []string{key}}); len(faults) == 0 {
			list = append(list, node.Named{Name: key, Expr: x})
		}
	}
	for _, key := range child.required() {
		if !b.known(key) {
			b.fault(n.child.v.at, "workflow %q needs the input %q, and there is no key of this name; give it with in", child.Name, key)
		}
	}
	return list
}
