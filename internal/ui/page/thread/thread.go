// Package thread is the page of one thread at work: its nodes as they run, what they print, how long it takes, and
// how it ended.
package thread

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/ago"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/pager"
	"github.com/hitl-tui/hitl-tui/internal/ui/content"
	"github.com/hitl-tui/hitl-tui/internal/ui/keymap"
	"github.com/hitl-tui/hitl-tui/internal/ui/path"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// Desk is what the page reads.
type Desk interface {
	Open(ctx context.Context, thread string) (*desk.Detail, error)
}

// keepLines is how many lines of output are kept of each thread, and keepThreads of how many threads.
const (
	keepLines   = 2000
	keepThreads = 32
)

// Page is the thread view.
type Page struct {
	ctx   context.Context
	desk  Desk
	now   func() time.Time
	theme *theme.Theme
	keys  *keymap.Map
	w, h  int

	thread string
	detail *desk.Detail
	err    error
	out    *pager.Pager
	runs   map[string]*run
	order  []string
	epoch  int // readings of an earlier one come too late
}

// run is what was heard of a thread that runs, or ran, in this session.
type run struct {
	since  time.Time
	nodes  []node
	output []string
	rested bool
}

type node struct {
	run, status  string
	since, until time.Time
}

// New makes the page.
func New(ctx context.Context, d Desk, th *theme.Theme, keys *keymap.Map, now func() time.Time) *Page {
	return &Page{ctx: ctx, desk: d, now: now, theme: th, keys: keys, out: pager.New(th), runs: map[string]*run{}}
}

// SetTheme changes the colours.
func (p *Page) SetTheme(th *theme.Theme) {
	p.theme = th
	p.out.SetTheme(th)
	p.fill()
}

// SetSize tells the page its room.
func (p *Page) SetSize(w, h int) {
	changed := w != p.w
	p.w, p.h = w, h
	if changed {
		p.fill()
	}
}

// Open shows a thread.
func (p *Page) Open(thread string) tea.Cmd {
	if thread != p.thread {
		p.thread, p.detail, p.err = thread, nil, nil
		p.out.SetSource(pager.Lines(nil))
	}
	p.fill()
	return p.read()
}

type readMsg struct {
	epoch  int
	thread string
	detail *desk.Detail
	err    error
}

func (p *Page) read() tea.Cmd {
	ctx, d, thread, epoch := p.ctx, p.desk, p.thread, p.epoch
	return func() tea.Msg {
		detail, err := d.Open(ctx, thread)
		return readMsg{epoch, thread, detail, err}
	}
}

// Forget drops what was read, because secrets are masked otherwise from now on, and reads again.
func (p *Page) Forget() tea.Cmd {
	if p.thread == "" {
		return nil
	}
	p.detail = nil
	p.epoch++
	p.fill()
	return p.read()
}

// Wake reads again when the thread may have changed.
func (p *Page) Wake(threads ...string) tea.Cmd {
	if p.thread == "" || !slices.Contains(threads, p.thread) && !slices.Contains(threads, "") {
		return nil
	}
	return p.read()
}

// Update takes the page's own messages.
func (p *Page) Update(msg tea.Msg) tea.Cmd {
	if msg, ok := msg.(readMsg); ok && msg.thread == p.thread && msg.epoch == p.epoch {
		p.err = msg.err
		if msg.err == nil {
			p.detail = msg.detail
		}
		p.fill()
	}
	return nil
}

// Detail is the thread shown, nil until it was read.
func (p *Page) Detail() *desk.Detail { return p.detail }

// Live tells whether the thread shown runs here, so that its elapsed time goes on.
func (p *Page) Live() bool {
	r := p.runs[p.thread]
	return r != nil && !r.rested
}

// Heard takes what a run reports, whether its thread is shown or not.
func (p *Page) Heard(e desk.Event) {
	r := p.runs[e.Thread]
	if r == nil || r.rested && e.Kind == desk.Progress {
		r = &run{since: e.At}
		if p.runs[e.Thread] == nil {
			p.order = append(p.order, e.Thread)
		}
		p.runs[e.Thread] = r
		if len(p.order) > keepThreads {
			delete(p.runs, p.order[0])
			p.order = p.order[1:]
		}
	}
	switch e.Kind {
	case desk.Rested, desk.RunFailed:
		r.rested = true
		if e.Text != "" {
			r.output = append(r.output, e.Text)
		}
	default:
		r.heard(e)
	}
	if e.Thread == p.thread {
		p.fill()
	}
}

func (r *run) heard(e desk.Event) {
	if e.Node != "" && e.Status != "" {
		i := slices.IndexFunc(r.nodes, func(n node) bool { return n.run == e.Run })
		if i < 0 {
			r.nodes = append(r.nodes, node{run: e.Run, since: e.At})
			i = len(r.nodes) - 1
		}
		n := &r.nodes[i]
		n.status = e.Status
		if done(e.Status) {
			n.until = e.At
		}
	}
	if e.Text != "" {
		r.output = append(r.output, strings.Split(strings.TrimRight(e.Text, "\n"), "\n")...)
		r.output = r.output[max(len(r.output)-keepLines, 0):]
	}
}

func done(status string) bool {
	switch strings.ToUpper(status) {
	case "COMPLETED", "FAILED", "CANCELLED", "WAITING":
		return true
	}
	return false
}

// Scroll scrolls the output.
func (p *Page) Scroll(rows int) { p.out.Scroll(rows) }

// PageBy scrolls the output by windows.
func (p *Page) PageBy(d int) { p.out.Page(d) }

// Top goes to the start of the output, Bottom to its end.
func (p *Page) Top() { p.out.Top() }

// Bottom goes to the end.
func (p *Page) Bottom() { p.out.Bottom() }

