package editorpane

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/footer"
)

// The widths at which the layout changes: one pane, side below, side at the right.
const (
	mediumWidth = 72
	wideWidth   = 140
)

func (p *Pane) narrow() bool { return p.w < mediumWidth }
func (p *Pane) wide() bool   { return p.w >= wideWidth }

// layout is how the lines and cells of the pane are shared out.
type layout struct {
	top, bottom   []string
	bodyW, bodyH  int
	commentH      int
	sideW, sideH  int // 0: no side on screen
	editorShown   bool
	labelInBody   bool
	sideIsBelow   bool
	linesOfHeader int
}

func (p *Pane) layout() layout {
	l := layout{top: p.header(), bottom: p.footer(), editorShown: true}
	l.linesOfHeader = len(l.top)
	room := max(p.h-len(l.top)-len(l.bottom), 1)
	l.bodyW, l.bodyH = p.w, room
	switch {
	case p.wide():
		l.bodyW = p.w / 2
		l.sideW, l.sideH = p.w-l.bodyW-1, room
		l.labelInBody = true
	case !p.narrow():
		l.labelInBody = room > 3
		if room >= 9 && !p.sides.blank() {
			l.sideIsBelow = true
			l.sideW, l.sideH = p.w, max(room/3, 4)
			l.bodyH = room - l.sideH
		}
	case p.sides.shown:
		l.editorShown = false
		l.sideW, l.sideH = p.w, room
	}
	if l.labelInBody {
		l.bodyH--
	}
	if p.comment != nil && l.bodyH > 3 {
		l.commentH = min(3, l.bodyH/2)
		l.bodyH -= l.commentH + 1
	}
	return l
}

// SetSize sets the box.
func (p *Pane) SetSize(w, h int) {
	p.w, p.h = max(w, 0), max(h, 0)
	if p.w == 0 || p.h == 0 {
		return
	}
	p.shared = p.layout()
	l := p.shared
	inner := max(l.bodyW-1, 1)
	p.text.SetSize(inner, max(l.bodyH, 1))
	p.raw.SetSize(inner, max(l.bodyH, 1))
	if p.form != nil {
		p.form.SetSize(inner, max(l.bodyH, 1))
	}
	if p.comment != nil {
		p.comment.SetSize(inner, max(l.commentH, 1))
	}
}

// View is the box.
func (p *Pane) View() string {
	if p.w == 0 || p.h == 0 {
		return ""
	}
	l := p.shared
	lines := slices.Clone(l.top)
	if l.editorShown {
		left := p.editor(l)
		if p.wide() {
			bar := p.theme.Border.Render("│")
			left = cell.Columns(bar, left, p.side(l))
		}
		lines = append(lines, strings.Split(left, "\n")...)
	}
	if l.sideH > 0 && !p.wide() {
		lines = append(lines, strings.Split(p.side(l), "\n")...)
	}
	room := p.h - len(l.bottom)
	lines = lines[:max(min(len(lines), room), 0)]
	for len(lines) < room {
		lines = append(lines, "")
	}
	return cell.Block(append(lines, l.bottom...), p.w, p.h)
}

// editor draws the label, the text or form, and the comment.
func (p *Pane) editor(l layout) string {
	var lines []string
	if l.labelInBody {
		lines = append(lines, " "+p.theme.Muted.Render(p.label()))
	}
	body := p.text.View()
	switch p.mode {
	case formMode:
		body = p.form.View()
	case rawMode:
		body = p.raw.View()
	}
	for row := range strings.SplitSeq(body, "\n") {
		lines = append(lines, " "+row)
	}
	if l.commentH > 0 {
		lines = append(lines, p.rule("comment, required", l.bodyW))
		for row := range strings.SplitSeq(p.comment.View(), "\n") {
			lines = append(lines, " "+row)
		}
	}
	height := l.bodyH
	if l.labelInBody {
		height++
	}
	if l.commentH > 0 {
		height += l.commentH + 1
	}
	return cell.Block(lines, l.bodyW, height)
}

// side draws what stands beside the text under a line that says what it is.
func (p *Pane) side(l layout) string {
	key := p.keys.Key(command.EditorSide)
	body := p.sides.draw(p.typedText(), max(l.sideW-1, 1), max(l.sideH-1, 1))
	var head string
	if l.sideIsBelow {
		title := p.sides.name()
		if title == "diff" {
			title = "change so far"
		}
		head = p.rule(title+"  "+p.sides.about(), l.sideW)
	} else {
		var names []string
		for i, n := range p.sides.names {
			if i == p.sides.at {
				n = "[" + n + "]"
			}
			names = append(names, n)
		}
		head = cell.Between(" "+strings.Join(names, " "), p.sides.about()+"  "+key+" cycles ", l.sideW)
		head = p.theme.Muted.Render(head)
	}
	lines := []string{head}
	for row := range strings.SplitSeq(body, "\n") {
		lines = append(lines, " "+row)
	}
	return cell.Block(lines, l.sideW, l.sideH)
}

