package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/workflow/lang"
)

// Agent is one of AgentMap's agents that works without a model. Its output is {result, success}.
type Agent struct {
	Name     string // of the node
	Type     string
	Prompt   string
	In       []Named
	Settings engine.Value // an object, or null
}

// work is what an agent of a type does. An error is what went wrong with what it was to do, and no failure of the node.
type agentWork func(ctx context.Context, a *agentCall) (result any, success bool, err error)

func agentWorks() map[string]agentWork {
	return map[string]agentWork{
		"branching": branch, "summary": summarise, "orchestrator": orchestrate,
		"csv_reader": storage(readCSV), "csv_writer": storage(writeCSV),
		"json_reader": storage(readJSON), "json_writer": storage(writeJSON),
		"file_reader": storage(readText), "file_writer": storage(writeText),
	}
}

// Agents are the types of agents.
func Agents() []string {
	return []string{"branching", "summary", "orchestrator", "csv_reader", "csv_writer", "json_reader", "json_writer", "file_reader", "file_writer"}
}

// Check says what is wrong with the settings.
func (n *Agent) Check() error {
	if n.Settings.IsNull() {
		return nil
	}
	settings, ok := n.Settings.Any().(map[string]any)
	if !ok {
		return errors.New("must be an object")
	}
	if mode, given := settings["mode"]; given && strings.HasSuffix(n.Type, "_writer") {
		if _, err := modeOf(mode); err != nil {
			return err
		}
	}
	return nil
}

// Run implements engine.Runner.
func (n *Agent) Run(ctx context.Context, call *engine.Call) (engine.Result, error) {
	work := agentWorks()[n.Type]
	if work == nil {
		return engine.Result{}, engine.Permanent(fmt.Errorf("agent: there is no %q", n.Type))
	}
	scope := newScope(call)
	a := &agentCall{Agent: n, workdir: call.Workdir, in: map[string]any{}}
	a.settings, _ = n.Settings.Any().(map[string]any)
	for _, x := range n.In {
		v, err := scope.eval("in."+x.Name, x.Expr)
		if err != nil {
			return engine.Result{}, engine.Permanent(err)
		}
		a.in[x.Name] = v.Any()
		a.order = append(a.order, x.Name)
	}
	result, success, err := work(ctx, a)
	if err != nil {
		return engine.Result{}, err
	}
	v, err := engine.ValueOf(map[string]any{"result": result, "success": success})
	if err != nil {
		return engine.Result{}, engine.Permanent(fmt.Errorf("the result is no JSON: %w", err))
	}
	return engine.Result{Output: v}, nil
}

// agentCall is one run of an agent.
type agentCall struct {
	*Agent
	workdir  string
	in       map[string]any
	order    []string // of in
	settings map[string]any
}

// text is a setting that is a text, else otherwise.
func (a *agentCall) text(name, otherwise string) string {
	if s, ok := a.settings[name].(string); ok {
		return s
	}
	return otherwise
}

// given is the first input of some names that is not null.
func (a *agentCall) given(names ...string) any {
	for _, name := range names {
		if v := a.in[name]; v != nil {
			return v
		}
	}
	return nil
}

// shown is a value as a text has it: nothing for null.
func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	}
	raw, err := marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(raw)
}

// branch succeeds or fails by a field.
func branch(_ context.Context, a *agentCall) (any, bool, error) {
	primary := "success"
	if len(a.order) > 0 {
		primary = a.order[0]
	}
	primary = a.text("success_field", primary)
	fields := append([]string{primary}, texts(a.settings["fallback_fields"], []string{"should_succeed", "succeed", "branch", "input"})...)
	success, _ := a.settings["default_result"].(bool)
	if _, given := a.settings["default_result"]; !given {
		success = true
	}
	said := "BRANCH: " + a.Name + " will "
	reason := fmt.Sprintf(" using default behavior (no '%s' field found)", primary)
	for _, field := range fields {
		if value, ok := a.in[field]; ok {
			success = a.judge(value, success)
			reason = fmt.Sprintf(" based on '%s' = %s", field, shown(value))
			break
		}
	}
	if success {
		said += "SUCCEED"
	} else {
		said += "FAIL"
	}
	if len(a.order) > 0 {
		parts := make([]string, len(a.order))
		for i, name := range a.order {
			parts[i] = name + "=" + shown(a.in[name])
		}
		said += reason + " [inputs: " + strings.Join(parts, ", ") + "]"
	}
	if a.Prompt != "" {
		said += " with prompt: '" + a.Prompt + "'"
	}
	if success {
		return said + " (Will trigger SUCCESS branch)", true, nil
	}
	return said + " (Will trigger FAILURE branch)", false, nil
}

