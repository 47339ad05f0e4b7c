package agentmap

import (
	"slices"
	"strings"
)

// maxPicks bounds how many nodes the orchestrators of a graph pick from, all together: each is told of all of its own.
const maxPicks = 50_000

// candidates are the nodes that an orchestrator may pick: all others, those of a type, or those named.
func (t *translator) candidates(w *work) []*work {
	nodes, kind := "", ""
	if w.context != nil {
		if x := w.context.get("nodes"); x.isText() && x.Text != "all" {
			nodes = x.Text
		}
		for _, key := range []string{"node_type", "nodeType"} {
			if x := w.context.get(key); x.isText() {
				kind = x.Text
			}
		}
	}
	if after, ok := strings.CutPrefix(nodes, "nodeType:"); ok {
		nodes, kind = "", strings.TrimSpace(after)
	}
	var named []string
	for _, name := range strings.Split(nodes, "|") {
		if name = strings.TrimSpace(name); name != "" {
			named = append(named, name)
		}
	}
	if t.picks += len(t.nodes); t.picks > maxPicks {
		t.fault(w.At, "the orchestrators of this graph have more than %d nodes to look at: make several graphs of it", maxPicks)
		return nil
	}
	var list []*work
	for _, x := range t.nodes {
		if x == w || kind != "" && plainType(x.typed) != plainType(kind) || named != nil && !slices.Contains(named, x.Name) {
			continue
		}
		list = append(list, x)
	}
	return list
}

// fallback is the node that an orchestrator leads to where nothing fits: any other of the graph, also one that it does not
// pick from. It is nil where none is named.
func (t *translator) fallback(w *work) *work {
	if w.context == nil {
		return nil
	}
	x := w.context.get("default_target")
	if !x.isText() {
		return nil
	}
	if x.Text == w.Name {
		t.fault(x.At, "default_target leads the orchestrator %q back to itself: name another node", w.Name)
		return nil
	}
	for _, other := range t.nodes {
		if other.Name == x.Text {
			return other
		}
	}
	t.fault(x.At, "default_target names the node %q, which is not in the graph %q%s", x.Text, t.graph.Name, t.nodeHint(x.Text))
	return nil
}

// makeOrchestrator makes a node that picks the next one by itself, from what it is told of the candidates.
func makeOrchestrator(t *translator, w *work, v *Value) {
	candidates := w.candidates
	known := mapping(w.At)
	for _, c := range candidates {
		about := mapping(c.At)
		if s := c.Cell(Description); s != "" {
			about.put("description", text(c.At, s))
		}
		if c.prompt != "" {
			about.put("prompt", text(c.At, c.prompt))
		}
		known.Entries = append(known.Entries, Entry{text(c.At, c.name), about})
	}
	settings := mapping(w.At)
	t.orchestratorSettings(w, settings)
	settings.put("nodes", known)
	t.run(w, v, w.agent.name, settings)
	out := t.writes(w, "output.result")
	out.put(flag, text(w.At, "output.success"))
	v.put("output", out)
	if len(candidates) == 0 {
		t.fault(w.At, "the orchestrator %q has no node to pick", w.Name)
		return
	}
	when := list(w.At)
	targets := candidates
	if w.fallback != nil && !slices.Contains(candidates, w.fallback) {
		targets = append(slices.Clone(candidates), w.fallback)
	}
	for _, c := range targets {
		branch := mapping(w.At)
		branch.put("if", text(w.At, "output.result == "+quoted(c.name)))
		branch.put("then", text(c.At, c.name))
		when.Items = append(when.Items, branch)
	}
	v.put("when", when)
	v.put("then", t.destination(w.edges.failure))
}

// orchestratorSettings keeps what holds without a model.
func (t *translator) orchestratorSettings(w *work, settings *Value) {
	if w.context == nil {
		return
	}
	if x := w.context.get("matching_strategy"); x != nil && x.Text != "algorithm" {
		t.warn(x.At, "the orchestrator %q matches by algorithm here, without asking a model", w.Name)
	}
	if w.fallback != nil {
		settings.put("default_target", text(w.context.get("default_target").At, w.fallback.name))
	}
}
