// Package markdown draws Markdown for reading in a terminal: headings, lists, quotes, tables, code with colours.
//
// It is a small renderer of its own over goldmark's syntax tree, because the text is outside text: every piece is
// made safe after entities and escapes have been resolved, raw HTML is shown and not obeyed, and each link shows
// where it goes, with a warning where its text names another place.
package markdown

import (
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/pager"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
)

// Limit is the size in bytes above which text is shown as it is written.
const Limit = 256 << 10

// Document is a parsed text. It is drawn at any width and with any theme; the last drawing is kept.
type Document struct {
	source []byte
	root   ast.Node // nil: too long, shown as written

	theme *theme.Theme
	width int
	lines pager.Lines
}

// Parse reads raw outside text.
func Parse(raw string) *Document {
	d := &Document{source: []byte(sanitize.Text(raw))}
	if len(d.source) <= Limit {
		md := goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList,
			extension.Linkify))
		d.root = md.Parser().Parse(text.NewReader(d.source))
	}
	return d
}

// Lines draws the document at a width.
func (d *Document) Lines(th *theme.Theme, width int) pager.Lines {
	width = max(width, 1)
	if d.lines != nil && d.theme == th && d.width == width {
		return d.lines
	}
	d.theme, d.width = th, width
	if d.root == nil {
		d.lines = strings.Split(strings.TrimSuffix(string(d.source), "\n"), "\n")
		return d.lines
	}
	r := &renderer{source: d.source, theme: th}
	d.lines = r.blocks(d.root, width)
	if d.lines == nil {
		d.lines = pager.Lines{}
	}
	return d.lines
}

// View is a scrolling view of a document, drawn anew for each width.
type View struct {
	*pager.Pager
	theme *theme.Theme
	doc   *Document
	w     int
}

// New makes an empty view.
func New(th *theme.Theme) *View { return &View{Pager: pager.New(th), theme: th, doc: Parse("")} }

// SetContent shows raw outside text.
func (v *View) SetContent(raw string) {
	v.doc = Parse(raw)
	v.SetSource(v.doc.Lines(v.theme, v.w))
}

// SetSize sets the box.
func (v *View) SetSize(w, h int) {
	changed := w != v.w
	v.w = w
	v.Pager.SetSize(w, h)
	if changed {
		v.Replace(v.doc.Lines(v.theme, w))
	}
}

// SetTheme changes the styles.
func (v *View) SetTheme(th *theme.Theme) {
	v.theme = th
	v.Pager.SetTheme(th)
	v.Replace(v.doc.Lines(th, v.w))
}
