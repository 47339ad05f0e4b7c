package redis

import (
	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/codec"
)

// values are the columns of a row of a SQLite store, by name.
type values map[string]any

// threadValues are the columns of a thread.
func threadValues(h *head) values {
	t, l := &h.info, &h.lease
	place := checkpoint.KeyOf(t, checkpoint.SortDue)
	var origin checkpoint.Origin
	if t.Origin != nil {
		origin = *t.Origin
	}
	until, claimed := int64(0), int64(0)
	if l.Token != "" {
		until = checkpoint.ToMicros(l.Until)
	}
	if h.claim.Reviewer != "" {
		claimed = checkpoint.ToMicros(h.claim.Until)
	}
	return values{"thread": t.Thread, "seq": t.Seq, "step": t.Step, "revision": t.Revision, "phase": string(t.Phase), "lease_until": until,
		"answers": h.answers, "due": place.First, "waiting": place.Second, "created": checkpoint.ToMicros(t.Created),
		"updated": checkpoint.ToMicros(t.Updated), "questions": t.Questions, "answered": t.Answered, "workflow": t.Workflow, "node": t.Node,
		"title": t.Title, "assignee": t.Assignee, "team": t.Group, "priority": t.Priority, "claim_by": h.claim.Reviewer,
		"claim_until": claimed, "error": t.Error, "lease_token": l.Token, "lease_holder": l.Holder, "lease_own": l.Own,
		"cancel": l.Cancel, "cancel_by": l.CancelledBy, "decisions": t.Decisions, "decision_hash": t.DecisionHash, "results": h.results > 0,
		"base": h.frames.Base, "base_size": h.frames.BaseSize, "chain_steps": h.frames.Steps, "chain_size": h.frames.Size,
		"fingerprint": t.Fingerprint, "workdir": t.Workdir, "started_by": t.StartedBy, "origin_thread": origin.Thread,
		"origin_step": origin.Step, "lease_answers": codec.EncodeList(l.Answers)}
}

// stepRow is a step as it is put aside: as Redis has it, and the step of the keyframe it builds on.
type stepRow struct {
	thread, member, record, state string
	base                          int64
}

func (r *stepRow) tell(p *packer) {
	p.text(&r.thread)
	p.text(&r.member)
	p.text(&r.record)
	p.text(&r.state)
	p.number(&r.base)
}

func stepValues(entry []byte) (values, error) {
	var row stepRow
	if err := unpack(entry, row.tell); err != nil {
		return nil, err
	}
	at, err := parseStep(row.thread, row.member)
	if err != nil {
		return nil, err
	}
	r := record{c: new(checkpoint.Checkpoint)}
	if err := unpack(row.record, r.tell); err != nil {
		return nil, at.corrupt(row.thread, err)
	}
	return values{"thread": row.thread, "step": at.step, "revision": at.revision, "base": row.base, "ts": at.ts,
		"size": int64(len(r.rest)) + at.stateSize, "state_size": at.stateSize, "commit_id": at.commit, "source": string(r.c.Source),
		"ended": string(r.c.Ended), "workflow": r.c.Workflow, "fingerprint": r.c.Fingerprint, "record": string(r.rest),
		"state": []byte(row.state)}, nil
}

// resultRow is a pending result as it is put aside.
type resultRow struct {
	thread string
	r      checkpoint.PendingResult
}

func (r *resultRow) tell(p *packer) {
	p.text(&r.thread)
	p.text(&r.r.Path)
	p.number(&r.r.Step)
	p.raw(&r.r.Data)
}

func resultValues(entry []byte) (values, error) {
	var row resultRow
	err := unpack(entry, row.tell)
	return values{"thread": row.thread, "path": row.r.Path, "step": row.r.Step, "data": append([]byte{}, row.r.Data...)}, err
}

func decisionValues(entry []byte) (values, error) {
	var d checkpoint.Decision
	err := unpack(entry, tellDecision(&d))
	return values{"thread": d.Thread, "n": d.N, "decision": d.ID, "response": d.ResponseID, "step": d.Version.Step,
		"revision": d.Version.Revision, "interrupt": d.Interrupt, "key": d.Key, "address": d.Address, "path": d.Path, "action": d.Action,
		"data": []byte(d.Data), "comment": d.Comment, "reviewer": d.Reviewer, "decided_at": checkpoint.ToMicros(d.DecidedAt),
		"waited": d.WaitedSeconds, "shown_hash": d.ShownHash, "outcome": string(d.Outcome), "withdraws": d.Withdraws,
		"prev_hash": d.PrevHash, "hash": d.Hash}, err
}
