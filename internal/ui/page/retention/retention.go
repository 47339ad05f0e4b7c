// Package retention is the page on which old steps and threads are let go: what there is by workflow, what the bounds
// select, what would go and what is kept. It deletes nothing; the root does, after the count was typed.
package retention

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/duration"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/list"
	"github.com/hitl-tui/hitl-tui/internal/ui/keymap"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// Desk is what the page reads.
type Desk interface {
	Threads(ctx context.Context, q desk.Query) (desk.Page, error)
	Prune(ctx context.Context, b desk.Bounds, dryRun bool, progress func(done, total int64)) (*desk.Pruned, error)
}

const narrow = 72

// Limits are the bounds as a person writes them.
type Limits struct {
	OlderThan  string // 30d, 12h, 8w, or a time; "" none
	BeforeStep string // a number; "" none
	Finished   string // whole threads that ended before an age or a time; "" none
	Status     string // done,failed; "" any
	Workflow   string // a,b; "" any
}

// Default keeps a month.
func Default() Limits { return Limits{OlderThan: "30d", Status: "done,rejected,stopped,cancelled"} }

// Parse reads the limits as the command line does. A bound has to be given: without one everything would be selected.
func (l Limits) Parse(now time.Time) (desk.Bounds, error) {
	b := desk.Bounds{All: true, Status: words(l.Status), Workflow: words(l.Workflow)}
	moment := func(what, text string) (t time.Time, err error) {
		if text = strings.TrimSpace(text); text == "" {
			return t, nil
		}
		if t, err = duration.Moment(text, now); err != nil {
			return t, fmt.Errorf("%s: %w", what, err)
		}
		return t, nil
	}
	var err error
	if b.OlderThan, err = moment("older than", l.OlderThan); err != nil {
		return b, err
	}
	if b.FinishedBefore, err = moment("finished before", l.Finished); err != nil {
		return b, err
	}
	if s := strings.TrimSpace(l.BeforeStep); s != "" {
		n, err := strconv.ParseInt(s, 10, 64)
		if err != nil || n < 1 {
			return b, fmt.Errorf("before step: %q is not a step; give a number from 1", s)
		}
		b.BeforeStep = n
	}
	if b.OlderThan.IsZero() && b.BeforeStep == 0 && b.FinishedBefore.IsZero() {
		return b, fmt.Errorf("a bound is missing: give an age (30d), a step, or when threads ended")
	}
	return b, nil
}

func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

// Page is retention.
type Page struct {
	ctx   context.Context
	desk  Desk
	now   func() time.Time
	theme *theme.Theme
	keys  *keymap.Map
	store desk.StoreInfo
	w, h  int

	limits Limits
	bounds desk.Bounds
	err    error
	preview
	rows  *list.List[Row]
	group string // workflow whose threads are listed, "" lists the workflows
	sort  int

	reading, again bool
	done, total    int64 // of a running prune
	running        bool
	result         string // of the last one
}

// preview is what the bounds select.
type preview struct {
	pruned  *desk.Pruned
	threads map[string]desk.Thread
	parts   map[string]desk.PrunedThread
	byGroup []Row
}

// Row is a workflow or a thread, with what would go of it.
type Row struct {
	Workflow string
	Thread   string // "" for a workflow
	Title    string
	Threads  int64
	Steps    int64
	Bytes    int64
	Oldest   time.Time
}

func (r Row) key() string { return r.Workflow + "\x00" + r.Thread }

// New makes the page.
func New(ctx context.Context, d Desk, th *theme.Theme, keys *keymap.Map, now func() time.Time) *Page {
	p := &Page{ctx: ctx, desk: d, now: now, theme: th, keys: keys, limits: Default()}
	p.rows = list.New(th, Row.key, p.viewRow)
	return p
}

// SetTheme changes the colours.
func (p *Page) SetTheme(th *theme.Theme) {
	p.theme = th
	p.rows.SetTheme(th)
}

// SetStore sets what is known of the store.
func (p *Page) SetStore(info desk.StoreInfo) { p.store = info }

// SetSize tells the page its room.
func (p *Page) SetSize(w, h int) { p.w, p.h = w, h }

// Open reads what the bounds select.
func (p *Page) Open() tea.Cmd { return p.read() }

// Limits are the bounds in force.
func (p *Page) Limits() Limits { return p.limits }

// SetLimits changes the bounds.
func (p *Page) SetLimits(l Limits) tea.Cmd {
	p.limits = l
	return p.read()
}

type readMsg struct {
	limits Limits
	pruned *desk.Pruned
	all    []desk.Thread
	err    error
}

func (p *Page) read() tea.Cmd {
	if p.reading {
		p.again = true
		return nil
	}
	p.reading = true
	ctx, d, limits := p.ctx, p.desk, p.limits
	b, err := limits.Parse(p.now())
	return func() tea.Msg {
		msg := readMsg{limits: limits, err: err}
		if err == nil {
			msg.pruned, msg.err = d.Prune(ctx, b, true, nil)
		}
		q := desk.Query{Tab: desk.All, Limit: 500, Sort: "updated"}
		for {
			page, err := d.Threads(ctx, q)
			if err != nil {
				msg.err = err
				return msg
			}
			msg.all = append(msg.all, page.Threads...)
			if q.After = page.Next; q.After == "" {
				return msg
			}
		}
	}
}

// Wake reads again when it is shown.
func (p *Page) Wake() tea.Cmd {
	if p.threads == nil || p.running {
		return nil
	}
	return p.read()
}

