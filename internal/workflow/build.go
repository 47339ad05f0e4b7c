package workflow

import (
	"regexp"

	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/workflow/lang"
	"github.com/hitl-tui/hitl-tui/internal/workflow/node"
)

// builder makes a graph of a file's model. It checks every template and expression on the way, so it is run to its
// end even when the file has faults.
type builder struct {
	*source
	file   *file
	bundle *bundle
	name   string              // of the file in the bundle
	nodes  map[string]*nodeDef // by name

	outer *builder              // of a map's body: the builder around the map
	owner *nodeDef              // and the map
	inner map[*nodeDef]*builder // of the bodies of its maps
	seen  *lang.Names           // what its nodes may mention; made when it is needed
	names map[string]bool       // of all nodes of the file; kept by the outermost

	keys     map[string]bool // every state key the file mentions
	channels map[string]engine.Reducer
	own      lang.Names // what of this file, or of this body, a template or expression may mention

	env     []node.NamedText
	workdir *lang.Template
}

func newBuilder(src *source, f *file, bundle *bundle, name string) *builder {
	b := &builder{source: src, file: f, bundle: bundle, name: name, nodes: map[string]*nodeDef{}, keys: map[string]bool{}, channels: map[string]engine.Reducer{}}
	b.collect()
	return b
}

// collect finds the names of the file: every key that input, state, output or set mentions, every node, every
// question.
func (b *builder) collect() {
	for _, k := range b.file.input.keys {
		b.addKey(k.text)
	}
	for _, e := range b.file.state.list {
		b.addKey(e.key.text)
		b.channels[e.key.text] = engine.Reducer(e.value.text)
	}
	b.own.Answers = map[string][]string{}
	for _, n := range b.file.nodes.list {
		for _, p := range n.failed.parts {
			b.writes(p.key)
		}
		if b.taken(n.name) {
			b.fault(n.at, "there is another node %q in this file, outside this map: names of nodes are unique in a file", n.name)
		}
		b.nodes[n.name] = n
		b.own.Errors = append(b.own.Errors, n.name)
		if n.output.key != nil {
			b.writes(n.output.key)
		}
		for _, p := range append(n.output.parts, n.set.list...) {
			b.writes(p.key)
		}
		if n.kind == nil {
			continue
		}
		if n.kind.name == humanKind {
			b.own.Answers[n.name] = nil
		}
		if n.kind.name == questionsKind {
			list := []string{}
			for _, q := range n.questions.list {
				list = append(list, q.name)
			}
			b.own.Answers[n.name] = list
		}
		if n.protocol.text == "json" {
			b.own.Answers[n.name] = []string{lang.AnyQuestion}
		}
	}
	b.own.Getenv = b.bundle.services.getenv()
}

func (b *builder) addKey(name string) {
	if !b.keys[name] {
		b.keys[name] = true
		b.own.Keys = append(b.own.Keys, name)
	}
}

var word = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)

// namesIn are those of all names that occur in a text. To check a text against them gives the same result as against
// all, but for suggestions; and a file of many nodes does not take the square of their number.
func (b *builder) namesIn(text string) lang.Names {
	n := lang.Names{Answers: map[string][]string{}, Getenv: b.own.Getenv}
	seen := map[string]bool{}
	for _, w := range word.FindAllString(text, -1) {
		if seen[w] {
			continue
		}
		seen[w] = true
		if b.known(w) {
			n.Keys = append(n.Keys, w)
		}
		if questions, ok := b.asked(w); ok {
			n.Answers[w] = questions
		}
		if b.nodeNamed(w) != nil {
			n.Errors = append(n.Errors, w)
		}
	}
	return n
}

// scope says what a template or expression may mention beside the names of the file.
type scope struct {
	node   string // for messages about templates; "" at the top level
	output bool
	env    bool

	outputs []string                         // the fields of output; nil: any
	getenv  func(name string) (string, bool) // serves env; nil: as everywhere
}

// apply makes names those of the scope.
func (s scope) apply(names *lang.Names) {
	names.Output, names.Outputs, names.Env = s.output, s.outputs, s.env
	if s.getenv != nil {
		names.Getenv = s.getenv
	}
}

