package engine

import (
	"context"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// tap is a store whose calls can be seen, counted and disturbed: on gets each in turn and decides what becomes of it.
type tap struct {
	checkpoint.Store
	on func(call string, do func() error) error
}

// through makes a call that gives a value.
func through[T any](t *tap, call string, do func() (T, error)) (v T, err error) {
	err = t.on(call, func() error {
		v, err = do()
		return err
	})
	return v, err
}

func (t *tap) Get(ctx context.Context, thread string, step int64) (*checkpoint.Checkpoint, error) {
	return through(t, "Get", func() (*checkpoint.Checkpoint, error) { return t.Store.Get(ctx, thread, step) })
}

func (t *tap) Latest(ctx context.Context, thread string) (*checkpoint.Checkpoint, error) {
	return through(t, "Latest", func() (*checkpoint.Checkpoint, error) { return t.Store.Latest(ctx, thread) })
}

func (t *tap) Thread(ctx context.Context, thread string) (*checkpoint.ThreadInfo, error) {
	return through(t, "Thread", func() (*checkpoint.ThreadInfo, error) { return t.Store.Thread(ctx, thread) })
}

func (t *tap) Threads(ctx context.Context, q checkpoint.Query) (checkpoint.Page, error) {
	return through(t, "Threads", func() (checkpoint.Page, error) { return t.Store.Threads(ctx, q) })
}

func (t *tap) FindDecision(ctx context.Context, thread, id string) (*checkpoint.Decision, error) {
	return through(t, "FindDecision", func() (*checkpoint.Decision, error) { return t.Store.FindDecision(ctx, thread, id) })
}

func (t *tap) Definition(ctx context.Context, fingerprint string) (*checkpoint.Definition, error) {
	return through(t, "Definition", func() (*checkpoint.Definition, error) { return t.Store.Definition(ctx, fingerprint) })
}

func (t *tap) Commit(ctx context.Context, c checkpoint.Commit) (checkpoint.Version, error) {
	return through(t, "Commit", func() (checkpoint.Version, error) { return t.Store.Commit(ctx, c) })
}

func (t *tap) AcquireLease(ctx context.Context, r checkpoint.LeaseRequest) (*checkpoint.Lease, error) {
	return through(t, "AcquireLease", func() (*checkpoint.Lease, error) { return t.Store.AcquireLease(ctx, r) })
}

func (t *tap) Heartbeat(ctx context.Context, thread, token string, ttl time.Duration) (checkpoint.Heartbeat, error) {
	return through(t, "Heartbeat", func() (checkpoint.Heartbeat, error) { return t.Store.Heartbeat(ctx, thread, token, ttl) })
}

func (t *tap) ReleaseLease(ctx context.Context, r checkpoint.Release) error {
	return t.on("ReleaseLease", func() error { return t.Store.ReleaseLease(ctx, r) })
}

func (t *tap) AddResult(ctx context.Context, thread, token string, r checkpoint.PendingResult) error {
	return t.on("AddResult", func() error { return t.Store.AddResult(ctx, thread, token, r) })
}

func (t *tap) PutDefinition(ctx context.Context, d checkpoint.Definition) error {
	return t.on("PutDefinition", func() error { return t.Store.PutDefinition(ctx, d) })
}
