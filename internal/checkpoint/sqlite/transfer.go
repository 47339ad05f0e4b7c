package sqlite

import (
	"context"
	"database/sql"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/codec"
)

// Export implements checkpoint.Store.
func (s *Store) Export(ctx context.Context, thread string) (*checkpoint.Bundle, error) {
	b, err := s.export(ctx, thread)
	return b, classify(err)
}

// export reads row, answers and results in one transaction of a reader, which ends before steps are read.
func (s *Store) export(ctx context.Context, thread string) (*checkpoint.Bundle, error) {
	conn, err := s.readers.db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	q := snapshot{tx}
	list, err := threads(ctx, q, s.now(), 1, "SELECT "+threadColumns+" FROM threads WHERE thread = ?", thread)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, checkpoint.ThreadNotFound(thread)
	}
	var answers []byte
	if _, err := rowOf(ctx, q, "SELECT lease_answers FROM threads WHERE thread = ?", []any{thread}, &answers); err != nil {
		return nil, err
	}
	var lease checkpoint.LeaseState
	if lease.Answers, err = codec.DecodeList(answers); err != nil {
		return nil, &checkpoint.CorruptError{Thread: thread, Step: list[0].Step, Where: "threads.lease_answers", Err: err}
	}
	results, err := pending(ctx, q, thread)
	if err != nil {
		return nil, err
	}
	return checkpoint.NewBundle(ctx, s, list[0], &lease, results), nil
}

// snapshot is a reader's transaction.
type snapshot struct{ tx *sql.Tx }

func (s snapshot) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	return s.tx.QueryContext(ctx, text, args...)
}

// Import implements checkpoint.Store. It is one transaction, for whose duration nobody else writes to the file: the
// bundle should come from where it can be read without waiting.
func (s *Store) Import(ctx context.Context, b *checkpoint.Bundle, o checkpoint.ImportOptions) error {
	if err := b.Validate(); err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error { return t.importThread(ctx, b, o) })
}

func (t *tx) importThread(ctx context.Context, b *checkpoint.Bundle, o checkpoint.ImportOptions) error {
	row := &b.Thread
	buried, err := t.admitImport(b, o)
	if err != nil {
		return err
	}
	h := &head{thread: row.Thread, version: row.Version(), lease: b.Lease(), chain: b.Chain()}
	head, err := t.importSteps(ctx, h, b)
	if err != nil {
		return err
	}
	for d, err := range b.CheckedDecisions(ctx, buried) {
		if err == nil {
			err = t.insertDecision(d)
		}
		if err != nil {
			return err
		}
	}
	for i := range b.Results {
		if err := t.insertResult(row.Thread, &b.Results[i]); err != nil {
			return err
		}
	}
	if err := t.exec("DELETE FROM tombstones WHERE thread = ?", row.Thread); err != nil {
		return err
	}
	start := checkpoint.NewThread{Workdir: row.Workdir, StartedBy: row.StartedBy}
	if err := t.saveHead(h, b.Head(head), &row.Summary, &start, row.Updated); err != nil {
		return err
	}
	if err := t.exec("UPDATE threads SET created = ?, results = ? WHERE id = ?", row.Created.UnixMicro(), len(b.Results) > 0, h.id); err != nil {
		return err
	}
	return t.saveLease(h, time.Time{}, false)
}

// importSteps writes the steps of a bundle, and gives the last.
func (t *tx) importSteps(ctx context.Context, h *head, b *checkpoint.Bundle) (*checkpoint.Checkpoint, error) {
	var framer codec.Framer
	var last *checkpoint.Checkpoint
	for c, err := range b.CheckedSteps(ctx) {
		if err != nil {
			return nil, err
		}
		row := &stepRow{c: c, commit: c.Commit, revision: c.Revision, base: framer.Frames.Base}
		if row.record, err = codec.EncodeRecord(c); err != nil {
			return nil, err
		}
		if ops, keyframe := framer.Next(c.Channels); keyframe {
			row.keyframe(c.Channels)
			framer.Frames.Keyframe(c.Step, len(row.state))
		} else {
			row.state = codec.EncodeOps(ops)
			framer.Frames.Step(len(row.state))
		}
		if err := t.insertStep(row); err != nil {
			return nil, err
		}
		last = c
	}
	h.frames = framer.Frames
	return last, nil
}

// admitImport gives the tombstone in whose place the thread may come.
func (t *tx) admitImport(b *checkpoint.Bundle, o checkpoint.ImportOptions) (*checkpoint.Tombstone, error) {
	h, err := t.head(b.Thread.Thread)
	if err != nil {
		return nil, err
	}
	var version *checkpoint.Version
	if h != nil {
		version = &h.version
	}
	buried, err := t.buried(b.Thread.Thread)
	if err != nil {
		return nil, err
	}
	return buried, b.AdmitImport(version, buried, o)
}

// buried reads a tombstone, nil for none.
func (t *tx) buried(thread string) (*checkpoint.Tombstone, error) {
	stone := &checkpoint.Tombstone{Thread: thread}
	var at int64
	found, err := t.row("SELECT deleted_at, decisions, decision_hash FROM tombstones WHERE thread = ?", []any{thread},
		&at, &stone.Decisions, &stone.DecisionHash)
	if err != nil || !found {
		return nil, err
	}
	stone.DeletedAt = checkpoint.FromMicros(at)
	return stone, nil
}

// Bury implements checkpoint.Store.
func (s *Store) Bury(ctx context.Context, stone checkpoint.Tombstone) error {
	return s.write(ctx, func(t *tx) error {
		h, err := t.head(stone.Thread)
		if err != nil {
			return err
		}
		buried, err := t.buried(stone.Thread)
		if err != nil {
			return err
		}
		if done, err := stone.AdmitBurial(h != nil, buried); err != nil || done {
			return err
		}
		return t.insertTombstone(&stone)
	})
}
