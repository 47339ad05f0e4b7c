package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/sqlite"
)

func storeRows() []row {
	limit := "raw overwrite and fdatasync of as many bytes"
	return []row{
		{name: "durable commit, 1 KB", target: "ratio <= 2", ours: "Commit, synchronous FULL", peer: limit, rounds: 40, calls: 50,
			setup: func(dir string) (*pair, error) { return commitAgainstDisk(dir, 1<<10) }},
		{name: "durable commit, 16 KB", ours: "Commit, synchronous FULL", peer: limit, rounds: 20, calls: 25,
			setup: func(dir string) (*pair, error) { return commitAgainstDisk(dir, 16<<10) }},
		{name: "durable commit, 1 KB of 256 KB", target: "ratio <= 2", ours: "Commit, synchronous FULL", peer: limit, rounds: 20, calls: 25,
			setup: largeStateAgainstDisk},
		{name: "group commit", target: "ratio <= 0.2", ours: "a commit's share, 64 at once", peer: "one after the other", rounds: 8, calls: 1, share: 64 * groupSteps,
			setup: groupAgainstOne},
		{name: "inbox page, 10k threads", target: "< 0.3 ms", ours: "Threads, 50 rows", rounds: 20, calls: 20,
			setup: func(dir string) (*pair, error) { return inboxPage(dir, 10_000) }},
		{name: "inbox page, 100k threads", target: "< 0.3 ms", ours: "Threads, 50 rows", rounds: 20, calls: 20,
			setup: func(dir string) (*pair, error) { return inboxPage(dir, 100_000) }},
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
	for _, part := range []struct {
		name  string
		store *checkpoint.Store
	}{{"a", &a}, {"b", &b}} {
		folder := filepath.Join(dir, part.name)
		if err := os.Mkdir(folder, 0o700); err != nil {
			return nil, nil, err
		}
		if *part.store, err = openStore(folder); err != nil {
			return nil, nil, err
		}
	}
	return a, b, nil
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

func largeStateAgainstDisk(dir string) (*pair, error) {
	store, err := openStore(dir)
	if err != nil {
		return nil, err
	}
	state := []checkpoint.Op{{Kind: checkpoint.OpSet, Channel: "list", Value: json.RawMessage(`[` + string(text(256<<10)) + `]`)}}
	r, err := newRunner(store, "t", state)
	if err != nil {
		return nil, err
	}
	raw, err := newDisk(dir, 1<<10)
	if err != nil {
		return nil, err
	}
	change := []checkpoint.Op{{Kind: checkpoint.OpAppend, Channel: "list", Value: json.RawMessage(`[` + string(text(1<<10)) + `]`)}}
	return &pair{ours: func() error { return r.step(change) }, peer: raw.write, close: closers(store.Close, raw.close)}, nil
}

// groupAgainstOne times many commits as one call, so the figures are for all of them.
// groupSteps is what each of 64 threads commits in one measured call.
const groupSteps = 20

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

// inboxPage fills a store in which one thread of twenty waits for a person.
func inboxPage(dir string, threads int) (*pair, error) {
	store, err := openStore(dir)
	if err != nil {
		return nil, err
	}
	if err := fill(store, threads); err != nil {
		return nil, err
	}
	query := checkpoint.Query{Status: []checkpoint.Status{checkpoint.Interrupted, checkpoint.Sleeping}} // the Waiting tab
	page := func() error {
		p, err := store.Threads(context.Background(), query)
		if err == nil && len(p.Threads) != 50 {
			err = fmt.Errorf("%d threads in the page", len(p.Threads))
		}
		return err
	}
	return &pair{ours: page, close: store.Close}, nil
}

func fill(store checkpoint.Store, threads int) error {
	const workers = 64
	errs := make([]error, workers)
	var wg sync.WaitGroup
	begin := time.Now().Add(-24 * hour)
	for w := range workers {
		wg.Go(func() {
			for i := w; i < threads; i += workers {
				asked := begin.Add(time.Duration(i) * time.Millisecond)
				c := checkpoint.Commit{
					ID:         fmt.Sprint(i),
					Checkpoint: checkpoint.Checkpoint{Thread: fmt.Sprintf("0192f0c1-%012d", i), TS: asked, Source: checkpoint.SourceInput, Workflow: "bench"},
					Parent:     -1, NewThread: &checkpoint.NewThread{Workdir: "/srv/bench", StartedBy: "bench"}, Release: true,
					Summary: checkpoint.Summary{Phase: checkpoint.Done, Title: fmt.Sprintf("Claim %d of a colleague, a train ticket", i)},
				}
				if i%20 == 0 {
					c.Summary.Phase, c.Summary.Node, c.Summary.Questions, c.Summary.WaitingSince = checkpoint.Interrupted, "review", 1, &asked
					if i%60 == 0 {
						due := asked.Add(48 * hour)
						c.Summary.Due = &due
					}
				}
				_, err := store.Commit(context.Background(), c)
				errs[w] = errors.Join(errs[w], err)
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
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
