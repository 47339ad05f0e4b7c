//go:build unix

// Package servers gives tests the servers that stores are kept on: a place of the test's own on the one that HITL_TEST_REDIS
// or HITL_TEST_POSTGRES names, or the usual one of this host; or a server of the test's own, which it may stop and kill.
//
// What is missing skips a test by its name, and with CI=true fails it.
package servers

import (
	"bytes"
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// Missing skips a test for what is not there, unless everything has to be.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf(format+", and CI skips nothing", args...)
	}
	t.Skipf(format, args...)
}

// With sets an option of a store's URL.
func With(t testing.TB, store, option, value string) string {
	t.Helper()
	u, err := url.Parse(store)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set(option, value)
	u.RawQuery = q.Encode()
	return u.String()
}

// counter makes names of places differ within this process.
type counter struct{ atomic.Int64 }

// patience is how long a server may take to begin or to end on a busy machine.
const patience = time.Minute

// Server is a server of a test's own, on a port of this host alone. It ends with the test.
type Server struct {
	URL    string // of the server as a store
	Port   string
	Folder string // where it keeps its data

	t     testing.TB
	argv  []string
	as    *syscall.Credential // nil: as who runs the tests
	ready func(ctx context.Context, pid int) error
	cmd   *exec.Cmd
	ended chan struct{}
}

// Start starts the server over the data it has, and waits until it answers.
func (s *Server) Start() {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.t.Context()), patience)
	defer cancel()
	var said bytes.Buffer
	for {
		err := s.try(ctx, &said)
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			s.t.Fatalf("%s does not begin: %v\n%s", s.argv[0], err, said.String())
		}
	}
}

// try starts the server once. It fails when the server ends, as it does while something of its forerunner is left.
func (s *Server) try(ctx context.Context, said *bytes.Buffer) error {
	log, err := os.Create(filepath.Join(s.Folder, "log"))
	if err != nil {
		return err
	}
	defer log.Close()
	s.cmd, s.ended = exec.Command(s.argv[0], s.argv[1:]...), make(chan struct{})
	s.cmd.Dir, s.cmd.Stdout, s.cmd.Stderr = s.Folder, log, log
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: s.as, Setpgid: true}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	go func(cmd *exec.Cmd, ended chan<- struct{}) { _ = cmd.Wait(); close(ended) }(s.cmd, s.ended)
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		err := s.ready(ctx, s.cmd.Process.Pid)
		if err == nil {
			return nil
		}
		select {
		case <-again.C:
		case <-s.ended:
			said.Reset()
			if text, err := os.ReadFile(log.Name()); err == nil {
				said.Write(text)
			}
			<-again.C
			return errors.New("it ended")
		case <-ctx.Done():
			return err
		}
	}
}

// Kill ends the server and the processes it consists of at once, with SIGKILL, and waits until they are gone.
func (s *Server) Kill() {
	s.t.Helper()
	if s.cmd == nil || s.cmd.Process == nil {
		return
	}
	all := append([]int{s.cmd.Process.Pid}, children(s.cmd.Process.Pid)...)
	for _, pid := range all {
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			s.t.Errorf("kill %d: %v", pid, err)
		}
	}
	<-s.ended
	again := time.NewTicker(time.Millisecond)
	defer again.Stop()
	giveUp := time.After(patience)
	for _, pid := range all[1:] {
		for runs(pid) {
			select {
			case <-again.C:
			case <-giveUp:
				s.t.Errorf("process %d of the server does not end", pid)
				return
			}
		}
	}
}

// Signal sends the server's first process a signal.
func (s *Server) Signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.cmd.Process.Signal(sig); err != nil {
		s.t.Fatal(err)
	}
}

// children are the processes that one has started, as far as this system tells.
func children(pid int) []int {
	p := strconv.Itoa(pid)
	text, err := os.ReadFile(filepath.Join("/proc", p, "task", p, "children"))
	if err != nil {
		return nil
	}
	var all []int
	for _, word := range strings.Fields(string(text)) {
		if child, err := strconv.Atoi(word); err == nil {
			all = append(all, child)
		}
	}
	return all
}

// runs reports whether a process is there and has not ended.
func runs(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err == nil && !bytes.Contains(stat, []byte(") Z "))
}

// FreePort finds a port of this host that nobody uses.
func FreePort(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
