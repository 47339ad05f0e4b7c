package dialog

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/ago"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/command"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/list"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// Rules lists what answers by itself, and what came of it.
type Rules struct {
	frame
	list *list.List[desk.RuleState]
	on   bool
	now  time.Time
}

// NewRules shows the rules as they stand.
func NewRules(k Kit, rules []desk.RuleState, on bool, now time.Time) *Rules {
	r := &Rules{frame: frame{kit: k, most: 110}, on: on, now: now}
	r.list = list.New(k.Theme, func(x desk.RuleState) string { return x.Name }, r.row)
	r.list.SetEmpty("No rules. docs/rules.md says how to write one.")
	r.list.SetItems(rules)
	return r
}

func (r *Rules) row(x desk.RuleState, w int, _ list.State) []string {
	counts := []string{fmt.Sprintf("%d answered", x.Answered)}
	if x.TakenBack > 0 {
		counts = append(counts, fmt.Sprintf("%d back", x.TakenBack))
	}
	right := r.kit.Theme.Muted.Render(strings.Join(counts, ", "))
	if x.Failed > 0 {
		right = r.kit.Theme.Danger.Render(fmt.Sprintf("! %d failed", x.Failed)) + "  " + right
	}
	return []string{cell.Between(sanitize.Line(x.Name)+r.kit.Theme.Muted.Render("  "+x.Action), right, w)}
}

// Scope is the scope of the keys.
func (r *Rules) Scope() command.Scope { return command.Menu }

// Cursor is none.
func (r *Rules) Cursor() (int, int, bool) { return noCursor() }

// SetTheme changes the styles.
func (r *Rules) SetTheme(th *theme.Theme) { r.frame.SetTheme(th); r.list.SetTheme(th) }

// Update takes a key.
func (r *Rules) Update(msg tea.Msg) Result {
	id := r.resolve(msg, command.Menu)
	if id == command.MenuBack {
		return Closed{}
	}
	moveList(r.list, id)
	return closeOnQ(msg)
}

// View is the box: the rules, and the selected one whole.
func (r *Rules) View() string {
	w, h := r.inner()
	th := r.kit.Theme
	var whole []string
	if x, ok := r.list.Selected(); ok && h > 6 {
		whole = append(whole, th.Border.Render(rule(w)))
		add := func(style func(...string) string, text string) {
			for _, l := range cell.WrapText(sanitize.Text(text), w) {
				whole = append(whole, style(l))
			}
		}
		add(th.Text.Render, x.Action+" when "+x.When)
		if !x.Last.IsZero() {
			add(th.Muted.Render, "last answer "+ago.Ago(r.now, x.Last))
		}
		if x.LastError != "" {
			add(th.Danger.Render, "! "+x.LastError)
		}
		whole = whole[:min(len(whole), h-3)]
	}
	r.list.SetSize(w, min(max(r.list.Len(), 1), max(h-len(whole), 1)))
	title := "Rules: on"
	if !r.on {
		title = "Rules: off"
	}
	return r.draw(title, append(split(r.list.View()), whole...))
}
