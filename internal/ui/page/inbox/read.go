package inbox

import (
	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
)

const (
	pageSize  = 200 // threads read at once
	slack     = 50  // read beyond what is loaded, so that new rows push out none
	keepOpen  = 64  // opened threads kept
	nearEnd   = 60  // rows before the end of what is loaded at which the next page is fetched
	whoAtMost = 20  // rows that left the list whose decision is looked up
)

// Reading tells whether something is on its way that may change what is drawn.
func (p *Page) Reading() bool { return p.reading || p.details.reading != "" }

type listMsg struct {
	gen    int
	page   desk.Page
	counts desk.Counts
	drafts map[string]bool
	more   bool // appended to what is there
	find   int  // a search that waits for it: +1 or -1
	err    error
}

type openedMsg struct {
	epoch  int
	thread string
	detail *desk.Detail
	draft  map[string]*desk.Draft
	err    error
}

type fateMsg struct {
	gen   int
	rows  map[string]desk.DecisionRow
	state map[string]string
}

// restart empties the list and reads it anew.
func (p *Page) restart() tea.Cmd {
	p.gen++
	p.rows = rows{}
	p.list.SetItems(nil)
	p.list.UnmarkAll()
	p.err = nil
	p.reading, p.again = false, false
	return p.Reload()
}

// Reload reads everything again that was read so far. While one reading is on its way no second begins; it follows.
func (p *Page) Reload() tea.Cmd {
	if p.reading {
		p.again = true
		return nil
	}
	p.reading = true
	want := max(len(p.rows.list)+slack, pageSize)
	return p.read(want, "", false, 0)
}

// loadMore fetches the next page when the selection comes near the end of what is loaded.
func (p *Page) loadMore() tea.Cmd {
	if p.reading || p.rows.next == "" || p.list.Index() < len(p.rows.list)-nearEnd {
		return nil
	}
	p.reading = true
	return p.read(pageSize, p.rows.next, true, 0)
}

// loadAll fetches the rest of the list: for its end, and for a search that found nothing yet. find goes on with the
// search in that direction.
func (p *Page) loadAll(find int) tea.Cmd {
	if p.reading || p.rows.next == "" {
		return nil
	}
	p.reading = true
	return p.read(int(^uint(0)>>1), p.rows.next, true, find)
}

func (p *Page) read(want int, after string, more bool, find int) tea.Cmd {
	ctx, d, gen := p.ctx, p.desk, p.gen
	q := desk.Query{Tab: p.tab, Filter: p.filter, Sort: p.order(), After: after}
	return func() tea.Msg {
		msg := listMsg{gen: gen, more: more, find: find}
		for {
			q.Limit = min(want-len(msg.page.Threads), pageSize)
			got, err := d.Threads(ctx, q)
			if err != nil {
				msg.err = err
				return msg
			}
			msg.page.Threads = append(msg.page.Threads, got.Threads...)
			msg.page.Next, q.After = got.Next, got.Next
			if got.Next == "" || len(msg.page.Threads) >= want || len(got.Threads) == 0 {
				break
			}
		}
		if !more {
			msg.drafts = d.Drafts()
			msg.counts, msg.err = d.Counts(ctx)
		}
		return msg
	}
}

// Update takes the page's own messages and ignores all others.
func (p *Page) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case listMsg:
		return p.listed(msg)
	case openedMsg:
		return p.opened(msg)
	case laidMsg:
		p.view.ready, p.view.laying = msg.laid, false
	case fateMsg:
		p.fated(msg)
	}
	return nil
}

func (p *Page) listed(msg listMsg) tea.Cmd {
	if msg.gen != p.gen {
		return nil
	}
	p.reading = false
	p.err = msg.err
	if msg.err != nil {
		p.rows.read = true
		return nil
	}
	var newly []string
	if msg.more {
		p.rows.add(msg.page)
	} else {
		newly = p.rows.replace(msg.page, p.sel())
		p.counts, p.drafts = msg.counts, msg.drafts
	}
	p.list.SetItems(p.rows.list)
	cmds := []tea.Cmd{p.open(), p.fates(newly)}
	if p.again {
		p.again = false
		cmds = append(cmds, p.Reload())
	}
	if msg.find != 0 {
		cmds = append(cmds, p.Find(msg.find))
	}
	return tea.Batch(cmds...)
}

// Wake is told that threads may have changed; "" is any of them.
func (p *Page) Wake(threads ...string) tea.Cmd {
	for _, t := range threads {
		p.details.forget(t)
	}
	return tea.Batch(p.Reload(), p.open())
}

