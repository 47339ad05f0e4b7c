package question

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/nearest"
)

// Check reports every reason for which q cannot be asked, or could not be answered: what its kind lacks, a schema
// that is none, a default answer that would be refused. A question whose content is in a state key is checked as far
// as that can be done without it.
func Check(q actions.Question) []error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }

	if !slices.Contains(actions.Kinds(), q.Kind) {
		fault("kind is required: one of %s", strings.Join(kindNames(), ", "))
		return faults
	}
	if strings.TrimSpace(q.Message) == "" && q.Kind != actions.Conversation && q.Kind != actions.Suspend {
		fault("message is required for %s", q.Kind)
	}
	faults = append(faults, checkKind(q)...)
	if len(q.Schema) > 0 {
		if _, err := actions.CompileSchema(q.Schema); err != nil {
			fault("schema: %w", err)
		}
	}
	allowed := actions.Allowed(q)
	for _, a := range q.RequireComment {
		if !slices.Contains(allowed, a) {
			fault("require_comment: %w", &actions.NotAllowedError{Action: a, Allowed: allowed})
		}
	}
	if types := contentTypes(); q.ContentType != "" && !slices.Contains(types, q.ContentType) && !strings.HasPrefix(q.ContentType, "code/") {
		fault("unknown content_type %q%s (the types are %s and code/LANGUAGE)", q.ContentType, nearest.Hint(q.ContentType, types), strings.Join(types, ", "))
	}
	if p := q.Priority; p != "" && !slices.Contains([]string{"low", "normal", "high", "urgent"}, p) {
		fault("priority must be low, normal, high or urgent, not %q", p)
	}
	if len(faults) == 0 {
		faults = append(faults, checkDefault(q)...)
	}
	return faults
}

func contentTypes() []string { return []string{"text", "markdown", "diff", "json", "table"} }

func checkKind(q actions.Question) []error {
	hasContent := len(q.Content) > 0 || q.ContentKey != ""
	switch q.Kind {
	case actions.Choice:
		if len(q.Options) == 0 {
			return []error{errors.New("options are required for choice")}
		}
	case actions.EditKind:
		if !hasContent {
			return []error{errors.New("content is required for edit")}
		}
	case actions.FormKind:
		if len(q.Schema) == 0 {
			return []error{errors.New("schema is required for form")}
		}
	case actions.Conversation:
		if !hasContent {
			return []error{errors.New("content is required for conversation: the list of messages")}
		}
		var messages []json.RawMessage
		if q.ContentKey == "" && json.Unmarshal(q.Content, &messages) != nil {
			return []error{errors.New("the content of a conversation must be a list of messages")}
		}
	}
	return nil
}

func checkDefault(q actions.Question) []error {
	switch {
	case q.DefaultAction == "" && len(q.DefaultData) > 0:
		return []error{errors.New("default_data needs default_action")}
	case q.DefaultAction == "":
		return nil
	case q.TimeoutMS <= 0 && q.Deadline == nil:
		return []error{errors.New("default_action needs timeout")}
	}
	if q.ContentKey != "" && len(q.Content) == 0 && (q.DefaultAction == actions.Edit || q.DefaultAction == actions.Save) {
		return nil // held against the content, which is not known yet
	}
	if _, err := actions.Validate(q, q.DefaultAction, q.DefaultData); err != nil {
		if len(q.DefaultData) == 0 {
			return []error{fmt.Errorf("default_action %s needs default_data: %w", q.DefaultAction, err)}
		}
		return []error{fmt.Errorf("default_data: %w", err)}
	}
	return nil
}
