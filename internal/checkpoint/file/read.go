package file

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"slices"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// settled runs fn, which reads files that a head names, again for as long as it fails and the head has meanwhile moved
// on: what it missed may have been pruned or replaced. With an unmoved head the failure is one of the files.
func (s *Store) settled(ctx context.Context, thread string, fn func(*head) error) error {
	const tries = 20 // a file that is hurt stays so, however often the head moves on
	for try := 1; ; try++ {
		if err := s.begin(ctx); err != nil {
			return err
		}
		h, err := s.present(thread)
		if err != nil {
			return err
		}
		err = fn(h)
		if err == nil || !errors.Is(err, checkpoint.ErrCorrupt) && !errors.Is(err, checkpoint.ErrNotFound) {
			return err
		}
		again, err2 := s.present(thread)
		if err2 != nil {
			return err2
		}
		if again.writes == h.writes || try == tries {
			return err
		}
	}
}

// Get implements checkpoint.Store.
func (s *Store) Get(ctx context.Context, thread string, n int64) (*checkpoint.Checkpoint, error) {
	var c *checkpoint.Checkpoint
	err := s.settled(ctx, thread, func(h *head) (err error) {
		c, err = s.get(h, n)
		return err
	})
	return c, err
}

// Latest implements checkpoint.Store.
func (s *Store) Latest(ctx context.Context, thread string) (*checkpoint.Checkpoint, error) {
	var c *checkpoint.Checkpoint
	err := s.settled(ctx, thread, func(h *head) (err error) {
		c, err = s.get(h, h.info.Step)
		return err
	})
	return c, err
}

func (s *Store) get(h *head, n int64) (*checkpoint.Checkpoint, error) {
	found, err := s.has(h, n)
	if err == nil && !found {
		err = checkpoint.StepNotFound(h.info.Thread, n)
	}
	if err != nil {
		return nil, err
	}
	p, err := s.whole(h, n)
	if err != nil {
		return nil, err
	}
	return &p.Checkpoint, nil
}

// has reports whether a step that counts is there. The head always is, or its file is lost.
func (s *Store) has(h *head, n int64) (bool, error) {
	switch {
	case n < 0 || !h.holds(n):
		return false, nil
	case n == h.info.Step || slices.Contains(h.redo.Install, n):
		return true, nil
	}
	return exists(s.disk, s.stepFile(h.info.Thread, n))
}

// whole reads a step and builds its state.
func (s *Store) whole(h *head, n int64) (*step, error) {
	p, err := s.readStep(h, n)
	if err != nil || p.keyframe {
		return p, err
	}
	trail := []*step{p}
	for q := p; !q.keyframe; trail = append(trail, q) {
		parent := q.parent
		if parent.Step >= q.Step {
			return nil, s.hurt(h.info.Thread, q.Step, s.stepFile(h.info.Thread, q.Step), errOther)
		}
		if q, err = s.readStep(h, parent.Step); err != nil {
			return nil, err
		}
		if q.write != parent.Write {
			return nil, s.hurt(h.info.Thread, n, s.stepFile(h.info.Thread, n), errOther)
		}
	}
	b := checkpoint.NewBuilder(trail[len(trail)-1].Channels)
	for i := len(trail) - 2; i >= 0; i-- {
		if err := b.Apply(trail[i].ops); err != nil {
			return nil, s.hurt(h.info.Thread, trail[i].Step, s.stepFile(h.info.Thread, trail[i].Step), err)
		}
	}
	p.Channels = b.Channels()
	return p, nil
}

// numbers gives the steps that count, ascending, with the sizes of their files.
func (s *Store) numbers(h *head) ([]int64, map[int64]int64, error) {
	list, err := s.disk.List(s.steps(h.info.Thread))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	sizes := make(map[int64]int64, len(list))
	var numbers []int64
	for _, e := range list {
		if n, ok := stepOf(e.name); ok && h.holds(n) {
			numbers, sizes[n] = append(numbers, n), e.size
		}
	}
	for _, n := range append([]int64{h.info.Step}, h.redo.Install...) {
		if _, ok := sizes[n]; !ok {
			numbers, sizes[n] = append(numbers, n), 0
		}
	}
	slices.Sort(numbers)
	return numbers, sizes, nil
}

// History implements checkpoint.Store. A step whose file is hurt is yielded as its error, and those after it follow.
func (s *Store) History(ctx context.Context, thread string, withState bool) iter.Seq2[*checkpoint.Checkpoint, error] {
	return func(yield func(*checkpoint.Checkpoint, error) bool) {
		var h *head
		var numbers []int64
		err := s.settled(ctx, thread, func(now *head) (err error) {
			h = now
			numbers, _, err = s.numbers(h)
			return err
		})
		if err != nil {
			yield(nil, err)
			return
		}
		w := walk{s: s, ctx: ctx, thread: thread, withState: withState}
		for _, n := range numbers {
			c, err := w.next(h, n)
			if errors.Is(err, checkpoint.ErrNotFound) { // pruned since
				continue
			}
			if !yield(c, err) {
				return
			}
			if err != nil && !errors.Is(err, checkpoint.ErrCorrupt) {
				return
			}
		}
	}
}

// walk reads steps in ascending order and builds each state from the one before.
type walk struct {
	s         *Store
	ctx       context.Context
	thread    string
	withState bool
	builder   *checkpoint.Builder
	at        link
}

func (w *walk) next(h *head, n int64) (*checkpoint.Checkpoint, error) {
	if err := w.s.begin(w.ctx); err != nil {
		return nil, err
	}
	p, err := w.s.readStep(h, n)
	if err == nil && w.withState {
		p, err = w.build(h, p)
	}
	if err == nil {
		if !w.withState {
			p.Channels = nil
		}
		return &p.Checkpoint, nil
	}
	w.builder = nil
	if !errors.Is(err, checkpoint.ErrCorrupt) {
		return nil, err
	}
	c, err := w.s.Get(w.ctx, w.thread, n)
	if err == nil && !w.withState {
		c.Channels = nil
	}
	return c, err
}

// build gives p its state.
func (w *walk) build(h *head, p *step) (*step, error) {
	switch {
	case p.keyframe:
		w.builder = checkpoint.NewBuilder(p.Channels)
	case w.builder != nil && w.at == p.parent:
		if err := w.builder.Apply(p.ops); err != nil {
			return nil, w.s.hurt(w.thread, p.Step, w.s.stepFile(w.thread, p.Step), err)
		}
	default:
		whole, err := w.s.whole(h, p.Step)
		if err != nil {
			return nil, err
		}
		p, w.builder = whole, checkpoint.NewBuilder(whole.Channels)
	}
	w.at = link{p.Step, p.write}
	p.Channels = w.builder.Channels()
	return p, nil
}
