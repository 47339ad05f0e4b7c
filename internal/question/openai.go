package question

import (
	"encoding/json"
	"slices"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// approvals is OpenAI Agents' tool approval items: one, or the list of a run's interruptions.
type approvals struct {
	calls
	items []approvalItem
	many  bool // they came as a list, and so does the answer
}

// approvalItem is what an item's answer must name.
type approvalItem struct {
	id     string
	hosted bool // an approval request of a hosted MCP server, which has an answer of its own
}

func readApprovals(p payload) (asked, bool) {
	x := approvals{many: p.members == nil}
	for _, o := range p.objects() {
		item := o.object("raw_item", "rawItem")
		if o.text("type") != "tool_approval_item" || item.members == nil {
			return nil, false
		}
		kind := item.text("type")
		one := approvalItem{id: item.text("call_id", "callId"), hosted: kind == "mcp_approval_request" || kind == "hosted_tool_call"}
		if one.id == "" {
			one.id = item.text("id")
		}
		c := call{name: firstOf(o.text("tool_name", "toolName"), item.text("name"), kind), verdicts: []actions.Action{actions.Approve, actions.Reject}}
		item.drop("id", "name", "type", "status")
		if c.args = argumentsOf(item); c.args == nil {
			c.args = must(rest(item))
		} else {
			c.context = item.rest()
		}
		if one.id == "" || c.name == "" {
			return nil, false
		}
		o.drop("tool_lookup_key", "_allow_bare_name_alias")
		c.context = slices.Concat(agentOf(o), c.context, o.rest())
		x.calls, x.items = append(x.calls, c), append(x.items, one)
	}
	return x, len(x.calls) > 0
}

// argumentsOf is the arguments of a call, which are JSON within a text; nil when it has none.
func argumentsOf(item *object) json.RawMessage {
	raw := item.raw("arguments")
	var text string
	if raw == nil || json.Unmarshal(raw, &text) != nil {
		return raw
	}
	if inner := json.RawMessage(text); json.Valid(inner) && text != "" {
		return inner
	}
	return raw
}

// rest is the members that were not read as one object: what shell and patch calls hold.
func rest(o *object) list {
	out := list{}
	for _, x := range o.rest() {
		out = append(out, entry{x.Label, x.Value})
	}
	return out
}

// agentOf is the agent of an item: its name alone, or an object with it.
func agentOf(o *object) []actions.Labelled {
	if name := o.text("agent"); name != "" {
		return labelText("agent", name)
	}
	agent := o.object("agent")
	return append(labelText("agent", agent.text("name")), agent.restOf("agent")...)
}

func (x approvals) answer(given Given) (any, error) {
	verdicts, err := x.decide(given)
	if err != nil {
		return nil, err
	}
	out := make([]list, len(verdicts))
	for i, v := range verdicts {
		approved := v.action == actions.Approve
		if x.items[i].hosted {
			out[i] = list{{"type", "mcp_approval_response"}, {"approval_request_id", x.items[i].id}, {"approve", approved}}.with("reason", v.message)
			continue
		}
		out[i] = list{{"call_id", x.items[i].id}, {"approve", approved}}
		if !approved {
			out[i] = out[i].with("rejection_message", v.message)
		}
	}
	if x.many {
		return out, nil
	}
	return out[0], nil
}
