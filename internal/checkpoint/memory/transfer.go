package memory

import (
	"context"
	"slices"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// Export implements checkpoint.Store.
func (s *Store) Export(ctx context.Context, id string) (*checkpoint.Bundle, error) {
	t, err := s.enter(ctx, id)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return checkpoint.NewBundle(ctx, s, s.view(t, s.time()), &t.lease, cloneResults(t.results)), nil
}

func cloneResults(list []checkpoint.PendingResult) []checkpoint.PendingResult {
	var out []checkpoint.PendingResult
	for _, r := range list {
		r.Data = slices.Clone(r.Data)
		out = append(out, r)
	}
	return out
}

// Import implements checkpoint.Store. The bundle is read without the lock, so what it depends on is looked at again.
func (s *Store) Import(ctx context.Context, b *checkpoint.Bundle, o checkpoint.ImportOptions) error {
	if err := b.Validate(); err != nil {
		return err
	}
	if err := s.lock(ctx); err != nil {
		return err
	}
	buried, err := s.admitImport(b, o)
	s.mu.Unlock()
	if err != nil {
		return err
	}
	t, err := taken(ctx, b, buried)
	if err != nil {
		return err
	}
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if _, err := s.admitImport(b, o); err != nil {
		return err
	}
	s.tombstones = slices.DeleteFunc(s.tombstones, func(d tombstone) bool { return d.Thread == b.Thread.Thread })
	s.threads[b.Thread.Thread] = t
	s.seq++
	t.info.Seq = s.seq
	s.hub.Wake()
	return nil
}

// admitImport gives the tombstone in whose place the thread may come.
func (s *Store) admitImport(b *checkpoint.Bundle, o checkpoint.ImportOptions) (*checkpoint.Tombstone, error) {
	var head *checkpoint.Version
	if t := s.threads[b.Thread.Thread]; t != nil {
		v := t.info.Version()
		head = &v
	}
	buried := s.buried(b.Thread.Thread)
	return buried, b.AdmitImport(head, buried, o)
}

func (s *Store) buried(id string) *checkpoint.Tombstone {
	for i := range s.tombstones {
		if s.tombstones[i].Thread == id {
			t := s.tombstones[i].Tombstone
			return &t
		}
	}
	return nil
}

// taken is the thread that a bundle holds.
func taken(ctx context.Context, b *checkpoint.Bundle, buried *checkpoint.Tombstone) (*thread, error) {
	row := &b.Thread
	t := &thread{lease: b.Lease(), results: cloneResults(b.Results), chain: b.Chain()}
	t.info = checkpoint.ThreadInfo{Thread: row.Thread, Workdir: row.Workdir, StartedBy: row.StartedBy,
		Created: checkpoint.Micro(row.Created), Updated: checkpoint.Micro(row.Updated)}
	for c, err := range b.CheckedSteps(ctx) {
		if err != nil {
			return nil, err
		}
		if c = c.Clone(); c.Channels == nil {
			c.Channels = checkpoint.Channels{}
		}
		t.put(c, c.Commit)
		if c.Step == row.Step {
			t.setHead(b.Head(c), row.Summary)
		}
	}
	for d, err := range b.CheckedDecisions(ctx, buried) {
		if err != nil {
			return nil, err
		}
		t.decisions = append(t.decisions, d.Clone())
	}
	return t, nil
}

// Bury implements checkpoint.Store.
func (s *Store) Bury(ctx context.Context, t checkpoint.Tombstone) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	done, err := t.AdmitBurial(s.threads[t.Thread] != nil, s.buried(t.Thread))
	if err != nil || done {
		return err
	}
	t.DeletedAt = checkpoint.Micro(t.DeletedAt)
	s.seq++
	s.tombstones = append(s.tombstones, tombstone{seq: s.seq, Tombstone: t})
	s.hub.Wake()
	return nil
}
