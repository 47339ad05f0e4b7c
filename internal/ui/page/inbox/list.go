package inbox

import (
	"fmt"
	"strings"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/ago"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/list"
)

// Under narrow columns one pane is drawn, from wide on there is a side column.
const (
	narrow = 72
	wide   = 140
)

// boxes are the widths of the panes; 0 is one that is not drawn.
type boxes struct{ list, question, questionX, side int }

func (p *Page) boxes() boxes {
	switch {
	case p.w < narrow || p.zoom:
		if p.focus == Question {
			return boxes{question: p.w}
		}
		return boxes{list: p.w}
	case p.w < wide:
		list := min(max(p.w*35/100, 28), 46)
		return boxes{list: list, questionX: list + 1, question: p.w - list - 1}
	}
	list, side := min(p.w*28/100, 56), min(p.w/4, 52)
	return boxes{list: list, questionX: list + 1, question: p.w - list - side - 2, side: side}
}

// sides is the number of panes drawn.
func (p *Page) sides() int {
	b := p.boxes()
	n := 0
	for _, w := range []int{b.list, b.question, b.side} {
		if w > 0 {
			n++
		}
	}
	return n
}

// OnePane tells whether list and question do not fit side by side.
func (p *Page) OnePane() bool { return p.sides() == 1 }

func (p *Page) rowHeight() int {
	switch {
	case p.w < narrow:
		return 1
	case p.w >= wide && p.h >= 34:
		return 3
	}
	return 2
}

// listHead is the number of lines above the first row.
func (p *Page) listHead() int {
	if p.w < narrow && p.filter == "" && p.search == "" {
		return 0
	}
	return 1
}

func (p *Page) viewList(w int) string {
	head := p.listHead()
	p.list.SetSize(w, p.h-head)
	p.list.SetRowHeight(p.rowHeight())
	p.list.SetFocused(p.focus == List)
	p.list.SetEmpty(p.empty())
	if head == 0 {
		return p.list.View()
	}
	return p.listTitle(w) + "\n" + p.list.View()
}

var sorts = map[string]string{"": "due, then oldest", "due": "due, then oldest", "waiting": "longest waiting first",
	"updated": "last changed first", "name": "by name"}

func (p *Page) listTitle(w int) string {
	left := " " + strings.ToUpper(string(p.tab))
	if n, ok := p.counts[p.tab]; ok {
		left += " " + ago.Count(n)
	}
	right := sorts[p.order()]
	switch {
	case p.search != "":
		right = "/" + p.search
		if p.missed {
			right += ": not found"
		}
	case p.filter != "":
		right = "filter: " + p.filter
	}
	if cell.Width(left)+cell.Width(right)+2 > w && p.filter == "" && p.search == "" {
		right = ""
	}
	if room := w - cell.Width(right) - 1; room > 0 {
		left = cell.Fit(left, room-1) + " "
	} else {
		left = ""
	}
	return p.theme.Strong.Render(left) +
		p.theme.Muted.Render(cell.Fit(right, min(cell.Width(right)+1, w)))
}

// viewRow draws one row: the title with its time, and below it where it is and what is special.
func (p *Page) viewRow(r *row, w int, _ list.State) []string {
	mark, style := p.mark(r)
	title := sanitize.Line(r.Title)
	if title == "" {
		title = sanitize.Line(r.Workflow) + " " + r.Short
	}
	if r.gone || mark == 'v' || mark == '.' && p.tab == desk.Waiting {
		style = p.theme.Muted
	}
	when, note := p.when(r), p.note(r)
	tall := p.rowHeight() > 1
	if !tall && w >= 34 {
		when = shortNote(note, when)
	}
	lead := string(mark) + " "
	if tall && mark == ' ' { // the title needs the room more than the column needs to be straight
		lead = ""
	}
	lines := []string{style.Render(cell.Between(lead+title, when+" ", w))}
	if tall {
		if w < 40 {
			note, _, _ = strings.Cut(note, ", ")
		}
		lines = append(lines, p.theme.Muted.Render(cell.Between(" "+place(r), note+" ", w)))
	}
	return lines
}

// mark is the one character that tells what is special about a row, and its style.
func (p *Page) mark(r *row) (byte, lipgloss.Style) {
	t := p.theme
	if e, ok := p.outbox[r.ID]; ok {
		switch {
		case e.State == desk.Refused:
			return 'x', t.Danger
		case e.State == desk.Queued || e.State == desk.Sending:
			return '.', t.Muted
		case p.mine(r.ID) < r.Questions:
			return '=', t.Text
		case r.gone || r.Status == "interrupted" && e.State != desk.Sent:
			return 'v', t.Muted
		}
	}
	switch {
	case r.gone:
		return 'v', t.Muted
	case r.Status == "failed" || r.Status == "stalled" || r.Halted():
		return 'x', t.Danger
	case r.Status == "running":
		return '.', t.Text
	case !r.Due.IsZero() && !r.Due.After(p.now()) && r.Status == "interrupted":
		return '!', t.Warning
	case r.Claimed != "" && r.Claimed != p.reviewer && r.ClaimedUntil.After(p.now()) && r.Questions > 0:
		return '@', t.Text
	case p.drafts[r.ID]:
		return '~', t.Text
	case r.Answered > 0:
		return '=', t.Text
	}
	return ' ', t.Text
}

