package retention

import (
	"fmt"
	"strings"
	"time"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/ago"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/list"
)

func (p *Page) viewRow(r Row, w int, _ list.State) []string {
	name := sanitize.Line(r.Workflow)
	if r.Thread != "" {
		name = sanitize.Line(r.Title)
		if name == "" {
			name = r.Thread
		}
	}
	right := ""
	if w >= 34 {
		right = cell.Right(ago.Count(r.Steps), 8) + cell.Right(bytes(r.Bytes), 10)
	} else {
		right = cell.Right(bytes(r.Bytes), 9)
	}
	if w >= 60 {
		right += cell.Right(day(r.Oldest), 12)
	}
	if r.Thread == "" {
		name += p.theme.Muted.Render(fmt.Sprintf(" (%d)", r.Threads))
	}
	return []string{cell.Between(name, right+" ", w)}
}

func bytes(n int64) string {
	if n == 0 {
		return "-"
	}
	return ago.Bytes(n)
}

func day(t time.Time) string {
	if t.IsZero() {
		return "-"
	}
	return t.Local().Format("2006-01-02")
}

// View draws the page in exactly its size.
func (p *Page) View() string {
	lines := p.head()
	foot := p.foot()
	h := max(p.h-len(lines)-len(foot), 1)
	var body string
	if p.w >= narrow {
		lw := p.w * 58 / 100
		body = cell.Columns(p.theme.Border.Render("│"), p.viewRows(lw, h), cell.Block(p.would(), p.w-lw-1, h))
	} else {
		would := p.wouldShort()
		list := max(h-len(would), 1)
		body = p.viewRows(p.w, list) + "\n" + cell.Block(would, p.w, max(h-list, 0))
	}
	lines = append(lines, strings.Split(body, "\n")...)
	return cell.Block(append(lines, foot...), p.w, p.h)
}

func (p *Page) head() []string {
	t := p.theme
	store := p.store.Name
	if p.store.Bytes > 0 {
		store += " " + ago.Bytes(p.store.Bytes)
	}
	l := p.limits
	field := func(name, value, none string) string {
		if value == "" {
			value = none
		}
		return t.Muted.Render(name+" ") + t.Strong.Render(sanitize.Line(value))
	}
	lines := []string{cell.Between(t.Title.Render(" RETENTION"), t.Muted.Render(sanitize.Line(store)+" "), p.w)}
	age, step := field("older than", l.OlderThan, "-"), field("before step", l.BeforeStep, "-")
	if l.Finished != "" {
		age += "   " + field("finished before", l.Finished, "")
	}
	status, workflow := field("status", l.Status, "any"), field("workflow", l.Workflow, "any")
	if p.w >= 110 {
		lines = append(lines, cell.Fit(" "+strings.Join([]string{age, step, status, workflow}, "   "), p.w))
	} else {
		lines = append(lines, cell.Fit(" "+age+"   "+step, p.w), cell.Fit(" "+status+"   "+workflow, p.w))
	}
	return append(lines, t.Border.Render(strings.Repeat("─", p.w)))
}

func (p *Page) viewRows(w, h int) string {
	what := "workflow (threads)"
	if p.group != "" {
		what = "< " + sanitize.Line(p.group)
	}
	right := cell.Right("would go", 9)
	if w-2 >= 34 {
		right = cell.Right("steps", 8) + cell.Right("bytes", 10)
	}
	if w-2 >= 60 {
		right += cell.Right("oldest", 12)
	}
	p.rows.SetSize(w, max(h-1, 0))
	head := p.theme.Muted.Render("  " + cell.Between(what, right+" ", max(w-2, 0)))
	return cell.Clip(head, w) + "\n" + p.rows.View()
}

