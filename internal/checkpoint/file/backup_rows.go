package file

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/codec"
)

// threads puts all that there is of all threads aside.
func (b *backup) threads(ctx context.Context) error {
	numbers := make(map[string]int64)
	err := b.s.listing.with(ctx, func(time.Time) {
		for thread, r := range b.s.listing.rows {
			numbers[thread] = r.seq
		}
	})
	if err != nil {
		return err
	}
	for thread, seq := range numbers {
		err := b.thread(ctx, thread, seq)
		b.hurt[thread] = errors.Is(err, checkpoint.ErrCorrupt)
		if err := checkpoint.LeaveOut(&b.left, err); err != nil {
			return err
		}
	}
	return nil
}

// thread puts one thread aside, under its lock.
func (b *backup) thread(ctx context.Context, thread string, seq int64) error {
	s := b.s
	release, err := s.take(ctx, s.stripe(thread), false)
	if err != nil {
		return err
	}
	defer release()
	h, err := s.readHead(thread)
	if err != nil || h == nil || !h.deleted.IsZero() { // deleted meanwhile
		return err
	}
	results, err := s.pending(h)
	if err != nil {
		return err
	}
	for _, r := range results {
		err := b.put("results", values{"thread": thread, "path": r.Path, "step": r.Step, "data": append([]byte{}, r.Data...)})
		if err != nil {
			return err
		}
	}
	rows, err := s.decisionBytes(h)
	if err != nil {
		return err
	}
	for d, err := range s.rowsOf(h, rows) {
		if err == nil {
			err = b.put("decisions", decisionValues(d))
		}
		if err != nil {
			return err
		}
	}
	frames, err := b.steps(h)
	if err != nil {
		return err
	}
	b.taken[thread] = true
	return b.put("threads", h.values(seq, frames, len(results) > 0))
}

func (b *backup) put(table string, v values) error { return b.aside[table].e.Encode(bundle{v}) }

// steps puts the steps of a thread aside, and gives how the state of the last is stored there.
func (b *backup) steps(h *head) (codec.Frames, error) {
	var frames codec.Frames
	numbers, _, err := b.s.numbers(h)
	if err != nil {
		return frames, err
	}
	for _, n := range numbers {
		p, err := b.s.readStep(h, n)
		if err != nil {
			return frames, err
		}
		record, err := codec.EncodeRecord(&p.Checkpoint)
		if err != nil {
			return frames, err
		}
		state := codec.EncodeOps(p.ops)
		if p.keyframe {
			state = codec.EncodeKeyframe(p.Channels)
			frames.Keyframe(n, len(state))
		} else {
			frames.Step(len(state))
		}
		err = b.put("checkpoints", values{"thread": p.Thread, "step": p.Step, "revision": p.Revision, "base": frames.Base,
			"ts": checkpoint.ToMicros(p.TS), "size": int64(len(record) + len(state)), "state_size": int64(len(state)), "commit_id": p.commit,
			"source": string(p.Source), "ended": string(p.Ended), "workflow": p.Workflow, "fingerprint": p.Fingerprint,
			"record": string(record), "state": state})
		if err != nil {
			return frames, err
		}
	}
	return frames, nil
}

// values is the row of a thread.
func (h *head) values(seq int64, f codec.Frames, results bool) values {
	t, l := &h.info, &h.lease
	place := checkpoint.KeyOf(t, checkpoint.SortDue)
	var origin checkpoint.Origin
	if t.Origin != nil {
		origin = *t.Origin
	}
	v := values{"thread": t.Thread, "seq": seq, "step": t.Step, "revision": t.Revision, "phase": string(t.Phase), "lease_until": int64(0),
		"due": place.First, "waiting": place.Second, "created": t.Created.UnixMicro(), "updated": t.Updated.UnixMicro(),
		"questions": t.Questions, "answered": t.Answered, "workflow": t.Workflow, "node": t.Node, "title": t.Title, "assignee": t.Assignee,
		"team": t.Group, "priority": t.Priority, "claim_by": h.claim.Reviewer, "claim_until": int64(0), "error": t.Error,
		"lease_token": l.Token, "lease_holder": l.Holder, "lease_own": l.Own, "cancel": l.Cancel, "cancel_by": l.CancelledBy,
		"decisions": h.chain.Count, "decision_hash": h.chain.Last, "results": results, "base": f.Base, "base_size": f.BaseSize,
		"chain_steps": f.Steps, "chain_size": f.Size, "fingerprint": t.Fingerprint, "workdir": t.Workdir, "started_by": t.StartedBy,
		"origin_thread": origin.Thread, "origin_step": origin.Step, "answers": len(l.Answers), "lease_answers": codec.EncodeList(l.Answers)}
	if l.Token != "" {
		v["lease_until"] = l.Until.UnixMicro()
	}
	if h.claim.Reviewer != "" {
		v["claim_until"] = h.claim.Until.UnixMicro()
	}
	return v
}

func decisionValues(d *checkpoint.Decision) values {
	return values{"thread": d.Thread, "n": d.N, "decision": d.ID, "response": d.ResponseID, "step": d.Version.Step,
		"revision": d.Version.Revision, "interrupt": d.Interrupt, "key": d.Key, "address": d.Address, "path": d.Path, "action": d.Action,
		"data": []byte(d.Data), "comment": d.Comment, "reviewer": d.Reviewer, "decided_at": checkpoint.ToMicros(d.DecidedAt),
		"waited": d.WaitedSeconds, "shown_hash": d.ShownHash, "outcome": string(d.Outcome), "withdraws": d.Withdraws,
		"prev_hash": d.PrevHash, "hash": d.Hash}
}

// tombstones leaves out those of threads that were copied before they were deleted.
func (b *backup) tombstones(ctx context.Context) iter.Seq2[values, error] {
	return func(yield func(values, error) bool) {
		list, err := b.s.Tombstones(ctx)
		if err = checkpoint.LeaveOut(&b.left, err); err != nil {
			yield(nil, err)
			return
		}
		for i := range list {
			t := &list[i]
			if b.taken[t.Thread] {
				continue
			}
			if !yield(values{"thread": t.Thread, "seq": b.s.journal.change(t.Thread), "deleted_at": t.DeletedAt.UnixMicro(),
				"decisions": t.Decisions, "decision_hash": t.DecisionHash}, nil) {
				return
			}
		}
	}
}

func (b *backup) definitions(ctx context.Context) iter.Seq2[values, error] {
	return func(yield func(values, error) bool) {
		list, err := b.s.disk.List(b.s.definitions())
		if err != nil {
			yield(nil, err)
			return
		}
		for _, e := range list {
			if strings.HasSuffix(e.name, temporary) {
				continue
			}
			d, err := b.s.definitionIn(join(b.s.definitions(), e.name))
			var files []byte
			if err == nil {
				files, err = json.Marshal(d.Files)
			}
			if errors.Is(err, checkpoint.ErrCorrupt) {
				b.left = append(b.left, err)
				continue
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if !yield(values{"fingerprint": d.Fingerprint, "workflow": d.Workflow, "graph": d.Graph, "source": d.Source, "files": files}, nil) {
				return
			}
		}
	}
}
