package local

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/question"
)

func (s *Source) rows(infos []checkpoint.ThreadInfo) []desk.Thread {
	all := make([]desk.Thread, len(infos))
	for i, info := range infos {
		all[i] = s.row(info)
	}
	return all
}

func (s *Source) row(t checkpoint.ThreadInfo) desk.Thread {
	x := desk.Thread{
		ID: t.Thread, Workflow: t.Workflow, Node: t.Node, Status: string(t.Status), Title: t.Title, Step: t.Step, Revision: t.Revision,
		Questions: t.Questions, Answered: t.Answered, WaitingSince: timeOf(t.WaitingSince), Updated: t.Updated, Created: t.Created,
		Due: timeOf(t.Due), Assignee: t.Assignee, Group: t.Group, Priority: t.Priority, Error: t.Error, Cursor: t.Cursor,
	}
	if t.Claim != nil && t.Claim.Until.After(s.now()) {
		x.Claimed, x.ClaimedUntil = t.Claim.Reviewer, t.Claim.Until
	}
	if t.Lease != nil && t.Lease.Live {
		x.Holder = t.Lease.Holder
	}
	return x
}

func timeOf(t *time.Time) time.Time {
	if t == nil {
		return time.Time{}
	}
	return *t
}

func originOf(o *checkpoint.Origin) string {
	if o == nil {
		return ""
	}
	return fmt.Sprintf("%s@%d", o.Thread, o.Step)
}

// baseName is how a screen names the store with that URL: its file, or its database.
func baseName(url string) string {
	if server, _, is := strings.Cut(url, "?"); is && strings.Contains(server, "://") {
		url = server
	}
	_, rest, found := strings.Cut(url, ":")
	if !found {
		rest = url
	}
	if rest == "" {
		return strings.TrimSuffix(url, ":")
	}
	return path.Base(rest)
}

func questionsOf(out *engine.Outcome, now time.Time) []desk.Question {
	all := make([]desk.Question, len(out.Questions))
	for i, q := range out.Questions {
		x := interruptOf(q.Interrupt, out.Thread, out.Workflow, out.Version, now)
		x.Question, x.Shape, x.ShownHash = q.Question, string(q.Shape), q.ShownHash
		x.Choices, x.ResumesNow, x.WaitsFor = choicesOf(q), q.ResumesNow, q.WaitsFor
		all[i] = x
	}
	return all
}

func interruptOf(i checkpoint.Interrupt, thread, workflow string, v checkpoint.Version, now time.Time) desk.Question {
	x := desk.Question{
		Thread: thread, Workflow: workflow, ID: i.ID, Key: i.Key, Address: i.Address, Node: i.Node, Path: i.Path,
		Version: versionText(v), Asked: i.Asked, Due: timeOf(i.Due), Round: max(1, i.Round), Payload: i.Payload,
	}
	x.Overdue = i.Overdue || !x.Due.IsZero() && x.Due.Before(now)
	if i.Previous != nil {
		x.Feedback, x.FeedbackBy, x.Former = i.Previous.Feedback, i.Previous.By, i.Previous.Content
		x.FormerAction, x.FormerValue = i.Previous.Action, i.Previous.Value
	}
	return x
}

func versionText(v checkpoint.Version) string { return fmt.Sprintf("%d.%d", v.Step, v.Revision) }

// choicesOf lists all fifteen actions, with where each leads or why it is not there.
func choicesOf(q engine.OpenQuestion) []desk.Choice {
	allowed := actions.Allowed(q.Question)
	all := make([]desk.Choice, 0, len(actions.All()))
	for _, info := range actions.Table() {
		c := desk.Choice{
			Info: info, Allowed: slices.Contains(allowed, info.Action), Leads: leadText(q.Leads[info.Action]),
			NeedsComment: slices.Contains(q.Question.RequireComment, info.Action),
		}
		switch {
		case !c.Allowed:
			c.Why, c.Leads = "not allowed here", ""
		case len(q.Question.Content) > actions.MaxSize && (info.Action == actions.Edit || info.Action == actions.Save):
			c.Allowed = false
			c.Why = fmt.Sprintf("the content is %d bytes, the limit of an answer is %d: edit the state in the history (H, then e)", len(q.Question.Content), actions.MaxSize)
		}
		all = append(all, c)
	}
	return all
}

func leadText(l engine.Lead) string {
	switch {
	case l.Again:
		return "asks again"
	case len(l.To) > 0 && l.When:
		return strings.Join(l.To, " or ")
	case len(l.To) > 0:
		return strings.Join(l.To, ", ")
	case l.Ends != "" && l.Frame != "":
		return "END of " + l.Frame + " (" + string(l.Ends) + ")"
	case l.Ends != "":
		return "END (" + string(l.Ends) + ")"
	default:
		return "END"
	}
}

