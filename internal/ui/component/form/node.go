package form

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/hitl-tui/hitl-tui/internal/actions"
	"github.com/hitl-tui/hitl-tui/internal/ui/theme"
)

// node is a value of the form: one that is typed or picked, an object, a list, or a choice between variants. What is put
// in and does not fit its shape stands in amiss, as JSON, so that it can be put right.
type node struct {
	form    *Form
	spec    actions.Field
	up      *node
	field   *field  // the control; of variants, which of them
	amiss   *field  // nil: the value fits
	under   []*node // properties, items, or the variant that is picked
	problem string

	put    bool            // an object or list is there, even if nothing is in it
	preset bool            // a list holds its default
	null   json.RawMessage // null was put in, where it may be
	folded bool            // an object whose properties are not made yet

	order []string // keys of an object as they were put in
	extra []member // those without a property

	variants []actions.Field
	shown    int           // which of them is under it
	left     map[int]*node // variants that were filled in before another was picked
}

// The bounds of what is unfolded before it is asked for, and of what is a form rather than JSON.
const (
	maxUnfolded = 300
	maxItems    = 1000
	noteItems   = 20 // that the schema asks for at least
)

// newNode makes a value of the form, empty or with the defaults of the schema.
func (f *Form) newNode(spec actions.Field, up *node, defaults bool) *node {
	n := &node{form: f, spec: spec, up: up}
	f.made++
	switch spec.Kind {
	case actions.ObjectField:
		n.folded = up != nil && (spec.Recursive || f.made > maxUnfolded)
		if !n.folded {
			n.unfold(defaults)
		}
	case actions.ItemsField:
		if defaults && spec.Required && spec.Default == nil {
			for range min(spec.MinLength, noteItems) {
				n.under = append(n.under, n.child(spec.Item(), true))
			}
		}
	case actions.VariantField:
		n.variants = spec.Variants()
		pick := spec
		pick.Kind = actions.SelectField
		for i, v := range n.variants {
			pick.Options = append(pick.Options, actions.OptionItem{Value: json.RawMessage(strconv.Itoa(i)), Label: v.Title, Description: v.Description})
		}
		n.field = newField(f.theme, pick)
	default:
		n.field = newField(f.theme, spec)
	}
	if defaults && spec.Default != nil && !n.hidden() {
		n.set(spec.Default)
		n.markPreset()
	}
	return n
}

func (n *node) unfold(defaults bool) {
	n.folded = false
	for _, p := range n.spec.Properties() {
		n.under = append(n.under, n.form.newNode(p, n, defaults))
	}
}

// child makes an item or a variant, which is there to be filled in.
func (n *node) child(spec actions.Field, defaults bool) *node {
	u := n.form.newNode(spec, n, defaults)
	if u.folded {
		u.unfold(defaults)
	}
	return u
}

// markPreset says of all that is filled in that it is the default.
func (n *node) markPreset() {
	n.preset, n.put = true, n.spec.Kind == actions.ItemsField
	if n.field != nil {
		n.field.preset = true
	}
	for _, u := range n.under {
		u.markPreset()
	}
}

// inVariant tells whether the node is a property of an alternative.
func (n *node) inVariant() bool {
	return n.up != nil && n.up.up != nil && n.up.up.spec.Kind == actions.VariantField
}

// hidden tells whether the node fills itself in: a constant that tells variants apart, or that must be there. A constant
// yes or no is consent, which is for a person to give.
func (n *node) hidden() bool {
	c := n.spec.Const
	if c == nil || n.up == nil || n.up.spec.Kind != actions.ObjectField || n.field.odd != nil {
		return false
	}
	return n.inVariant() || n.spec.Required && string(c) != "true" && string(c) != "false"
}

// vivid tells whether somebody has filled in something here.
func (n *node) vivid() bool {
	switch {
	case n.amiss != nil || len(n.extra) > 0:
		return true
	case n.spec.Kind == actions.ObjectField:
		return slices.ContainsFunc(n.under, (*node).vivid)
	case n.spec.Kind == actions.ItemsField:
		return n.put && !n.preset || slices.ContainsFunc(n.under, (*node).vivid)
	case n.spec.Kind == actions.VariantField:
		return len(n.under) > 0 && !n.field.preset || slices.ContainsFunc(n.under, (*node).vivid)
	case n.hidden():
		return n.field.given != nil
	}
	if n.field.preset {
		return false
	}
	if !n.field.isPick() && n.field.given == nil {
		return !n.field.text.Empty()
	}
	return n.field.given != nil || len(n.field.picked) > 0
}

// value is the node's JSON; false leaves it out. must is said of items and variants, which cannot be left out.
func (n *node) value(must bool) (json.RawMessage, bool) {
	must = must || n.up == nil || n.spec.Required
	switch {
	case n.amiss != nil:
		return n.amiss.value()
	case n.hidden():
		if n.field.given == nil && !must && n.up.put {
			return nil, false
		}
		if n.field.given != nil {
			return n.field.given, true
		}
		return n.spec.Const, true
	case n.spec.Kind == actions.ObjectField:
		return n.objectValue(must)
	case n.spec.Kind == actions.ItemsField:
		return n.listValue(must)
	case n.spec.Kind == actions.VariantField:
		if len(n.under) > 0 {
			return n.under[0].value(true)
		}
		return n.nothing(must)
	}
	return n.field.value()
}

