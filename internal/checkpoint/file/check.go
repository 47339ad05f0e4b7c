package file

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

var errNotLast = errors.New("it is not the step that the thread's head was written with")

// Check looks whether each head leads to the step that was written with it: an earlier one that stands in its place is
// whole in itself. It gives one sentence for each fault.
func (s *Store) Check(ctx context.Context) ([]string, error) {
	var threads []string
	err := s.listing.with(ctx, func(time.Time) { threads = slices.Sorted(maps.Keys(s.listing.rows)) })
	if err != nil {
		return nil, err
	}
	var faults []string
	for _, thread := range threads {
		err := s.settled(ctx, thread, func(h *head) error {
			p, err := s.readStep(h, h.info.Step)
			if err != nil || p.write == h.write {
				return err
			}
			return s.hurt(thread, p.Step, s.stepFile(thread, p.Step), errNotLast)
		})
		switch {
		case errors.Is(err, errNotLast):
			faults = append(faults, err.Error())
		case err != nil && !errors.Is(err, checkpoint.ErrCorrupt) && !errors.Is(err, checkpoint.ErrNotFound):
			return nil, err
		}
	}
	return faults, nil // a file that cannot be read is told by whoever reads the thread
}
