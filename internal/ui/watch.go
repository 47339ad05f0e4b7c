package ui

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/ui/bridge"
)

// rereadGap is the shortest time between two readings of the lists because of changes.
const rereadGap = 250 * time.Millisecond

// heard takes a batch of what happened. It only wakes: what is true is read again.
func (m *Model) heard(b bridge.Batch) tea.Cmd {
	cmds := []tea.Cmd{b.Next()}
	outbox, changed := false, false
	for _, e := range b.Events {
		switch e.Kind {
		case desk.StoreChanged:
			m.wakes[e.Thread] = true
			changed = true
		case desk.OutboxChanged:
			outbox = true
		case desk.Progress:
			if !e.At.After(m.restedAt[e.Thread]) {
				continue // it was overtaken by the end of its run
			}
			if _, ok := m.started[e.Thread]; !ok {
				m.started[e.Thread] = e.At
			}
			if e.Node != "" {
				m.progress[e.Thread] = e
			}
			m.thread.Heard(e)
		case desk.RetentionApplied:
			m.note(e.Text, "")
			changed = true
			cmds = append(cmds, m.say(e.Text), m.readInfo())
		case desk.HookFailed:
			cmds = append(cmds, m.complain(e.Text, e.Thread))
		case desk.Rested, desk.RunFailed:
			m.restedAt[e.Thread] = e.At
			delete(m.progress, e.Thread)
			delete(m.started, e.Thread)
			m.thread.Heard(e)
			m.wakes[e.Thread] = true
			changed, outbox = true, true
			if e.Kind == desk.RunFailed {
				cmds = append(cmds, m.complain(failure(m.titleOf(e.Thread), e), e.Thread), m.ring("a run failed"))
			}
		}
	}
	if outbox {
		cmds = append(cmds, m.readOutbox())
	}
	if changed && !m.reloadDue {
		m.reloadDue = true
		cmds = append(cmds, m.after(rereadGap, reread{}))
	}
	return tea.Batch(cmds...)
}

type reread struct{}

func (reread) apply(m *Model) tea.Cmd {
	m.reloadDue = false
	var threads []string
	for t := range m.wakes {
		threads = append(threads, t)
	}
	clear(m.wakes)
	return tea.Batch(m.inbox.Wake(threads...), m.history.Wake(threads...), m.thread.Wake(threads...), m.prune.Wake(), m.active.Wake(), m.countWaiting(), m.checkPane(threads))
}

// countWaiting looks whether a question came, to ring for it when the window has not the focus.
func (m *Model) countWaiting() tea.Cmd {
	ctx, d := m.ctx, m.desk
	return func() tea.Msg {
		c, err := d.Counts(ctx)
		return counted{c: c, err: err}
	}
}

type counted struct {
	c   desk.Counts
	err error
}

func (c counted) apply(m *Model) tea.Cmd {
	if c.err != nil {
		return nil
	}
	n := c.c[desk.Waiting]
	more := m.counted && n > m.lastWait
	m.lastWait, m.counted = n, true
	if more {
		return m.ring(plural(int(n), "question waits", "questions wait"))
	}
	return nil
}

// ring calls a reviewer who looks elsewhere. What is told says nothing of a question: a notification may show on a locked
// screen, and its text is not ours.
func (m *Model) ring(text string) tea.Cmd {
	if m.focused {
		return nil
	}
	call := ""
	if m.opts.Bell {
		call = "\a"
	}
	if m.opts.Notify {
		call += notification(m.getenv, "hitl-tui: "+text)
	}
	if call == "" {
		return nil
	}
	return tea.Raw(call)
}

// notification is what makes a terminal show one (OSC 9), nothing where it would show the sequence. tmux hands it on where
// allow-passthrough is on, and drops it elsewhere.
func notification(getenv func(string) string, text string) string {
	if strings.HasPrefix(getenv("TERM"), "linux") {
		return ""
	}
	seq := "\x1b]9;" + text + "\x1b\\"
	if getenv("TMUX") != "" {
		return "\x1bPtmux;" + strings.ReplaceAll(seq, "\x1b", "\x1b\x1b") + "\x1b\\"
	}
	return seq
}

// failure is a run's failure in a sentence.
func failure(title string, e desk.Event) string {
	text := strings.TrimSpace(e.Node + " failed: " + e.Text)
	if title == "" {
		return text
	}
	return title + ": " + text
}

// readInfo reads what the store is.
func (m *Model) readInfo() tea.Cmd {
	ctx, d := m.ctx, m.desk
	return func() tea.Msg {
		info, err := d.Info(ctx)
		return infoRead{info: info, err: err}
	}
}

type infoRead struct {
	info desk.StoreInfo
	err  error
}

func (i infoRead) apply(m *Model) tea.Cmd {
	if i.err != nil {
		return m.complain("the store cannot be read: "+i.err.Error(), "")
	}
	m.info = i.info
	m.inbox.SetStore(i.info)
	m.prune.SetStore(i.info)
	var cmds []tea.Cmd
	for _, w := range i.info.Warnings {
		cmds = append(cmds, m.complain(w, ""))
	}
	if i.info.ReadOnly && !m.opts.ReadOnly {
		m.opts.ReadOnly = true
		m.inbox.SetReadOnly(true)
		cmds = append(cmds, m.warn("the store is read-only: nothing can be decided"))
	}
	return tea.Batch(cmds...)
}

// called is the outcome of a call whose effect comes by itself as an event.
type called struct {
	what   string
	thread string
	done   string // said when it went well
	err    error
}

func (c called) apply(m *Model) tea.Cmd {
	if c.err != nil {
		return m.complain(fmt.Sprintf("%s: %v", c.what, c.err), c.thread)
	}
	if c.done != "" {
		m.note(c.done, c.thread)
		return tea.Batch(m.say(c.done), m.inbox.Wake(c.thread))
	}
	return nil
}
