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
	rendered mode = iota
	treed         // a table as the tree that it is
	raw
	diffed // against the round before, or against an edit that waits to be sent
	sided  // a difference, before beside after
)

var modeNames = [...]string{"rendered", "tree", "raw", "diff", "side by side"}

// modes is the ways in which a question can be shown at a width, in their order.
func modes(q desk.Question, after json.RawMessage, w int) []mode {
	doc := content.Of(q.Content, q.ContentType)
	out := []mode{rendered}
	if len(q.Content) <= rawAbove && doc.IsTable() {
		out = append(out, treed)
	}
	out = append(out, raw)
	changed := len(q.Former) > 0 || len(after) > 0
	if changed {
		out = append(out, diffed)
	}
	if (changed || doc.IsDiff()) && w >= diffview.LeastForSides {
		out = append(out, sided)
	}
	return out
}

// rawAbove is the size in bytes above which content opens raw.
const rawAbove = 256 << 10

// isTree tells whether the content is an object or a list that is shown as such.
func isTree(q desk.Question) bool {
	c := bytes.TrimSpace(q.Content)
	if q.Kind == actions.Conversation && content.IsTalk(q.Content) {
		return false
	}
	return len(c) > 2 && len(c) <= rawAbove && (c[0] == '{' || c[0] == '[') && (q.ContentType == "" || q.ContentType == "json") &&
		!content.Of(q.Content, q.ContentType).IsTable()
}

// identity names a question as it is drawn.
func identity(q desk.Question) string {
	return fmt.Sprintf("%s\x00%d\x00%s\x00%s", q.ID, q.Part, q.Version, q.ShownHash)
}

// Body draws a question as the page does, at any width and with any theme.
func (p *Page) Body(q desk.Question) func(th *theme.Theme, w int) pager.Source {
	return func(th *theme.Theme, w int) pager.Source { return body(th, q, rendered, w, nil, true) }
}

// body is message, content, options and context, one below the other.
func body(t *theme.Theme, q desk.Question, m mode, w int, after json.RawMessage, context bool) pager.Source {
	var parts []pager.Source
	if q.Message != "" && q.Message != q.Title {
		parts = append(parts, content.Markdown(t, q.Message, w), content.Blank())
	}
	doc := content.Of(q.Content, q.ContentType)
	draw := func(d diffview.Diff) pager.Source {
		if m == sided {
			return diffview.Sides(t, d, w)
		}
		return diffview.Source(t, d)
	}
	switch {
	case len(q.Content) == 0 && len(after) == 0:
	case m != raw && m != treed && len(after) > 0:
		parts = append(parts, content.Heading(t, "your edit"), draw(content.Diff(q.Content, after)))
	case (m == diffed || m == sided) && len(q.Former) > 0:
		parts = append(parts, content.Heading(t, fmt.Sprintf("round %d .. %d", q.Round-1, q.Round)), draw(content.Diff(q.Former, q.Content)))
	case m == sided && doc.IsDiff():
		parts = append(parts, doc.Sides(t, w))
	case m == raw || doc.Size() > rawAbove:
		parts = append(parts, doc.Raw())
	default:
		talk, ok := content.Talk(t, q.Content, w)
		if q.Kind != actions.Conversation || !ok {
			talk = doc.Rendered(t, w)
		}
		parts = append(parts, talk)
	}
	if len(q.Options) > 0 {
		parts = append(parts, content.Blank(), content.Heading(t, optionsTitle(q)), options(t, q))
	}
	if len(q.Schema) > 0 && len(q.Content) == 0 && len(q.Parts) == 0 {
		if fields := content.Fields(t, q.Schema); fields.Len() > 0 {
			parts = append(parts, content.Heading(t, "a form to fill in"), fields)
		}
	}
	if len(q.Context) > 0 && context {
		parts = append(parts, content.Blank(), content.Heading(t, "context"), content.Context(t, q.Context, w))
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
