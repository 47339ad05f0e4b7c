package inbox

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/ago"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/component"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/jsontree"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/pager"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// questionView is the pane of one question.
type questionView struct {
	theme   *theme.Theme
	pager   *pager.Pager
	tree    *jsontree.Tree // of content that is a JSON object or list
	treeOn  bool           // it is what is scrolled
	thread  string
	index   int
	current string // id of the question at index
	part    int    // the part of it that is shown, from 1; 0 the whole
	mode    mode

	wantThread, wantQuestion string // to be shown once its thread is open

	w      int             // cells of the body
	shown  mode            // the one that is to be seen
	editOf string          // entry of the outbox
	edit   json.RawMessage // its content

	wanted   string // key of the draft that is to be drawn
	built    string // key of the one that is
	identity string // of its question
	asked    string // and what is asked, whatever came of it since
	laying   bool   // a layout is being made beside
	ready    laid   // the last that was
	kinds    kinds

	doc     *jsontree.Document // in the tree
	docOf   string             // what asked about it
	docJSON json.RawMessage

	sideLines []string // the context at the side
	sideOf    string   // the key of what it was drawn for

	query  string // searched for
	beside int    // the match around what scrolls that was gone to, -1 for none
}

func newQuestionView(th *theme.Theme) questionView {
	return questionView{theme: th, pager: pager.New(th), tree: jsontree.New(th), beside: -1}
}

func (v *questionView) setTheme(th *theme.Theme) {
	v.theme = th
	v.pager.SetTheme(th)
	v.tree.SetTheme(th)
	v.built = ""
}

func (v *questionView) want(thread, question string) { v.wantThread, v.wantQuestion = thread, question }

// turn shows question i of the thread.
func (p *Page) turn(i int) {
	p.view.mode = asOpened
	p.view.setIndex(i, p.Detail().Questions[i].ID)
	p.view.part = 0
}

// show makes the view follow the selection: another thread starts at its first unanswered question, another reading
// of the same thread stays at the question it was at.
func (p *Page) show() {
	v, d := &p.view, p.Detail()
	if d == nil || len(d.Questions) == 0 {
		return
	}
	want := v.current
	if v.wantThread == d.ID {
		want = v.wantQuestion
		v.wantThread = ""
	}
	same := v.thread == d.ID
	v.thread = d.ID
	for i, q := range d.Questions {
		if q.ID == want {
			v.setIndex(i, q.ID)
			return
		}
	}
	first := 0
	for i, q := range d.Questions {
		if _, answered := p.Answered(q.ID); !answered {
			first = i
			break
		}
	}
	if !same || d.Questions[first].ID != v.current {
		v.mode = asOpened
	}
	v.setIndex(first, d.Questions[first].ID)
}

func (v *questionView) setIndex(i int, id string) {
	if id != v.current {
		v.part = 0
	}
	v.index, v.current = i, id
}

// NextMode shows the content in the next way there is, and says which.
func (p *Page) NextMode() string {
	v := &p.view
	q, ok := p.Current()
	if !ok {
		return "nothing is shown"
	}
	all := modes(q, v.kindsOf(q), p.edited(q), v.w)
	v.mode = all[(slices.Index(all, v.modeIn(all))+1)%len(all)]
	return modeNames[v.mode]
}

// ToggleWrap wraps long lines or cuts them.
func (p *Page) ToggleWrap() string {
	p.view.pager.SetWrap(!p.view.pager.Wrapped())
	p.view.tree.SetWrap(p.view.pager.Wrapped())
	if p.view.pager.Wrapped() {
		return "long lines are wrapped"
	}
	return "long lines are cut"
}

// scrolled is the part of the question that the moving keys move.
func (v *questionView) scrolled() component.Viewer {
	if v.treeOn {
		return v.tree
	}
	return v.pager
}

// ScrollQuestion scrolls the question by rows.
func (p *Page) ScrollQuestion(rows int) { p.view.scrolled().Scroll(rows) }

// HalfPage scrolls the question by half a page.
func (p *Page) HalfPage(d int) { p.view.scrolled().HalfPage(d) }

// Unfold opens (dir 1) or folds (dir -1) the part of a tree at the cursor, or turns it over (0). It is false where
// there is no tree or nothing to turn.
func (p *Page) Unfold(dir int) bool {
	if !p.view.treeOn {
		return false
	}
	switch dir {
	case 1:
		return p.view.tree.Unfold()
	case -1:
		return p.view.tree.Fold()
	}
	p.view.tree.Toggle()
	return true
}