// nothing is the value where nothing is filled in.
func (n *node) nothing(must bool) (json.RawMessage, bool) {
	switch {
	case n.null != nil:
		return n.null, true
	case must && n.spec.Nullable:
		return json.RawMessage("null"), true
	}
	return nil, false
}

func (n *node) objectValue(must bool) (json.RawMessage, bool) {
	if n.folded || !n.put && !n.vivid() && (n.null != nil || n.spec.Nullable || !must) {
		return n.nothing(must)
	}
	members := make([]member, 0, len(n.order)+len(n.under))
	done := map[string]bool{}
	for _, k := range n.order {
		if i := slices.IndexFunc(n.extra, func(m member) bool { return m.name == k }); i >= 0 {
			members = append(members, n.extra[i])
		} else if v, ok := n.property(k).value(false); ok {
			members = append(members, member{k, v})
		}
		done[k] = true
	}
	for _, u := range n.under {
		if done[u.spec.Name] {
			continue
		}
		if v, ok := u.value(false); ok {
			members = append(members, member{u.spec.Name, v})
		}
	}
	return writeObject(members), true
}

func (n *node) listValue(must bool) (json.RawMessage, bool) {
	if !n.put && len(n.under) == 0 && (n.null != nil || n.spec.Nullable || !must) {
		return n.nothing(must)
	}
	items := make([]json.RawMessage, len(n.under))
	for i, u := range n.under {
		v, ok := u.value(true)
		if !ok {
			v = json.RawMessage("null")
			if u.spec.Kind == actions.TextField {
				v = json.RawMessage(`""`)
			}
		}
		items[i] = v
	}
	return writeList(items), true
}

func (n *node) property(name string) *node {
	if i := slices.IndexFunc(n.under, func(u *node) bool { return u.spec.Name == name }); i >= 0 {
		return n.under[i]
	}
	return nil
}

// set puts a value in. What does not fit is kept as JSON.
func (n *node) set(v json.RawMessage) {
	n.amiss, n.null, n.problem = nil, nil, ""
	ok := true
	switch n.spec.Kind {
	case actions.ObjectField, actions.ItemsField, actions.VariantField:
		if string(v) == "null" && n.spec.Nullable {
			n.null = v
			return
		}
		switch n.spec.Kind {
		case actions.ObjectField:
			ok = n.setObject(v)
		case actions.ItemsField:
			ok = n.setList(v)
		default:
			ok = n.setVariant(v)
		}
	default:
		n.field.set(v)
	}
	if !ok {
		n.amiss = n.asJSON(v)
	}
}

// asJSON is a control in which a value is typed as JSON.
func (n *node) asJSON(v json.RawMessage) *field {
	spec := n.spec
	spec.Kind, spec.Options = actions.RawField, nil
	f := newField(n.form.theme, spec)
	f.setWidth(n.form.w)
	f.set(v)
	return f
}

func (n *node) setObject(v json.RawMessage) bool {
	members, err := membersOf(v)
	if err != nil {
		return false
	}
	if n.folded {
		n.unfold(false)
	}
	n.put, n.order, n.extra = true, nil, nil
	for _, m := range members {
		n.order = append(n.order, m.name)
		if u := n.property(m.name); u != nil {
			u.set(m.value)
		} else {
			n.extra = append(n.extra, m)
		}
	}
	return true
}

func (n *node) setList(v json.RawMessage) bool {
	items, ok := itemsOf(v)
	if !ok || len(items) > maxItems {
		return false
	}
	n.put, n.preset, n.under = true, false, nil
	spec := n.spec.Item()
	for _, item := range items {
		u := n.child(spec, false)
		u.set(item)
		n.under = append(n.under, u)
	}
	return true
}

func (n *node) setVariant(v json.RawMessage) bool {
	at := bestOf(n.variants, v)
	if at < 0 {
		return false
	}
	n.field.pick(at)
	u := n.child(n.variants[at], false)
	u.set(v)
	n.under, n.shown = []*node{u}, at
	return true
}

// pickVariant shows the variant that is picked; what was filled in for another is kept in case it is picked again.
func (n *node) pickVariant() {
	if len(n.under) > 0 {
		if n.left == nil {
			n.left = map[int]*node{}
		}
		n.left[n.shown] = n.under[0]
	}
	n.under, n.null = nil, nil
	if len(n.field.picked) == 0 {
		return
	}
	n.shown = n.field.picked[0]
	u := n.left[n.shown]
	if u == nil {
		u = n.child(n.variants[n.shown], true)
	}
	n.under = []*node{u}
}

func (n *node) setTheme(th *theme.Theme) {
	for _, f := range []*field{n.field, n.amiss} {
		if f != nil {
			f.text.SetTheme(th)
		}
	}
	for _, u := range n.under {
		u.setTheme(th)
	}
	for _, u := range n.left {
		u.setTheme(th)
	}
}
