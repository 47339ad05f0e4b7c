package postgres

import (
	"math"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/codec"
)

// head is what a write needs of a thread's row.
type head struct {
	isNew    bool
	thread   string
	version  checkpoint.Version
	lease    checkpoint.LeaseState
	released string // the token that was given back last
	chain    checkpoint.Chain
	results  bool // some may be stored
	frames   codec.Frames
}

const selectHead = `SELECT step, revision, lease_token, lease_holder, lease_until, lease_own, lease_released, cancel, cancel_by,
	lease_answers, decisions, decision_hash, results, base, base_size, chain_steps, chain_size
	FROM threads WHERE thread = $1 FOR UPDATE`

func (h *head) scan(rows scanner) error {
	var until int64
	var answers []byte
	err := rows.Scan(&h.version.Step, &h.version.Revision, &h.lease.Token, &h.lease.Holder, &until, &h.lease.Own, &h.released,
		&h.lease.Cancel, &h.lease.CancelledBy, &answers, &h.chain.Count, &h.chain.Last, &h.results, &h.frames.Base,
		&h.frames.BaseSize, &h.frames.Steps, &h.frames.Size)
	if err != nil {
		return err
	}
	if until != 0 {
		h.lease.Until = checkpoint.FromMicros(until)
	}
	if h.lease.Answers, err = codec.DecodeList(answers); err != nil {
		return &checkpoint.CorruptError{Thread: h.thread, Step: h.version.Step, Where: "threads.lease_answers", Err: err}
	}
	return nil
}

// head locks and reads the row of a thread, nil when it is not there, and then the time.
func (t *tx) head(thread string) (*head, error) {
	var h *head
	t.ask(func(rows scanner) error {
		h = &head{thread: thread}
		return h.scan(rows)
	}, selectHead, thread)
	t.askNow()
	err := t.flush()
	return h, err
}

// lockName keeps everybody else from creating or deleting a thread until the transaction ends. The row of a thread that
// is not there cannot be locked, and a row that is inserted shows nothing of a tombstone left a moment ago.
func (t *tx) lockName(thread string) {
	t.queue("SELECT pg_advisory_xact_lock('tombstones'::regclass::oid::integer, hashtext($1))", thread)
}

// headOrName is head; where there is no such row it locks the name, looks again, and tells whether the thread was deleted.
func (t *tx) headOrName(thread string) (h *head, deleted bool, err error) {
	if h, err = t.head(thread); err != nil || h != nil {
		return h, false, err
	}
	t.lockName(thread)
	t.ask(func(scanner) error {
		deleted = true
		return nil
	}, "SELECT 1 FROM tombstones WHERE thread = $1", thread)
	h, err = t.head(thread)
	return h, deleted, err
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
func (t *tx) held(thread, token string) (*head, error) {
	h, deleted, err := t.headOrName(thread)
	switch {
	case err != nil:
		return nil, err
	case h == nil:
		return nil, checkpoint.AbsentConflict(thread, 0, deleted)
	default:
		return h, h.lease.Held(thread, token, t.now)
	}
}

// saveLease stores lease and chain; with changed it is a change that watchers are to see.
func (t *tx) saveLease(h *head, changed bool) {
	text := `UPDATE threads SET lease_token = $2, lease_holder = $3, lease_until = $4, answers = $5, lease_own = $6, lease_released = $7,
		cancel = $8, cancel_by = $9, lease_answers = $10, decisions = $11, decision_hash = $12`
	args := append(append([]any{h.thread}, h.leaseArgs()...), h.chain.Count, h.chain.Last)
	if changed {
		text += ", seq = next_seq(), updated = $13"
		args = append(args, t.now.UnixMicro())
		t.changed = true
	}
	t.queue(text+" WHERE thread = $1", args...)
}

func (h *head) leaseArgs() []any {
	l := &h.lease
	var until int64
	if l.Token != "" {
		until = l.Until.UnixMicro()
	}
	return []any{l.Token, l.Holder, until, len(l.Answers), l.Own, h.released, l.Cancel, l.CancelledBy, codec.EncodeList(l.Answers)}
}

// giveBack ends the lease; its token is remembered, so that whoever lost the answer to giving it back can be told.
func (h *head) giveBack(withdraw bool) {
	h.released = h.lease.Token
	h.lease.GiveBack(withdraw)
}

// saveHead makes c the head of h, whose row is created when it is new, and stores lease and chain.
func (t *tx) saveHead(h *head, c *checkpoint.Checkpoint, s *checkpoint.Summary, n *checkpoint.NewThread) {
	t.changed = true
	h.results = false
	now := t.now.UnixMicro()
	args := append([]any{h.thread}, h.leaseArgs()...)
	args = append(args, h.chain.Count, h.chain.Last, h.version.Step, h.version.Revision, string(s.Phase), sortTime(s.Due),
		sortTime(s.WaitingSince), now, s.Questions, s.Answered, c.Workflow, s.Node, s.Title, s.Assignee, s.Group, s.Priority, s.Error,
		h.frames.Base, h.frames.BaseSize, h.frames.Steps, h.frames.Size, c.Fingerprint)
	if !h.isNew {
		t.queue(`UPDATE threads SET seq = next_seq(), results = false, (lease_token, lease_holder, lease_until, answers, lease_own,
			lease_released, cancel, cancel_by, lease_answers, `+headColumns+`) = ROW($2, $3, $4, $5, $6, $7, $8, $9, $10, `+headMarks+`)
			WHERE thread = $1`, args...)
		return
	}
	if n == nil {
		n = new(checkpoint.NewThread)
	}
	var origin checkpoint.Origin
	if c.Origin != nil {
		origin = *c.Origin
	}
	t.queue(`INSERT INTO threads (seq, thread, lease_token, lease_holder, lease_until, answers, lease_own, lease_released, cancel,
		cancel_by, lease_answers, `+headColumns+`, created, workdir, started_by, origin_thread, origin_step)
		VALUES (next_seq(), $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, `+headMarks+`, $33, $34, $35, $36, $37)`,
		append(args, now, n.Workdir, n.StartedBy, origin.Thread, origin.Step)...)
}

// The columns of a row that a new head sets, and their parameters.
const (
	headColumns = `decisions, decision_hash, step, revision, phase, due, waiting, updated, questions, answered, workflow, node, title,
		assignee, team, priority, error, base, base_size, chain_steps, chain_size, fingerprint`
	headMarks = `$11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32`
)

// sortTime is how due and waiting are kept: the largest integer where there is none.
func sortTime(t *time.Time) int64 {
	if t == nil {
		return math.MaxInt64
	}
	return t.UnixMicro()
}
