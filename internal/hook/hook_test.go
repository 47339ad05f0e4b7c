package hook_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/hook"
)

func TestRunTellsTheProgram(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out")
	p := hook.Program{Argv: []string{"/bin/sh", "-c", `cat > "$1"; printf %s "$TITLE" >> "$1"`, "sh", out}, Timeout: time.Minute}
	if err := p.Run(t.Context(), []byte("told "), "TITLE=a; rm -rf /"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(out)
	if err != nil || string(got) != "told a; rm -rf /" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestFailuresSayWhatHappened(t *testing.T) {
	for name, c := range map[string]struct {
		argv    []string
		timeout time.Duration
		want    string
	}{
		"exit code":  {[]string{"/bin/sh", "-c", "echo no \033[31mserver >&2; exit 3"}, time.Minute, "exit status 3: no ^[[31mserver"},
		"no program": {[]string{"/nowhere/notify"}, time.Minute, "/nowhere/notify"},
		"too long":   {[]string{"/bin/sh", "-c", "sleep 60 & wait"}, 50 * time.Millisecond, "did not end within 50ms"},
	} {
		err := hook.Program{Argv: c.argv, Timeout: c.timeout}.Run(t.Context(), nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}
