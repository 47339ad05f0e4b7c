package sqlite

import (
	"context"
	"strings"
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
	c.Show()
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
	if err == nil && h.stepping && len(h.lease.Answers) == 0 {
		t.w.known.keep(h)
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

// insertStep stores a step as a change of its own: the number of the change is the id of its row.
func (t *tx) insertStep(r *stepRow) error {
	id, err := t.next()
	if err != nil {
		return err
	}
	t.w.bytes += int64(len(r.state) + len(r.record))
	c := r.c
	return t.exec(`INSERT INTO checkpoints (id, thread, step, revision, base, ts, size, state_size, commit_id, source, ended, workflow,
		fingerprint, record, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		id, c.Thread, c.Step, r.revision, r.base, checkpoint.ToMicros(c.TS), len(r.record)+len(r.state), len(r.state), r.commit,
		string(c.Source), string(c.Ended), c.Workflow, c.Fingerprint, string(r.record), r.state)
}

// saveHead makes c, the step inserted last, the head of h, whose row is created when it is new. Of a row that is there it
// names what changes.
func (t *tx) saveHead(h *head, c *checkpoint.Checkpoint, s *checkpoint.Summary, n *checkpoint.NewThread, now time.Time) error {
	places := shown{phase: string(s.Phase), due: sortTime(s.Due), waiting: sortTime(s.WaitingSince), workflow: c.Workflow}
	tells := told{questions: s.Questions, answered: s.Answered, title: s.Title, assignee: s.Assignee, team: s.Group,
		priority: s.Priority, err: s.Error, fingerprint: c.Fingerprint}
	row := rowOfThread{values: make([]any, 0, 40)}
	row.set("seq, step, revision, updated, node, base, base_size, chain_steps, chain_size", t.w.known.seq, h.version.Step,
		h.version.Revision, now.UnixMicro(), s.Node, h.frames.Base, h.frames.BaseSize, h.frames.Steps, h.frames.Size)
	if h.id == 0 || h.told == nil || *h.told != tells {
		row.set("questions, answered, title, assignee, team, priority, error, fingerprint", tells.questions, tells.answered,
			tells.title, tells.assignee, tells.team, tells.priority, tells.err, tells.fingerprint)
	}
	if h.id == 0 || h.shown != places {
		row.set("phase, due, waiting, workflow", places.phase, places.due, places.waiting, places.workflow)
	}
	if stepping := h.lease.Token != ""; stepping != h.stepping {
		row.set("stepping", stepping)
		h.stepping = stepping
	}
	if h.linked {
		row.set("decisions, decision_hash", h.chain.Count, h.chain.Last)
	}
	if h.results {
		row.set("results", false)
	}
	h.shown, h.told, h.workflow, h.linked, h.results = places, &tells, c.Workflow, false, false
	if h.id == 0 {
		return t.insertThread(h, &row, n, c.Origin, now)
	}
	return t.exec("UPDATE threads SET ("+row.columns+") = ("+row.marks+") WHERE id = ?", append(row.values, h.id)...)
}

func (t *tx) insertThread(h *head, row *rowOfThread, n *checkpoint.NewThread, origin *checkpoint.Origin, now time.Time) error {
	row.set("thread, created", h.thread, now.UnixMicro())
	if n == nil {
		n = new(checkpoint.NewThread)
	}
	row.set("workdir, started_by", n.Workdir, n.StartedBy)
	if origin != nil {
		row.set("origin_thread, origin_step", origin.Thread, origin.Step)
	}
	_, err := t.row("INSERT INTO threads ("+row.columns+") VALUES ("+row.marks+") RETURNING id", row.values, &h.id)
	return err
}

// rowOfThread are columns of a row of threads and what is to stand in them.
type rowOfThread struct {
	columns, marks string
	values         []any
}

func (r *rowOfThread) set(columns string, values ...any) {
	marks := strings.Repeat(", ?", len(values))[len(", "):]
	if r.columns != "" {
		columns, marks = r.columns+", "+columns, r.marks+", "+marks
	}
	r.columns, r.marks, r.values = columns, marks, append(r.values, values...)
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
		h.linked = true
		if err := t.insertDecision(&d); err != nil {
			return err
		}
	}
	return nil
}
