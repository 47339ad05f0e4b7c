package desk

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// dueSource is a fake whose deadlines are applied by Sweep: it closes the thread's questions.
type dueSource struct {
	*fakeSource
	swept  []time.Duration
	began  time.Time
	looks  int
	failed int // sweeps that are to fail
}

func (s *dueSource) NextDue(ctx context.Context, after time.Time) (due, now time.Time, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.looks++
	for _, t := range s.threads {
		if t.due.After(after) && (due.IsZero() || t.due.Before(due)) {
			due = t.due
		}
	}
	return due, time.Now(), nil
}

func (s *dueSource) Sweep(ctx context.Context, carryOn bool, _ func(done, total int64)) ([]Result, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed > 0 {
		s.failed--
		return nil, errors.New("locked")
	}
	s.swept = append(s.swept, time.Since(s.began))
	for _, t := range s.threads {
		if !t.due.IsZero() && !t.due.After(time.Now()) && t.status != "overdue" {
			t.status = "done"
			t.due = time.Time{}
			s.touch(t)
		}
	}
	return nil, nil
}

func TestScheduleAppliesDeadlinesWhenTheyAreDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &dueSource{fakeSource: newFake(), began: time.Now()}
		first, second := s.add("thread-1", 1), s.add("thread-2", 1)
		first.due = s.began.Add(time.Hour)
		d, err := New(s, Options{})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- d.Schedule(ctx) }()
		time.Sleep(10 * time.Minute)
		s.mu.Lock()
		second.due = s.began.Add(20 * time.Minute) // an earlier deadline comes up
		s.touch(second)
		s.mu.Unlock()
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		s.mu.Lock()
		if len(s.swept) != 2 || s.swept[0] != 20*time.Minute || s.swept[1] != time.Hour {
			t.Errorf("swept after %v, want 20m and 1h", s.swept)
		}
		if s.looks > 12 {
			t.Errorf("looked %d times for what is due", s.looks)
		}
		s.mu.Unlock()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if err := d.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestScheduleRestsBesideAnOverdueQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &dueSource{fakeSource: newFake(), began: time.Now()}
		overdue := s.add("thread-1", 1)
		overdue.due, overdue.status = s.began.Add(-time.Hour), "overdue"
		d := openDesk(t, s.fakeSource, Options{})
		d.source = s
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Hour)
		defer cancel()
		if err := d.Schedule(ctx); err != nil {
			t.Error(err)
		}
		if len(s.swept) != 1 || s.looks > 3 {
			t.Errorf("swept %v, looked %d times; want one look at what nobody can apply", s.swept, s.looks)
		}
	})
}

func TestScheduleTriesAgainAfterAFailedSweep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &dueSource{fakeSource: newFake(), began: time.Now(), failed: 2}
		thread := s.add("thread-1", 1)
		thread.due = s.began.Add(time.Minute)
		d := openDesk(t, s.fakeSource, Options{})
		d.source = s
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := d.Schedule(ctx); err != nil {
			t.Error(err)
		}
		if len(s.swept) != 1 || s.swept[0] != time.Minute+2*sweepAgain {
			t.Errorf("swept after %v, want once, 20 s late", s.swept)
		}
	})
}
