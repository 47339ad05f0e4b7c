package postgres_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/postgres"
)

// The test binary runs itself again as another process; these variables tell it what to be.
const (
	roleVar = "HITL_TEST_ROLE"
	urlVar  = "HITL_TEST_URL"
	nameVar = "HITL_TEST_NAME"
)

func TestMain(m *testing.M) {
	roles := map[string]func(*postgres.Store, string) error{
		"racer": beRacer, "creator": beCreator, "opener": beOpener, "sleeper": beSleeper, "writer": beWriter,
	}
	role, ok := roles[os.Getenv(roleVar)]
	if !ok {
		goleak.VerifyTestMain(m)
		return
	}
	s, err := postgres.Open(context.Background(), os.Getenv(urlVar), postgres.Options{})
	if err == nil {
		err = errors.Join(role(s, os.Getenv(nameVar)), s.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// process is another process of this test binary.
type process struct {
	*exec.Cmd
	out *bufio.Scanner
}

// child starts the test binary in a role, which begins once begin is called.
func child(t *testing.T, role, url, name string) (p process, begin func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVar+"="+role, urlVar+"="+url, nameVar+"="+name)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	return process{cmd, bufio.NewScanner(out)}, func() { in.Close() }
}

// ready tells that a child has opened the store, and waits until it may begin.
func ready() {
	fmt.Println("ready")
	bufio.NewScanner(os.Stdin).Scan()
}

const raced = 30

// beRacer takes every lease it can get and says which.
func beRacer(s *postgres.Store, name string) error {
	ready()
	for i := range raced {
		thread := fmt.Sprintf("t%02d", i)
		_, err := s.AcquireLease(context.Background(), checkpoint.LeaseRequest{Thread: thread, Token: name, Holder: name, TTL: time.Hour})
		if err == nil {
			fmt.Println(thread)
		} else if !errors.Is(err, checkpoint.ErrLeased) {
			return err
		}
	}
	return nil
}

// beCreator begins threads, half of them by Commit and half by Put, and says of which it was the first.
func beCreator(s *postgres.Store, name string) error {
	ready()
	absent := int64(0)
	for i := range raced {
		thread := fmt.Sprintf("t%02d", i)
		var err error
		if i%2 == 0 {
			c := first(thread)
			c.ID = name + thread
			_, err = s.Commit(context.Background(), c)
		} else {
			_, err = s.Put(context.Background(), checkpoint.Checkpoint{Thread: thread}, &absent)
		}
		if err == nil {
			fmt.Println(thread)
		} else if !errors.Is(err, checkpoint.ErrConflict) {
			return err
		}
	}
	return nil
}

// beOpener has opened a store, perhaps created it together with others, and writes to it.
func beOpener(s *postgres.Store, name string) error {
	_, err := s.Put(context.Background(), checkpoint.Checkpoint{Thread: name, Step: 1}, nil)
	return err
}

// writers is how many threads a writer writes at once.
const writers = 4

// beWriter commits without end to several threads and says each time that it was told so.
func beWriter(s *postgres.Store, name string) error {
	errs := make(chan error)
	for i := range writers {
		go func() { errs <- writeForever(s, fmt.Sprint(name, "-", i)) }()
	}
	return <-errs
}

func writeForever(s *postgres.Store, thread string) error {
	c := first(thread)
	c.Lease, c.Release = thread, false
	c.NewLease = &checkpoint.LeaseRequest{Thread: thread, Token: thread, TTL: time.Hour}
	for ; ; c = next(c) {
		if _, err := s.Commit(context.Background(), c); err != nil {
			return err
		}
		fmt.Println(thread, c.Checkpoint.Step)
	}
}

// beSleeper takes a lease, is stopped and then tries to go on under it.
func beSleeper(s *postgres.Store, name string) error {
	lease, err := s.AcquireLease(context.Background(), checkpoint.LeaseRequest{Thread: name, Token: "sleeper", TTL: sleeperTTL})
	if err != nil {
		return err
	}
	ready()
	c := next(first(name))
	c.Lease = lease.Token
	if _, err := s.Commit(context.Background(), c); !errors.Is(err, checkpoint.ErrConflict) {
		return fmt.Errorf("a runner that slept past its lease: %v", err)
	}
	fmt.Println("refused")
	return nil
}

const sleeperTTL = 200 * time.Millisecond

// first is the commit that begins a thread and gives the lease back.
func first(thread string) checkpoint.Commit {
	return checkpoint.Commit{ID: thread + "-0", Checkpoint: checkpoint.Checkpoint{Thread: thread, Workflow: "notes"}, Parent: -1, Release: true,
		NewThread: &checkpoint.NewThread{}, Ops: []checkpoint.Op{{Kind: checkpoint.OpSet, Channel: "log", Value: []byte("[0]")}},
		Summary: checkpoint.Summary{Phase: checkpoint.Stalled}}
}

// next is the commit that follows c.
func next(c checkpoint.Commit) checkpoint.Commit {
	c.NewThread, c.NewLease, c.Decisions = nil, nil, nil
	c.Parent, c.Checkpoint.Step = c.Checkpoint.Step, c.Checkpoint.Step+1
	c.ID = fmt.Sprint(c.Checkpoint.Thread, "-", c.Checkpoint.Step)
	c.Ops = []checkpoint.Op{{Kind: checkpoint.OpAppend, Channel: "log", Value: fmt.Appendf(nil, "[%d]", c.Checkpoint.Step)}}
	return c
}
