//go:build unix

// Package procs holds a store to what must be true between processes that share it: of those who want the same thing one
// gets it, whatever was acknowledged is there after a death, whoever slept past a lease writes no more, what was deleted stays
// away, and what one writes wakes the others. It is to processes what checkpointtest is to one.
//
// The processes are the test binary itself, which Main makes one of them.
package procs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"go.uber.org/goleak"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/open"
)

// These variables tell a test binary what to be.
const (
	roleVar = "HITL_TEST_ROLE"
	urlVar  = "HITL_TEST_URL"
	nameVar = "HITL_TEST_NAME"
)

// role is what a process does with a store; name is its own.
type role func(ctx context.Context, s checkpoint.Store, name string) error

func roles() map[string]role {
	return map[string]role{"writer": beWriter, "racer": beRacer, "rebel": beRebel, "sleeper": beSleeper, "opener": beOpener}
}

// Main is the TestMain of a package whose tests call Run or KillServer: it runs the tests and looks for goroutines they
// leave, or is one of the processes that they start.
func Main(m *testing.M) {
	name, started := os.LookupEnv(roleVar)
	if !started {
		goleak.VerifyTestMain(m)
		return
	}
	if err := be(roles()[name]); err != nil {
		fmt.Fprintf(os.Stderr, "%s %s: %v\n", name, os.Getenv(nameVar), err)
		os.Exit(1)
	}
}

func be(r role) error {
	ctx := context.Background()
	s, err := open.Open(ctx, os.Getenv(urlVar), open.Options{})
	if err != nil {
		return err
	}
	return errors.Join(r(ctx, s, os.Getenv(nameVar)), s.Close())
}

// ready tells that a process has come to where it waits, and waits until it may begin.
func ready() {
	fmt.Println("ready")
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// process is another process over a store.
type process struct {
	*exec.Cmd
	t   *testing.T
	out *bufio.Scanner
	in  io.Closer
}

// start starts the test binary in a role.
func start(t *testing.T, role, url, name string) *process {
	t.Helper()
	p := &process{Cmd: exec.Command(os.Args[0]), t: t}
	p.Env = append(os.Environ(), roleVar+"="+role, urlVar+"="+url, nameVar+"="+name)
	p.Stderr = os.Stderr
	out, err := p.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if p.in, err = p.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill() })
	p.out = bufio.NewScanner(out)
	return p
}

// expect reads the next line, which must be this one.
func (p *process) expect(line string) {
	p.t.Helper()
	if !p.out.Scan() || p.out.Text() != line {
		p.t.Fatalf("the process says %q, want %q", p.out.Text(), line)
	}
}

// begin lets a process that is ready begin.
func (p *process) begin() { p.in.Close() }

// end waits for a process that must come to a good end.
func (p *process) end() {
	p.t.Helper()
	if err := p.Wait(); err != nil {
		p.t.Errorf("the process: %v", err)
	}
}

// together lets processes in a role begin at once, and counts how often each line was said.
func together(t *testing.T, n int, role, url string) map[string]int {
	t.Helper()
	var all []*process
	for i := range n {
		all = append(all, start(t, role, url, fmt.Sprint(role, i)))
	}
	for _, p := range all {
		p.expect("ready")
	}
	for _, p := range all {
		p.begin()
	}
	said := make(map[string]int)
	for _, p := range all {
		for p.out.Scan() {
			said[p.out.Text()]++
		}
		p.end()
	}
	return said
}

// openStore opens a store in this process for as long as t lasts.
func openStore(t *testing.T, url string) checkpoint.Store {
	t.Helper()
	s, err := open.Open(t.Context(), url, open.Options{})
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
