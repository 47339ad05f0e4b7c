package workflow

import (
	"cmp"
	"fmt"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/workflow/lang"
	"github.com/hitl-tui/hitl-tui/internal/workflow/node"
)

func (b *builder) node(n *nodeDef) *engine.Node {
	out := &engine.Node{
		Name:          n.name,
		Kind:          n.kind.name,
		Runner:        b.runner(n),
		Then:          n.then.names(),
		HasThen:       n.then.given,
		Failure:       n.failure.names(),
		HasFailure:    n.failure.given,
		Join:          engine.Join(n.join.text),
		RerunOnResume: n.protocol.text == "json",
		Retry:         n.retryPolicy(),
		Timeout:       cmp.Or(n.timeout.d, n.kind.timeout()),
	}
	switch n.kind.name {
	case workflowKind:
		out.Sub = b.sub(n)
	case mapKind:
		out.Map = b.mapping(n)
	}
	if b.lenient && n.join.text == "" {
		out.Join = engine.JoinStep
	}
	out.Failed = b.failed(n)
	out.Output = b.nodeOutput(n) // now that the output of a nested workflow is known
	for _, r := range n.routes.list {
		if out.Routes == nil {
			out.Routes = map[string][]string{}
		}
		out.Routes[r.name.text] = r.to.names()
	}
	for _, w := range n.when.list {
		if cond := b.expr(scope{node: n.name, output: n.kind.output, outputs: n.outputs(b.bundle.fresh)}, w.cond.code); cond != nil {
			out.When = append(out.When, engine.Branch{If: condition(n.name, cond), Text: w.cond.code.v.text, Then: w.to.names()})
		}
	}
	return out
}

// outputs are the fields of the node's output, nil where that is not known.
func (n *nodeDef) outputs(fresh bool) []string {
	switch n.kind.name {
	case workflowKind:
		return n.child.outputs
	case agentKind:
		return []string{"result", "success"}
	case questionsKind:
		if n.vague || !fresh {
			return nil
		}
		names := []string{}
		for _, q := range n.questions.list {
			names = append(names, q.name)
		}
		return names
	}
	return nil
}

func condition(name string, cond *lang.Expr) func(engine.Scope, engine.Value) (bool, error) {
	return func(s engine.Scope, output engine.Value) (bool, error) {
		ok, err := cond.Bool(s, output)
		if err != nil {
			return false, fmt.Errorf("%s: if %s: %w", name, cond.Source(), err)
		}
		return ok, nil
	}
}

// nodeOutput is what the node's output becomes in the state.
func (b *builder) nodeOutput(n *nodeDef) func(engine.Scope, engine.Value) (map[string]engine.Value, error) {
	if n.output.key != nil {
		key := n.output.key.text
		return func(_ engine.Scope, output engine.Value) (map[string]engine.Value, error) {
			return map[string]engine.Value{key: output}, nil
		}
	}
	parts := b.named(scope{node: n.name, output: true, outputs: n.outputs(b.bundle.fresh)}, n.output.parts)
	return written(n.name+".output", parts)
}

// failed is what the state is told when the node takes its failure route.
func (b *builder) failed(n *nodeDef) func(engine.Scope, engine.Value) (map[string]engine.Value, error) {
	if n.failed.key != nil {
		b.fault(n.failed.key.at, "failed must be {KEY: expression}, as in failed: {%s: output.message}", n.failed.key.text)
		return nil
	}
	return written(n.name+".failed", b.named(scope{node: n.name, output: true, outputs: lang.ErrorNames()}, n.failed.parts))
}

// written evaluates expressions into state updates; nil without any.
func written(place string, parts []node.Named) func(engine.Scope, engine.Value) (map[string]engine.Value, error) {
	if len(parts) == 0 {
		return nil
	}
	return func(s engine.Scope, output engine.Value) (map[string]engine.Value, error) {
		updates := make(map[string]engine.Value, len(parts))
		for _, p := range parts {
			v, err := p.Expr.Eval(s, output)
			if err != nil {
				return nil, atKey(place, p.Name, err)
			}
			updates[p.Name] = v
		}
		return updates, nil
	}
}

func atKey(place, key string, err error) error { return fmt.Errorf("%s.%s: %w", place, key, err) }

