package markdown

import (
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/picture"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"
)

// styler draws a piece of text; plain text is the terminal's own and carries no style.
type styler interface{ Render(...string) string }

type plainStyle struct{}

func (plainStyle) Render(s ...string) string { return strings.Join(s, " ") }

var plain = plainStyle{}

// inline draws what is inside a block; hard breaks become line ends.
func (r *renderer) inline(parent ast.Node, style styler) string {
	var b strings.Builder
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		r.span(&b, n, style)
	}
	return b.String()
}

func (r *renderer) span(b *strings.Builder, n ast.Node, style styler) {
	switch n := n.(type) {
	case *ast.Text:
		r.text(b, n, style)
	case *ast.String:
		b.WriteString(style.Render(safe(n.Value)))
	case *ast.CodeSpan:
		b.WriteString(r.theme.Code.Render("`" + r.plainText(n) + "`"))
	case *ast.Emphasis:
		inner := styler(r.theme.Emphasis)
		if n.Level == 2 {
			inner = r.theme.Strong
		}
		b.WriteString(r.inline(n, inner))
	case *east.Strikethrough:
		b.WriteString(r.theme.Strike.Render("~~" + r.plainText(n) + "~~"))
	case *east.TaskCheckBox:
		box := "[ ] "
		if n.IsChecked {
			box = "[x] "
		}
		b.WriteString(r.theme.Accent.Render(box))
	case *ast.Link:
		b.WriteString(r.link(r.plainText(n), string(n.Destination)))
	case *ast.Image:
		if about, ok := picture.Of(string(n.Destination)); ok {
			b.WriteString(r.theme.Muted.Render("image: ") + strings.TrimSpace(r.plainText(n)+" "+r.theme.Accent.Render(about)))
			return
		}
		b.WriteString(r.theme.Muted.Render("image: ") + r.link(r.plainText(n), string(n.Destination)))
	case *ast.AutoLink:
		b.WriteString(r.theme.Link.Render(safe(n.URL(r.source))))
	case *ast.RawHTML:
		for i := range n.Segments.Len() {
			segment := n.Segments.At(i)
			b.WriteString(r.theme.Muted.Render(sanitize.Line(strings.ReplaceAll(string(segment.Value(r.source)), "\n", " "))))
		}
	default:
		b.WriteString(r.inline(n, style))
	}
}

func (r *renderer) text(b *strings.Builder, n *ast.Text, style styler) {
	value := n.Segment.Value(r.source)
	if !n.IsRaw() {
		value = util.UnescapePunctuations(util.ResolveEntityNames(util.ResolveNumericReferences(value)))
	}
	if s := safe(value); s != "" {
		b.WriteString(style.Render(s))
	}
	switch {
	case n.HardLineBreak():
		b.WriteByte('\n')
	case n.SoftLineBreak():
		b.WriteByte(' ')
	}
}

// safe makes resolved text safe once more: an entity can stand for any character.
func safe(value []byte) string { return sanitize.Line(string(value)) }

// plainText is the text of a node and all below it.
func (r *renderer) plainText(parent ast.Node) string {
	var b strings.Builder
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Text:
			if _, isCode := parent.(*ast.CodeSpan); isCode {
				b.WriteString(safe(n.Segment.Value(r.source)))
			} else {
				r.text(&b, n, plain)
			}
		case *ast.String:
			b.WriteString(safe(n.Value))
		default:
			b.WriteString(r.plainText(n))
		}
	}
	return strings.ReplaceAll(b.String(), "\n", " ")
}

// link shows text and target. One that may mislead is flagged in words, not by colour alone.
func (r *renderer) link(text, target string) string {
	shown, suspicious := sanitize.Link(text, target)
	if suspicious {
		return r.theme.Danger.Render("! " + shown + " (deceptive link)")
	}
	return r.theme.Link.Render(shown)
}
