//go:build linux

package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/tuitest"
)

// configure writes the configuration of the world's user.
func (w *world) configure(text string) {
	w.t.Helper()
	folder := filepath.Join(filepath.Dir(w.dir), "home", ".config", "hitl-tui")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "config.yaml"), []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// TestActivityAtTheDesk looks at what was decided, over another time, and writes it into a file.
func TestActivityAtTheDesk(t *testing.T) {
	t.Parallel()
	w := deskWorld(t, 2)
	w.must(0, "resume", "thread-0", "approve", "-q")
	w.must(0, "resume", "thread-1", "reject", "-d", `"no"`, "-q")
	x := w.desk(120, 40)
	x.Await("Waiting", patience)
	press(t, x, "6", "ACTIVITY")
	x.Await("50%", patience)
	press(t, x, "v", "the last 7d")
	press(t, x, "w", "wrote hitl-activity-")
	files, err := filepath.Glob(filepath.Join(w.dir, "hitl-activity-*.csv"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil || !strings.Contains(string(text), "thread-1,reject,tester") || strings.Count(string(text), "\n") != 3 {
		t.Errorf("the file holds %q, %v", text, err)
	}
	leave(x)
	clean(t, x, 0)
}

// TestRuleAtTheDesk has a rule answer at an open desk: its answer is shown under its name and taken back, and another one is sent
// and recorded as the rule's.
func TestRuleAtTheDesk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.configure(`rules:
  - {name: small, when: workflow == "claims" && content < 50, action: approve, grace: 20s}
  - {name: tiny, when: workflow == "claims" && content < 100, action: approve, grace: 1s}
`)
	file := w.file("claims.yaml", `workflow: claims
input: {properties: {amount: {type: integer}}}
nodes:
  pay: {human: approval, title: "Pay {{.amount}}", message: ok?, content: amount}
`)
	w.must(0, "run", file, "--thread", "back", "-F", "amount=10", "-q")
	x := w.desk(120, 30)
	x.Await("approved by rule small: Pay 10", patience)
	press(t, x, "u", "taken back: approve by rule small")
	w.must(0, "run", file, "--thread", "sent", "-F", "amount=60", "-q")
	w.awaitDone("sent", "done")
	if rows := w.decisions("sent"); len(rows) != 1 || *rows[0].Reviewer != "rule:tiny" {
		t.Errorf("the record is %+v", rows)
	}
	if info := w.thread("back"); info.Status != "interrupted" || info.Decisions != 0 {
		t.Errorf("what was taken back is answered: %+v", info)
	}
	leave(x)
	clean(t, x, 0)
	w.sound()
}

// TestPruneAtTheDesk prunes by bounds that were typed, after the count was typed.
func TestPruneAtTheDesk(t *testing.T) {
	t.Parallel()
	w := deskWorld(t, 2)
	w.must(0, "resume", "thread-0", "approve", "-q")
	x := w.desk(100, 30)
	x.Await("One line", patience)
	press(t, x, "7", "RETENTION")
	press(t, x, "b", "BOUNDS")
	x.Keys("C-u", "C-k", "Tab")
	x.Type("2")
	press(t, x, "C-s", "before step 2")
	press(t, x, "P", "Prune")
	screen := x.Await("to confirm:", patience)
	n := regexp.MustCompile(`Prune (\d) steps`).FindStringSubmatch(screen)
	if n == nil {
		t.Fatalf("how many steps go is not told:\n%s", screen)
	}
	press(t, x, n[1], "confirm: "+n[1])
	x.Keys("Enter")
	x.Await("pruned "+n[1]+" steps", patience)
	if info := w.thread("thread-0"); info.Status != "done" {
		t.Errorf("the thread is %+v", info)
	}
	w.waits("thread-1")
	leave(x)
	clean(t, x, 0)
	w.sound()
}

// TestNewThreadAtTheDesk starts a workflow of the configured folders, fills in its form, and answers what it asks.
func TestNewThreadAtTheDesk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	file := w.copyOf("notes.yaml")
	w.configure("grace: " + grace + "\nworkflows: [" + filepath.Dir(file) + "]\n")
	x := w.desk(100, 30)
	x.Await("starts a workflow", patience)
	press(t, x, "+", "Start a workflow")
	press(t, x, "1", "file")
	x.Await("^S", patience)
	x.Type("out-new")
	x.Keys("C-s")
	x.Await("It waits for an answer", patience)
	press(t, x, "Escape", "One line")
	press(t, x, "a", "sends in")
	w.await("the file", func() bool { return w.content("out-new") == notes })
	leave(x)
	clean(t, x, 0)
	w.sound()
}

