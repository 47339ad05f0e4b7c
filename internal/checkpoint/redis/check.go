package redis

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// scanAtOnce is about how many keys Redis looks at before it lets others have their turn.
const scanAtOnce = 1000

// scan calls fn with the ids of threads of which there are keys of a kind, a piece at a time. An id may come twice.
func (s *Store) scan(ctx context.Context, kind func(id string) string, fn func(ids []string) error) error {
	begin := kind("")
	for cursor := uint64(0); ; {
		var found []string
		err := s.patiently(ctx, func() (err error) {
			var next uint64
			if found, next, err = s.client.Scan(ctx, cursor, globbed(begin)+"*", scanAtOnce).Result(); err == nil {
				cursor = next
			}
			return err
		})
		if err != nil {
			return err
		}
		for i, key := range found {
			found[i] = strings.TrimPrefix(key, begin)
		}
		if err := fn(found); err != nil || cursor == 0 {
			return err
		}
	}
}

// globbed is a text in a pattern that stands for itself alone.
func globbed(text string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`, `]`, `\]`, `^`, `\^`).Replace(text)
}

// Orphans lists what is there of threads that have no row.
func (s *Store) Orphans(ctx context.Context) ([]checkpoint.Orphans, error) {
	known := make(map[string]checkpoint.Orphans)
	for _, kind := range []func(string) string{s.keys.steps, s.keys.decisions, s.keys.results} {
		err := s.scan(ctx, kind, func(ids []string) error {
			for _, id := range ids {
				if _, done := known[id]; done {
					continue
				}
				o, lost, err := s.orphaned(ctx, id)
				if err != nil {
					return err
				}
				if lost {
					known[id] = o
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	list := slices.Collect(maps.Values(known))
	slices.SortFunc(list, func(a, b checkpoint.Orphans) int { return strings.Compare(a.Thread, b.Thread) })
	return list, nil
}

// orphaned counts what is there of a thread, at one moment, and tells whether its row is missing.
func (s *Store) orphaned(ctx context.Context, thread string) (o checkpoint.Orphans, lost bool, err error) {
	o.Thread = thread
	replies, err := s.moment(ctx, []any{"EXISTS", s.keys.thread(thread)}, []any{"ZCARD", s.keys.steps(thread)},
		[]any{"LLEN", s.keys.decisions(thread)}, []any{"HLEN", s.keys.results(thread)})
	if err != nil {
		return o, false, err
	}
	o.Steps, o.Decisions, o.Results = integer(replies[1]), integer(replies[2]), integer(replies[3])
	return o, integer(replies[0]) == 0 && o.Steps+o.Decisions+o.Results > 0, nil
}

// Check looks whether every thread is in the sorted sets by which it is listed, found and counted. It gives one sentence for
// each that is not.
func (s *Store) Check(ctx context.Context) ([]string, error) {
	missing := make(map[string]bool)
	err := s.scan(ctx, s.keys.thread, func(ids []string) error {
		for _, id := range ids {
			lost, err := s.lostPlaces(ctx, id)
			if err != nil {
				return err
			}
			for _, key := range lost {
				missing[fmt.Sprintf("thread %s is not in %s, where it belongs", id, key)] = true
			}
		}
		return nil
	})
	return slices.Sorted(maps.Keys(missing)), err
}

// lostPlaces are the sorted sets in which a thread should be and is not, while its row stays as it is.
func (s *Store) lostPlaces(ctx context.Context, thread string) ([]string, error) {
	const tries = 20
	for try := 1; ; try++ {
		h, err := s.head(ctx, thread)
		if errors.Is(err, checkpoint.ErrCorrupt) { // told by whoever reads it
			return nil, nil
		}
		if err != nil || !h.present {
			return nil, err
		}
		lost, write, err := s.absent(ctx, h)
		if err != nil || len(lost) == 0 || write == h.write || try == tries {
			return lost, err
		}
	}
}

// absent are the places of h that are not there, and the id of the last write as of then.
func (s *Store) absent(ctx context.Context, h *head) (lost []string, write string, err error) {
	thread := h.info.Thread
	places := s.places(h)
	places[s.keys.bySeq()] = place{member: thread}
	keys := slices.Sorted(maps.Keys(places))
	var commands [][]any
	for _, key := range keys {
		commands = append(commands, []any{"ZSCORE", key, places[key].member})
	}
	replies, err := s.moment(ctx, append(commands, []any{"HGET", s.keys.thread(thread), fieldWrite})...)
	if err != nil {
		return nil, "", err
	}
	for i, key := range keys {
		if replies[i] == nil {
			lost = append(lost, strings.TrimPrefix(key, string(s.keys)))
		}
	}
	return lost, text(replies[len(keys)]), nil
}
