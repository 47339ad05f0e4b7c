package agentmap

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/nearest"
)

// interaction is one of AgentMap's types of interaction.
type interaction struct {
	kind    actions.Kind
	actions []actions.Action // beside those usual for the kind; nil: none
	make    func(t *translator, w *work, v *Value)
}

// interactions are the types by their names.
func interactions() map[string]interaction {
	return map[string]interaction{
		"approval":     {kind: actions.Approval},
		"choice":       {kind: actions.Choice, make: askChoice},
		"text_input":   {kind: actions.Text, actions: []actions.Action{actions.Retry}},
		"edit":         {kind: actions.EditKind, make: askEdit},
		"conversation": {kind: actions.Conversation, make: askConversation},
	}
}

// suspendActions are what an outside system, or a person in its place, may answer a suspend agent.
func suspendActions() []actions.Action {
	return []actions.Action{
		actions.Continue, actions.Approve, actions.Reject, actions.Respond, actions.TextInput, actions.Submit, actions.End,
		actions.Skip, actions.Retry, actions.Stop, actions.Cancel,
	}
}

// ask writes what all questions have. allowed are the actions, nil for those usual for the kind.
func (t *translator) ask(w *work, v *Value, kind actions.Kind, prompt string, allowed []actions.Action) {
	at := w.At
	if c := w.cells[Prompt].trimmed(); c.text != "" {
		at = c.at
	}
	v.put("human", text(w.At, string(kind)))
	message, _ := t.template(prompt, w.inputs)
	if message == "" {
		message = escaped(w.Name, false)
		if d := w.Cell(Description); d != "" {
			message = escaped(d, false)
		}
	}
	v.put("message", text(at, message))
	if allowed != nil {
		items := make([]*Value, len(allowed))
		for i, a := range allowed {
			items[i] = text(w.At, string(a))
		}
		v.put("actions", list(w.At, items...))
	}
}

// beside writes the values shown beside a question: inputs, and what the Context says that means nothing here.
func (t *translator) beside(w *work, v *Value, inputs []input) {
	context := mapping(w.At)
	for _, x := range inputs {
		context.put(x.param, text(x.at, x.key))
	}
	if w.context != nil {
		for _, e := range w.context.Entries {
			if !slices.Contains(settings(), e.Key.Text) && context.get(e.Key.Text) == nil {
				context.put(e.Key.Text, text(e.Value.At, e.Value.expression()))
			}
		}
	}
	if len(context.Entries) > 0 {
		v.put("context", context)
	}
}

// settings are the keys of a Context that mean something to human and suspend agents.
func settings() []string {
	return []string{
		"interaction_type", "options", "timeout_seconds", "default_option", "default_action", "actions",
		"send_suspend_message", "send_resume_message", "send_graph_message",
		"suspend_message_template", "resume_message_template", "graph_message_template",
		"suspend_message_topic", "resume_message_topic", "graph_message_topic",
	}
}

// answered writes the output and the edges of a question. A rejection or withdrawal takes Failure_Next, or ends the thread.
func (t *translator) answered(w *work, v *Value, failed ...Entry) {
	out := t.writes(w, "output")
	out.put(flag, text(w.At, "true"))
	v.put("output", out)
	t.lead(v, "then", w.edges.next())
	t.caught(w, v, w.edges.failure, failed...)
}

func makeInput(t *translator, w *work, v *Value) {
	prompt := w.prompt
	if prompt == "" {
		prompt = "Please provide input:"
	}
	t.ask(w, v, actions.Text, prompt, nil)
	t.beside(w, v, w.inputs)
	t.deadline(w, v, "text_input")
	t.answered(w, v)
}

