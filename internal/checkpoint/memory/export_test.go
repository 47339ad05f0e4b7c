package memory

import "github.com/hitl-tui/hitl-tui/internal/checkpoint"

// Rewrite puts other decision rows in place of a thread's.
func (s *Store) Rewrite(thread string, rows []*checkpoint.Decision) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.threads[thread].decisions = rows
}
