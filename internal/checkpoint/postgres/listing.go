package postgres

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/listing"
)

// threadColumns is a row of threads as of now, in the order of scanThread.
const threadColumns = `thread, seq, step, revision, phase, lease_until, answers, due, waiting, created, updated, questions, answered,
	workflow, node, title, assignee, team, priority, claim_by, claim_until, error, lease_token, lease_holder, cancel, cancel_by,
	decisions, decision_hash, fingerprint, workdir, started_by, origin_thread, origin_step, ` + readNow

func scanThread(rows scanner, info *checkpoint.ThreadInfo) error {
	var leaseUntil, due, waiting, created, updated, claimUntil, now int64
	var lease checkpoint.LeaseInfo
	var claim checkpoint.Claim
	var origin checkpoint.Origin
	var token string
	err := rows.Scan(&info.Thread, &info.Seq, &info.Step, &info.Revision, (*string)(&info.Phase), &leaseUntil, &lease.Answers, &due,
		&waiting, &created, &updated, &info.Questions, &info.Answered, &info.Workflow, &info.Node, &info.Title, &info.Assignee,
		&info.Group, &info.Priority, &claim.Reviewer, &claimUntil, &info.Error, &token, &lease.Holder, &lease.CancelRequested,
		&lease.CancelledBy, &info.Decisions, &info.DecisionHash, &info.Fingerprint, &info.Workdir, &info.StartedBy, &origin.Thread,
		&origin.Step, &now)
	if err != nil {
		return err
	}
	info.Created, info.Updated = checkpoint.FromMicros(created), checkpoint.FromMicros(updated)
	info.Due, info.WaitingSince = timeUnlessNever(due), timeUnlessNever(waiting)
	lease.Live = leaseUntil > now
	info.Status = checkpoint.EffectiveStatus(info.Phase, lease.Live, lease.Answers)
	if leaseUntil != 0 {
		lease.Until = checkpoint.FromMicros(leaseUntil)
	}
	if token != "" || lease.Answers > 0 {
		info.Lease = &lease
	}
	if claim.Reviewer != "" && claimUntil > now {
		claim.Until = checkpoint.FromMicros(claimUntil)
		info.Claim = &claim
	}
	if origin.Thread != "" {
		info.Origin = &origin
	}
	return nil
}

// timeUnlessNever is nil for the time that stands where there is none.
func timeUnlessNever(micros int64) *time.Time {
	if micros == checkpoint.Never {
		return nil
	}
	t := checkpoint.FromMicros(micros)
	return &t
}

// Threads implements checkpoint.Store.
func (s *Store) Threads(ctx context.Context, q checkpoint.Query) (checkpoint.Page, error) {
	page, err := listing.Page(ctx, dialect(), &q, s.nowArg(),
		func(ctx context.Context, _ int, text string, args []any) ([]checkpoint.ThreadInfo, error) {
			return readAll(ctx, s, scanThread, text, slices.Clone(args)...)
		})
	return page, err
}

func dialect() *listing.Dialect {
	return &listing.Dialect{
		Columns:  threadColumns,
		Key:      "thread",
		Join:     "JOIN",
		Mark:     func(n int) string { return "$" + strconv.Itoa(n) },
		Now:      readNow,
		Contains: func(column, lowered string) string { return "strpos(lower(" + column + "), " + lowered + ") > 0" },
		Stored:   escape,
	}
}

// Thread implements checkpoint.Store.
func (s *Store) Thread(ctx context.Context, thread string) (*checkpoint.ThreadInfo, error) {
	list, err := readAll(ctx, s, scanThread, "SELECT "+threadColumns+" FROM threads WHERE thread = $2", s.nowArg(), thread)
	switch {
	case err != nil:
		return nil, err
	case len(list) == 0:
		return nil, checkpoint.ThreadNotFound(thread)
	}
	return &list[0], nil
}

// Resolve implements checkpoint.Store.
func (s *Store) Resolve(ctx context.Context, suffix string) (string, error) {
	var id string
	found, err := s.readRow(ctx, "SELECT thread FROM threads WHERE thread = $1", []any{suffix}, &id)
	if err != nil || found {
		return id, err
	}
	if len(suffix) < checkpoint.ResolveLength {
		return checkpoint.Resolved(suffix, nil)
	}
	ids, err := readAll(ctx, s, func(rows scanner, id *string) error { return rows.Scan(id) },
		"SELECT thread FROM threads WHERE right(thread, length($1)) = $1 ORDER BY thread LIMIT 11", suffix)
	if err != nil {
		return "", err
	}
	return checkpoint.Resolved(suffix, ids)
}

// counted is a number of threads by status, or with n < 0 one thread that shows another status than its phase.
type counted struct {
	phase   checkpoint.Status
	live    bool
	answers int
	n       int64
}

// Counts implements checkpoint.Store: the triggers' count of the phases, corrected by the few rows that have a lease or
// an unapplied answer.
func (s *Store) Counts(ctx context.Context) (map[checkpoint.Status]int64, error) {
	list, err := readAll(ctx, s, func(rows scanner, c *counted) error {
		return rows.Scan((*string)(&c.phase), &c.live, &c.answers, &c.n)
	}, `SELECT phase, false, 0::bigint, sum(n)::bigint FROM phases GROUP BY phase UNION ALL
		SELECT phase, lease_until > `+readNow+`, answers, -1 FROM threads WHERE lease_until > 0 UNION ALL
		SELECT phase, false, answers, -1 FROM threads WHERE answers > 0 AND lease_until = 0`, s.nowArg())
	if err != nil {
		return nil, err
	}
	counts := make(map[checkpoint.Status]int64)
	for _, c := range list {
		if c.n >= 0 {
			counts[c.phase] += c.n
			continue
		}
		counts[c.phase]--
		counts[checkpoint.EffectiveStatus(c.phase, c.live, c.answers)]++
	}
	for status, n := range counts {
		if n == 0 {
			delete(counts, status)
		}
	}
	return counts, nil
}

// Changes implements checkpoint.Store. The number up to which all is settled is read first and bounds both lists: what
// has a higher one, or is still under way below one, is seen at a later call.
func (s *Store) Changes(ctx context.Context, after int64, limit int) (checkpoint.Changes, error) {
	changes, err := s.changes(ctx, after, limit)
	return changes, err
}

func (s *Store) changes(ctx context.Context, after int64, limit int) (checkpoint.Changes, error) {
	if limit <= 0 {
		limit = 500
	}
	settled, err := s.newest(ctx)
	if err != nil || settled <= after {
		return checkpoint.Changes{Seq: after}, err
	}
	changed, err := readAll(ctx, s, scanThread, "SELECT "+threadColumns+" FROM threads WHERE seq > $2 AND seq <= $3 ORDER BY seq LIMIT $4",
		s.nowArg(), after, settled, limit+1)
	if err != nil {
		return checkpoint.Changes{}, err
	}
	gone, err := readAll(ctx, s, func(rows scanner, g *checkpoint.Gone) error { return rows.Scan(&g.Thread, &g.Seq) },
		"SELECT thread, seq FROM tombstones WHERE seq > $1 AND seq <= $2 ORDER BY seq LIMIT $3", after, settled, limit+1)
	if err != nil {
		return checkpoint.Changes{}, err
	}
	return checkpoint.MergeChanges(changed, gone, after, limit), nil
}
