package inbox

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/ago"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/content"
	"github.com/hitl-tui/hitl-tui/internal/ui/path"
)

// layout fits the parts into the page.
func (p *Page) layout() {
	p.list.SetSize(p.boxes().list, p.h-p.listHead())
	p.list.SetRowHeight(p.rowHeight())
}

// View draws the page in exactly its size.
func (p *Page) View() string {
	b := p.boxes()
	sep := p.theme.Border.Render("│")
	var panes []string
	if b.list > 0 {
		panes = append(panes, p.viewList(b.list))
	}
	if b.question > 0 {
		panes = append(panes, p.viewQuestion(b.question, p.h))
	}
	if b.side > 0 {
		panes = append(panes, p.viewSide(b.side, p.h))
	}
	return cell.Columns(sep, panes...)
}

// viewNoQuestion says of a thread that asks nothing what it is doing, or what went wrong.
func (p *Page) viewNoQuestion(w, h int) string {
	t := p.theme
	sel := p.Selected()
	if sel == nil {
		return cell.Block(nil, w, h)
	}
	e := p.details.entry(sel.ID)
	lines := []string{t.Title.Render(cell.Fit(" "+sanitize.Line(sel.Title), w)),
		t.Muted.Render(cell.Fit(" "+place(&row{Thread: *sel})+"  "+p.Status(), w)), t.Border.Render(strings.Repeat("─", w))}
	switch {
	case e == nil:
		lines = append(lines, t.Muted.Render(" Reading ..."))
	case e.err != nil:
		lines = append(lines, wrapped(t.Danger.Render, "Cannot be read: "+e.err.Error(), w)...)
		lines = append(lines, "", " "+p.key(command.ReadAgain)+" reads again.")
	default:
		lines = append(lines, p.threadLines(e.detail, w)...)
	}
	return cell.Block(lines, w, h)
}

// threadLines is the state of a thread that asks nothing.
func (p *Page) threadLines(d *desk.Detail, w int) []string {
	t := p.theme
	var lines []string
	switch d.Status {
	case "failed", "stalled":
		text := d.Failure
		if text == "" {
			text = d.Error
		}
		if text == "" {
			text = "No program runs this thread any more."
		}
		if d.FailedNode != "" {
			lines = append(lines, t.Danger.Render(cell.Fit(" failed at "+sanitize.Line(d.FailedNode), w)), "")
		}
		lines = append(lines, wrapped(t.Text.Render, text, w)...)
		lines = append(lines, "", t.Muted.Render(p.unlessReadOnly(" "+p.key(command.CarryOn)+" carries on,")+" "+p.key(command.OpenHistory)+" shows the history"))
	case "running":
		lines = append(lines, " Running"+nodes(d)+".", "", t.Muted.Render(" "+p.key(command.WatchThread)+" watches it"+p.unlessReadOnly(", "+p.key(command.CancelRun)+" cancels the run")))
	case "sleeping":
		lines = append(lines, " Sleeps until "+d.Due.Local().Format("2006-01-02 15:04")+", then runs on by itself.")
		lines = append(lines, p.haltedLines(d, w)...)
	default:
		lines = append(lines, " "+strings.ToUpper(d.Status[:min(1, len(d.Status))])+d.Status[min(1, len(d.Status)):]+" "+ago.Ago(p.now(), d.Updated)+".", "")
		if len(d.Outputs) > 0 {
			src := content.Of(d.Outputs, "json").Rendered(t, w-2)
			for i := range min(src.Len(), max(p.h-8, 1)) {
				lines = append(lines, " "+src.Line(i))
			}
		}
		lines = append(lines, "", t.Muted.Render(" "+p.key(command.OpenHistory)+" shows the history"))
	}
	return lines
}

// unlessReadOnly is a hint at what changes something.
func (p *Page) unlessReadOnly(hint string) string {
	if p.readOnly {
		return ""
	}
	return hint
}