// typedText is the content as typed so far, to be compared with the original.
func (p *Pane) typedText() string {
	if p.mode == textMode {
		return p.text.Value()
	}
	value, err := p.composeValue()
	if err != nil {
		return p.raw.Value()
	}
	return contentText(value)
}

func (p *Pane) rule(title string, w int) string {
	line := func(n int) string { return p.theme.Border.Render(strings.Repeat("─", max(n, 0))) }
	if title == "" {
		return line(w)
	}
	const before = "── "
	title = cell.Clip(title, max(w-len("-- "), 0))
	return p.theme.Border.Render(before) + p.theme.Muted.Render(title) + " " + line(w-cell.Width(before)-cell.Width(title)-1)
}

func (p *Pane) header() []string {
	q, c := p.cfg.Question, p.cfg.Choice
	th := p.theme
	title := strings.ToUpper(string(c.Action))
	if c.Leads != "" && !p.narrow() {
		title += ", then " + sanitize.Line(c.Leads)
	}
	if p.cfg.Heading != "" {
		title = p.cfg.Heading
	}
	left := th.Bar.Bold(true).Render(" " + title)
	gap := func(l, r string) string {
		return l + th.Bar.Render(strings.Repeat(" ", max(p.w-cell.Width(l)-cell.Width(r), 1))) + r
	}
	lines := []string{cell.Clip(gap(left, p.bytesLeft()), p.w)}
	where := sanitize.Line(q.Title)
	if !p.narrow() && q.Workflow != "" {
		where = sanitize.Line(strings.TrimSuffix(q.Workflow+" / "+cmp.Or(q.Address, q.Node), " / ")) + "   " + where
	}
	lines = append(lines, cell.Between(" "+where, th.Muted.Render(p.draftState())+" ", p.w))
	if p.h > 6 {
		label := ""
		if p.narrow() {
			label = p.label()
		}
		lines = append(lines, p.rule(label, p.w))
	}
	return lines
}

func (p *Pane) draftState() string {
	switch {
	case p.secret() && p.Dirty() && p.narrow():
		return "no draft"
	case p.secret() && p.Dirty():
		return "a secret: no draft is kept"
	case p.narrow() && p.Dirty():
		return "~ draft"
	case p.narrow():
		return ""
	case !p.saved.IsZero():
		return "~ draft saved " + p.saved.Format("15:04:05")
	case p.Dirty():
		return "~ draft not saved yet"
	}
	return "unchanged"
}

func (p *Pane) bytesLeft() string {
	left := p.Left()
	text := group(left) + " left"
	if !p.narrow() {
		text = group(left) + " of " + group(actions.MaxSize) + " bytes left"
	}
	switch {
	case left < 0:
		text = "! " + group(-left) + " bytes too many"
		return p.theme.BarDanger.Render(text + " ")
	case left < actions.MaxSize/16:
		return p.theme.BarWarning.Render(text + " ")
	}
	return p.theme.BarMuted.Render(text + " ")
}

// group writes a number with a space between thousands.
func group(n int) string {
	s := strconv.Itoa(n)
	start := 0
	if n < 0 {
		start = 1
	}
	for i := len(s) - 3; i > start; i -= 3 {
		s = s[:i] + " " + s[i:]
	}
	return s
}

// label says what is to be typed.
func (p *Pane) label() string {
	need := "optional"
	if p.cfg.Choice.NeedsComment {
		need = "required"
	}
	switch p.cfg.Choice.Data {
	case actions.Content, actions.OptionalContent:
		kind := p.cfg.Question.ContentType
		switch {
		case p.mode == rawMode:
			kind = "raw JSON"
		case p.mode == formMode:
			kind = "form"
		case kind == "":
			kind = "text"
		}
		return "content (" + sanitize.Line(kind) + ")"
	case actions.RequiredText:
		return "text, required"
	case actions.AnyText:
		return "text, may be empty"
	case actions.Form, actions.AnyJSON:
		if p.mode == formMode {
			return "form"
		}
		return "raw JSON"
	}
	switch p.cfg.Choice.Action {
	case actions.Reject:
		return "reason, " + need
	case actions.Retry:
		return "feedback, " + need
	}
	return "comment, " + need
}