func makeSuspend(t *translator, w *work, v *Value) {
	t.ask(w, v, actions.Suspend, w.prompt, t.allowed(w, suspendActions()))
	t.beside(w, v, w.inputs)
	t.deadline(w, v, "suspend")
	if w.context != nil {
		for _, e := range w.context.Entries {
			if strings.HasPrefix(e.Key.Text, "send_") && strings.HasSuffix(e.Key.Text, "_message") {
				t.warn(e.Key.At, "%s: no message is sent; whoever watches the thread sees the question", e.Key.Text)
			}
		}
	}
	t.answered(w, v)
}

func makeHuman(t *translator, w *work, v *Value) {
	kind := "text_input"
	var given *Value
	if w.context != nil {
		given = w.context.get("interaction_type")
	}
	all := interactions()
	if given != nil {
		if kind = strings.ToLower(strings.TrimSpace(given.Text)); given.Shape != Text || all[kind].kind == "" {
			known := []string{"approval", "choice", "text_input", "edit", "conversation"}
			hint := nearest.Hint(kind, known)
			if hint == "" {
				hint = "; known are " + strings.Join(known, ", ")
			}
			t.fault(given.At, "unknown interaction_type %q, for which AgentMap takes text_input%s", given.words(), hint)
			kind = "text_input"
		}
	}
	x := all[kind]
	var more []actions.Action
	if x.actions != nil {
		more = append(actions.Defaults(x.kind), x.actions...)
	}
	t.ask(w, v, x.kind, w.prompt, t.allowed(w, more))
	if x.make != nil {
		x.make(t, w, v)
	}
	shown := w.inputs
	switch kind {
	case "conversation":
		shown = nil
	case "edit": // the text itself is what the question is about
		if x := edited(w); x != nil {
			shown = slices.DeleteFunc(slices.Clone(shown), func(other input) bool { return other == *x })
		}
	}
	t.beside(w, v, shown)
	t.deadline(w, v, kind)
	switch {
	case kind == "conversation":
		t.lead(v, "then", w.edges.next())
		t.caught(w, v, w.edges.failure)
	case kind == "approval" && len(w.outputs) > 0:
		t.answered(w, v, Entry{text(w.At, w.outputs[0].key), bare(w.At, "false")})
	default:
		t.answered(w, v)
	}
}

// allowed are the actions that the Context lists, else usual.
func (t *translator) allowed(w *work, usual []actions.Action) []actions.Action {
	if w.context == nil {
		return usual
	}
	given := w.context.get("actions")
	if given == nil || given.Shape != List {
		return usual
	}
	var list []actions.Action
	for _, item := range given.Items {
		list = append(list, actions.Action(item.Text))
	}
	return list
}

func askChoice(t *translator, w *work, v *Value) {
	var given *Value
	if w.context != nil {
		given = w.context.get("options")
	}
	if given == nil || given.Shape != List || len(given.Items) == 0 {
		at := w.At
		if given != nil {
			at = given.At
		}
		t.fault(at, `the choice %q needs options, a list in its Context: {"interaction_type": "choice", "options": ["yes", "no"]}`, w.Name)
		given = list(at, text(at, "-"))
	}
	options := list(given.At)
	for _, item := range given.Items {
		if item.Shape == Bare {
			o := mapping(item.At)
			o.put("value", item)
			item = o
		}
		options.Items = append(options.Items, item)
	}
	v.put("options", options)
}

// edited is the input whose text is edited: the one called original, else the first; nil for none.
func edited(w *work) *input {
	if x := find(w.inputs, "original"); x != nil || len(w.inputs) == 0 {
		return x
	}
	return &w.inputs[0]
}

// askEdit shows the text to edit; the result is written to Output_Field alone.
func askEdit(t *translator, w *work, v *Value) {
	content := `""`
	if x := edited(w); x != nil {
		content = x.key + ` ?? ""`
	}
	v.put("content", text(w.At, content))
	if len(w.outputs) == 0 {
		t.fault(w.At, "the edit %q needs an Output_Field, in which the edited text is kept", w.Name)
	}
}

