package inbox

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/content"
)

// Verdicts is what was decided about the parts of a question, by their keys: what is not sent yet, or on its way. false
// where something else was typed for the question, in the place of which nothing may be put.
func (p *Page) Verdicts(q desk.Question) (map[string]actions.Verdict, bool) {
	out := map[string]actions.Verdict{}
	x := p.Draft(q)
	if e, ok := p.answers[q.ID]; ok && x == nil {
		x = e.Draft
	}
	if x == nil || x.Text == "" {
		return out, true
	}
	var given map[string]json.RawMessage
	if x.Action != string(actions.Submit) || json.Unmarshal([]byte(x.Text), &given) != nil {
		return out, false
	}
	for key, raw := range given {
		var v actions.Verdict
		if json.Unmarshal(raw, &v) == nil {
			out[key] = v
		}
	}
	return out, true
}

// Judge shows verdicts from now on, before they are read back from the desk.
func (p *Page) Judge(x desk.Draft) {
	if p.judged == nil {
		p.judged = map[string]desk.Draft{}
	}
	p.judged[x.Question] = x
}

// Judged lets go of the verdicts on a question: they are sent, or discarded.
func (p *Page) Judged(question string) { delete(p.judged, question) }

// ShowPart shows a part of the question that is shown, 0 the whole.
func (p *Page) ShowPart(n int) {
	p.view.mode = rendered
	p.view.part = n
}

// verdictLine says of a part what was decided about it, and of a question how many of its parts are.
func (p *Page) verdictLine(q desk.Question) string {
	whole := q
	if q.Of != nil {
		whole = *q.Of
	}
	if len(whole.Parts) == 0 {
		return ""
	}
	all, ok := p.Verdicts(whole)
	if !ok {
		return ""
	}
	decided := 0
	for i := range whole.Parts {
		if all[actions.PartKey(i)].Decision != "" {
			decided++
		}
	}
	left := len(whole.Parts) - decided
	switch {
	case q.Of == nil && decided == 0:
		return p.key(command.NextQuestion) + " goes through the parts, a verdict each"
	case q.Of == nil && left == 0:
		return fmt.Sprintf("~ %d of %d decided, not sent: %s goes on", decided, decided, p.key(command.ForAction(actions.Submit)))
	case q.Of == nil:
		return fmt.Sprintf("~ %d of %d decided: %s goes on, the last verdict sends all", decided, len(whole.Parts), p.key(command.NextQuestion))
	case all[actions.PartKey(q.Part-1)].Decision != "":
		return "~ verdict: " + verdictText(all[actions.PartKey(q.Part-1)])
	case left == 1:
		return "the last verdict: it sends all"
	}
	return fmt.Sprintf("no verdict yet: %d of %d are open", left, len(whole.Parts))
}

// verdictLines is a line for each part: its name and what was decided, which stands below the name where a line of width w
// has no room for both.
func (p *Page) verdictLines(q desk.Question, w int) []string {
	if len(q.Parts) == 0 || q.Of != nil {
		return nil
	}
	all, _ := p.Verdicts(q)
	names := 0
	for _, part := range q.Parts {
		names = max(names, cell.Width(sanitize.Line(part.Title)))
	}
	const indent = "    "
	names = min(names, 30, max(w-len(indent)-len("  open"), 1))
	var lines []string
	for i, part := range q.Parts {
		said, style := "open", p.theme.Muted
		if v := all[actions.PartKey(i)]; v.Decision != "" {
			said, style = verdictText(v), p.theme.Accent
		}
		line := fmt.Sprintf("%2d  %s", i+1, cell.Fit(sanitize.Line(part.Title), names))
		if len(indent)+names+2+cell.Width(said) <= w {
			lines = append(lines, line+"  "+style.Render(said))
			continue
		}
		lines = append(lines, line)
		for _, l := range cell.WrapText(said, max(w-len(indent), 1)) {
			lines = append(lines, indent+style.Render(l))
		}
	}
	return lines
}

// verdictText is a verdict in a few words.
func verdictText(v actions.Verdict) string {
	parts := []string{string(v.Decision)}
	if len(v.Args) > 0 && v.Decision != actions.Approve && v.Decision != actions.Edit {
		parts = append(parts, content.Short(v.Args))
	}
	if v.Message != "" {
		parts = append(parts, sanitize.Line(v.Message))
	}
	return strings.Join(parts, ": ")
}
