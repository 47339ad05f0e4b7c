package postgres

import (
	"context"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/prune"
)

// Prune implements checkpoint.Store. Writers wait for a chunk only where it takes of their own thread, so the pause after
// each is for the disk.
func (s *Store) Prune(ctx context.Context, q checkpoint.PruneQuery) (*checkpoint.PruneResult, error) {
	if s.o.ReadOnly && !q.DryRun {
		return nil, s.write(ctx, nil)
	}
	result, err := prune.Run(ctx, pruner{s}, prune.Pace{Steps: 500, Bytes: 8 << 20, Pause: 1}, q)
	return result, err
}

// pruner is the store as a prune sees it.
type pruner struct{ *Store }

// stepBounds are prune.Bounds as conditions on the parameters of boundArgs.
const stepBounds = "thread = $1 AND step <> $2 AND step < $3 AND ts < $4"

func boundArgs(b prune.Bounds, more ...any) []any {
	return append([]any{b.Thread, b.Head, b.Before, b.Older}, more...)
}

func (p pruner) CountSteps(ctx context.Context, b prune.Bounds) (c prune.Count, err error) {
	_, err = p.readRow(ctx, `SELECT count(*), coalesce(sum(size), 0)::bigint, coalesce(min(ts), 0), coalesce(max(ts), 0) FROM checkpoints
		WHERE `+stepBounds, boundArgs(b), &c.Steps, &c.Bytes, &c.Oldest, &c.Newest)
	return c, err
}

func (p pruner) Transact(ctx context.Context, fn func(prune.Tx) error) error {
	return p.write(ctx, func(t *tx) error { return fn(prunedTx{t}) })
}

type prunedTx struct{ *tx }

func (t prunedTx) Now() time.Time { return t.now }

func (t prunedTx) Lock(thread string, whole bool) (prune.Thread, error) {
	if whole {
		t.lockName(thread) // before the row, as whoever creates it does
	}
	h, err := t.head(thread)
	if err != nil || h == nil {
		return nil, err
	}
	return pruned{t.tx, h}, nil
}

// pruned is a thread within a transaction of a prune.
type pruned struct {
	*tx
	h *head
}

func (p pruned) Head() int64              { return p.h.version.Step }
func (p pruned) Live(now time.Time) bool  { return p.h.lease.Live(now) }
func (p pruned) Detach(after int64) error { return p.detach(p.h, after) }

func (p pruned) DeleteThread() error {
	p.deleteThread(p.h)
	return nil
}

func (p pruned) Steps(b prune.Bounds, limit int64) (list []prune.Step, err error) {
	p.ask(func(rows scanner) error {
		var v prune.Step
		err := rows.Scan(&v.Step, &v.Size, &v.Next)
		list = append(list, v)
		return err
	}, `SELECT step, size, (SELECT coalesce(min(step), 0) FROM checkpoints AS n WHERE n.thread = c.thread AND n.step > c.step)
		FROM checkpoints AS c WHERE `+stepBounds+" ORDER BY step LIMIT $5", boundArgs(b, limit)...)
	err = p.flush()
	return list, err
}

func (p pruned) DeleteSteps(b prune.Bounds, upTo int64) error {
	p.queue("DELETE FROM checkpoints WHERE "+stepBounds+" AND step <= $5", boundArgs(b, upTo)...)
	return nil
}
