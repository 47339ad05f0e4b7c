package config

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/nearest"
)

// Expression is a condition as it is written, and where. What it may mention is for those to check who compute it.
type Expression struct {
	Text         string
	Line, Column int

	lines []string // of the file
}

// Fault is a mistake at a byte of the expression, at its place in the file. Where the text does not stand there as it is
// read, since it is folded or has escapes, it is the place at which the expression begins.
func (e Expression) Fault(offset int, message string) Fault {
	f := Fault{Line: e.Line, Column: e.Column, Message: message}
	before := e.Text[:min(max(offset, 0), len(e.Text))]
	row, start := strings.Count(before, "\n"), strings.LastIndexByte(before, '\n')+1
	column := utf8.RuneCountInString(before[start:])
	text := strings.Split(e.Text, "\n")[row]
	if line, ok := e.line(e.Line); ok && row == 0 {
		at := string([]rune(line)[min(e.Column-1, utf8.RuneCountInString(line)):])
		quoted := strings.HasPrefix(at, `"`) || strings.HasPrefix(at, "'")
		switch {
		case strings.HasPrefix(at, text):
			f.Column += column
		case quoted && strings.HasPrefix(at[1:], text):
			f.Column += column + 1
		}
	}
	for _, first := range []int{e.Line, e.Line + 1} { // a block begins below its key
		line, ok := e.line(first + row)
		if at := strings.Index(line, text); ok && text != "" && strings.TrimSpace(line) == strings.TrimSpace(text) && at >= 0 {
			f.Line, f.Column = first+row, at+column+1
			break
		}
	}
	if line, ok := e.line(f.Line); ok {
		f.Excerpt = excerpt(line)
	}
	return f
}

// line is one line of the file, counted from 1.
func (e Expression) line(n int) (string, bool) {
	if n < 1 || n > len(e.lines) {
		return "", false
	}
	return e.lines[n-1], true
}

// Rule answers a question by itself.
type Rule struct {
	Name   string
	When   Expression
	Action actions.Action
	Data   json.RawMessage // nil: none
	Grace  time.Duration   // 0: as a person's
}

// Hook runs a program when a question appears.
type Hook struct {
	Name    string
	When    Expression // without text: for every question
	Run     []string   // the program and its arguments, no shell
	Timeout time.Duration
}

// View is a filter that is kept under a name.
type View struct {
	Name   string
	Filter string
	Tab    string // "" stays where one is
	Sort   string // "" leaves the order
}

// DefaultHookTimeout ends a hook that does not end by itself.
const DefaultHookTimeout = 30 * time.Second

