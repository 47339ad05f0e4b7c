package postgres

import (
	"context"
	"crypto/rand"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/codec"
)

// Put implements checkpoint.Store.
func (s *Store) Put(ctx context.Context, c checkpoint.Checkpoint, ifRevision *int64) (int64, error) {
	if err := c.Validate(); err != nil {
		return 0, err
	}
	c.Shown = nil
	record, err := codec.EncodeRecord(&c)
	if err != nil {
		return 0, err
	}
	row := &stepRow{c: &c, commit: codec.PutID(rand.Text()), record: record}
	row.keyframe(c.Channels)
	err = s.write(ctx, func(t *tx) error { return t.put(row, ifRevision) })
	if err != nil {
		return 0, err
	}
	return row.revision, nil
}

func (t *tx) put(row *stepRow, ifRevision *int64) error {
	c := row.c
	h, deleted, err := t.headOrName(c.Thread)
	switch {
	case err != nil:
		return err
	case h == nil && deleted:
		return checkpoint.AbsentConflict(c.Thread, c.Step, true)
	case h == nil:
		h = &head{isNew: true, thread: c.Thread, version: checkpoint.Version{Step: -1}}
	}
	var revision int64
	var id string
	if _, err := t.row("SELECT revision, commit_id FROM checkpoints WHERE thread = $1 AND step = $2", []any{c.Thread, c.Step},
		&revision, &id); err != nil {
		return err
	}
	if t.again && id == row.commit { // written by the try whose answer was lost
		row.revision = revision
		return nil
	}
	if err := c.AdmitRevision(ifRevision, revision); err != nil {
		return err
	}
	row.revision = revision + 1
	if err := t.detach(h, c.Step); err != nil {
		return err
	}
	t.queue("DELETE FROM checkpoints WHERE thread = $1 AND step = $2", c.Thread, c.Step)
	t.insertStep(row)
	if c.Step < h.version.Step {
		t.saveLease(h, true)
		return nil
	}
	h.version = checkpoint.Version{Step: c.Step, Revision: row.revision}
	h.frames.Keyframe(c.Step, len(row.state))
	if h.results {
		t.queue("DELETE FROM results WHERE thread = $1", h.thread)
	}
	summary := checkpoint.SummaryOf(c)
	t.saveHead(h, c, &summary, nil)
	return nil
}

// detach makes the step that follows after a keyframe, so that steps up to after can be replaced or deleted.
func (t *tx) detach(h *head, after int64) error {
	var step, base int64
	found, err := t.row("SELECT step, base FROM checkpoints WHERE thread = $1 AND step > $2 ORDER BY step LIMIT 1",
		[]any{h.thread, after}, &step, &base)
	if err != nil || !found || base == step {
		return err
	}
	state, err := t.channels(h.thread, step)
	if err != nil {
		return err
	}
	frame := codec.EncodeKeyframe(state)
	t.queue(`UPDATE checkpoints SET base = step, size = size - state_size + $3, state_size = $3, state = $4
		WHERE thread = $1 AND step = $2`, h.thread, step, int64(len(frame)), frame)
	t.queue("UPDATE checkpoints SET base = $2 WHERE thread = $1 AND step > $2 AND base = $3", h.thread, step, base)
	if h.frames.Base != base {
		return nil
	}
	h.frames.Keyframe(step, len(frame))
	t.ask(func(rows scanner) error { return rows.Scan(&h.frames.Steps, &h.frames.Size) },
		"SELECT count(*), coalesce(sum(state_size), 0)::bigint FROM checkpoints WHERE thread = $1 AND step > $2", h.thread, step)
	if err := t.flush(); err != nil {
		return err
	}
	t.queue("UPDATE threads SET base = $2, base_size = $3, chain_steps = $4, chain_size = $5 WHERE thread = $1",
		h.thread, h.frames.Base, h.frames.BaseSize, h.frames.Steps, h.frames.Size)
	return nil
}
