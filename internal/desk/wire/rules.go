package wire

import "github.com/hitl-tui/hitl-tui/internal/desk"

// RuleTrial is what a rule would make of an open question.
type RuleTrial struct {
	Rule     string  `json:"rule"`
	Action   string  `json:"action"`
	Thread   string  `json:"thread_id"`
	Question string  `json:"interrupt_id"`
	Address  string  `json:"address"`
	Title    string  `json:"title"`
	Leaves   *string `json:"leaves_to_people"` // why; null when the rule would answer
}

// RuleTrials is what the rules would answer now.
func RuleTrials(trials []desk.RuleTrial) []RuleTrial {
	all := make([]RuleTrial, len(trials))
	for i, x := range trials {
		q := x.Question
		all[i] = RuleTrial{Rule: x.Rule, Action: x.Action, Thread: q.Thread, Question: q.ID, Address: q.Address, Title: q.Title, Leaves: text(x.Why)}
	}
	return all
}
