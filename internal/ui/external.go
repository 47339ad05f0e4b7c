package ui

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/ui/component/editorpane"
)

// getenv reads the environment the desk was started with.
func (m *Model) getenv(name string) string {
	if m.opts.Env == nil {
		return os.Getenv(name)
	}
	return getenv(m.opts.Env, name)
}

// external hands a text to the reviewer's own editor, through a file only the reviewer can read. The screen is the
// editor's meanwhile; outbox and runs go on, for they belong to the desk.
func (m *Model) external(x editorpane.External) tea.Cmd {
	words, err := editorCommand(m.getenv)
	if err != nil {
		m.pane.SetError(err.Error())
		return nil
	}
	dir, p := m.opts.StateDir, m.pane
	return func() tea.Msg {
		f, err := os.CreateTemp(dir, "answer-*"+x.Extension) // 0600
		if err != nil {
			return edited{pane: p, err: fmt.Errorf("no file for the editor: %w", err)}
		}
		_, err = f.WriteString(x.Text)
		if err = errors.Join(err, f.Close()); err != nil {
			os.Remove(f.Name())
			return edited{pane: p, err: fmt.Errorf("no file for the editor: %w", err)}
		}
		return fileReady{pane: p, path: f.Name(), words: words}
	}
}

// fileReady starts the editor on a file that is written.
type fileReady struct {
	pane  *pane
	path  string
	words []string
}

func (f fileReady) apply(m *Model) tea.Cmd {
	cmd := exec.Command(f.words[0], append(f.words[1:], f.path)...)
	if m.opts.Env != nil {
		cmd.Env = m.opts.Env
	}
	return tea.ExecProcess(cmd, func(err error) tea.Msg {
		return editorLeft{pane: f.pane, path: f.path, name: f.words[0], err: err}
	})
}

// editorLeft is the end of the editor. What it left is read by a command of its own.
type editorLeft struct {
	pane       *pane
	path, name string
	err        error
}

func (e editorLeft) apply(m *Model) tea.Cmd {
	m.guard.Unsettle(m.now(), "the editor was left")
	return func() tea.Msg {
		defer os.Remove(e.path)
		if e.err != nil {
			return edited{pane: e.pane, err: fmt.Errorf("%s: %w; the text is as it was", e.name, e.err)}
		}
		text, err := os.ReadFile(e.path)
		return edited{pane: e.pane, text: string(text), ok: err == nil, err: err}
	}
}

// edited is the text the editor left.
type edited struct {
	pane *pane
	text string
	ok   bool
	err  error
}

func (e edited) apply(m *Model) tea.Cmd {
	if m.pane == nil || m.pane != e.pane {
		return nil
	}
	if !e.ok {
		m.pane.SetError(e.err.Error())
		return nil
	}
	// Editors end a file with a line end that nobody typed.
	m.pane.SetText(strings.TrimSuffix(e.text, "\n"))
	return m.saveDraft(m.pane)
}

// editorCommand is $VISUAL, else $EDITOR, else vi, split into words as a shell would.
func editorCommand(getenv func(string) string) ([]string, error) {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		if v := strings.TrimSpace(getenv(name)); v != "" {
			words, err := splitWords(v)
			if err != nil {
				return nil, fmt.Errorf("$%s: %w", name, err)
			}
			return words, nil
		}
	}
	return []string{"vi"}, nil
}

// splitWords splits a command into words: spaces part them, quotes and backslashes keep them together.
func splitWords(s string) ([]string, error) {
	var words []string
	var b strings.Builder
	quote, escaped, in := rune(0), false, false
	for _, r := range s {
		switch {
		case escaped:
			b.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, in = true, true
		case quote != 0:
			if r == quote {
				quote = 0
			} else {
				b.WriteRune(r)
			}
		case r == '\'' || r == '"':
			quote, in = r, true
		case r == ' ' || r == '\t':
			if in {
				words = append(words, b.String())
				b.Reset()
				in = false
			}
		default:
			b.WriteRune(r)
			in = true
		}
	}
	if quote != 0 || escaped {
		return nil, fmt.Errorf("%q ends inside a quotation", s)
	}
	if in {
		words = append(words, b.String())
	}
	return words, nil
}
