package history

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/ago"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/diffview"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/pager"
	"github.com/hitl-tui/hitl-tui/internal/ui/content"
)

// fill draws what is shown into the right pane.
func (p *Page) fill() {
	if p.shown == nil {
		return
	}
	var parts []pager.Source
	switch {
	case p.shown.state != nil:
		parts = p.stateParts(p.shown.state)
	default:
		parts = p.diffParts()
	}
	p.right.Replace(pager.Join(parts...))
}

func (p *Page) stateParts(s *desk.State) []pager.Source {
	t := p.theme
	p.title = fmt.Sprintf("state at step %d", s.Step)
	var parts []pager.Source
	if len(s.State) == 0 {
		parts = append(parts, pager.Lines{t.Muted.Render("The state is empty.")})
	}
	for _, key := range keysOf(s.State) {
		value := s.State[key]
		if one := content.Short(value); len(one) < 40 && !strings.Contains(one, "⏎") {
			parts = append(parts, pager.Lines{t.Ident.Render(sanitize.Line(key)) + ": " + one})
			continue
		}
		parts = append(parts, pager.Lines{t.Ident.Render(sanitize.Line(key)) + t.Muted.Render("  "+ago.Bytes(int64(len(value))))})
		parts = append(parts, content.Of(value, "").Rendered(t, max(p.rightWidth()-2, 1)), content.Blank())
	}
	for _, q := range s.Questions {
		parts = append(parts, content.Blank(), content.Heading(t, "asked: "+q.Title))
	}
	return parts
}

func (p *Page) diffParts() []pager.Source {
	t := p.theme
	changed, same := 0, []string{}
	var parts []pager.Source
	for _, k := range p.shown.diff {
		name := sanitize.Line(k.Key)
		if k.Kind == "same" {
			same = append(same, name)
			if p.sameShown {
				parts = append(parts, pager.Lines{t.Muted.Render(name + "  unchanged")}, content.Of(k.After, "").Rendered(t, p.rightWidth()), content.Blank())
			}
			continue
		}
		changed++
		label := t.Ident.Render(name)
		if k.Kind != "changed" {
			label += t.Muted.Render("  " + k.Kind)
		}
		d := diffview.Compare(text(k.Before), text(k.After), 3)
		parts = append(parts, pager.Lines{label}, diffview.Source(t, d), content.Blank())
	}
	keys := "keys"
	if changed == 1 {
		keys = "key"
	}
	p.title = fmt.Sprintf("diff step %d .. %d   %d %s changed", p.shown.a, p.shown.b, changed, keys)
	if changed == 0 {
		parts = append(parts, pager.Lines{t.Muted.Render("Nothing changed.")})
	}
	if len(same) > 0 && !p.sameShown {
		parts = append(parts, pager.Lines{t.Muted.Render("unchanged: " + strings.Join(same, ", ") + "   (z unfolds)")})
	}
	return parts
}

func text(v json.RawMessage) string {
	if len(v) == 0 {
		return ""
	}
	return content.Of(v, "").Text()
}

func (p *Page) listWidth() int {
	switch {
	case p.w < narrow:
		return p.w
	case p.w < 120:
		return p.w * 42 / 100
	}
	return min(p.w*38/100, 64)
}

func (p *Page) rightWidth() int {
	if p.w < narrow {
		return max(p.w-2, 1)
	}
	if p.w >= wide {
		return max(p.w-p.listWidth()-sideWidth-4, 1)
	}
	return max(p.w-p.listWidth()-3, 1)
}

// View draws the page in exactly its size.
func (p *Page) View() string {
	head := p.head()
	h := max(p.h-1, 0)
	switch {
	case p.w >= wide:
		lw, sw := p.listWidth(), sideWidth
		return head + "\n" + cell.Columns(p.theme.Border.Render("│"), p.viewLeft(lw, h), p.viewRight(p.rightWidth()+2, h), p.viewSide(sw, h))
	case p.w >= narrow:
		lw := p.listWidth()
		return head + "\n" + cell.Columns(p.theme.Border.Render("│"), p.viewLeft(lw, h), p.viewRight(p.w-lw-1, h))
	case p.showRight:
		return head + "\n" + p.viewRight(p.w, h)
	}
	return head + "\n" + p.viewLeft(p.w, h)
}

func (p *Page) head() string {
	if p.detail == nil {
		return p.theme.Title.Render(cell.Fit(" < history", p.w))
	}
	d := p.detail
	left := fmt.Sprintf(" < %s %s", sanitize.Line(d.Workflow), d.Short)
	right := fmt.Sprintf("%d steps ", p.steps.Len())
	if p.w >= narrow {
		left += "   " + sanitize.Line(d.Title)
		if d.Origin != "" {
			left += "   from " + sanitize.Line(d.Origin)
		}
		right = d.Status + "   " + right
	}
	return p.theme.Title.Render(cell.Between(left, right, p.w))
}

// viewLeft draws the steps, or the graph in their place.
func (p *Page) viewLeft(w, h int) string {
	if p.graph.shown() {
		return p.viewGraph(w, h)
	}
	return p.viewSteps(w, h)
}

func (p *Page) viewSteps(w, h int) string {
	graph := p.graphBelow(w, h)
	rows := max(h-1-len(graph), 1)
	p.steps.SetSize(w, rows)
	lines := []string{p.theme.Muted.Render(stepHead(w))}
	lines = append(lines, strings.Split(p.steps.View(), "\n")...)
	return cell.Block(append(lines, graph...), w, h)
}

// stepHead is the line above the steps.
func stepHead(w int) string {
	last := whatWidth(w - 2)
	room := max(w-2-5-tookWidth-1-last, 4)
	return cell.Fit("  step "+cell.Fit("node", room)+cell.Right("took", tookWidth)+" "+cell.Right("what", last), w)
}

func (p *Page) viewRight(w, h int) string {
	p.right.SetSize(max(w-2, 1), max(h-2, 1))
	lines := []string{p.theme.Strong.Render(cell.Fit(" "+p.title, w))}
	for _, l := range strings.Split(p.right.View(), "\n") {
		lines = append(lines, " "+l)
	}
	for len(lines) < h-1 {
		lines = append(lines, "")
	}
	lines = append(lines, p.theme.Muted.Render(cell.Right(p.right.Position()+" ", w)))
	return cell.Block(lines, w, h)
}
