package workflow

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// check reports what is wrong between the parts of a file: targets, routes, questions, and once every target exists
// the graph they make.
func (b *builder) check() {
	targets := b.checkTargets(&b.file.start)
	b.checkVariables(b.file.env)
	r := &reader{source: b.source}
	for _, n := range b.file.nodes.list {
		for _, t := range n.targets() {
			targets = b.checkTargets(t) && targets
		}
		if n.broken {
			continue
		}
		b.checkKind(n)
		if inner := b.inner[n]; inner != nil && len(n.do.list) > 0 {
			inner.check()
		}
		for _, q := range n.asks() {
			if !n.vague {
				r.checkNeeds(q, n.name)
			}
			b.checkQuestion(n, q)
		}
		b.checkRoutes(n)
		if !n.vague {
			b.checkDeadEnds(n)
		}
	}
	if targets && b.unclear == 0 && len(b.file.nodes.list) > 0 {
		b.checkGraph()
	}
}

// targets are all places at which a node says what comes next.
func (n *nodeDef) targets() []*targets {
	list := make([]*targets, 0, 2+len(n.routes.list)+len(n.when.list))
	for i := range n.routes.list {
		list = append(list, &n.routes.list[i].to)
	}
	for i := range n.when.list {
		list = append(list, &n.when.list[i].to)
	}
	return append(list, &n.then, &n.failure)
}

// checkTargets reports whether every target exists.
func (b *builder) checkTargets(t *targets) bool {
	ok := true
	for _, x := range t.list {
		switch {
		case b.nodes[x.name] != nil:
			continue
		case strings.EqualFold(x.name, end):
			b.fault(x.at, "write END in capitals")
		case b.outer != nil && b.nodeNamed(x.name) != nil:
			b.fault(x.at, "%s names the node %q, which is outside this map: what runs for an item stays inside, and what comes after the map is said there", t.path, x.name)
		case b.isNode(x.name):
			b.fault(x.at, "%s names the node %q, which is inside a map: only the map leads there", t.path, x.name)
		default:
			b.fault(x.at, "%s names the node %q, which does not exist%s", t.path, x.name, b.didYouMean(x.name, b.own.Errors))
		}
		ok = false
	}
	return ok
}

// checkKind reports keys that do not go together.
func (b *builder) checkKind(n *nodeDef) {
	b.checkVariables(n.env)
	if n.failed.given() && !n.failure.given && !n.doubtful {
		b.fault(n.at, "node %q: failed is written where the failure route is taken: give failure", n.name)
	}
	json := n.protocol.text == "json"
	switch n.kind.name {
	case execKind:
		if !n.vague && len(n.args) == 0 {
			b.fault(n.at, "node %q: exec needs at least the name of a program", n.name)
		}
		if json && n.stdin.given() {
			b.fault(n.stdin.v.at, "stdin does not go with protocol: json, where the program reads its request; use in")
		}
		if json && n.parse.text != "" {
			b.fault(n.parse.v.at, "parse does not go with protocol: json, which says what the output is")
		}
		if !json && n.in.given && !n.doubtful {
			b.fault(n.in.at, "in belongs to protocol: json; use stdin, or {{.name}} in an argument")
		}
	case httpKind:
		b.checkHTTP(n)
	case llmKind:
		b.checkLLM(n)
	case mapKind:
		b.checkMap(n)
	case failKind:
		for _, t := range n.targets() {
			if t.given && t != &n.failure {
				b.fault(t.at, "a fail node never completes; use failure")
			}
		}
	}
}

// checkMap reports a map without a body, or with two.
func (b *builder) checkMap(n *nodeDef) {
	do, child := n.do.at != (position{}), n.child.v != nil
	switch {
	case n.vague:
	case do && child:
		b.fault(n.child.v.at, "node %q has do and workflow: a map runs one of them for each item", n.name)
	case n.in.given && do:
		b.fault(n.in.at, "in belongs to workflow; the nodes of do see the item as it is")
	case !do && !child && len(b.faults) == 0:
		b.fault(n.at, "node %q: a map needs do, nodes that run for each item, or workflow", n.name)
	}
}

func (b *builder) checkVariables(env textMap) {
	for _, e := range env {
		if !identifier.MatchString(e.key.text) {
			b.fault(e.key.at, "%q cannot be the name of a variable: letters, digits and _ only", e.key.text)
		}
	}
}

