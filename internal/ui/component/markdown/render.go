package markdown

import (
	"fmt"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/code"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

type renderer struct {
	source []byte
	theme  *theme.Theme
}

// minWidth is the least room a nested block gets; deeper nesting is not indented further.
const minWidth = 8

// blocks draws the children of a node, an empty line between them unless the list they are in is tight.
func (r *renderer) blocks(parent ast.Node, w int) []string {
	var lines []string
	tight := false
	if l, ok := parent.(*ast.List); ok {
		tight = l.IsTight
	}
	if item, ok := parent.(*ast.ListItem); ok {
		if l, ok := item.Parent().(*ast.List); ok {
			tight = l.IsTight
		}
	}
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		block := r.block(n, w)
		if len(block) == 0 {
			continue
		}
		if len(lines) > 0 && !tight {
			lines = append(lines, "")
		}
		lines = append(lines, block...)
	}
	return lines
}

func (r *renderer) block(n ast.Node, w int) []string {
	switch n := n.(type) {
	case *ast.Heading:
		mark := strings.Repeat("#", n.Level) + " "
		return wrapStyled(r.theme.Heading.Render(mark)+r.inline(n, r.theme.Heading), w)
	case *ast.Paragraph, *ast.TextBlock:
		return r.paragraph(n, w)
	case *ast.List:
		return r.list(n, w)
	case *ast.Blockquote:
		return prefix(r.blocks(n, max(w-2, minWidth)), r.theme.Border.Render("│ "), r.theme.Border.Render("│ "))
	case *ast.FencedCodeBlock:
		return r.code(n, string(n.Language(r.source)))
	case *ast.CodeBlock:
		return r.code(n, "")
	case *ast.ThematicBreak:
		return []string{r.theme.Border.Render(strings.Repeat("─", w))}
	case *ast.HTMLBlock:
		return r.html(n)
	case *east.Table:
		return r.table(n, w)
	}
	return r.blocks(n, w)
}

func (r *renderer) paragraph(n ast.Node, w int) []string {
	var lines []string
	for line := range strings.SplitSeq(r.inline(n, plain), "\n") {
		lines = append(lines, wrapStyled(line, w)...)
	}
	return lines
}

func (r *renderer) list(l *ast.List, w int) []string {
	var lines []string
	number := l.Start
	for n := l.FirstChild(); n != nil; n = n.NextSibling() {
		mark := "- "
		if l.IsOrdered() {
			mark = fmt.Sprintf("%d. ", number)
			number++
		}
		if len(lines) > 0 && !l.IsTight {
			lines = append(lines, "")
		}
		body := r.blocks(n, max(w-len(mark), minWidth))
		if len(body) == 0 {
			body = []string{""}
		}
		lines = append(lines, prefix(body, r.theme.Accent.Render(mark), strings.Repeat(" ", len(mark)))...)
	}
	return lines
}

func prefix(lines []string, first, rest string) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		if i == 0 {
			out[i] = first + l
		} else {
			out[i] = rest + l
		}
	}
	return out
}

// code draws a block of code, a bar at its left. Long lines are left to the pager.
func (r *renderer) code(n ast.Node, language string) []string {
	var b strings.Builder
	for i := range n.Lines().Len() {
		segment := n.Lines().At(i)
		b.Write(segment.Value(r.source))
	}
	src := code.Source(r.theme, strings.TrimSuffix(b.String(), "\n"), language)
	bar := r.theme.Border.Render("▏ ")
	lines := make([]string, src.Len())
	for i := range lines {
		lines[i] = bar + src.Line(i)
	}
	return lines
}

// html shows a block of HTML as it is written.
func (r *renderer) html(n *ast.HTMLBlock) []string {
	var lines []string
	for i := range n.Lines().Len() {
		segment := n.Lines().At(i)
		lines = append(lines, r.theme.Muted.Render(sanitize.Line(strings.TrimRight(string(segment.Value(r.source)), "\n"))))
	}
	if n.HasClosure() {
		closing := n.ClosureLine
		lines = append(lines, r.theme.Muted.Render(sanitize.Line(strings.TrimRight(string(closing.Value(r.source)), "\n"))))
	}
	return lines
}

// table draws a table with the columns as wide as they need, the widest giving way first.
func (r *renderer) table(t *east.Table, w int) []string {
	var rows [][]string
	columns := 0
	for n := t.FirstChild(); n != nil; n = n.NextSibling() {
		var row []string
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			row = append(row, strings.ReplaceAll(r.inline(c, plain), "\n", " "))
		}
		columns = max(columns, len(row))
		rows = append(rows, row)
	}
	widths := columnWidths(rows, columns, w)
	var lines []string
	for i, row := range rows {
		parts := make([]string, columns)
		for c := range parts {
			text := ""
			if c < len(row) {
				text = row[c]
			}
			parts[c] = cell.Fit(text, widths[c])
		}
		line := strings.Join(parts, r.theme.Border.Render(" │ "))
		if i == 0 {
			line = r.theme.Strong.Render(strings.Join(parts, " │ "))
		}
		lines = append(lines, line)
		if i == 0 {
			rules := make([]string, columns)
			for c := range rules {
				rules[c] = strings.Repeat("─", widths[c])
			}
			lines = append(lines, r.theme.Border.Render(strings.Join(rules, "─┼─")))
		}
	}
	return lines
}

func columnWidths(rows [][]string, columns, w int) []int {
	widths := make([]int, columns)
	for _, row := range rows {
		for c, text := range row {
			widths[c] = max(widths[c], cell.Width(text), 1)
		}
	}
	for columns > 0 {
		sum, widest := 3*(columns-1), 0
		for c, n := range widths {
			sum += n
			if n > widths[widest] {
				widest = c
			}
		}
		if sum <= w || widths[widest] <= 3 {
			break
		}
		widths[widest] = max(widths[widest]-(sum-w), widths[widest]*3/4, 3)
	}
	return widths
}

func wrapStyled(s string, w int) []string { return cell.Wrap(s, w) }
