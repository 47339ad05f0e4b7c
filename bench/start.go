package main

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/creack/pty"

	"github.com/hitl-tui/hitl-tui/internal/desk/local"
	"github.com/hitl-tui/hitl-tui/internal/engine"
)

// startRows measure the program itself, from the start of its process.
func startRows(scale float64) []row {
	small, large := 10_000, max(int(scale*1_000_000), 1000)
	peer := "with " + short(small)
	in := func(measure func(programs) (*pair, error)) func(string) (*pair, error) {
		return func(dir string) (*pair, error) { return startPrograms(dir, large, small, measure) }
	}
	counted := func(measure func(program) (int64, error)) func(string) (int64, int64, error) {
		return func(dir string) (ours, peer int64, err error) {
			_, err = startPrograms(dir, large, small, func(p programs) (*pair, error) {
				if ours, err = measure(p.large); err == nil {
					peer, err = measure(p.small)
				}
				return nil, err
			})
			return ours, peer, err
		}
	}
	name := func(what string) string { return what + ", " + short(large) + " threads" }
	return []row{
		{name: name("threads"), target: "< 50 ms, ratio 1", ours: "hitl-tui threads, the whole process", peer: peer, rounds: 10, calls: 5, setup: in(listThreads)},
		{name: name("first frame"), target: "< 50 ms, ratio 1", ours: "hitl-tui, from its start to a question on a terminal of 160x50", peer: peer, rounds: 10, calls: 3, setup: in(firstFrame)},
		{name: name("memory of the desk"), target: "< 60 MB", ours: "the most that the process held, 100 keys pressed", peer: peer, unit: "KB", count: counted(program.memory)},
		{name: name("desk at rest"), target: "nothing", ours: "written to the terminal in 5 s", peer: peer, unit: "B", count: counted(program.atRest)},
	}
}

// program is the built command with a store of its own.
type program struct {
	binary, dir string
}

// programs are two of the same, one with a large and one with a small store.
type programs struct {
	large, small program
}

// startPrograms builds the command and fills the stores of two.
func startPrograms(dir string, large, small int, measure func(programs) (*pair, error)) (*pair, error) {
	binary := filepath.Join(dir, "hitl-tui")
	build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", binary, "./cmd/hitl-tui")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("build the command: %w\n%s", err, out)
	}
	first, second, err := twoFolders(dir)
	if err != nil {
		return nil, err
	}
	p := programs{program{binary, first}, program{binary, second}}
	if err := errors.Join(p.large.fill(large), p.small.fill(small)); err != nil {
		return nil, err
	}
	return measure(p)
}

// fill makes a store of so many threads of which the first asks a real question.
func (p program) fill(threads int) error {
	ctx := context.Background()
	store, err := fixture{threads: threads, steps: 1, size: 64}.open(p.dir)
	if err != nil {
		return err
	}
	source := local.New(store, engine.Options{})
	one := desktop{threads: 1, topic: func(int) any { return "of one line" }}
	if err := errors.Join(park(ctx, p.dir, source, one), source.Close(ctx), store.Close()); err != nil {
		return err
	}
	return p.putFirst()
}

// putFirst makes the real question the most urgent one, before those that the fixture made up.
func (p program) putFirst() error {
	db, err := sql.Open("sqlite", filepath.Join(p.dir, "store.db"))
	if err != nil {
		return err
	}
	_, err = db.Exec(`UPDATE threads SET due = updated, waiting = 1 WHERE workflow = 'review'`)
	return errors.Join(err, db.Close())
}

func (p program) command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.binary, args...)
	cmd.Env = append(os.Environ(), "HITL_TUI_STORE=sqlite:"+filepath.Join(p.dir, "store.db"), "XDG_STATE_HOME="+p.dir, "XDG_CONFIG_HOME="+p.dir,
		"HITL_TUI_REVIEWER=bench", "TERM=xterm-256color", "COLORTERM=truecolor")
	return cmd
}

