// Package inbox is the page of threads: the tabs, the list, and beside it the question of the selected thread.
//
// It reads through commands only and decides nothing; what a key press decides is the root's business, which asks
// Drawn for the question that is on the screen.
package inbox

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/list"
	"github.com/hitl-tui/hitl-tui/internal/ui/keymap"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// Desk is what the page reads.
type Desk interface {
	Threads(ctx context.Context, q desk.Query) (desk.Page, error)
	Counts(ctx context.Context) (desk.Counts, error)
	Open(ctx context.Context, thread string) (*desk.Detail, error)
	Decisions(ctx context.Context, thread string, limit int) ([]desk.DecisionRow, error)
	Drafts() map[string]bool
	Draft(q desk.Question) *desk.Draft
}

// Focus says which pane the keys move in.
type Focus int

// The panes.
const (
	List Focus = iota
	Question
)

// Page is the inbox. Make it with New.
type Page struct {
	ctx   context.Context
	desk  Desk
	now   func() time.Time
	theme *theme.Theme

	w, h     int
	focus    Focus
	zoom     bool
	store    desk.StoreInfo
	reviewer string
	readOnly bool
	still    bool // nothing counts down
	keys     *keymap.Map

	tab    desk.Tab
	filter string
	sort   string
	search string
	missed bool // nothing of the list has what was searched for, as far as was looked
	counts desk.Counts
	drafts map[string]bool
	err    error

	rows rows
	list *list.List[*row]

	reading bool // a reading of the list is on its way
	again   bool // and another is due after it
	gen     int  // of the list: tab, filter and sort; a reading of an older one is thrown away

	details details
	view    questionView
	outbox  map[string]desk.Entry // by thread, the latest; of answers given here
	answers map[string]desk.Entry // by question id
	judged  map[string]desk.Draft // by question id: verdicts on parts, until they are read back from the desk
}

// New makes the page with the Waiting tab.
func New(ctx context.Context, d Desk, th *theme.Theme, keys *keymap.Map, now func() time.Time, reviewer string) *Page {
	p := &Page{ctx: ctx, desk: d, now: now, theme: th, tab: desk.Waiting, reviewer: reviewer, keys: keys}
	p.view = newQuestionView(th)
	p.list = list.New(th, func(r *row) string { return r.ID }, p.viewRow)
	return p
}

// SetStill says when an answer is sent, instead of counting down to it.
func (p *Page) SetStill(on bool) { p.still = on }

// Init reads the list for the first time.
func (p *Page) Init() tea.Cmd { return p.Reload() }

// SetSize tells the page how much room it has.
func (p *Page) SetSize(w, h int) {
	p.w, p.h = w, h
	p.layout()
}

// SetTheme changes the colours.
func (p *Page) SetTheme(th *theme.Theme) {
	p.theme = th
	p.list.SetTheme(th)
	p.view.setTheme(th)
}

// SetStore sets what the title line says of the store.
func (p *Page) SetStore(info desk.StoreInfo) { p.store = info }

// SetReadOnly leaves out what says how to decide, run or claim.
func (p *Page) SetReadOnly(on bool) { p.readOnly = on }

// key is the reviewer's key of a command, to be named in a hint.
func (p *Page) key(id command.ID) string { return p.keys.Key(id) }

// SetOutbox tells the page which questions are answered here and how far the answers are.
func (p *Page) SetOutbox(entries []desk.Entry) {
	p.outbox, p.answers = map[string]desk.Entry{}, map[string]desk.Entry{}
	for _, e := range entries {
		if e.State == desk.TakenBack {
			continue
		}
		p.outbox[e.Decision.Thread] = e
		p.answers[e.Decision.Question] = e
	}
}

// Tab is the tab shown.
func (p *Page) Tab() desk.Tab { return p.tab }

// Counts are the numbers on the tabs as last read.
func (p *Page) Counts() desk.Counts { return p.counts }

// Focus is the pane that has it.
func (p *Page) Focus() Focus { return p.focus }

// Selected is the selected thread, nil when the list is empty.
func (p *Page) Selected() *desk.Thread {
	if r, ok := p.list.Selected(); ok {
		return &r.Thread
	}
	return nil
}

// Status is what the selected thread is, "" when the list is empty: of a thread that changed since the list was read what
// its opening told.
func (p *Page) Status() string {
	t, d := p.Selected(), p.Detail()
	switch {
	case t == nil:
		return ""
	case d != nil && d.Updated.After(t.Updated):
		return d.Status
	}
	return t.Status
}

// sel is the id of the selected thread, "" without one.
func (p *Page) sel() string {
	if r, ok := p.list.Selected(); ok {
		return r.ID
	}
	return ""
}

// Detail is the selected thread opened, nil until it was read.
func (p *Page) Detail() *desk.Detail { return p.details.get(p.sel()) }

// Drawn is the question that is on the screen now, and false when none is: it was not read yet, or the list alone
// fills the screen. Only such a question can be decided.
func (p *Page) Drawn() (desk.Question, bool) {
	if p.sides() < 2 && p.focus != Question {
		return desk.Question{}, false
	}
	return p.Current()
}

// Current is the question, or the part of one, that Drawn would be with room for it.
func (p *Page) Current() (desk.Question, bool) {
	d := p.Detail()
	if d == nil || len(d.Questions) == 0 || p.view.thread != d.ID || p.view.index >= len(d.Questions) {
		return desk.Question{}, false
	}
	q := d.Questions[p.view.index]
	if p.view.part > 0 && p.view.part <= len(q.Parts) {
		return q.PartAt(p.view.part), true
	}
	return q, true
}

// DrawnKey names what is drawn; it changes whenever a reviewer would look at another question.
func (p *Page) DrawnKey() string {
	q, ok := p.Drawn()
	if !ok {
		return ""
	}
	return fmt.Sprintf("%s\x00%s\x00%d\x00%s\x00%s", q.Thread, q.ID, q.Part, q.Version, q.ShownHash)
}

// Answered is the entry of an answer given here to a question, and false without one that still stands.
func (p *Page) Answered(question string) (desk.Entry, bool) {
	e, ok := p.answers[question]
	return e, ok && e.State != desk.Refused
}

// SetTab switches to a tab; what was decided here is cleared.
func (p *Page) SetTab(tab desk.Tab) tea.Cmd {
	if tab == p.tab {
		return nil
	}
	p.tab = tab
	p.focus = List
	return p.restart()
}

// SetFilter narrows the list; the desk judges the text.
func (p *Page) SetFilter(filter string) tea.Cmd {
	p.filter = filter
	return p.restart()
}

// Filter is the filter in force.
func (p *Page) Filter() string { return p.filter }

// SetSort orders the list: due, waiting, updated, name.
func (p *Page) SetSort(sort string) tea.Cmd {
	p.sort = sort
	return p.restart()
}

// order is how the list is ordered where nobody chose: what waits by deadline, what has ended by when it did.
func (p *Page) order() string {
	if p.sort == "" && p.tab == desk.Finished {
		return "updated"
	}
	return p.sort
}

// Clear reads again and lets go of what was decided.
func (p *Page) Clear() tea.Cmd {
	p.details.forget("")
	return p.restart()
}

// Err is why the list could not be read last time.
func (p *Page) Err() error { return p.err }
