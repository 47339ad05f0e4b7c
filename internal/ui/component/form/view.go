package form

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/sanitize"
	"github.com/hitl-tui/hitl-tui/internal/ui/cell"
)

// name is where the node stands, in titles: "Order › lines[2] › amount". Items are counted from 1.
func (n *node) name() string {
	var parts []string
	for u := n; u.up != nil; u = u.up {
		switch u.up.spec.Kind {
		case actions.ItemsField:
			i := fmt.Sprintf("[%d]", slices.Index(u.up.under, u)+1)
			if len(parts) > 0 && !strings.HasPrefix(parts[0], "[") {
				i += " › "
			}
			if len(parts) > 0 {
				parts[0] = i + parts[0]
			} else {
				parts = []string{i}
			}
		case actions.VariantField:
		default:
			title := sanitize.Line(u.spec.Title)
			if len(parts) > 0 && strings.HasPrefix(parts[0], "[") {
				parts[0] = title + parts[0]
			} else {
				parts = append([]string{title}, parts...)
			}
		}
	}
	if len(parts) == 0 {
		return sanitize.Line(cmp.Or(n.spec.Title, string(n.spec.Kind)))
	}
	return strings.Join(parts, " › ")
}

// label is the name of a row cut to a width. The end of it tells more than its beginning, and the number of the item that
// the row belongs to tells one item from the next: it stays.
func label(name string, w int) string {
	if cell.Width(name) <= w || w < 2 {
		return cell.Clip(name, w)
	}
	number := -1
	if all := itemNumber.FindAllStringIndex(name, -1); len(all) > 0 {
		number = all[len(all)-1][0]
	}
	for at := range name {
		if rest := name[at:]; strings.HasPrefix(rest, " › ") && cell.Width(rest)+1 <= w && (number < 0 || at < number) {
			return "…" + rest
		}
	}
	if number < 0 {
		return cell.Clip(name, w)
	}
	if rest := name[number:]; cell.Width(rest)+1 > w {
		return "…" + cell.Clip(rest, w-1)
	}
	for n := cell.Width(name) - w + 1; ; n++ { // a wide character at the cut may take one more
		if rest := ansi.TruncateLeft(name, n, "…"); cell.Width(rest) <= w {
			return rest
		}
	}
}

var itemNumber = regexp.MustCompile(`\[\d+\]`)

// height is the number of lines that drawRow gives.
func (f *Form) height(i int) int {
	n := f.rows[i]
	if i == f.at || n.problem != "" {
		lines, _ := f.drawRow(i)
		return len(lines)
	}
	h := 2
	if x := n.control(); x != nil && x.multiline() {
		h += rowsOfText - 1
	}
	return h + f.gap()
}

// gap is the empty lines between fields.
func (f *Form) gap() int {
	if f.h > 12 {
		return 1
	}
	return 0
}

// drawRow draws a field: its lines, and which of them is the control's.
func (f *Form) drawRow(i int) (lines []string, control int) {
	n := f.rows[i]
	focused := f.focused && i == f.at
	mark, style := "  ", f.theme.Text
	if focused {
		mark, style = "> ", f.theme.Accent
	}
	about := f.about(n)
	name := label(n.name(), max(f.w-2-min(cell.Width(about), f.w/3), 8))
	lines = append(lines, style.Render(mark+name)+f.theme.Muted.Render(about))
	if focused && n.spec.Description != "" {
		for _, row := range cell.WrapText(sanitize.Text(n.spec.Description), max(f.w-2, 1)) {
			lines = append(lines, f.theme.Muted.Render("  "+row))
		}
	}
	control = len(lines)
	lines = append(lines, f.drawControl(n, focused)...)
	if n.problem != "" {
		for _, row := range cell.WrapText("! "+sanitize.Line(n.problem), max(f.w-2, 1)) {
			lines = append(lines, "  "+f.theme.Danger.Render(row))
		}
	}
	for range f.gap() {
		lines = append(lines, "")
	}
	return lines, control
}