// ToggleWrap wraps long lines or cuts them.
func (p *Page) ToggleWrap() { p.out.SetWrap(!p.out.Wrapped()) }

// fill puts what there is to read into the pager, and stays at the end of a growing output.
func (p *Page) fill() {
	t := p.theme
	follow := p.out.AtBottom()
	var parts []pager.Source
	d := p.detail
	r := p.runs[p.thread]
	switch {
	case p.err != nil:
		parts = append(parts, pager.Text("Cannot be read: "+p.err.Error()))
	case d == nil:
	case d.Failure != "" || d.Error != "":
		text := d.Failure
		if text == "" {
			text = d.Error
		}
		parts = append(parts, content.Heading(t, "error"), pager.Text(text), content.Blank())
		follow = false
	case len(d.Outputs) > 0:
		parts = append(parts, content.Heading(t, "outputs"), content.Of(d.Outputs, "json").Rendered(t, p.w), content.Blank())
		follow = false
	}
	if r != nil && len(r.output) > 0 {
		parts = append(parts, content.Heading(t, "output lines"), pager.Text(strings.Join(r.output, "\n")))
	}
	p.out.Replace(pager.Join(parts...))
	if follow {
		p.out.Bottom()
	}
}

// View draws the page in exactly its size.
func (p *Page) View() string {
	lines := p.head()
	nodes := p.nodes(max(p.h/2-2, 3))
	if len(nodes) > 0 || p.detail == nil {
		lines = append(append(lines, nodes...), p.theme.Border.Render(strings.Repeat("─", p.w)))
	}
	room := max(p.h-len(lines)-1, 1)
	p.out.SetSize(max(p.w-2, 1), room)
	if p.out.Len() == 0 {
		for _, l := range cell.WrapText(p.nothing(), max(p.w-2, 1)) {
			lines = append(lines, p.theme.Muted.Render(" "+l))
		}
	} else {
		for _, l := range strings.Split(p.out.View(), "\n") {
			lines = append(lines, " "+l)
		}
	}
	for len(lines) < p.h-1 {
		lines = append(lines, "")
	}
	if p.out.Len() > 0 {
		lines = append(lines, p.theme.Muted.Render(cell.Right(p.out.Position()+" ", p.w)))
	}
	return cell.Block(lines, p.w, p.h)
}

func (p *Page) nothing() string {
	switch {
	case p.detail == nil:
		return "Reading ..."
	case p.Live():
		return "Nothing was printed yet."
	case p.detail.Status == "interrupted":
		return "It waits for an answer: " + p.keys.Key(command.Back) + " goes back to the list, where it can be given."
	case p.detail.Status == "running" && p.detail.Holder == "":
		return "It runs elsewhere; what it prints is seen there."
	case p.detail.Status == "running":
		return "It is run by " + sanitize.Line(p.detail.Holder) + "; what it prints is seen there."
	}
	return "Nothing was printed in this session."
}

func (p *Page) head() []string {
	t := p.theme
	if p.detail == nil {
		return []string{t.Title.Render(cell.Fit(" < "+p.thread, p.w))}
	}
	d := p.detail
	status := d.Status
	style := t.Muted
	switch status {
	case "failed", "stalled":
		style = t.Danger
	case "running":
		style = t.Accent
	case "done":
		style = t.Success
	}
	if r := p.runs[p.thread]; r != nil && !r.rested {
		status = "running " + ago.Took(p.now().Sub(r.since))
		style = t.Accent
	}
	room := max(p.w-cell.Width(status)-2, 0)
	return []string{
		t.Title.Render(cell.Fit(" < "+sanitize.Line(d.Title), room)) + " " + style.Render(status+" "),
		t.Muted.Render(cell.Between(" "+sanitize.Line(d.Workflow)+"  "+d.Short, "changed "+ago.Ago(p.now(), d.Updated)+" ", p.w)),
		t.Border.Render(strings.Repeat("─", p.w)),
	}
}

// nodes lists the node runs: those of the way here, then those of the run that goes on.
func (p *Page) nodes(room int) []string {
	var here, before []desk.PathStep
	seen := map[string]bool{}
	if r := p.runs[p.thread]; r != nil {
		for _, n := range r.nodes {
			seen[n.run] = true
			until := n.until
			if until.IsZero() {
				until = p.now()
			}
			here = append(here, desk.PathStep{Run: n.run, Status: n.status, TookMS: until.Sub(n.since).Milliseconds()})
		}
	}
	if p.detail != nil {
		before = slices.DeleteFunc(path.Latest(p.detail.Path), func(s desk.PathStep) bool { return seen[s.Run] })
	}
	var lines []string
	for _, s := range path.Fold(append(before, here...)) {
		mark, style := glyph(p.theme, s.Status)
		right := ago.Took(time.Duration(s.TookMS)*time.Millisecond) + "  " + strings.ToLower(s.Status) + " "
		if s.Decision != "" {
			right = sanitize.Line(s.Decision) + "  " + right
		}
		run := path.Short(sanitize.Line(s.Run), max(p.w-4-cell.Width(right), p.w/2))
		lines = append(lines, style(cell.Between(" "+mark+" "+run, right, p.w)))
	}
	return lines[max(len(lines)-room, 0):]
}

// glyph is the mark and the style of a node's status.
func glyph(t *theme.Theme, status string) (string, func(...string) string) {
	switch strings.ToUpper(status) {
	case "COMPLETED":
		return "v", t.Success.Render
	case "FAILED":
		return "x", t.Danger.Render
	case "CANCELLED":
		return "-", t.Muted.Render
	case "WAITING":
		return "?", t.Warning.Render
	}
	return ".", t.Accent.Render
}
