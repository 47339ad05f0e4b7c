package sqlite

import (
	"context"
	"time"

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
	var revision int64
	err = s.write(ctx, func(t *tx) error {
		revision, err = t.put(&c, record, ifRevision, s.now())
		return err
	})
	return revision, err
}

func (t *tx) put(c *checkpoint.Checkpoint, record []byte, ifRevision *int64, now time.Time) (int64, error) {
	h, err := t.head(c.Thread)
	if err != nil {
		return 0, err
	}
	if h == nil {
		if err := t.admit(nil, &checkpoint.Commit{Checkpoint: *c, Parent: -1}, now); err != nil {
			return 0, err
		}
		h = &head{thread: c.Thread, version: checkpoint.Version{Step: -1}}
	}
	var revision int64
	if _, err := t.row("SELECT revision FROM checkpoints WHERE thread = ? AND step = ?", []any{c.Thread, c.Step}, &revision); err != nil {
		return 0, err
	}
	if err := c.AdmitRevision(ifRevision, revision); err != nil {
		return 0, err
	}
	revision++
	row := &stepRow{c: c, revision: revision, record: record}
	row.keyframe(c.Channels)
	if err := t.detach(h, c.Step); err != nil {
		return 0, err
	}
	if err := t.exec("DELETE FROM checkpoints WHERE thread = ? AND step = ?", c.Thread, c.Step); err != nil {
		return 0, err
	}
	if err := t.insertStep(row); err != nil {
		return 0, err
	}
	if c.Step < h.version.Step {
		return revision, t.saveLease(h, now, true)
	}
	h.version = checkpoint.Version{Step: c.Step, Revision: revision}
	h.frames.Keyframe(c.Step, len(row.state))
	if h.results {
		if err := t.exec("DELETE FROM results WHERE thread = ?", h.thread); err != nil {
			return 0, err
		}
	}
	summary := checkpoint.SummaryOf(c)
	return revision, t.saveHead(h, c, &summary, nil, now)
}

// detach makes the step that follows after a keyframe, so that steps up to after can be replaced or deleted.
func (t *tx) detach(h *head, after int64) error {
	var step, base int64
	found, err := t.row("SELECT step, base FROM checkpoints WHERE thread = ? AND step > ? ORDER BY step LIMIT 1",
		[]any{h.thread, after}, &step, &base)
	if err != nil || !found || base == step {
		return err
	}
	state, err := channels(context.Background(), t, h.thread, step)
	if err != nil {
		return err
	}
	frame := codec.EncodeKeyframe(state)
	t.w.bytes += int64(len(frame))
	if err := t.exec(`UPDATE checkpoints SET base = step, size = size - state_size + ?, state_size = ?, state = ?
		WHERE thread = ? AND step = ?`, len(frame), len(frame), frame, h.thread, step); err != nil {
		return err
	}
	if err := t.exec("UPDATE checkpoints SET base = ? WHERE thread = ? AND step > ? AND base = ?", step, h.thread, step, base); err != nil {
		return err
	}
	if h.frames.Base != base {
		return nil
	}
	h.frames.Keyframe(step, len(frame))
	if _, err := t.row("SELECT count(*), coalesce(sum(state_size), 0) FROM checkpoints WHERE thread = ? AND step > ?",
		[]any{h.thread, step}, &h.frames.Steps, &h.frames.Size); err != nil {
		return err
	}
	return t.exec("UPDATE threads SET base = ?, base_size = ?, chain_steps = ?, chain_size = ? WHERE id = ?",
		h.frames.Base, h.frames.BaseSize, h.frames.Steps, h.frames.Size, h.id)
}
