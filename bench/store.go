package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/sqlite"
)

func storeRows() []row {
	const ours, limit = "Commit, synchronous FULL", "raw overwrite and fdatasync of as many bytes"
	return []row{
		{name: "durable commit, 1 KB", target: "ratio <= 1.6", ours: ours, peer: limit, rounds: 40, calls: 50,
			setup: func(dir string) (*pair, error) { return commitAgainstDisk(dir, 1<<10) }},
		{name: "durable commit, 16 KB", ours: ours, peer: limit, rounds: 20, calls: 25,
			setup: func(dir string) (*pair, error) { return commitAgainstDisk(dir, 16<<10) }},
		{name: "durable commit, one of 256 keys of 1 KB", target: "ratio <= 2", ours: ours, peer: limit, rounds: 20, calls: 25,
			setup: func(dir string) (*pair, error) { return largeAgainstDisk(dir, keysState(256), oneKey) }},
		{name: "durable commit, 1 KB more in a list of 256 KB", target: "ratio <= 2", ours: ours, peer: limit, rounds: 20, calls: 25,
			setup: func(dir string) (*pair, error) { return largeAgainstDisk(dir, listState(256), oneMore) }},
		{name: "durable commit, all of 256 KB", ours: ours, peer: limit, rounds: 10, calls: 10,
			setup: func(dir string) (*pair, error) { return commitAgainstDisk(dir, 256<<10) }},
		{name: "group commit", target: "ratio <= 0.2", ours: "a commit's share, 64 at once", peer: "one after the other", rounds: 8, calls: 1, share: 64 * groupSteps,
			setup: groupAgainstOne},
	}
}

// runner commits step after step to one thread.
type runner struct {
	store  checkpoint.Store
	commit checkpoint.Commit
	n      int
}

const hour = time.Hour

func newRunner(store checkpoint.Store, thread string, state []checkpoint.Op) (*runner, error) {
	r := &runner{store: store, commit: checkpoint.Commit{
		ID:         thread + ".0",
		Checkpoint: checkpoint.Checkpoint{Thread: thread, TS: time.Now(), Source: checkpoint.SourceInput, Workflow: "bench", Fingerprint: strings.Repeat("f", 64), Next: []string{"a"}},
		Parent:     -1, Lease: thread,
		NewLease:  &checkpoint.LeaseRequest{Thread: thread, Token: thread, Holder: "bench:1", TTL: hour},
		NewThread: &checkpoint.NewThread{Workdir: "/", StartedBy: "bench"},
		Ops:       state,
		Summary:   checkpoint.Summary{Phase: checkpoint.Stalled, Node: "a"},
	}}
	_, err := store.Commit(context.Background(), r.commit)
	return r, err
}

// step commits one step that sets ops.
func (r *runner) step(ops []checkpoint.Op) error {
	c := &r.commit
	c.NewLease, c.NewThread = nil, nil
	r.n++
	c.ID = fmt.Sprintf("%s.%d", c.Checkpoint.Thread, r.n)
	c.Parent = c.Checkpoint.Step
	c.Checkpoint.Step++
	c.Checkpoint.TS = time.Now()
	c.Checkpoint.Source = checkpoint.SourceStep
	c.Checkpoint.Runs = []checkpoint.NodeRun{{Path: "main@1/a@1", Node: "a", Status: "COMPLETED", Started: c.Checkpoint.TS, TookMS: 3}}
	c.Ops = ops
	_, err := r.store.Commit(context.Background(), *c)
	return err
}

func openStore(dir string) (checkpoint.Store, error) {
	return sqlite.Open(context.Background(), filepath.Join(dir, "store.db"), sqlite.Options{})
}

// twoStores opens two stores in folders of their own.
func twoStores(dir string) (a, b checkpoint.Store, err error) {
	first, second, err := twoFolders(dir)
	if err != nil {
		return nil, nil, err
	}
	if a, err = openStore(first); err != nil {
		return nil, nil, err
	}
	b, err = openStore(second)
	return a, b, err
}

func twoFolders(dir string) (a, b string, err error) {
	a, b = filepath.Join(dir, "a"), filepath.Join(dir, "b")
	return a, b, errors.Join(os.Mkdir(a, 0o700), os.Mkdir(b, 0o700))
}

func text(bytes int) json.RawMessage {
	return json.RawMessage(`"` + strings.Repeat("x", bytes-2) + `"`)
}