func (f *Form) drawControl(n *node, focused bool) []string {
	x := n.control()
	if x == nil {
		text := f.theme.Muted.Render(f.structure(n))
		if focused {
			text = f.theme.Selected.Render(f.structure(n))
		}
		return []string{"  " + text}
	}
	var lines []string
	if x.isPick() {
		lines = append(lines, "  "+f.drawPick(x, focused))
		if about := x.about(); focused && about != "" {
			lines = append(lines, f.theme.Muted.Render("  "+cell.Clip(sanitize.Line(about), max(f.w-2, 1))))
		}
		return lines
	}
	for row := range strings.SplitSeq(x.text.View(), "\n") {
		if focused {
			row = f.theme.InputFocused.Render(row)
		}
		lines = append(lines, "  "+row)
	}
	return lines
}

// structure says what is there of a list or of something folded.
func (f *Form) structure(n *node) string {
	switch {
	case n.spec.Kind == actions.ObjectField && !n.folded:
		return "nothing is asked for here"
	case n.null != nil && n.folded:
		return "null; space fills it in"
	case n.folded:
		return "not filled in; space does"
	case n.null != nil && len(n.under) == 0:
		return "null; space adds an item"
	case len(n.under) == 0:
		return "no items; space adds one"
	}
	return plural(len(n.under), "item")
}

// about is the hint of a row.
func (f *Form) about(n *node) string {
	spec := n.spec
	spec.Required = spec.Required && n.up != nil && n.up.spec.Kind == actions.ObjectField
	switch {
	case n.amiss != nil:
		return "  does not fit the schema; shown as JSON"
	case spec.Kind == actions.VariantField:
		spec.Kind = actions.SelectField
	}
	return hint(spec)
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
	case actions.ItemsField:
		parts = append(append(parts, "list"), lengths(s, "item")...)
	case actions.BooleanField:
		parts = append(parts, "yes or no")
	default:
		parts = append(parts, string(s.Kind))
	}
	parts = append(parts, bounds(s)...)
	if len(parts) == 0 {
		return ""
	}
	return "  " + sanitize.Line(strings.Join(parts, ", "))
}

// bounds says between which numbers a value must be.
func bounds(s actions.Field) []string {
	var parts []string
	switch {
	case s.Minimum != "" && s.Maximum != "":
		parts = append(parts, s.Minimum+" to "+s.Maximum)
	case s.Minimum != "":
		parts = append(parts, "from "+s.Minimum)
	case s.Maximum != "":
		parts = append(parts, "up to "+s.Maximum)
	}
	if s.Over != "" {
		parts = append(parts, "more than "+s.Over)
	}
	if s.Under != "" {
		parts = append(parts, "less than "+s.Under)
	}
	if s.MultipleOf != "" {
		parts = append(parts, "a multiple of "+s.MultipleOf)
	}
	return parts
}

// lengths says how long a text or list may be.
func lengths(s actions.Field, what string) []string {
	count := func(n int) string { return plural(n, what) }
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

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
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

// window draws the part of the fields that is on screen: the focused one whole, if it fits. Of the others only the
// heights are needed, so that a form of a thousand items costs no more than a screenful.
func (f *Form) window() (lines []string, cursorLine int) {
	heights := make([]int, len(f.rows))
	from, total := 0, 0
	for i := range f.rows {
		heights[i] = f.height(i)
		if i < f.at {
			from += heights[i]
		}
		total += heights[i]
	}
	if len(f.rows) > 0 {
		to := from + heights[f.at]
		f.top = min(f.top, from)
		f.top = max(f.top, min(to-f.gap()-f.h, from))
	}
	f.top = max(min(f.top, total-f.h), 0)
	y := 0
	for i := range f.rows {
		if y+heights[i] > f.top && y < f.top+f.h {
			drawn, control := f.drawRow(i)
			if i == f.at {
				cursorLine = y + control - f.top
			}
			lines = append(lines, drawn[max(f.top-y, 0):]...)
		}
		y += heights[i]
	}
	return lines, cursorLine
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
	c := f.control()
	if !f.focused || f.w < 3 || f.h == 0 || c == nil || c.isPick() {
		return 0, 0, false
	}
	x, y, ok = c.text.Cursor()
	_, line := f.window()
	y += line
	return x + 2, y, ok && y >= 0 && y < f.h
}