func listThreads(p programs) (*pair, error) {
	list := func(p program) func() error {
		return func() error {
			out, err := p.command("threads").Output()
			if err == nil && !bytes.Contains(out, []byte("Publish it?")) {
				err = fmt.Errorf("threads printed %.200q", out)
			}
			return err
		}
	}
	return &pair{ours: list(p.large), peer: list(p.small), close: func() error { return nil }}, nil
}

func firstFrame(p programs) (*pair, error) {
	var open *session
	show := func(p program) func() error {
		return func() (err error) {
			open, err = p.show()
			return err
		}
	}
	leave := func() error { return open.close() }
	return &pair{ours: show(p.large), between: leave, peer: show(p.small), after: leave, close: func() error { return nil }}, nil
}

// session is a desk open on a terminal of its own.
type session struct {
	cmd      *exec.Cmd
	terminal *os.File
	drawn    chan []byte // what the desk writes; closed once it has ended
}

// shown is on the screen once the desk has read the first threads and the question of the selected one.
const shown = "A draft of a few lines."

// show starts the desk and waits until the question is drawn.
func (p program) show() (*session, error) {
	cmd := p.command()
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 50, Cols: 160})
	if err != nil {
		return nil, err
	}
	s := &session{cmd, terminal, make(chan []byte, 1024)}
	go s.read()
	if err := s.await(shown); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// read hands on what is drawn. A terminal has no deadline for reading.
func (s *session) read() {
	defer close(s.drawn)
	for {
		part := make([]byte, 64<<10)
		n, err := s.terminal.Read(part)
		if err != nil {
			return
		}
		s.drawn <- part[:n]
	}
}

// await waits until a text is drawn.
func (s *session) await(text string) error {
	var drawn []byte
	late := time.After(30 * time.Second)
	for !bytes.Contains(drawn, []byte(text)) {
		select {
		case part, more := <-s.drawn:
			if !more {
				return fmt.Errorf("the desk ended before it drew %q: %q", text, drawn)
			}
			drawn = append(drawn, part...)
		case <-late:
			return fmt.Errorf("the desk did not draw %q: %q", text, drawn)
		}
	}
	return nil
}

// drain takes what the desk draws for so long, and counts it.
func (s *session) drain(d time.Duration) (bytes int64) {
	end := time.After(d)
	for {
		select {
		case part := <-s.drawn:
			bytes += int64(len(part))
		case <-end:
			return bytes
		}
	}
}

func (s *session) close() error {
	err := s.cmd.Process.Kill()
	_ = s.cmd.Wait() // it was killed, and says so
	for range s.drawn {
	}
	return errors.Join(err, s.terminal.Close())
}

// memory opens the desk, walks down its list and returns the most kilobytes that it held.
func (p program) memory() (int64, error) {
	s, err := p.show()
	if err != nil {
		return 0, err
	}
	defer s.close()
	for range 100 {
		if _, err := s.terminal.WriteString("j"); err != nil {
			return 0, err
		}
		s.drain(30 * time.Millisecond)
	}
	return peakMemory(s.cmd.Process.Pid)
}

// atRest opens the desk and counts what it writes when nothing happens.
func (p program) atRest() (int64, error) {
	s, err := p.show()
	if err != nil {
		return 0, err
	}
	defer s.close()
	s.drain(3 * time.Second)
	return s.drain(5 * time.Second), nil
}

// peakMemory is what the system says a process held at most, in kilobytes.
func peakMemory(pid int) (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, notMeasured("this system does not tell what a process holds")
	}
	for line := range strings.Lines(string(status)) {
		if rest, is := strings.CutPrefix(line, "VmHWM:"); is {
			return strconv.ParseInt(cmp.Or(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), "0"), 10, 64)
		}
	}
	return 0, notMeasured("this system does not tell what a process holds")
}
