package actions

import (
	"slices"
	"strings"
)

// Table is the row of every action, in the order in which every list shows them.
func Table() []Info {
	return []Info{
		{Approve, "a", OptionalText, "Approve", "the node completes and the flow goes on", "approved"},
		{Reject, "r", OptionalText, "Reject", "takes the failure route, or ends the thread as rejected", "rejected"},
		{Choose, "c", Option, "Choose", "the node completes with the option's value", "chosen"},
		{Respond, "m", RequiredText, "Respond", "the node completes with your text", "answered"},
		{Edit, "e", Content, "Edit", "the edited content takes the place of the original and the flow goes on", "edited"},
		{Continue, "o", AnyJSON, "Go on", "the node completes, with any data you give", "continued"},
		{Stop, "X", OptionalText, "Stop", "the thread ends as stopped and nothing further runs", "stopped"},
		{Retry, "t", OptionalText, "Retry", "runs again, with your feedback, and may ask again", "sent back"},
		{Skip, "S", NoData, "Skip", "the node completes without output and the flow goes on", "skipped"},
		{Submit, "s", Form, "Submit", "the node completes with the form", "submitted"},
		{Cancel, "x", OptionalText, "Cancel", "withdraws the question: the failure route, or the thread ends as cancelled", "cancelled"},
		{TextInput, "i", AnyText, "Enter text", "the node completes with your text, which may be empty", "entered"},
		{Save, "w", OptionalContent, "Save", "stores the content, completes the question and the flow goes on", "saved"},
		{Reply, "p", RequiredText, "Reply", "adds your text to the conversation; the node runs again", "replied"},
		{End, "E", OptionalText, "End", "closes the conversation; the node completes with the transcript", "ended"},
	}
}

// All is the fifteen actions in the order of Table.
func All() []Action {
	table := Table()
	all := make([]Action, len(table))
	for i, row := range table {
		all[i] = row.Action
	}
	return all
}

// Describe is the row of a in Table, and false when a is not one of the fifteen.
func Describe(a Action) (Info, bool) {
	for _, row := range Table() {
		if row.Action == a {
			return row, true
		}
	}
	return Info{}, false
}

// Parse reads the name of an action without regard to case. Any other name is an *UnknownError.
func Parse(name string) (Action, error) {
	a := Action(strings.ToLower(name))
	if _, ok := Describe(a); !ok {
		return "", &UnknownError{Name: name}
	}
	return a, nil
}

// Kinds is the seven kinds of question a workflow file can ask.
func Kinds() []Kind {
	return []Kind{Approval, Choice, Text, EditKind, FormKind, Conversation, Suspend}
}

// Defaults is the actions a question of this kind allows when it lists none. The sets hold nothing that lets a gate
// be passed unanswered. Unknown, and any kind that is none of the seven, allows all fifteen.
func Defaults(kind Kind) []Action {
	switch kind {
	case Approval:
		return []Action{Approve, Reject, Retry, Stop, Cancel}
	case Choice:
		return []Action{Choose, Retry, Stop, Cancel}
	case Text:
		return []Action{TextInput, Respond, Stop, Cancel}
	case EditKind:
		return []Action{Edit, Save, Approve, Retry, Stop, Cancel}
	case FormKind:
		return []Action{Submit, Stop, Cancel}
	case Conversation:
		return []Action{Reply, End, Stop, Cancel}
	case Suspend:
		return []Action{Continue, Retry, Stop, Cancel}
	default:
		return All()
	}
}

// Allowed is the actions that q allows, in the order in which q or its kind lists them.
func Allowed(q Question) []Action {
	if len(q.Actions) > 0 {
		return slices.Clone(q.Actions)
	}
	return Defaults(q.Kind)
}
