package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/engine"
)

const (
	stride  = 100    // steps of a measured call
	early   = 100    // steps done before the first measured one
	late    = 10_000 // and of a long run
	parked  = 10_000 // threads that wait for people
	waiting = 1000   // items of a map that do
)

// flatRows show what must not grow: with the steps done, with the threads parked, with the items that wait beside.
func flatRows() []row {
	late := "a step of 1 KB, after 10000"
	crowd := "a step of 1 KB, 10000 threads parked"
	return []row{
		{name: "long loop, no store", target: "ratio 1", ours: late, peer: "after 100", rounds: 20, calls: 1, share: stride,
			setup: func(string) (*pair, error) { return longAgainstShort(nil, nil) }},
		{name: "long loop, memory", target: "ratio 1", ours: late, peer: "after 100", rounds: 20, calls: 1, share: stride,
			setup: func(string) (*pair, error) { return longAgainstShort(newMemory(), nil) }},
		{name: "long loop, SQLite", target: "ratio 1", ours: late, peer: "after 100", rounds: 20, calls: 1, share: stride,
			setup: func(dir string) (*pair, error) { return longAgainstShort(openStore(dir)) }},
		{name: "crowd, memory", target: "ratio 1", ours: crowd, peer: "none parked", rounds: 20, calls: 1, share: stride,
			setup: func(string) (*pair, error) { return crowdAgainstNone(newMemory(), newMemory()) }},
		{name: "crowd, SQLite", target: "ratio 1", ours: crowd, peer: "none parked", rounds: 20, calls: 1, share: stride, setup: crowdOnDisk},
		{name: "beside waiting items, memory", ours: "a step, 1000 items of a map waiting", peer: "10 waiting", rounds: 20, calls: 1, share: stride,
			setup: func(string) (*pair, error) { return besideWaiting(newMemory(), nil) }},
		{name: "beside waiting items, SQLite", ours: "a step, 1000 items of a map waiting", peer: "10 waiting", rounds: 10, calls: 1, share: stride,
			setup: func(dir string) (*pair, error) { return besideWaiting(openStore(dir)) }},
		{name: "bytes beside waiting items", target: "ratio 1", ours: "an item asked and answered beside up to 300, SQLite", peer: "beside up to 100",
			unit: "B", count: bytesBesideWaiting},
		{name: "goroutines", target: "equal", ours: "10000 threads parked, SQLite", peer: "none parked", count: goroutinesOfACrowd},
		{name: "memory, crowd", ours: "10000 threads parked, SQLite", peer: "none parked", unit: "KB", count: memoryOfACrowd},
		{name: "memory, long loop", target: "equal", ours: "within step 10000, SQLite", peer: "within step 100", unit: "KB", count: memoryOfALoop},
		{name: "memory, long map", target: "", ours: "at item 10000, SQLite", peer: "at item 100", unit: "KB", count: memoryOfAMap},
	}
}

// walk is a run that stands still until it is told to do its next steps.
type walk struct {
	goOn, stands chan struct{}
	cancel       context.CancelFunc
	ended        chan error
}

// pacer gives the walk and the node that keeps its pace: it writes 1 KB, and stands still after every stride.
func pacer() (*walk, *engine.Node) {
	w := &walk{goOn: make(chan struct{}), stands: make(chan struct{}), ended: make(chan error, 1)}
	write, n := writer(), 0
	pace := node("loop", func(ctx context.Context, c *engine.Call) (engine.Result, error) {
		if n%stride == 0 {
			select {
			case w.stands <- struct{}{}:
			case <-ctx.Done():
				return engine.Result{}, ctx.Err()
			}
			select {
			case <-w.goOn:
			case <-ctx.Done():
				return engine.Result{}, ctx.Err()
			}
		}
		n++
		return write(ctx, c)
	})
	pace.When = []engine.Branch{{Then: []string{"loop"}, If: func(engine.Scope, engine.Value) (bool, error) { return true, nil }}}
	return w, pace
}

