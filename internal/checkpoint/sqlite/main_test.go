package sqlite_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/sqlite"
)

// The test binary runs itself again as another process; these variables tell it what to be.
const (
	roleVar = "HITL_TEST_ROLE"
	pathVar = "HITL_TEST_PATH"
	nameVar = "HITL_TEST_NAME"
)

func TestMain(m *testing.M) {
	role, ok := map[string]func(*sqlite.Store, string) error{"writer": beWriter, "racer": beRacer, "opener": beOpener}[os.Getenv(roleVar)]
	if !ok {
		goleak.VerifyTestMain(m)
		return
	}
	s, err := sqlite.Open(context.Background(), os.Getenv(pathVar), sqlite.Options{})
	if err == nil {
		err = role(s, os.Getenv(nameVar))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	s.Close()
}

// child starts the test binary in a role.
func child(t *testing.T, role, path, name string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVar+"="+role, pathVar+"="+path, nameVar+"="+name)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewScanner(out)
}

const writers = 4

// beWriter commits without end to several threads and says each time that it was told so.
func beWriter(s *sqlite.Store, name string) error {
	var wg sync.WaitGroup
	errs := make(chan error, writers)
	for i := range writers {
		wg.Go(func() { errs <- writeForever(s, name+"-"+strconv.Itoa(i)) })
	}
	return <-errs
}

func writeForever(s *sqlite.Store, thread string) error {
	c := checkpoint.Commit{ID: thread, Checkpoint: checkpoint.Checkpoint{Thread: thread}, Parent: -1, Lease: thread,
		NewThread: &checkpoint.NewThread{}, NewLease: &checkpoint.LeaseRequest{Thread: thread, Token: thread, TTL: time.Hour},
		Ops: []checkpoint.Op{{Kind: checkpoint.OpSet, Channel: "log", Value: []byte("[0]")}}, Summary: checkpoint.Summary{Phase: checkpoint.Stalled}}
	for {
		if _, err := s.Commit(context.Background(), c); err != nil {
			return err
		}
		step := c.Checkpoint.Step
		fmt.Printf("%s %d\n", thread, step)
		c.NewThread, c.NewLease = nil, nil
		c.Parent, c.Checkpoint.Step, c.ID = step, step+1, fmt.Sprint(thread, step+1)
		c.Ops = []checkpoint.Op{{Kind: checkpoint.OpAppend, Channel: "log", Value: fmt.Appendf(nil, "[%d]", step+1)}}
	}
}

// beRacer waits for the start and takes every lease it can get, telling which.
func beRacer(s *sqlite.Store, name string) error {
	fmt.Println("ready")
	for _, err := os.Stat(os.Getenv(pathVar) + ".go"); err != nil; _, err = os.Stat(os.Getenv(pathVar) + ".go") {
		time.Sleep(time.Millisecond) // another process has no channel to wait on
	}
	for i := range raced {
		thread := fmt.Sprintf("t%02d", i)
		_, err := s.AcquireLease(context.Background(), checkpoint.LeaseRequest{Thread: thread, Token: name, Holder: name, TTL: time.Hour})
		if err == nil {
			fmt.Println(thread)
		} else if !isLeased(err) {
			return err
		}
	}
	return nil
}

// beOpener has opened a store, perhaps created it together with others, and writes to it.
func beOpener(s *sqlite.Store, name string) error {
	_, err := s.Put(context.Background(), checkpoint.Checkpoint{Thread: name, Step: 1}, nil)
	return err
}
