package memory

import (
	"slices"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// Rewrite puts other decision rows in place of a thread's.
func (s *Store) Rewrite(thread string, rows []*checkpoint.Decision) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.threads[thread].decisions = rows
}

// ChangeRow changes a thread's row.
func (s *Store) ChangeRow(thread string, change func(*checkpoint.ThreadInfo)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.threads[thread]
	t.info.Decisions, t.info.DecisionHash = t.chain.Count, t.chain.Last
	change(&t.info)
	t.chain = checkpoint.Chain{Count: t.info.Decisions, Last: t.info.DecisionHash}
}

// RemoveStep removes a step.
func (s *Store) RemoveStep(thread string, n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.threads[thread]
	t.steps = slices.DeleteFunc(t.steps, func(s *step) bool { return s.Step == n })
}

// ChangeStone puts another tombstone in place of a thread's, or none.
func (s *Store) ChangeStone(thread string, b *checkpoint.Tombstone) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := slices.IndexFunc(s.tombstones, func(b tombstone) bool { return b.Thread == thread })
	if b == nil {
		s.tombstones = slices.Delete(s.tombstones, at, at+1)
		return
	}
	s.tombstones[at].Tombstone = *b
}
