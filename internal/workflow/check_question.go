package workflow

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/engine"
)

// allowed are the actions the question allows.
func (q *question) allowed() []actions.Action {
	return actions.Allowed(actions.Question{Kind: actions.Kind(q.kind.text), Actions: q.actions.actions()})
}

// completes reports whether an answer with a completes the node that asked, when a has no route.
func completes(a actions.Action) bool {
	switch a {
	case actions.Reject, actions.Cancel, actions.Retry, actions.Reply, actions.Stop:
		return false
	}
	return true
}

// called is how messages about actions call the question.
func (q *question) called(n *nodeDef) string {
	if q.name == "" {
		return fmt.Sprintf("node %q", n.name)
	}
	return fmt.Sprintf("question %q", q.name)
}

func (b *builder) checkQuestion(n *nodeDef, q *question) {
	if q.kind.text == "" {
		return
	}
	for _, w := range q.requireComment.words {
		b.checkAllowed(n, q, "require_comment", w.text, w.at)
	}
	b.checkDefault(n, q)
	b.checkWriteBack(n, q)
	if q.kind.text == string(actions.Conversation) && q.content.given() && !b.appends(q.content.v.text) {
		b.fault(q.content.v.at, "content of a conversation must be a state key with the reducer append, as in state: {talk: append}")
	}
	if q.multiple.on && !q.options.given {
		b.fault(q.at, "%s: multiple needs options", q.called(n))
	}
	if !n.doubtful && slices.Contains(q.allowed(), actions.Choose) && !q.options.given && q.kind.text != string(actions.Choice) {
		b.fault(q.at, "%s allows choose and has no options", q.called(n))
	}
}

// appends reports whether a key is a list to which is added, as far as the file can be read.
func (b *builder) appends(key string) bool {
	reducer, given := b.channels[key]
	return given && (reducer == engine.Append || !slices.Contains(reducerNames(), string(reducer)))
}

func (b *builder) checkAllowed(n *nodeDef, q *question, key, action string, at position) bool {
	allowed := q.allowed()
	if slices.Contains(allowed, actions.Action(action)) || n.doubtful {
		return true
	}
	b.fault(at, "%s: %s does not allow %q (it allows %s)", key, q.called(n), action, strings.Join(texts(allowed), ", "))
	return false
}

// checkActionRoute reports a route by an action that no question of the node allows.
func (b *builder) checkActionRoute(n *nodeDef, name *value) {
	action, all := actions.Action(name.text), actions.All()
	if !slices.Contains(all, action) {
		b.fault(name.at, "unknown action %q%s", name.text, b.didYouMean(name.text, texts(all)))
		return
	}
	if action == actions.Stop {
		b.fault(name.at, "routes: stop ends the thread and cannot be routed")
		return
	}
	var allowed []actions.Action
	for _, q := range n.asks() {
		if q.kind.text == "" {
			return
		}
		for _, a := range q.allowed() {
			if !slices.Contains(allowed, a) {
				allowed = append(allowed, a)
			}
		}
	}
	if !slices.Contains(allowed, action) && !n.doubtful {
		b.fault(name.at, "routes: node %q does not allow %q (it allows %s)", n.name, action, strings.Join(texts(allowed), ", "))
	}
}

// checkDefault reports an answer that the deadline could not give.
func (b *builder) checkDefault(n *nodeDef, q *question) {
	action := actions.Action(q.defaultAction.text)
	if action == "" {
		if q.defaultData.v != nil {
			b.fault(q.defaultData.v.at, "default_data needs default_action")
		}
		return
	}
	if !q.timeout.given && !n.doubtful {
		b.fault(q.defaultAction.v.at, "default_action needs timeout")
	}
	if !b.checkAllowed(n, q, "default_action", string(action), q.defaultAction.v.at) {
		return
	}
	info, _ := actions.Describe(action)
	var data json.RawMessage
	if q.defaultData.v != nil {
		data = b.rawQuietly(q.defaultData.v)
	} else if q.defaultData.given {
		return // it is no JSON, which has been reported
	} else if slices.Contains([]actions.Data{actions.RequiredText, actions.Option, actions.Content, actions.Form}, info.Data) {
		b.fault(q.defaultAction.v.at, "default_action %s needs default_data", action)
		return
	}
	asked, known := b.literalQuestion(q, info.Data, data)
	if !known || n.doubtful {
		return
	}
	var schema *actions.SchemaError // reported where it stands
	if _, err := actions.Validate(asked, action, data); err != nil && !errors.As(err, &schema) {
		at := q.defaultAction.v.at
		if q.defaultData.v != nil {
			at = q.defaultData.v.at
		}
		var bad *actions.DataError
		if errors.As(err, &bad) {
			err = &actions.DataError{Problems: bad.Problems}
		}
		b.fault(at, "default_data does not fit default_action %s: %v", action, err)
	}
}

// literalQuestion is the question as far as the file itself says it; not known where what the data must fit comes
// from the state.
func (b *builder) literalQuestion(q *question, takes actions.Data, data json.RawMessage) (asked actions.Question, known bool) {
	asked = actions.Question{Kind: actions.Kind(q.kind.text), Multiple: q.multiple.on, Actions: q.actions.actions(), RequireComment: q.requireComment.actions()}
	switch takes {
	case actions.Option:
		for _, o := range q.options.list {
			item := actions.OptionItem{Value: b.rawQuietly(o.value.v)}
			if o.label.given() {
				item.Label = o.label.v.text
			}
			asked.Options = append(asked.Options, item)
		}
		return asked, len(asked.Options) > 0
	case actions.Content, actions.OptionalContent:
		asked.Content = data // the real one comes from the state: all that is certain now is the schema
	}
	if q.schema.expr.given() {
		return asked, takes == actions.NoData || takes == actions.OptionalText
	}
	if q.schema.literal != nil {
		asked.Schema = b.rawQuietly(q.schema.literal)
	}
	return asked, true
}

// rawQuietly is toRaw for a value whose faults are reported elsewhere.
func (b *builder) rawQuietly(v *value) json.RawMessage {
	before := len(b.faults)
	raw := b.toRaw(v)
	b.faults = b.faults[:before]
	return raw
}

// checkWriteBack reports edited content that nothing would keep.
func (b *builder) checkWriteBack(n *nodeDef, q *question) {
	allowed := q.allowed()
	if !slices.Contains(allowed, actions.Edit) && !slices.Contains(allowed, actions.Save) || n.output.given() || n.doubtful {
		return
	}
	if q.content.given() {
		if name := strings.TrimSpace(q.content.v.text); identifier.MatchString(name) && (b.keys[name] || !b.known(name)) {
			return // a state key; or an unknown name, which is reported as such
		}
	}
	at := q.at
	if q.content.given() {
		at = q.content.v.at
	}
	b.fault(at, "an edit has nowhere to go: content must be a state key, or output must name one")
}
