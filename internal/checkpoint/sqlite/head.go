package sqlite

import (
	"math"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/codec"
)

// head is what a write needs of a thread's row.
type head struct {
	id       int64
	thread   string
	version  checkpoint.Version
	workflow string
	lease    checkpoint.LeaseState
	chain    checkpoint.Chain
	linked   bool // decisions were added to it
	results  bool // some may be stored
	stepping bool
	shown    shown
	told     *told // nil when not known
	frames   codec.Frames
}

// shown are the columns of the row that indexes hold: an update that names them rewrites the indexes even where
// nothing changes, so they are named only when something does.
type shown struct {
	phase        string
	due, waiting int64
	workflow     string
}

// told are the texts and counts of the row that mostly stay as they are: handing SQLite a text costs more than what it
// does with it, so they too are named only when they change.
type told struct {
	questions, answered                               int
	title, assignee, team, priority, err, fingerprint string
}

const selectHead = `SELECT id, step, revision, workflow, phase, due, waiting, lease_token, lease_holder, lease_until, lease_own,
	cancel, cancel_by, lease_answers, decisions, decision_hash, results, stepping, base, base_size, chain_steps,
	chain_size
	FROM threads WHERE thread = ?`

// head gives the row of a thread, nil when it is not there. Whoever has it may write to the row.
func (t *tx) head(thread string) (*head, error) {
	if h := t.w.known.take(thread); h != nil {
		return h, nil
	}
	h := &head{thread: thread}
	var until int64
	var answers []byte
	found, err := t.row(selectHead, []any{thread}, &h.id, &h.version.Step, &h.version.Revision, &h.workflow,
		&h.shown.phase, &h.shown.due, &h.shown.waiting, &h.lease.Token, &h.lease.Holder, &until, &h.lease.Own,
		&h.lease.Cancel, &h.lease.CancelledBy, &answers, &h.chain.Count, &h.chain.Last, &h.results,
		&h.stepping, &h.frames.Base, &h.frames.BaseSize, &h.frames.Steps, &h.frames.Size)
	if err != nil || !found {
		return nil, err
	}
	h.shown.workflow = h.workflow
	if until != 0 {
		h.lease.Until = checkpoint.FromMicros(until)
	}
	if h.lease.Answers, err = codec.DecodeList(answers); err != nil {
		return nil, &checkpoint.CorruptError{Thread: thread, Step: h.version.Step, Where: "threads.lease_answers", Err: err}
	}
	return h, nil
}

// present is head for a thread that must be there.
func (t *tx) present(thread string) (*head, error) {
	h, err := t.head(thread)
	if err == nil && h == nil {
		err = checkpoint.ThreadNotFound(thread)
	}
	return h, err
}

// held is head for the holder of a lease, which a thread that is gone has lost.
func (t *tx) held(thread, token string, now time.Time) (*head, error) {
	h, err := t.head(thread)
	if err != nil {
		return nil, err
	}
	if h == nil {
		return nil, t.absent(thread, 0)
	}
	return h, h.lease.Held(thread, token, now)
}

// absent is the conflict of a write on a thread that is not there.
func (t *tx) absent(thread string, step int64) error {
	var one int
	deleted, err := t.row("SELECT 1 FROM tombstones WHERE thread = ?", []any{thread}, &one)
	if err != nil {
		return err
	}
	return checkpoint.AbsentConflict(thread, step, deleted)
}

// saveLease stores lease and chain; with changed it is a change that watchers are to see.
func (t *tx) saveLease(h *head, now time.Time, changed bool) error {
	text := "UPDATE threads SET "
	args := []any{}
	if changed {
		seq, err := t.next()
		if err != nil {
			return err
		}
		text += "seq = ?, stepping = 0, updated = ?, "
		args = append(args, seq, now.UnixMicro())
	}
	l := &h.lease
	var until int64
	if l.Token != "" {
		until = l.Until.UnixMicro()
	}
	args = append(args, l.Token, l.Holder, until, len(l.Answers), l.Own, l.Cancel, l.CancelledBy, codec.EncodeList(l.Answers),
		h.chain.Count, h.chain.Last, h.id)
	return t.exec(text+`lease_token = ?, lease_holder = ?, lease_until = ?, answers = ?, lease_own = ?, cancel = ?, cancel_by = ?,
		lease_answers = ?, decisions = ?, decision_hash = ? WHERE id = ?`, args...)
}

// sortTime is how due and waiting are kept: the largest integer where there is none.
func sortTime(t *time.Time) int64 {
	if t == nil {
		return math.MaxInt64
	}
	return t.UnixMicro()
}
