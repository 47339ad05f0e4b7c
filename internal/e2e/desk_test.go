//go:build linux

package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/tuitest"
)

// grace is how long the desks of these tests let an answer be taken back.
const grace = "3s"

// deskWorld is a SQLite store with threads that wait for a verdict on some notes, which go to the file out-N.
func deskWorld(t *testing.T, threads int) *world {
	t.Helper()
	w := newWorld(t)
	w.review(threads)
	return w
}

// review brings threads to where they wait for a verdict, and shortens the time in which the desk lets it be taken back.
func (w *world) review(threads int) {
	w.t.Helper()
	w.configure("grace: " + grace + "\n")
	file := w.copyOf("notes.yaml")
	for i := range threads {
		w.must(0, "run", file, "-F", fmt.Sprintf("file=out-%d", i), "--thread", fmt.Sprintf("thread-%d", i), "-q")
	}
}

// desk opens the desk in a terminal of its own.
func (w *world) desk(width, height int, args ...string) *tuitest.Tmux {
	w.t.Helper()
	return w.terminal(width, height, append([]string{program}, args...)...)
}

// terminal runs a command in a terminal with the world's environment and no other, as it is at a new login.
func (w *world) terminal(width, height int, command ...string) *tuitest.Tmux {
	w.t.Helper()
	argv := append([]string{"env", "-u", "XDG_CONFIG_HOME", "-u", "XDG_STATE_HOME", "-u", "NO_COLOR"}, w.env...)
	return tuitest.NewTmux(w.t, width, height, w.dir, nil, append(argv, command...)...)
}

// press sends a key until the screen shows a text: a desk that has only just moved its selection by itself, or has only
// just begun, takes no decision yet.
func press(t *testing.T, x *tuitest.Tmux, key, want string) {
	t.Helper()
	again := time.Now()
	x.AwaitFunc(fmt.Sprintf("%q after %s", want, key), patience, func(screen string) bool {
		if strings.Contains(screen, want) {
			return true
		}
		if !time.Now().Before(again) {
			x.Keys(key)
			again = time.Now().Add(700 * time.Millisecond)
		}
		return false
	})
}

// clean demands that the program has ended with a code and that the terminal is as it was: no screen of its own, a
// cursor, no mouse, and nothing on it but what the shell wrote, so no reply to a question the desk had asked.
func clean(t *testing.T, x *tuitest.Tmux, exit int) {
	t.Helper()
	x.Await(fmt.Sprintf("ended with %d", exit), patience)
	x.Type("marker")
	x.Keys("Enter")
	screen := x.AwaitFunc("the marker twice", patience, func(s string) bool { return strings.Count(s, "marker") == 2 })
	if got := strings.Fields(screen); strings.Join(got, " ") != fmt.Sprintf("ended with %d marker marker", exit) {
		t.Errorf("something was left on the terminal: %q", screen)
	}
	for name, want := range map[string]string{"alternate_on": "0", "cursor_flag": "1", "mouse_any_flag": "0", "keypad_cursor_flag": "0", "insert_flag": "0", "wrap_flag": "1"} {
		if got := x.Ask(name); got != want {
			t.Errorf("the terminal was left with %s %s, want %s", name, got, want)
		}
	}
}

// waits demands that a thread still asks its first question and nobody has decided.
func (w *world) waits(thread string) {
	w.t.Helper()
	info := w.thread(thread)
	if info.Status != "interrupted" || info.Step != 2 || info.Decisions != 0 || info.Lease != nil {
		w.t.Errorf("the thread has changed: %+v", info)
	}
}

// awaitDone waits for the end of a thread.
func (w *world) awaitDone(thread, status string) {
	w.t.Helper()
	w.await(thread+" is "+status, func() bool { return string(w.thread(thread).Status) == status })
}

func (w *world) content(name string) string {
	w.t.Helper()
	text, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		w.t.Fatal(err)
	}
	return string(text)
}

const notes = "# Notes\n\n- One line\n- Another line\n"

