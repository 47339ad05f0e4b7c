package node_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/engine"
	"github.com/hitl-tui/hitl-tui/internal/workflow/node"
)

// How output is parsed is tested with parse itself; this is that a program's output gets there.
func TestOutputOfAProgram(t *testing.T) {
	call, _ := callOn(t, `{}`)
	n := self(t, "print", "--", "a\n{{.name}}\n")
	call.Scope = stateOf(t, `{"name":"Ada"}`)
	n.Parse = node.ParseLines
	if result, err := run(t, n, call); err != nil || string(result.Output.JSON()) != `["a","Ada"]` {
		t.Errorf("got %s, %v", result.Output.JSON(), err)
	}
	n.Parse = node.ParseJSON
	_, err := run(t, n, call)
	if err == nil || !strings.Contains(err.Error(), ": output: is not one JSON value: ") || permanent(err) {
		t.Errorf("got %v, want a failure that may be retried", err)
	}
}

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		script string
		accept []int
		route  string
		err    string
	}{
		{"true", nil, "0", ""},
		{"exit 1", []int{1, 2}, "1", ""},
		{"exit 3", []int{1}, "", "/bin/sh: exit code 3"},
		{"echo first >&2; printf 'fatal: no such thing' >&2; exit 128", nil, "", "/bin/sh: exit code 128: first\nfatal: no such thing"},
		{"kill -KILL $$", nil, "", "/bin/sh: ended by signal: killed"},
		{"for i in $(seq 30); do echo line $i >&2; done; exit 1", nil, "", "/bin/sh: exit code 1: line 11\n"},
	} {
		n := script(t, c.script)
		n.Accept = c.accept
		call, _ := callOn(t, `{}`)
		result, err := run(t, n, call)
		switch {
		case c.err == "" && (err != nil || result.Route != c.route):
			t.Errorf("%s: route %q, %v; want %q", c.script, result.Route, err, c.route)
		case c.err != "" && (err == nil || !strings.HasPrefix(err.Error(), c.err) || permanent(err)):
			t.Errorf("%s: %v; want a failure that may be retried: %s", c.script, err, c.err)
		}
	}
}