func nodes(d *desk.Detail) string {
	if len(d.Next) == 0 {
		return ""
	}
	return " " + sanitize.Line(strings.Join(d.Next, ", "))
}

func wrapped(style func(...string) string, text string, w int) []string {
	var lines []string
	for _, l := range cell.WrapText(sanitize.Text(text), max(w-2, 1)) {
		lines = append(lines, " "+style(l))
	}
	return lines
}

// viewSide draws what surrounds the question.
func (p *Page) viewSide(w, h int) string {
	lines, _ := p.side(w, h)
	from := 0
	if q, ok := p.Current(); ok && p.view.query != "" {
		from = len(p.questionHead(q, p.boxes().question))
	}
	return cell.Block(p.marked(lines, from), w, h)
}

// side is what surrounds the question: what can be done, the rounds, the way here, the context, the thread. whole tells
// whether all of the context is there.
func (p *Page) side(w, h int) (lines []string, whole bool) {
	q, ok := p.Current()
	d := p.Detail()
	if d == nil {
		return nil, false
	}
	section := func(title string, more []string) {
		if len(more) == 0 {
			return
		}
		if len(lines) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, " "+p.theme.Heading.Render(title))
		lines = append(lines, more...)
	}
	if ok && !p.readOnly {
		section("WHAT YOU CAN DO", p.sideActions(q, w))
	}
	if ok {
		section("ROUNDS", p.sideRounds(q, w))
	}
	section("PATH", p.sidePath(d, w, max(h/4, 4)))
	if ok && len(q.Context) > 0 {
		more, all := p.sideContext(q, w, max(h/4, 4))
		section("CONTEXT", more)
		whole = all && len(lines) <= h
	}
	section("THREAD", p.sideThread(d, w))
	if ok {
		more := []string{" " + ago.Bytes(int64(len(q.Payload)+len(q.Content)))}
		if len(q.ShownHash) >= 8 {
			more[0] += "  sha256 " + q.ShownHash[:8] + "…"
		}
		section("PAYLOAD", more)
	}
	return lines, whole
}

// sideContext is the context in at most h lines, and whether nothing of it is cut.
func (p *Page) sideContext(q desk.Question, w, h int) (lines []string, whole bool) {
	v := &p.view
	if key := fmt.Sprintf("%s\x00%d\x00%v\x00%s\x00%d", identity(q), w, v.theme.Dark, v.theme.Name, p.details.epoch); v.sideOf != key {
		v.sideOf, v.sideLines = key, nil
		src := content.Context(p.theme, q.Context, w-2, false)
		for i := range src.Len() {
			v.sideLines = append(v.sideLines, " "+src.Line(i))
		}
	}
	whole = len(v.sideLines) <= h && !slices.ContainsFunc(v.sideLines, func(l string) bool { return strings.Contains(l, "…") || cell.Width(l) > w })
	if whole {
		return slices.Clone(v.sideLines), true
	}
	lines = slices.Clone(v.sideLines[:min(len(v.sideLines), h-1)])
	return append(lines, p.theme.Muted.Render(cell.Clip(" all of it stands below the question", w))), false
}

// contextBeside tells whether all of the context of a question stands at the side.
func (p *Page) contextBeside(q desk.Question) bool {
	b := p.boxes()
	if b.side == 0 || len(q.Context) == 0 {
		return false
	}
	_, whole := p.side(b.side, p.h)
	return whole
}

func (p *Page) sideActions(q desk.Question, w int) []string {
	var lines []string
	permitted := q.Permitted()
	for _, c := range permitted {
		text := fmt.Sprintf("%s  %-10s", p.theme.Key.Render(" "+p.key(command.ForAction(c.Action))), c.Action)
		if c.Leads != "" {
			text += p.theme.Muted.Render(" > " + sanitize.Line(c.Leads))
		}
		if c.NeedsComment {
			text += p.theme.Muted.Render(", why")
		}
		lines = append(lines, cell.Clip(text, w))
	}
	if refused := len(q.Choices) - len(permitted); refused > 0 {
		lines = append(lines, p.theme.Muted.Render(cell.Clip(fmt.Sprintf(" %d more: %s says why not", refused, p.key(command.ActionsMenu)), w)))
	}
	return lines
}

