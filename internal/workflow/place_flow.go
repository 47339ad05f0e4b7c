package workflow

// end is the target that ends a branch.
const end = "END"

// target is a node name as a file mentions it.
type target struct {
	name string
	at   position
}

// targets is a place for what comes next: a node, END, or a list of nodes that then run side by side.
type targets struct {
	path  string // how messages call it: then, failure, routes.retry
	list  []target
	given bool
	end   bool
	at    position
}

func (p *targets) take(r *reader, name string, v *value) {
	*p = targets{path: name, given: true, at: v.at}
	if v.shape == scalarShape {
		if v.text == end && name == "start" {
			r.unclear++
			r.fault(v.at, "start must be a node or a list of nodes, not END")
			return
		}
		if v.text == end {
			p.end = true
			return
		}
		p.list = []target{{v.text, v.at}}
		return
	}
	if v.shape != listShape {
		r.unclear++
		r.fault(v.at, "%s must be a node, END or a list of nodes, not %v: by action or exit code that is routes, by condition when", name, v)
		return
	}
	if len(v.list) == 0 {
		r.fault(v.at, "%s lists no node: write END to end the branch", name)
	}
	seen := map[string]bool{}
	for _, item := range r.items(name, "nodes", v) {
		text, ok := r.scalar(name, "a list of nodes", item)
		switch {
		case !ok:
		case text == end:
			r.fault(item.at, "%s: END cannot be one of several targets", name)
		case seen[text]:
			r.fault(item.at, "%s names the node %q twice", name, text)
		default:
			seen[text] = true
			p.list = append(p.list, target{text, item.at})
		}
	}
}

func (p *targets) schema() schema { return ref("targets") }

// names are the targets' names, nil for END.
func (p *targets) names() []string {
	var list []string
	for _, t := range p.list {
		list = append(list, t.name)
	}
	return list
}

// route is one line of routes.
type route struct {
	name *value
	to   targets
}

// routesT is a place for routes.
type routesT struct {
	list []route
	at   position
}

func (p *routesT) take(r *reader, name string, v *value) {
	p.at = v.at
	for _, e := range r.pairs(name, "route: target", v) {
		var t targets
		t.take(r, name+"."+e.key.text, e.value)
		p.list = append(p.list, route{e.key, t})
	}
}

func (p *routesT) schema() schema {
	return schema{"type": "object", "additionalProperties": ref("targets")}
}

func (p *routesT) has(name string) bool {
	for _, r := range p.list {
		if r.name.text == name {
			return true
		}
	}
	return false
}

// branch is one entry of when.
type branch struct {
	cond exprT
	to   targets
}

// whenT is a place for conditional edges.
type whenT struct {
	list []branch
	at   position
}

func branchKeys() []key[branch] {
	return []key[branch]{
		{"if", true, "condition over the state after the step; true or false", func(b *branch) place { return &b.cond }},
		{"then", true, "where to go when it is true", func(b *branch) place { return &b.to }},
	}
}

func (p *whenT) take(r *reader, name string, v *value) {
	p.at = v.at
	if v.shape == mappingShape {
		r.unclear++
		r.fault(v.at, "when must be a list: when: [{if: ..., then: ...}]")
		return
	}
	for _, item := range r.items(name, "{if: ..., then: ...}", v) {
		if item.shape != mappingShape {
			r.fault(item.at, "an entry of when must be {if: ..., then: ...}, not %v", item)
			continue
		}
		var b branch
		readKeys(r, branchKeys(), &b, item, "an entry of when", nil)
		p.list = append(p.list, b)
	}
}

func (p *whenT) schema() schema {
	return schema{"type": "array", "items": objectSchema(branchKeys()), "minItems": 1}
}

// outputT is a place for output: one state key for the whole output, or keys with expressions of their own.
type outputT struct {
	key   *value // output: KEY
	parts []namedExpr
}

func (p *outputT) given() bool { return p.key != nil || len(p.parts) > 0 }

func (p *outputT) take(r *reader, name string, v *value) {
	if v.shape == scalarShape {
		if r.stateKey(v) {
			p.key = v
		}
		return
	}
	if v.shape != mappingShape {
		r.fault(v.at, "output must be a state key or {KEY: expression}, not %v", v)
		return
	}
	var m exprMap
	m.take(r, name, v)
	for _, x := range m.list {
		if r.stateKey(x.key) {
			p.parts = append(p.parts, x)
		}
	}
}

func (p *outputT) schema() schema {
	return schema{"oneOf": []schema{ref("identifier"), {"type": "object", "propertyNames": ref("identifier"), "additionalProperties": ref("expression")}}}
}

// setT is a place for the lines of a set node.
type setT struct{ list []namedExpr }

func (p *setT) take(r *reader, name string, v *value) {
	var m exprMap
	m.take(r, name, v)
	for _, x := range m.list {
		if r.stateKey(x.key) {
			p.list = append(p.list, x)
		}
	}
}

func (p *setT) schema() schema {
	return schema{"type": "object", "propertyNames": ref("identifier"), "additionalProperties": ref("expression"), "minProperties": 1}
}

// retryT is a place for a retry policy: a number of attempts, or the whole policy.
type retryT struct {
	attempts     intT
	initialDelay durationT
	backoff      floatT
	maxDelay     durationT
	jitter       floatT
}

func newRetry() retryT {
	return retryT{attempts: intT{1, 1, 1000}, initialDelay: durationT{zero: true}, backoff: floatT{2, 1, 100},
		jitter: floatT{0.2, 0, 1}, maxDelay: durationT{zero: true}}
}

func retryKeys() []key[retryT] {
	return []key[retryT]{
		{"max_attempts", true, "attempts in all", func(p *retryT) place { return &p.attempts }},
		{"initial_delay", false, "wait before the second attempt (1s)", func(p *retryT) place { return &p.initialDelay }},
		{"backoff", false, "factor by which the wait grows (2)", func(p *retryT) place { return &p.backoff }},
		{"max_delay", false, "longest wait (1m)", func(p *retryT) place { return &p.maxDelay }},
		{"jitter", false, "share by which the wait varies (0.2)", func(p *retryT) place { return &p.jitter }},
	}
}

func (p *retryT) take(r *reader, name string, v *value) {
	if v.shape == mappingShape {
		readKeys(r, retryKeys(), p, v, name, nil)
		return
	}
	p.attempts.take(r, name, v)
}

func (p *retryT) schema() schema {
	return schema{"oneOf": []schema{p.attempts.schema(), objectSchema(retryKeys())}}
}

// waitT is a place for a duration or {until: E}.
type waitT struct {
	d     durationT
	until exprT
}

func waitKeys() []key[waitT] {
	return []key[waitT]{{"until", true, "expression: a time as in RFC 3339", func(p *waitT) place { return &p.until }}}
}

func (p *waitT) take(r *reader, name string, v *value) {
	if v.shape == mappingShape {
		readKeys(r, waitKeys(), p, v, name, nil)
		return
	}
	p.d.take(r, name, v)
}

func (p *waitT) schema() schema {
	return schema{"oneOf": []schema{ref("duration"), objectSchema(waitKeys())}}
}