var placeholder = regexp.MustCompile(`\{\{[^{}]*\}\}`)
var dotted = regexp.MustCompile(`\.([A-Za-z_][A-Za-z0-9_]*)`)

// checkScript reports placeholders in a script. Only those that name something of this workflow: other programs have
// templates of their own.
func (b *builder) checkScript(n *nodeDef) {
	for _, p := range placeholder.FindAllStringIndex(n.script.text, -1) {
		for _, m := range dotted.FindAllStringSubmatch(n.script.text[p[0]:p[1]], -1) {
			if b.known(m[1]) || slices.Contains([]string{"answers", "errors", "run"}, m[1]) {
				b.fault(b.place(n.script.v, p[0]), "shell is not a template, so that no value can become a command: pass values with env")
				return
			}
		}
	}
}

// checkRoutes reports routes that no answer or exit code can take.
func (b *builder) checkRoutes(n *nodeDef) {
	if len(n.routes.list) == 0 {
		return
	}
	switch {
	case n.kind.routes == noRoute && n.kind.name != failKind:
		b.fault(n.routes.at, "%s has no route; use when", n.kind.called())
	case n.kind.routes == actionRoute:
		for _, r := range n.routes.list {
			b.checkActionRoute(n, r.name)
		}
	case n.kind.routes == statusRoute && !n.doubtful:
		for _, r := range n.routes.list {
			b.checkStatusRoute(n, r.name)
		}
	case n.kind.routes == exitRoute && n.protocol.text != "json" && !n.doubtful:
		for _, r := range n.routes.list {
			b.checkExitRoute(n, r.name)
		}
	}
}

func (b *builder) checkExitRoute(n *nodeDef, name *value) {
	code, err := strconv.Atoi(name.text)
	switch {
	case err != nil || code < 0 || code > 255 || strconv.Itoa(code) != name.text:
		b.fault(name.at, "unknown exit code %q: the route of a program is its exit code, 0 to 255, unless it speaks protocol: json", name.text)
	case code != 0 && !slices.Contains(n.accept.list, code):
		b.fault(name.at, "exit code %d is a failure unless accept lists it", code)
	}
}

// checkDeadEnds reports ways in which a node can complete and lead nowhere although it has edges.
func (b *builder) checkDeadEnds(n *nodeDef) {
	if n.then.given || n.kind.name == failKind || n.kind.routes == noRoute && len(n.routes.list) > 0 ||
		n.doubtful && len(n.routes.list) > 0 {
		return
	}
	if len(n.routes.list) > 0 && n.kind.routes == actionRoute {
		if action := n.unrouted(); action != "" {
			b.fault(n.at, "node %q: the action %q leads nowhere: add it to routes, or give then", n.name, action)
		}
		return
	}
	if len(n.routes.list) > 0 && n.kind.routes == statusRoute {
		b.fault(n.at, "node %q needs then for the statuses that are not among its routes (then: END ends the branch)", n.name)
		return
	}
	if len(n.routes.list) > 0 && n.protocol.text != "json" {
		if code, ok := n.unroutedExit(); ok {
			b.fault(n.at, "node %q: the exit code %d leads nowhere: add it to routes, or give then", n.name, code)
		}
		return
	}
	if len(n.routes.list) > 0 {
		b.fault(n.at, "node %q needs then for the case that the program names no route (then: END ends the branch)", n.name)
	} else if len(n.when.list) > 0 {
		b.fault(n.at, "node %q needs then for the case that no condition holds (then: END ends the branch)", n.name)
	}
}

// unrouted is an action that completes the node and has no route, "" when there is none. A node of several questions
// completes so only if each of them has one.
func (n *nodeDef) unrouted() string {
	first := ""
	for _, q := range n.asks() {
		here := ""
		for _, a := range q.allowed() {
			if completes(a) && !n.routes.has(string(a)) {
				here = string(a)
				break
			}
		}
		if here == "" {
			return ""
		}
		if first == "" {
			first = here
		}
	}
	return first
}

func (n *nodeDef) unroutedExit() (int, bool) {
	for _, code := range append([]int{0}, n.accept.list...) {
		if !n.routes.has(strconv.Itoa(code)) {
			return code, true
		}
	}
	return 0, false
}
