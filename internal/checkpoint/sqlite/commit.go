package sqlite

import (
	"context"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/codec"
)

// Commit implements checkpoint.Store.
func (s *Store) Commit(ctx context.Context, c checkpoint.Commit) (checkpoint.Version, error) {
	var version checkpoint.Version
	if err := c.Validate(); err != nil {
		return version, err
	}
	// Encoded here, so that the transaction, which others wait for, holds only what must be in it.
	record, err := codec.EncodeRecord(&c.Checkpoint)
	if err != nil {
		return version, err
	}
	ops := codec.EncodeOps(c.Ops)
	err = s.write(ctx, func(t *tx) error {
		version, err = t.commit(&c, record, ops, s.now())
		return err
	})
	return version, err
}

func (t *tx) commit(c *checkpoint.Commit, record, ops []byte, now time.Time) (checkpoint.Version, error) {
	h, err := t.head(c.Checkpoint.Thread)
	if err != nil {
		return checkpoint.Version{}, err
	}
	if refused := t.admit(h, c, now); refused != nil {
		return t.repeated(c, refused)
	}
	if h == nil {
		h = &head{thread: c.Checkpoint.Thread, version: checkpoint.Version{Step: -1}}
	}
	leased := c.NewLease != nil || len(h.lease.Answers) > 0 || c.Release
	if err := c.Settle(&h.lease, now); err != nil {
		return checkpoint.Version{}, err
	}
	row := &stepRow{c: &c.Checkpoint, commit: c.ID, revision: 1, record: record, state: ops, base: h.frames.Base}
	if err := t.frame(h, c, row); err != nil {
		return checkpoint.Version{}, err
	}
	if err := t.insertStep(row); err != nil {
		return checkpoint.Version{}, err
	}
	if h.results {
		if err := t.exec("DELETE FROM results WHERE thread = ?", h.thread); err != nil {
			return checkpoint.Version{}, err
		}
	}
	if err := t.link(h, c.AllDecisions()); err != nil {
		return checkpoint.Version{}, err
	}
	h.version = checkpoint.Version{Step: c.Checkpoint.Step, Revision: 1}
	if err := t.saveHead(h, &c.Checkpoint, &c.Summary, c.NewThread, now); err != nil {
		return checkpoint.Version{}, err
	}
	if leased {
		err = t.saveLease(h, now, false)
	}
	return h.version, err
}

// admit checks what a commit is conditional on.
func (t *tx) admit(h *head, c *checkpoint.Commit, now time.Time) error {
	if h != nil {
		return c.AdmitNext(h.version, &h.lease, now)
	}
	var one int
	deleted, err := t.row("SELECT 1 FROM tombstones WHERE thread = ?", []any{c.Checkpoint.Thread}, &one)
	if err != nil {
		return err
	}
	return c.AdmitNew(deleted)
}

// repeated turns the refusal of a commit that is stored already into success.
func (t *tx) repeated(c *checkpoint.Commit, refused error) (checkpoint.Version, error) {
	v := checkpoint.Version{Step: c.Checkpoint.Step}
	var id string
	_, err := t.row("SELECT revision, commit_id FROM checkpoints WHERE thread = ? AND step = ?",
		[]any{c.Checkpoint.Thread, v.Step}, &v.Revision, &id)
	if err != nil {
		return checkpoint.Version{}, err
	}
	if id != c.ID {
		return checkpoint.Version{}, refused
	}
	return v, nil
}

// frame decides how the state of the step after h is stored, and accounts for it in h.
func (t *tx) frame(h *head, c *checkpoint.Commit, row *stepRow) error {
	first := h.version.Step < 0
	if !first && !h.frames.Due() {
		h.frames.Step(len(row.state))
		return nil
	}
	state := checkpoint.Channels{}
	var err error
	if !first {
		if state, err = channels(context.Background(), t, h.thread, h.version.Step); err != nil {
			return err
		}
	}
	if state, err = checkpoint.Apply(state, c.Ops); err != nil {
		return err
	}
	row.keyframe(state)
	h.frames.Keyframe(row.base, len(row.state))
	return nil
}

