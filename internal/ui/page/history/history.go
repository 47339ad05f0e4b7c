// Package history is the page of one thread's steps: what each did, the state at any of them, the difference of two.
package history

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/ago"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/list"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/pager"
	"github.com/hitl-tui/hitl-tui/internal/ui/keymap"
	"github.com/hitl-tui/hitl-tui/internal/ui/path"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// Desk is what the page reads.
type Desk interface {
	Open(ctx context.Context, thread string) (*desk.Detail, error)
	History(ctx context.Context, thread string) ([]desk.Step, error)
	StateAt(ctx context.Context, thread string, step int64) (*desk.State, error)
	Diff(ctx context.Context, thread string, a, b int64) ([]desk.KeyDiff, error)
	Graph(ctx context.Context, thread string) (*desk.Graph, error)
}

// narrow is the width under which steps and the right pane do not fit side by side.
const narrow = 72

// Page is the history of one thread.
type Page struct {
	ctx   context.Context
	desk  Desk
	now   func() time.Time
	theme *theme.Theme
	w, h  int

	thread string
	detail *desk.Detail
	err    error
	steps  *list.List[desk.Step]
	graph  chart
	keys   *keymap.Map

	right     *pager.Pager
	title     string // of the right pane
	showRight bool   // narrow: the right pane instead of the steps
	sameShown bool   // unchanged keys of a diff unfolded
	shown     *shown
	want      string // what the right pane is to show; a reading of anything else comes too late
	epoch     int    // readings of an earlier one come too late
}

// shown is what the right pane holds.
type shown struct {
	state *desk.State
	diff  []desk.KeyDiff
	a, b  int64
}

// New makes the page.
func New(ctx context.Context, d Desk, th *theme.Theme, keys *keymap.Map, now func() time.Time) *Page {
	p := &Page{ctx: ctx, desk: d, now: now, theme: th, keys: keys, right: pager.New(th)}
	p.steps = list.New(th, func(s desk.Step) string { return fmt.Sprint(s.Step) }, p.viewStep)
	p.steps.SetEmpty("Reading ...")
	return p
}

// SetTheme changes the colours.
func (p *Page) SetTheme(th *theme.Theme) {
	p.theme = th
	p.steps.SetTheme(th)
	p.right.SetTheme(th)
	p.fill()
}

// SetSize tells the page its room.
func (p *Page) SetSize(w, h int) {
	if w != p.w {
		p.w, p.h = w, h
		p.fill()
	}
	p.w, p.h = w, h
}

// Open shows the history of a thread.
func (p *Page) Open(thread string) tea.Cmd {
	if thread != p.thread {
		p.thread, p.detail, p.err, p.shown, p.showRight = thread, nil, nil, nil, false
		p.graph = chart{on: p.graph.on}
		p.steps.SetItems(nil)
		p.steps.UnmarkAll()
		p.right.SetSource(pager.Lines(nil))
		p.title = ""
	}
	return p.read()
}

type readMsg struct {
	thread  string
	detail  *desk.Detail
	steps   []desk.Step
	graph   *desk.Graph // nil: it cannot be told, see noGraph
	noGraph error
	names   []string // of its nodes, from top to bottom
	err     error
}

type stateMsg struct {
	want  string
	state *desk.State
	err   error
}

type diffMsg struct {
	want string
	a, b int64
	diff []desk.KeyDiff
	err  error
}

func (p *Page) read() tea.Cmd {
	ctx, d, thread := p.ctx, p.desk, p.thread
	return func() tea.Msg {
		msg := readMsg{thread: thread}
		if msg.detail, msg.err = d.Open(ctx, thread); msg.err == nil {
			msg.steps, msg.err = d.History(ctx, thread)
			msg.graph, msg.noGraph = d.Graph(ctx, thread)
			msg.names = namesOf(msg.graph)
		}
		return msg
	}
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
	switch msg := msg.(type) {
	case readMsg:
		if msg.thread != p.thread {
			return nil
		}
		p.err = msg.err
		if msg.err != nil {
			p.steps.SetEmpty("Cannot be read: " + sanitize.Line(msg.err.Error()) + ". " + p.keys.Key(command.ReadAgain) + " reads again.")
			return nil
		}
		first := p.detail == nil
		p.detail = msg.detail
		p.graph.set(msg.graph, msg.noGraph, msg.names)
		p.steps.SetItems(msg.steps)
		p.steps.SetEmpty("This thread has no steps any more.")
		if first {
			p.steps.Last()
			return p.moved()
		}
	case laidMsg:
		p.laid(msg)
	case stateMsg:
		if msg.want == p.want {
			p.took(&shown{state: msg.state}, msg.err)
		}
	case diffMsg:
		if msg.want == p.want {
			p.took(&shown{diff: msg.diff, a: msg.a, b: msg.b}, msg.err)
		}
	}
	return nil
}

func (p *Page) took(s *shown, err error) {
	if err != nil {
		p.shown = nil
		p.title = "cannot be read"
		p.right.SetText(err.Error())
		return
	}
	p.shown = s
	p.right.SetSource(pager.Lines(nil))
	p.fill()
}

// Selected is the step that is selected.
func (p *Page) Selected() (desk.Step, bool) { return p.steps.Selected() }

// Thread is the thread shown.
func (p *Page) Thread() *desk.Detail { return p.detail }

// Move moves the selection; the state at the step follows.
func (p *Page) Move(n int) tea.Cmd {
	if p.graph.shown() {
		return p.toNode(p.graph.move(n))
	}
	p.steps.Move(n)
	return p.moved()
}

