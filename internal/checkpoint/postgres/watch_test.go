package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/servers"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/postgres"
)

// woken waits to be woken.
func woken(t *testing.T, wake <-chan struct{}, why string) {
	t.Helper()
	select {
	case <-wake:
	case <-time.After(20 * time.Second):
		t.Fatalf("%s: nobody was woken", why)
	}
}

// watched waits until a thread is among the changes, looking only when woken.
func watched(t *testing.T, s *postgres.Store, wake <-chan struct{}, thread string) {
	t.Helper()
	for {
		woken(t, wake, thread)
		c, err := s.Changes(t.Context(), 0, 100)
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range c.Threads {
			if info.Thread == thread {
				return
			}
		}
	}
}

func watch(t *testing.T, s *postgres.Store) <-chan struct{} {
	t.Helper()
	wake, err := s.Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return wake
}

// TestWatchIsNotified sees what another store writes by its notifications alone.
func TestWatchIsNotified(t *testing.T) {
	t.Parallel()
	url := servers.PostgresStore(t)
	s := open(t, url, postgres.Options{WatchEvery: time.Hour})
	wake := watch(t, s)
	other := open(t, url, postgres.Options{})
	for _, thread := range []string{"a", "b", "c"} {
		put(t, other, thread)
		watched(t, s, wake, thread)
	}
	put(t, other, "last")
	if err := other.Close(); err != nil { // which does not keep the notification back
		t.Fatal(err)
	}
	watched(t, s, wake, "last")
}

// TestWatchLooks sees what was notified to nobody.
func TestWatchLooks(t *testing.T) {
	t.Parallel()
	url := servers.PostgresStore(t)
	s := open(t, url, postgres.Options{WatchEvery: 20 * time.Millisecond})
	put(t, s, "a")
	wake := watch(t, s)
	seen, err := s.Changes(t.Context(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	servers.SQL(t, url, "UPDATE threads SET seq = next_seq(), title = 'by hand'")
	woken(t, wake, "a change by hand")
	c, err := s.Changes(t.Context(), seen.Seq, 100)
	if err != nil || len(c.Threads) != 1 {
		t.Errorf("changes %+v (%v), want the one", c, err)
	}
}

// TestWatchReconnects ends the connection that listens: watchers are woken once it listens again, and by what follows.
func TestWatchReconnects(t *testing.T) {
	t.Parallel()
	url := servers.PostgresStore(t)
	s := open(t, servers.With(t, url, "application_name", "watching"), postgres.Options{WatchEvery: time.Hour})
	other := open(t, url, postgres.Options{})
	wake := watch(t, s)
	for _, thread := range []string{"a", "b", "c"} {
		servers.SQL(t, url, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'watching' AND query LIKE 'LISTEN%'")
		woken(t, wake, "a new connection") // nobody listened meanwhile
		put(t, other, thread)
		watched(t, s, wake, thread)
	}
}

// TestWatchEnds ends with its context, and one connection listens for all watchers.
func TestWatchEnds(t *testing.T) {
	t.Parallel()
	url := servers.PostgresStore(t)
	s := open(t, servers.With(t, url, "application_name", "listening"), postgres.Options{})
	conn := beside(t, url)
	listeners := func() (n int) {
		t.Helper()
		err := conn.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE application_name = 'listening' AND query LIKE 'LISTEN%'`).Scan(&n)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for range 2 {
		ctx, cancel := context.WithCancel(t.Context())
		var all []<-chan struct{}
		for range 3 {
			wake, err := s.Watch(ctx)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, wake)
		}
		if n := listeners(); n != 1 {
			t.Errorf("%d connections listen, want 1", n)
		}
		cancel()
		for _, wake := range all {
			for range wake {
			}
		}
		for listeners() != 0 { // soon
		}
	}
}

// TestServerClock judges leases by the server, whatever the clock of this host says.
func TestServerClock(t *testing.T) {
	t.Parallel()
	url := servers.PostgresStore(t)
	s := open(t, url, postgres.Options{})
	var server time.Time
	if err := beside(t, url).QueryRow(t.Context(), "SELECT clock_timestamp()").Scan(&server); err != nil {
		t.Fatal(err)
	}
	now, err := s.Now(t.Context())
	if err != nil || now.Before(server) || now.Sub(server) > time.Minute {
		t.Errorf("the store's time is %v (%v), the server's was %v", now, err, server)
	}
	if _, err := s.Commit(t.Context(), resting("t")); err != nil {
		t.Fatal(err)
	}
	lease, err := s.AcquireLease(t.Context(), checkpoint.LeaseRequest{Thread: "t", Token: "token", TTL: time.Hour})
	if err != nil || lease.Until.Before(now.Add(time.Hour)) || lease.Until.After(now.Add(time.Hour+time.Minute)) {
		t.Errorf("lease %+v (%v)", lease, err)
	}
	info, err := s.Thread(t.Context(), "t")
	if err != nil || !info.Lease.Live || info.Created.Before(now) {
		t.Errorf("row %+v (%v)", info, err)
	}
}