// TestLargePasteAtTheDesk pastes the most that an answer may hold, with controls in it, into a pane, and more than that: what is
// too much is said, nothing is lost, and what was sent is what was pasted.
func TestLargePasteAtTheDesk(t *testing.T) {
	t.Parallel()
	w := deskWorld(t, 1)
	x := w.desk(100, 30)
	x.Await("One line", patience)
	press(t, x, "e", "EDIT")
	x.Keys("C-Home")
	line := "\tq a X \x07\x03 " + strings.Repeat("x", 80) + "\n"
	pasted := strings.Repeat(line, actions.MaxSize/len(line)*8/10)
	x.Paste(pasted)
	x.AwaitFunc("most of the room taken", patience, func(s string) bool { return strings.Contains(s, "xxxx") && strings.Contains(s, " bytes left") })
	x.Paste(pasted)
	x.Await("bytes too many", patience)
	x.Keys("C-s")
	x.Await("bytes too many", patience)
	w.waits("thread-0")
	x.Keys("Escape")
	x.Await("kept as a draft", patience)
	press(t, x, "e", "bytes too many")
	press(t, x, "C-x", "Discard")
	x.Keys("y")
	x.Await("discarded", patience)
	press(t, x, "e", "EDIT")
	x.Keys("C-Home")
	x.Paste(pasted)
	x.AwaitFunc("the paste", patience, func(s string) bool { return strings.Contains(s, "xxxx") })
	press(t, x, "C-s", "sends in")
	w.awaitDone("thread-0", "done")
	if got := w.content("out-0"); got != pasted+strings.TrimSuffix(notes, "\n") && got != pasted+notes {
		t.Errorf("the file holds %d bytes, pasted were %d", len(got), len(pasted))
	}
	leave(x)
	clean(t, x, 0)
}

// TestSuspendAsksForTheUnsent: ctrl+z with an answer on its way asks first, and what is kept as a draft is there after fg.
func TestSuspendAsksForTheUnsent(t *testing.T) {
	t.Parallel()
	w := deskWorld(t, 1)
	x := shell(w)
	title := x.Ask("pane_title")
	x.Type(program)
	x.Keys("Enter")
	x.Await("One line", patience)
	if got := x.Ask("pane_title"); got != "(1) hitl-tui" {
		t.Errorf("the title is %q", got)
	}
	press(t, x, "a", "sends in")
	x.Keys("C-z")
	x.Await("Suspend?", patience)
	x.Keys("d")
	x.AwaitFunc("the shell", patience, func(s string) bool { return strings.Count(s, "shell>") >= 2 })
	w.waits("thread-0")
	x.Type("fg")
	x.Keys("Enter")
	x.Await("One line", patience)
	x.Await("not sent", patience)
	w.waits("thread-0")
	press(t, x, "q", "shell>")
	if got := x.Ask("pane_title"); got != title {
		t.Errorf("the title is %q, and was %q", got, title)
	}
	x.Type("exit")
	x.Keys("Enter")
	x.Await("ended with 0", patience)
}

// shell is a shell with job control.
func shell(w *world) *tuitest.Tmux {
	x := w.terminal(80, 24, "PS1=shell> ", "sh", "-i")
	x.Await("shell>", patience)
	return x
}

// TestMouseIsTheTerminals: with mouse: false the terminal keeps it; the palette gives it to the desk at once.
func TestMouseIsTheTerminals(t *testing.T) {
	t.Parallel()
	for _, on := range []bool{true, false} {
		t.Run(fmt.Sprint(on), func(t *testing.T) {
			t.Parallel()
			w := deskWorld(t, 1)
			w.configure(fmt.Sprintf("mouse: %v\n", on))
			x := w.desk(80, 24)
			x.Await("One line", patience)
			flag := map[bool]string{true: "1", false: "0"}
			if got := x.Ask("mouse_any_flag"); got != flag[on] {
				t.Errorf("mouse: %v is %s", on, got)
			}
			press(t, x, ":", "Command")
			x.Type("mouse")
			x.Keys("Enter")
			x.Await("the mouse", patience)
			w.await("the mouse switched", func() bool { return x.Ask("mouse_any_flag") == flag[!on] })
			leave(x)
			clean(t, x, 0)
		})
	}
}

// TestNoColour: with NO_COLOR, whatever it says, no colour is drawn, and the selection is seen all the same.
func TestNoColour(t *testing.T) {
	t.Parallel()
	w := deskWorld(t, 2)
	w.env = append(w.env, "NO_COLOR=yes")
	x := w.desk(80, 24)
	x.Await("One line", patience)
	styled := x.Styled()
	if m := regexp.MustCompile(`\x1b\[[0-9;]*(3[0-7]|4[0-7]|9[0-7]|38;|48;)[0-9;]*m`).FindString(styled); m != "" {
		t.Errorf("a colour is drawn: %q", m)
	}
	if !strings.Contains(styled, ">") {
		t.Error("the selection has no mark")
	}
	leave(x)
	clean(t, x, 0)
}