// retryPolicy is the node's retry policy; without one there is one attempt.
func (n *nodeDef) retryPolicy() engine.RetryPolicy {
	p := n.retry
	if p.attempts.n <= 1 {
		return engine.RetryPolicy{}
	}
	policy := engine.RetryPolicy{MaxAttempts: p.attempts.n, InitialDelay: p.initialDelay.d, Backoff: p.backoff.n, MaxDelay: p.maxDelay.d, Jitter: p.jitter.n}
	if p.initialDelay.at == (position{}) {
		policy.InitialDelay = time.Second
	}
	if p.maxDelay.at == (position{}) {
		policy.MaxDelay = time.Minute
	}
	return policy
}

// runner makes the runner of a node.
func (b *builder) runner(n *nodeDef) engine.Runner {
	s := scope{node: n.name}
	switch n.kind.name {
	case execKind:
		return b.exec(n)
	case shellKind:
		b.checkScript(n)
		return &node.Shell{Program: b.program(n), Script: n.script.text}
	case httpKind:
		return b.http(n)
	case llmKind:
		return b.llm(n)
	case templateKind:
		return &node.Template{Text: b.template(s, n.text.code)}
	case failKind:
		return &node.Fail{Message: b.template(s, n.text.code)}
	case setKind:
		set := &node.Set{}
		for _, x := range n.set.list {
			if e := b.setExpr(s, x.expr.code); e != nil {
				set.Lines = append(set.Lines, node.Named{Name: x.key.text, Expr: e})
			}
		}
		return set
	case agentKind:
		return b.agent(n)
	case waitKind:
		return &node.Wait{For: n.wait.d.d, Until: b.expr(s, n.wait.until.code)}
	case humanKind, questionsKind:
		h := &node.Human{}
		for _, q := range n.asks() {
			h.Questions = append(h.Questions, b.question(n, q))
		}
		return h
	}
	return nil
}

func (b *builder) exec(n *nodeDef) *node.Exec {
	s := scope{node: n.name}
	x := &node.Exec{Program: b.program(n), JSON: n.protocol.text == "json"}
	for _, a := range n.args {
		x.Args = append(x.Args, b.template(s, a.code))
	}
	if n.in.given {
		x.In = b.named(s, n.in.list)
		if x.In == nil {
			x.In = []node.Named{} // an empty object, not the output of the node before
		}
	}
	if x.JSON {
		x.Keys, x.Sees = b.own.Keys, b.visible().Keys
	}
	return x
}

func (b *builder) program(n *nodeDef) node.Program {
	s := scope{node: n.name}
	p := node.Program{
		Stdin:       b.expr(s, n.stdin.code),
		Env:         b.namedTexts(scope{node: n.name, env: true}, n.env),
		FileEnv:     b.env,
		Workdir:     b.template(s, n.workdir.code),
		FileWorkdir: b.workdir,
		Accept:      n.accept.list,
		Parse:       node.Parse(n.parse.text),
		OutputLimit: n.outputLimit.n,
	}
	if n.inheritEnv.given {
		p.InheritEnv = append([]string{}, n.inheritEnv.texts()...)
	}
	return p
}

// question makes a question of its model.
func (b *builder) question(n *nodeDef, q *question) node.Question {
	s := scope{node: n.name}
	if q.name != "" {
		s.node += "." + q.name
	}
	out := node.Question{
		Name:           q.name,
		Kind:           actions.Kind(q.kind.text),
		Title:          b.template(s, q.title.code),
		Message:        b.template(s, q.message.code),
		Content:        b.expr(s, q.content.code),
		ContentType:    q.contentType.text,
		Context:        b.named(s, q.context.list),
		OptionsExpr:    b.expr(s, q.options.expr.code),
		Multiple:       q.multiple.on,
		Schema:         b.expr(s, q.schema.expr.code),
		Prefill:        b.expr(s, q.prefill.code),
		Actions:        q.actions.actions(),
		RequireComment: q.requireComment.actions(),
		Timeout:        q.timeout.d,
		DefaultAction:  actions.Action(q.defaultAction.text),
		PeopleOnly:     q.peopleOnly.on,
		Assignee:       b.template(s, q.assignee.code),
		Group:          b.template(s, q.group.code),
		Priority:       b.template(s, q.priority.code),
	}
	if out.Content != nil && !b.keys[out.Content.Key()] {
		out.ReadOnly = true // the item of a map, or a key around it
	}
	if q.schema.literal != nil {
		out.Schema = b.literal(q.schema.literal)
	}
	if q.defaultData.v != nil {
		out.DefaultData = b.literal(q.defaultData.v)
	}
	for _, o := range q.options.list {
		out.Options = append(out.Options, node.Option{
			Value: engine.RawValue(b.toRaw(o.value.v)),
			Label: b.template(s, o.label.code), Description: b.template(s, o.description.code),
		})
	}
	return out
}