// Forget drops what was read of threads, because secrets are masked otherwise from now on, and reads again.
func (p *Page) Forget() tea.Cmd {
	p.details = details{reading: p.details.reading, epoch: p.details.epoch + 1}
	p.view.built, p.view.identity, p.view.kinds = "", "", kinds{} // what was laid out with other masks is not to be seen while it is laid out anew
	return p.Wake()
}

// open reads the selected thread unless what is known of it is fresh. One reading at a time: holding j does not
// read every thread it passes.
func (p *Page) open() tea.Cmd {
	p.show()
	id := p.sel()
	if id == "" || p.details.reading != "" || p.details.fresh(id) {
		return nil
	}
	p.details.reading = id
	p.details.dirty = false
	ctx, d, epoch := p.ctx, p.desk, p.details.epoch
	return func() tea.Msg {
		detail, err := d.Open(ctx, id)
		msg := openedMsg{epoch: epoch, thread: id, detail: detail, err: err}
		if err == nil {
			msg.draft = map[string]*desk.Draft{}
			for _, q := range detail.Questions {
				if x := d.Draft(q); x != nil {
					msg.draft[q.ID] = x
				}
			}
		}
		return msg
	}
}

func (p *Page) opened(msg openedMsg) tea.Cmd {
	p.details.reading = ""
	if msg.epoch == p.details.epoch {
		p.details.put(msg, p.details.dirty)
	}
	return p.open()
}

// fates looks up who decided the rows that left the list.
func (p *Page) fates(threads []string) tea.Cmd {
	if len(threads) == 0 {
		return nil
	}
	threads = threads[:min(len(threads), whoAtMost)]
	ctx, d, gen := p.ctx, p.desk, p.gen
	return func() tea.Msg {
		msg := fateMsg{gen: gen, rows: map[string]desk.DecisionRow{}, state: map[string]string{}}
		for _, t := range threads {
			if got, err := d.Decisions(ctx, t, 1); err == nil && len(got) > 0 {
				msg.rows[t] = got[0]
			}
			if x, err := d.Open(ctx, t); err == nil {
				msg.state[t] = x.Status
			} else if ctx.Err() == nil {
				msg.state[t] = "deleted"
			}
		}
		return msg
	}
}

func (p *Page) fated(msg fateMsg) {
	if msg.gen != p.gen {
		return
	}
	for id, state := range msg.state {
		r := p.rows.get(id)
		if r == nil {
			continue
		}
		r.fate, r.Status = state, state
		if d, ok := msg.rows[id]; ok {
			r.fate, r.fateAt = done(d.Action)+" by "+d.Reviewer, d.DecidedAt
		}
	}
}

// done is an action's past participle.
func done(action string) string {
	if info, ok := actions.Describe(actions.Action(action)); ok {
		return info.Done
	}
	return action
}

// details keeps the threads opened last.
type details struct {
	byID    map[string]*detailEntry
	order   []string
	reading string // the thread being read
	dirty   bool   // and it changed meanwhile
	epoch   int    // what was read in an earlier one is no longer shown
}

type detailEntry struct {
	detail *desk.Detail
	drafts map[string]*desk.Draft
	err    error
	stale  bool
}

func (d *details) get(id string) *desk.Detail {
	if e := d.byID[id]; e != nil {
		return e.detail
	}
	return nil
}

func (d *details) entry(id string) *detailEntry { return d.byID[id] }

func (d *details) fresh(id string) bool {
	e := d.byID[id]
	return e != nil && !e.stale
}

func (d *details) put(msg openedMsg, stale bool) {
	if d.byID == nil {
		d.byID = map[string]*detailEntry{}
	}
	if d.byID[msg.thread] == nil {
		d.order = append(d.order, msg.thread)
	}
	d.byID[msg.thread] = &detailEntry{detail: msg.detail, drafts: msg.draft, err: msg.err, stale: stale}
	if len(d.order) > keepOpen {
		delete(d.byID, d.order[0])
		d.order = d.order[1:]
	}
}

// forget marks what is known of a thread, or with "" of all, as no longer true; it is shown until read again.
func (d *details) forget(id string) {
	if id == "" || id == d.reading {
		d.dirty = true
	}
	if id != "" {
		if e := d.byID[id]; e != nil {
			e.stale = true
		}
		return
	}
	for _, e := range d.byID {
		e.stale = true
	}
}
