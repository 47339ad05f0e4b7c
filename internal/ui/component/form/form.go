// Package form fills in the fields of a JSON Schema object. Types are kept: a number stays a number, and what cannot
// be read as its field's type is told at the field. Nothing that is typed gets lost: going to raw JSON and back keeps
// even what is wrong, and keys the schema does not know.
package form

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// Form is the form. The owner moves the focus with Next and Prev and gives it keys with Update.
type Form struct {
	theme    *theme.Theme
	fields   []*field
	extra    []kept            // what was put in and has no field
	odd      []kept            // in the place of a nested object: what has no fields to be shown in
	problems map[string]string // by pointer
	at       int
	focused  bool
	w, h     int
	top      int
}

// New makes an empty form; defaults of the schema are filled in.
func New(th *theme.Theme, fields []actions.Field) *Form {
	f := &Form{theme: th, problems: map[string]string{}, focused: true}
	f.add(fields, nil, "")
	for _, x := range f.fields {
		if x.spec.Default != nil {
			x.set(x.spec.Default)
		}
	}
	f.focus()
	return f
}

// add flattens nested objects: their fields stand below each other, with the object's title before their own.
func (f *Form) add(specs []actions.Field, path []string, title string) {
	for _, s := range specs {
		at := append(slices.Clone(path), s.Name)
		if s.Kind == actions.ObjectField {
			f.add(s.Fields, at, title+s.Title+" / ")
			continue
		}
		f.fields = append(f.fields, newField(f.theme, s, at, title+s.Title))
	}
}

// Len is the number of fields.
func (f *Form) Len() int { return len(f.fields) }

// SetTheme changes the styles.
func (f *Form) SetTheme(th *theme.Theme) {
	f.theme = th
	for _, x := range f.fields {
		x.text.SetTheme(th)
	}
}

// SetSize sets the box.
func (f *Form) SetSize(w, h int) {
	f.w, f.h = max(w, 0), max(h, 0)
	for _, x := range f.fields {
		x.setWidth(f.w)
	}
}

// SetFocused says whether keys come here.
func (f *Form) SetFocused(on bool) { f.focused = on; f.focus() }

func (f *Form) focus() {
	for i, x := range f.fields {
		x.text.SetFocused(f.focused && i == f.at)
	}
}

// Next moves to the next field; false at the last one.
func (f *Form) Next() bool { return f.move(1) }

// Prev moves to the field before; false at the first one.
func (f *Form) Prev() bool { return f.move(-1) }

// First and Last go to an end, for an owner that comes in from there.
func (f *Form) First() { f.at = 0; f.focus() }

// Last goes to the last field.
func (f *Form) Last() { f.at = max(len(f.fields)-1, 0); f.focus() }

func (f *Form) move(d int) bool {
	if f.at+d < 0 || f.at+d >= len(f.fields) {
		return false
	}
	f.at += d
	f.focus()
	return true
}

// Multiline says whether Enter belongs to the focused field.
func (f *Form) Multiline() bool { return len(f.fields) > 0 && f.fields[f.at].multiline() }

// Update gives a key or a paste to the focused field and says whether it took it.
func (f *Form) Update(msg tea.Msg) bool {
	if len(f.fields) == 0 {
		return false
	}
	x := f.fields[f.at]
	if !x.update(msg) {
		return false
	}
	delete(f.problems, pointer(x.path))
	return true
}

// SetValue fills the form from an object. Values that do not fit their field are shown in it as they are; keys
// without a field are kept and given back by Value. It fails only for what is no object.
func (f *Form) SetValue(raw json.RawMessage) error {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil || object == nil {
		return errNoObject
	}
	f.problems = map[string]string{}
	f.extra, f.odd = nil, nil
	for _, x := range f.fields {
		x.clear()
	}
	f.fill(raw, object, nil)
	return nil
}

// kept is a value that is given back as it is.
type kept struct {
	path  []string
	value json.RawMessage
}

// fill puts an object, which stands at a path, into the fields.
func (f *Form) fill(raw json.RawMessage, object map[string]json.RawMessage, path []string) {
	for _, k := range keysInOrder(raw) {
		at, v := append(slices.Clone(path), k), object[k]
		field, nested := f.under(at)
		var inner map[string]json.RawMessage
		switch {
		case field != nil:
			field.set(v)
		case !nested:
			f.extra = append(f.extra, kept{at, v})
		case json.Unmarshal(v, &inner) == nil && len(inner) > 0:
			f.fill(v, inner, at)
		default:
			f.odd = append(f.odd, kept{at, v})
		}
	}
}

// under is the field at a path, or whether there are fields below it.
func (f *Form) under(path []string) (exact *field, nested bool) {
	for _, x := range f.fields {
		if len(x.path) < len(path) || !slices.Equal(x.path[:len(path)], path) {
			continue
		}
		if len(x.path) == len(path) {
			return x, false
		}
		nested = true
	}
	return nil, nested
}

// SetProblems shows errors at the fields they are about. What is about no field is given back.
func (f *Form) SetProblems(problems []actions.Problem) (others []actions.Problem) {
	f.problems = map[string]string{}
	first := -1
	for _, p := range problems {
		i := slices.IndexFunc(f.fields, func(x *field) bool {
			at := pointer(x.path)
			return p.Pointer == at || strings.HasPrefix(p.Pointer, at+"/")
		})
		if i < 0 {
			others = append(others, p)
			continue
		}
		at := pointer(f.fields[i].path)
		if _, told := f.problems[at]; told {
			continue // the first of several; the others come when it is put right
		}
		f.problems[at] = within(f.fields[i], strings.TrimPrefix(p.Pointer, at)) + p.Message
		if first < 0 || i < first {
			first = i
		}
	}
	if first >= 0 {
		f.at = first
		f.focus()
	}
	return others
}

// within says where in a field's own value something is wrong: in which item of a list, at which place in JSON.
func within(x *field, rest string) string {
	n, err := strconv.Atoi(strings.TrimPrefix(rest, "/"))
	switch {
	case rest == "":
		return ""
	case err == nil && (x.spec.Kind == actions.ListField || x.spec.Kind == actions.ManyField):
		return fmt.Sprintf("item %d: ", n+1)
	}
	return "at " + rest + ": "
}

// Value is the object as filled in. Fields that were left empty are left out, unless they must be there.
func (f *Form) Value() json.RawMessage {
	root := newObject()
	for _, x := range f.fields {
		if v, ok := x.value(); ok {
			root.put(x.path, v)
		}
	}
	for _, k := range f.extra {
		root.put(k.path, k.value)
	}
	for _, k := range f.odd {
		if !root.has(k.path) {
			root.put(k.path, k.value)
		}
	}
	return root.json()
}

func pointer(path []string) string {
	var b strings.Builder
	for _, p := range path {
		b.WriteByte('/')
		b.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(p))
	}
	return b.String()
}

// Secret says whether a field must not be drafted or written to a file.
func (f *Form) Secret() bool {
	return slices.ContainsFunc(f.fields, func(x *field) bool { return x.spec.Secret })
}
