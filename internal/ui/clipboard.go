package ui

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
)

// clipboardTime is how long a clipboard program may take: one that waits for a display it cannot reach hangs.
const clipboardTime = 2 * time.Second

// mostOSC52 is how long a text may be, in bytes, that every terminal takes by OSC 52: xterm and tmux stop at 100,000 of the
// sequence, hterm at 100,000 of the text in base64.
const mostOSC52 = 74_000

// copy hands a text to the clipboard: to the terminal (OSC 52), which does not say whether it took it, and to the
// program of this desktop where there is one. what names the text in the status line.
func (m *Model) copy(what, text string) tea.Cmd {
	ctx, words := m.ctx, clipboardCommand(m.getenv, exec.LookPath)
	native := func() tea.Msg {
		c := copied{what: what, long: len(text) > mostOSC52, tmux: m.getenv("TMUX") != ""}
		if len(words) > 0 {
			ctx, cancel := context.WithTimeout(ctx, clipboardTime)
			defer cancel()
			run := exec.CommandContext(ctx, words[0], words[1:]...)
			run.Stdin = strings.NewReader(text)
			run.WaitDelay = clipboardTime
			if run.Run() == nil {
				c.by = words[0]
			}
		}
		return c
	}
	return tea.Batch(tea.SetClipboard(text), native)
}

// copied is what is known of a copy.
type copied struct {
	what string
	by   string // the program that took the text, "" without one
	long bool   // more than some terminals take
	tmux bool   // which hands OSC 52 on with set-clipboard only
}

func (c copied) apply(m *Model) tea.Cmd {
	text := c.what + " sent to the terminal's clipboard (OSC 52), if it allows that"
	switch {
	case c.by == "tmux":
		text = c.what + " copied to tmux, and to the terminal's clipboard if that allows it"
	case c.by != "":
		text = c.what + " copied with " + c.by
	case c.long:
		text = c.what + " sent to the terminal's clipboard (OSC 52), which may not take so many"
	case c.tmux:
		text = c.what + " sent to the terminal's clipboard (OSC 52), if tmux has set-clipboard on"
	}
	if m.pane != nil && len(m.dialogs) == 0 {
		m.pane.SetNotice(text, false)
		return nil
	}
	return m.say(text)
}

// clipboardCommand is the program that sets the clipboard of the desktop this session belongs to, else tmux, which tells the
// terminal it is shown on; nil without one. In a session from another machine the first would set the clipboard of the
// wrong desktop.
func clipboardCommand(getenv func(string) string, find func(string) (string, error)) []string {
	away := getenv("SSH_CONNECTION") != "" || getenv("SSH_TTY") != ""
	for _, c := range []struct {
		needs string // a variable without which the program has nothing to talk to
		words []string
	}{
		{"WAYLAND_DISPLAY", []string{"wl-copy"}},
		{"DISPLAY", []string{"xclip", "-selection", "clipboard"}},
		{"DISPLAY", []string{"xsel", "--clipboard", "--input"}},
		{"", []string{"pbcopy"}},
		{"", []string{"clip.exe"}},
		{"TMUX", []string{"tmux", "load-buffer", "-w", "-"}},
	} {
		if c.needs != "" && getenv(c.needs) == "" || away && c.needs != "TMUX" {
			continue
		}
		if _, err := find(c.words[0]); err == nil {
			return c.words
		}
	}
	return nil
}

// characters says how long a text is.
func characters(text string) string {
	return fmt.Sprintf("%d characters", len([]rune(text)))
}
