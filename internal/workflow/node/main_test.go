package node_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/workflow/lang"
	"github.com/hitl-tui/hitl-tui/internal/workflow/node"
)

// modeVar makes the test binary, started as a program, behave as programs do.
const modeVar = "NODE_TEST_MODE"

func TestMain(m *testing.M) {
	switch mode := os.Getenv(modeVar); mode {
	case "":
		goleak.VerifyTestMain(m)
	case "echo": // the request comes back as output
		request, _ := io.ReadAll(os.Stdin)
		fmt.Printf(`{"output":%s}`, request)
	case "print": // prints its last argument
		fmt.Print(os.Args[len(os.Args)-1])
	case "env":
		env, _ := json.Marshal(os.Environ())
		fmt.Print(string(env))
	}
}

// self runs the test binary as a program in a mode.
func self(t *testing.T, mode string, args ...string) *node.Exec {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	n := &node.Exec{Args: texts(t, append([]string{path}, args...)...)}
	n.Environ = func() []string { return []string{modeVar + "=" + mode} }
	return n
}

func script(t *testing.T, source string) *node.Shell {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("needs /bin/sh")
	}
	return &node.Shell{Script: source}
}

// state is a scope over a map.
type state map[string]engine.Value

func (s state) Lookup(name string) (engine.Value, bool) {
	v, ok := s[name]
	return v, ok
}

func stateOf(t testing.TB, object string) state {
	t.Helper()
	var raw map[string]json.RawMessage
	if err := json.Unmarshal([]byte(object), &raw); err != nil {
		t.Fatal(err)
	}
	s := state{}
	for k, v := range raw {
		s[k] = engine.RawValue(v)
	}
	return s
}

var start = time.Date(2026, 11, 29, 18, 0, 0, 0, time.UTC)

// callOn is a call over a state; it collects what is emitted.
func callOn(t testing.TB, object string) (*engine.Call, *emitted) {
	e := &emitted{first: make(chan struct{})}
	return &engine.Call{
		Thread: "t-1", Workflow: "w", Node: "n", Path: "main@1/n@2", Attempt: 3, IdempotencyKey: "key", Workdir: t.TempDir(),
		Scope: stateOf(t, object), Now: func() time.Time { return start }, Emit: e.emit,
	}, e
}

type emitted struct {
	mu    sync.Mutex
	lines []string
	first chan struct{}
}

func (e *emitted) emit(chunk []byte) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.lines = append(e.lines, string(chunk)); len(e.lines) == 1 {
		close(e.first)
	}
}

func (e *emitted) all() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.lines)
}

var names = lang.Names{Keys: []string{"name", "text", "list", "missing", "amount", "talk", "claims", "draft", "opts", "cluster"}, Env: true}

func text(t testing.TB, source string) *lang.Template {
	t.Helper()
	tmpl, faults := lang.ParseTemplate(source, names)
	if len(faults) > 0 {
		t.Fatalf("%s: %v", source, faults)
	}
	return tmpl
}

func texts(t testing.TB, sources ...string) []*lang.Template {
	t.Helper()
	var list []*lang.Template
	for _, s := range sources {
		list = append(list, text(t, s))
	}
	return list
}

func expr(t testing.TB, source string) *lang.Expr {
	t.Helper()
	e, faults := lang.ParseExpr(source, names)
	if len(faults) > 0 {
		t.Fatalf("%s: %v", source, faults)
	}
	return e
}

func literal(raw string) *lang.Expr { return lang.Literal(engine.RawValue([]byte(raw))) }

// permanent reports whether err is marked so that it is not retried.
func permanent(err error) bool {
	mark := fmt.Sprintf("%T", engine.Permanent(io.EOF))
	for ; err != nil; err = errors.Unwrap(err) {
		if fmt.Sprintf("%T", err) == mark {
			return true
		}
	}
	return false
}

func run(t testing.TB, n engine.Runner, call *engine.Call) (engine.Result, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return n.Run(ctx, call)
}
