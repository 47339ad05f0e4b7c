// Package content shows a JSON value as what it is: Markdown, code, a diff, a table, a tree, or plain text. Whatever
// the value, it also has a raw form, and two values have a difference.
package content

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/code"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/diffview"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/markdown"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/pager"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/picture"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/table"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// Doc is one value with the type its workflow declares for it. Making one reads nothing, so that it may be asked for its
// kind at any time.
type Doc struct {
	value json.RawMessage
	kind  string // text, markdown, diff, json, table, code/LANG; "" text for a string, else json
	isStr bool
}

// Of makes a document of a value.
func Of(value json.RawMessage, kind string) Doc {
	d := Doc{value: value, kind: kind, isStr: len(value) > 0 && value[0] == '"'}
	if d.kind == "" {
		d.kind = "json"
		if d.isStr {
			d.kind = "text"
		}
	}
	return d
}

// Size is the size of the value in bytes.
func (d Doc) Size() int { return len(d.value) }

// Text is the value as a person would edit it: a string as it is, all else as indented JSON.
func (d Doc) Text() string {
	var text string
	if d.isStr && json.Unmarshal(d.value, &text) == nil {
		return text
	}
	return Indent(d.value)
}

// IsTable tells whether the value is shown as a table: its workflow says so, or it is a list of records.
func (d Doc) IsTable() bool {
	return d.kind == "table" || d.kind == "json" && !d.isStr && table.ReadsAsTable(d.value)
}

// IsDiff tells whether the value is a difference by itself.
func (d Doc) IsDiff() bool { return d.kind == "diff" && d.isStr }

// Sides is a value that is a difference with before and after beside each other, where there is room.
func (d Doc) Sides(t *theme.Theme, w int) pager.Source {
	return diffview.Sides(t, diffview.ParseUnified(d.Text()), w)
}

// Raw is the value as it is stored, with line ends where it is a string.
func (d Doc) Raw() pager.Source { return pager.Text(d.Text()) }

// Rendered is the value drawn as its kind at a width.
func (d Doc) Rendered(t *theme.Theme, w int) pager.Source {
	if d.IsTable() {
		if r, ok := table.Parse(d.value); ok {
			return table.Lines(t, r, w)
		}
	}
	text := d.Text()
	if !d.isStr {
		return code.Source(t, text, "json")
	}
	switch lang, isCode := strings.CutPrefix(d.kind, "code/"); {
	case d.kind == "markdown":
		return Markdown(t, text, w)
	case d.kind == "diff":
		return diffview.Source(t, diffview.ParseUnified(text))
	case isCode:
		return code.Source(t, text, lang)
	case d.kind == "json":
		return code.Source(t, Indent(json.RawMessage(text)), "json")
	}
	if about, ok := picture.Of(text); ok {
		return pager.Lines{t.Accent.Render(about), t.Muted.Render("a terminal does not draw it")}
	}
	return pager.Text(text)
}

// Indent writes a value as indented JSON; what is none stays as it is.
func Indent(value json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, value, "", "  ") != nil {
		return string(value)
	}
	return b.String()
}

// Short is a value on one line, safe.
func Short(value json.RawMessage) string {
	var s string
	if json.Unmarshal(value, &s) == nil && len(value) > 0 && value[0] == '"' {
		if about, ok := picture.Of(s); ok {
			return about
		}
		return sanitize.Line(s)
	}
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return sanitize.Line(string(value))
	}
	return sanitize.Line(b.String())
}

// Diff compares two values as texts.
func Diff(before, after json.RawMessage) diffview.Diff {
	return diffview.Compare(Of(before, "").Text(), Of(after, "").Text(), 3)
}

// Markdown draws a text at a width.
func Markdown(t *theme.Theme, text string, w int) pager.Source {
	return markdown.Parse(text).Lines(t, w)
}

// Heading is a line above a part.
func Heading(t *theme.Theme, text string) pager.Source {
	return pager.Lines{t.Heading.Render(sanitize.Line(text))}
}

// Blank is an empty line.
func Blank() pager.Source { return pager.Lines{""} }

// Pair is a label and its value on one line, the value cut to the width.
func Pair(t *theme.Theme, label string, value json.RawMessage, labelWidth, w int) string {
	return t.Muted.Render(cell.Fit(sanitize.Line(label), labelWidth)) + "  " + cell.Clip(Short(value), max(w-labelWidth-2, 1))
}