func (p *Page) sideRounds(q desk.Question, w int) []string {
	if q.Round < 2 {
		return nil
	}
	var lines []string
	by := sanitize.Line(q.FeedbackBy)
	if q.Feedback != "" || q.FormerAction != "" {
		for i, l := range cell.WrapText(roundBefore(q, by, "retry"), max(w-6, 1)) {
			lead := fmt.Sprintf(" %-3d", q.Round-1)
			if i > 0 {
				lead = "    "
			}
			lines = append(lines, lead+" "+l)
		}
	}
	return append(lines, cell.Clip(fmt.Sprintf(" %-3d this one, %s; %s: diff", q.Round, ago.Ago(p.now(), q.Asked), p.key(command.DisplayMode)), w))
}

// roundBefore tells what came of the round before: what was said with the retry that ended it, or how it was answered
// before a retry of another question of the run took the answer back.
func roundBefore(q desk.Question, by, verb string) string {
	if q.FormerAction == "" {
		return fmt.Sprintf("%s %s: %q", by, verb, sanitize.Line(q.Feedback))
	}
	text := by + " answered before: " + sanitize.Line(q.FormerAction)
	if v := string(q.FormerValue); v != "" && v != "null" && v != "true" {
		text += " " + sanitize.Line(v)
	}
	if q.Feedback != "" {
		text += fmt.Sprintf(": %q", sanitize.Line(q.Feedback))
	}
	return text
}

func (p *Page) sidePath(d *desk.Detail, w, h int) []string {
	steps := path.Fold(path.Latest(d.Path))
	var lines []string
	if len(steps) > h {
		lines = append(lines, p.theme.Muted.Render(fmt.Sprintf(" ... %d earlier", len(steps)-h)))
		steps = steps[len(steps)-h:]
	}
	for _, s := range steps {
		right := ago.Took(msDuration(s.TookMS))
		if s.Decision != "" {
			right = sanitize.Line(s.Decision) + "  " + right
		} else if s.Status == "WAITING" {
			right = "waits"
		} else if s.Status == "FAILED" {
			right = "failed"
		}
		run := path.Short(sanitize.Line(s.Run), max(w-3-cell.Width(right), w/2))
		lines = append(lines, cell.Between(" "+run, p.theme.Muted.Render(right+" "), w))
	}
	return lines
}

func (p *Page) sideThread(d *desk.Detail, w int) []string {
	var lines []string
	add := func(text string) { lines = append(lines, cell.Clip(" "+text, w)) }
	add(fmt.Sprintf("%s  version %d.%d", d.Short, d.Step, d.Revision))
	started := "started"
	if d.StartedBy != "" {
		started += " by " + sanitize.Line(d.StartedBy)
	}
	if !d.Created.IsZero() {
		started += " " + ago.Ago(p.now(), d.Created)
	}
	add(started)
	if d.Workdir != "" {
		add("in " + sanitize.Line(d.Workdir))
	}
	if d.Origin != "" {
		add("forked from " + sanitize.Line(d.Origin))
	}
	switch {
	case d.Claimed != "" && len(d.Questions) > 0 && d.ClaimedUntil.After(p.now()):
		add("claimed by " + sanitize.Line(d.Claimed) + " for " + ago.Age(d.ClaimedUntil.Sub(p.now())))
	case len(d.Questions) > 0:
		if p.readOnly {
			add("unclaimed")
		} else {
			add("unclaimed   " + p.key(command.Claim) + " claims it")
		}
	}
	return lines
}