// First goes to the first step, Last to the last.
func (p *Page) First() tea.Cmd {
	if p.graph.shown() {
		return p.toNode(p.graph.move(-len(p.graph.names)))
	}
	p.steps.First()
	return p.moved()
}

// Last goes to the last step.
func (p *Page) Last() tea.Cmd {
	if p.graph.shown() {
		return p.toNode(p.graph.move(len(p.graph.names)))
	}
	p.steps.Last()
	return p.moved()
}

// moved shows the state at the step that was moved to.
func (p *Page) moved() tea.Cmd {
	p.follow()
	return p.state(false)
}

// Show opens the state at the selected step.
func (p *Page) Show() tea.Cmd { return p.state(true) }

func (p *Page) state(focus bool) tea.Cmd {
	s, ok := p.steps.Selected()
	if !ok {
		return nil
	}
	if focus {
		p.showRight = true
	}
	want := fmt.Sprintf("%s state %d in %d", p.thread, s.Step, p.epoch)
	if want == p.want && p.shown != nil {
		return nil
	}
	p.want = want
	ctx, d, thread := p.ctx, p.desk, p.thread
	return func() tea.Msg {
		state, err := d.StateAt(ctx, thread, s.Step)
		return stateMsg{want: want, state: state, err: err}
	}
}

// Diff compares the two marked steps, else the selected with the one before it. It says why when it cannot.
func (p *Page) Diff() (cmd tea.Cmd, why string) {
	s, ok := p.steps.Selected()
	if !ok {
		return nil, "there are no steps"
	}
	a, b := s.Step-1, s.Step
	switch marked := p.steps.Marked(); {
	case len(marked) == 2:
		a, b = marked[0].Step, marked[1].Step
	case len(marked) > 2:
		return nil, fmt.Sprintf("%d steps are marked: a diff has two ends", len(marked))
	case len(marked) == 1 && marked[0].Step != s.Step:
		a, b = min(marked[0].Step, s.Step), max(marked[0].Step, s.Step)
	case a < 0:
		return nil, "step 0 is the first: mark another with Space"
	}
	p.showRight = true
	return p.diff(a, b), ""
}

func (p *Page) diff(a, b int64) tea.Cmd {
	want := fmt.Sprintf("%s diff %d %d in %d", p.thread, a, b, p.epoch)
	p.want = want
	ctx, d, thread := p.ctx, p.desk, p.thread
	return func() tea.Msg {
		diff, err := d.Diff(ctx, thread, a, b)
		return diffMsg{want: want, a: a, b: b, diff: diff, err: err}
	}
}

// Forget drops the state or diff that is shown, because secrets are masked otherwise from now on, and reads it again.
func (p *Page) Forget() tea.Cmd {
	was := p.shown
	p.shown, p.want = nil, ""
	p.epoch++
	p.right.SetSource(pager.Lines(nil))
	if was != nil && was.state == nil {
		return p.diff(was.a, was.b)
	}
	return p.state(false)
}

// Mark marks the selected step as an end of a diff.
func (p *Page) Mark() { p.steps.ToggleMark() }

// Unfold shows or hides the keys that did not change.
func (p *Page) Unfold() {
	p.sameShown = !p.sameShown
	p.fill()
}

// Scroll scrolls the right pane.
func (p *Page) Scroll(rows int) { p.right.Scroll(rows) }

// HalfPage scrolls the right pane by half a page.
func (p *Page) HalfPage(d int) { p.right.HalfPage(d) }

// ToggleWrap wraps long lines or cuts them.
func (p *Page) ToggleWrap() { p.right.SetWrap(!p.right.Wrapped()) }

// Back leaves the right pane where it alone is shown; false when there is nothing to go back from.
func (p *Page) Back() bool {
	if p.w < narrow && p.showRight {
		p.showRight = false
		return true
	}
	return false
}

// State is the state that is shown, nil when it is not a state.
func (p *Page) State() *desk.State {
	if p.shown == nil {
		return nil
	}
	return p.shown.state
}

// AtHead tells whether the selected step is the last.
func (p *Page) AtHead() bool { return p.steps.Len() > 0 && p.steps.Index() == p.steps.Len()-1 }

func (p *Page) viewStep(s desk.Step, w int, _ list.State) []string {
	what, style := ago.Bytes(s.SizeBytes), p.theme.Muted
	switch {
	case s.Error != "":
		what, style = "failed", p.theme.Danger
	case len(s.Decisions) > 0:
		d := s.Decisions[len(s.Decisions)-1]
		what, style = sanitize.Line(d.Action+" "+d.Reviewer), p.theme.Accent
	case s.Status == "interrupted":
		what = "waits"
	}
	took := "-"
	if s.TookMS > 0 {
		took = ago.Took(time.Duration(s.TookMS) * time.Millisecond)
	}
	last := whatWidth(w)
	room := max(w-5-tookWidth-1-last, 4)
	node := sanitize.Line(path.Line(s.Nodes, room))
	if node == "" {
		node = s.Source
	}
	return []string{cell.Right(fmt.Sprint(s.Step), 4) + " " + cell.Fit(node, room) + cell.Right(took, tookWidth) + " " + style.Render(cell.Right(what, last))}
}

// tookWidth is the width of the column of times.
const tookWidth = 6

// whatWidth is the width of the last column of a step.
func whatWidth(w int) int { return min(max(w*36/100, 9), 22) }

func keysOf(m map[string]json.RawMessage) []string { return slices.Sorted(maps.Keys(m)) }
