package memory

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// Get implements checkpoint.Store.
func (s *Store) Get(ctx context.Context, id string, n int64) (*checkpoint.Checkpoint, error) {
	t, err := s.enter(ctx, id)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	found := t.step(n)
	if found == nil {
		return nil, checkpoint.StepNotFound(id, n)
	}
	return found.Clone(), nil
}

// Latest implements checkpoint.Store.
func (s *Store) Latest(ctx context.Context, id string) (*checkpoint.Checkpoint, error) {
	t, err := s.enter(ctx, id)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	return t.step(t.info.Step).Clone(), nil
}

// History implements checkpoint.Store.
func (s *Store) History(ctx context.Context, id string, withState bool) iter.Seq2[*checkpoint.Checkpoint, error] {
	return func(yield func(*checkpoint.Checkpoint, error) bool) {
		t, err := s.enter(ctx, id)
		if err != nil {
			yield(nil, err)
			return
		}
		steps := slices.Clone(t.steps)
		s.mu.Unlock()
		for _, step := range steps {
			c := step.Checkpoint // stored steps are replaced, never changed
			if !withState {
				c.Channels = nil
			}
			if !yield(c.Clone(), nil) {
				return
			}
		}
	}
}

// Thread implements checkpoint.Store.
func (s *Store) Thread(ctx context.Context, id string) (*checkpoint.ThreadInfo, error) {
	t, err := s.enter(ctx, id)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	info := s.view(t, s.time())
	return &info, nil
}

// Resolve implements checkpoint.Store.
func (s *Store) Resolve(ctx context.Context, suffix string) (string, error) {
	if err := s.lock(ctx); err != nil {
		return "", err
	}
	defer s.mu.Unlock()
	if s.threads[suffix] != nil {
		return suffix, nil
	}
	var found []string
	if len(suffix) >= checkpoint.ResolveLength {
		for id := range s.threads {
			if strings.HasSuffix(id, suffix) {
				found = append(found, id)
			}
		}
	}
	return checkpoint.Resolved(suffix, found)
}

// Threads implements checkpoint.Store.
func (s *Store) Threads(ctx context.Context, q checkpoint.Query) (checkpoint.Page, error) {
	start, err := q.Start()
	if err != nil {
		return checkpoint.Page{}, err
	}
	if err := s.lock(ctx); err != nil {
		return checkpoint.Page{}, err
	}
	defer s.mu.Unlock()
	direction := 1
	if q.Reverse {
		direction = -1
	}
	type row struct {
		key  checkpoint.Key
		info checkpoint.ThreadInfo
	}
	var rows []row
	now := s.time()
	for _, t := range s.threads {
		info := s.view(t, now)
		key := checkpoint.KeyOf(&info, q.Order())
		if q.Matches(&info) && (start == nil || direction*key.Compare(*start) > 0) {
			rows = append(rows, row{key, info})
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return direction * a.key.Compare(b.key) })
	var page checkpoint.Page
	for i, r := range rows {
		if i == q.Size() {
			page.Next = page.Threads[i-1].Cursor
			break
		}
		r.info.Cursor = q.CursorOf(&r.info)
		page.Threads = append(page.Threads, r.info)
	}
	return page, nil
}

// Counts implements checkpoint.Store.
func (s *Store) Counts(ctx context.Context) (map[checkpoint.Status]int64, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	counts := make(map[checkpoint.Status]int64)
	now := s.time()
	for _, t := range s.threads {
		counts[s.view(t, now).Status]++
	}
	return counts, nil
}

// Changes implements checkpoint.Store.
func (s *Store) Changes(ctx context.Context, after int64, limit int) (checkpoint.Changes, error) {
	if err := s.lock(ctx); err != nil {
		return checkpoint.Changes{}, err
	}
	defer s.mu.Unlock()
	var rows []checkpoint.ThreadInfo
	now := s.time()
	for _, t := range s.threads {
		if t.info.Seq > after {
			rows = append(rows, s.view(t, now))
		}
	}
	slices.SortFunc(rows, func(a, b checkpoint.ThreadInfo) int { return int(a.Seq - b.Seq) })
	var gone []checkpoint.Gone
	for _, b := range s.tombstones {
		if b.seq > after {
			gone = append(gone, checkpoint.Gone{Thread: b.Thread, Seq: b.seq})
		}
	}
	return checkpoint.MergeChanges(rows, gone, after, limit), nil
}

// Decisions implements checkpoint.Store.
func (s *Store) Decisions(ctx context.Context, id string) iter.Seq2[*checkpoint.Decision, error] {
	return func(yield func(*checkpoint.Decision, error) bool) {
		t, err := s.enter(ctx, id)
		if err != nil {
			yield(nil, err)
			return
		}
		rows := slices.Clone(t.decisions)
		s.mu.Unlock()
		for _, d := range rows {
			if !yield(d.Clone(), nil) {
				return
			}
		}
	}
}

// FindDecision implements checkpoint.Store.
func (s *Store) FindDecision(ctx context.Context, id, responseID string) (*checkpoint.Decision, error) {
	t, err := s.enter(ctx, id)
	if err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	for _, d := range t.decisions {
		if responseID != "" && d.ResponseID == responseID {
			return d.Clone(), nil
		}
	}
	return nil, checkpoint.ResponseNotFound(id, responseID)
}

// Tombstones implements checkpoint.Store.
func (s *Store) Tombstones(ctx context.Context) ([]checkpoint.Tombstone, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	var list []checkpoint.Tombstone
	for _, b := range s.tombstones {
		list = append(list, b.Tombstone)
	}
	return list, nil
}

// PutDefinition implements checkpoint.Store.
func (s *Store) PutDefinition(ctx context.Context, d checkpoint.Definition) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if _, ok := s.definitions[d.Fingerprint]; !ok {
		d.Files = slices.Clone(d.Files)
		s.definitions[d.Fingerprint] = d
	}
	return nil
}

// Definition implements checkpoint.Store.
func (s *Store) Definition(ctx context.Context, fingerprint string) (*checkpoint.Definition, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	d, ok := s.definitions[fingerprint]
	if !ok {
		return nil, fmt.Errorf("definition %s: %w", fingerprint, checkpoint.ErrNotFound)
	}
	d.Files = slices.Clone(d.Files)
	return d.Verified(fingerprint)
}