func TestStderrIsProgress(t *testing.T) {
	call, lines := callOn(t, `{}`)
	long := strings.Repeat("x", 5000)
	if _, err := run(t, script(t, "echo one >&2; echo >&2; printf 'a\\377b' >&2; echo >&2; echo "+long+" >&2"), call); err != nil {
		t.Fatal(err)
	}
	want := []string{"one", "", "a\uFFFDb", long[:4096], long[4096:]}
	if got := lines.all(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestStdin(t *testing.T) {
	for source, want := range map[string]string{"text": "Hé\n", "list": `["a",{"b":1}]`, "amount + 1": "8", "true": "true"} {
		n := script(t, "cat")
		n.Parse, n.Stdin = node.ParseRaw, expr(t, source)
		call, _ := callOn(t, `{"text":"Hé\n","list":["a",{"b":1}],"amount":7}`)
		result, err := run(t, n, call)
		if err != nil || result.Output.Any() != want {
			t.Errorf("%s: got %s, %v; want %q", source, result.Output.JSON(), err, want)
		}
	}
	n := script(t, "cat")
	n.Stdin = expr(t, "missing")
	call, _ := callOn(t, `{}`)
	if _, err := run(t, n, call); err == nil || err.Error() != "stdin: missing is null" || !permanent(err) {
		t.Errorf("null: %v", err)
	}
	// A program that does not read its input does not fail for that.
	n = script(t, "exit 0")
	n.Stdin = literal(`"` + strings.Repeat("x", 1<<20) + `"`)
	if _, err := run(t, n, call); err != nil {
		t.Errorf("unread input: %v", err)
	}
}

func TestEnvironment(t *testing.T) {
	environ := []string{"PATH=/bin", "HOME=/h", "HITL_TUI_STORE=secret", "A=outer", modeVar + "=env"}
	own := []string{"HITL_ATTEMPT=3", "HITL_IDEMPOTENCY_KEY=key", "HITL_NODE=n", "HITL_THREAD=t-1"}
	for _, c := range []struct {
		inherit []string
		want    []string
	}{
		{nil, []string{"A=node Ada", "B=file", "HOME=/h", "PATH=/bin"}},
		{[]string{modeVar, "HOME", "HITL_TUI_STORE"}, []string{"A=node Ada", "B=file", "HITL_TUI_STORE=secret", "HOME=/h"}},
	} {
		n := self(t, "env")
		n.Environ = func() []string { return environ }
		n.InheritEnv = c.inherit
		n.FileEnv = []node.NamedText{{Name: "A", Text: text(t, "file")}, {Name: "B", Text: text(t, "file")}}
		n.Env = []node.NamedText{{Name: "A", Text: text(t, "node {{.name}}")}}
		n.Parse = node.ParseJSON
		call, _ := callOn(t, `{"name":"Ada"}`)
		result, err := run(t, n, call)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range result.Output.Any().([]any) {
			if !strings.HasPrefix(e.(string), modeVar) {
				got = append(got, e.(string))
			}
		}
		slices.Sort(got)
		want := append(slices.Clone(c.want), own...)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("inherit %v:\n got %q\nwant %q", c.inherit, got, want)
		}
	}
}

func TestWorkdir(t *testing.T) {
	call, _ := callOn(t, `{"name":"sub"}`)
	sub := filepath.Join(call.Workdir, "sub")
	if err := os.Mkdir(sub, 0o700); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(call.Workdir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ ofNode, ofFile, want, err string }{
		{"", "", call.Workdir, ""},
		{"", "{{.name}}", sub, ""},
		{"{{.name}}", "/", sub, ""},
		{sub, "", sub, ""},
		{"nowhere", "", "", "workdir: the folder " + filepath.Join(call.Workdir, "nowhere") + " cannot be used"},
		{"file", "", "", "workdir: " + file + " is no folder"},
	} {
		n := script(t, "pwd -P")
		if c.ofNode != "" {
			n.Workdir = text(t, c.ofNode)
		}
		if c.ofFile != "" {
			n.FileWorkdir = text(t, c.ofFile)
		}
		result, err := run(t, n, call)
		if c.err != "" {
			if err == nil || !strings.HasPrefix(err.Error(), c.err) || !permanent(err) {
				t.Errorf("%+v: got %v", c, err)
			}
			continue
		}
		want, _ := filepath.EvalSymlinks(c.want)
		if err != nil || result.Output.Any() != want {
			t.Errorf("%+v: got %s, %v", c, result.Output.JSON(), err)
		}
	}
}

func TestArguments(t *testing.T) {
	call, _ := callOn(t, `{"name":"a b; rm -rf /","text":"x\u0000y"}`)
	n := self(t, "print", "--", "<{{.name}}>")
	if result, err := run(t, n, call); err != nil || result.Output.Any() != "<a b; rm -rf />" {
		t.Errorf("got %s, %v: an argument must arrive as it is", result.Output.JSON(), err)
	}
	script(t, "") // skips where there is no /bin/sh
	notRunnable := filepath.Join(call.Workdir, "data")
	if err := os.WriteFile(notRunnable, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"no-such-program"}, `the program "no-such-program" was not found in any folder of PATH`},
		{[]string{"./nothing"}, `the program "./nothing" does not exist (in the folder ` + call.Workdir + ")"},
		{[]string{"./data"}, `the program "./data" cannot be run: permission denied`},
		{[]string{"echo", "{{.text}}"}, "exec[1]: an argument cannot hold a NUL character"},
		{[]string{"echo", "{{.missing}}"}, "exec[1]: .missing is null"},
		{[]string{"{{with .missing}}{{.}}{{end}}"}, "exec[0]: the name of the program is empty"},
		{nil, "exec[0]: the name of the program is empty"},
	} {
		_, err := run(t, &node.Exec{Args: texts(t, c.args...)}, call)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || !permanent(err) {
			t.Errorf("%q: got %v, want %s", c.args, err, c.want)
		}
	}
}

