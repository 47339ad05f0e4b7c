package file

import (
	"context"
	"errors"
	"io/fs"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/codec"
)

// Export implements checkpoint.Store.
func (s *Store) Export(ctx context.Context, thread string) (*checkpoint.Bundle, error) {
	var b *checkpoint.Bundle
	err := s.settled(ctx, thread, func(h *head) error {
		results, err := s.pending(h)
		if err != nil {
			return err
		}
		// Results are added without a new head: under one lease they only ever become more.
		b = checkpoint.NewBundle(ctx, s, own(h.view(s.now(), 0)), &h.lease, results)
		return nil
	})
	return b, err
}

// Import implements checkpoint.Store. All files but the head are written first: without it they count for nothing.
func (s *Store) Import(ctx context.Context, b *checkpoint.Bundle, o checkpoint.ImportOptions) error {
	if err := b.Validate(); err != nil {
		return err
	}
	return s.write(ctx, b.Thread.Thread, func(t *session) error {
		buried, err := t.admitImport(b, o)
		if err != nil {
			return err
		}
		if err := t.importThread(ctx, b, buried); err != nil {
			if t.head == nil { // what is left is as good as gone, and Compact removes it
				_ = removeTree(s.disk, s.folder(t.thread))
			}
			return err
		}
		if buried == nil {
			return nil
		}
		// From here on the head tells that the tombstone counts no longer.
		if err := removed(s.disk, s.tombstone(t.thread)); err != nil {
			return err
		}
		return s.disk.Sync(s.tombstones())
	})
}

func (t *session) importThread(ctx context.Context, b *checkpoint.Bundle, buried *checkpoint.Tombstone) error {
	row := &b.Thread
	h := &head{lease: b.Lease(), chain: b.Chain(), info: checkpoint.ThreadInfo{Thread: row.Thread, Workdir: row.Workdir,
		StartedBy: row.StartedBy, Created: checkpoint.Micro(row.Created)}}
	if err := t.create(); err != nil {
		return err
	}
	// Many steps without a head are a thread that lost it, unless one is being written.
	if err := t.s.disk.Write(t.s.headFile(escape(t.thread))+temporary, nil); err != nil {
		return err
	}
	if err := t.s.disk.Sync(t.s.folder(t.thread)); err != nil {
		return err
	}
	if err := t.importSteps(ctx, h, b); err != nil {
		return err
	}
	if err := t.importDecisions(ctx, h, b, buried); err != nil {
		return err
	}
	now := t.now
	for i := range b.Results {
		t.now = now.Add(time.Duration(i) * time.Microsecond) // they are read in the order of their times
		if err := t.writeResult(h, &b.Results[i]); err != nil {
			return err
		}
	}
	t.now = checkpoint.Micro(row.Updated)
	return t.save(h, loud)
}

// importSteps writes the steps of a bundle and makes h lead to the last.
func (t *session) importSteps(ctx context.Context, h *head, b *checkpoint.Bundle) error {
	var framer codec.Framer
	var last link
	for c, err := range b.CheckedSteps(ctx) {
		if err != nil {
			return err
		}
		h.writes++
		p := &step{Checkpoint: *c, commit: c.Commit, write: h.writes}
		if p.ops, p.keyframe = framer.Next(c.Channels); !p.keyframe {
			p.parent = last
		}
		file, state, err := p.encode()
		if err != nil {
			return err
		}
		if err := t.s.disk.Write(t.s.stepFile(t.thread, c.Step), file); err != nil {
			return err
		}
		h.account(p, state)
		framer.Frames = h.frames
		last = link{c.Step, p.write}
		if c.Step == b.Thread.Step {
			h.lead(p, b.Thread.Summary)
			h.info.Workflow, h.info.Fingerprint, h.info.Origin = b.Thread.Workflow, b.Thread.Fingerprint, b.Thread.Origin
		}
	}
	return t.s.disk.Sync(t.s.steps(t.thread))
}

// importDecisions writes decisions.jsonl with the rows as they are.
func (t *session) importDecisions(ctx context.Context, h *head, b *checkpoint.Bundle, buried *checkpoint.Tombstone) error {
	const atOnce = 1 << 20
	var lines []byte
	flush := func() error {
		err := t.s.disk.Append(t.s.decisionsFile(t.thread), h.rows, lines, true)
		h.rows += int64(len(lines))
		lines = lines[:0]
		return err
	}
	for d, err := range b.CheckedDecisions(ctx, buried) {
		if err != nil {
			return err
		}
		l, err := encodeDecision(d)
		if err != nil {
			return err
		}
		if lines = append(lines, l...); len(lines) < atOnce {
			continue
		}
		if err := flush(); err != nil {
			return err
		}
	}
	if len(lines) == 0 {
		return nil
	}
	return flush()
}

// admitImport gives the tombstone in whose place the thread may come.
func (t *session) admitImport(b *checkpoint.Bundle, o checkpoint.ImportOptions) (*checkpoint.Tombstone, error) {
	if t.head != nil {
		v := t.head.info.Version()
		return nil, b.AdmitImport(&v, nil, o)
	}
	buried, err := t.buried()
	if err != nil {
		return nil, err
	}
	return buried, b.AdmitImport(nil, buried, o)
}

// buried reads the tombstone of the thread, nil for none.
func (t *session) buried() (*checkpoint.Tombstone, error) {
	stone, err := t.s.readTombstone(t.thread, t.s.tombstone(t.thread))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return stone, err
}

// Bury implements checkpoint.Store.
func (s *Store) Bury(ctx context.Context, stone checkpoint.Tombstone) error {
	return s.write(ctx, stone.Thread, func(t *session) error {
		buried, err := t.buried()
		if err != nil {
			return err
		}
		if done, err := stone.AdmitBurial(t.head != nil, buried); err != nil || done {
			return err
		}
		release, err := s.take(t.ctx, &s.shared, false)
		if err != nil {
			return err
		}
		if err = s.journal.append(line{Thread: text(t.thread)}); err == nil {
			err = t.writeTombstone(&stone)
		}
		release()
		if err == nil {
			s.hub.Wake()
		}
		return err
	})
}
