package threadfile

import (
	"encoding/json"
	"fmt"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

func (t *threadLine) decode() *checkpoint.ThreadInfo {
	return &checkpoint.ThreadInfo{Thread: string(t.Thread), Workflow: string(t.Workflow), Fingerprint: string(t.Fingerprint),
		Workdir: string(t.Workdir), StartedBy: string(t.StartedBy), Step: t.Step, Revision: t.Revision, Created: t.Created, Updated: t.Updated,
		Origin: t.Origin.decode(), Decisions: t.Decisions, DecisionHash: t.DecisionHash,
		Summary: checkpoint.Summary{Phase: t.Phase, Title: string(t.Title), Node: string(t.Node), Questions: t.Questions, Answered: t.Answered,
			WaitingSince: t.WaitingSince, Due: t.Due, Assignee: string(t.Assignee), Group: string(t.Group), Priority: string(t.Priority),
			Error: string(t.Error)}}
}

func (o *origin) decode() *checkpoint.Origin {
	if o == nil {
		return nil
	}
	return &checkpoint.Origin{Thread: string(o.Thread), Step: o.Step}
}

func (l *stepFile) decode(thread string) *checkpoint.Checkpoint {
	c := &checkpoint.Checkpoint{Thread: thread, Step: l.Step, Revision: l.Revision, TS: checkpoint.Micro(l.TS), Commit: string(l.Commit),
		Source: l.Source, Ended: l.Ended, Workflow: string(l.Workflow), Fingerprint: string(l.Fingerprint), Next: stringsOf(l.Next), Open: l.Open,
		Decisions: stringsOf(l.Decisions), Origin: l.Origin.decode(), Outputs: json.RawMessage(l.Outputs)}
	if e := l.Error; e != nil {
		c.Error = &checkpoint.Failure{Path: string(e.Path), Node: string(e.Node), Message: string(e.Message), Attempts: e.Attempts, At: e.At}
	}
	for _, r := range l.Runs {
		c.Runs = append(c.Runs, checkpoint.NodeRun{Path: string(r.Path), Node: string(r.Node), Status: string(r.Status), Route: string(r.Route),
			Attempts: r.Attempts, Started: r.Started, TookMS: r.TookMS, Error: string(r.Error)})
	}
	for _, q := range l.Interrupts {
		i := checkpoint.Interrupt{ID: string(q.ID), Key: string(q.Key), Address: string(q.Address), Node: string(q.Node), Path: string(q.Path),
			Payload: json.RawMessage(q.Payload), ContentKey: string(q.ContentKey), Asked: q.Asked, Due: q.Due, Overdue: q.Overdue, Place: q.Place, Round: q.Round}
		if p := q.Previous; p != nil {
			i.Previous = &checkpoint.Previous{ID: string(p.ID), Feedback: string(p.Feedback), By: string(p.By), Action: string(p.Action),
				Value: json.RawMessage(p.Value), Content: json.RawMessage(p.Content)}
		}
		c.Interrupts = append(c.Interrupts, i)
	}
	return c
}

func (l *stepFile) ops() ([]checkpoint.Op, error) {
	ops := make([]checkpoint.Op, len(l.Ops))
	for i, e := range l.Ops {
		ops[i] = checkpoint.Op{Channel: string(e.Channel), Value: json.RawMessage(e.Value)}
		for _, known := range opNames {
			if known.name == e.Op {
				ops[i].Kind = known.kind
			}
		}
		if ops[i].Kind == 0 {
			return nil, fmt.Errorf("channel %q: unknown operation %q", ops[i].Channel, e.Op)
		}
	}
	return ops, nil
}

// decisionFile is a decision as it is read.
type decisionFile struct {
	decisionLine
	Data foreign `json:"data"`
}

func (l *decisionFile) decode(thread string) *checkpoint.Decision {
	return &checkpoint.Decision{Thread: thread, N: l.N, ID: string(l.ID), ResponseID: string(l.ResponseID),
		Version: checkpoint.Version{Step: l.Step, Revision: l.Revision}, Interrupt: string(l.Interrupt), Key: string(l.Key),
		Address: string(l.Address), Path: string(l.Path), Action: string(l.Action), Data: json.RawMessage(l.Data), Comment: string(l.Comment),
		Reviewer: string(l.Reviewer), DecidedAt: checkpoint.Micro(l.DecidedAt), WaitedSeconds: l.WaitedSeconds, ShownHash: string(l.ShownHash),
		Outcome: checkpoint.Outcome(l.Outcome), Withdraws: string(l.Withdraws), PrevHash: string(l.PrevHash), Hash: string(l.Hash)}
}

func (l *definitionLine) decode() *checkpoint.Definition {
	d := &checkpoint.Definition{Fingerprint: string(l.Fingerprint), Workflow: string(l.Workflow), Graph: string(l.Graph), Source: string(l.Source)}
	for _, f := range l.Files {
		d.Files = append(d.Files, checkpoint.File{Path: string(f.Path), Text: string(f.Text)})
	}
	return d
}

func stringsOf(list []text) []string {
	var out []string
	for _, s := range list {
		out = append(out, string(s))
	}
	return out
}
