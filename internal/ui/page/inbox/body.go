package inbox

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/desk"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/diffview"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/pager"
	"github.com/hitl-tui/hitl-tui/internal/ui/content"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// mode is how the content is shown.
type mode int

const (
	asOpened mode = iota // the first that there is
	rendered             // as its kind; an object or a list that is no table as a tree
	treed
	raw
	diffed // against the round before, or against an edit that waits to be sent
	sided  // a difference, before beside after
)

var modeNames = [...]string{"", "rendered", "tree", "raw", "diff", "side by side"}

// rawAbove is the size in bytes above which content opens raw.
const rawAbove = 256 << 10

// kinds is what a question's content is, as far as it matters for how it can be shown.
type kinds struct {
	identity    string // of the question
	values      bool   // an object or a list
	table, talk bool
	markup      bool // a text that is drawn otherwise than it stands there
}

func kindsOf(q desk.Question) kinds {
	doc := content.Of(q.Content, q.ContentType)
	c := bytes.TrimLeft(q.Content, " \t\r\n")
	return kinds{
		identity: identity(q),
		values:   len(c) > 2 && (c[0] == '{' || c[0] == '['),
		table:    doc.IsTable(),
		talk:     q.Kind == actions.Conversation && content.IsTalk(q.Content),
		markup:   doc.IsDiff() || q.ContentType == "markdown",
	}
}

// tree tells whether the content is an object or a list that is rendered as such.
func (k kinds) tree() bool { return k.values && !k.table && !k.talk }

// modes is the ways in which a question can be shown at a width, in their order, the one in which it opens first.
func modes(q desk.Question, k kinds, after json.RawMessage, w int) []mode {
	var out []mode
	large := len(q.Content) > rawAbove
	if large {
		out = append(out, raw)
	}
	if !large || k.table || k.talk || k.markup {
		out = append(out, rendered)
	}
	if k.values && (large || !k.tree()) {
		out = append(out, treed)
	}
	if !large {
		out = append(out, raw)
	}
	changed := len(q.Former) > 0 || len(after) > 0
	if changed {
		out = append(out, diffed)
	}
	if (changed || content.Of(q.Content, q.ContentType).IsDiff()) && w >= diffview.LeastForSides {
		out = append(out, sided)
	}
	return out
}

// identity names a question as it is drawn.
func identity(q desk.Question) string {
	return fmt.Sprintf("%s\x00%d\x00%s\x00%s", q.ID, q.Part, q.Version, q.ShownHash)
}

// Body draws a question as the page does, at any width and with any theme.
func (p *Page) Body(q desk.Question) func(th *theme.Theme, w int) pager.Source {
	return func(th *theme.Theme, w int) pager.Source {
		d := draft{theme: th, q: q, mode: rendered, w: w, context: true}
		if len(q.Content) > rawAbove {
			d.mode = raw
		}
		return pager.Join(d.above(), d.content(), d.below())
	}
}

// above is what introduces the content: what was decided of its parts, and the message.
func (d draft) above() pager.Source {
	var parts []pager.Source
	if len(d.said) > 0 {
		parts = append(parts, pager.Lines(d.said), content.Blank())
	}
	if m := d.q.Message; m != "" && m != d.q.Title {
		message := content.Markdown
		if d.plain {
			message = func(_ *theme.Theme, text string, _ int) pager.Source { return pager.Text(text) }
		}
		parts = append(parts, message(d.theme, m, d.w), content.Blank())
	}
	return pager.Join(parts...)
}

// content is what is under review, where it is no tree.
func (d draft) content() pager.Source {
	t, q := d.theme, d.q
	doc := content.Of(q.Content, q.ContentType)
	compared := func(title string, before, after json.RawMessage) pager.Source {
		diff, show := content.Diff(before, after), diffview.Source
		if d.mode == sided {
			show = func(th *theme.Theme, x diffview.Diff) pager.Source { return diffview.Sides(th, x, d.w) }
		}
		return pager.Join(content.Heading(t, title), show(t, diff))
	}
	switch {
	case len(q.Content) == 0 && len(d.after) == 0:
		return pager.Lines(nil)
	case d.mode != raw && d.mode != treed && len(d.after) > 0:
		return compared("your edit", q.Content, d.after)
	case (d.mode == diffed || d.mode == sided) && len(q.Former) > 0:
		return compared(fmt.Sprintf("round %d .. %d", q.Round-1, q.Round), q.Former, q.Content)
	case d.mode == sided && doc.IsDiff():
		return doc.Sides(t, d.w)
	case d.mode == raw:
		return doc.Raw()
	}
	if q.Kind == actions.Conversation {
		if talk, ok := content.Talk(t, q.Content, d.w); ok {
			return talk
		}
	}
	return doc.Rendered(t, d.w)
}

// below is the options, the fields of a form that is all there is, and the context.
func (d draft) below() pager.Source {
	t, q := d.theme, d.q
	var parts []pager.Source
	if len(q.Options) > 0 {
		parts = append(parts, content.Blank(), content.Heading(t, optionsTitle(q)), options(t, q))
	}
	if len(q.Schema) > 0 && len(q.Content) == 0 && len(q.Parts) == 0 {
		if fields := content.Fields(t, q.Schema); fields.Len() > 0 {
			parts = append(parts, content.Heading(t, "a form to fill in"), fields)
		}
	}
	if len(q.Context) > 0 && d.context {
		parts = append(parts, content.Blank(), content.Heading(t, "context"), content.Context(t, q.Context, d.w, d.mode == raw && !d.plain))
	}
	return pager.Join(parts...)
}

func optionsTitle(q desk.Question) string {
	if q.Multiple {
		return "options, several may be chosen"
	}
	return "options"
}

func options(t *theme.Theme, q desk.Question) pager.Source {
	var lines pager.Lines
	for i, o := range q.Options {
		label := o.Label
		if label == "" {
			label = content.Short(o.Value)
		}
		line := fmt.Sprintf("%2d  %s", i+1, sanitize.Line(label))
		if o.Description != "" {
			line += t.Muted.Render("  " + sanitize.Line(o.Description))
		}
		lines = append(lines, line)
	}
	return lines
}
