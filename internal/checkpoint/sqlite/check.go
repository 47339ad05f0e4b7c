package sqlite

import (
	"context"
	"errors"
	"fmt"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// checkAtMost bounds the faults told: of a file that is hurt in many places the first ones are enough.
const checkAtMost = 20

// Check looks for damage of the file itself: pages, indexes, constraints. It gives one sentence for each fault.
func (s *Store) Check(ctx context.Context) ([]string, error) {
	rows, err := s.aux.QueryContext(ctx, fmt.Sprintf("PRAGMA integrity_check(%d)", checkAtMost))
	if err != nil {
		return s.unreadable(err)
	}
	defer rows.Close()
	var faults []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return s.unreadable(err)
		}
		if text != "ok" {
			faults = append(faults, fmt.Sprintf("%s: %s", s.path, text))
		}
	}
	if err := rows.Err(); err != nil {
		return s.unreadable(err)
	}
	return faults, nil
}

// unreadable makes a fault of an error that says that the file is hurt.
func (s *Store) unreadable(err error) ([]string, error) {
	if err = classify(err); errors.Is(err, checkpoint.ErrCorrupt) || errors.Is(err, checkpoint.ErrForeign) {
		return []string{fmt.Sprintf("%s: %v", s.path, err)}, nil
	}
	return nil, err
}
