//go:build linux

package e2e

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/checkpointtest/servers"
	"github.com/hitl-tui/hitl-tui/internal/checkpoint/open"
	"github.com/hitl-tui/hitl-tui/internal/desk/wire"
)

// program is the program under test.
var program string

func TestMain(m *testing.M) { os.Exit(testMain(m)) }

func testMain(m *testing.M) int {
	if program = os.Getenv("HITL_E2E_BINARY"); program != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "hitl-e2e")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "hitl-tui")
	build := exec.Command("go", "build", "-tags", "crashpoints", "-o", program, "../../cmd/hitl-tui")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build the program: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// TestShippedBuildHasNoCrashPoints keeps the hooks of these tests out of what people get.
func TestShippedBuildHasNoCrashPoints(t *testing.T) {
	for tags, want := range map[string]string{"": "crash_off.go", "crashpoints": "crash_on.go"} {
		out, err := exec.Command("go", "list", "-tags", tags, "-f", "{{.GoFiles}}", "../../cmd/hitl-tui").Output()
		if err != nil {
			t.Fatal(err)
		}
		var hooks []string
		for _, file := range strings.Fields(strings.Trim(string(out), "[]\n")) {
			if strings.HasPrefix(file, "crash_") {
				hooks = append(hooks, file)
			}
		}
		if len(hooks) != 1 || hooks[0] != want {
			t.Errorf("with the tags %q the program has %v, want %s", tags, hooks, want)
		}
	}
}

// world is one store with a home folder and a working folder of its own.
type world struct {
	t     *testing.T
	dir   string // working folder
	kind  string // of the store: sqlite, file, redis or postgres
	url   string // of the store
	store string // file of a SQLite store, else ""
	lines string // file to which the programs of the workflows write a line each
	env   []string

	folder string          // of a store of files, else ""
	server *servers.Server // of the world's own that keeps the store, else nil

	prefix []string // program and arguments before the binary's
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir := t.TempDir()
	w := &world{t: t, dir: filepath.Join(dir, "work"), store: filepath.Join(dir, "data", "desk.db")}
	w.kind, w.url = "sqlite", "sqlite:"+w.store
	w.lines = filepath.Join(w.dir, "lines")
	for _, folder := range []string{w.dir, filepath.Join(dir, "home")} {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	w.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(dir, "home"), "TMPDIR=" + dir, "LANG=C.UTF-8",
		"HITL_TUI_STORE=sqlite:" + w.store, "HITL_TUI_REVIEWER=tester", "HITL_TUI_LEASE_TTL=1s",
	}
	return w
}

// file writes a file into the working folder and gives its path.
func (w *world) file(name, text string) string {
	w.t.Helper()
	path := filepath.Join(w.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
	return path
}

// patience is how long a process may take before a test gives up on it: these tests share the machine with others.
const patience = time.Minute

// result is how a process ended.
type result struct {
	args     []string
	exit     int // -1: by a signal
	signal   syscall.Signal
	out, err string
}

func (r result) String() string {
	return fmt.Sprintf("hitl-tui %s: exit %d, signal %d\n%s%s", strings.Join(r.args, " "), r.exit, r.signal, r.out, r.err)
}

// process is one that runs.
type process struct {
	t        *testing.T
	args     []string
	cmd      *exec.Cmd
	out, err bytes.Buffer
	done     chan error
}

// start starts the program with further variables in its environment.
func (w *world) start(env []string, args ...string) *process {
	w.t.Helper()
	argv := append(append(append([]string{}, w.prefix...), program), args...)
	p := &process{t: w.t, args: args, cmd: exec.Command(argv[0], argv[1:]...), done: make(chan error, 1)}
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = w.dir, append(append([]string{}, w.env...), env...), &p.out, &p.err
	if err := p.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	go func() { p.done <- p.cmd.Wait() }()
	w.t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	return p
}

// signal sends the process a signal; one that has ended is no fault.
func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Fatal(err)
	}
}

// wait waits for the process to end. It may be called from any goroutine.
func (p *process) wait() result {
	r := result{args: p.args}
	timer := time.AfterFunc(patience, func() { _ = p.cmd.Process.Signal(syscall.SIGQUIT) })
	err := <-p.done
	timer.Stop()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		p.t.Errorf("%v: %v", r.args, err)
	}
	r.exit, r.out, r.err = p.cmd.ProcessState.ExitCode(), p.out.String(), p.err.String()
	if status := p.cmd.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
		r.signal = status.Signal()
	}
	if r.signal == syscall.SIGQUIT {
		p.t.Errorf("it did not end within %s: %s", patience, r)
	}
	return r
}

// run runs the program to its end.
func (w *world) run(args ...string) result { w.t.Helper(); return w.start(nil, args...).wait() }

