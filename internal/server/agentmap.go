package server

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
)

// agentMapShape is the answer to AgentMap's clients.
func (c *call) agentMapShape(ctx context.Context, r *desk.Result) (any, error) {
	detail, err := c.server.whole.Open(context.WithoutCancel(ctx), r.Thread)
	if err != nil {
		return nil, err
	}
	return wire.ToAgentMap(r, detail.Path), nil
}

// graphRef is the workflow that AgentMap's address names: {workflow}/{graph}, or a {graph_id}, in which :: or the last
// slash stands between the two. A workflow file of one graph has that under its own name.
func graphRef(r *http.Request) string {
	file, graph := r.PathValue("workflow"), r.PathValue("graph")
	if id := r.PathValue("graph_id"); id != "" {
		file, graph = id, ""
		if before, after, two := strings.Cut(id, "::"); two {
			file, graph = before, after
		} else if at := strings.LastIndexByte(id, '/'); at >= 0 {
			file, graph = id[:at], id[at+1:]
		}
	}
	if graph == "" || graph == file {
		return file
	}
	return file + "::" + graph
}

// execute is AgentMap's POST /execute/{workflow}/{graph} and POST /execute/{graph_id}.
func execute(c *call) (reply, error) {
	ref := graphRef(c.r)
	raw, err := body(c.w, c.r)
	if err != nil {
		return reply{}, err
	}
	var inputs map[string]json.RawMessage
	var thread string
	anything := func(string, json.RawMessage) error { return nil }
	err = readMembers(raw, []member{{"inputs", objectInto(&inputs)}, {"execution_id", textInto(&thread)}, {"force_create", anything}})
	if err != nil {
		return reply{}, err
	}
	return c.startWith(raw, desk.StartRequest{File: ref, Input: inputs, Thread: thread}, c.agentMapShape)
}

// resumeAgentMap is AgentMap's POST /resume/{id}: its clients send an empty object where they mean no data.
func resumeAgentMap(c *call) (reply, error) {
	raw, err := body(c.w, c.r)
	if err != nil {
		return reply{}, err
	}
	b, err := actions.ParseBody(raw)
	if err != nil {
		return reply{}, err
	}
	for i, a := range b.Answers {
		if string(a.Data) == "{}" {
			b.Answers[i].Data = nil
		}
	}
	return c.resumeWith(raw, b, c.agentMapShape)
}
