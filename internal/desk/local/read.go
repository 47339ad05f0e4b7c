package local

import (
	"context"
	"errors"
	"slices"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/desk"
)

// maxPath is the longest thread whose node runs are read to show the path taken; the history shows longer ones.
const maxPath = 500

// List lists one page of threads.
func (s *Source) List(ctx context.Context, q desk.Selection) (desk.Page, error) {
	store, err := s.kept()
	if err != nil {
		return desk.Page{}, err
	}
	page, err := store.Threads(ctx, queryOf(q))
	if err != nil {
		return desk.Page{}, stored(err)
	}
	return desk.Page{Threads: s.rows(page.Threads), Next: page.Next}, nil
}

func queryOf(q desk.Selection) checkpoint.Query {
	return checkpoint.Query{
		Status: statuses(q.Status), Workflow: q.Workflow, Node: q.Node, Reviewer: q.Claimed, Group: q.Group, Assignee: q.Assignee,
		Priority: q.Priority, Failing: q.Failing, Text: q.Text, OlderThan: q.OlderThan, NewerThan: q.NewerThan, DueBefore: q.DueBefore,
		Sort: checkpoint.Sort(q.Sort), Limit: q.Limit, After: q.After,
	}
}

func statuses(names []string) []checkpoint.Status {
	var all []checkpoint.Status
	for _, name := range names {
		all = append(all, checkpoint.Status(name))
	}
	return all
}

// Counts counts threads by status.
func (s *Source) Counts(ctx context.Context) (map[string]int64, error) {
	store, err := s.kept()
	if err != nil {
		return nil, err
	}
	counts, err := store.Counts(ctx)
	if err != nil {
		return nil, stored(err)
	}
	all := make(map[string]int64, len(counts))
	for status, n := range counts {
		all[string(status)] = n
	}
	return all, nil
}

// Resolve finds the thread whose id is, or alone ends in, name.
func (s *Source) Resolve(ctx context.Context, name string) (string, error) {
	store, err := s.kept()
	if err != nil {
		return "", err
	}
	id, err := store.Resolve(ctx, name)
	return id, stored(err)
}

// Open reads one thread with its open questions, as they are to be shown.
func (s *Source) Open(ctx context.Context, thread string) (*desk.Detail, error) {
	info, err := s.info(ctx, thread)
	if err != nil {
		return nil, err
	}
	out, err := s.engine.Open(ctx, thread)
	if err != nil {
		return nil, Coded(err)
	}
	d := &desk.Detail{
		Thread: s.row(*info), Fingerprint: info.Fingerprint, Workdir: info.Workdir, StartedBy: info.StartedBy,
		Questions: questionsOf(out, s.now()), Outputs: out.Outputs, Origin: originOf(info.Origin),
	}
	d.Step, d.Revision = out.Version.Step, out.Version.Revision
	if info.Lease != nil && info.Lease.Answers > 0 {
		if err := s.addAccepted(ctx, d); err != nil {
			return nil, err
		}
	}
	d.Thread.Questions = len(d.Questions)
	if out.Error != nil {
		d.Failure, d.FailedNode = out.Error.Message, failedAt(out.Error)
	}
	if err := s.addPath(ctx, d); err != nil {
		return nil, err
	}
	return d, nil
}

// info reads the row of a thread.
func (s *Source) info(ctx context.Context, thread string) (*checkpoint.ThreadInfo, error) {
	store, err := s.kept()
	if err != nil {
		return nil, err
	}
	info, err := store.Thread(ctx, thread)
	return info, stored(err)
}

// addAccepted finds the answers that were given at the head, or to what it still asks, and are not yet part of a step:
// their questions are open no more.
func (s *Source) addAccepted(ctx context.Context, d *desk.Detail) error {
	asked := func(id string) bool {
		return slices.ContainsFunc(d.Questions, func(q desk.Question) bool { return q.ID == id })
	}
	for row, err := range s.store.Decisions(ctx, d.ID) {
		switch {
		case err != nil:
			return stored(err)
		case row.Withdraws != "":
			d.Accepted = slices.DeleteFunc(d.Accepted, func(x desk.DecisionRow) bool { return x.ID == row.Withdraws })
		case row.Interrupt != "" && (row.Version.Step == d.Step || asked(row.Interrupt)):
			d.Accepted = append(d.Accepted, decisionOf(row))
		}
	}
	d.Questions = slices.DeleteFunc(d.Questions, func(q desk.Question) bool {
		return slices.ContainsFunc(d.Accepted, func(x desk.DecisionRow) bool { return x.Question == q.ID })
	})
	return nil
}

// addPath reads the node runs so far and what comes next.
func (s *Source) addPath(ctx context.Context, d *desk.Detail) error {
	if d.Step > maxPath {
		head, err := s.store.Latest(ctx, d.ID)
		if err != nil {
			return stored(err)
		}
		d.Next = head.Next
		return nil
	}
	words, err := s.decisionWords(ctx, d.ID)
	if err != nil {
		return err
	}
	for c, err := range s.store.History(ctx, d.ID, false) {
		if err != nil {
			return stored(err)
		}
		d.Next = c.Next
		d.Path = append(d.Path, pathOf(c, words)...)
	}
	return nil
}

// History lists the steps, oldest first.
func (s *Source) History(ctx context.Context, thread string) ([]desk.Step, error) {
	info, err := s.info(ctx, thread)
	if err != nil {
		return nil, err
	}
	rows := map[string]desk.DecisionRow{}
	for d, err := range s.store.Decisions(ctx, thread) {
		if err != nil {
			return nil, stored(err)
		}
		rows[d.ID] = decisionOf(d)
	}
	var steps []desk.Step
	for c, err := range s.store.History(ctx, thread, false) {
		if err != nil {
			return nil, stored(err)
		}
		steps = append(steps, stepOf(c, rows))
	}
	if n := len(steps); n > 0 && steps[n-1].Step == info.Step {
		steps[n-1].Status = string(info.Status)
	}
	return steps, nil
}

// State reads the state at a step, below 0 at the head.
func (s *Source) State(ctx context.Context, thread string, step int64) (*desk.State, error) {
	store, err := s.kept()
	if err != nil {
		return nil, err
	}
	var c *checkpoint.Checkpoint
	if step < 0 {
		c, err = store.Latest(ctx, thread)
	} else {
		c, err = store.Get(ctx, thread, step)
	}
	if step >= 0 && errors.Is(err, checkpoint.ErrNotFound) {
		return nil, noStep(err, thread, step)
	}
	if err != nil {
		return nil, stored(err)
	}
	return stateOf(c)
}
