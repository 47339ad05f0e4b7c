package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/workflow/lang"
)

const (
	defaultOutputLimit = 16 << 20
	defaultGrace       = 5 * time.Second
	pipeGrace          = time.Second // how long the output of a program that has ended may be held open by what it left behind
)

// ownPrefix begins the names of the variables that configure this program; they are not handed on.
const ownPrefix = "HITL_TUI_"

// Program is what exec and shell share.
type Program struct {
	Stdin       *lang.Expr     // a text as is, anything else as JSON; nil: empty
	Env         []NamedText    // of the node, after FileEnv
	FileEnv     []NamedText    // of the file, for every program
	InheritEnv  []string       // nil: all but HITL_TUI_*
	Workdir     *lang.Template // nil: FileWorkdir, else the folder in which the thread was started
	FileWorkdir *lang.Template
	Accept      []int // further exit codes that are no failure
	Parse       Parse
	OutputLimit int64           // bytes; 0 is 16 MiB
	Grace       time.Duration   // between SIGTERM and SIGKILL when the context ends; 0 is 5 s
	Environ     func() []string // nil: os.Environ
}

// ended is a program that ended with an exit code that is no failure.
type ended struct {
	stdout []byte
	code   int
}

// run runs a program to its end, or until ctx ends; then its whole process group is told to end, and killed when it
// does not. An exit code that is not accepted is an error with the last lines of stderr, which are progress besides.
func (p *Program) run(ctx context.Context, call *engine.Call, scope *callScope, argv []string, stdin []byte) (*ended, error) {
	env, err := p.env(call, scope)
	if err != nil {
		return nil, err
	}
	dir, err := p.dir(call, scope)
	if err != nil {
		return nil, err
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	out := &limitedOutput{limit: p.OutputLimit, exceeded: make(chan struct{})}
	if out.limit <= 0 {
		out.limit = defaultOutputLimit
	}
	progress := &progress{emit: call.Emit}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Env, cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.WaitDelay = env, dir, out, progress, pipeGrace
	if stdin != nil {
		cmd.Stdin = bytes.NewReader(stdin)
	}
	ownGroup(cmd)
	leash, err := tie(cmd)
	if err != nil {
		return nil, startError(argv[0], dir, err)
	}
	defer leash.slip()
	if err := cmd.Start(); err != nil {
		return nil, startError(argv[0], dir, err)
	}
	leash.hold(cmd.Process.Pid)
	stopped, waitErr := p.wait(ctx, cmd, out.exceeded)
	progress.flush()
	switch {
	case out.over():
		return nil, fmt.Errorf("%s: the output is longer than output_limit (%d bytes)", argv[0], out.limit)
	case stopped:
		return nil, fmt.Errorf("%s: %w%s", argv[0], context.Cause(ctx), progress.lastLines())
	}
	return p.judge(argv[0], cmd, waitErr, out, progress)
}

// judge says whether the way in which a program ended is a failure.
func (p *Program) judge(name string, cmd *exec.Cmd, err error, out *limitedOutput, progress *progress) (*ended, error) {
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) && !errors.Is(err, exec.ErrWaitDelay) {
		return nil, fmt.Errorf("%s: %w%s", name, err, progress.lastLines())
	}
	code := cmd.ProcessState.ExitCode()
	if code < 0 {
		return nil, fmt.Errorf("%s: ended by %s%s", name, cmd.ProcessState, progress.lastLines())
	}
	if code != 0 && !slices.Contains(p.Accept, code) {
		return nil, fmt.Errorf("%s: exit code %d%s", name, code, progress.lastLines())
	}
	return &ended{stdout: out.buffer.Bytes(), code: code}, nil
}

// wait waits for the program; stopped says that ctx ended first. No process of its group is left behind then.
func (p *Program) wait(ctx context.Context, cmd *exec.Cmd, exceeded <-chan struct{}) (stopped bool, err error) {
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err := <-done:
		return false, err
	case <-exceeded:
		killGroup(cmd)
		return false, <-done
	case <-ctx.Done():
	}
	grace := p.Grace
	if grace <= 0 {
		grace = defaultGrace
	}
	terminateGroup(cmd)
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case err = <-done:
		killGroup(cmd) // what the program started may have outlived it
	case <-timer.C:
		killGroup(cmd)
		err = <-done
	}
	return true, err
}

