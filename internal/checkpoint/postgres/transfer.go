package postgres

import (
	"context"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/codec"
)

// Export implements checkpoint.Store.
func (s *Store) Export(ctx context.Context, thread string) (*checkpoint.Bundle, error) {
	for {
		row, lease, err := s.exportRow(ctx, thread)
		if err != nil {
			return nil, err
		}
		results, err := readAll(ctx, s, scanResult, selectResults, thread)
		if err != nil {
			return nil, err
		}
		// Results go with each change of head or lease, and only become more between.
		again, _, err := s.exportRow(ctx, thread)
		if err != nil {
			return nil, err
		}
		if again.Seq == row.Seq {
			return checkpoint.NewBundle(ctx, s, *row, lease, results), nil
		}
	}
}

// exportRow reads a thread's row and its unapplied answers as of one moment.
func (s *Store) exportRow(ctx context.Context, thread string) (*checkpoint.ThreadInfo, *checkpoint.LeaseState, error) {
	type exported struct {
		seq     int64
		answers []byte
	}
	for {
		row, err := s.Thread(ctx, thread)
		if err != nil {
			return nil, nil, err
		}
		list, err := readAll(ctx, s, func(rows scanner, e *exported) error { return rows.Scan(&e.seq, &e.answers) },
			"SELECT seq, lease_answers FROM threads WHERE thread = $1", thread)
		switch {
		case err != nil:
			return nil, nil, err
		case len(list) == 0:
			return nil, nil, checkpoint.ThreadNotFound(thread)
		case list[0].seq != row.Seq:
			continue
		}
		answers, err := codec.DecodeList(list[0].answers)
		if err != nil {
			return nil, nil, &checkpoint.CorruptError{Thread: thread, Step: row.Step, Where: "threads.lease_answers", Err: err}
		}
		return row, &checkpoint.LeaseState{Answers: answers}, nil
	}
}

// Import implements checkpoint.Store, as one transaction.
func (s *Store) Import(ctx context.Context, b *checkpoint.Bundle, o checkpoint.ImportOptions) error {
	if err := b.Validate(); err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error { return t.importThread(b, o) })
}

// importBytes is about how much of a bundle is sent at once.
const importBytes = 4 << 20

func (t *tx) importThread(b *checkpoint.Bundle, o checkpoint.ImportOptions) error {
	row := &b.Thread
	there, buried, err := t.lockedOrBuried(row.Thread)
	if err != nil {
		return err
	}
	if there != nil {
		if t.again && there.version == row.Version() && there.chain == b.Chain() {
			return nil // taken in by the try whose answer was lost
		}
		return b.AdmitImport(&there.version, nil, o)
	}
	if err := b.AdmitImport(nil, buried, o); err != nil {
		return err
	}
	h := &head{isNew: true, thread: row.Thread, version: row.Version(), lease: b.Lease(), chain: b.Chain()}
	head, err := t.importSteps(h, b)
	if err != nil {
		return err
	}
	sent := 0
	for d, err := range b.CheckedDecisions(t.ctx, buried) {
		if err != nil {
			return err
		}
		t.insertDecision(d)
		if err := t.flushAfter(&sent, len(d.Data)+1000); err != nil {
			return err
		}
	}
	for i := range b.Results {
		t.insertResult(row.Thread, &b.Results[i])
		if err := t.flushAfter(&sent, len(b.Results[i].Data)); err != nil {
			return err
		}
	}
	t.queue("DELETE FROM tombstones WHERE thread = $1", row.Thread)
	t.now = checkpoint.Micro(row.Updated)
	t.saveHead(h, b.Head(head), &row.Summary, &checkpoint.NewThread{Workdir: row.Workdir, StartedBy: row.StartedBy})
	t.queue("UPDATE threads SET created = $2, results = $3 WHERE thread = $1", row.Thread, row.Created.UnixMicro(), len(b.Results) > 0)
	return nil
}

// flushAfter sends what is queued once it is much.
func (t *tx) flushAfter(sent *int, size int) error {
	if *sent += size; *sent < importBytes {
		return nil
	}
	*sent = 0
	return t.flush()
}

// importSteps writes the steps of a bundle, and gives the last.
func (t *tx) importSteps(h *head, b *checkpoint.Bundle) (*checkpoint.Checkpoint, error) {
	var framer codec.Framer
	var last *checkpoint.Checkpoint
	sent := 0
	for c, err := range b.CheckedSteps(t.ctx) {
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
		t.insertStep(row)
		if err := t.flushAfter(&sent, len(row.state)+len(row.record)); err != nil {
			return nil, err
		}
		last = c
	}
	h.frames = framer.Frames
	return last, nil
}

// lockedOrBuried locks the name of a thread, and then reads its row or its tombstone.
func (t *tx) lockedOrBuried(thread string) (h *head, buried *checkpoint.Tombstone, err error) {
	t.lockName(thread)
	t.ask(func(rows scanner) error {
		var at int64
		buried = &checkpoint.Tombstone{Thread: thread}
		err := rows.Scan(&at, &buried.Decisions, &buried.DecisionHash)
		buried.DeletedAt = checkpoint.FromMicros(at)
		return err
	}, "SELECT deleted_at, decisions, decision_hash FROM tombstones WHERE thread = $1", thread)
	h, err = t.head(thread)
	return h, buried, err
}

// Bury implements checkpoint.Store.
func (s *Store) Bury(ctx context.Context, stone checkpoint.Tombstone) error {
	return s.write(ctx, func(t *tx) error {
		h, buried, err := t.lockedOrBuried(stone.Thread)
		if err != nil {
			return err
		}
		if done, err := stone.AdmitBurial(h != nil, buried); err != nil || done {
			return err
		}
		t.changed = true
		t.insertTombstone(&stone)
		return nil
	})
}
