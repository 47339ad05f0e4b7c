package content

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
	"github.com/hitl-tui/hitl-tui/internal/ui/component/pager"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// longest is how many lines of a value stand among the context, unless all of it is wanted.
const longest = 12

// Context draws labelled values: short ones beside their labels, long ones below, whole or the first lines of them. What is
// cut ends with "…".
func Context(t *theme.Theme, items []actions.Labelled, w int, whole bool) pager.Source {
	label := 0
	for _, x := range items {
		label = max(label, cell.Width(sanitize.Line(x.Label)))
	}
	label = min(label, w/3)
	var lines pager.Lines
	for _, x := range items {
		doc := Of(x.Value, "")
		if one := Short(x.Value); cell.Width(one) <= w-label-2 && !strings.Contains(doc.Text(), "\n") {
			lines = append(lines, Pair(t, x.Label, x.Value, label, w))
			continue
		}
		lines = append(lines, t.Muted.Render(sanitize.Line(x.Label)))
		src := doc.Rendered(t, w-2)
		shown := src.Len()
		if !whole {
			shown = min(shown, longest)
		}
		for i := range shown {
			lines = append(lines, "  "+src.Line(i))
		}
		if n := src.Len() - shown; n > 0 {
			lines = append(lines, t.Muted.Render(fmt.Sprintf("  %d more lines in the raw display …", n)))
		}
	}
	return lines
}

// Fields lists the fields of a form's schema in their order: name, kind, what it is for. It is empty for any other schema.
func Fields(t *theme.Theme, schema json.RawMessage) pager.Source {
	compiled, err := actions.CompileSchema(schema)
	if err != nil {
		return pager.Lines(nil)
	}
	var lines pager.Lines
	for _, f := range compiled.Fields() {
		kind := kindOf(f)
		if f.Required {
			kind += ", required"
		}
		line := "  " + sanitize.Line(f.Name) + t.Muted.Render("  "+kind)
		about := f.Description
		if f.Title != f.Name {
			about = f.Title + " " + about
		}
		if about = strings.TrimSpace(about); about != "" {
			line += t.Muted.Render("  " + sanitize.Line(about))
		}
		lines = append(lines, line)
	}
	return lines
}

// kindOf says in words what a field takes.
func kindOf(f actions.Field) string {
	switch f.Kind {
	case actions.ItemsField:
		return "list"
	case actions.VariantField:
		return "one of several"
	}
	return string(f.Kind)
}

// FieldCount is the number of fields of a form's schema.
func FieldCount(schema json.RawMessage) int {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return 0
	}
	return len(s.Properties)
}