// TreeAt is the path and the value of what is selected in a tree, and false where none is on screen.
func (p *Page) TreeAt() (path string, value json.RawMessage, ok bool) {
	if !p.view.treeOn || !p.view.tree.Seen() {
		return "", nil, false
	}
	return p.view.tree.Path(), p.view.tree.Value(), true
}

// MoveInQuestion scrolls the question as the moving keys say.
func (p *Page) MoveInQuestion(id command.ID) {
	switch id {
	case command.Down:
		p.view.scrolled().Scroll(1)
	case command.Up:
		p.view.scrolled().Scroll(-1)
	case command.PageDown:
		p.view.scrolled().Page(1)
	case command.PageUp:
		p.view.scrolled().Page(-1)
	case command.First:
		p.view.scrolled().Top()
	case command.Last:
		p.view.scrolled().Bottom()
	}
}

// edited is the content of an edit that is on its way, nil without one.
func (p *Page) edited(q desk.Question) json.RawMessage {
	e, ok := p.Answered(q.ID)
	a := actions.Action(e.Decision.Action)
	if !ok || a != actions.Edit && a != actions.Save {
		return nil
	}
	v := &p.view
	if v.editOf != e.ID {
		v.editOf, v.edit = e.ID, nil
		if answer, err := actions.Validate(q.Whole().Question, a, e.Decision.Data); err == nil {
			v.edit = answer.Value
		}
	}
	return v.edit
}

// viewQuestion draws the pane: heading, what is asked, and at the bottom how the content is shown.
func (p *Page) viewQuestion(w, h int) string {
	q, ok := p.Current()
	if !ok {
		return p.viewNoQuestion(w, h)
	}
	if r := p.rows.get(q.Thread); r != nil {
		r.opened = true
	}
	head, foot := p.arrange(q, w, h)
	lines := p.marked(head, 0)
	for _, l := range strings.Split(p.view.scrolled().View(), "\n") {
		lines = append(lines, " "+l)
	}
	// The position is known only now that the pager has its size.
	if len(foot) > 0 {
		foot[len(foot)-1] = p.positionLine(w)
	}
	return cell.Block(append(lines, foot...), w, h)
}

// arrange gives what scrolls its content and its room between heading and foot.
func (p *Page) arrange(q desk.Question, w, h int) (head, foot []string) {
	head, foot = p.questionHead(q, w), p.questionFoot(q, w, h)
	inner := max(w-2, 1)
	p.build(q, inner)
	p.view.scrolled().SetSize(inner, max(h-len(head)-len(foot), 1))
	return head, foot
}

// questionHead is title and time, where it is asked, and what came of the round before.
func (p *Page) questionHead(q desk.Question, w int) []string {
	t, now, d := p.theme, p.now(), p.Detail()
	title := sanitize.Line(q.Name())
	if p.OnePane() {
		title = "< " + title
	} else {
		title = " " + title
	}
	when := ago.Due(now, q.Due)
	asked := "asked " + ago.Ago(now, q.Asked)
	if long := strings.TrimSpace(asked + "  " + when); when == "" || cell.Width(title)+cell.Width(long)+3 <= w {
		when = long
	}
	style := t.Title
	right := t.Muted.Render(when + " ")
	if !q.Due.IsZero() && !q.Due.After(now) {
		right = t.Warning.Render(when + " ")
	}
	room := max(w-cell.Width(when)-3, 0)
	lines := []string{style.Render(cell.Fit(title, room+1)) + " " + right}
	where := " " + sanitize.Line(q.Workflow) + " / " + sanitize.Line(q.Address)
	var more []string
	if q.Round > 1 {
		more = append(more, fmt.Sprintf("round %d", q.Round))
	}
	if len(d.Questions) > 1 || w >= 60 {
		more = append(more, fmt.Sprintf("q%d/%d", p.view.index+1, len(d.Questions)))
	}
	if q.Of != nil {
		more = append(more, fmt.Sprintf("part %d/%d", q.Part, len(q.Of.Parts)))
	} else if n := len(q.Parts); n > 0 {
		more = append(more, fmt.Sprintf("%d parts", n))
	}
	if who := d.Claimed; who != "" && d.ClaimedUntil.After(now) {
		more = append(more, "@"+sanitize.Line(who))
	}
	lines = append(lines, t.Muted.Render(cell.Between(where, strings.Join(more, "  ")+" ", w)))
	if q.Round > 1 && (q.Feedback != "" || q.FormerAction != "") {
		by := sanitize.Line(q.FeedbackBy)
		if by == p.reviewer {
			by = "you"
		}
		lines = append(lines, t.Accent.Render(cell.Between(" "+roundBefore(q, by, "asked"), "", w)))
	}
	lines = append(lines, p.haltedLines(d, w)...)
	return append(lines, t.Border.Render(strings.Repeat("─", w)))
}

