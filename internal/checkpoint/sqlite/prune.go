package sqlite

import (
	"context"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/prune"
)

// A prune pauses so long that a writer beside it, also in another process, gets its turn: SQLite's wait for a lock is not
// fair.
const prunePause = 3

// pruneMost is how long writers of the same process, who wait for their turn, are to wait for a chunk.
const pruneMost = 5 * time.Millisecond

// Prune implements checkpoint.Store.
func (s *Store) Prune(ctx context.Context, q checkpoint.PruneQuery) (*checkpoint.PruneResult, error) {
	if s.writer == nil && !q.DryRun {
		return nil, s.write(ctx, nil)
	}
	result, err := prune.Run(ctx, pruner{s}, prune.Pace{Steps: 250, Bytes: 4 << 20, Pause: prunePause, Most: pruneMost}, q)
	return result, classify(err)
}

// pruner is the store as a prune sees it.
type pruner struct{ *Store }

// stepBounds are prune.Bounds as conditions on the parameters of boundArgs.
const stepBounds = "thread = ?1 AND step <> ?2 AND step < ?3 AND ts < ?4"

func boundArgs(b prune.Bounds, more ...any) []any {
	return append([]any{b.Thread, b.Head, b.Before, b.Older}, more...)
}

func (p pruner) CountSteps(ctx context.Context, b prune.Bounds) (c prune.Count, err error) {
	_, err = rowOf(ctx, p.readers, "SELECT count(*), coalesce(sum(size), 0), coalesce(min(ts), 0), coalesce(max(ts), 0) FROM checkpoints WHERE "+
		stepBounds, boundArgs(b), &c.Steps, &c.Bytes, &c.Oldest, &c.Newest)
	return c, err
}

func (p pruner) Transact(ctx context.Context, fn func(prune.Tx) error) error {
	return p.write(ctx, func(t *tx) error { return fn(prunedTx{t, p.now()}) })
}

type prunedTx struct {
	*tx
	now time.Time
}

func (t prunedTx) Now() time.Time { return t.now }

func (t prunedTx) Lock(thread string, _ bool) (prune.Thread, error) {
	h, err := t.head(thread)
	if err != nil || h == nil {
		return nil, err
	}
	return &pruned{t.tx, h, t.now}, nil
}

// pruned is a thread within a transaction of a prune.
type pruned struct {
	t   *tx
	h   *head
	now time.Time
}

func (p *pruned) Head() int64              { return p.h.version.Step }
func (p *pruned) Live(now time.Time) bool  { return p.h.lease.Live(now) }
func (p *pruned) Detach(after int64) error { return p.t.detach(p.h, after) }
func (p *pruned) DeleteThread() error      { return p.t.deleteThread(p.h, p.now) }

func (p *pruned) Steps(b prune.Bounds, limit int64) ([]prune.Step, error) {
	rows, err := p.t.query(context.Background(), `SELECT step, size, (SELECT coalesce(min(step), 0) FROM checkpoints AS n
		WHERE n.thread = c.thread AND n.step > c.step) FROM checkpoints AS c WHERE `+stepBounds+" ORDER BY step LIMIT ?5",
		boundArgs(b, limit)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []prune.Step
	for rows.Next() {
		var v prune.Step
		if err := rows.Scan(&v.Step, &v.Size, &v.Next); err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, rows.Err()
}

func (p *pruned) DeleteSteps(b prune.Bounds, upTo int64) error {
	return p.t.exec("DELETE FROM checkpoints WHERE "+stepBounds+" AND step <= ?5", boundArgs(b, upTo)...)
}
