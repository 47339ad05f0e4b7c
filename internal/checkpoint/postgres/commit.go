package postgres

import (
	"context"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/codec"
)

// Commit implements checkpoint.Store.
func (s *Store) Commit(ctx context.Context, c checkpoint.Commit) (checkpoint.Version, error) {
	var version checkpoint.Version
	if err := c.Validate(); err != nil {
		return version, err
	}
	c.Show()
	// Encoded here, so that nothing is under lock meanwhile.
	record, err := codec.EncodeRecord(&c.Checkpoint)
	if err != nil {
		return version, err
	}
	ops := codec.EncodeOps(c.Ops)
	err = s.write(ctx, func(t *tx) error {
		version, err = t.commitStep(&c, record, ops)
		return err
	})
	return version, err
}

func (t *tx) commitStep(c *checkpoint.Commit, record, ops []byte) (checkpoint.Version, error) {
	h, deleted, err := t.headOrName(c.Checkpoint.Thread)
	if err != nil {
		return checkpoint.Version{}, err
	}
	var refused error
	if h == nil {
		refused = c.AdmitNew(deleted)
		h = &head{isNew: true, thread: c.Checkpoint.Thread, version: checkpoint.Version{Step: -1}}
	} else {
		refused = c.AdmitNext(h.version, &h.lease, t.now)
	}
	if refused != nil {
		return t.repeated(c, refused)
	}
	if err := c.Settle(&h.lease, t.now); err != nil {
		return checkpoint.Version{}, err
	}
	row := &stepRow{c: &c.Checkpoint, commit: c.ID, revision: 1, record: record, state: ops, base: h.frames.Base}
	if err := t.frame(h, c, row); err != nil {
		return checkpoint.Version{}, err
	}
	t.insertStep(row)
	if h.results {
		t.queue("DELETE FROM results WHERE thread = $1", h.thread)
	}
	if err := t.link(h, c.AllDecisions()); err != nil {
		return checkpoint.Version{}, err
	}
	h.version = checkpoint.Version{Step: c.Checkpoint.Step, Revision: 1}
	t.saveHead(h, &c.Checkpoint, &c.Summary, c.NewThread)
	return h.version, nil
}

// repeated turns the refusal of a commit that is stored already into success.
func (t *tx) repeated(c *checkpoint.Commit, refused error) (checkpoint.Version, error) {
	v := checkpoint.Version{Step: c.Checkpoint.Step}
	var id string
	_, err := t.row("SELECT revision, commit_id FROM checkpoints WHERE thread = $1 AND step = $2",
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
		if state, err = t.channels(h.thread, h.version.Step); err != nil {
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

func (t *tx) insertStep(r *stepRow) {
	c := r.c
	t.queue(`INSERT INTO checkpoints (thread, step, revision, base, ts, size, state_size, commit_id, source, ended, workflow, fingerprint,
		record, state) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)`,
		c.Thread, c.Step, r.revision, r.base, checkpoint.ToMicros(c.TS), len(r.record)+len(r.state), len(r.state), r.commit,
		string(c.Source), string(c.Ended), c.Workflow, c.Fingerprint, string(r.record), r.state)
}

// link appends decisions to the chain of h.
func (t *tx) link(h *head, ds []checkpoint.Decision) error {
	known := make(map[string]bool)
	for i := range ds {
		if id := ds[i].ResponseID; id != "" {
			t.ask(func(scanner) error {
				known[id] = true
				return nil
			}, "SELECT 1 FROM decisions WHERE thread = $1 AND response = $2 AND response <> ''", h.thread, id)
		}
	}
	if t.batch.Len() > 0 && len(ds) > 0 {
		if err := t.flush(); err != nil {
			return err
		}
	}
	for i := range ds {
		d := ds[i]
		if known[d.ResponseID] {
			return checkpoint.DuplicateResponse(h.thread, d.ResponseID)
		}
		known[d.ResponseID] = d.ResponseID != ""
		h.chain.Append(h.thread, &d)
		t.insertDecision(&d)
	}
	return nil
}
