package ui

import (
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/desk"
)

// quit leaves, and asks first if something is unsent or running.
func (m *Model) quit() tea.Cmd { return m.askBusy("Quit", tea.Quit) }

// suspend goes to the shell, with the same question: a stopped process sends nothing and runs nothing.
func (m *Model) suspend() tea.Cmd { return m.askBusy("Suspend", tea.Suspend) }

// askBusy runs leave at once when nothing is on its way.
func (m *Model) askBusy(verb string, leave tea.Cmd) tea.Cmd {
	d := m.desk
	return func() tea.Msg {
		unsent, running := d.Busy()
		return busy{verb: verb, leave: leave, unsent: unsent, running: running}
	}
}

type busy struct {
	verb            string
	leave           tea.Cmd
	unsent, running int
}

func (b busy) apply(m *Model) tea.Cmd {
	if b.unsent == 0 && b.running == 0 {
		return b.leave
	}
	return m.openQuit(b)
}

// busyText says what is on its way.
func (b busy) text() string {
	switch {
	case b.running == 0:
		return fmt.Sprintf("%s not sent yet.", plural(b.unsent, "answer is", "answers are"))
	case b.unsent == 0:
		return fmt.Sprintf("%s still running.", plural(b.running, "thread is", "threads are"))
	}
	return fmt.Sprintf("%s not sent yet, %s still running.", plural(b.unsent, "answer is", "answers are"),
		plural(b.running, "thread is", "threads are"))
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// keepAsDrafts takes all unsent answers back and keeps them.
func (m *Model) keepAsDrafts() tea.Cmd {
	d := m.desk
	return func() tea.Msg { return called{what: "keep as drafts", err: d.KeepAsDrafts()} }
}

// waitThenQuit sends what is unsent and quits once nothing runs.
func (m *Model) waitThenQuit() tea.Cmd {
	m.quitting = true
	return tea.Batch(tea.Sequence(m.sendNow(""), m.readOutbox()), m.say("quits as soon as everything has come to rest; Esc stays"))
}

// quitWhenAtRest quits if nothing is on its way any more.
func (m *Model) quitWhenAtRest() tea.Cmd {
	d := m.desk
	return func() tea.Msg {
		unsent, running := d.Busy()
		return atRest(unsent+running == 0)
	}
}

type atRest bool

func (r atRest) apply(m *Model) tea.Cmd {
	if bool(r) && m.quitting {
		return tea.Quit
	}
	return nil
}

func (m *Model) askCarryOn(t desk.Thread) tea.Cmd {
	if m.opts.ReadOnly {
		return m.warn("read-only: nothing runs from here")
	}
	ctx, d := m.ctx, m.desk
	text := "The thread is " + t.Status + " at " + t.Node + ": its unfinished nodes run again."
	if t.Halted() {
		text = "What failed runs again (" + t.Error + "). What is asked, or sleeps, stays as it is."
	}
	return m.ask(confirmation{
		title: about("Carry on with", t.Title), text: text,
		yes: "carry on",
		run: func() tea.Msg {
			return called{what: "carry on", thread: t.ID, done: "carries on: " + t.Title, err: d.CarryOn(ctx, t.ID)}
		},
	})
}

func (m *Model) askCancelRun(t desk.Thread) tea.Cmd {
	if m.opts.ReadOnly {
		return m.warn("read-only: nothing is cancelled from here")
	}
	ctx, d := m.ctx, m.desk
	return m.ask(confirmation{
		title: about("Cancel the run of", t.Title),
		text:  "What the present step did is not kept. A question that was answered to start it comes back.",
		yes:   "cancel the run", danger: true,
		run: func() tea.Msg {
			return called{what: "cancel the run", thread: t.ID, done: "cancelled the run of " + t.Title, err: d.CancelRun(ctx, t.ID)}
		},
	})
}
