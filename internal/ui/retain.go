package ui

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/ui/ago"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
)

// runRetention does the commands of the retention page.
func (m *Model) runRetention(id command.ID) tea.Cmd {
	p := m.prune
	switch id {
	case command.Down:
		return p.Move(1)
	case command.Up:
		return p.Move(-1)
	case command.PageDown:
		p.PageBy(1)
	case command.PageUp:
		p.PageBy(-1)
	case command.First:
		p.First()
	case command.Last:
		p.Last()
	case command.Bounds:
		return m.openBounds()
	case command.MarkThread:
		p.Mark()
	case command.MarkRange:
		p.MarkRange()
	case command.UnmarkAll:
		p.Unmark()
	case command.GroupThreads:
		if thread := p.OpenGroup(); thread != "" {
			return m.openHistory(thread)
		}
	case command.GroupBack:
		p.Back()
	case command.SortThreads:
		return m.say(p.NextSort())
	case command.ReadAgain:
		return tea.Batch(p.Open(), m.readInfo())
	case command.Prune:
		return m.previewPrune()
	case command.DeleteMarked:
		return m.askDelete(p.Chosen())
	case command.StopPrune:
		if m.stopPrune == nil {
			return m.warn("no prune runs")
		}
		m.stopPrune()
		return m.say("stops after this chunk; what is gone stays gone")
	}
	return nil
}

// previewPrune counts exactly what would go before it asks.
func (m *Model) previewPrune() tea.Cmd {
	switch {
	case m.opts.ReadOnly:
		return m.warn("read-only: nothing is deleted from here")
	case m.stopPrune != nil:
		return m.warn("a prune runs already")
	}
	b, err := m.prune.Bounds()
	if err != nil {
		return m.warn(err.Error() + ": b asks for the bounds")
	}
	ctx, d := m.ctx, m.desk
	return func() tea.Msg {
		x, err := d.Prune(ctx, b, true, nil)
		return pruneCounted{bounds: b, would: x, err: err}
	}
}

type pruneCounted struct {
	bounds desk.Bounds
	would  *desk.Pruned
	err    error
}

func (p pruneCounted) apply(m *Model) tea.Cmd {
	if p.err != nil {
		return m.complain("prune: "+p.err.Error(), "")
	}
	if p.would.Steps == 0 && p.would.Deleted == 0 {
		return m.warn("nothing would go: no step is within the bounds")
	}
	title := fmt.Sprintf("Prune %s steps of %s?", ago.Count(p.would.Steps), plural(int(p.would.Threads), "thread", "threads"))
	text := fmt.Sprintf("%s go. The last step of every thread stays. This cannot be undone.", ago.Bytes(p.would.Bytes))
	if p.would.Deleted > 0 {
		text = fmt.Sprintf("%s go: %s whole, with every step and decision. This cannot be undone.", ago.Bytes(p.would.Bytes),
			plural(int(p.would.Deleted), "ended thread", "ended threads"))
	}
	return m.typeCount(title, text, p.would.Steps, func(m *Model) tea.Cmd { return m.startPrune(p.bounds, p.would.Steps) })
}

// startPrune deletes in the background and reports how far it is.
func (m *Model) startPrune(b desk.Bounds, total int64) tea.Cmd {
	ctx, stop := context.WithCancel(m.ctx)
	m.stopPrune = stop
	m.prune.Running(0, total)
	d := m.desk
	steps := make(chan pruneStep, 1)
	work := func() tea.Msg {
		defer stop()
		defer close(steps)
		x, err := d.Prune(ctx, b, false, func(done, total int64) {
			select { // a report that nobody has read yet is replaced
			case <-steps:
			default:
			}
			steps <- pruneStep{done: done, total: total}
		})
		return pruneEnded{x, err}
	}
	return tea.Batch(work, hear(steps))
}

// hear waits for the next report of a prune.
func hear(steps chan pruneStep) tea.Cmd {
	return func() tea.Msg {
		s, ok := <-steps
		if !ok {
			return nil
		}
		s.more = steps
		return s
	}
}

type pruneStep struct {
	done, total int64
	more        chan pruneStep
}

func (s pruneStep) apply(m *Model) tea.Cmd {
	if m.stopPrune == nil {
		return nil
	}
	m.prune.Running(s.done, s.total)
	return hear(s.more)
}

type pruneEnded struct {
	pruned *desk.Pruned
	err    error
}

func (p pruneEnded) apply(m *Model) tea.Cmd {
	m.stopPrune = nil
	var steps, whole int64
	if p.pruned != nil {
		steps, whole = p.pruned.Steps, p.pruned.Deleted
	}
	text := fmt.Sprintf("pruned %s steps", ago.Count(steps))
	if whole > 0 {
		text += ", " + plural(int(whole), "thread whole", "threads whole")
	}
	if p.err != nil {
		text = fmt.Sprintf("stopped after %s steps: %v", ago.Count(steps), p.err)
	}
	m.note(text, "")
	return tea.Batch(m.prune.Ended(text), m.readInfo(), m.inbox.Wake(""))
}

// askDelete asks for the count before threads are deleted whole.
func (m *Model) askDelete(threads []string) tea.Cmd {
	if m.opts.ReadOnly {
		return m.warn("read-only: nothing is deleted from here")
	}
	if len(threads) == 0 {
		return m.warn("no thread is selected")
	}
	ctx, d := m.ctx, m.desk
	what := plural(len(threads), "thread", "threads")
	return m.typeCount("Delete "+what+"?",
		"Whole threads go, with every step, question and decision; a tombstone keeps that they were. This cannot be undone.",
		int64(len(threads)), func(m *Model) tea.Cmd {
			return func() tea.Msg {
				return called{what: "delete", done: "deleted " + what, err: d.Delete(ctx, threads...)}
			}
		})
}
