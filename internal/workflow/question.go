package workflow

import (
	"fmt"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// question is one question as a file writes it, alone or under questions.
type question struct {
	name           string // "" when it is its node's only one
	at             position
	kind           wordT
	title          textT
	message        textT
	content        exprT
	contentType    contentTypeT
	context        contextT
	options        optionsT
	multiple       boolT
	schema         schemaT
	prefill        exprT
	actions        actionList
	requireComment actionList
	timeout        durationT
	defaultAction  wordT
	defaultData    jsonT
	peopleOnly     boolT
	assignee       textT
	group          textT
	priority       priorityT
}

func newQuestion(name string, at position) *question {
	return &question{name: name, at: at,
		kind:           wordT{what: "kind of question", words: questionKindNames()},
		actions:        newActionList(),
		requireComment: newActionList(),
		defaultAction:  wordT{what: "action", words: actionNames()},
	}
}

// questionKeys are the keys of a question but for its kind.
func questionKeys() []key[question] {
	return []key[question]{
		{"title", false, "template: headline in lists (first line of the message)", func(q *question) place { return &q.title }},
		{"message", false, "template: what is asked, in markdown", func(q *question) place { return &q.message }},
		{"content", false, "expression: what is under review; a plain state key is written back by edit and save", func(q *question) place { return &q.content }},
		{"content_type", false, "text, markdown, diff, json, table or code/LANG (text for a text, else json)", func(q *question) place { return &q.contentType }},
		{"context", false, "label: expression, shown beside the content", func(q *question) place { return &q.context }},
		{"options", false, "what can be chosen: texts, {value, label, description}, or an expression", func(q *question) place { return &q.options }},
		{"multiple", false, "true: one or more options, a list (false)", func(q *question) place { return &q.multiple }},
		{"schema", false, "JSON Schema of the value or of the edited content, or an expression that makes one", func(q *question) place { return &q.schema }},
		{"prefill", false, "expression: what the editor starts with", func(q *question) place { return &q.prefill }},
		{"actions", false, "exactly the actions allowed (those usual for the kind)", func(q *question) place { return &q.actions }},
		{"require_comment", false, "actions that need a comment", func(q *question) place { return &q.requireComment }},
		{"timeout", false, "time for an answer; without default_action the question is then marked overdue", func(q *question) place { return &q.timeout }},
		{"default_action", false, "the answer given when the time is over", func(q *question) place { return &q.defaultAction }},
		{"default_data", false, "data of that answer, plain JSON", func(q *question) place { return &q.defaultData }},
		{"people_only", false, "true: no rule may answer (false)", func(q *question) place { return &q.peopleOnly }},
		{"assignee", false, "template: who should answer; for lists and filters, no lock", func(q *question) place { return &q.assignee }},
		{"group", false, "template: which group should answer", func(q *question) place { return &q.group }},
		{"priority", false, "template: low, normal, high or urgent (normal)", func(q *question) place { return &q.priority }},
	}
}

// namedQuestionKeys are the keys of an entry of questions.
func namedQuestionKeys() []key[question] {
	kind := key[question]{"human", true, "kind of question", func(q *question) place { return &q.kind }}
	return append([]key[question]{kind}, questionKeys()...)
}

func (q *question) owner(node string) string {
	if q.name == "" {
		return fmt.Sprintf("node %q (%s)", node, q.kind.text)
	}
	return fmt.Sprintf("question %q", q.name)
}

// readQuestion reads an entry of questions.
func (r *reader) readQuestion(q *question, v *value) {
	readKeys(r, namedQuestionKeys(), q, v, q.owner(""), routesHint)
}

// needs says what a question of each kind must have.
var needs = map[actions.Kind][]string{
	actions.Approval:     {"message"},
	actions.Choice:       {"message", "options"},
	actions.Text:         {"message"},
	actions.EditKind:     {"message", "content"},
	actions.FormKind:     {"message", "schema"},
	actions.Conversation: {"content"},
}

// checkNeeds reports what the question's kind needs and it does not have.
func (r *reader) checkNeeds(q *question, node string) {
	if q.kind.text == "" {
		return
	}
	has := map[string]bool{"message": q.message.given(), "options": q.options.given, "content": q.content.given(), "schema": q.schema.given}
	for _, k := range needs[actions.Kind(q.kind.text)] {
		if !has[k] {
			r.fault(q.at, "%s: a question of kind %s needs %s", q.owner(node), q.kind.text, k)
		}
	}
}

func questionKindNames() []string {
	return texts(actions.Kinds())
}

func actionNames() []string { return texts(actions.All()) }

func texts[T ~string](list []T) []string {
	out := make([]string, len(list))
	for i, x := range list {
		out[i] = string(x)
	}
	return out
}