// stepRow is a row of checkpoints.
type stepRow struct {
	c        *checkpoint.Checkpoint
	commit   string
	revision int64
	base     int64
	record   []byte
	state    []byte
}

func (r *stepRow) keyframe(c checkpoint.Channels) {
	r.base, r.state = r.c.Step, codec.EncodeKeyframe(c)
}

func (t *tx) insertStep(r *stepRow) error {
	t.w.bytes += int64(len(r.state) + len(r.record))
	c := r.c
	return t.exec(`INSERT INTO checkpoints (thread, step, revision, base, ts, size, state_size, commit_id, source, ended, workflow,
		fingerprint, record, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		c.Thread, c.Step, r.revision, r.base, checkpoint.ToMicros(c.TS), len(r.record)+len(r.state), len(r.state), r.commit,
		string(c.Source), string(c.Ended), c.Workflow, c.Fingerprint, string(r.record), r.state)
}

// saveHead makes c the head of h, whose row is created when it is new.
func (t *tx) saveHead(h *head, c *checkpoint.Checkpoint, s *checkpoint.Summary, n *checkpoint.NewThread, now time.Time) error {
	next := shown{phase: string(s.Phase), due: sortTime(s.Due), waiting: sortTime(s.WaitingSince), workflow: c.Workflow}
	args := []any{h.version.Step, h.version.Revision, now.UnixMicro(), s.Questions, s.Answered, s.Node, s.Title, s.Assignee,
		s.Group, s.Priority, s.Error, c.Fingerprint, h.frames.Base, h.frames.BaseSize, h.frames.Steps, h.frames.Size,
		h.chain.Count, h.chain.Last}
	if h.id == 0 {
		return t.insertThread(h, c, n, next, args, now)
	}
	text := `UPDATE threads SET seq = ` + nextSeq + `, step = ?, revision = ?, updated = ?, questions = ?, answered = ?, node = ?,
		title = ?, assignee = ?, team = ?, priority = ?, error = ?, fingerprint = ?, base = ?, base_size = ?, chain_steps = ?,
		chain_size = ?, decisions = ?, decision_hash = ?, results = 0`
	if next != h.shown {
		text += `, phase = ?, due = ?, waiting = ?, workflow = ?`
		args = append(args, next.phase, next.due, next.waiting, next.workflow)
	}
	return t.exec(text+` WHERE id = ?`, append(args, h.id)...)
}

func (t *tx) insertThread(h *head, c *checkpoint.Checkpoint, n *checkpoint.NewThread, s shown, args []any, now time.Time) error {
	if n == nil {
		n = new(checkpoint.NewThread)
	}
	var origin checkpoint.Origin
	if c.Origin != nil {
		origin = *c.Origin
	}
	args = append(args, s.phase, s.due, s.waiting, s.workflow, h.thread, now.UnixMicro(), n.Workdir, n.StartedBy, origin.Thread, origin.Step)
	_, err := t.row(`INSERT INTO threads (seq, step, revision, updated, questions, answered, node, title, assignee, team, priority,
		error, fingerprint, base, base_size, chain_steps, chain_size, decisions, decision_hash, phase, due, waiting, workflow, thread,
		created, workdir, started_by, origin_thread, origin_step)
		VALUES (`+nextSeq+`, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING id`, args, &h.id)
	return err
}

// link appends decisions to the chain of h.
func (t *tx) link(h *head, ds []checkpoint.Decision) error {
	for i := range ds {
		d := ds[i]
		if d.ResponseID != "" {
			var one int
			known, err := t.row("SELECT 1 FROM decisions WHERE thread = ? AND response = ? AND response <> ''",
				[]any{h.thread, d.ResponseID}, &one)
			if err != nil {
				return err
			}
			if known {
				return checkpoint.DuplicateResponse(h.thread, d.ResponseID)
			}
		}
		h.chain.Append(h.thread, &d)
		if err := t.insertDecision(&d); err != nil {
			return err
		}
	}
	return nil
}