// begin starts the walk and returns once it stands still.
func (w *walk) begin(store checkpoint.Store, g *engine.Graph, input map[string]json.RawMessage) error {
	ctx, cancel := context.WithCancel(context.Background())
	w.cancel = cancel
	go func() {
		_, err := engine.New(store, engine.Options{}).Start(ctx, request(g, input))
		w.ended <- err
	}()
	return w.standing()
}

func (w *walk) standing() error {
	select {
	case <-w.stands:
		return nil
	case err := <-w.ended:
		return fmt.Errorf("the walk ended: %w", err)
	}
}

// on does the next stride of steps.
func (w *walk) on() error {
	w.goOn <- struct{}{}
	return w.standing()
}

func (w *walk) to(steps int) error {
	for range steps / stride {
		if err := w.on(); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) close() error {
	w.cancel()
	<-w.ended
	return nil
}

// newWalk is a loop that has done its first steps.
func newWalk(store checkpoint.Store, steps int) (*walk, error) {
	w, loop := pacer()
	g := &engine.Graph{Name: "walk", Start: []string{"loop"}, Nodes: []*engine.Node{loop}, StepLimit: 1 << 30}
	return w, errors.Join(w.begin(store, g, nil), w.to(steps))
}

func closing(store checkpoint.Store) func() error {
	if store == nil {
		return func() error { return nil }
	}
	return store.Close
}

func longAgainstShort(store checkpoint.Store, err error) (*pair, error) {
	if err != nil {
		return nil, err
	}
	long, err := newWalk(store, late)
	if err != nil {
		return nil, err
	}
	short, err := newWalk(store, early)
	if err != nil {
		return nil, err
	}
	return &pair{ours: long.on, peer: short.on, close: closers(long.close, short.close, closing(store))}, nil
}

// parkMany starts threads that ask a question and wait.
func parkMany(store checkpoint.Store, n int) error {
	const workers = 64
	e := engine.New(store, engine.Options{})
	r := request(&engine.Graph{Name: "ask", Start: []string{"ask"}, Nodes: []*engine.Node{node("ask", ask)}}, nil)
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < n && errs[w] == nil; i += workers {
				out, err := e.Start(context.Background(), r)
				if err == nil && out.Status != checkpoint.Interrupted {
					err = fmt.Errorf("a thread is %s", out.Status)
				}
				errs[w] = err
			}
		})
	}
	wg.Wait()
	return errors.Join(append(errs, e.Close(context.Background()))...)
}

func ask(context.Context, *engine.Call) (engine.Result, error) {
	return engine.Result{Interrupts: []engine.Ask{{Payload: json.RawMessage(`{"kind":"approval","message":"Publish the notes?"}`)}}}, nil
}

func crowdAgainstNone(full, empty checkpoint.Store) (*pair, error) {
	if err := parkMany(full, parked); err != nil {
		return nil, err
	}
	ours, err := newWalk(full, early)
	if err != nil {
		return nil, err
	}
	peer, err := newWalk(empty, early)
	if err != nil {
		return nil, err
	}
	return &pair{ours: ours.on, peer: peer.on, close: closers(ours.close, peer.close, full.Close, empty.Close)}, nil
}

func crowdOnDisk(dir string) (*pair, error) {
	full, empty, err := twoStores(dir)
	if err != nil {
		return nil, err
	}
	return crowdAgainstNone(full, empty)
}

// besideWaiting is a loop beside a map whose items all wait for people.
func besideWaiting(store checkpoint.Store, err error) (*pair, error) {
	if err != nil {
		return nil, err
	}
	var walks [2]*walk
	for i, n := range []int{waiting, 10} {
		w, loop := pacer()
		g := mapGraph()
		g.Nodes[0].Map.MaxWaiting, g.Nodes[0].Map.MaxParallel = n, n
		g.Nodes[0].Map.Body.Nodes[0] = node("n", ask)
		g.Nodes, g.Start = append(g.Nodes, loop), []string{"each", "loop"}
		if err := errors.Join(w.begin(store, g, listOf(n)), w.to(early)); err != nil {
			return nil, err
		}
		walks[i] = w
	}
	return &pair{ours: walks[0].on, peer: walks[1].on, close: closers(walks[0].close, walks[1].close, store.Close)}, nil
}

