package ui

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/hitl-tui/hitl-tui/internal/tuitest"
)

func TestClipboardCommand(t *testing.T) {
	for name, c := range map[string]struct {
		env   map[string]string
		found []string
		want  []string
	}{
		"wayland before x11":            {map[string]string{"WAYLAND_DISPLAY": "w", "DISPLAY": ":0"}, []string{"wl-copy", "xclip"}, []string{"wl-copy"}},
		"x11":                           {map[string]string{"DISPLAY": ":0"}, []string{"wl-copy", "xclip"}, []string{"xclip", "-selection", "clipboard"}},
		"x11 without xclip":             {map[string]string{"DISPLAY": ":0"}, []string{"xsel"}, []string{"xsel", "--clipboard", "--input"}},
		"no desktop":                    {nil, []string{"wl-copy", "xclip"}, nil},
		"macOS":                         {nil, []string{"pbcopy"}, []string{"pbcopy"}},
		"none installed":                {map[string]string{"DISPLAY": ":0"}, nil, nil},
		"the desktop is another's: ssh": {map[string]string{"DISPLAY": "localhost:10.0", "SSH_CONNECTION": "1.2.3.4"}, []string{"xclip"}, nil},
		"ssh by its terminal":           {map[string]string{"DISPLAY": "localhost:10.0", "SSH_TTY": "/dev/pts/1"}, []string{"xclip", "tmux"}, nil},
		"tmux over ssh":                 {map[string]string{"SSH_TTY": "/dev/pts/1", "TMUX": "/s,1,0"}, []string{"pbcopy", "tmux"}, []string{"tmux", "load-buffer", "-w", "-"}},
		"the desktop before tmux":       {map[string]string{"TMUX": "/s,1,0"}, []string{"clip.exe", "tmux"}, []string{"clip.exe"}},
	} {
		got := clipboardCommand(func(k string) string { return c.env[k] }, func(name string) (string, error) {
			if slices.Contains(c.found, name) {
				return "/usr/bin/" + name, nil
			}
			return "", exec.ErrNotFound
		})
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestCopyWords(t *testing.T) {
	for want, c := range map[string]copied{
		"4 characters copied with wl-copy":                                                     {by: "wl-copy", long: true, tmux: true},
		"4 characters sent to the terminal's clipboard (OSC 52), which may not take so many":   {long: true, tmux: true},
		"4 characters sent to the terminal's clipboard (OSC 52), if tmux has set-clipboard on": {tmux: true},
		"4 characters copied to tmux, and to the terminal's clipboard if that allows it":       {by: "tmux", tmux: true},
		"4 characters sent to the terminal's clipboard (OSC 52), if it allows that":            {},
	} {
		m := New(t.Context(), world(t), Options{})
		c.what = "4 characters"
		c.apply(m)
		if m.status.text != want {
			t.Errorf("%+v is told as %q, want %q", c, m.status.text, want)
		}
	}
}

func TestCopySaysOnlyWhatIsKnown(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	synctest.Test(t, func(t *testing.T) {
		m := New(t.Context(), world(t), Options{StateDir: bin, Env: []string{"DISPLAY=:0"}})
		p := tuitest.Run(t, m, 80, 24)
		defer p.Stop()
		p.Advance(settle)
		p.Keys("y", "i")
		p.Expect("12 characters sent to the terminal's clipboard (OSC 52), if it allows that")
		out := filepath.Join(bin, "out")
		script := "#!/bin/sh\nread -r line; echo \"$line\" > " + out + "\n"
		if err := os.WriteFile(filepath.Join(bin, "xclip"), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
		p.Keys("y", "i")
		p.Expect("12 characters copied with xclip")
		if got, err := os.ReadFile(out); err != nil || string(got) != "t-purge-0001\n" {
			t.Errorf("xclip got %q, %v", got, err)
		}
	})
}
