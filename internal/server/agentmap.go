package server

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
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
	c.nameActions(b.Answers)
	return c.resumeWith(raw, b, c.agentMapShape)
}

// nameActions gives answers with data the action that takes them. In AgentMap a text, a choice, an edit and a reply are what
// the data say whatever the action is called: its clients name none, which is continue, or submit. What an action means
// otherwise stays, and an approval has to be named.
func (c *call) nameActions(answers []actions.Token) {
	loose := func(a actions.Token) bool {
		return a.Data != nil && (a.Action == "" || a.Action == actions.Continue || a.Action == actions.Submit)
	}
	if !slices.ContainsFunc(answers, loose) {
		return
	}
	detail, err := c.server.whole.Open(c.r.Context(), c.r.PathValue("id"))
	if err != nil {
		return // which the answer will be refused for
	}
	for i, a := range answers {
		for _, q := range detail.Questions {
			asked := q.ID == a.InterruptID || q.Address == a.InterruptID || a.InterruptID == "" && len(detail.Questions) == 1
			takes := takesData(q.Kind)
			if asked && loose(a) && takes != "" && !slices.Contains(actions.Allowed(q.Question), cmp.Or(a.Action, actions.Continue)) {
				answers[i].Action = takes
			}
		}
	}
}

// takesData is the action with which a question of a kind takes what it asks for, "" where there are several.
func takesData(kind actions.Kind) actions.Action {
	switch kind {
	case actions.Text:
		return actions.TextInput
	case actions.Choice:
		return actions.Choose
	case actions.EditKind:
		return actions.Edit
	case actions.Conversation:
		return actions.Reply
	}
	return ""
}
