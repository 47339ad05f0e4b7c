package inbox

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/jsontree"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/pager"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// draft is a question, and how it is to be laid out.
type draft struct {
	key     string // of all that the layout depends on
	theme   *theme.Theme
	q       desk.Question
	kinds   kinds
	mode    mode
	w       int
	after   json.RawMessage // an edit that waits to be sent
	said    []string        // verdicts on parts
	context bool            // it stands below, and not beside
	plain   bool            // the message is not set as Markdown
	doc     *jsontree.Document
}

// laid is a question laid out: one text, or a tree between what is above and below it.
type laid struct {
	draft
	tree         bool
	above, below pager.Source
	all          pager.Source
}

// laidMsg is a layout that was made beside.
type laidMsg struct{ laid }

// atOnce is how many bytes are laid out within a frame: half a millisecond of it for JSON, a few for Markdown. The rest is
// laid out beside, while the raw text is there to be read.
const atOnce = 24 << 10

// small tells whether the layout takes no longer than a frame may.
func (d draft) small() bool {
	n := len(d.q.Message)
	if d.mode != raw {
		n += len(d.q.Content) + len(d.q.Former) + len(d.after)
	}
	for _, x := range d.q.Context {
		n += len(x.Value)
	}
	return n <= atOnce
}

// isTree tells whether the content is to be shown as a tree.
func (d draft) isTree() bool {
	return d.mode == treed || d.mode == rendered && len(d.after) == 0 && d.kinds.tree()
}

// lay lays a question out. It needs nothing of the page, so that it can be done beside.
func (d draft) lay() laid {
	l := laid{draft: d}
	if d.isTree() {
		var err error
		if l.doc == nil {
			l.doc, err = jsontree.Parse(d.q.Content)
		}
		if err == nil {
			l.tree, l.above, l.below = true, d.above(), d.below()
			return l
		}
	}
	l.all = pager.Join(d.above(), d.content(), d.below())
	return l
}

// quick is the same question raw, to be read until it is laid out.
func (d draft) quick() draft {
	d.mode, d.plain = raw, true
	d.key += "\x00raw"
	return d
}

// draft is the question as it is to be drawn at a width.
func (p *Page) draft(q desk.Question, w int) draft {
	v := &p.view
	d := draft{theme: v.theme, q: q, kinds: v.kindsOf(q), w: w, after: p.edited(q), said: p.verdictLines(q, w), context: !p.contextBeside(q)}
	d.mode = v.modeIn(modes(q, d.kinds, d.after, w))
	d.key = fmt.Sprintf("%s\x00%d\x00%d\x00%v\x00%s\x00%d\x00%d\x00%v\x00%s", identity(q), w, d.mode, v.theme.Dark, v.theme.Name, len(d.after), p.details.epoch,
		d.context, strings.Join(d.said, "\n"))
	return d
}

// kindsOf is what the content of a question is; finding out of a question that is drawn again and again takes no time.
func (v *questionView) kindsOf(q desk.Question) kinds {
	if v.kinds.identity != identity(q) {
		v.kinds = kindsOf(q)
	}
	return v.kinds
}

// modeIn is the mode that was chosen, or where that is not among those that there are, the first.
func (v *questionView) modeIn(all []mode) mode {
	if slices.Contains(all, v.mode) {
		return v.mode
	}
	return all[0]
}

// reuse gives a draft the tree that is there already, as long as the value is the same.
func (v *questionView) reuse(d draft) draft {
	if v.doc != nil && v.docOf == partOf(d.q) && bytes.Equal(v.docJSON, d.q.Content) {
		d.doc = v.doc
	}
	return d
}

// partOf names what is asked, whatever came of it since.
func partOf(q desk.Question) string { return fmt.Sprintf("%s\x00%s\x00%d", q.Thread, q.ID, q.Part) }

// Lay begins to lay out beside what takes longer than a frame may.
func (p *Page) Lay() tea.Cmd {
	q, ok := p.Current()
	b := p.boxes()
	if !ok || b.question == 0 || p.view.laying {
		return nil
	}
	v := &p.view
	d := p.draft(q, max(b.question-2, 1))
	if d.small() || d.key == v.built || d.key == v.ready.key {
		return nil
	}
	d = v.reuse(d)
	if d.small() || d.isTree() && d.doc != nil && d.quick().small() {
		return nil
	}
	v.laying = true
	return func() tea.Msg { return laidMsg{d.lay()} }
}

// build takes a layout when the question, the width or the way of showing changed. Until one that takes long is there, what
// is drawn of the same question stays, and another is shown raw.
func (p *Page) build(q desk.Question, w int) {
	v := &p.view
	d := p.draft(q, w)
	v.w, v.shown, v.wanted = w, d.mode, d.key
	if d.key == v.built {
		return
	}
	d = v.reuse(d)
	switch {
	case d.key == v.ready.key:
		v.take(v.ready)
		v.ready = laid{}
	case d.small() || d.isTree() && d.doc != nil && d.quick().small():
		v.take(d.lay())
	case v.identity != "" && v.identity == identity(q):
	default:
		v.take(d.quick().lay())
	}
}

// take shows a layout. Of the same question, the place, the folds and the search stay.
func (v *questionView) take(l laid) {
	same := v.asked == partOf(l.q)
	wasTree := v.treeOn
	v.built, v.identity, v.asked, v.treeOn = l.key, identity(l.q), partOf(l.q), l.tree
	if !same {
		v.query, v.beside = "", -1
	}
	switch {
	case l.tree && l.doc == v.doc && same:
		v.tree.SetAround(l.above, l.below)
	case l.tree:
		v.tree.Open(l.doc, l.above, l.below)
		v.doc, v.docOf, v.docJSON = l.doc, partOf(l.q), l.q.Content
		wasTree = false
	case same:
		v.pager.Replace(l.all)
	default:
		v.pager.SetSource(l.all)
	}
	if v.query != "" && (v.treeOn != wasTree) {
		v.scrolled().Search(v.query)
	}
}