// TestDeskApproves at three sizes: the answer counts down, is taken back, is given again, and after its time the file is
// written; then the desk is left and the terminal is clean.
func TestDeskApproves(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {40, 12}, {160, 50}} {
		t.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(t *testing.T) {
			t.Parallel()
			w := deskWorld(t, 1)
			x := w.desk(size[0], size[1])
			x.Await("Publish the notes", patience)
			if size[0] < 72 {
				x.Keys("Enter") // only what is drawn can be decided
			}
			x.Await("One line", patience)
			press(t, x, "a", "sends")
			w.waits("thread-0")
			x.Keys("u")
			x.Await("taken back", patience)
			w.waits("thread-0")
			press(t, x, "a", "sends")
			seen := map[string]bool{}
			x.AwaitFunc("two different seconds", patience, func(s string) bool {
				for _, n := range []string{"3", "2", "1"} {
					seen[n] = seen[n] || strings.Contains(s, "sends in "+n+" s") || strings.Contains(s, "sends "+n+"s")
				}
				return len(trues(seen)) >= 2
			})
			w.awaitDone("thread-0", "done")
			if got := w.content("out-0"); got != notes {
				t.Errorf("the file holds %q", got)
			}
			if rows := w.decisions("thread-0"); len(rows) != 1 || rows[0].Action != "approve" || *rows[0].Reviewer != "tester" {
				t.Errorf("the record is %+v", rows)
			}
			leave(x)
			clean(t, x, 0)
		})
	}
}

func trues(m map[string]bool) []string {
	var all []string
	for k, v := range m {
		if v {
			all = append(all, k)
		}
	}
	return all
}

// leave presses q until the desk has closed: at a small size the first goes back to the list.
func leave(x *tuitest.Tmux) {
	again := time.Now()
	x.AwaitFunc("the end", patience, func(screen string) bool {
		if strings.Contains(screen, "ended with") {
			return true
		}
		if !time.Now().Before(again) && x.AlternateScreen() {
			x.Keys("q")
			again = time.Now().Add(time.Second)
		}
		return false
	})
}

// TestDeskRejectsAndAsksBeforeItIsLeft: a reject needs its reason; q with an unsent answer asks, and sends it when told.
func TestDeskRejectsAndAsksBeforeItIsLeft(t *testing.T) {
	t.Parallel()
	w := deskWorld(t, 1)
	x := w.desk(80, 24)
	x.Await("One line", patience)
	press(t, x, "r", "REJECT")
	x.Await("3 s to take it back", patience)
	x.Type("Too thin: q a o X")
	x.Await("Too thin: q a o X", patience)
	press(t, x, "C-s", "sends in")
	x.Keys("q")
	x.Await("1 answer is not sent yet", patience)
	w.waits("thread-0")
	x.Keys("Escape")
	x.AwaitFunc("no dialog", patience, func(s string) bool { return !strings.Contains(s, "Quit?") })
	press(t, x, "q", "Quit?")
	x.Keys("w")
	clean(t, x, 0)
	w.awaitDone("thread-0", "rejected")
	if rows := w.decisions("thread-0"); len(rows) != 1 || rows[0].Comment == nil || *rows[0].Comment != "Too thin: q a o X" {
		t.Errorf("the record is %+v", rows)
	}
	w.sound()
}

// TestDeskEdits types into the editor pane and pastes into it; what was sent is what is written.
func TestDeskEdits(t *testing.T) {
	t.Parallel()
	w := deskWorld(t, 1)
	x := w.desk(80, 24)
	x.Await("One line", patience)
	press(t, x, "e", "EDIT")
	x.Keys("C-Home")
	x.Type("Typed ü世. ")
	x.Paste("Pasted\tq a X.\n")
	x.Await("Pasted", patience)
	press(t, x, "C-s", "sends in")
	w.awaitDone("thread-0", "done")
	got := w.content("out-0")
	if !strings.Contains(got, "Typed ü世. Pasted\tq a X.\n") || !strings.Contains(got, "- Another line") {
		t.Errorf("the file holds %q", got)
	}
	leave(x)
	clean(t, x, 0)
}

// TestPasteOutsideOfAFieldIsNeverKeys pastes what would decide, quit and stop if it were typed.
func TestPasteOutsideOfAFieldIsNeverKeys(t *testing.T) {
	t.Parallel()
	w := deskWorld(t, 2)
	x := w.desk(80, 24)
	x.Await("One line", patience)
	x.Paste("aaaa\nXyq\x03o\nSy")
	screen := x.Await("pasted text is ignored", patience)
	if strings.Contains(screen, "approved") {
		t.Errorf("a paste decided:\n%s", screen)
	}
	leave(x)
	clean(t, x, 0)
	w.waits("thread-0")
	w.waits("thread-1")
}

