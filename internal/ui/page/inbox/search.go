package inbox

import (
	"fmt"

	"github.com/charmbracelet/x/ansi"

	"github.com/hitl-tui/hitl-tui/internal/ui/component/pager"
)

// A search in the question finds what scrolls: message, content, options, context. After that it goes to what stands
// around it and is always on screen: the heading, and the column at the side.

// SearchQuestion looks for a text in the question and tells in how many places it is. "" ends the search.
func (p *Page) SearchQuestion(text string) int {
	v := &p.view
	if q, ok := p.Current(); ok { // it may not have been drawn yet
		p.arrange(q, p.boxes().question, p.h)
	}
	v.query, v.beside = text, -1
	found := v.scrolled().Search(text)
	around := len(p.hitsAround())
	if found == 0 && around > 0 {
		v.beside = 0
	}
	return found + around
}

// FindInQuestion goes to the next match in a direction; false when nothing is searched for.
func (p *Page) FindInQuestion(dir int) bool {
	v := &p.view
	if v.query == "" {
		return false
	}
	at, found := v.scrolled().Match()
	all := found + len(p.hitsAround())
	if all == 0 {
		return true
	}
	if v.beside >= 0 {
		at = found + v.beside
	}
	at = ((at+dir)%all + all) % all
	if at < found {
		v.beside = -1
		v.scrolled().Go(at)
	} else {
		v.beside = at - found
		v.scrolled().Go(-1)
	}
	return true
}

// searchState is `"text" 2/7`, "" without a search.
func (p *Page) searchState() string {
	v := &p.view
	at, found := v.scrolled().Match()
	all := found + len(p.hitsAround())
	switch {
	case v.query == "":
		return ""
	case all == 0:
		return fmt.Sprintf("%q not found", v.query)
	case v.beside >= 0:
		at = found + v.beside
	}
	return fmt.Sprintf("%q %d/%d", v.query, min(max(at, 0), all-1)+1, all)
}

// around is the lines that stand around what scrolls: the heading, then the side.
func (p *Page) around() []string {
	q, ok := p.Current()
	if !ok {
		return nil
	}
	b := p.boxes()
	lines := p.questionHead(q, b.question)
	if b.side > 0 {
		side, _ := p.side(b.side, p.h)
		lines = append(lines, side[:min(len(side), p.h)]...)
	}
	return lines
}

// hitsAround is the lines of around that have what is searched for.
func (p *Page) hitsAround() []int {
	if p.view.query == "" {
		return nil
	}
	var hits []int
	for i, l := range p.around() {
		if pager.Contains(ansi.Strip(l), p.view.query) {
			hits = append(hits, i)
		}
	}
	return hits
}

// marked marks what is searched for in lines of around, the first of which is its line from.
func (p *Page) marked(lines []string, from int) []string {
	v := &p.view
	if v.query == "" {
		return lines
	}
	current := -1
	if hits := p.hitsAround(); v.beside >= 0 && v.beside < len(hits) {
		current = hits[v.beside]
	}
	for i, l := range lines {
		lines[i] = pager.Highlight(v.theme, l, v.query, from+i == current)
	}
	return lines
}
