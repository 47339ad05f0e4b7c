package footer

import (
	"path"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/keymap"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// form is how much of an action is drawn.
type form int

const (
	whole   form = iota
	nearby       // deep addresses in where it leads are cut to their last part
	noLeads      // key and label
	keyOnly
)

// Actions draws the actions of a question on one line of exactly w cells, with last at its right end. Their keys are kept
// as long as they fit without anything else: the targets give way first, deep addresses to their last part and then
// whole, after them the labels, and in each the last actions before the first, which the question is for.
func Actions(th *theme.Theme, km *keymap.Map, items, last []Item, w int) string {
	end := one(th, km, last, w, true)
	room := w - 1
	if end != "" {
		room -= cell.Width(end) + 2
	}
	var texts [][]string // of each item by form
	for _, it := range items {
		if text := draw(th, km, it, true); text != "" {
			near := it
			near.Leads = lastParts(it.Leads)
			texts = append(texts, []string{text, draw(th, km, near, true), draw(th, km, it, false), th.BarKey.Render(km.Key(it.ID))})
		}
	}
	line := th.Bar.Render(" ") + strings.Join(fit(texts, room), th.Bar.Render("  "))
	return bar(th, between(th, line, end, w), w)
}

// fit picks of each item the largest form with which all have room, from the last item on, and leaves items out only
// when not even their keys have it.
func fit(texts [][]string, room int) []string {
	chosen, used := make([]string, len(texts)), -2
	for i, forms := range texts {
		chosen[i] = forms[whole]
		used += cell.Width(chosen[i]) + 2
	}
	for f := nearby; f <= keyOnly; f++ {
		for i := len(texts) - 1; i >= 0 && used > room; i-- {
			used += cell.Width(texts[i][f]) - cell.Width(chosen[i])
			chosen[i] = texts[i][f]
		}
	}
	for len(chosen) > 1 && used > room {
		used -= cell.Width(chosen[len(chosen)-1]) + 2
		chosen = chosen[:len(chosen)-1]
	}
	return chosen
}

// lastParts cuts the addresses in where an action leads to their last part: END of each/0/inner (done) to END of inner (done).
func lastParts(leads string) string {
	words := strings.Split(leads, " ")
	for i, word := range words {
		if strings.Contains(word, "/") {
			words[i] = path.Base(word)
		}
	}
	return strings.Join(words, " ")
}
