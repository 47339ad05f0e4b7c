package main

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
)

const asking = `workflow: asking
nodes:
  ask: {human: approval, message: "Go on?", actions: [approve, reject], then: last}
  last: {set: {gone: true}}
`

// processes runs the program in processes of their own, in one folder.
type processes struct {
	t   *testing.T
	dir string
}

func newProcesses(t *testing.T, files map[string]string) *processes {
	t.Helper()
	p := &processes{t: t, dir: t.TempDir()}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

func (p *processes) command(args ...string) *exec.Cmd {
	cmd := exec.CommandContext(p.t.Context(), "hitl-tui", args...)
	cmd.Dir = p.dir
	cmd.Env = append(os.Environ(), "HOME="+p.dir, "XDG_DATA_HOME=", "XDG_STATE_HOME=", "XDG_CONFIG_HOME=", "HITL_TUI_EXIT_CODE=",
		"HITL_TUI_STORE=sqlite:"+filepath.Join(p.dir, "desk.db"), "HITL_TUI_REVIEWER=tester")
	return cmd
}

// run runs a command that has to exit with a code, and gives its standard output.
func (p *processes) run(exit int, args ...string) string {
	p.t.Helper()
	cmd := p.command(args...)
	out, err := cmd.Output()
	if got := cmd.ProcessState.ExitCode(); got != exit {
		p.t.Fatalf("hitl-tui %s exits %d (%v), want %d\n%s", strings.Join(args, " "), got, err, exit, out)
	}
	return string(out)
}

// follower is a program whose standard output is read line by line.
type follower struct {
	*exec.Cmd
	t    *testing.T
	pipe *os.File
	from *bufio.Scanner
}

func (p *processes) follow(args ...string) *follower {
	p.t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		p.t.Fatal(err)
	}
	f := &follower{Cmd: p.command(args...), t: p.t, pipe: r, from: bufio.NewScanner(r)}
	f.Stdout = w
	if err := f.Start(); err != nil {
		p.t.Fatal(err)
	}
	w.Close()
	p.t.Cleanup(func() { r.Close(); f.Process.Kill(); f.Process.Wait() })
	return f
}

func (f *follower) line() string {
	f.t.Helper()
	if !f.from.Scan() {
		f.t.Fatalf("nothing more is told (%v)", f.from.Err())
	}
	return f.from.Text()
}

func (f *follower) event() wire.Event {
	f.t.Helper()
	var e wire.Event
	line := f.line()
	if err := json.Unmarshal([]byte(line), &e); err != nil {
		f.t.Fatalf("%v in %s", err, line)
	}
	return e
}

// ended is the exit code, after a signal if there is one.
func (f *follower) ended(signal os.Signal) int {
	f.t.Helper()
	if signal != nil {
		if err := f.Process.Signal(signal); err != nil {
			f.t.Fatal(err)
		}
	}
	f.Wait()
	return f.ProcessState.ExitCode()
}

func TestEventsAreFollowed(t *testing.T) {
	t.Parallel()
	p := newProcesses(t, map[string]string{"asking.yaml": asking})
	p.run(0, "run", "asking.yaml", "--thread", "first")
	all, one := p.follow("events", "--follow", "--json"), p.follow("events", "other", "-f", "--json", "--limit", "10")
	_ = one
	if e := all.event(); e.Kind != "store_changed" || e.ThreadID != nil {
		t.Fatalf("the first line is %+v", e)
	}
	p.run(0, "resume", "first", "approve")
	for {
		e := all.event()
		if e.ThreadID == nil || *e.ThreadID != "first" || e.Status == nil {
			t.Fatalf("%+v", e)
		}
		if *e.Status == "done" {
			break
		}
	}
	if exit := all.ended(os.Interrupt); exit != 130 {
		t.Errorf("Ctrl-C exits %d", exit)
	}
	if exit := one.ended(nil); exit != 3 {
		t.Errorf("a thread that is not there exits %d", exit)
	}
}

func TestOneThreadIsFollowedAfterWhatWas(t *testing.T) {
	t.Parallel()
	p := newProcesses(t, map[string]string{"asking.yaml": asking})
	p.run(0, "run", "asking.yaml", "--thread", "first")
	p.run(0, "run", "asking.yaml", "--thread", "other")
	f := p.follow("events", "first", "--follow", "--limit", "1")
	if line := f.line(); !strings.HasSuffix(line, "step 1 interrupted: ask") {
		t.Errorf("what was is told as %q", line)
	}
	p.run(0, "resume", "other", "approve")
	p.run(0, "resume", "first", "reject")
	for line := ""; !strings.HasSuffix(line, "rejected"); {
		line = f.line()
		if strings.Contains(line, "done") {
			t.Fatalf("another thread is told: %s", line)
		}
	}
	if exit := f.ended(syscall.SIGTERM); exit != 143 {
		t.Errorf("SIGTERM exits %d", exit)
	}
}

// TestFollowingEndsWithItsReader: no further event is needed for it.
func TestFollowingEndsWithItsReader(t *testing.T) {
	t.Parallel()
	p := newProcesses(t, map[string]string{"asking.yaml": asking})
	p.run(0, "run", "asking.yaml")
	f := p.follow("events", "--follow", "--json")
	f.event()
	f.pipe.Close()
	if exit := f.ended(nil); exit != 0 {
		t.Errorf("exit %d", exit)
	}
}

// running starts a thread that runs until the test ends, and comes back once it runs.
func (p *processes) running(file, thread string) {
	p.t.Helper()
	seen := p.follow("events", "--follow", "--json")
	seen.event()
	cmd := p.command("run", file, "--thread", thread)
	if err := cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	for {
		if e := seen.event(); e.ThreadID != nil && *e.ThreadID == thread {
			return
		}
	}
}
