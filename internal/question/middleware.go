package question

import (
	"encoding/json"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// hitlRequest is the HITLRequest of LangChain's human-in-the-loop middleware, also as it was before its release.
type hitlRequest struct {
	calls
	argsKey string // args, before the release arguments
}

// reviewConfig says what may be decided about the calls of one tool.
type reviewConfig struct {
	name, description string
	verdicts          []actions.Action
	schema            json.RawMessage
	context           []actions.Labelled
}

func readHITLRequest(p payload) (asked, bool) {
	o := p.object()
	requests, configs := o.list("action_requests"), reviewConfigs(o.list("review_configs"))
	if len(requests) == 0 || configs == nil {
		return nil, false
	}
	x := hitlRequest{argsKey: "args"}
	for i, raw := range requests {
		r := objectIn(raw)
		c := call{name: firstOf(r.text("name"), r.text("action")), description: r.text("description")}
		if r.has("arguments") && !r.has("args") {
			x.argsKey = "arguments"
		}
		c.args = r.raw(x.argsKey)
		config, ok := configFor(configs, c.name, i)
		if c.name == "" || !ok || !isObject(orNull(c.args)) {
			return nil, false
		}
		c.description = firstOf(c.description, config.description)
		c.verdicts, c.schema, c.context = config.verdicts, config.schema, append(r.rest(), config.context...)
		x.calls = append(x.calls, c)
	}
	if rest := o.rest(); len(rest) > 0 {
		x.calls[0].context = append(x.calls[0].context, rest...)
	}
	return x, true
}

// reviewConfigs is nil when one of them cannot be understood.
func reviewConfigs(list []json.RawMessage) []reviewConfig {
	var out []reviewConfig
	for _, raw := range list {
		o := objectIn(raw)
		c := reviewConfig{name: o.text("action_name"), description: o.text("description")}
		for _, item := range o.list("allowed_decisions") {
			a := actions.Action(textIn(item))
			switch a {
			case actions.Approve, actions.Edit, actions.Reject, actions.Respond:
				c.verdicts = append(c.verdicts, a)
			default:
				return nil
			}
		}
		if len(c.verdicts) == 0 {
			return nil
		}
		given := o.raw("args_schema", "arguments_schema")
		if c.schema = lenient(given); c.schema == nil {
			c.context = label("args_schema", given)
		}
		c.context = append(c.context, o.rest()...)
		out = append(out, c)
	}
	return out
}

// configFor finds the config of a call: by the name of the tool, else, where the config has none, by place.
func configFor(all []reviewConfig, name string, i int) (reviewConfig, bool) {
	for _, c := range all {
		if c.name == name {
			return c, true
		}
	}
	if i < len(all) && all[i].name == "" {
		return all[i], true
	}
	return reviewConfig{}, false
}

func (x hitlRequest) answer(given Given) (any, error) {
	verdicts, err := x.decide(given)
	if err != nil {
		return nil, err
	}
	decisions := make([]list, len(verdicts))
	for i, v := range verdicts {
		out := list{{"type", string(v.action)}}
		switch v.action {
		case actions.Edit:
			out = append(out, entry{"edited_action", list{{"name", x.calls[i].name}, {x.argsKey, v.args}}})
		case actions.Reject:
			out = out.with("message", v.message)
		case actions.Respond:
			out = append(out, entry{"message", v.message})
		}
		decisions[i] = out
	}
	return list{{"decisions", decisions}}, nil
}