// Update takes the page's own messages.
func (p *Page) Update(msg tea.Msg) tea.Cmd {
	m, ok := msg.(readMsg)
	if !ok {
		return nil
	}
	p.reading = false
	if p.again {
		p.again = false
		return p.read()
	}
	p.err = m.err
	p.pruned, p.parts = m.pruned, map[string]desk.PrunedThread{}
	if m.pruned != nil {
		for _, x := range m.pruned.Per {
			p.parts[x.Thread] = x
		}
	}
	p.threads = map[string]desk.Thread{}
	for _, t := range m.all {
		p.threads[t.ID] = t
	}
	p.fill()
	return nil
}

// fill lists the workflows, or the threads of one.
func (p *Page) fill() {
	groups := map[string]*Row{}
	var threads []Row
	for _, t := range p.threads {
		g := groups[t.Workflow]
		if g == nil {
			g = &Row{Workflow: t.Workflow}
			groups[t.Workflow] = g
		}
		g.Threads++
		r := Row{Workflow: t.Workflow, Thread: t.ID, Title: t.Title, Threads: 1, Oldest: t.Updated}
		if x := p.part(t.ID); x != nil {
			r.Steps, r.Bytes = x.Steps, x.Bytes
			g.Steps, g.Bytes = g.Steps+x.Steps, g.Bytes+x.Bytes
		}
		if g.Oldest.IsZero() || t.Updated.Before(g.Oldest) {
			g.Oldest = t.Updated
		}
		if t.Workflow == p.group {
			threads = append(threads, r)
		}
	}
	p.byGroup = nil
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		p.byGroup = append(p.byGroup, *groups[name])
	}
	rows := p.byGroup
	if p.group != "" {
		rows = threads
	}
	slices.SortFunc(rows, p.order)
	p.rows.SetItems(rows)
	p.rows.SetEmpty("No threads in this store.")
}

func (p *Page) part(thread string) *desk.PrunedThread {
	if x, ok := p.parts[thread]; ok {
		return &x
	}
	return nil
}

var sortNames = [...]string{"by size", "by steps", "by age", "by name"}

func (p *Page) order(a, b Row) int {
	name := cmp.Or(cmp.Compare(a.Workflow, b.Workflow), cmp.Compare(a.Title, b.Title), cmp.Compare(a.Thread, b.Thread))
	switch p.sort {
	case 0:
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), name)
	case 1:
		return cmp.Or(cmp.Compare(b.Steps, a.Steps), name)
	case 2:
		return cmp.Or(a.Oldest.Compare(b.Oldest), name)
	}
	return name
}

// NextSort orders the rows another way and says which.
func (p *Page) NextSort() string {
	p.sort = (p.sort + 1) % len(sortNames)
	p.fill()
	return sortNames[p.sort]
}

// Move moves the selection.
func (p *Page) Move(n int) tea.Cmd { p.rows.Move(n); return nil }

// PageBy moves it by windows.
func (p *Page) PageBy(n int) { p.rows.Page(n) }

// First and Last go to the ends.
func (p *Page) First() { p.rows.First() }

// Last goes to the last row.
func (p *Page) Last() { p.rows.Last() }

// Mark marks the selected row and moves on.
func (p *Page) Mark() { p.rows.ToggleMark() }

// MarkRange marks from the last mark to here.
func (p *Page) MarkRange() { p.rows.MarkRange() }

// Unmark unmarks all.
func (p *Page) Unmark() { p.rows.UnmarkAll() }

// OpenGroup lists the threads of the selected workflow. It gives the thread's id when a thread is selected.
func (p *Page) OpenGroup() (thread string) {
	r, ok := p.rows.Selected()
	switch {
	case !ok:
	case r.Thread != "":
		return r.Thread
	default:
		p.group = r.Workflow
		p.rows.UnmarkAll()
		p.fill()
		p.rows.First()
	}
	return ""
}

// Back lists the workflows again; false when they are listed.
func (p *Page) Back() bool {
	if p.group == "" {
		return false
	}
	group := p.group
	p.group = ""
	p.rows.UnmarkAll()
	p.fill()
	p.rows.SelectKey(Row{Workflow: group}.key())
	return true
}

// Chosen is the threads of the marked rows, else of the selected one.
func (p *Page) Chosen() []string {
	rows := p.rows.Marked()
	if len(rows) == 0 {
		if r, ok := p.rows.Selected(); ok {
			rows = []Row{r}
		}
	}
	var ids []string
	for _, r := range rows {
		if r.Thread != "" {
			ids = append(ids, r.Thread)
			continue
		}
		for _, t := range p.threads {
			if t.Workflow == r.Workflow {
				ids = append(ids, t.ID)
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// Bounds is what a prune of what is shown takes: the limits, and within them the marked rows or the open group.
func (p *Page) Bounds() (desk.Bounds, error) {
	b, err := p.limits.Parse(p.now())
	if err != nil {
		return b, err
	}
	if len(p.rows.Marked()) > 0 {
		b.All, b.Threads = false, p.Chosen()
	} else if p.group != "" {
		b.Workflow = []string{p.group}
	}
	return b, nil
}

// Running shows how far a prune is.
func (p *Page) Running(done, total int64) { p.running, p.done, p.total = true, done, total }

// Ended shows what came of it, and reads again.
func (p *Page) Ended(result string) tea.Cmd {
	p.running, p.result = false, result
	p.rows.UnmarkAll()
	return p.read()
}

// Busy tells whether a prune runs.
func (p *Page) Busy() bool { return p.running }