// startError says what is wrong with a program that cannot be started. Retrying helps only where the machine was short
// of something.
func startError(name, dir string, err error) error {
	for _, passing := range []error{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE, syscall.ETXTBSY} {
		if errors.Is(err, passing) {
			return fmt.Errorf("%s cannot be started: %w", name, err)
		}
	}
	switch {
	case errors.Is(err, exec.ErrNotFound):
		err = fmt.Errorf("the program %q was not found in any folder of PATH", name)
	case errors.Is(err, os.ErrNotExist):
		err = fmt.Errorf("the program %q does not exist (in the folder %s)", name, dir)
	case errors.Is(err, os.ErrPermission):
		err = fmt.Errorf("the program %q cannot be run: permission denied", name)
	default:
		err = fmt.Errorf("%s cannot be started: %w", name, err)
	}
	return engine.Permanent(err)
}

func (p *Program) dir(call *engine.Call, scope *callScope) (string, error) {
	t := p.Workdir
	if t == nil {
		t = p.FileWorkdir
	}
	dir, err := scope.render("workdir", t)
	if err != nil {
		return "", err
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(call.Workdir, dir)
	}
	switch info, err := os.Stat(dir); {
	case err != nil:
		return "", engine.Permanent(fmt.Errorf("workdir: the folder %s cannot be used: %w", dir, errors.Unwrap(err)))
	case !info.IsDir():
		return "", engine.Permanent(fmt.Errorf("workdir: %s is no folder", dir))
	}
	return dir, nil
}

// env is the environment of the program; of a name given twice the later counts.
func (p *Program) env(call *engine.Call, scope *callScope) ([]string, error) {
	environ := p.Environ
	if environ == nil {
		environ = os.Environ
	}
	var env []string
	for _, entry := range environ() {
		name, _, _ := strings.Cut(entry, "=")
		if p.InheritEnv == nil && !strings.HasPrefix(name, ownPrefix) || slices.Contains(p.InheritEnv, name) {
			env = append(env, entry)
		}
	}
	for _, e := range slices.Concat(p.FileEnv, p.Env) {
		value, err := scope.render("env."+e.Name, e.Text)
		if err != nil {
			return nil, err
		}
		if strings.ContainsRune(value, 0) {
			return nil, engine.Permanent(fmt.Errorf("env.%s: a variable cannot hold a NUL character", e.Name))
		}
		env = append(env, e.Name+"="+value)
	}
	values := []string{call.Thread, call.Node, strconv.Itoa(call.Attempt), call.IdempotencyKey}
	for i, v := range Variables() {
		env = append(env, v.Name+"="+values[i])
	}
	return env, nil
}

// Variables are those of the environment by which every program learns what it runs for.
func Variables() []Member {
	return []Member{
		{"HITL_THREAD", "the id of the thread"},
		{"HITL_NODE", "the name of the node"},
		{"HITL_ATTEMPT", "from 1; counts the tries"},
		{"HITL_IDEMPOTENCY_KEY", "the same whenever the run is tried again, after a failure or a crash, and another one once somebody has decided something about it"},
	}
}

// limitedOutput collects stdout and closes exceeded when it grows beyond limit.
type limitedOutput struct {
	buffer   bytes.Buffer
	limit    int64
	exceeded chan struct{}
	once     sync.Once
}

var errOutputLimit = errors.New("output_limit exceeded")

func (o *limitedOutput) Write(p []byte) (int, error) {
	if int64(o.buffer.Len()+len(p)) > o.limit {
		o.once.Do(func() { close(o.exceeded) })
		return 0, errOutputLimit
	}
	return o.buffer.Write(p)
}

func (o *limitedOutput) over() bool {
	select {
	case <-o.exceeded:
		return true
	default:
		return false
	}
}
