package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
)

// sizeRows show what must not grow with what a store holds, and that pruning it holds nobody up.
func sizeRows(scale float64) []row {
	part := func(n int) int { return max(int(float64(n)*scale), 1000) }
	const page, steps = "Threads, 50 rows", 10
	small, middle, large := 10_000, part(100_000), part(1_000_000)
	pruned := part(500_000)
	inbox := func(threads int) func(string) (*pair, error) {
		return func(dir string) (*pair, error) { return inboxPages(dir, threads, small) }
	}
	return []row{
		{name: fmt.Sprintf("inbox page, %s threads", short(small)), target: "< 0.2 ms", ours: page, rounds: 20, calls: 20, setup: inbox(small)},
		{name: fmt.Sprintf("inbox page, %s threads", short(middle)), target: "< 0.2 ms, ratio 1", ours: page, peer: "of " + short(small) + " threads",
			rounds: 20, calls: 20, setup: inbox(middle)},
		{name: fmt.Sprintf("inbox page, %s threads", short(large)), target: "< 0.2 ms, ratio 1", ours: page, peer: "of " + short(small) + " threads",
			rounds: 20, calls: 20, setup: inbox(large)},
		{name: fmt.Sprintf("commit beside %s checkpoints", short(large*steps)), target: "ratio <= 1.2", ours: "Commit of 1 KB, synchronous FULL",
			peer: "in an empty store", rounds: 40, calls: 25, setup: func(dir string) (*pair, error) {
				return commitAgainstEmpty(dir, fixture{threads: large, steps: steps, size: 64})
			}},
		{name: fmt.Sprintf("put to any of %s checkpoints", short(large*steps)), ours: "Put of 1 KB to a thread at random",
			peer: "of " + short(small), rounds: 40, calls: 25, setup: func(dir string) (*pair, error) {
				return putAtRandom(dir, fixture{threads: large, steps: steps, size: 64}, fixture{threads: small, steps: 1, size: 64})
			}},
		{name: "prune of " + short(pruned) + " steps, a writer beside it", target: "p99 < 15 ms", ours: "Commit of 1 KB each ms, another process",
			peer: "without a prune", whole: func(dir string) (*turns, error) {
				return besidePrune(dir, fixture{threads: pruned / 500, steps: 501, size: 1 << 10}, second)
			}},
		{name: "prune of " + short(pruned) + " steps, the same process", target: "p99 < 15 ms", ours: "Commit of 1 KB each ms",
			peer: "without a prune", whole: func(dir string) (*turns, error) {
				return besidePrune(dir, fixture{threads: pruned / 500, steps: 501, size: 1 << 10}, nil)
			}},
	}
}

// inboxPages reads the first page of what waits in a store of so many threads, and of another number.
func inboxPages(dir string, threads, others int) (*pair, error) {
	page := func(store checkpoint.Store) func() error {
		query := checkpoint.Query{Status: []checkpoint.Status{checkpoint.Interrupted, checkpoint.Sleeping}} // the Waiting tab
		return func() error {
			p, err := store.Threads(context.Background(), query)
			if err == nil && len(p.Threads) != 50 {
				err = fmt.Errorf("%d threads in the page", len(p.Threads))
			}
			return err
		}
	}
	if threads == others {
		store, err := fixture{threads: threads, steps: 1, size: 64}.open(dir)
		if err != nil {
			return nil, err
		}
		return &pair{ours: page(store), close: store.Close}, nil
	}
	a, b, err := twoFixtures(dir, fixture{threads: threads, steps: 1, size: 64}, fixture{threads: others, steps: 1, size: 64})
	if err != nil {
		return nil, err
	}
	return &pair{ours: page(a), peer: page(b), close: closers(a.Close, b.Close)}, nil
}