// would says what would go and what stays.
func (p *Page) would() []string {
	t := p.theme
	if p.err != nil {
		return wrapAt(" ", t.Warning.Render, p.err.Error(), p.w*42/100-2)
	}
	x := p.pruned
	if x == nil {
		return []string{t.Muted.Render(" Reading ...")}
	}
	if x.Steps == 0 && x.Deleted == 0 {
		none := []string{" " + t.Heading.Render("WOULD GO"), " nothing is within the bounds", "", t.Muted.Render(" " + p.keys.Key(command.Bounds) + " changes the bounds")}
		return append(none, p.automatic()...)
	}
	share := ""
	if p.store.Bytes > 0 {
		share = fmt.Sprintf(" of %s (%d %%)", ago.Bytes(p.store.Bytes), x.Bytes*100/p.store.Bytes)
	}
	lines := []string{
		" " + t.Heading.Render("WOULD GO"),
		" " + ofThreads(x),
		" " + ago.Bytes(x.Bytes) + share,
	}
	if x.Deleted > 0 {
		lines = append(lines, fmt.Sprintf(" %s threads whole, with their questions", ago.Count(x.Deleted)))
	}
	if !x.Oldest.IsZero() {
		lines = append(lines, " from "+x.Oldest.Local().Format("2006-01-02 15:04"), "   to "+x.Newest.Local().Format("2006-01-02 15:04"))
	}
	lines = append(lines, "", " "+t.Heading.Render("ALWAYS KEPT"), fmt.Sprintf(" %s heads: the last step of every thread", ago.Count(x.Heads)))
	if len(x.Skipped) > 0 {
		lines = append(lines, fmt.Sprintf(" %d threads are skipped:", len(x.Skipped)))
		for _, s := range x.Skipped[:min(len(x.Skipped), 4)] {
			lines = append(lines, "   "+sanitize.Line(s))
		}
	}
	lines = append(lines, "", " "+t.Heading.Render("AFTER"), " history starts at the oldest step kept")
	return append(lines, p.automatic()...)
}

// automatic says what the desk prunes by itself, and when it last did.
func (p *Page) automatic() []string {
	lines := []string{"", " " + p.theme.Heading.Render("BY ITSELF")}
	rule := p.store.Retention
	if rule == (desk.Retention{}) {
		return append(lines, " nothing goes (config: off)")
	}
	if rule.OlderThan > 0 {
		lines = append(lines, " steps older than "+ago.Age(rule.OlderThan))
	}
	if rule.FinishedBefore > 0 {
		lines = append(lines, " threads that ended "+ago.Age(rule.FinishedBefore)+" ago, whole")
	}
	if last := p.store.Retained; !last.At.IsZero() {
		lines = append(lines, fmt.Sprintf(" last %s: %s steps", ago.Ago(p.now(), last.At), ago.Count(last.Steps)))
	}
	return lines
}

func (p *Page) wouldShort() []string {
	if p.err != nil {
		return wrapAt(" ", p.theme.Warning.Render, p.err.Error(), p.w-2)
	}
	if p.pruned == nil {
		return []string{p.theme.Muted.Render(" Reading ...")}
	}
	x := p.pruned
	return []string{" would go: " + ofThreads(x),
		cell.Between(fmt.Sprintf(" kept: %s heads", ago.Count(x.Heads)), "gives "+ago.Bytes(x.Bytes)+" ", p.w)}
}

// foot is how far a prune is, or what came of the last.
func (p *Page) foot() []string {
	switch {
	case p.running:
		width := min(max(p.w/4, 8), 40)
		share := int64(0)
		if p.total > 0 {
			share = min(p.done*100/p.total, 100)
		}
		full := int(share) * width / 100
		return []string{cell.Between(fmt.Sprintf(" running: %s%s %d %%  %s of %s", strings.Repeat("#", full), strings.Repeat("-", width-full), share,
			ago.Count(p.done), ago.Count(p.total)), "x stops ", p.w)}
	case p.result != "":
		return []string{p.theme.Success.Render(cell.Fit(" "+sanitize.Line(p.result), p.w))}
	}
	return nil
}

func wrapAt(lead string, style func(...string) string, text string, w int) []string {
	var lines []string
	for _, l := range cell.WrapText(sanitize.Text(text), max(w, 1)) {
		lines = append(lines, lead+style(l))
	}
	return lines
}

// ofThreads is how much would go, in words.
func ofThreads(x *desk.Pruned) string {
	amount := func(n int64, one string) string {
		if n == 1 {
			return "1 " + one
		}
		return ago.Count(n) + " " + one + "s"
	}
	return amount(x.Steps, "step") + " of " + amount(x.Threads, "thread")
}
