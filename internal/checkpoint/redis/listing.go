package redis

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// rows reads the rows of threads and the store's time; the one of a thread that is not there is nil.
func (s *Store) rows(ctx context.Context, threads ...string) ([]*head, time.Time, error) {
	var fields []*redis.SliceCmd
	var now func() time.Time
	err := s.patiently(ctx, func() error {
		fields = fields[:0]
		_, err := s.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			now = s.clock(ctx, p)
			for _, id := range threads {
				fields = append(fields, p.HMGet(ctx, s.keys.thread(id), fieldRow, fieldSeq))
			}
			return nil
		})
		return err
	})
	if err != nil {
		return nil, time.Time{}, err
	}
	list := make([]*head, len(threads))
	for i, f := range fields {
		row, seq := f.Val()[0], f.Val()[1]
		if row == nil {
			continue
		}
		if list[i], err = readRow(threads[i], text(row), text(seq)); err != nil {
			return nil, time.Time{}, err
		}
	}
	return list, now(), nil
}

func readRow(thread, row, seq string) (*head, error) {
	h := new(head)
	n, err := strconv.ParseInt(seq, 10, 64)
	if err != nil {
		return nil, &checkpoint.CorruptError{Thread: thread, Where: "field seq of its hash", Err: err}
	}
	return h, h.read(thread, row, n)
}

// Thread implements checkpoint.Store.
func (s *Store) Thread(ctx context.Context, thread string) (*checkpoint.ThreadInfo, error) {
	list, now, err := s.rows(ctx, thread)
	if err != nil {
		return nil, err
	}
	if list[0] == nil {
		return nil, checkpoint.ThreadNotFound(thread)
	}
	info := list[0].view(now)
	return &info, nil
}

// Resolve implements checkpoint.Store.
func (s *Store) Resolve(ctx context.Context, suffix string) (string, error) {
	_, err := s.Thread(ctx, suffix)
	if err == nil || !errors.Is(err, checkpoint.ErrNotFound) {
		return suffix, err
	}
	if len(suffix) < checkpoint.ResolveLength {
		return checkpoint.Resolved(suffix, nil)
	}
	tail := backwards(suffix)
	var ids []string
	err = s.patiently(ctx, func() (err error) {
		ids, err = s.client.ZRangeByLex(ctx, s.keys.byTail(), &redis.ZRangeBy{Min: "[" + tail, Max: "+", Count: 11}).Result()
		return err
	})
	if err != nil {
		return "", err
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return !strings.HasPrefix(id, tail) })
	for i := range ids {
		ids[i] = backwards(ids[i])
	}
	return checkpoint.Resolved(suffix, ids)
}

// Counts implements checkpoint.Store.
func (s *Store) Counts(ctx context.Context) (map[checkpoint.Status]int64, error) {
	phases := checkpoint.Phases()
	names := []string{s.keys.leased(), s.keys.answered()}
	for _, p := range phases {
		names = append(names, s.keys.byDue(p))
	}
	reply, err := s.run(ctx, s.scripts.counts, names, s.scriptTime(), s.keys.thread(""))
	if err != nil {
		return nil, err
	}
	counts := make(map[checkpoint.Status]int64)
	for i, n := range reply[0].([]any) {
		counts[phases[i]] = n.(int64)
	}
	micros, err := strconv.ParseInt(text(reply[2]), 10, 64)
	if err != nil {
		return nil, err
	}
	now := checkpoint.FromMicros(micros)
	for _, row := range reply[1].([]any) {
		var h head
		if err := h.read("", text(row), 0); err != nil {
			return nil, err
		}
		counts[h.info.Phase]--
		counts[checkpoint.EffectiveStatus(h.info.Phase, h.lease.Live(now), h.answers)]++
	}
	for status, n := range counts {
		if n == 0 {
			delete(counts, status)
		}
	}
	return counts, nil
}

// changesMost is how many changes are read at once: a script that reads more keeps others waiting.
const changesMost = 500

// Changes implements checkpoint.Store.
func (s *Store) Changes(ctx context.Context, after int64, limit int) (checkpoint.Changes, error) {
	if limit <= 0 || limit > changesMost {
		limit = changesMost
	}
	reply, err := s.run(ctx, s.scripts.changes, []string{s.keys.bySeq(), s.keys.gone()}, after, limit+1, s.keys.thread(""))
	if err != nil {
		return checkpoint.Changes{}, err
	}
	now, err := s.Now(ctx)
	if err != nil {
		return checkpoint.Changes{}, err
	}
	var rows []checkpoint.ThreadInfo
	changed := reply[0].([]any)
	for i := 0; i+2 < len(changed); i += 3 {
		h, err := readRow(text(changed[i]), text(changed[i+2]), text(changed[i+1]))
		if err != nil {
			return checkpoint.Changes{}, err
		}
		rows = append(rows, h.view(now))
	}
	var gone []checkpoint.Gone
	deleted := reply[1].([]any)
	for i := 0; i+1 < len(deleted); i += 2 {
		seq, err := strconv.ParseInt(text(deleted[i+1]), 10, 64)
		if err != nil {
			return checkpoint.Changes{}, err
		}
		gone = append(gone, checkpoint.Gone{Thread: text(deleted[i]), Seq: seq})
	}
	return checkpoint.MergeChanges(rows, gone, after, limit), nil
}
