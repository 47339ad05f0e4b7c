package local

import (
	"context"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint/inspect"
	"github.com/hitl-tui/hitl-tui/internal/desk"
)

var (
	_ desk.Timed     = (*Source)(nil)
	_ desk.Compacter = (*Source)(nil)
	_ desk.Inspector = (*Source)(nil)
)

// Now is the store's time.
func (s *Source) Now(ctx context.Context) (time.Time, error) {
	store, err := s.kept()
	if err != nil {
		return time.Time{}, err
	}
	now, err := store.Now(ctx)
	return now, stored(err)
}

// Compact gives the store's free space back.
func (s *Source) Compact(ctx context.Context, progress func(done, total int64)) error {
	store, err := s.kept()
	if err != nil {
		return err
	}
	return stored(store.Compact(ctx, progress))
}

// Inspect looks at all there is in the store for damage.
func (s *Source) Inspect(ctx context.Context, states bool, progress func(done, total int64)) (*desk.Inspection, error) {
	store, err := s.kept()
	if err != nil {
		return nil, err
	}
	r, err := inspect.Run(ctx, store, inspect.Options{States: states, Progress: progress})
	if err != nil {
		return nil, stored(err)
	}
	x := &desk.Inspection{Threads: r.Threads, Steps: r.Steps, Decisions: r.Decisions, States: states, Window: r.Window, Growth: r.Growth}
	for _, f := range r.Faults {
		x.Faults = append(x.Faults, desk.Fault(f))
	}
	return x, nil
}
