// Package form fills in a value by its JSON Schema: the properties of objects, the items of lists, one of several
// variants, as deep as they stand in each other. Types are kept: a number stays a number, and what cannot be read as its
// field's type is told at the field. Nothing that is typed gets lost: going to raw JSON and back keeps even what is
// wrong, keys the schema does not know, and the order of keys.
package form

import (
	"encoding/json"
	"errors"
	"slices"

	tea "charm.land/bubbletea/v2"
	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// Form is the form. The owner moves the focus with Next and Prev and gives it keys with Update.
type Form struct {
	theme   *theme.Theme
	schema  actions.Field
	root    *node
	rows    []*node // where the focus can stand, from top to bottom
	removed []removed
	at      int
	focused bool
	secret  bool
	w, h    int
	top     int // first line on screen
	made    int // nodes since somebody last asked for some
}

// New makes an empty form; defaults of the schema are filled in. It has no fields where the schema is of a single
// value.
func New(th *theme.Theme, schema *actions.Schema) *Form {
	f := &Form{theme: th, schema: schema.Root(), secret: schema.Secret(), focused: true}
	f.root = f.newNode(f.schema, nil, true)
	f.arrange()
	return f
}

// arrange finds the rows anew after they have changed. The focus stays where it is, or as near as can be.
func (f *Form) arrange() {
	var now *node
	if f.at < len(f.rows) {
		now = f.rows[f.at]
	}
	f.rows = f.rows[:0:0]
	f.collect(f.root)
	for u := now; u != nil; u = u.up {
		if i := slices.Index(f.rows, u); i >= 0 {
			f.at = i
			break
		}
	}
	f.at = max(min(f.at, len(f.rows)-1), 0)
	f.size()
	f.focus()
}

func (f *Form) collect(n *node) {
	if n.hidden() && n.amiss == nil {
		return
	}
	switch {
	case n.amiss != nil:
		f.rows = append(f.rows, n)
		return
	case n.spec.Kind == actions.ObjectField && !n.folded:
		before := len(f.rows)
		for _, u := range n.under {
			f.collect(u)
		}
		if before == len(f.rows) && n.up != nil && n.up.spec.Kind == actions.ItemsField {
			f.rows = append(f.rows, n)
		}
		return
	case n.up == nil && n.field != nil && n.spec.Kind != actions.VariantField:
		return // a single value is no form
	}
	f.rows = append(f.rows, n)
	for _, u := range n.under {
		f.collect(u)
	}
}

// Len is the number of fields.
func (f *Form) Len() int { return len(f.rows) }

// SetTheme changes the styles.
func (f *Form) SetTheme(th *theme.Theme) {
	f.theme = th
	f.root.setTheme(th)
}

// SetSize sets the box.
func (f *Form) SetSize(w, h int) {
	same := f.w == max(w, 0)
	f.w, f.h = max(w, 0), max(h, 0)
	if !same {
		f.size()
	}
}

func (f *Form) size() {
	for _, n := range f.rows {
		if x := n.control(); x != nil {
			x.setWidth(f.w)
		}
	}
}

// control is the field in which something is typed or picked; nil for a list and for what is folded.
func (n *node) control() *field {
	if n.amiss != nil {
		return n.amiss
	}
	return n.field
}

// SetFocused says whether keys come here.
func (f *Form) SetFocused(on bool) { f.focused = on; f.focus() }

func (f *Form) focus() {
	for i, n := range f.rows {
		if x := n.control(); x != nil {
			x.text.SetFocused(f.focused && i == f.at)
		}
	}
}

// Next moves to the next field; false at the last one.
func (f *Form) Next() bool { return f.move(1) }

// Prev moves to the field before; false at the first one.
func (f *Form) Prev() bool { return f.move(-1) }

// First goes to the first field, for an owner that comes in from there.
func (f *Form) First() { f.at = 0; f.focus() }

// Last goes to the last field.
func (f *Form) Last() { f.at = max(len(f.rows)-1, 0); f.focus() }

func (f *Form) move(d int) bool {
	if f.at+d < 0 || f.at+d >= len(f.rows) {
		return false
	}
	f.at += d
	f.focus()
	return true
}

// Multiline says whether Enter belongs to the focused field.
func (f *Form) Multiline() bool {
	x := f.control()
	return x != nil && x.multiline()
}

func (f *Form) row() *node {
	if f.at >= len(f.rows) {
		return nil
	}
	return f.rows[f.at]
}

func (f *Form) control() *field {
	if n := f.row(); n != nil {
		return n.control()
	}
	return nil
}

// Update gives a key or a paste to the focused field and says whether it took it.
func (f *Form) Update(msg tea.Msg) bool {
	n := f.row()
	if n == nil {
		return false
	}
	x := n.control()
	if x == nil {
		return f.structureKey(n, msg)
	}
	if !x.update(msg) {
		return false
	}
	n.problem = ""
	switch {
	case n.amiss != nil:
		n.mend()
		f.arrange()
	case n.spec.Kind == actions.VariantField:
		f.made = 0
		n.pickVariant()
		f.arrange()
	}
	return true
}

// mend shows an object, list or variant as such again once the JSON in its place is all deleted.
func (n *node) mend() {
	if !n.amiss.text.Empty() {
		return
	}
	fresh := n.form.newNode(n.spec, n.up, false)
	n.amiss, n.under, n.put, n.null, n.order, n.extra, n.field = nil, fresh.under, false, nil, nil, nil, fresh.field
	for _, u := range n.under {
		u.up = n
	}
}

// SetValue fills the form. Values that do not fit their field are shown in it as they are; keys without a field are
// kept and given back by Value. It fails only for what is of another kind than the form as a whole.
func (f *Form) SetValue(raw json.RawMessage) error { return f.fill(raw, false) }

// Prefill is SetValue, and leaves the defaults of the schema where raw says nothing.
func (f *Form) Prefill(raw json.RawMessage) error { return f.fill(raw, true) }

func (f *Form) fill(raw json.RawMessage, defaults bool) error {
	before := f.root
	f.made = 0
	f.root = f.newNode(f.schema, nil, defaults)
	if f.root.set(raw); f.root.amiss != nil || f.root.null != nil && len(f.rows) == 0 {
		f.root = before
		return whyNot(f.schema, raw)
	}
	f.removed = nil
	f.arrange()
	return nil
}

func whyNot(schema actions.Field, raw json.RawMessage) error {
	switch schema.Kind {
	case actions.ObjectField:
		if _, err := membersOf(raw); err != nil && json.Valid(raw) && len(raw) > 0 && raw[0] == '{' {
			return errors.New("the form cannot show this: " + err.Error())
		}
		return errors.New("this is not a JSON object, so the form cannot show it")
	case actions.ItemsField:
		return errors.New("this is not a JSON list, or a very long one, so the form cannot show it")
	}
	return errors.New("this fits none of the variants, so the form cannot show it")
}

// Value is what is filled in. Fields that were left empty are left out, unless they must be there.
func (f *Form) Value() json.RawMessage {
	v, ok := f.root.value(true)
	if !ok {
		return json.RawMessage("null")
	}
	return v
}

// Empty is the value of a form in which nothing is filled in.
func (f *Form) Empty() json.RawMessage {
	switch f.schema.Kind {
	case actions.ObjectField:
		return json.RawMessage("{}")
	case actions.ItemsField:
		return json.RawMessage("[]")
	}
	return json.RawMessage("null")
}

// Secret says whether a field must not be drafted or written to a file.
func (f *Form) Secret() bool { return f.secret }
