package sqlite_test

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/sqlite"
)

// TestContractOfTwo holds two writers of one file, as two processes have them, to the contract of one: what a writer
// remembers of the rows that it wrote must not outlive what the other does to them.
func TestContractOfTwo(t *testing.T) {
	checkpointtest.Run(t, func(t *testing.T, now func() time.Time) checkpoint.Store {
		path := filepath.Join(t.TempDir(), "store.db")
		first := open(t, path, sqlite.Options{Now: now, WatchEvery: time.Millisecond})
		return &pair{Store: first, second: open(t, path, sqlite.Options{Now: now, WatchEvery: time.Millisecond})}
	})
}

// pair does what is done to a thread now on one store of a file, now on another.
type pair struct {
	checkpoint.Store // of which it reads
	second           checkpoint.Store
	calls            atomic.Uint32
}

// writer takes turns of lengths one to three.
func (p *pair) writer() checkpoint.Store {
	if [...]bool{true, false, true, true, false, false, false, true, true, true, false, false}[p.calls.Add(1)%12] {
		return p.Store
	}
	return p.second
}

func (p *pair) Put(ctx context.Context, c checkpoint.Checkpoint, ifRevision *int64) (int64, error) {
	return p.writer().Put(ctx, c, ifRevision)
}

func (p *pair) Commit(ctx context.Context, c checkpoint.Commit) (checkpoint.Version, error) {
	return p.writer().Commit(ctx, c)
}

func (p *pair) AcquireLease(ctx context.Context, r checkpoint.LeaseRequest) (*checkpoint.Lease, error) {
	return p.writer().AcquireLease(ctx, r)
}

func (p *pair) Heartbeat(ctx context.Context, thread, token string, ttl time.Duration) (checkpoint.Heartbeat, error) {
	return p.writer().Heartbeat(ctx, thread, token, ttl)
}

func (p *pair) ReleaseLease(ctx context.Context, r checkpoint.Release) error {
	return p.writer().ReleaseLease(ctx, r)
}

func (p *pair) RequestCancel(ctx context.Context, thread, by string) error {
	return p.writer().RequestCancel(ctx, thread, by)
}

func (p *pair) AddResult(ctx context.Context, thread, token string, r checkpoint.PendingResult) error {
	return p.writer().AddResult(ctx, thread, token, r)
}

func (p *pair) Claim(ctx context.Context, thread, reviewer string, ttl time.Duration) error {
	return p.writer().Claim(ctx, thread, reviewer, ttl)
}

func (p *pair) ReleaseClaim(ctx context.Context, thread, reviewer string) error {
	return p.writer().ReleaseClaim(ctx, thread, reviewer)
}

func (p *pair) Prune(ctx context.Context, q checkpoint.PruneQuery) (*checkpoint.PruneResult, error) {
	return p.writer().Prune(ctx, q)
}

func (p *pair) DeleteThread(ctx context.Context, thread string) error {
	return p.writer().DeleteThread(ctx, thread)
}

func (p *pair) Import(ctx context.Context, b *checkpoint.Bundle, o checkpoint.ImportOptions) error {
	return p.writer().Import(ctx, b, o)
}

func (p *pair) Bury(ctx context.Context, t checkpoint.Tombstone) error {
	return p.writer().Bury(ctx, t)
}
