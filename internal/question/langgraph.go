package question

import (
	"encoding/json"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// humanInterrupt is LangGraph's HumanInterrupt, alone or in a list, as Agent Inbox shows it.
type humanInterrupt struct{ calls }

func readHumanInterrupt(p payload) (asked, bool) {
	var x humanInterrupt
	for _, o := range p.objects() {
		request, config := o.object("action_request"), o.object("config")
		c := call{name: request.text("action"), args: request.raw("args"), description: o.text("description")}
		if c.name == "" || !request.has("args") {
			return nil, false
		}
		for _, allow := range []struct {
			key    string
			action actions.Action
		}{{"allow_accept", actions.Approve}, {"allow_edit", actions.Edit}, {"allow_respond", actions.Respond}, {"allow_ignore", actions.Skip}} {
			var yes bool
			if raw := config.raw(allow.key); raw != nil && json.Unmarshal(raw, &yes) != nil {
				return nil, false
			}
			if yes {
				c.verdicts = append(c.verdicts, allow.action)
			}
		}
		if len(c.verdicts) == 0 {
			return nil, false
		}
		c.context = append(append(request.rest(), config.rest()...), o.rest()...)
		x.calls = append(x.calls, c)
	}
	return x, len(x.calls) > 0
}

func (x humanInterrupt) answer(given Given) (any, error) {
	verdicts, err := x.decide(given)
	if err != nil {
		return nil, err
	}
	out := make([]list, len(verdicts))
	for i, v := range verdicts {
		switch v.action {
		case actions.Approve:
			out[i] = list{{"type", "accept"}, {"args", nil}}
		case actions.Edit:
			out[i] = list{{"type", "edit"}, {"args", list{{"action", x.calls[i].name}, {"args", v.args}}}}
		case actions.Respond:
			out[i] = list{{"type", "response"}, {"args", v.message}}
		default:
			out[i] = list{{"type", "ignore"}, {"args", nil}}
		}
	}
	return out, nil
}
