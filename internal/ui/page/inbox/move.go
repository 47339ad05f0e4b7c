package inbox

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/desk"
)

// Move moves the selection by n rows.
func (p *Page) Move(n int) tea.Cmd {
	if len(p.rows.list) == 0 {
		return nil
	}
	return p.moveTo(p.list.Index() + n)
}

// MovePage moves by n screens of the list.
func (p *Page) MovePage(n int) tea.Cmd {
	p.list.Page(n)
	return p.moveTo(p.list.Index())
}

// First goes to the first row.
func (p *Page) First() tea.Cmd { return p.moveTo(0) }

// Last goes to the last row, reading all there is if it must.
func (p *Page) Last() tea.Cmd {
	if cmd := p.loadAll(lastRow); cmd != nil {
		return cmd
	}
	return p.moveTo(len(p.rows.list) - 1)
}

func (p *Page) moveTo(i int) tea.Cmd {
	if len(p.rows.list) == 0 {
		return nil
	}
	p.list.Select(i)
	return tea.Batch(p.open(), p.loadMore())
}

// Select selects a thread and one of its questions, if the list has it.
func (p *Page) Select(thread, question string) tea.Cmd {
	if p.rows.at(thread) < 0 {
		return nil
	}
	p.view.want(thread, question)
	return p.moveTo(p.rows.at(thread))
}

// Has tells whether the list shows a thread.
func (p *Page) Has(thread string) bool { return p.rows.at(thread) >= 0 }

// Advance goes on after one's own decision: to the next unanswered question of the thread, else to the next thread
// that waits.
func (p *Page) Advance() tea.Cmd {
	if d := p.Detail(); d != nil && p.view.thread == d.ID {
		for step := 1; step < len(d.Questions); step++ {
			i := (p.view.index + step) % len(d.Questions)
			if _, answered := p.Answered(d.Questions[i].ID); !answered {
				p.turn(i)
				return nil
			}
		}
	}
	i := p.rows.after(p.list.Index(), p.open4me)
	if i < 0 {
		return nil
	}
	return p.moveTo(i)
}

// open4me tells whether a row still asks something that nobody answered here.
func (p *Page) open4me(r *row) bool {
	return !r.gone && r.Status == "interrupted" && p.mine(r.ID) < max(r.Questions, 1)
}

// mine counts the answers given here to a thread that are on their way.
func (p *Page) mine(thread string) int {
	n := 0
	if _, any := p.outbox[thread]; !any {
		return 0
	}
	for _, e := range p.answers {
		if e.Decision.Thread == thread && e.State != desk.Refused {
			n++
		}
	}
	return n
}

// TurnQuestion shows the next or the former page: the questions of the thread, each followed by its parts.
func (p *Page) TurnQuestion(n int) bool {
	d := p.Detail()
	if d == nil || p.view.thread != d.ID || p.Pages() < 2 {
		return false
	}
	i, part := p.view.index, p.view.part+n
	if part < 0 || part > len(d.Questions[i].Parts) {
		i = (i + n + len(d.Questions)) % len(d.Questions)
		part = 0
		if n < 0 {
			part = len(d.Questions[i].Parts)
		}
	}
	p.turn(i)
	p.view.part = part
	return true
}

// Pages counts the questions of the thread and their parts.
func (p *Page) Pages() int {
	n := 0
	if d := p.Detail(); d != nil {
		for _, q := range d.Questions {
			n += 1 + len(q.Parts)
		}
	}
	return n
}

// lastRow is the "search" that goes to the end.
const lastRow = 1 << 20

// SetSearch begins a search in titles, workflows and nodes.
func (p *Page) SetSearch(text string) tea.Cmd {
	p.search, p.missed = strings.ToLower(text), false
	if text == "" {
		return nil
	}
	if r, ok := p.list.Selected(); ok && p.matches(r) {
		return nil
	}
	return p.Find(1)
}

// Search is the text searched for.
func (p *Page) Search() string { return p.search }

func (p *Page) matches(r *row) bool {
	return strings.Contains(strings.ToLower(r.Title+"\n"+r.Workflow+" "+r.Node+"\n"+r.ID), p.search)
}

// Find goes to the next match in a direction, reading on where the list was not read to its end.
func (p *Page) Find(dir int) tea.Cmd {
	if dir == lastRow {
		return p.moveTo(len(p.rows.list) - 1)
	}
	if p.search == "" || len(p.rows.list) == 0 {
		return nil
	}
	n := len(p.rows.list)
	from := p.list.Index()
	for step := 1; step <= n; step++ {
		i := ((from+dir*step)%n + n) % n
		wrapped := dir > 0 && i <= from
		if wrapped && p.rows.next != "" {
			return p.loadAll(dir)
		}
		if p.matches(p.rows.list[i]) {
			p.missed = false
			return p.moveTo(i)
		}
	}
	p.missed = true
	return nil
}

// Mark marks or unmarks the selected row and moves on.
func (p *Page) Mark() tea.Cmd {
	p.list.ToggleMark()
	return p.moveTo(p.list.Index())
}

// MarkRange marks from the last mark to the selected row.
func (p *Page) MarkRange() { p.list.MarkRange() }

// Unmark unmarks the given threads, or all.
func (p *Page) Unmark(threads ...string) {
	if len(threads) == 0 {
		p.list.UnmarkAll()
		return
	}
	p.list.Unmark(threads...)
}

// MarkAll marks the given threads, as far as they are listed.
func (p *Page) MarkAll(threads ...string) { p.list.Mark(threads...) }

// Marked lists the marked threads, and how many of them were never on the screen.
func (p *Page) Marked() (threads []desk.Thread, unseen int) {
	for _, r := range p.list.Marked() {
		threads = append(threads, r.Thread)
		if !r.opened {
			unseen++
		}
	}
	return threads, unseen
}

// SetFocus gives the keys to a pane.
func (p *Page) SetFocus(f Focus) {
	p.focus = f
	p.layout()
}

// ToggleZoom shows only the pane that has the focus, or all again.
func (p *Page) ToggleZoom() {
	p.zoom = !p.zoom
	p.layout()
}

// ClickRow selects the row drawn at a line of the page, if one is there.
func (p *Page) ClickRow(x, y int) tea.Cmd {
	b := p.boxes()
	if b.list == 0 || x >= b.list {
		if b.question > 0 && x >= b.questionX && x < b.questionX+b.question {
			p.focus = Question
		}
		return nil
	}
	i, ok := p.list.RowAt(y - p.listHead())
	if !ok {
		return nil
	}
	p.focus = List
	return p.moveTo(i)
}

// InQuestion tells whether a column belongs to the question.
func (p *Page) InQuestion(x int) bool {
	b := p.boxes()
	return b.question > 0 && x >= b.questionX && x < b.questionX+b.question
}