// must runs the program and demands an exit code.
func (w *world) must(exit int, args ...string) result {
	w.t.Helper()
	r := w.run(args...)
	if r.exit != exit {
		w.t.Fatalf("want exit code %d: %s", exit, r)
	}
	return r
}

// envelope reads what run and resume print with --json.
func (r result) envelope(t *testing.T) wire.Envelope {
	t.Helper()
	var e wire.Envelope
	if err := json.Unmarshal([]byte(r.out), &e); err != nil {
		t.Fatalf("no envelope (%v): %s", err, r)
	}
	return e
}

// code is the error code a refusal names, "" for none.
func code(e wire.Envelope) string {
	if e.Error == nil {
		return ""
	}
	return e.Error.Code
}

func status(e wire.Envelope) string {
	if e.Status == nil {
		return ""
	}
	return *e.Status
}

// decisions reads the record of a thread, oldest first, as `audit --json` tells it.
func (w *world) decisions(thread string) []wire.Decision {
	w.t.Helper()
	var rows []wire.Decision
	r := w.must(0, "audit", thread, "--json", "--limit", "1000")
	if err := json.Unmarshal([]byte(r.out), &rows); err != nil {
		w.t.Fatalf("%v: %s", err, r)
	}
	for i, j := 0, len(rows)-1; i < j; i, j = i+1, j-1 {
		rows[i], rows[j] = rows[j], rows[i]
	}
	return rows
}

// sound demands that the store is whole and that the record of decisions is unbroken.
func (w *world) sound() {
	w.t.Helper()
	w.whole()
	w.must(0, "audit", "--verify")
}

// whole demands that every step of every thread can be read with its state, up to the head of the thread, and of a SQLite
// file that it is sound.
func (w *world) whole() {
	w.t.Helper()
	if w.kind == "sqlite" {
		w.integrity()
	}
	w.read(func(ctx context.Context, s checkpoint.Store) {
		page, err := s.Threads(ctx, checkpoint.Query{Limit: 1000})
		if err != nil {
			w.t.Fatal(err)
		}
		for _, info := range page.Threads {
			last := int64(-1)
			for c, err := range s.History(ctx, info.Thread, true) {
				if err != nil {
					w.t.Fatalf("thread %s: %v", info.Thread, err)
				}
				last = c.Step
			}
			if now, err := s.Thread(ctx, info.Thread); last < info.Step && (err != nil || now.Step == info.Step) {
				w.t.Fatalf("thread %s: the steps end with %d, the head is %d (%v)", info.Thread, last, info.Step, err)
			}
		}
	})
}

// integrity demands that SQLite finds no fault in the file.
func (w *world) integrity() {
	w.t.Helper()
	db, err := sql.Open("sqlite", "file:"+w.store+"?mode=ro")
	if err != nil {
		w.t.Fatal(err)
	}
	defer db.Close()
	var said string
	if err := db.QueryRow("PRAGMA integrity_check").Scan(&said); err != nil || said != "ok" {
		w.t.Fatalf("integrity_check: %q, %v", said, err)
	}
}

// read reads from the store in this process, beside whatever runs; where there is no store yet, there is nothing to read.
func (w *world) read(fn func(ctx context.Context, s checkpoint.Store)) {
	w.t.Helper()
	s, err := open.Open(w.t.Context(), w.url, open.Options{ReadOnly: true})
	if errors.Is(err, checkpoint.ErrNotFound) {
		return
	}
	if err != nil {
		w.t.Fatal(err)
	}
	defer s.Close()
	fn(w.t.Context(), s)
}

// thread reads one thread's row; nil when there is none.
func (w *world) thread(id string) (info *checkpoint.ThreadInfo) {
	w.t.Helper()
	w.read(func(ctx context.Context, s checkpoint.Store) {
		found, err := s.Thread(ctx, id)
		if err != nil && !errors.Is(err, checkpoint.ErrNotFound) {
			w.t.Fatal(err)
		}
		info = found
	})
	return info
}

// written counts the lines that the programs of the workflows wrote.
func (w *world) written() map[string]int {
	w.t.Helper()
	count := map[string]int{}
	text, err := os.ReadFile(w.lines)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		count[strings.TrimSuffix(line, "\n")]++
	}
	return count
}

// await waits until a condition holds.
func (w *world) await(what string, ok func() bool) {
	w.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for !ok() {
		select {
		case <-deadline.C:
			w.t.Fatalf("not within %s: %s", patience, what)
		case <-again.C:
		}
	}
}

// copyOf copies a file of testdata into the working folder.
func (w *world) copyOf(name string) string {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		w.t.Fatal(err)
	}
	return w.file(name, string(text))
}