var entryName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,39}$`)

// entries hands each mapping of a list to read, with what it is called in messages.
func (d *decoder) entries(v *node, what string, read func(v *node, what string)) {
	if v.kind != isList {
		d.fault(v.line, v.column, "%s must be a list, not %s", what, v.kind)
		return
	}
	for i, item := range v.items {
		if item.kind != isMapping {
			d.fault(item.line, item.column, "%s[%d] must be a mapping, not %s", what, i, item.kind)
			continue
		}
		read(item, fmt.Sprintf("%s[%d]", what, i))
	}
}

// needs reports keys that are missing in a mapping.
func (d *decoder) needs(v *node, what string, names ...string) {
	for _, name := range names {
		if !slices.ContainsFunc(v.members, func(m member) bool { return m.name == name }) {
			d.fault(v.line, v.column, "%s needs %s", what, name)
		}
	}
}

// nameOf reads the name of an entry, which none of the others may have.
func (d *decoder) nameOf(v *node, what string, taken func(string) bool) string {
	name := d.text(v, what+".name")
	switch {
	case v.kind != isScalar || name == "":
	case !entryName.MatchString(name):
		d.fault(v.line, v.column, "%s.name: %q cannot be a name: letters, digits and . _ - only, at most 40", what, name)
	case taken(name):
		d.fault(v.line, v.column, "%s.name: another one is called %q", what, name)
	}
	return name
}

func (d *decoder) expression(v *node, what string) Expression {
	return Expression{Text: d.text(v, what), Line: v.line, Column: v.column, lines: d.lines}
}

// rules reads [{name, when, action, data, grace}].
func (d *decoder) rules(v *node) {
	d.entries(v, "rules", func(v *node, what string) {
		var r Rule
		taken := func(name string) bool {
			return slices.ContainsFunc(d.config.Rules, func(x Rule) bool { return x.Name == name })
		}
		d.mapping(v, what, []key{
			{"name", func(v *node) { r.Name = d.nameOf(v, what, taken) }},
			{"when", func(v *node) { r.When = d.expression(v, what+".when") }},
			{"action", func(v *node) { r.Action = d.action(v, what+".action") }},
			{"data", func(v *node) { r.Data = d.json(v) }},
			{"grace", func(v *node) { r.Grace = d.age(v, what+".grace") }},
		})
		d.needs(v, what, "name", "when", "action")
		d.config.Rules = append(d.config.Rules, r)
	})
}

func (d *decoder) action(v *node, what string) actions.Action {
	text := d.text(v, what)
	if v.kind != isScalar || text == "" {
		return ""
	}
	var names []string
	for _, info := range actions.Table() {
		if strings.EqualFold(string(info.Action), text) {
			return info.Action
		}
		names = append(names, string(info.Action))
	}
	d.fault(v.line, v.column, "%s: unknown action %q%s (valid are %s)", what, text, nearest.Hint(text, names), strings.Join(names, ", "))
	return ""
}

// json is any value of the file as JSON.
func (d *decoder) json(v *node) json.RawMessage {
	out, err := json.Marshal(d.plain(v))
	if err != nil {
		d.fault(v.line, v.column, "cannot be written as JSON: %v", err)
	}
	return out
}

func (d *decoder) plain(v *node) any {
	switch v.kind {
	case isMapping:
		out := make(map[string]any, len(v.members))
		for _, m := range v.members {
			out[m.name] = d.plain(m.value)
		}
		return out
	case isList:
		out := make([]any, len(v.items))
		for i, item := range v.items {
			out[i] = d.plain(item)
		}
		return out
	case isEmpty:
		return nil
	}
	if v.bare {
		if json.Valid([]byte(v.text)) {
			return json.RawMessage(v.text)
		}
		d.fault(v.line, v.column, "%q is no number that JSON has: write it as 10 or 0.5, or in quotes", v.text)
	}
	return v.text
}

// hooks reads [{name, when, run, timeout}].
func (d *decoder) hooks(v *node) {
	d.entries(v, "hooks", func(v *node, what string) {
		h := Hook{Timeout: DefaultHookTimeout}
		taken := func(name string) bool {
			return slices.ContainsFunc(d.config.Hooks, func(x Hook) bool { return x.Name == name })
		}
		d.mapping(v, what, []key{
			{"name", func(v *node) { h.Name = d.nameOf(v, what, taken) }},
			{"when", func(v *node) { h.When = d.expression(v, what+".when") }},
			{"run", func(v *node) {
				if h.Run = d.texts(v, what+".run"); v.kind != isList || len(h.Run) == 0 {
					d.fault(v.line, v.column, "%s.run must be a list: the program, then its arguments (there is no shell)", what)
				} else if strings.HasPrefix(h.Run[0], "~") || strings.HasPrefix(h.Run[0], ".") {
					h.Run[0] = d.path(h.Run[0])
				}
			}},
			{"timeout", func(v *node) { h.Timeout = d.age(v, what+".timeout") }},
		})
		d.needs(v, what, "name", "run")
		d.config.Hooks = append(d.config.Hooks, h)
	})
}

// views reads [{name, filter, tab, sort}].
func (d *decoder) views(v *node) {
	d.entries(v, "views", func(v *node, what string) {
		var x View
		taken := func(name string) bool {
			return slices.ContainsFunc(d.config.Views, func(y View) bool { return y.Name == name })
		}
		d.mapping(v, what, []key{
			{"name", func(v *node) { x.Name = d.nameOf(v, what, taken) }},
			{"filter", func(v *node) { x.Filter = d.text(v, what+".filter") }},
			{"tab", func(v *node) { x.Tab = d.oneOf(v, what+".tab", "waiting", "running", "failed", "finished", "all") }},
			{"sort", func(v *node) { x.Sort = d.oneOf(v, what+".sort", "due", "waiting", "updated", "name") }},
		})
		d.needs(v, what, "name")
		d.config.Views = append(d.config.Views, x)
	})
}

func (d *decoder) oneOf(v *node, what string, valid ...string) string {
	text := d.text(v, what)
	if v.kind == isScalar && text != "" && !slices.Contains(valid, text) {
		d.fault(v.line, v.column, "%s: unknown %q%s (valid are %s)", what, text, nearest.Hint(text, valid), strings.Join(valid, ", "))
	}
	return text
}