func commitAgainstDisk(dir string, size int) (*pair, error) {
	store, err := openStore(dir)
	if err != nil {
		return nil, err
	}
	ops := []checkpoint.Op{{Kind: checkpoint.OpSet, Channel: "state", Value: text(size)}}
	r, err := newRunner(store, "t", ops)
	if err != nil {
		return nil, err
	}
	raw, err := newDisk(dir, size)
	if err != nil {
		return nil, err
	}
	return &pair{ours: func() error { return r.step(ops) }, peer: raw.write, close: closers(store.Close, raw.close)}, nil
}

// largeAgainstDisk commits steps that change 1 KB of a state.
func largeAgainstDisk(dir string, state []checkpoint.Op, change func(n int) []checkpoint.Op) (*pair, error) {
	store, err := openStore(dir)
	if err != nil {
		return nil, err
	}
	r, err := newRunner(store, "t", state)
	if err != nil {
		return nil, err
	}
	raw, err := newDisk(dir, 1<<10)
	if err != nil {
		return nil, err
	}
	return &pair{ours: func() error { return r.step(change(r.n)) }, peer: raw.write, close: closers(store.Close, raw.close)}, nil
}

// keysState is a state of n keys of 1 KB, of which oneKey changes one, in turn.
func keysState(n int) []checkpoint.Op {
	var ops []checkpoint.Op
	for i := range n {
		ops = append(ops, oneKey(i)...)
	}
	return ops
}

func oneKey(n int) []checkpoint.Op {
	return []checkpoint.Op{{Kind: checkpoint.OpSet, Channel: fmt.Sprint("key", n%256), Value: text(1 << 10)}}
}

// listState is a state of one list of n texts of 1 KB, to which oneMore adds one.
func listState(n int) []checkpoint.Op {
	items := bytes.Repeat(append(text(1<<10), ','), n)
	return []checkpoint.Op{{Kind: checkpoint.OpSet, Channel: "list", Value: slices.Concat([]byte("["), items[:len(items)-1], []byte("]"))}}
}

func oneMore(int) []checkpoint.Op {
	return []checkpoint.Op{{Kind: checkpoint.OpAppend, Channel: "list", Value: slices.Concat([]byte("["), text(1<<10), []byte("]"))}}
}

// groupSteps is what each of 64 threads commits in one measured call.
const groupSteps = 20

// groupAgainstOne times many commits as one call, so the figures are for all of them.
func groupAgainstOne(dir string) (*pair, error) {
	const threads, steps = 64, groupSteps
	store, err := openStore(dir)
	if err != nil {
		return nil, err
	}
	ops := []checkpoint.Op{{Kind: checkpoint.OpSet, Channel: "state", Value: text(1 << 10)}}
	runners := make([]*runner, threads)
	for i := range runners {
		if runners[i], err = newRunner(store, fmt.Sprintf("t%d", i), ops); err != nil {
			return nil, err
		}
	}
	many := func() error {
		errs := make([]error, threads)
		var wg sync.WaitGroup
		for i, r := range runners {
			wg.Go(func() {
				for range steps {
					errs[i] = errors.Join(errs[i], r.step(ops))
				}
			})
		}
		wg.Wait()
		return errors.Join(errs...)
	}
	one := func() error {
		for range threads * steps {
			if err := runners[0].step(ops); err != nil {
				return err
			}
		}
		return nil
	}
	return &pair{ours: many, peer: one, close: store.Close}, nil
}

// disk overwrites one place of a file and waits until that is durable: the least a durable write can cost.
type disk struct {
	f    *os.File
	data []byte
}

func newDisk(dir string, size int) (*disk, error) {
	f, err := os.Create(filepath.Join(dir, "raw"))
	if err != nil {
		return nil, err
	}
	d := &disk{f: f, data: make([]byte, max(4096, (size+4095)/4096*4096))}
	return d, d.write()
}

func (d *disk) write() error {
	d.data[0]++
	if _, err := d.f.WriteAt(d.data, 0); err != nil {
		return err
	}
	return fdatasync(d.f)
}

func (d *disk) close() error { return d.f.Close() }

func closers(fns ...func() error) func() error {
	return func() error {
		var errs []error
		for _, fn := range fns {
			errs = append(errs, fn())
		}
		return errors.Join(errs...)
	}
}