// askConversation keeps the messages in the output field, a list; a reply goes on to the next node, which may lead back.
func askConversation(t *translator, w *work, v *Value) {
	if len(w.outputs) == 0 {
		t.fault(w.At, "the conversation %q needs an Output_Field, in which its messages are kept", w.Name)
		return
	}
	key := w.outputs[0].key
	if !slices.Contains(t.appends, key) {
		t.appends = append(t.appends, key)
	}
	v.put("content", text(w.outputs[0].at, key))
	if next := w.edges.next(); len(next) > 0 {
		routes := mapping(w.At)
		routes.put(string(actions.Reply), t.destination(next))
		v.put("routes", routes)
	}
}

// deadline writes the timeout, and the answer that is then given.
func (t *translator) deadline(w *work, v *Value, kind string) {
	if w.context == nil {
		return
	}
	timeout := t.timeout(w.context.get("timeout_seconds"))
	action, option := w.context.get("default_action"), w.context.get("default_option")
	if timeout == nil {
		for _, x := range []*Value{action, option} {
			if x != nil && x.Text != "null" {
				t.warn(x.At, "without timeout_seconds no deadline comes, and nothing is answered by itself")
			}
		}
		return
	}
	v.put("timeout", timeout)
	var name string
	var data *Value
	switch {
	case action.isText():
		name, data = t.defaultAction(w, kind, action, option)
	case option != nil && option.Text != "null":
		name, data = t.defaultOption(kind, option)
	default:
		return
	}
	at := timeout.At
	v.put("default_action", text(at, name))
	if data != nil {
		v.put("default_data", data)
	}
}

// timeout is a number of seconds as a duration, nil for none.
func (t *translator) timeout(x *Value) *Value {
	if x == nil || x.Text == "null" || x.Text == "0" {
		return nil
	}
	seconds, err := strconv.ParseFloat(strings.TrimSpace(x.Text), 64)
	most := 100 * 365 * 24 * time.Hour
	if err != nil || x.Shape != Bare && x.Shape != Text || seconds <= 0 || seconds > most.Seconds() {
		t.fault(x.At, "timeout_seconds must be a number of seconds above 0, not %s", short(x.words()))
		return nil
	}
	return text(x.At, strconv.FormatFloat(seconds, 'f', -1, 64)+"s")
}

// defaultAction is the answer of the deadline. A word that is no action but an option is that option; any other leads to
// Failure_Next, as a withdrawal does.
func (t *translator) defaultAction(w *work, kind string, action, option *Value) (string, *Value) {
	name := strings.ToLower(strings.TrimSpace(action.Text))
	if slices.Contains(actions.All(), actions.Action(name)) {
		return name, option
	}
	if options := w.context.get("options"); kind == "choice" && options != nil {
		if slices.ContainsFunc(options.Items, func(o *Value) bool { return o.Shape == Text && o.Text == action.Text }) {
			return string(actions.Choose), action
		}
	}
	to := "the thread ends"
	if len(w.edges.failure) > 0 {
		to = "Failure_Next is taken"
	}
	t.warn(action.At, "default_action %q is no action: once the time is over, %s", action.Text, to)
	return string(actions.Cancel), nil
}

// defaultOption is the answer that a default option means.
func (t *translator) defaultOption(kind string, option *Value) (string, *Value) {
	name := strings.ToLower(option.words())
	switch kind {
	case "choice":
		return string(actions.Choose), option
	case "text_input":
		return string(actions.TextInput), option
	case "edit":
		return string(actions.Edit), option
	case "suspend":
		return string(actions.Continue), option
	}
	switch name {
	case "approve", "approved", "yes", "true":
		return string(actions.Approve), nil
	case "reject", "rejected", "no", "false":
		return string(actions.Reject), nil
	}
	if slices.Contains(actions.All(), actions.Action(name)) {
		return name, nil
	}
	t.warn(option.At, "default_option %q is no action: once the time is over the question is withdrawn", option.words())
	return string(actions.Cancel), nil
}