// pathOf is what ran in one step.
func pathOf(c *checkpoint.Checkpoint, words map[string]string) []desk.PathStep {
	var all []desk.PathStep
	for _, r := range c.Runs {
		all = append(all, desk.PathStep{
			Step: c.Step, Node: r.Node, Run: runName(r.Path), Status: r.Status, TookMS: r.TookMS, Decision: wordsFor(c, r.Path, words),
		})
	}
	return all
}

// wordsFor tells the decision that a step holds for a node run.
func wordsFor(c *checkpoint.Checkpoint, run string, words map[string]string) string {
	var told []string
	for _, id := range c.Decisions {
		if path, said, ok := strings.Cut(words[id], "\x00"); ok && path == run {
			told = append(told, said)
		}
	}
	return strings.Join(told, ", ")
}

// runName is a node run as the addresses of questions name it: main@1/each@1/[3]/check@2 is each/3/check@2. Of the nodes
// around it the run is told only where it is not the first.
func runName(path string) string {
	segments := strings.Split(path, "/")
	if len(segments) > 1 {
		segments = segments[1:] // the thread itself
	}
	for i, s := range segments[:len(segments)-1] {
		segments[i] = strings.TrimSuffix(strings.Trim(s, "[]"), "@1")
	}
	return strings.Join(segments, "/")
}

// failedAt is the address of the node that failed, "" for the thread itself.
func failedAt(f *checkpoint.Failure) string {
	if f.Node == "" {
		return ""
	}
	name := runName(f.Path)
	if i := strings.LastIndexByte(name, '@'); i >= 0 {
		name = name[:i]
	}
	return name
}

func stepOf(c *checkpoint.Checkpoint, rows map[string]desk.DecisionRow) desk.Step {
	x := desk.Step{
		Step: c.Step, Revision: c.Revision, TS: c.TS, Source: string(c.Source), Status: stepStatus(c), SizeBytes: c.SizeBytes,
	}
	for _, r := range c.Runs {
		x.Nodes = append(x.Nodes, runName(r.Path))
		x.TookMS = max(x.TookMS, r.TookMS)
		if r.Error != "" {
			x.Error = r.Error
		}
	}
	for _, id := range c.Decisions {
		if row, ok := rows[id]; ok {
			x.Decisions = append(x.Decisions, row)
		}
	}
	if c.Error != nil {
		x.Error = c.Error.Message
	}
	return x
}

// stepStatus is the thread's status right after a step, while it was the head.
func stepStatus(c *checkpoint.Checkpoint) string {
	switch {
	case c.Ended != "":
		return string(c.Ended)
	case c.Interrupted():
		return string(checkpoint.Interrupted)
	case c.Error != nil:
		return string(checkpoint.Failed)
	default:
		return string(checkpoint.Running)
	}
}

func decisionOf(d *checkpoint.Decision) desk.DecisionRow {
	return desk.DecisionRow{
		ID: d.ID, Thread: d.Thread, Question: d.Interrupt, N: d.N, Version: versionText(d.Version), Address: d.Address, Action: d.Action, Data: d.Data,
		Comment: d.Comment, Reviewer: d.Reviewer, DecidedAt: d.DecidedAt,
		Waited: time.Duration(d.WaitedSeconds * float64(time.Second)), Outcome: string(d.Outcome), Hash: d.Hash,
		Response: d.ResponseID,
	}
}

func stateOf(c *checkpoint.Checkpoint) (*desk.State, error) {
	questions, err := c.Questions()
	if err != nil {
		return nil, stored(err)
	}
	x := &desk.State{
		Thread: c.Thread, Step: c.Step, Revision: c.Revision, TS: c.TS, Status: stepStatus(c), Next: c.Next, State: c.Channels.State(),
	}
	for _, i := range questions {
		q := interruptOf(i, c.Thread, c.Workflow, c.Version(), c.TS)
		var shape question.Shape
		q.Question, shape = question.Recognise(i.Payload, x.State[i.ContentKey])
		q.Shape = string(shape)
		allowed := actions.Allowed(q.Question)
		for _, info := range actions.Table() {
			q.Choices = append(q.Choices, desk.Choice{Info: info, Allowed: slices.Contains(allowed, info.Action)})
		}
		x.Questions = append(x.Questions, q)
	}
	return x, nil
}

func resultOf(out *engine.Outcome, now time.Time) *desk.Result {
	r := &desk.Result{
		Thread: out.Thread, Workflow: out.Workflow, Step: out.Version.Step, Revision: out.Version.Revision, Status: string(out.Status),
		Interrupted: len(out.Questions) > 0, Questions: questionsOf(out, now), Outputs: out.Outputs, AlreadyApplied: out.AlreadyApplied,
		WasCancelled: out.WasCancelled, Withdrawn: out.Withdrawn,
	}
	if out.Error != nil {
		r.ErrNode, r.ErrMessage = failedAt(out.Error), out.Error.Message
	}
	return r
}