// bytesBesideWaiting is what a thread stores for each item of a map that all wait before the first is answered, one by one.
func bytesBesideWaiting(dir string) (ours, peer int64, err error) {
	store, err := openStore(dir)
	if err != nil {
		return 0, 0, err
	}
	if ours, err = bytesOfWaiting(store, 300); err != nil {
		return 0, 0, err
	}
	peer, err = bytesOfWaiting(store, 100)
	return ours, peer, errors.Join(err, store.Close())
}

func bytesOfWaiting(store checkpoint.Store, n int) (int64, error) {
	g := mapGraph()
	g.Nodes[0].Map.MaxWaiting = n
	g.Nodes[0].Map.Body.Nodes[0] = node("n", ask)
	ctx := context.Background()
	e := engine.New(store, engine.Options{Graphs: only{g}})
	out, err := e.Start(ctx, request(g, listOf(n)))
	for err == nil && len(out.Questions) > 0 {
		answer := engine.Answer{Interrupt: out.Questions[0].ID, Action: "approve", Reviewer: "bench"}
		out, err = e.Resume(ctx, engine.ResumeRequest{Thread: out.Thread, Answers: []engine.Answer{answer}})
	}
	if err != nil {
		return 0, err
	}
	r, err := store.Prune(ctx, checkpoint.PruneQuery{Threads: []string{out.Thread}, BeforeStep: 1 << 40, DryRun: true})
	if err != nil {
		return 0, err
	}
	return r.Bytes / int64(n), e.Close(ctx)
}

// only knows one graph.
type only struct{ graph *engine.Graph }

// Graph implements engine.Graphs.
func (o only) Graph(context.Context, checkpoint.Definition) (*engine.Graph, error) {
	return o.graph, nil
}

// goroutinesOfACrowd counts them beside a full and an empty store.
func goroutinesOfACrowd(dir string) (ours, peer int64, err error) {
	return compareCrowd(dir, func() int64 { return int64(runtime.NumGoroutine()) })
}

func memoryOfACrowd(dir string) (ours, peer int64, err error) { return compareCrowd(dir, heap) }

func compareCrowd(dir string, measure func() int64) (ours, peer int64, err error) {
	full, empty, err := twoStores(dir)
	if err != nil {
		return 0, 0, err
	}
	if err := parkMany(empty, 1); err != nil { // so that both have been used
		return 0, 0, err
	}
	peer = measure()
	err = parkMany(full, parked)
	return measure(), peer, errors.Join(err, full.Close(), empty.Close())
}

// heap is what the process holds, in KB.
func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc >> 10)
}

func memoryOfALoop(dir string) (ours, peer int64, err error) {
	store, err := openStore(dir)
	if err != nil {
		return 0, 0, err
	}
	w, err := newWalk(store, early)
	if err != nil {
		return 0, 0, err
	}
	peer = heap()
	err = w.to(late - early)
	return heap(), peer, errors.Join(err, w.close(), store.Close())
}

// memoryOfAMap measures within a map of 10,000 items of 1 KB, when it has begun and before it ends.
func memoryOfAMap(dir string) (ours, peer int64, err error) {
	store, err := openStore(dir)
	if err != nil {
		return 0, 0, err
	}
	w, item := pacer()
	item.When = nil
	g := mapGraph()
	g.Nodes[0].Map.MaxParallel = 1
	g.Nodes[0].Map.Body.Start, g.Nodes[0].Map.Body.Nodes = []string{"loop"}, []*engine.Node{item}
	if err := errors.Join(w.begin(store, g, listOf(late+1)), w.to(early)); err != nil {
		return 0, 0, err
	}
	peer = heap()
	err = w.to(late - early)
	return heap(), peer, errors.Join(err, w.close(), store.Close())
}