// TestResizeStorm changes the size many times in a row, below the smallest too: the desk ends up with a whole screen.
func TestResizeStorm(t *testing.T) {
	t.Parallel()
	w := deskWorld(t, 3)
	x := w.desk(80, 24)
	x.Await("One line", patience)
	for i := range 40 {
		x.Resize(10+i*37%170, 4+i*13%56)
	}
	x.Resize(80, 24)
	x.AwaitFunc("the whole desk", patience, func(s string) bool {
		lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
		return len(lines) == 24 && strings.Contains(lines[0], "desk.db") && strings.Contains(lines[23], "help") && strings.Contains(s, "One line")
	})
	leave(x)
	clean(t, x, 0)
}

// TestSuspendAndComeBack puts the desk aside with ctrl+z in a shell with job control and brings it back.
func TestSuspendAndComeBack(t *testing.T) {
	t.Parallel()
	w := deskWorld(t, 1)
	x := shell(w)
	x.Type(program)
	x.Keys("Enter")
	x.Await("One line", patience)
	x.Keys("C-z")
	screen := x.AwaitFunc("the shell", patience, func(s string) bool { return strings.Count(s, "shell>") >= 2 })
	if strings.Contains(screen, "One line") || x.AlternateScreen() || x.Ask("cursor_flag") != "1" {
		t.Errorf("the desk left its screen behind:\n%s", screen)
	}
	x.Type("fg")
	x.Keys("Enter")
	x.Await("One line", patience)
	press(t, x, "a", "sends in")
	w.awaitDone("thread-0", "done")
	press(t, x, "q", "shell>")
	x.Type("exit")
	x.Keys("Enter")
	x.Await("ended with 0", patience)
}

// TestKilledDeskKeepsWhatWasNotSent: after kill -9 nothing was sent, and the next desk shows the answer as a draft.
func TestKilledDeskKeepsWhatWasNotSent(t *testing.T) {
	t.Parallel()
	w := deskWorld(t, 1)
	x := w.desk(80, 24)
	x.Await("One line", patience)
	press(t, x, "r", "REJECT")
	x.Type("Not lost")
	x.Await("Not lost", patience)
	press(t, x, "C-s", "sends in")
	if err := syscall.Kill(child(t, x.PID()), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	x.Await("ended with 137", patience)
	w.waits("thread-0")
	x = w.desk(80, 24)
	x.Await("not sent", patience)
	w.waits("thread-0")
	press(t, x, "r", "Not lost")
	press(t, x, "C-s", "sends in")
	w.awaitDone("thread-0", "rejected")
	leave(x)
	clean(t, x, 0)
	w.sound()
}

// TestSIGTERMLeavesTheDeskCleanly: the terminal is given back, what was not sent is a draft, nothing was decided.
func TestSIGTERMLeavesTheDeskCleanly(t *testing.T) {
	t.Parallel()
	w := deskWorld(t, 1)
	x := w.desk(80, 24)
	x.Await("One line", patience)
	press(t, x, "a", "sends in")
	if err := syscall.Kill(child(t, x.PID()), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	x.Await("ended with 143", patience)
	if x.AlternateScreen() || x.Ask("cursor_flag") != "1" {
		t.Error("the terminal was not given back")
	}
	w.waits("thread-0")
	x = w.desk(80, 24)
	x.Await("not sent", patience)
	leave(x)
	clean(t, x, 0)
	w.waits("thread-0")
}

// TestDemo opens the demo, which fills its store by running the bundled workflows, and leaves it: its folder is gone.
func TestDemo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	x := w.desk(80, 24, "demo")
	x.Await("Release notes since v1.0", patience)
	x.AwaitFunc("the notes", patience, func(s string) bool { return strings.Contains(s, "approve") && strings.Contains(s, "publish") })
	left, err := filepath.Glob(filepath.Join(filepath.Dir(w.dir), "hitl-tui-demo-*"))
	if err != nil || len(left) != 1 {
		t.Fatalf("the demo's folder: %v, %v", left, err)
	}
	press(t, x, "a", "approved: Release notes")
	x.AwaitFunc("NOTES.md is written", patience, func(string) bool {
		text, err := os.ReadFile(filepath.Join(left[0], "repository", "NOTES.md"))
		return err == nil && strings.Contains(string(text), "Changes since v1.0")
	})
	leave(x)
	clean(t, x, 0)
	if _, err := os.Stat(left[0]); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the demo left %s behind: %v", left[0], err)
	}
}