// twoFixtures fills two stores in folders of their own.
func twoFixtures(dir string, f, g fixture) (a, b checkpoint.Store, err error) {
	first, second, err := twoFolders(dir)
	if err != nil {
		return nil, nil, err
	}
	if a, err = f.open(first); err != nil {
		return nil, nil, err
	}
	if b, err = g.open(second); err != nil {
		return nil, nil, errors.Join(err, a.Close())
	}
	return a, b, nil
}

func commitAgainstEmpty(dir string, f fixture) (*pair, error) {
	first, second, err := twoFolders(dir)
	if err != nil {
		return nil, err
	}
	full, err := f.open(first)
	if err != nil {
		return nil, err
	}
	empty, err := openStore(second)
	if err != nil {
		return nil, errors.Join(err, full.Close())
	}
	ops := []checkpoint.Op{{Kind: checkpoint.OpSet, Channel: "state", Value: text(1 << 10)}}
	var runs [2]*runner
	for i, store := range []checkpoint.Store{full, empty} {
		if runs[i], err = newRunner(store, "t", ops); err != nil {
			return nil, errors.Join(err, full.Close(), empty.Close())
		}
	}
	return &pair{ours: func() error { return runs[0].step(ops) }, peer: func() error { return runs[1].step(ops) },
		close: closers(full.Close, empty.Close)}, nil
}

// putAtRandom adds a step to a thread that nobody has touched for long.
func putAtRandom(dir string, f, g fixture) (*pair, error) {
	a, b, err := twoFixtures(dir, f, g)
	if err != nil {
		return nil, err
	}
	put := func(store checkpoint.Store, f fixture) func() error {
		state := checkpoint.Channels{"state": text(1 << 10)}
		random, steps := rand.New(rand.NewPCG(1, 2)), make(map[int]int64)
		return func() error {
			n := 1 + random.IntN(f.threads)
			steps[n]++
			_, err := store.Put(context.Background(), checkpoint.Checkpoint{Thread: fmt.Sprintf("0192f0c1-%012d", n),
				Step: int64(f.steps) - 1 + steps[n], TS: time.Now(), Source: checkpoint.SourceStep, Workflow: "bench", Channels: state}, nil)
			return err
		}
	}
	return &pair{ours: put(a, f), peer: put(b, g), close: closers(a.Close, b.Close)}, nil
}

// besidePrune commits at a steady pace, first alone, then while all steps but the heads are pruned. beside opens the
// writer's store, nil for the one that is pruned.
func besidePrune(dir string, f fixture, beside func(dir string) (checkpoint.Store, error)) (t *turns, err error) {
	store, err := f.open(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	writes := store
	if beside != nil {
		if writes, err = beside(dir); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, writes.Close()) }()
	}
	ops := []checkpoint.Op{{Kind: checkpoint.OpSet, Channel: "state", Value: text(1 << 10)}}
	run, err := newRunner(writes, "t", ops)
	if err != nil {
		return nil, err
	}
	t = new(turns)
	alone, stop := context.WithTimeout(context.Background(), 3*time.Second)
	defer stop()
	if err := t.peer.pace(alone, func() error { return run.step(ops) }); err != nil {
		return nil, err
	}
	pruning, done := context.WithCancel(context.Background())
	var pruned *checkpoint.PruneResult
	var failed error
	go func() {
		defer done()
		pruned, failed = store.Prune(context.Background(), checkpoint.PruneQuery{All: true, BeforeStep: int64(f.steps)})
	}()
	err = t.ours.pace(pruning, func() error { return run.step(ops) })
	<-pruning.Done()
	if want := int64(f.threads * (f.steps - 1)); failed == nil && pruned.Steps != want {
		failed = fmt.Errorf("%d steps pruned, want %d", pruned.Steps, want)
	}
	return t, errors.Join(err, failed)
}

// pace calls fn about each millisecond until ctx ends.
func (t *times) pace(ctx context.Context, fn func() error) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		start := time.Now()
		if err := fn(); err != nil {
			return err
		}
		*t = append(*t, time.Since(start))
	}
}
