package sqlite

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/listing"
)

// threads reads rows of threadColumns, about as many as expected.
func threads(ctx context.Context, q querier, now time.Time, expected int, text string, args ...any) ([]checkpoint.ThreadInfo, error) {
	list, err := packedThreads(ctx, q, now, expected, (*packedThread).read, text, args)
	if errors.Is(err, errSeparator) {
		text = strings.Replace(text, threadColumns, measuredColumns, 1)
		list, err = packedThreads(ctx, q, now, expected, (*packedThread).readMeasured, text, args)
	}
	return list, err
}

func packedThreads(ctx context.Context, q querier, now time.Time, expected int, read func(*packedThread, string) error, text string,
	args []any) ([]checkpoint.ThreadInfo, error) {
	rows, err := q.query(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []checkpoint.ThreadInfo
	var packed string
	var p packedThread
	for rows.Next() {
		if err := rows.Scan(&packed); err != nil {
			return nil, err
		}
		if err := read(&p, packed); err != nil {
			return nil, err
		}
		if list == nil {
			list = make([]checkpoint.ThreadInfo, 0, expected)
		}
		list = append(list, checkpoint.ThreadInfo{})
		p.show(&list[len(list)-1], now.UnixMicro())
	}
	return list, rows.Err()
}

// Threads implements checkpoint.Store.
func (s *Store) Threads(ctx context.Context, q checkpoint.Query) (checkpoint.Page, error) {
	now := s.now()
	fetch := func(ctx context.Context, expected int, text string, args []any) ([]checkpoint.ThreadInfo, error) {
		return threads(ctx, s.readers, now, expected, text, args...)
	}
	page, err := listing.Page(ctx, dialect(), &q, now.UnixMicro(), fetch)
	return page, classify(err)
}

func dialect() *listing.Dialect {
	return &listing.Dialect{
		Columns:  threadColumns,
		Key:      "id",
		Join:     "CROSS JOIN", // in this order
		Mark:     func(n int) string { return "?" + strconv.Itoa(n) },
		Now:      "?1",
		BySeq:    []string{"stepping = 0", "stepping = 1"},
		Contains: func(column, lowered string) string { return "instr(lower(" + column + "), " + lowered + ") > 0" },
	}
}

// Thread implements checkpoint.Store.
func (s *Store) Thread(ctx context.Context, thread string) (*checkpoint.ThreadInfo, error) {
	list, err := threads(ctx, s.readers, s.now(), 1, "SELECT "+threadColumns+" FROM threads WHERE thread = ?", thread)
	if err != nil {
		return nil, classify(err)
	}
	if len(list) == 0 {
		return nil, checkpoint.ThreadNotFound(thread)
	}
	return &list[0], nil
}

// Resolve implements checkpoint.Store.
func (s *Store) Resolve(ctx context.Context, suffix string) (string, error) {
	var id string
	found, err := rowOf(ctx, s.readers, "SELECT thread FROM threads WHERE thread = ?", []any{suffix}, &id)
	if err != nil || found {
		return id, classify(err)
	}
	if len(suffix) < checkpoint.ResolveLength {
		return checkpoint.Resolved(suffix, nil)
	}
	rows, err := s.readers.query(ctx, "SELECT thread FROM threads WHERE substr(thread, -length(?1)) = ?1 ORDER BY thread LIMIT 11", suffix)
	if err != nil {
		return "", classify(err)
	}
	defer rows.Close()
	var ids []string
	for rows.Next() {
		if err := rows.Scan(&id); err != nil {
			return "", classify(err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		return "", classify(err)
	}
	return checkpoint.Resolved(suffix, ids)
}

// Counts implements checkpoint.Store: the triggers' count of the phases, corrected by the few rows that have a lease or
// an unapplied answer.
func (s *Store) Counts(ctx context.Context) (map[checkpoint.Status]int64, error) {
	now := s.now().UnixMicro()
	rows, err := s.readers.query(ctx, `SELECT phase, 0, 0, n FROM phases UNION ALL
		SELECT phase, lease_until > ?1, answers, -1 FROM threads WHERE lease_until > 0 UNION ALL
		SELECT phase, 0, answers, -1 FROM threads WHERE answers > 0 AND lease_until = 0`, now)
	if err != nil {
		return nil, classify(err)
	}
	defer rows.Close()
	counts := make(map[checkpoint.Status]int64)
	for rows.Next() {
		var phase checkpoint.Status
		var live bool
		var answers int
		var n int64
		if err := rows.Scan((*string)(&phase), &live, &answers, &n); err != nil {
			return nil, classify(err)
		}
		if n >= 0 {
			counts[phase] += n
			continue
		}
		counts[phase]--
		counts[checkpoint.EffectiveStatus(phase, live, answers)]++
	}
	for status, n := range counts {
		if n == 0 {
			delete(counts, status)
		}
	}
	return counts, classify(rows.Err())
}

// Changes implements checkpoint.Store. The newest number is read first and bounds both lists: what changes meanwhile gets
// a higher one and is seen at the next call.
func (s *Store) Changes(ctx context.Context, after int64, limit int) (checkpoint.Changes, error) {
	changes, err := s.changes(ctx, after, limit)
	return changes, classify(err)
}

func (s *Store) changes(ctx context.Context, after int64, limit int) (checkpoint.Changes, error) {
	if limit <= 0 {
		limit = 500
	}
	var newest int64
	if _, err := rowOf(ctx, s.readers, lastSeq, nil, &newest); err != nil || newest <= after {
		return checkpoint.Changes{Seq: after}, err
	}
	changed, err := threads(ctx, s.readers, s.now(), 1, "SELECT "+threadColumns+` FROM threads WHERE id IN (
		SELECT id FROM (SELECT id FROM threads WHERE stepping = 0 AND seq > ?1 AND seq <= ?2 ORDER BY seq LIMIT ?3)
		UNION ALL SELECT id FROM threads WHERE stepping = 1 AND seq > ?1 AND seq <= ?2) ORDER BY seq LIMIT ?3`, after, newest, limit+1)
	if err != nil {
		return checkpoint.Changes{}, err
	}
	rows, err := s.readers.query(ctx, "SELECT thread, seq FROM tombstones WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?", after, newest, limit+1)
	if err != nil {
		return checkpoint.Changes{}, err
	}
	defer rows.Close()
	var gone []checkpoint.Gone
	for rows.Next() {
		var g checkpoint.Gone
		if err := rows.Scan(&g.Thread, &g.Seq); err != nil {
			return checkpoint.Changes{}, err
		}
		gone = append(gone, g)
	}
	return checkpoint.MergeChanges(changed, gone, after, limit), rows.Err()
}