// when is the right end of the first line.
func (p *Page) when(r *row) string {
	now := p.now()
	if e, ok := p.outbox[r.ID]; ok {
		switch e.State {
		case desk.Unsent:
			if p.still {
				return ago.Clock(e.SendAt)
			}
			return fmt.Sprintf("%ds", ago.Left(now, e.SendAt))
		case desk.Held:
			return "held"
		case desk.Queued:
			return "queued"
		case desk.Sending:
			return "resuming"
		case desk.Refused:
			return "refused"
		}
	}
	switch {
	case r.gone && !r.fateAt.IsZero():
		return ago.Since(now, r.fateAt)
	case !r.Due.IsZero() && !r.gone:
		return ago.Due(now, r.Due)
	case !r.WaitingSince.IsZero():
		return ago.Since(now, r.WaitingSince)
	}
	return ago.Since(now, r.Updated)
}

// note is the right end of the second line: what became of it, who has it, how far it is.
func (p *Page) note(r *row) string {
	now := p.now()
	if e, ok := p.outbox[r.ID]; ok {
		switch e.State {
		case desk.Unsent, desk.Held:
			if name, is := desk.ByRule(e.Decision.Reviewer); is {
				return "rule " + name + ", not sent"
			}
			return done(e.Decision.Action) + ", not sent"
		case desk.Queued, desk.Sending:
			return done(e.Decision.Action)
		case desk.Refused:
			return "kept as draft"
		}
	}
	switch {
	case r.gone && r.fate != "":
		return r.fate
	case r.gone:
		return "no longer here"
	case r.Halted():
		return "failed, too"
	case r.Claimed != "" && r.ClaimedUntil.After(now) && r.Questions > 0:
		return "@" + sanitize.Line(r.Claimed)
	case r.Answered > 0:
		return fmt.Sprintf("%d/%d answered", r.Answered, r.Questions+r.Answered)
	case p.drafts[r.ID]:
		return "~draft"
	case r.Questions > 1 && urgent(r):
		return fmt.Sprintf("%s, %d open", r.Priority, r.Questions)
	case r.Questions > 1:
		return fmt.Sprintf("%d open", r.Questions)
	case urgent(r):
		return r.Priority
	case r.Assignee != "":
		return "for " + sanitize.Line(r.Assignee)
	case r.Status != "interrupted":
		return r.Status
	}
	return ""
}

func urgent(r *row) bool { return r.Priority == "high" || r.Priority == "urgent" }

// shortNote makes one line's worth of the note and the time.
func shortNote(note, when string) string {
	switch {
	case strings.HasPrefix(note, "@"):
		return "(" + note[1:] + ") " + when
	case strings.Contains(note, " answered"):
		return strings.TrimSuffix(note, " answered") + " " + when
	case strings.Contains(note, " by "):
		return note
	}
	return when
}

func place(r *row) string {
	s := sanitize.Line(r.Workflow)
	if r.Node != "" {
		s += " / " + sanitize.Line(r.Node)
	}
	return s
}

// empty says what to do when the list has no rows.
func (p *Page) empty() string {
	var text string
	switch {
	case p.err != nil:
		text = "Cannot read the threads.\n\n" + sanitize.Line(p.err.Error()) + "\n\n" + p.key(command.ReadAgain) + " reads again."
		if p.filter != "" {
			text = "The filter is not understood.\n\n" + sanitize.Line(p.err.Error()) + "\n\n" + p.key(command.Filter) + " changes the filter, an empty one shows all."
		}
	case !p.rows.read:
		text = "Reading ..."
	case p.filter != "":
		text = "Nothing matches this filter.\n\n" + p.key(command.Filter) + " changes it, an empty one shows all."
	case p.tab == desk.Waiting:
		text = "Nothing waits for you.\n\n" + p.unlessReadOnly(p.key(command.NewThread)+" starts a workflow.\n") + "`hitl-tui demo` shows one in a throw-away store.\n\nThis store: " + sanitize.Line(p.store.URL)
	case p.tab == desk.Running:
		text = "Nothing runs.\n\nAnswers you give make their threads run; they are shown here until they rest. " + p.key(command.TabWaiting) + " shows what waits for you."
	case p.tab == desk.Failed:
		text = "Nothing failed.\n\nWhat fails or stalls is shown here, with the reason. " + p.key(command.TabWaiting) + " shows what waits for you."
	case p.tab == desk.Finished:
		text = "Nothing finished yet.\n\nThreads that ended are shown here, with what they gave. " + p.key(command.TabWaiting) + " shows what waits for you."
	default:
		text = "No threads in this store.\n\n" + p.unlessReadOnly(p.key(command.NewThread)+" starts a workflow.\n\n") + "This store: " + sanitize.Line(p.store.URL)
	}
	return "\n" + text
}

func msDuration(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond }
