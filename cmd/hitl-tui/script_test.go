package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"hitl-tui": main})
}

// TestScripts runs one script for each command and each exit code, with the program in a process of its own.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			home := filepath.Join(e.WorkDir, "home")
			e.Setenv("HOME", home)
			e.Setenv("HITL_TUI_STORE", "sqlite:"+filepath.Join(e.WorkDir, "data", "desk.db"))
			e.Setenv("HITL_TUI_REVIEWER", "tester")
			e.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
			e.Setenv("REDIS", redisStore(e))
			return os.MkdirAll(home, 0o700)
		},
		Condition: func(name string) (bool, error) {
			if program, is := strings.CutPrefix(name, "has:"); is {
				_, err := exec.LookPath(program)
				if err != nil && os.Getenv("CI") == "true" {
					return false, fmt.Errorf("%s is missing, and CI skips nothing", program)
				}
				return err == nil, nil
			}
			if name == "redis" {
				return hasRedis()
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     exits,
			"jsonvar":   jsonVar,
			"models":    models,
			"jsonhas":   jsonHas,
			"unchanged": unchanged,
		},
	})
}

// redisServer is where the scripts find a Redis server: HITL_TEST_REDIS, or the usual port of this host.
func redisServer() string { return cmp.Or(os.Getenv("HITL_TEST_REDIS"), "redis://127.0.0.1:6379/0") }

func redisClient() (*redis.Client, error) {
	o, err := redis.ParseURL(redisServer())
	if err != nil {
		return nil, err
	}
	return redis.NewClient(o), nil
}

func hasRedis() (bool, error) {
	c, err := redisClient()
	if err != nil {
		return false, err
	}
	defer c.Close()
	err = c.Ping(context.Background()).Err()
	if err != nil && os.Getenv("CI") == "true" {
		return false, fmt.Errorf("no Redis server at %s (HITL_TEST_REDIS), and CI skips nothing: %w", redisServer(), err)
	}
	return err == nil, nil
}

// redisStore names a store of the script's own, whose keys are deleted when it ends.
func redisStore(e *testscript.Env) string {
	prefix := fmt.Sprintf("test:script:%d:%s:", os.Getpid(), filepath.Base(e.WorkDir))
	e.Defer(func() {
		c, err := redisClient()
		if err != nil {
			return
		}
		defer c.Close()
		ctx := context.Background()
		for keys := c.Scan(ctx, 0, prefix+"*", 1000).Iterator(); keys.Next(ctx); {
			c.Unlink(ctx, keys.Val())
		}
	})
	return redisServer() + "?prefix=" + prefix
}

// exits CODE COMMAND...: the command must exit with just this code. Its output is that of the script's last command.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG...]")
	}
	err := ts.Exec(args[1], args[2:]...)
	got := 0
	if err != nil {
		exit, is := err.(*exec.ExitError)
		if !is {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if fmt.Sprint(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// models FILE: starts a server of models on the loopback, sets MODELS to its address, and puts that in place of $MODELS in
// FILE. It speaks both wires, repeats what it is asked in capitals, and refuses whoever brings no key.
func models(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: models FILE")
	}
	server := httptest.NewServer(http.HandlerFunc(serveModels))
	ts.Defer(server.Close)
	ts.Setenv("MODELS", server.URL)
	text := strings.ReplaceAll(ts.ReadFile(args[0]), "$MODELS", server.URL)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(text), 0o600))
}

func serveModels(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Messages []struct{ Content string }
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || len(asked.Messages) == 0 {
		http.Error(w, "no messages", http.StatusBadRequest)
		return
	}
	if r.Header.Get("Authorization") != "Bearer sk-script-0123456789" && r.Header.Get("X-Api-Key") != "sk-script-0123456789" {
		http.Error(w, `{"error":{"message":"the key `+r.Header.Get("Authorization")+r.Header.Get("X-Api-Key")+` is wrong"}}`, http.StatusUnauthorized)
		return
	}
	text, _ := json.Marshal(strings.ToUpper(asked.Messages[0].Content))
	events := `data: {"choices":[{"delta":{"content":%s},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n"
	if r.URL.Path == "/v1/messages" {
		events = `data: {"type":"content_block_delta","delta":{"type":"text_delta","text":%s}}` + "\n\n" + `data: {"type":"message_stop"}` + "\n\n"
	}
	fmt.Fprintf(w, events, text)
}

// jsonVar NAME PATH: sets NAME to the value at PATH (a.b.0.c) of the JSON on standard output.
func jsonVar(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: jsonvar NAME PATH")
	}
	ts.Setenv(args[0], valueAt(ts, args[1]))
}

// jsonHas PATH VALUE: the value at PATH of the JSON on standard output is VALUE (texts bare, the rest as JSON).
func jsonHas(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: jsonhas PATH VALUE")
	}
	if got := valueAt(ts, args[0]); (got == args[1]) == neg {
		ts.Fatalf("%s is %q, want %q (not: %t)", args[0], got, args[1], neg)
	}
}

func valueAt(ts *testscript.TestScript, path string) string {
	var value any
	text := ts.ReadFile("stdout")
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		ts.Fatalf("standard output is not JSON: %v\n%s", err, text)
	}
	for _, name := range strings.Split(path, ".") {
		switch v := value.(type) {
		case map[string]any:
			next, has := v[name]
			if !has {
				ts.Fatalf("no %q in %s", name, text)
			}
			value = next
		case []any:
			var i int
			if _, err := fmt.Sscan(name, &i); err != nil || i >= len(v) {
				ts.Fatalf("no item %q in a list of %d: %s", name, len(v), text)
			}
			value = v[i]
		default:
			ts.Fatalf("%q leads into %v", name, value)
		}
	}
	if s, is := value.(string); is {
		return s
	}
	out, err := json.Marshal(value)
	ts.Check(err)
	return string(out)
}

// unchanged THREAD: the thread stands where it stood at the last `unchanged` of it; the first only notes it.
func unchanged(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: unchanged THREAD")
	}
	ts.Check(ts.Exec("hitl-tui", "show", args[0], "--json"))
	shown := ts.ReadFile("stdout")
	ts.Check(ts.Exec("hitl-tui", "audit", args[0], "--json"))
	note := ts.MkAbs("unchanged-" + args[0])
	now := shown + ts.ReadFile("stdout")
	before, err := os.ReadFile(note)
	if os.IsNotExist(err) {
		ts.Check(os.WriteFile(note, []byte(now), 0o600))
		return
	}
	ts.Check(err)
	if string(before) != now {
		ts.Fatalf("thread %s has changed:\n%s\nbefore:\n%s", args[0], now, before)
	}
}
