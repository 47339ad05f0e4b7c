package desk

import (
	"fmt"
	"slices"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// PartAt is part i, from 1, of a question with several as a question by itself: its choices are the verdicts that it takes,
// and what can only be done with all parts together.
func (q Question) PartAt(i int) Question {
	part := q
	part.Question, part.Part, part.Of = q.Parts[i-1], i, &q
	part.Former, part.FormerAction, part.FormerValue, part.Feedback = nil, "", nil, ""
	if q.Unmasked != nil {
		whole := q.Unmasked.PartAt(i)
		part.Unmasked = &whole
	}
	part.Choices = make([]Choice, len(q.Choices))
	for n, c := range q.Choices {
		blocked := actions.Blocked(part.Whole().Question, c.Action)
		_, refused := blocked.(*actions.NotAllowedError)
		switch {
		case blocked == nil:
			c.Allowed, c.Why, c.Leads = true, "", fmt.Sprintf("verdict %d of %d", i, len(q.Parts))
			c.NeedsComment = slices.Contains(part.RequireComment, c.Action)
		case !refused:
			c.Allowed, c.Why = false, blocked.Error()
		case c.Action == actions.Approve || c.Action == actions.Reject || c.Action == actions.Skip || c.Action == actions.Respond || c.Action == actions.Edit:
			c.Allowed, c.Why = false, "not allowed for this part"
		}
		part.Choices[n] = c
	}
	return part
}
