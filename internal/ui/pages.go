package ui

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/ui/ago"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
)

func (m *Model) openHistory(thread string) tea.Cmd {
	if m.place == atActivity || m.place == atRetention {
		m.from = m.place
	}
	m.place = atHistory
	return m.history.Open(thread)
}

func (m *Model) openThread(thread string) tea.Cmd {
	m.place = atThread
	return m.thread.Open(thread)
}

// runHistory does the commands of the history page.
func (m *Model) runHistory(id command.ID) tea.Cmd {
	p := m.history
	switch id {
	case command.Down:
		return p.Move(1)
	case command.Up:
		return p.Move(-1)
	case command.PageDown:
		return p.Move(10)
	case command.PageUp:
		return p.Move(-10)
	case command.First:
		return p.First()
	case command.Last:
		return p.Last()
	case command.HistoryDown:
		p.Scroll(1)
	case command.HistoryUp:
		p.Scroll(-1)
	case command.HalfDown:
		p.HalfPage(1)
	case command.HalfUp:
		p.HalfPage(-1)
	case command.StateAtStep:
		return p.Show()
	case command.BackToSteps:
		if !p.Back() {
			m.leave()
		}
	case command.MarkStep:
		p.Mark()
	case command.DiffSteps:
		cmd, why := p.Diff()
		if why != "" {
			return m.warn(why)
		}
		return cmd
	case command.StepsOrGraph:
		return p.ToggleGraph()
	case command.HistoryWrap:
		p.ToggleWrap()
	case command.Zoom:
		p.Unfold()
	case command.ReadAgain:
		if d := p.Thread(); d != nil {
			return p.Open(d.ID)
		}
	case command.Fork:
		return m.askFork()
	case command.EditState:
		return m.openStateEditor()
	case command.ExportHistory:
		return m.export()
	}
	return nil
}

// askFork asks before a new thread is made of an earlier step.
func (m *Model) askFork() tea.Cmd {
	step, ok := m.history.Selected()
	d := m.history.Thread()
	if !ok || d == nil {
		return m.warn("no step is selected")
	}
	if m.opts.ReadOnly {
		return m.warn("read-only: nothing is forked from here")
	}
	ctx, client := m.ctx, m.desk
	return m.ask(confirmation{
		title: fmt.Sprintf("Fork from step %d?", step.Step),
		text:  fmt.Sprintf("A new thread starts from the state at step %d of %s and runs on. This thread stays as it is.", step.Step, d.Short),
		yes:   "fork",
		run: func() tea.Msg {
			id, err := client.Fork(ctx, d.ID, step.Step)
			return called{what: "fork", thread: id, done: fmt.Sprintf("forked from step %d: %s", step.Step, id), err: err}
		},
	})
}

// export writes the thread, masked, into a file of the present folder, which must not be there yet.
func (m *Model) export() tea.Cmd {
	d := m.history.Thread()
	if d == nil {
		return m.warn("nothing is read yet")
	}
	ctx, client := m.ctx, m.desk
	name := filepath.Clean("hitl-history-" + d.Short + ".json")
	return func() tea.Msg {
		n, err := writeNew(name, func(to io.Writer) error { return client.ExportMasked(ctx, d.ID, to) })
		return called{what: "export", thread: d.ID, done: "wrote " + name + ", " + ago.Bytes(n), err: err}
	}
}

// writeNew writes a file that only its owner can read and never writes over another. One that did not become whole is removed.
func writeNew(name string, write func(io.Writer) error) (size int64, err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	if err = write(f); err == nil {
		size, err = f.Seek(0, io.SeekCurrent)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		os.Remove(name)
	}
	return size, err
}

// runThread does the commands of the thread view.
func (m *Model) runThread(id command.ID) tea.Cmd {
	p := m.thread
	d := p.Detail()
	switch id {
	case command.Down, command.ScrollDown:
		p.Scroll(1)
	case command.Up, command.ScrollUp:
		p.Scroll(-1)
	case command.PageDown, command.HalfDown:
		p.PageBy(1)
	case command.PageUp, command.HalfUp:
		p.PageBy(-1)
	case command.First:
		p.Top()
	case command.Last:
		p.Bottom()
	case command.ThreadBack:
		m.leave()
	case command.ThreadWrap:
		p.ToggleWrap()
	}
	if d == nil {
		return nil
	}
	switch id {
	case command.ThreadCancel:
		return m.askCancelRun(d.Thread)
	case command.ThreadCarryOn:
		return m.askCarryOn(d.Thread)
	case command.ThreadHistory:
		return m.openHistory(d.ID)
	case command.ReadAgain:
		return p.Open(d.ID)
	}
	return nil
}