func TestOutputLimit(t *testing.T) {
	call, _ := callOn(t, `{}`)
	n := script(t, "trap '' PIPE TERM; while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx 2>/dev/null; done")
	n.OutputLimit = 1000
	_, err := run(t, n, call)
	if want := "/bin/sh: the output is longer than output_limit (1000 bytes)"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	n = script(t, "printf 12345")
	n.OutputLimit = 5
	if result, err := run(t, n, call); err != nil || result.Output.Any() != "12345" {
		t.Errorf("at the limit: %s, %v", result.Output.JSON(), err)
	}
	n = script(t, "head -c 17000000 /dev/zero")
	if _, err := run(t, n, call); err == nil || !strings.Contains(err.Error(), "(16777216 bytes)") {
		t.Errorf("default limit: %v", err)
	}
}

var errStop = errors.New("stopped for the test")

// runUntilReady starts n, ends its context when it has written to stderr, and returns what came of it.
func runUntilReady(t *testing.T, n engine.Runner, call *engine.Call, lines *emitted) error {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	go func() {
		<-lines.first
		cancel(errStop)
	}()
	_, err := n.Run(ctx, call)
	return err
}

func TestTheWholeGroupEnds(t *testing.T) {
	for name, body := range map[string]string{
		"child of a willing shell":           "(exec 3>alive; echo ready >&2; exec sleep 1000) & wait",
		"shell that ignores SIGTERM":         "trap '' TERM; exec 3>alive; echo ready >&2; while :; do sleep 1; done",
		"grandchild that ignores SIGTERM":    "(trap '' TERM; exec 3>alive; echo ready >&2; while :; do sleep 1; done) & wait",
		"grandchild that outlives the shell": "(trap '' TERM; exec 3>alive; echo ready >&2; exec >/dev/null 2>&1; while :; do sleep 1; done) & wait",
	} {
		t.Run(name, func(t *testing.T) {
			n := script(t, body)
			n.Grace = 50 * time.Millisecond
			call, lines := callOn(t, `{}`)
			alive := watch(t, filepath.Join(call.Workdir, "alive"))
			err := runUntilReady(t, n, call, lines)
			if !errors.Is(err, errStop) || !strings.HasPrefix(err.Error(), "/bin/sh: stopped for the test: ready") {
				t.Errorf("got %v", err)
			}
			select {
			case <-alive:
			case <-time.After(10 * time.Second):
				t.Error("a process of the group is still alive")
			}
		})
	}
}

func TestTimeoutNamesItself(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	call, _ := callOn(t, `{}`)
	_, err := script(t, "sleep 1000").Run(ctx, call)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want a deadline", err)
	}
}

// What a program leaves behind in the background may hold its output open; the node ends all the same.
func TestBackgroundProcessDoesNotHoldTheNode(t *testing.T) {
	call, _ := callOn(t, `{}`)
	result, err := run(t, script(t, "sleep 1000 & echo $!"), call)
	if err != nil {
		t.Fatal(err)
	}
	var pid int
	if _, err := fmt.Sscan(result.Output.Any().(string), &pid); err != nil {
		t.Fatal(err)
	}
	if p, err := os.FindProcess(pid); err == nil {
		if err := p.Kill(); err != nil {
			t.Errorf("the background process should be left alone: %v", err)
		}
	}
}

func TestEndedContextStartsNothing(t *testing.T) {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errStop)
	call, _ := callOn(t, `{}`)
	if _, err := script(t, "touch started").Run(ctx, call); !errors.Is(err, errStop) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(filepath.Join(call.Workdir, "started")); err == nil {
		t.Error("the program ran")
	}
}
