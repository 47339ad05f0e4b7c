package tuitest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Tmux is a real program in a real terminal: a tmux server of its own with one window.
type Tmux struct {
	t      *testing.T
	socket string
}

// NewTmux starts a command in a terminal of w by h cells, in folder dir, with env beside the present environment.
// Where tmux is missing the test is skipped, and fails with CI=true.
func NewTmux(t *testing.T, w, h int, dir string, env []string, command ...string) *Tmux {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("tmux is missing and CI=true")
		}
		t.Skip("tmux is missing")
	}
	folder, err := os.MkdirTemp("", "tuitest") // t.TempDir is too long for a socket's path
	if err != nil {
		t.Fatal(err)
	}
	x := &Tmux{t: t, socket: filepath.Join(folder, "s")}
	t.Cleanup(func() {
		_, _ = x.try("kill-server")
		_ = os.RemoveAll(folder)
	})
	args := []string{"-f", "/dev/null", "new-session", "-d", "-x", itoa(w), "-y", itoa(h), "-c", dir}
	for _, e := range env {
		args = append(args, "-e", e)
	}
	// The window stays when the command ends, so that what it left on the terminal can be read.
	quoted := make([]string, len(command))
	for i, c := range command {
		quoted[i] = "'" + strings.ReplaceAll(c, "'", `'\''`) + "'"
	}
	x.run(append(args, strings.Join(quoted, " ")+`; echo "ended with $?"; exec cat`)...)
	x.run("set-option", "-g", "status", "off")
	x.run("set-option", "-g", "escape-time", "0")
	return x
}

func (x *Tmux) try(args ...string) (string, error) {
	cmd := exec.Command("tmux", append([]string{"-S", x.socket}, args...)...)
	var out, bad bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &bad
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", args[0], err, bad.String())
	}
	return out.String(), nil
}

func (x *Tmux) run(args ...string) string {
	x.t.Helper()
	out, err := x.try(args...)
	if err != nil {
		x.t.Fatal(err)
	}
	return out
}

// Keys sends keys as tmux names them: "a", "Enter", "Escape", "C-s", "M-Up".
func (x *Tmux) Keys(names ...string) { x.t.Helper(); x.run(append([]string{"send-keys"}, names...)...) }

// Type sends a text as it is.
func (x *Tmux) Type(s string) { x.t.Helper(); x.run("send-keys", "-l", "--", s) }

// Paste pastes a text in brackets, as a terminal does.
func (x *Tmux) Paste(s string) {
	x.t.Helper()
	file := x.socket + ".paste" // an argument of tmux holds 16 kB
	if err := os.WriteFile(file, []byte(s), 0o600); err != nil {
		x.t.Fatal(err)
	}
	x.run("load-buffer", file)
	x.run("paste-buffer", "-p")
}

// Resize changes the size of the window.
func (x *Tmux) Resize(w, h int) {
	x.t.Helper()
	x.run("resize-window", "-x", itoa(w), "-y", itoa(h))
}

// Screen is what the terminal shows.
func (x *Tmux) Screen() string { x.t.Helper(); return x.run("capture-pane", "-p") }

// Styled is what the terminal shows, with its styles.
func (x *Tmux) Styled() string { x.t.Helper(); return x.run("capture-pane", "-p", "-e") }

// PID is the process id of the shell in the window; the command is its child.
func (x *Tmux) PID() string {
	x.t.Helper()
	return x.Ask("pane_pid")
}

// Ask gives what tmux knows about the terminal under a name, such as cursor_flag or mouse_any_flag.
func (x *Tmux) Ask(name string) string {
	x.t.Helper()
	return strings.TrimSpace(x.run("display-message", "-p", "#{"+name+"}"))
}

// AlternateScreen says whether the program has taken the whole screen.
func (x *Tmux) AlternateScreen() bool {
	x.t.Helper()
	return x.Ask("alternate_on") == "1"
}

// Await waits until the screen shows a text, looking again every 20 ms, and fails the test after the time.
func (x *Tmux) Await(text string, within time.Duration) string {
	x.t.Helper()
	return x.AwaitFunc(fmt.Sprintf("%q", text), within, func(s string) bool { return strings.Contains(s, text) })
}

// AwaitFunc waits until the screen is as wanted.
func (x *Tmux) AwaitFunc(what string, within time.Duration, ok func(screen string) bool) string {
	x.t.Helper()
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	for {
		screen := x.Screen()
		if ok(screen) {
			return screen
		}
		select {
		case <-deadline.C:
			x.t.Fatalf("the screen did not show %s within %s:\n%s", what, within, screen)
		case <-again.C:
		}
	}
}