// footer draws the lines below the text: what is wrong, [Send], the keys.
func (p *Pane) footer() []string {
	th := p.theme
	var lines []string
	if p.notice != "" && p.h > 8 {
		text := "! " + sanitize.Line(p.notice)
		if p.block {
			text += "  " + p.keys.Key(command.EditorSend) + " is off, " + p.keys.Key(command.EditorCopy) + " copies the text"
		}
		lines = append(lines, th.Warning.Render(cell.Clip(" "+text, p.w)))
	}
	if p.error != "" {
		lines = append(lines, p.errorLines()...)
	}
	lines = append(lines, p.sendLine())
	if p.narrow() && p.h > 8 && !p.sides.blank() {
		lines = append(lines, th.Muted.Render(cell.Between(p.sides.name()+" "+p.keys.Key(command.EditorSide),
			p.keys.Key(command.EditorUp)+"/Dn scroll it", p.w)))
	}
	back, side := footer.Item{ID: command.EditorBack}, footer.Item{ID: command.EditorSide}
	if p.narrow() {
		back.Label, side.Label = "keep", "side"
	}
	items := []footer.Item{{ID: command.EditorSend}, back, {ID: command.EditorExternal}}
	if !p.sides.blank() {
		items = append(items, side)
	}
	if p.mode == formMode && p.focus == onBody && p.form.InList() {
		items = append(items[:1:1], append(footer.Of(command.EditorAddItem, command.EditorRemoveItem, command.EditorItemUp), items[1:]...)...)
	}
	if p.hasContent() {
		items = append(items, footer.Item{ID: command.EditorRaw})
	}
	items = append(items, footer.Of(command.EditorDiscard, command.EditorNext, command.EditorSuspend)...)
	return append(lines, footer.Lines(th, p.keys, items, nil, p.w, 1)...)
}

// errorLines is the error, at most three lines of it.
func (p *Pane) errorLines() []string {
	rows := cell.WrapText("! "+sanitize.Text(p.error), max(p.w-1, 1))
	rows = rows[:min(len(rows), 3, max(p.h/4, 1))]
	for i := range rows {
		rows[i] = " " + p.theme.Danger.Render(rows[i])
	}
	return rows
}

func (p *Pane) sendLine() string {
	th := p.theme
	text := " Send "
	b := th.Button.Render(" " + text + " ")
	if p.focus == onSend {
		b = th.ButtonFocused.Render("[" + text + "]")
	}
	note := ""
	if p.cfg.Choice.Leads != "" {
		note = "> " + sanitize.Line(p.cfg.Choice.Leads)
	}
	if s := int(p.cfg.Grace.Seconds()); s > 0 && !p.narrow() {
		note += fmt.Sprintf("   goes to the outbox; %d s to take it back", s)
	}
	if p.block {
		note = "sending is off"
	}
	return " " + b + " " + cell.Clip(note, max(p.w-cell.Width(b)-2, 0))
}

// Cursor is the cursor's cell in the box, and whether it is to be shown.
func (p *Pane) Cursor() (x, y int, ok bool) {
	if p.w == 0 || p.h == 0 {
		return 0, 0, false
	}
	l := p.shared
	if !l.editorShown || p.focus == onSend {
		return 0, 0, false
	}
	at := l.linesOfHeader
	if l.labelInBody {
		at++
	}
	switch {
	case p.focus == onComment:
		x, y, ok = p.comment.Cursor()
		at += l.bodyH + 1
		ok = ok && l.commentH > 0
	case p.mode == formMode:
		x, y, ok = p.form.Cursor()
	case p.mode == rawMode:
		x, y, ok = p.raw.Cursor()
	default:
		x, y, ok = p.text.Cursor()
	}
	return x + 1, y + at, ok && x+1 < p.w && y+at < p.h
}

// setFocus moves the focus to a stop.
func (p *Pane) setFocus(s stop) {
	p.focus = s
	p.text.SetFocused(s == onBody)
	p.raw.SetFocused(s == onBody)
	if p.form != nil {
		p.form.SetFocused(s == onBody)
	}
	if p.comment != nil {
		p.comment.SetFocused(s == onComment)
	}
}

// step moves the focus by one stop: fields of a form, comment, [Send], and round again.
func (p *Pane) step(d int) {
	if p.focus == onBody && p.mode == formMode {
		if d > 0 && p.form.Next() || d < 0 && p.form.Prev() {
			return
		}
	}
	stops := []stop{onBody}
	if p.comment != nil {
		stops = append(stops, onComment)
	}
	stops = append(stops, onSend)
	at := 0
	for i, s := range stops {
		if s == p.focus {
			at = i
		}
	}
	p.setFocus(stops[(at+d+len(stops))%len(stops)])
	if p.focus == onBody && p.mode == formMode {
		if d > 0 {
			p.form.First()
		} else {
			p.form.Last()
		}
	}
}

// ScrollSide scrolls the other side by rows, for the mouse.
func (p *Pane) ScrollSide(rows int) { p.sides.scroll(rows) }
