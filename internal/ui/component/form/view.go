package form

import (
	"fmt"
	"strings"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
)

// drawn is a field's lines, and where in them its text stands.
type drawn struct {
	lines []string
	text  int // line of the control
}

func (f *Form) drawField(i int) drawn {
	x := f.fields[i]
	focused := f.focused && i == f.at
	label := sanitize.Line(x.title)
	mark := "  "
	style := f.theme.Text
	if focused {
		mark, style = "> ", f.theme.Accent
	}
	d := drawn{lines: []string{style.Render(mark+label) + f.theme.Muted.Render(hint(x.spec))}}
	if focused && x.spec.Description != "" {
		for _, row := range cell.WrapText(sanitize.Text(x.spec.Description), max(f.w-2, 1)) {
			d.lines = append(d.lines, f.theme.Muted.Render("  "+row))
		}
	}
	d.text = len(d.lines)
	if x.isPick() {
		d.lines = append(d.lines, "  "+f.drawPick(x, focused))
		if about := x.about(); focused && about != "" {
			d.lines = append(d.lines, f.theme.Muted.Render("  "+cell.Clip(sanitize.Line(about), max(f.w-2, 1))))
		}
	} else {
		for row := range strings.SplitSeq(x.text.View(), "\n") {
			if focused {
				row = f.theme.InputFocused.Render(row)
			}
			d.lines = append(d.lines, "  "+row)
		}
	}
	if p := f.problems[pointer(x.path)]; p != "" {
		for _, row := range cell.WrapText("! "+sanitize.Line(p), max(f.w-2, 1)) {
			d.lines = append(d.lines, "  "+f.theme.Danger.Render(row))
		}
	}
	return d
}

// hint says in words what the field takes.
func hint(s actions.Field) string {
	var parts []string
	if s.Required {
		parts = append(parts, "required")
	}
	switch s.Kind {
	case actions.TextField:
		if s.Format != "" {
			parts = append(parts, s.Format)
		}
		parts = append(parts, lengths(s, "character")...)
		if s.Pattern != "" {
			parts = append(parts, "matches "+s.Pattern)
		}
	case actions.SelectField:
	case actions.ManyField:
		parts = append(parts, lengths(s, "item")...)
	case actions.ListField:
		parts = append(append(parts, "list of "+plurals(s.Items)+", one on a line"), lengths(s, "item")...)
	case actions.BooleanField:
		parts = append(parts, "yes or no")
	default:
		parts = append(parts, string(s.Kind))
	}
	switch {
	case s.Minimum != "" && s.Maximum != "":
		parts = append(parts, s.Minimum+" to "+s.Maximum)
	case s.Minimum != "":
		parts = append(parts, "from "+s.Minimum)
	case s.Maximum != "":
		parts = append(parts, "up to "+s.Maximum)
	}
	if len(parts) == 0 {
		return ""
	}
	return "  " + sanitize.Line(strings.Join(parts, ", "))
}

// lengths says how long a text or list may be.
func lengths(s actions.Field, what string) []string {
	count := func(n int) string {
		if n == 1 {
			return "1 " + what
		}
		return fmt.Sprintf("%d %ss", n, what)
	}
	switch {
	case s.MinLength > 0 && s.MinLength == s.MaxLength:
		return []string{count(s.MinLength)}
	case s.MinLength > 0 && s.MaxLength > 0:
		return []string{fmt.Sprintf("%d to %s", s.MinLength, count(s.MaxLength))}
	case s.MinLength > 1:
		return []string{"at least " + count(s.MinLength)}
	case s.MaxLength > 0:
		return []string{"at most " + count(s.MaxLength)}
	}
	return nil
}

func plurals(k actions.FieldKind) string {
	switch k {
	case actions.IntegerField:
		return "whole numbers"
	case actions.NumberField:
		return "numbers"
	case actions.BooleanField:
		return "yes or no"
	}
	return "texts"
}

// drawPick draws the options: one of them between arrows, or boxes where several may be picked.
func (f *Form) drawPick(x *field, focused bool) string {
	if string(x.odd) == "null" && x.spec.Nullable {
		return f.theme.Muted.Render("null")
	}
	if x.odd != nil {
		return f.theme.Danger.Render(sanitize.Line(string(x.odd)))
	}
	var parts []string
	for i, o := range x.options {
		on := false
		for _, p := range x.picked {
			on = on || p == i
		}
		box := "( )"
		switch {
		case x.many() && on:
			box = "[x]"
		case x.many():
			box = "[ ]"
		case on:
			box = "(x)"
		}
		text := box + " " + optionLabel(o)
		under := x.many() && i == x.at || !x.many() && on
		if focused && under {
			text = f.theme.Selected.Render(text)
		}
		parts = append(parts, text)
	}
	line := strings.Join(parts, "  ")
	if cell.Width(line) > f.w-2 && !x.many() { // only the picked one fits
		if len(x.picked) == 0 {
			return f.theme.Muted.Render("< nothing picked; right and left pick >")
		}
		return "< " + optionLabel(x.options[x.picked[0]]) + " >"
	}
	return line
}

func optionLabel(o actions.OptionItem) string {
	if o.Label != "" {
		return sanitize.Line(o.Label)
	}
	return sanitize.Line(string(o.Value))
}

// window draws all fields and finds the part of them that is on screen: the focused field whole, if it fits.
func (f *Form) window() (lines []string, cursorLine int) {
	from, to := 0, 0
	for i := range f.fields {
		d := f.drawField(i)
		if i == f.at {
			from, to = len(lines), len(lines)+len(d.lines)
			cursorLine = len(lines) + d.text
		}
		lines = append(lines, d.lines...)
		if f.h > 12 {
			lines = append(lines, "")
		}
	}
	f.top = min(f.top, from)
	f.top = max(f.top, min(to-f.h, from))
	f.top = max(min(f.top, len(lines)-f.h), 0)
	return lines[f.top:], cursorLine - f.top
}

// View is the box.
func (f *Form) View() string {
	if f.w == 0 || f.h == 0 {
		return ""
	}
	lines, _ := f.window()
	return cell.Block(lines, f.w, f.h)
}

// Cursor is the cursor of the focused text field within the box.
func (f *Form) Cursor() (x, y int, ok bool) {
	if !f.focused || f.w < 3 || f.h == 0 || len(f.fields) == 0 || f.fields[f.at].isPick() {
		return 0, 0, false
	}
	x, y, ok = f.fields[f.at].text.Cursor()
	_, line := f.window()
	y += line
	return x + 2, y, ok && y >= 0 && y < f.h
}
