//go:build linux

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/checkpoint"
	"github.com/hitl-tui/hitl-tui/internal/tuitest"
)

// planted is a secret that no rule knows by its form: only where it stands tells that it is one.
const planted = "zebra-lamp-crown"

// secretWorld is a store with a thread that asks with a secret in every place, and one that failed with it.
func secretWorld(t *testing.T) *world {
	w := newWorld(t)
	file := w.copyOf("secrets.yaml")
	w.must(0, "run", file, "-F", "api_key="+planted, "--thread", "asks-1", "-q")
	w.must(1, "run", file, "-F", "api_key="+planted, "-F", "fail=yes", "--thread", "fails-1", "-q")
	return w
}

// unshown demands that a text holds no secret.
func unshown(t *testing.T, what, text string) {
	t.Helper()
	if at := strings.Index(text, planted); at >= 0 {
		t.Errorf("%s shows the secret: %s", what, text[max(at-80, 0):min(at+60, len(text))])
	}
}

// logged reads all that the program wrote beside its store.
func (w *world) logged() string {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(filepath.Dir(w.dir), "home", ".local", "state", "hitl-tui", "log"))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(text)
}

// states reads every state of a thread, as stored.
func (w *world) states(thread string) string {
	w.t.Helper()
	var all strings.Builder
	w.read(func(ctx context.Context, s checkpoint.Store) {
		for c, err := range s.History(ctx, thread, true) {
			if err != nil {
				w.t.Fatal(err)
			}
			raw, err := json.Marshal(c.Channels.State())
			if err != nil {
				w.t.Fatal(err)
			}
			fmt.Fprintf(&all, "%d %s\n", c.Step, raw)
		}
	})
	return all.String()
}

// TestCommandsShowNoSecret: what people read is masked, what programs read is whole unless they may only read, and
// the store holds all of it before and after.
func TestCommandsShowNoSecret(t *testing.T) {
	t.Parallel()
	w := secretWorld(t)
	before := w.states("asks-1")
	if !strings.Contains(before, planted) {
		t.Fatalf("nothing was planted: %s", before)
	}
	looks := [][]string{
		{"threads"}, {"questions"}, {"show", "asks-1"}, {"show", "asks-1", "--step", "1"}, {"show", "fails-1"}, {"history", "asks-1"},
		{"history", "fails-1"}, {"audit"},
	}
	for _, args := range looks {
		r := w.must(0, args...)
		unshown(t, strings.Join(args, " "), r.out+r.err)
		if args[0] == "audit" {
			continue
		}
		r = w.must(0, append(args, "--json", "--read-only")...)
		unshown(t, strings.Join(args, " ")+" --json --read-only", r.out+r.err)
	}
	if r := w.must(0, "show", "asks-1", "--json"); !strings.Contains(r.out, planted) {
		t.Error("show --json is masked: a program cannot answer with it")
	}
	if after := w.states("asks-1"); after != before {
		t.Errorf("looking changed what is stored: %s, %s", before, after)
	}
	r := w.must(0, "resume", "asks-1", "retry", "-d", `"password=`+planted+`"`)
	unshown(t, "resume", r.out+r.err)
	r = w.must(0, "audit", "asks-1")
	unshown(t, "audit", r.out+r.err)
	if rows := w.decisions("asks-1"); len(rows) != 1 || !strings.Contains(string(rows[0].Data), planted) {
		t.Errorf("the record is not whole: %+v", rows)
	}
	r = w.must(0, "resume", "asks-1", "approve")
	unshown(t, "resume", r.out+r.err)
	if all := w.states("asks-1"); strings.Contains(all, "[redacted]") || strings.Count(all, planted) <= strings.Count(before, planted) {
		t.Errorf("what is stored is not whole: %s", all)
	}
	unshown(t, "the log", w.logged())
	w.sound()
}

// walk presses keys one by one and demands that no screen on the way shows the secret.
func walk(t *testing.T, x *tuitest.Tmux, steps ...[2]string) {
	t.Helper()
	for _, s := range steps { // a text behind ! is to be gone
		key, want := s[0], s[1]
		x.Keys(key)
		screen := x.AwaitFunc(fmt.Sprintf("%q after %s", want, key), patience, func(screen string) bool {
			unshown(t, "the screen after "+key, screen)
			text, gone := strings.CutPrefix(want, "!")
			return strings.Contains(screen, text) != gone
		})
		unshown(t, "the screen after "+key, screen)
	}
}

// TestDeskShowsNoSecret walks through every screen, edits what is masked, and finds the whole of it stored.
func TestDeskShowsNoSecret(t *testing.T) {
	t.Parallel()
	w := secretWorld(t)
	x := w.desk(160, 50)
	x.Await("Deploy with token=[redacted]", patience)
	walk(t, x,
		[2]string{"Enter", "with password: [redacted]"}, // the question, its context beside it
		[2]string{"d", "display: raw"},
		[2]string{"d", "display"},
		[2]string{"Enter", "Actions 1/15"},
		[2]string{"Escape", "!Actions"},
		[2]string{"H", "api_key"}, // history with the state
		[2]string{"k", "draft@1"},
		[2]string{"d", "with password: [redacted]"}, // the difference of two steps
		[2]string{"Escape", "WAITING"},
		[2]string{"3", "FAILED"},
		[2]string{"Enter", "is refused"},
		[2]string{"5", "ALL"},
		[2]string{"!", "Messages"},
		[2]string{"Escape", "!Messages"},
		[2]string{"1", "Deploy with token=[redacted]"},
	)
	press(t, x, "r", "REJECT")
	unshown(t, "the editor of a rejection", x.Screen())
	x.Keys("Escape")
	x.Await("WAITING", patience)
	x.Keys("*")
	x.Await("password: "+planted, patience)
	x.Keys("*")
	x.Await("password: [redacted]", patience)
	press(t, x, "e", "EDIT")
	x.Keys("C-End")
	x.Type("and more")
	x.Await("and more", patience)
	press(t, x, "C-s", "sends in")
	screen := x.Await("your edit", patience)
	unshown(t, "the edit on its way", screen)
	w.awaitDone("asks-1", "done")
	leave(x)
	if all := w.states("asks-1"); strings.Contains(all, "[redacted]") || !strings.Contains(all, "with password: "+planted+`\nand more`) {
		t.Errorf("the edit was not stored whole: %s", all)
	}
	unshown(t, "the log", w.logged())
}
