// Package activity is the page that tells who decided what, and figures of it: how many wait, how long it took, how much was
// approved, edited and rejected, by workflow, node and reviewer.
package activity

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/list"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// Desk is what the page reads.
type Desk interface {
	Activity(ctx context.Context, p desk.Period) (*desk.Activity, error)
}

// Page is the activity.
type Page struct {
	ctx   context.Context
	desk  Desk
	now   func() time.Time
	theme *theme.Theme
	w, h  int

	period  desk.Period
	read    *desk.Activity
	rows    *list.List[desk.DecisionRow]
	reading bool
	again   bool
	open    bool // it was shown, so that it is worth reading again
}

// New makes the page.
func New(ctx context.Context, d Desk, th *theme.Theme, now func() time.Time) *Page {
	p := &Page{ctx: ctx, desk: d, now: now, theme: th, period: desk.LastDay}
	p.rows = list.New(th, func(r desk.DecisionRow) string { return r.Thread + fmt.Sprint(r.N) }, p.viewRow)
	p.rows.SetEmpty("Reading ...")
	return p
}

// SetTheme changes the colours.
func (p *Page) SetTheme(th *theme.Theme) {
	p.theme = th
	p.rows.SetTheme(th)
}

// SetSize tells the page its room.
func (p *Page) SetSize(w, h int) { p.w, p.h = w, h }

// Open reads the activity.
func (p *Page) Open() tea.Cmd {
	p.open = true
	return p.readIt()
}

// Wake reads again where it was shown before.
func (p *Page) Wake() tea.Cmd {
	if !p.open {
		return nil
	}
	return p.readIt()
}

// NextPeriod looks at the next longer time, after the longest at the shortest, and says at which.
func (p *Page) NextPeriod() (tea.Cmd, string) {
	all := desk.Periods()
	p.period = all[(slices.Index(all, p.period)+1)%len(all)]
	return p.readIt(), "the last " + string(p.period)
}

type readMsg struct {
	period desk.Period
	read   *desk.Activity
	err    error
}

// readIt reads, or once what is being read has come.
func (p *Page) readIt() tea.Cmd {
	if p.reading {
		p.again = true
		return nil
	}
	p.reading = true
	ctx, d, period := p.ctx, p.desk, p.period
	return func() tea.Msg {
		a, err := d.Activity(ctx, period)
		return readMsg{period: period, read: a, err: err}
	}
}

// Update takes the page's own messages.
func (p *Page) Update(msg tea.Msg) tea.Cmd {
	m, ok := msg.(readMsg)
	if !ok {
		return nil
	}
	p.reading = false
	again := p.again
	p.again = false
	switch {
	case m.period != p.period:
		return p.readIt()
	case m.err != nil:
		p.rows.SetEmpty("Cannot be read: " + sanitize.Line(m.err.Error()))
	default:
		p.read = m.read
		p.rows.SetItems(m.read.Rows)
		p.rows.SetEmpty("Nothing was decided in this time.")
	}
	if again {
		return p.readIt()
	}
	return nil
}

// Selected is the thread of the selected decision, "" for none.
func (p *Page) Selected() string {
	r, _ := p.rows.Selected()
	return r.Thread
}

// Move moves the selection.
func (p *Page) Move(n int) { p.rows.Move(n) }

// PageBy moves it by pages.
func (p *Page) PageBy(n int) { p.rows.Page(n) }

// First goes to the newest decision, Last to the oldest.
func (p *Page) First() { p.rows.First() }

// Last goes to the oldest decision.
func (p *Page) Last() { p.rows.Last() }

// CSV writes what is shown as a file for a spreadsheet. A cell that a spreadsheet would compute is written as text.
func (p *Page) CSV() func(to io.Writer) error {
	var decided []desk.DecisionRow
	if p.read != nil {
		decided = p.read.Rows
	}
	return func(to io.Writer) error {
		rows := [][]string{{"decided_at", "workflow", "address", "thread_id", "action", "reviewer", "waited_seconds", "data_bytes", "outcome", "comment"}}
		for _, r := range decided {
			row := []string{r.DecidedAt.UTC().Format(time.RFC3339), r.Workflow, r.Address, r.Thread, r.Action, r.Reviewer,
				fmt.Sprintf("%.0f", r.Waited.Seconds()), fmt.Sprint(len(r.Data)), r.Outcome, r.Comment}
			for i, c := range row {
				row[i] = harmless(c)
			}
			rows = append(rows, row)
		}
		return csv.NewWriter(to).WriteAll(rows)
	}
}

// harmless puts a quote before what a spreadsheet takes for a formula.
func harmless(cell string) string {
	if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r") {
		return "'" + cell
	}
	return cell
}
