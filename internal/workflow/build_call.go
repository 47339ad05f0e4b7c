package workflow

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/workflow/node"
)

// http makes the runner of an http node. What its templates take from the environment is remembered, to be kept out of
// messages.
func (b *builder) http(n *nodeDef) *node.HTTP {
	services := &b.bundle.services
	secrets := &node.Secrets{Getenv: services.getenv()}
	s, secret := scope{node: n.name}, scope{node: n.name, env: true, getenv: secrets.Lookup}
	return &node.HTTP{
		Method:      n.method.text,
		URL:         b.template(secret, n.url.code),
		Query:       b.namedTexts(s, n.query),
		Headers:     b.namedTexts(secret, n.headers),
		JSON:        b.expr(s, n.json.code),
		Body:        b.template(s, n.body.code),
		Accept:      n.statuses.list,
		Parse:       node.Parse(n.parse.text),
		OutputLimit: n.outputLimit.n,
		Secrets:     secrets,
		Transport:   services.Transport,
	}
}

// llm makes the runner of an llm node. A model that is not configured is a fault of a file that is to be started; a thread
// that keeps its file fails at that node.
func (b *builder) llm(n *nodeDef) engine.Runner {
	s := scope{node: n.name}
	services := &b.bundle.services
	model, err := services.model(n.model.text)
	x := &node.LLM{
		Model:     model,
		System:    b.template(s, n.system.code),
		Prompt:    b.template(s, n.prompt.code),
		Messages:  b.expr(s, n.messages.code),
		Schema:    b.expr(s, n.answer.expr.code),
		MaxTokens: n.maxTokens.n,
		Transport: services.Transport,
		Getenv:    services.getenv(),
	}
	if n.answer.literal != nil {
		x.Schema = b.literal(n.answer.literal)
	}
	if n.temperature.n != unset {
		x.Temperature = &n.temperature.n
	}
	if err == nil {
		return x
	}
	err = fmt.Errorf("llm: %w", err)
	if b.bundle.fresh && n.model.v != nil {
		b.fault(n.model.v.at, "%v", err)
	}
	return engine.RunnerFunc(func(context.Context, *engine.Call) (engine.Result, error) {
		return engine.Result{}, engine.Permanent(err)
	})
}

// agent makes the runner of an agent node.
func (b *builder) agent(n *nodeDef) engine.Runner {
	x := &node.Agent{Name: n.name, Type: n.agent.text, Prompt: n.said.text, In: b.named(scope{node: n.name}, n.in.list)}
	if n.context.v != nil {
		x.Settings = engine.RawValue(b.toRaw(n.context.v))
	}
	if err := x.Check(); err != nil && n.agent.v != nil {
		at := n.at
		if n.context.v != nil {
			at = n.context.v.at
		}
		b.fault(at, "context: %v", err)
	}
	return x
}

var headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// checkHTTP reports keys of an http node that do not go together.
func (b *builder) checkHTTP(n *nodeDef) {
	b.checkAddress(n)
	for _, h := range n.headers {
		if !headerName.MatchString(h.key.text) {
			b.fault(h.key.at, "%q cannot be the name of a header", h.key.text)
		}
	}
	body := n.json.code
	if n.body.given() {
		body = n.body.code
	}
	switch {
	case n.json.given() && n.body.given():
		b.fault(n.body.v.at, "node %q has json and body: a request has one of them", n.name)
	case body.given() && (n.method.text == "" || n.method.text == "GET" || n.method.text == "HEAD"):
		b.fault(body.v.at, "%s is sent by POST, PUT or PATCH: say method: POST", body.path)
	}
}

// checkAddress reports a URL that can be none, as far as it can be seen before its templates are filled in.
func (b *builder) checkAddress(n *nodeDef) {
	if !n.url.given() {
		return
	}
	text := n.url.v.text
	before, _, template := strings.Cut(text, "{{")
	ok := strings.HasPrefix(before, "http://") || strings.HasPrefix(before, "https://")
	if template && before == "" {
		return
	}
	if u, err := url.Parse(text); !template && ok {
		ok = err == nil && u.Host != ""
	}
	if !ok {
		b.fault(n.url.v.at, "http: %q is no address such as https://example.org/path", text)
	}
}

func (b *builder) checkStatusRoute(n *nodeDef, name *value) {
	status, err := strconv.Atoi(name.text)
	switch {
	case err != nil || status < 200 || status > 599 || strconv.Itoa(status) != name.text:
		b.fault(name.at, "unknown status %q: the route of an http node is the status of the answer, 200 to 599", name.text)
	case status >= 300 && !slices.Contains(n.statuses.list, status):
		b.fault(name.at, "status %d is a failure unless accept lists it", status)
	}
}

// checkLLM reports an llm node that asks nothing, or in two ways.
func (b *builder) checkLLM(n *nodeDef) {
	prompt, messages := n.prompt.given(), n.messages.given()
	switch {
	case prompt && messages:
		b.fault(n.messages.v.at, "node %q has prompt and messages: a model is asked by one of them", n.name)
	case !prompt && !messages && !n.vague:
		b.fault(n.at, "node %q: an llm needs prompt, or messages for a conversation", n.name)
	}
	if v := n.answer.literal; v != nil {
		kind := v.get("type")
		if kind != nil && (kind.shape != scalarShape || kind.text != "object") || kind == nil && v.get("properties") == nil {
			b.fault(v.at, "schema of an llm must be that of an object: {type: object, properties: ...}")
		}
	}
}
