package desk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/hitl-tui/hitl-tui/internal/actions"
)

// ruleReviewer begins the name under which a rule answers; no person may use it.
const ruleReviewer = "rule:"

// ByRule is the name of the rule that a reviewer's name stands for.
func ByRule(reviewer string) (rule string, ok bool) { return strings.CutPrefix(reviewer, ruleReviewer) }

// Facts are what a condition can ask about a question.
type Facts struct {
	Thread   string
	Question Question // whole, nothing masked
}

// Condition tells whether something is to be done about a question. An error means that it does not apply.
type Condition interface {
	Holds(f Facts) (bool, error)
}

// Rule answers by itself what its condition holds for.
type Rule struct {
	Name   string
	When   string // the condition as it was written, to show
	If     Condition
	Action actions.Action
	Data   json.RawMessage
	Grace  time.Duration // how long its answers can be taken back; 0: as a person's
}

// RuleState is a rule and what came of it since the desk was opened.
type RuleState struct {
	Name, When, Action string
	Answered           int       // sent, or on their way
	TakenBack          int       // by a person
	Failed             int       // the condition could not be computed, or the answer was refused
	Last               time.Time // answer; zero: none yet
	LastError          string
}

// CheckReviewer refuses a name that is kept for rules.
func CheckReviewer(name string) error {
	if _, taken := ByRule(name); taken {
		return usagef("no person can be called %q: names that begin with %s are those of rules", name, ruleReviewer)
	}
	return nil
}

// forbidden says why no rule may answer a question, "" when one may.
func forbidden(q Question, secret bool) string {
	switch {
	case q.PeopleOnly:
		return "only people may answer it"
	case secret || q.IsSecret():
		return "it is answered with a credential"
	case q.ID == "":
		return "it has no id"
	}
	return ""
}

// decides reports whether the rule answers a question that rules may answer: it must allow the rule's action.
func (r Rule) decides(f Facts) (bool, error) {
	if !slices.Contains(actions.Allowed(f.Question.Question), r.Action) {
		return false, nil
	}
	return r.If.Holds(f)
}

// decision is the rule's answer. Its response id depends on rule, answer and question alone, so that two desks with the
// same rule give one answer and not two.
func (r Rule) decision(q Question) Decision {
	id := strings.Join([]string{r.Name, string(r.Action), string(r.Data), q.ID}, "\x00")
	return Decision{
		Thread: q.Thread, Question: q.ID, Action: string(r.Action), Data: r.Data, Version: q.Version, Shown: q.ShownHash,
		Title: q.Name(), Reviewer: ruleReviewer + r.Name, ResponseID: uuid.NewSHA1(uuid.NameSpaceOID, []byte(id)).String(),
	}
}

// rulebook is the rules with their counts. It is guarded by Desk.mu.
type rulebook struct {
	off     bool
	states  []RuleState
	leave   map[string]bool // questions a rule's answer of which a person took back
	refused map[string]int  // how often an answer to a question was refused
}

// mostRefusals is how often a rule tries a question again whose answer was refused, each time after a change.
const mostRefusals = 3

func newRulebook(rules []Rule) rulebook {
	b := rulebook{leave: map[string]bool{}, refused: map[string]int{}}
	for _, r := range rules {
		b.states = append(b.states, RuleState{Name: r.Name, When: r.When, Action: string(r.Action)})
	}
	return b
}

func (b *rulebook) state(name string) *RuleState {
	i := slices.IndexFunc(b.states, func(s RuleState) bool { return s.Name == name })
	if i < 0 {
		return &RuleState{}
	}
	return &b.states[i]
}

// fail counts a failure of a rule and reports whether it is another than the last.
func (b *rulebook) fail(name string, err error) bool {
	s := b.state(name)
	s.Failed++
	news := s.LastError != err.Error()
	s.LastError = err.Error()
	return news
}

// Rules lists the rules in their order, and whether they are applied.
func (d *Desk) Rules() (rules []RuleState, on bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.rules.states), len(d.rules.states) > 0 && !d.rules.off && !d.o.ReadOnly
}

// SetRules lets this desk apply its rules, or not, until it is closed. Their answers that can still be taken back are
// taken back when the rules are switched off.
func (d *Desk) SetRules(on bool) error {
	if d.o.ReadOnly {
		return readOnly("apply rules")
	}
	d.mu.Lock()
	d.rules.off = !on
	if !on {
		for _, e := range d.outbox.waiting("") {
			if _, is := ByRule(e.Decision.Reviewer); is {
				d.dropRuled(e)
			}
		}
		d.keepOutbox()
		d.pump()
	}
	d.mu.Unlock()
	d.wakeAttendance()
	return nil
}

// dropRuled takes an answer of a rule off the outbox without leaving its question to people. d.mu is held.
func (d *Desk) dropRuled(e *entry) {
	e.State = TakenBack
	d.outbox.remove(e)
	name, _ := ByRule(e.Decision.Reviewer)
	d.rules.state(name).Answered--
}

// takenBackClaim is for how long a thread is claimed whose answer by a rule was taken back.
const takenBackClaim = 5 * time.Minute

// leaveToPeople notes that a person took a rule's answer back: no rule answers that question any more, here or in a desk
// opened later. d.mu is held.
func (d *Desk) leaveToPeople(e *entry) {
	name, is := ByRule(e.Decision.Reviewer)
	if !is {
		return
	}
	s := d.rules.state(name)
	s.Answered, s.TakenBack = s.Answered-1, s.TakenBack+1
	d.rules.leave[e.question.ID] = true
	if err := d.files.leave(e.question.ID); err != nil {
		d.o.Log.Error("not kept that rules leave a question to people", "question", e.question.ID, "error", err)
	}
	if claimer, ok := d.source.(Claimer); ok && !d.closed { // so that the rules of other people's desks leave it, too
		thread := e.Decision.Thread
		d.tasks.Go(func() {
			if err := claimer.Claim(d.ctx, thread, d.o.Reviewer, takenBackClaim); err != nil && d.ctx.Err() == nil {
				d.o.Log.Info("not claimed after a rule's answer was taken back", "thread", thread, "error", err)
			}
		})
	}
}

