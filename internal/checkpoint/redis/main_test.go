package redis_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"go.uber.org/goleak"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/redis"
)

// The test binary runs itself again as another process; these variables tell it what to be.
const (
	roleVar = "HITL_TEST_ROLE"
	urlVar  = "HITL_TEST_URL"
	nameVar = "HITL_TEST_NAME"
)

func TestMain(m *testing.M) {
	role, ok := map[string]func(*redis.Store, string) error{"racer": beRacer, "opener": beOpener, "sleeper": beSleeper}[os.Getenv(roleVar)]
	if !ok {
		goleak.VerifyTestMain(m)
		return
	}
	s, err := redis.Open(context.Background(), os.Getenv(urlVar), redis.Options{})
	if err == nil {
		err = role(s, os.Getenv(nameVar))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s.Close()
}

// child starts the test binary in a role. It goes on when its standard input is closed.
func child(t *testing.T, role, url, name string) (*exec.Cmd, *bufio.Scanner, io.Closer) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVar+"="+role, urlVar+"="+url, nameVar+"="+name)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out), in
}

func TestContract(t *testing.T) {
	checkpointtest.Run(t, func(t *testing.T, now func() time.Time) checkpoint.Store {
		return open(t, freshURL(t), redis.Options{Now: now})
	})
}

// serverURL is where the tests find a server: HITL_TEST_REDIS, or the usual port of this host.
func serverURL(t testing.TB) string {
	t.Helper()
	url := os.Getenv("HITL_TEST_REDIS")
	if url == "" {
		url = "redis://127.0.0.1:6379/0"
	}
	if err := client(t, url).Ping(t.Context()).Err(); err != nil {
		missing(t, "no Redis server at %s (HITL_TEST_REDIS): %v", url, err)
	}
	return url
}

// missing skips a test for what is not there, unless everything has to be.
func missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

func client(t testing.TB, url string) *goredis.Client {
	t.Helper()
	o, err := goredis.ParseURL(url)
	if err != nil {
		t.Fatal(err)
	}
	c := goredis.NewClient(o)
	t.Cleanup(func() { c.Close() })
	return c
}

var prefixes atomic.Int64

// freshURL names a store with a prefix of its own on the server of the tests, and deletes its keys at the end.
func freshURL(t testing.TB) string {
	t.Helper()
	url, prefix := serverURL(t), freshPrefix()
	c := client(t, url)
	t.Cleanup(func() {
		ctx := context.Background()
		for keys := c.Scan(ctx, 0, prefix+"*", 1000).Iterator(); keys.Next(ctx); {
			if err := c.Unlink(ctx, keys.Val()).Err(); err != nil {
				t.Errorf("clean up: %v", err)
				return
			}
		}
	})
	return url + "?prefix=" + prefix
}

func freshPrefix() string {
	return fmt.Sprintf("test:%d:%d:%d:", os.Getpid(), time.Now().UnixNano(), prefixes.Add(1))
}

func open(t testing.TB, url string, o redis.Options) *redis.Store {
	t.Helper()
	s, err := redis.Open(t.Context(), url, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

// first is the commit that begins a thread, under a lease that lasts.
func first(thread string) checkpoint.Commit {
	return checkpoint.Commit{ID: thread, Checkpoint: checkpoint.Checkpoint{Thread: thread, TS: time.Now()}, Parent: -1, Lease: thread,
		NewThread: &checkpoint.NewThread{}, NewLease: &checkpoint.LeaseRequest{Thread: thread, Token: thread, TTL: time.Hour},
		Ops: []checkpoint.Op{{Kind: checkpoint.OpSet, Channel: "log", Value: []byte("[0]")}}, Summary: checkpoint.Summary{Phase: checkpoint.Stalled}}
}

// next is the commit that follows c under the same lease.
func next(c checkpoint.Commit) checkpoint.Commit {
	step := c.Checkpoint.Step + 1
	c.NewThread, c.NewLease, c.Decisions = nil, nil, nil
	c.Parent, c.Checkpoint.Step, c.ID = c.Checkpoint.Step, step, fmt.Sprint(c.Checkpoint.Thread, step)
	c.Ops = []checkpoint.Op{{Kind: checkpoint.OpAppend, Channel: "log", Value: fmt.Appendf(nil, "[%d]", step)}}
	return c
}

func commit(t testing.TB, s checkpoint.Store, c checkpoint.Commit) {
	t.Helper()
	if _, err := s.Commit(t.Context(), c); err != nil {
		t.Fatal(err)
	}
}

// chain commits n steps to a new thread, with three decisions in the first, and lets it rest.
func chain(t testing.TB, s checkpoint.Store, thread string, n int) {
	t.Helper()
	c := first(thread)
	c.Decisions = []checkpoint.Decision{{ID: thread + "a"}, {ID: thread + "b"}, {ID: thread + "c"}}
	for i := range n {
		c.Release = i == n-1
		commit(t, s, c)
		c = next(c)
	}
}
