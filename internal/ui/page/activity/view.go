package activity

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/ago"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/list"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/plot"
)

// Under narrow columns figures stand above the list, from there on beside it.
const narrow = 72

// View draws the page in exactly its size.
func (p *Page) View() string {
	head := p.head()
	h := max(p.h-len(head), 1)
	var body string
	if p.w >= narrow {
		lw := p.w * 55 / 100
		body = cell.Columns(p.theme.Border.Render("│"), p.viewRows(lw, h), cell.Block(p.figures(p.w-lw-1, h), p.w-lw-1, h))
	} else {
		figures := p.shares(p.w)
		figures = figures[:min(len(figures), max(h-3, 0))]
		body = strings.Join(append(figures, p.viewRows(p.w, h-len(figures))), "\n")
	}
	return cell.Block(append(head, strings.Split(body, "\n")...), p.w, p.h)
}

// head is the title, and the figures that matter most.
func (p *Page) head() []string {
	t := p.theme
	lines := []string{cell.Between(t.Title.Render(" ACTIVITY"), t.Muted.Render("the last "+string(p.period)+" "), p.w)}
	a := p.read
	if a == nil {
		return append(lines, t.Border.Render(strings.Repeat("─", p.w)))
	}
	figures := []string{"waiting " + t.Strong.Render(ago.Count(a.Waiting)), "median " + t.Strong.Render(took(a.All.Median)),
		t.Strong.Render(fmt.Sprintf("%.1f", a.PerHour())) + "/h"}
	if p.w >= narrow {
		figures = []string{"waiting now " + t.Strong.Render(ago.Count(a.Waiting)), "median wait " + t.Strong.Render(took(a.All.Median)),
			"nine of ten within " + t.Strong.Render(took(a.All.Slowest)), t.Strong.Render(fmt.Sprintf("%.1f", a.PerHour())) + " decisions an hour"}
	}
	lines = append(lines, cell.Fit(" "+strings.Join(figures, "   "), p.w))
	room := min(max(p.w-len("  -24h   now"), 1), len(a.Parts)*2)
	spark := plot.Spark(a.Parts, room)
	lines = append(lines, cell.Fit(" "+t.Muted.Render("-"+string(p.period))+" "+t.Accent.Render(spark)+t.Muted.Render(" now"), p.w))
	return append(lines, t.Border.Render(strings.Repeat("─", p.w)))
}

func took(d time.Duration) string { return ago.Took(d) }

// shares are the parts of all decisions that were approved, edited, rejected and sent back.
func (p *Page) shares(w int) []string {
	if p.read == nil {
		return nil
	}
	g := p.read.All
	t := p.theme
	var lines []string
	for _, x := range []struct {
		name  string
		n     int
		style func(...string) string
	}{
		{"approved", g.Approved, t.Success.Render}, {"edited", g.Edited, t.Accent.Render}, {"rejected", g.Rejected, t.Danger.Render},
		{"sent back", g.Again, t.Warning.Render}, {"by rules", g.ByRules, t.Muted.Render},
	} {
		if x.name == "by rules" && x.n == 0 {
			continue
		}
		lines = append(lines, bar(x.name, 10, x.n, g.Decisions, w, x.style))
	}
	return lines
}

// bar is a name, a bar of its share, and the share in words.
func bar(name string, nameWidth, n, of, w int, style func(...string) string) string {
	share := 0.0
	if of > 0 {
		share = float64(n) / float64(of)
	}
	right := fmt.Sprintf(" %3.0f%% %5s ", share*100, ago.Count(int64(n)))
	room := max(w-nameWidth-2-cell.Width(right), 0)
	return cell.Fit(" "+cell.Fit(name, nameWidth)+" "+style(plot.Bar(share, room))+right, w)
}

// figures are the shares, and below them the workflows, nodes and reviewers.
func (p *Page) figures(w, h int) []string {
	if p.read == nil {
		return nil
	}
	t := p.theme
	lines := append([]string{" " + t.Heading.Render("SHARES")}, p.shares(w)...)
	tables := p.read.By
	room := h - len(lines)
	for i, table := range tables {
		each := max(room/(len(tables)-i), 4) // what a short one leaves is for those after it
		if room < each {
			break
		}
		part := p.table(table, w, each)
		lines, room = append(lines, part...), room-len(part)
	}
	if p.read.Cut {
		lines = append(lines, t.Warning.Render(cell.Fit(fmt.Sprintf(" of the newest %s only", ago.Count(int64(len(p.read.Rows)))), w)))
	}
	return lines
}