// leftElsewhere reads which questions other desks of this user's rules leave to people. Nothing is remembered where it
// cannot be read.
func (d *Desk) leftElsewhere() {
	ids, err := d.files.left()
	if err != nil {
		d.o.Log.Error("not read what rules leave to people", "error", err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, id := range ids {
		d.rules.leave[id] = true
	}
}

// sendRuled is the last moment of a rule's answer: a person may have taken it back at another desk.
func (d *Desk) sendRuled(r *run) error {
	if len(d.o.Rules) == 0 {
		return nil
	}
	d.leftElsewhere()
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range r.entries {
		if e.byRule() && d.rules.leave[e.question.ID] {
			return &Error{Code: CodeClaimed, Message: "the question is left to people"}
		}
	}
	return nil
}

// refusedRule takes in that the answer of a rule was not taken: somebody decided, claimed or changed the thread first.
// It is no message to anybody, for nobody waits for it. d.mu is held.
func (d *Desk) refusedRule(e *entry, err error) {
	name, _ := ByRule(e.Decision.Reviewer)
	d.rules.state(name).Answered--
	d.rules.refused[e.question.ID]++
	e.State = TakenBack
	d.outbox.remove(e)
	if code := Code(err); code == CodeConflict || code == CodeNotWaiting || code == CodeAlreadyAnswered || code == CodeClaimed {
		d.o.Log.Info("a rule came too late", "rule", name, "question", e.question.ID, "error", err)
		return
	}
	d.rules.fail(name, err)
	d.o.Log.Warn("the answer of a rule was refused", "rule", name, "question", e.question.ID, "error", err)
}

// ruleFor finds the first rule that decides a question. A condition that cannot be computed is counted and logged, and
// does not hold.
func (d *Desk) ruleFor(q Question) (Rule, bool) {
	if forbidden(q, d.o.Secret(q)) != "" {
		return Rule{}, false
	}
	f := Facts{Thread: q.Thread, Question: q}
	for _, r := range d.o.Rules {
		yes, err := r.decides(f)
		if err != nil {
			d.mu.Lock()
			news := d.rules.fail(r.Name, err)
			d.mu.Unlock()
			if news {
				d.o.Log.Warn("the condition of a rule cannot be computed", "rule", r.Name, "question", q.ID, "error", err)
			}
			continue
		}
		if yes {
			return r, true
		}
	}
	return Rule{}, false
}

// mayRule reports whether a rule may answer now: nobody has claimed the thread, typed something for the question, answered
// it, or taken an answer to it back. d.mu is held.
func (d *Desk) mayRule(t Thread, q Question, now time.Time) bool {
	claimed := t.Claimed != "" && t.ClaimedUntil.After(now)
	if d.rules.off || d.closed || claimed || d.rules.leave[q.ID] || d.rules.refused[q.ID] >= mostRefusals {
		return false
	}
	if d.outbox.drafts.find(q) != nil {
		return false
	}
	return !slices.ContainsFunc(d.outbox.entries, func(e *entry) bool { return e.question.ID == q.ID })
}

// RuleTrial is what the rules would make of an open question.
type RuleTrial struct {
	Question Question
	Rule     string // whose condition holds
	Action   string
	Why      string // why it does not answer all the same, "" when it would
}

// TryRules says which open questions the rules would answer now, or would but for a person, and answers none.
func (d *Desk) TryRules(ctx context.Context) ([]RuleTrial, error) {
	var all []RuleTrial
	q := Query{Tab: Waiting, Filter: "status:interrupted", Limit: attendPage}
	for {
		page, err := d.Threads(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, t := range page.Threads {
			detail, err := d.source.Open(ctx, t.ID)
			if Code(err) == CodeNotFound {
				continue // deleted since it was listed
			}
			if err != nil {
				return nil, err
			}
			for _, open := range detail.Questions {
				all = append(all, d.try(detail.Thread, open)...)
			}
		}
		if q.After = page.Next; q.After == "" {
			return all, nil
		}
	}
}

// try is TryRules for one question: the first rule whose condition holds, if there is one.
func (d *Desk) try(t Thread, q Question) []RuleTrial {
	for _, r := range d.o.Rules {
		yes, err := r.decides(Facts{Thread: q.Thread, Question: q})
		if err != nil || !yes {
			continue
		}
		x := RuleTrial{Question: q, Rule: r.Name, Action: string(r.Action), Why: forbidden(q, d.o.Secret(q))}
		if x.Why == "" && t.Claimed != "" && t.ClaimedUntil.After(d.o.Now()) {
			x.Why = t.Claimed + " has claimed it"
		}
		d.mu.Lock()
		if x.Why == "" && !d.mayRule(t, q, d.o.Now()) {
			x.Why = "a person is at it, or took a rule's answer back"
		}
		d.mu.Unlock()
		return []RuleTrial{x}
	}
	return nil
}

// checkRules fails for rules that cannot be told apart or have no condition.
func checkRules(rules []Rule) error {
	var errs []error
	seen := map[string]bool{}
	for _, r := range rules {
		if r.Name == "" || seen[r.Name] {
			errs = append(errs, fmt.Errorf("rule %q: every rule needs a name of its own", r.Name))
		}
		if r.If == nil {
			errs = append(errs, fmt.Errorf("rule %q has no condition", r.Name))
		}
		seen[r.Name] = true
	}
	return errors.Join(errs...)
}