// judge says whether a value means success. Texts match in any case.
func (a *agentCall) judge(value any, otherwise bool) bool {
	succeeds := listOf(a.settings["success_values"], []any{true, "true", "yes", "success", "succeed", "1", "t", "y"})
	fails := listOf(a.settings["failure_values"], []any{false, "false", "no", "failure", "fail", "0", "f", "n"})
	switch {
	case holds(succeeds, value):
		return true
	case holds(fails, value):
		return false
	}
	switch v := value.(type) {
	case bool:
		return v
	case int:
		return v != 0
	case float64:
		return v != 0
	}
	return otherwise
}

// holds reports whether a list has a value: a text in any case, a number whatever its type.
func holds(list []any, value any) bool {
	return slices.ContainsFunc(list, func(x any) bool {
		a, isText := x.(string)
		b, also := value.(string)
		if isText || also {
			return isText && also && strings.EqualFold(strings.TrimSpace(a), strings.TrimSpace(b))
		}
		one, errOne := json.Marshal(x)
		other, errOther := json.Marshal(value)
		return errOne == nil && errOther == nil && string(one) == string(other)
	})
}

func listOf(v any, otherwise []any) []any {
	if list, ok := v.([]any); ok {
		return list
	}
	return otherwise
}

func texts(v any, otherwise []string) []string {
	list, ok := v.([]any)
	if !ok {
		return otherwise
	}
	var out []string
	for _, item := range list {
		if s, ok := item.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// summarise joins its inputs, without those that are null.
func summarise(_ context.Context, a *agentCall) (any, bool, error) {
	format, separator := a.text("format", "{key}: {value}"), a.text("separator", "\n\n")
	keys, given := a.settings["include_keys"].(bool)
	var parts []string
	size := 0
	for _, name := range a.order {
		value := a.in[name]
		if value == nil {
			continue
		}
		part := shown(value)
		if keys || !given {
			part = strings.NewReplacer("{key}", name, "{value}", part).Replace(format)
		}
		if size += len(part) + len(separator); size > lang.MaxText {
			return nil, false, engine.Permanent(fmt.Errorf("the text grows beyond %d MiB", lang.MaxText>>20))
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, separator), true, nil
}

// orchestrate picks a node: the first whose name is in the text, else the one of whose prompt or description most words
// are, else default_target, else the first.
func orchestrate(_ context.Context, a *agentCall) (any, bool, error) {
	nodes := orderedObject(a.Settings.JSON(), "nodes")
	if len(nodes) == 0 {
		return nil, false, engine.Permanent(errors.New("orchestrator: there is no node to pick"))
	}
	text := strings.ToLower(a.question())
	best, most := a.text("default_target", nodes[0].key), 0.0
	for _, n := range nodes {
		if strings.Contains(text, strings.ToLower(n.key)) {
			return n.key, true, nil
		}
		var about struct{ Intent, Prompt, Description string }
		if json.Unmarshal(n.value, &about) != nil {
			continue
		}
		for _, words := range []string{about.Intent, about.Prompt, about.Description} {
			if score := overlap(strings.Fields(strings.ToLower(words)), text); score > most {
				best, most = n.key, score
			}
		}
	}
	return best, true, nil
}

func overlap(words []string, text string) float64 {
	found := 0
	for _, word := range words {
		if strings.Contains(text, word) {
			found++
		}
	}
	return float64(found) / float64(max(len(words), 1))
}

// question is the text by which an orchestrator picks: its second input or else its first, as the first may hold nodes.
func (a *agentCall) question() string {
	if len(a.order) > 1 {
		for _, name := range a.order[1:] {
			if a.in[name] != nil {
				return shown(a.in[name])
			}
		}
	}
	if v := a.given(append(slices.Clone(a.order), "input", "query", "text", "message", "user_input")...); v != nil {
		return shown(v)
	}
	return ""
}

// pair is a member of an object, in its order.
type pair struct {
	key   string
	value json.RawMessage
}

// orderedObject are the members of an object within an object.
func orderedObject(raw json.RawMessage, name string) []pair {
	var whole map[string]json.RawMessage
	if json.Unmarshal(raw, &whole) != nil {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(string(whole[name])))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var list []pair
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return list
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return list
		}
		list = append(list, pair{fmt.Sprint(key), value})
	}
	return list
}