// column is a figure of a group.
type column struct {
	head  string
	width int
	text  func(g desk.ActivityGroup) string
}

// leastName is how many cells of a table are for the names of what it counts: "BY WORKFLOW", and most of a name.
const leastName = 14

// columns are the figures that have room beside the names, the median wait at the end.
func columns(w int) []column {
	all := []column{
		{"done", 5, func(g desk.ActivityGroup) string { return strconv.Itoa(g.Decisions) }},
		{"ok", 5, func(g desk.ActivityGroup) string { return percent(g.Approved, g.Decisions) }},
		{"edit", 5, func(g desk.ActivityGroup) string { return percent(g.Edited, g.Decisions) }},
		{"no", 5, func(g desk.ActivityGroup) string { return percent(g.Rejected, g.Decisions) }},
		{"wait", 7, func(g desk.ActivityGroup) string { return took(g.Median) }},
	}
	for len(all) > 2 && widthOf(all)+1+leastName > w {
		all = slices.Delete(all, len(all)-2, len(all)-1)
	}
	return all
}

func widthOf(all []column) int {
	n := 0
	for _, c := range all {
		n += c.width
	}
	return n
}

// table is the busiest of a kind: how many, how much of it was approved, edited and rejected, and the median wait.
func (p *Page) table(x desk.ActivityTable, w, h int) []string {
	t := p.theme
	shown := columns(w)
	name := max(w-widthOf(shown)-2, 8)
	row := func(style func(...string) string, text func(c column) string) string {
		var b strings.Builder
		for _, c := range shown {
			b.WriteString(cell.Right(text(c), c.width))
		}
		return style(b.String())
	}
	lines := []string{"", cell.Fit(" "+t.Heading.Render(cell.Fit("BY "+strings.ToUpper(x.What), name))+
		row(t.Muted.Render, func(c column) string { return c.head }), w)}
	for i, g := range x.Groups {
		if len(lines) == h-1 && len(x.Groups)-i > 1 {
			lines = append(lines, t.Muted.Render(fmt.Sprintf(" %d more", len(x.Groups)-i)))
			break
		}
		if len(lines) >= h {
			break
		}
		lines = append(lines, cell.Fit(" "+cell.Fit(cutName(sanitize.Line(g.Name), name), name)+row(t.Text.Render, func(c column) string { return c.text(g) }), w))
	}
	return lines
}

// cutName cuts the workflow in the name of a node, which says less than the node.
func cutName(name string, w int) string {
	at := strings.LastIndex(name, nodeOf)
	if at < 0 || cell.Width(name) <= w || cell.Width(name[at:])+2 > w {
		return name
	}
	return cell.Clip(name[:at], w-cell.Width(name[at:])) + name[at:]
}

// nodeOf stands between a workflow and its node.
const nodeOf = " / "

func percent(n, of int) string {
	if of == 0 || n == 0 {
		return "-"
	}
	return fmt.Sprintf("%d%%", (n*100+of/2)/of)
}

func (p *Page) viewRows(w, h int) string {
	head := "decided  " + "action     " + "by"
	p.rows.SetSize(w, max(h-1, 0))
	return p.theme.Muted.Render(cell.Fit("  "+head, w)) + "\n" + p.rows.View()
}

// viewRow is one decision: when, what, by whom, about what, after how long, with how much said.
func (p *Page) viewRow(r desk.DecisionRow, w int, _ list.State) []string {
	t := p.theme
	style := t.Text
	switch {
	case r.Outcome == "withdrawn":
		style = t.Muted
	case r.Action == "reject" || r.Action == "stop" || r.Action == "cancel":
		style = t.Danger
	}
	when := r.DecidedAt.Local().Format("15:04")
	if p.now().Sub(r.DecidedAt) > 20*time.Hour {
		when = r.DecidedAt.Local().Format("Jan 02")
	}
	right := took(r.Waited) + " "
	if w >= 60 && len(r.Data) > 2 {
		right = ago.Bytes(int64(len(r.Data))) + cell.Right(took(r.Waited), 7) + " "
	}
	about := sanitize.Line(r.Title)
	if about == "" {
		about = sanitize.Line(r.Workflow)
	}
	left := cell.Fit(when, 7) + style.Render(cell.Fit(r.Action, 10)) + " " + cell.Fit(sanitize.Line(r.Reviewer), min(max(w/6, 6), 14)) + " " + about
	return []string{cell.Between(left, t.Muted.Render(right), w)}
}
