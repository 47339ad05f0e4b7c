package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// threadColumns are read by scanThread, in this order. Reading a column costs more than SQLite's work for it, and least
// where it is NULL, so what is mostly empty comes as NULL and is scanned as optional.
const threadColumns = `thread, seq, step, revision, phase, nullif(lease_until, 0), nullif(answers, 0),
	nullif(due, 9223372036854775807), nullif(waiting, 9223372036854775807), created, updated, questions, nullif(answered, 0), workflow,
	nullif(node, ''), title, nullif(assignee, ''), nullif(team, ''), nullif(priority, ''), nullif(claim_by, ''), nullif(claim_until, 0),
	nullif(error, ''), nullif(lease_token, ''), nullif(lease_holder, ''), nullif(cancel, 0), nullif(cancel_by, ''),
	nullif(decisions, 0), nullif(decision_hash, ''), fingerprint, workdir, started_by, nullif(origin_thread, ''), nullif(origin_step, 0)`

// optional scans a column that may be NULL into a variable, which then stays as it is.
type optional[T int | int64 | string] struct{ to *T }

// Scan implements sql.Scanner.
func (o optional[T]) Scan(value any) error {
	switch v := value.(type) {
	case nil:
	case string:
		if to, ok := any(o.to).(*string); ok {
			*to = v
			return nil
		}
		return fmt.Errorf("text %.20q where a number belongs", v)
	case int64:
		switch to := any(o.to).(type) {
		case *int64:
			*to = v
		case *int:
			*to = int(v)
		default:
			return fmt.Errorf("number %d where text belongs", v)
		}
	default:
		return fmt.Errorf("a value of type %T", value)
	}
	return nil
}

func opt[T int | int64 | string](to *T) optional[T] { return optional[T]{to} }

// threadRow is what a row of threads is scanned into.
type threadRow struct {
	checkpoint.ThreadInfo
	until, due, waiting, created, updated, claimUntil, cancel int64
	answers                                                   int
	claimBy, token                                            string
	lease                                                     checkpoint.LeaseInfo
	origin                                                    checkpoint.Origin
	dest                                                      []any
}

// columns are the destinations of threadColumns.
func (r *threadRow) columns() []any {
	t := &r.ThreadInfo
	return []any{&t.Thread, &t.Seq, &t.Step, &t.Revision, (*string)(&t.Phase), opt(&r.until), opt(&r.answers), opt(&r.due), opt(&r.waiting),
		&r.created, &r.updated, &t.Questions, opt(&t.Answered), &t.Workflow, opt(&t.Node), &t.Title, opt(&t.Assignee), opt(&t.Group),
		opt(&t.Priority), opt(&r.claimBy), opt(&r.claimUntil), opt(&t.Error), opt(&r.token), opt(&r.lease.Holder), opt(&r.cancel),
		opt(&r.lease.CancelledBy), opt(&t.Decisions), opt(&t.DecisionHash), &t.Fingerprint, &t.Workdir, &t.StartedBy,
		opt(&r.origin.Thread), opt(&r.origin.Step)}
}

// scan reads a row as of now. r can be used for one row after the other.
func (r *threadRow) scan(rows *sql.Rows, now int64) (checkpoint.ThreadInfo, error) {
	if r.dest == nil {
		r.dest = r.columns()
	}
	*r = threadRow{dest: r.dest}
	if err := rows.Scan(r.dest...); err != nil {
		return checkpoint.ThreadInfo{}, err
	}
	t := r.ThreadInfo
	t.Due, t.WaitingSince = optionalTime(r.due), optionalTime(r.waiting)
	t.Created, t.Updated = checkpoint.FromMicros(r.created), checkpoint.FromMicros(r.updated)
	live := r.until > now
	t.Status = checkpoint.EffectiveStatus(t.Phase, live, r.answers)
	if r.token != "" || r.answers > 0 {
		lease := r.lease
		lease.Live, lease.Answers, lease.CancelRequested = live, r.answers, r.cancel != 0
		if r.until != 0 {
			lease.Until = checkpoint.FromMicros(r.until)
		}
		t.Lease = &lease
	}
	if r.claimBy != "" && r.claimUntil > now {
		t.Claim = &checkpoint.Claim{Reviewer: r.claimBy, Until: checkpoint.FromMicros(r.claimUntil)}
	}
	if r.origin.Thread != "" {
		origin := r.origin
		t.Origin = &origin
	}
	return t, nil
}

// optionalTime is nil for 0, as which an absent time is scanned.
func optionalTime(n int64) *time.Time {
	if n == 0 {
		return nil
	}
	t := checkpoint.FromMicros(n)
	return &t
}

func threads(ctx context.Context, q querier, now time.Time, text string, args ...any) ([]checkpoint.ThreadInfo, error) {
	rows, err := q.query(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []checkpoint.ThreadInfo
	var row threadRow
	for rows.Next() {
		t, err := row.scan(rows, now.UnixMicro())
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, rows.Err()
}

// Thread implements checkpoint.Store.
func (s *Store) Thread(ctx context.Context, thread string) (*checkpoint.ThreadInfo, error) {
	list, err := threads(ctx, s.readers, s.now(), "SELECT "+threadColumns+" FROM threads WHERE thread = ?", thread)
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
	if _, err := rowOf(ctx, s.readers, "SELECT "+nextSeq+" - 1", nil, &newest); err != nil || newest <= after {
		return checkpoint.Changes{Seq: after}, err
	}
	changed, err := threads(ctx, s.readers, s.now(),
		"SELECT "+threadColumns+" FROM threads WHERE seq > ? AND seq <= ? ORDER BY seq LIMIT ?", after, newest, limit+1)
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