// haltedLines tells what has failed beside what is asked or sleeps, and what runs it again.
func (p *Page) haltedLines(d *desk.Detail, w int) []string {
	if !d.Halted() {
		return nil
	}
	what, way := d.Failure, p.unlessReadOnly(p.key(command.CarryOnBeside)+" carries on ")
	if what == "" {
		what = d.Error
	}
	if d.FailedNode != "" {
		what = d.FailedNode + " failed: " + what
	}
	return []string{p.theme.Danger.Render(cell.Between(" ! "+sanitize.Line(what), way, w))}
}

// questionFoot is what answering leads to, drafts and answers given here, and a place for the position.
func (p *Page) questionFoot(q desk.Question, w, h int) []string {
	t := p.theme
	var lines []string
	if e, ok := p.answers[q.ID]; ok {
		text, style := " "+done(e.Decision.Action)+" here, "+stateWord(e.State), t.Success
		if e.State == desk.Refused {
			text, style = " not sent: "+sanitize.Line(e.Err), t.Danger
		}
		lines = append(lines, style.Render(cell.Fit(text, w)))
	} else if text := p.verdictLine(q); text != "" {
		lines = append(lines, t.Accent.Render(cell.Fit(" "+text, w)))
	} else if x := p.Draft(q); x != nil {
		text := fmt.Sprintf(" ~ draft of %s kept: %s goes on with it", x.Action, p.key(command.ForAction(actions.Action(x.Action))))
		if x.NotSent {
			text = fmt.Sprintf(" ~ not sent: %s, kept as a draft; %s goes on with it", x.Action, p.key(command.ForAction(actions.Action(x.Action))))
		}
		lines = append(lines, t.Accent.Render(cell.Fit(text, w)))
	}
	if h >= 10 {
		text := " answering resumes the thread now"
		switch {
		case q.ResumesNow && w < 44:
			text = " answering resumes it now"
		case !q.ResumesNow && q.WaitsFor > 0:
			text = fmt.Sprintf(" resumes with this and %d more", q.WaitsFor)
		case !q.ResumesNow:
			text = " answered together with the others"
		}
		lines = append(lines, t.Muted.Render(cell.Fit(text, w)))
	}
	return append(lines, "")
}

func (p *Page) positionLine(w int) string {
	v := &p.view
	left := " " + strings.TrimSpace(p.key(command.DisplayMode)+" "+modeNames[v.shown])
	if q, ok := p.Current(); ok && v.shown == raw && v.mode == asOpened && len(q.Content) > rawAbove {
		left += ": over " + ago.Bytes(rawAbove)
	} else if v.built != v.wanted {
		left += ", being laid out ..."
	}
	right := v.scrolled().Position()
	if right == "empty" {
		right = ""
	}
	if s := p.searchState(); s != "" {
		left = " " + s
	}
	if cell.Width(left)+cell.Width(right)+2 > w {
		right = strings.TrimPrefix(right, "lines ")
	}
	return p.theme.Muted.Render(cell.Between(left, right+" ", w))
}

func stateWord(s desk.EntryState) string {
	switch s {
	case desk.Unsent:
		return "not sent yet"
	case desk.Held:
		return "sent once the thread rests"
	case desk.Queued:
		return "waits for a runner"
	case desk.Sending:
		return "the thread resumes"
	case desk.Sent:
		return "sent"
	}
	return string(s)
}

// Draft is what was typed for a question and not sent, nil without any.
func (p *Page) Draft(q desk.Question) *desk.Draft {
	var stored *desk.Draft
	if e := p.details.entry(q.Thread); e != nil {
		stored = e.drafts[q.ID]
	}
	if x, ok := p.judged[q.ID]; ok && (stored == nil || stored.Saved.Before(x.Saved)) {
		return &x
	}
	return stored
}
