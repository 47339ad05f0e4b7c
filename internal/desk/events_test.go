package desk

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func testHub() *hub {
	return newHub(time.Now, func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop })
}

func TestEventsComeInBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		h := testHub()
		batches := h.subscribe(ctx, t.Context())
		began := time.Now()
		for i := range 3 {
			h.publish(Event{Kind: Progress, Thread: "a", Text: fmt.Sprint(i)})
		}
		batch := <-batches
		if len(batch) != 3 || time.Since(began) != batchEvery {
			t.Errorf("%d events after %v, want 3 after %v", len(batch), time.Since(began), batchEvery)
		}
		cancel()
		if _, open := <-batches; open {
			t.Error("still open after its context ended")
		}
		h.close()
	})
}

func TestSlowReaderLosesProgressOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		h := testHub()
		batches := h.subscribe(ctx, t.Context())
		const threads = 300
		for i := range 20_000 {
			thread := fmt.Sprint(i % threads)
			h.publish(Event{Kind: Progress, Thread: thread, Step: int64(i)})
			h.publish(Event{Kind: Rested, Thread: thread, Step: int64(i)})
			h.publish(Event{Kind: RunFailed, Thread: thread, Step: int64(i)})
			h.publish(Event{Kind: StoreChanged, Thread: thread, Step: int64(i)})
		}
		h.publish(Event{Kind: OutboxChanged})
		count := map[EventKind]int{}
		last := map[eventKey]int64{}
		for _, e := range <-batches {
			count[e.Kind]++
			last[eventKey{e.Kind, e.Thread}] = e.Step
		}
		if count[Progress] != maxProgress || last[eventKey{Progress, fmt.Sprint(19_999 % threads)}] != 19_999 {
			t.Errorf("%d progress lines, want the newest %d", count[Progress], maxProgress)
		}
		for _, kind := range []EventKind{Rested, RunFailed, StoreChanged} {
			if count[kind] != threads {
				t.Errorf("%d %s, want one a thread (%d)", count[kind], kind, threads)
			}
			for i := 20_000 - threads; i < 20_000; i++ {
				if got := last[eventKey{kind, fmt.Sprint(i % threads)}]; got != int64(i) {
					t.Fatalf("last %s of thread %d is %d, want %d", kind, i%threads, got, i)
				}
			}
		}
		if count[OutboxChanged] != 1 {
			t.Errorf("%d OutboxChanged, want 1", count[OutboxChanged])
		}
	})
}

func TestManyChangedThreadsBecomeOneEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		h := testHub()
		batches := h.subscribe(ctx, t.Context())
		for i := range 3 * maxThreads {
			h.publish(Event{Kind: StoreChanged, Thread: fmt.Sprint(i)})
		}
		h.publish(Event{Kind: Rested, Thread: "7"})
		batch := <-batches
		if len(batch) != 2 || batch[0].Kind != StoreChanged || batch[0].Thread != "" || batch[1].Kind != Rested {
			t.Errorf("%d events, first %+v; want one StoreChanged for all, and Rested", len(batch), batch[0])
		}
	})
}

func TestSubscriberHearsOfChangesInTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.add("thread-1", 2)
		d := openDesk(t, f, Options{})
		batches := d.Subscribe(t.Context())
		if batch := <-batches; batch[0].Kind != StoreChanged || batch[0].Thread != "" {
			t.Errorf("first %+v, want to be told to read again", batch)
		}
		f.byOthers("thread-1", "thread-1/q1", "approve", "bob")
		if batch := <-batches; len(batch) != 1 || batch[0].Kind != StoreChanged || batch[0].Thread != "thread-1" {
			t.Errorf("got %+v, want the change of thread-1", batch)
		}
		f.observe(Event{Kind: Progress, Thread: "thread-1", Text: "hello"})
		if batch := <-batches; len(batch) != 1 || batch[0].Text != "hello" {
			t.Errorf("got %+v, want the progress", batch)
		}
	})
}

func TestARunTellsHowItEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.add("thread-1", 1)
		d := openDesk(t, f, Options{})
		batches := d.Subscribe(t.Context())
		respond(t, d, decide("thread-1", "q1", "approve"), "")
		for batch := range batches {
			for _, e := range batch {
				if e.Kind == Rested {
					if e.Thread != "thread-1" || e.Status != "done" {
						t.Errorf("got %+v", e)
					}
					return
				}
			}
		}
	})
}

// TestSubscribingWhileTheDeskCloses: a subscription that comes as the desk closes is either waited for or told nothing.
func TestSubscribingWhileTheDeskCloses(t *testing.T) {
	for range 200 {
		h := newHub(time.Now, func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop })
		life, end := context.WithCancel(t.Context())
		var racers sync.WaitGroup
		var events <-chan []Event
		racers.Go(func() { events = h.subscribe(t.Context(), life) })
		end()
		h.close()
		racers.Wait()
		for range events {
			t.Error("an event of a closed desk")
		}
		h.wg.Wait()
	}
}

// TestWatchingWhileTheDeskCloses: the watch of the store that the first subscription begins is waited for, or not begun.
func TestWatchingWhileTheDeskCloses(t *testing.T) {
	for range 100 {
		d, err := New(newFake(), Options{})
		if err != nil {
			t.Fatal(err)
		}
		var racers sync.WaitGroup
		racers.Go(func() {
			for range d.Subscribe(t.Context()) {
			}
		})
		if err := d.Close(t.Context()); err != nil {
			t.Error(err)
		}
		racers.Wait()
	}
}