func (b *builder) template(s scope, c code) *lang.Template {
	if !c.given() {
		return nil
	}
	parse := func(names lang.Names) (*lang.Template, []lang.Fault) {
		s.apply(&names)
		return lang.ParseTemplate(c.v.text, names)
	}
	t, faults := parse(b.namesIn(c.v.text))
	path := c.path
	if s.node != "" {
		path = s.node + "." + path
	}
	b.report(c.v, path, faults, func() []lang.Fault { _, f := parse(b.visible()); return f })
	return t
}

func (b *builder) expr(s scope, c code) *lang.Expr {
	if !c.given() {
		return nil
	}
	parse := func(names lang.Names) (*lang.Expr, []lang.Fault) {
		s.apply(&names)
		return lang.ParseExpr(c.v.text, names)
	}
	x, faults := parse(b.namesIn(c.v.text))
	b.report(c.v, c.path, faults, func() []lang.Fault { _, f := parse(b.visible()); return f })
	return x
}

// report notes the faults of a text. again finds them once more against all names, for their suggestions.
func (b *builder) report(v *value, path string, faults []lang.Fault, again func() []lang.Fault) {
	if len(faults) == 0 {
		return
	}
	if b.suggestions++; b.suggestions <= maxSuggestions {
		faults = again()
	}
	for _, f := range faults {
		b.fault(b.place(v, f.Offset), "%s", f.At(path))
	}
}

// literal is a value of the file, written in plain JSON, as an expression.
func (b *builder) literal(v *value) *lang.Expr {
	return lang.Literal(engine.RawValue(b.toRaw(v)))
}

// setExpr is the right side of a line of set: numbers, true, false, null and "" stand for themselves.
func (b *builder) setExpr(s scope, c code) *lang.Expr {
	if !c.given() {
		return nil
	}
	if c.v.text == "" {
		return lang.Literal(engine.RawValue([]byte(`""`)))
	}
	if c.v.style == plainStyle {
		if v, _ := plainJSON(c.v.text); v != c.v.text {
			return b.literal(c.v)
		}
	}
	return b.expr(s, c)
}

func (b *builder) named(s scope, list []namedExpr) []node.Named {
	var out []node.Named
	for _, x := range list {
		if e := b.expr(s, x.expr.code); e != nil {
			out = append(out, node.Named{Name: x.key.text, Expr: e})
		}
	}
	return out
}

func (b *builder) namedTexts(s scope, list textMap) []node.NamedText {
	var out []node.NamedText
	for _, x := range list {
		if t := b.template(s, x.text.code); t != nil {
			out = append(out, node.NamedText{Name: x.key.text, Text: t})
		}
	}
	return out
}

// graph makes the graph. It must not be used when the file has faults.
func (b *builder) graph() *engine.Graph {
	f := b.file
	if b.outer == nil {
		b.workdir = b.template(scope{}, f.workdir.code)
		b.env = b.namedTexts(scope{env: true}, f.env)
	}
	g := &engine.Graph{
		Name: f.name.text, Channels: b.channels, Keys: append([]string{}, b.own.Keys...), Start: f.start.names(),
		MaxConcurrency: f.maxConcurrency.n, StepLimit: f.stepLimit.n,
	}
	for _, n := range f.nodes.list {
		if !n.broken {
			g.Nodes = append(g.Nodes, b.node(n))
		}
	}
	if !f.start.given && len(f.nodes.list) > 0 {
		g.Start = []string{f.nodes.list[0].name}
	}
	if f.output.given {
		g.Output = graphOutput(b.named(scope{}, f.output.list))
	}
	return g
}

// graphOutput evaluates the output of a finished run.
func graphOutput(list []node.Named) func(engine.Scope) (engine.Value, error) {
	return func(s engine.Scope) (engine.Value, error) {
		o := make(object, 0, len(list))
		for _, x := range list {
			v, err := x.Expr.Eval(s, engine.Value{})
			if err != nil {
				return engine.Value{}, atKey("output", x.Name, err)
			}
			o = append(o, member{x.Name, v.JSON()})
		}
		raw, err := marshal(o)
		return engine.RawValue(raw), err
	}
}
