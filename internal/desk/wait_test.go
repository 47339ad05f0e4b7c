package desk

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// TestWait has a thread pass several statuses while somebody waits for its end, others change beside it, and time pass
// between a look and a change.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake()
		x, other := s.add("thread-1", 1), s.add("thread-2", 1)
		d := openDesk(t, s, Options{})
		set := func(thread *fakeThread, status string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			thread.status = status
			s.touch(thread)
		}
		var passed []string
		var found *Detail
		var failed error
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			found, failed = d.Wait(t.Context(), "thread-1", Finished.Statuses(), func(x Thread) { passed = append(passed, x.Status) })
		}()
		for _, status := range []string{"running", "stalled", "stalled", "interrupted"} {
			time.Sleep(time.Hour)
			set(x, status)
			set(other, "done")
		}
		time.Sleep(time.Hour)
		select {
		case <-ended:
			t.Fatal("the wait ended before the thread")
		default:
		}
		set(x, "rejected")
		<-ended
		if failed != nil || found.Status != "rejected" {
			t.Errorf("got %+v, %v", found, failed)
		}
		if want := []string{"interrupted", "running", "stalled", "interrupted"}; !slices.Equal(passed, want) {
			t.Errorf("passed %v, want %v", passed, want)
		}

		// What is there already is not waited for.
		if found, err := d.Wait(t.Context(), "thread-2", []string{"done"}, nil); err != nil || found.Status != "done" {
			t.Errorf("got %+v, %v", found, err)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		if _, err := d.Wait(ctx, "thread-2", []string{"failed"}, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want the end of the time", err)
		}
	})
}

// TestWaitEndsWithTheDesk closes the desk under somebody who waits.
func TestWaitEndsWithTheDesk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFake()
		s.add("thread-1", 1)
		d, err := New(s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		go func() {
			_, err := d.Wait(t.Context(), "thread-1", []string{"done"}, nil)
			ended <- err
		}()
		synctest.Wait()
		if err := d.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; !errors.Is(err, ErrClosed) {
			t.Errorf("got %v, want ErrClosed", err)
		}
	})
}
